#ifndef JOEDB_CLI_ARGUMENTS_H
#define JOEDB_CLI_ARGUMENTS_H

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "cli/nats_arguments.h"
#include "cli/parser.h"
#include "cli/source.h"
#include "joedb/base/log.h"
#include "joedb/io/file.h"
#include "joedb/journal/readonly_journal.h"
#include "joedb/network/robust_connection.h"
#include "joedb/replica/connection.h"

// What the tools have in common on the command line: the options of the log and of clients, and the
// words that name a file and a connection.

namespace joedb {

// ---- log ----------------------------------------------------------------------------------------

// --log, --log_level, --log_tag, --verbose
struct Log_Options {
  enum class Target { unset, none, clog, system, json };
  Target target = Target::unset;  // none, with --classic clog
  bool is_verbose = false;
  std::int64_t level = 100;
  std::string tag;
};
void add_log_options(Options& options, Log_Options& log);

// Writes lines "YYYY-MM-DD HH:MM:SS GMT [TAG: ]TEXT" to standard error, or to the system's log; or
// {"time": "YYYY-MM-DDTHH:MM:SSZ", "tag": TAG, "event": TEXT, ...} to standard error. Thread-safe:
// a server and its watchers share it.
class Tool_Log : public Logger {
 public:
  explicit Tool_Log(const Log_Options& options);
  void log(std::string_view line) override;
  void event(std::string_view event, std::span<const Log_Field> fields) override;

 private:
  std::mutex mutex_;
  std::unique_ptr<Logger> logger_;  // null: log nothing
};

// ---- clients ------------------------------------------------------------------------------------

// --hard_checkpoint, --check, --recovery, --db
struct Client_Options {
  // What is done with the entries of the journal.
  enum class Db { none, interpreted, dump, dump_tail, sql, sql_tail };
  bool hard_checkpoint = false;
  Content_Check check = Content_Check::fast;
  Recovery recovery = Recovery::none;
  Db db = Db::none;
  bool has_no_seals = false;

  // Without the recovery mode.
  Journal_Options journal_options() const {
    Journal_Options options;
    options.has_seals = !has_no_seals;
    return options;
  }
};
void add_client_options(Options& options, Client_Options& client);
void add_recovery_option(Options& options, Recovery& recovery);
// --no_seals
void add_seals_option(Options& options, bool& has_no_seals);
void log_client_options(Logger& log, const Client_Options& client);

// ---- files --------------------------------------------------------------------------------------

// [interpreted] [file] [--MODE] NAME | memory | device [--MODE] PATH | server
// [--read] zstd | brotli NAME, curl URL, sftp [OPTIONS] [USER@]HOST PATH
struct File_Argument {
  // server: no local file, only that of the connection. source: compressed, or far away; can only
  // be read
  enum class Kind { file, interpreted, memory, device, server, source };
  Kind kind = Kind::file;
  Open_Mode mode = Open_Mode::read_existing;
  bool has_mode = false;  // the command line says so
  std::string name;
  Source_Options source;
};

// Modes that a tool does not have are refused.
//
// A file that a tool would make by default is only made with --new or --write_or_new, or if
// somebody at the terminal says so.
struct File_Grammar {
  Open_Mode default_mode;
  bool has_modes = true;
  bool has_shared = true;
  bool has_server = false;
  bool has_sources = true;
};
// For each grammar of a file on the command line, before it is parsed.
void add_file_modes(Options& options, const File_Grammar& grammar);
File_Argument take_file(Words& words, const File_Grammar& grammar,
                        const Source_Options& source = {});

// The lines of --help about it.
std::string file_help(const File_Grammar& grammar);

// For a file without a mode that does not exist: asks whether to make it, if somebody is there.
// Throws Exception if it must not be made, and for an empty file that would be written: it is no
// database, though a program that was killed may have left it. With --classic: does nothing.
void require_database(const File_Argument& file);

// Not for Kind::server.
std::unique_ptr<Abstract_File> open_file(const File_Argument& file, Logger& log);

// ---- connections --------------------------------------------------------------------------------

// Nothing, or dummy | file FILE | local [OPTIONS] PATH | [OPTIONS] joedb://HOST/DATABASE |
// [nats] [OPTIONS] nats://HOST,HOST,HOST/DATABASE
struct Connection_Argument {
  bool is_none() const { return !file && !server && !nats; }
  // For messages. Requires that there is one.
  std::string name() const;

  std::optional<File_Argument> file;
  std::unique_ptr<Connector> server;
  std::optional<Nats_Argument> nats;
};
inline constexpr File_Grammar connection_grammar{Open_Mode::write_existing_or_create_new};
// For each tool that has a connection, before the command line is parsed.
void add_connection_words(Options& options);
Connection_Argument take_connection(Words& words, const Source_Options& source = {});
// For a tool that may hold the lock of a server for long without a request: without --keep_alive,
// or with 0, a sign of life each 30 seconds.
void keep_lock(const Connection_Argument& connection);
// Throws if it is the file itself: a client would wait for its own lock for ever, and a push would
// remove the tail that it is about to copy.
void require_different(const File_Argument& file, const Connection_Argument& connection);
// Whether it is a file that will be made.
bool is_new(const Connection_Argument& connection);

// The file of a tool, and its connection, with what they are made of.
class Open_Files {
 public:
  // `connection` and `log` must outlive this.
  Open_Files(const File_Argument& file, const Connection_Argument& connection, Logger& log);
  // The file is open from the beginning; the connection is made by this.
  void connect(const Client_Options& client);

  Abstract_File& file() const { return *file_; }
  Connection& connection() const { return *connection_; }
  bool is_connected() const { return connection_ != &Connection::dummy; }
  // Null if the connection is of another kind.
  const File_Connection* file_connection() const { return file_connection_.get(); }

 private:
  const Connection_Argument& argument_;
  Logger& log_;
  std::unique_ptr<Abstract_File> file_;
  std::unique_ptr<Abstract_File> other_file_;
  std::unique_ptr<File_Connection> file_connection_;
  std::unique_ptr<Robust_Connection> server_connection_;
  std::unique_ptr<Replicated_Log> log_of_journal_;
  std::unique_ptr<Log_Connection> log_connection_;
  std::unique_ptr<Connection> exact_connection_;  // of one of these
  Connection* connection_ = &Connection::dummy;
};

extern const char* const connection_help;

}  // namespace joedb

#endif
