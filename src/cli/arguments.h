#ifndef JOEDB_CLI_ARGUMENTS_H
#define JOEDB_CLI_ARGUMENTS_H

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "joedb/base/error.h"
#include "joedb/base/log.h"
#include "joedb/io/file.h"
#include "joedb/journal/readonly_journal.h"
#include "joedb/replica/connection.h"

// What the tools have in common on the command line: options, the words that name a file and a
// connection, and the log.

namespace joedb {

// The command line cannot be understood. The text says what is wrong, and how it should look.
class Usage_Error : public Exception {
 public:
  using Exception::Exception;
};

// The arguments that are not options, from left to right.
class Words {
 public:
  Words(std::vector<std::string> words, std::string usage)
      : words_(std::move(words)), usage_(std::move(usage)) {}

  bool is_empty() const { return next_ == words_.size(); }
  std::size_t count() const { return words_.size() - next_; }
  // Empty if there is none.
  std::string_view peek() const { return is_empty() ? std::string_view() : words_[next_]; }
  // Throws Usage_Error if there is none.
  std::string take();
  // The next word if it is this one.
  bool take_if(std::string_view word);

  // Throws Usage_Error if a word is left.
  void require_end() const;
  [[noreturn]] void fail(const std::string& what = "") const;

 private:
  const std::vector<std::string> words_;
  const std::string usage_;
  std::size_t next_ = 0;
};

// What --help says about a tool.
struct Tool_Help {
  std::string usage;     // "joedbi [options] FILE"
  std::string summary;   // what it is for, in a sentence
  std::string details;   // whatever else must be known
  std::string examples;  // lines
};

// The options of a tool: declared, then parsed. They start with -- and may stand anywhere.
//
//   Options options({"joedb_pack [options] IN OUT", "Writes …", "", "  joedb_pack a b"});
//   bool ignore = false;
//   options.add_flag("--ignore_header", ignore, "read up to the end of the file");
//   auto words = options.parse(std::move(args));
//   if (!words) return 0;  // it was --help
class Options {
 public:
  explicit Options(Tool_Help help);
  ~Options();

  void add_flag(const char* name, bool& value, const char* help);
  void add(const char* name, std::int64_t& value, const char* help);
  void add(const char* name, std::string& value, const char* help);
  // One of a few words, which are in `names`; `value` holds the default and gets an enumerator.
  template <class Enum>
  void add_choice(const char* name, Enum& value,
                  std::vector<std::pair<std::string_view, Enum>> names, const char* help) {
    std::vector<std::string_view> words;
    std::string_view default_word;
    for (const auto& [word, enumerator] : names) {
      words.push_back(word);
      if (enumerator == value) default_word = word;
    }
    add_words(name, words, default_word, help,
              [&value, names](std::size_t i) { value = names[i].second; });
  }

  // Everything else, also unknown options (a mode of a file looks like one); nothing after --help,
  // which has been printed then. Throws Usage_Error.
  std::optional<Words> parse(std::vector<std::string> arguments);

 private:
  struct Implementation;
  void add_words(const char* name, const std::vector<std::string_view>& words,
                 std::string_view default_word, const char* help,
                 std::function<void(std::size_t)> set);

  std::unique_ptr<Implementation> implementation_;
};

// ---- log ----------------------------------------------------------------------------------------

// --log, --log_level, --log_tag
struct Log_Options {
  enum class Target { none, clog, system };
  Target target = Target::clog;
  std::int64_t level = 100;
  std::string tag;
};
void add_log_options(Options& options, Log_Options& log);

// Writes lines "YYYY-MM-DD HH:MM:SS GMT [TAG: ]TEXT" to standard error, or to the system's log.
class Tool_Log : public Logger {
 public:
  explicit Tool_Log(const Log_Options& options);
  void log(std::string_view line) override;

 private:
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
};
void add_client_options(Options& options, Client_Options& client);
void log_client_options(Logger& log, const Client_Options& client);

// ---- files --------------------------------------------------------------------------------------

// [interpreted] [file] [--MODE] NAME | memory | device [--MODE] PATH
struct File_Argument {
  enum class Kind { file, interpreted, memory, device };
  Kind kind = Kind::file;
  Open_Mode mode = Open_Mode::read_existing;
  std::string name;
};

// Modes that a tool does not have are refused.
struct File_Grammar {
  Open_Mode default_mode;
  bool has_modes = true;
  bool has_shared = true;
};
File_Argument take_file(Words& words, const File_Grammar& grammar);

// The lines of --help about it.
std::string file_help(const File_Grammar& grammar);

std::unique_ptr<Abstract_File> open_file(const File_Argument& file, Logger& log);

// ---- connections --------------------------------------------------------------------------------

// A connection and the file it is made of; both are null for a dummy.
struct Open_Connection {
  std::unique_ptr<Abstract_File> file;
  std::unique_ptr<Connection> connection;
};

// Nothing, or dummy | file FILE. Parses; the connection is made by `open_connection`.
struct Connection_Argument {
  std::optional<File_Argument> file;
};
Connection_Argument take_connection(Words& words);
// Throws if it is the file itself: a client would wait for its own lock for ever.
void require_different(const File_Argument& file, const Connection_Argument& connection);
Open_Connection open_connection(const Connection_Argument& argument, Logger& log);

extern const char* const connection_help;

}  // namespace joedb

#endif
