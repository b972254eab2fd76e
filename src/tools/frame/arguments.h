#ifndef JOEDB_SRC_TOOLS_FRAME_ARGUMENTS_H
#define JOEDB_SRC_TOOLS_FRAME_ARGUMENTS_H

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "joedb/base/log.h"
#include "joedb/io/file.h"
#include "joedb/journal/readonly_journal.h"
#include "joedb/network/server_connection.h"
#include "joedb/replica/client.h"
#include "kernel/io/new_file.h"
#include "tools/frame/nats_arguments.h"
#include "tools/frame/parser.h"
#include "tools/frame/source.h"

// Parts of command lines that several tools share: the options of the log and of clients, and the
// words that name a file and a connection.

namespace joedb {

// ---- log ----------------------------------------------------------------------------------------

// The options --log, --log-level, --log-tag, --verbose and --utc.
struct Log_Options {
  enum class Target { unset, none, clog, system, json };
  Target target = Target::unset;  // unset: none; with --classic, clog
  bool is_verbose = false;
  std::int64_t level = 100;
  std::string tag;
};
void add_log_options(Options& options, Log_Options& log);

// Writes events to a log, in one of two forms. A line "YYYY-MM-DD HH:MM:SS +HHMM [TAG: ]TEXT" goes
// to standard error or to the system log. {"time": "YYYY-MM-DDTHH:MM:SSZ", "tag": TAG, "event":
// TEXT, ...} goes to standard error. Control characters are escaped, as in other logs. Thread-safe,
// because a server and its watchers share it.
class Tool_Log : public Logger {
 public:
  explicit Tool_Log(const Log_Options& options);
  ~Tool_Log() override;
  Tool_Log(const Tool_Log&) = delete;
  Tool_Log& operator=(const Tool_Log&) = delete;
  void log(std::string_view line) override;
  void event(std::string_view event, std::span<const Log_Field> fields) override;

 private:
  std::mutex mutex_;
  std::unique_ptr<Logger> logger_;  // null: logging is off
};

// Prints a line on standard error that says what the tool waits for. With --log json, it is a line
// of the log, so that all lines there are JSON. Any thread may call this while no Tool_Log is made
// or destroyed.
void print_notice(const std::string& line);

// ---- clients ------------------------------------------------------------------------------------

// The options --hard-checkpoint, --check, --recovery, --db and --no-seals.
struct Client_Options {
  // What the client does with the entries of the journal.
  enum class Db { none, interpreted, dump, dump_tail, sql, sql_tail };
  bool hard_checkpoint = false;
  Content_Check check = Content_Check::fast;
  Recovery recovery = Recovery::none;
  Db db = Db::none;
  bool has_no_seals = false;

  // Returns the journal options for these flags, without a recovery mode.
  Journal_Options journal_options() const {
    Journal_Options options;
    options.has_seals = !has_no_seals;
    return options;
  }
};
void add_client_options(Options& options, Client_Options& client);
void add_recovery_option(Options& options, Recovery& recovery);
// Adds the option --no-seals.
void add_seals_option(Options& options, bool& has_no_seals);
void log_client_options(Logger& log, const Client_Options& client);

// ---- files --------------------------------------------------------------------------------------

// [interpreted] [file] [--MODE] NAME | memory | device [--MODE] PATH | server
// [--read] zstd | brotli NAME, curl URL, sftp [OPTIONS] [USER@]HOST PATH
struct File_Argument {
  // server: there is no local file; the server of the connection stores the bytes. source: a
  // compressed or remote file, which is read-only.
  enum class Kind { file, interpreted, memory, device, server, source };
  Kind kind = Kind::file;
  Open_Mode mode = Open_Mode::read_existing;
  bool has_mode = false;  // true if the command line gives a mode
  std::string name;
  Source_Options source;
  bool may_be_late = false;  // of the grammar
};

// The syntax of a file on a command line. Modes that the tool does not support are refused.
//
// may_be_late: with the default mode, a file that does not exist is made by the first command that
// changes it, not when it is opened.
struct File_Grammar {
  Open_Mode default_mode;
  bool has_modes = true;
  bool has_shared = true;
  bool has_server = false;
  bool has_sources = true;
  bool may_be_late = false;
};
// Declares the words of a grammar. Call this for each grammar before parsing the command line.
void add_file_modes(Options& options, const File_Grammar& grammar);
// Takes the words that name a file. Throws Usage_Error if they do not match the grammar. Throws
// Exception if the mode writes and the file is read-only.
File_Argument take_file(Words& words, const File_Grammar& grammar,
                        const Source_Options& source = {});

// Returns the lines of --help that explain the grammar.
std::string file_help(const File_Grammar& grammar);

// Throws Exception for an empty file that would be written: it is no database, though a killed
// program may have left it. A no-op with --classic.
void require_database(const File_Argument& file);

// True for a file that may be late and does not exist, if the command line gives no mode: open_file
// opens it as a Late_File. False with --classic.
bool is_late(const File_Argument& file);
// The argument of a tool without modes, for a shared file that the first change makes.
File_Argument late_argument(const std::string& name);
// Prints "NAME does not exist; the first command that changes it makes it" at a terminal.
void announce_late_file(const std::string& name);
// Throws Exception if a script has come to its end, and a file that is_late was still not made: its
// name may be wrong.
void require_made(const File_Argument& file);

// Throws Exception for Kind::server.
std::unique_ptr<Abstract_File> open_file(const File_Argument& file, Logger& log);

// ---- connections --------------------------------------------------------------------------------

// Either nothing, or one of:
// dummy | file FILE | local [OPTIONS] PATH | [OPTIONS] joedb://HOST/DATABASE |
// [nats] [OPTIONS] nats://HOST,HOST,HOST/DATABASE
struct Connection_Argument {
  bool is_none() const { return !file && !server && !nats; }
  // Returns the name for messages. Precondition: !is_none().
  std::string name() const;

  std::optional<File_Argument> file;
  std::unique_ptr<Connector> server;
  std::optional<Nats_Argument> nats;
  bool has_retry_time = false;  // true if --retry-time was given
  bool has_lock_time = false;   // true if --lock-time was given
  bool waits_at_start = false;  // retry even if the first attempt to connect fails
};
inline constexpr File_Grammar connection_grammar{Open_Mode::write_existing_or_create_new};
// Declares the words of a connection. Call this before parsing the command line.
void add_connection_words(Options& options);
// Takes the words that name a connection. While the tool retries to connect, it prints a message on
// standard error, once for each request, and a signal to a Stop_Signal ends the wait.
Connection_Argument take_connection(Words& words, const Source_Options& source = {});
// For a tool that runs until it is stopped: retries forever, even the first attempt to connect,
// unless --retry-time was given.
void serve_connection(Connection_Argument& connection);
// For a tool that may hold the lock of a server for a long time without sending requests. Sets the
// keep-alive interval to 30 seconds if --keep-alive is 0 or was not given.
void keep_lock(const Connection_Argument& connection);
// Throws Exception if the connection is the file itself: a client would wait for its own lock
// forever, and a push would remove the tail that it is about to copy.
void require_different(const File_Argument& file, const Connection_Argument& connection);
// Returns true if the connection is a file that does not exist and will be created.
bool is_new(const Connection_Argument& connection);

// The file and the connection of a tool, with all objects that they need.
class Open_Files {
 public:
  // `connection` and `log` must outlive this object.
  Open_Files(const File_Argument& file, const Connection_Argument& connection, Logger& log);
  // Creates the connection. (The constructor has opened the file.)
  void connect(const Client_Options& client);
  // Like connect(), for a tool that copies the file. If the connection is a file that does not
  // exist yet, the file gets its name only when finish_copy() is called.
  void connect_copy(const Client_Options& client);
  // Throws Io_Error, with the code EEXIST if the file exists by now.
  void finish_copy();

  Abstract_File& file() const { return *file_; }
  Connection& connection() const { return *connection_; }
  bool is_connected() const { return connection_ != &Connection::dummy; }
  // Returns null if the connection is not a file.
  const File_Connection* file_connection() const { return file_connection_.get(); }

 private:
  template <class F>
  void make(F f);

  const Connection_Argument& argument_;
  Logger& log_;
  std::unique_ptr<Abstract_File> file_;
  std::unique_ptr<Abstract_File> other_file_;
  New_File* new_file_ = nullptr;  // points to other_file_ until finish_copy()
  std::unique_ptr<File_Connection> file_connection_;
  std::unique_ptr<Robust_Connection> server_connection_;
  std::unique_ptr<Replicated_Log> log_of_journal_;
  std::unique_ptr<Log_Connection> log_connection_;
  std::unique_ptr<Connection> exact_connection_;  // wraps one of the connections above
  Connection* connection_ = &Connection::dummy;
};

extern const char* const connection_help;

}  // namespace joedb

#endif
