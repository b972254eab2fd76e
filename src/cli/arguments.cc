#include "cli/arguments.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <filesystem>
#include <sstream>

#include "joedb/base/loggers.h"
#include "joedb/interpreter/interpreted_file.h"
#include "joedb/io/memory_file.h"
#include "joedb/io/posix_file.h"
#include "joedb/io/system_logger.h"

namespace joedb {

// ---- words --------------------------------------------------------------------------------------

std::string Words::take() {
  if (is_empty()) fail();
  return words_[next_++];
}

bool Words::take_if(std::string_view word) {
  if (is_empty() || words_[next_] != word) return false;
  ++next_;
  return true;
}

void Words::require_end() const {
  if (is_empty()) return;
  const std::string_view word = peek();
  fail((word.starts_with("--") ? "unknown option: " : "unexpected argument: ") + std::string(word));
}

void Words::fail(const std::string& what) const {
  throw Usage_Error((what.empty() ? "" : what + "\n") + "usage: " + usage_ +
                    "\nMore is shown by --help.");
}

// ---- options ------------------------------------------------------------------------------------

namespace {

// Breaks a text into lines of at most `width` characters.
std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::istringstream in(text);
  for (std::string word; in >> word;) {
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width)
      lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
  }
  return lines;
}

// Like CLI11's, but the line of usage is ours, and no line is too long for a terminal.
class Help_Formatter : public CLI::Formatter {
 public:
  explicit Help_Formatter(std::string usage) : usage_(std::move(usage)) {}

  std::string make_usage(const CLI::App*, std::string) const override {
    return "\nusage: " + usage_ + "\n";
  }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    constexpr std::size_t column = 30;
    constexpr std::size_t line_width = 90;
    std::string text = "  " + make_option_name(option, is_positional) + make_option_opts(option);
    if (text.size() >= column) text += '\n';
    for (const std::string& line : wrapped(make_option_desc(option), line_width - column)) {
      const std::size_t used = text.size() - (text.rfind('\n') + 1);
      text.append(column - used, ' ').append(line) += '\n';
    }
    return text;
  }

 private:
  const std::string usage_;
};

std::string footer(const Tool_Help& help) {
  std::string text = help.details;
  if (!text.empty()) text += '\n';
  text += (help.examples.find('\n') == help.examples.rfind('\n') ? "Example:\n" : "Examples:\n") +
          help.examples;
  text += "\nExit codes: 0 done; 1 something failed, or the command line is wrong.";
  return text;
}

[[noreturn]] void throw_invalid_value(const char* name, const std::string& word) {
  throw Exception("invalid value for option " + std::string(name) + ": " + word);
}

}  // namespace

struct Options::Implementation {
  explicit Implementation(Tool_Help tool_help) : help(std::move(tool_help)), app(help.summary) {
    app.formatter(std::make_shared<Help_Formatter>(help.usage));
    app.footer(footer(help));
    app.set_help_flag("-h,--help", "show this text");
    app.allow_extras();
  }
  const Tool_Help help;
  CLI::App app;
};

Options::Options(Tool_Help help)
    : implementation_(std::make_unique<Implementation>(std::move(help))) {}

Options::~Options() = default;

void Options::add_flag(const char* name, bool& value, const char* help) {
  implementation_->app.add_flag(name, value, help);
}

void Options::add(const char* name, std::int64_t& value, const char* help) {
  const auto read = [&value, name](const std::string& word) {
    const char* const end = word.data() + word.size();
    const auto [next, error] = std::from_chars(word.data(), end, value);
    if (error != std::errc() || next != end) throw_invalid_value(name, word);
  };
  implementation_->app.add_option_function<std::string>(name, read, help)->option_text("N");
}

void Options::add(const char* name, std::string& value, const char* help) {
  implementation_->app.add_option(name, value, help)->option_text("TEXT");
}

void Options::add_words(const char* name, const std::vector<std::string_view>& words,
                        std::string_view default_word, const char* help,
                        std::function<void(std::size_t)> set) {
  const auto read = [name, words, set = std::move(set)](const std::string& word) {
    const auto found = std::find(words.begin(), words.end(), word);
    if (found == words.end()) throw_invalid_value(name, word);
    set(static_cast<std::size_t>(found - words.begin()));
  };
  std::string choices;
  for (const std::string_view word : words) choices.append(choices.empty() ? "" : "|").append(word);
  const std::string text = std::string(help) + " (default: " + std::string(default_word) + ")";
  implementation_->app.add_option_function<std::string>(name, read, text)->option_text(choices);
}

std::optional<Words> Options::parse(std::vector<std::string> arguments) {
  CLI::App& app = implementation_->app;
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    Words({}, implementation_->help.usage).fail(error.what());
  }
  return Words(app.remaining(), implementation_->help.usage);
}

// ---- log ----------------------------------------------------------------------------------------

void add_log_options(Options& options, Log_Options& log) {
  using Target = Log_Options::Target;
  options.add_choice("--log", log.target,
                     {{"none", Target::none}, {"clog", Target::clog}, {"system", Target::system}},
                     "where log lines go: nowhere, to standard error, to syslog");
  options.add("--log_level", log.level, "0: log nothing (default: 100)");
  options.add("--log_tag", log.tag, "begins each log line");
}

Tool_Log::Tool_Log(const Log_Options& options) {
  if (options.level <= 0 || options.target == Log_Options::Target::none) return;
  if (options.target == Log_Options::Target::system)
    logger_ = std::make_unique<System_Logger>(options.tag.empty() ? "joedb" : options.tag);
  else
    logger_ = std::make_unique<CLog_Logger>(options.tag);
}

void Tool_Log::log(std::string_view line) {
  if (logger_) logger_->log(line);
}

// ---- clients ------------------------------------------------------------------------------------

namespace {

using Db = Client_Options::Db;

const std::vector<std::pair<std::string_view, Content_Check>> check_names{
    {"none", Content_Check::none}, {"fast", Content_Check::fast}, {"full", Content_Check::full}};
const std::vector<std::pair<std::string_view, Recovery>> recovery_names{
    {"none", Recovery::none},
    {"ignore_header", Recovery::ignore_header},
    {"overwrite", Recovery::overwrite},
    {"hard", Recovery::hard}};
const std::vector<std::pair<std::string_view, Db>> db_names{
    {"none", Db::none}, {"interpreted", Db::interpreted},
    {"dump", Db::dump}, {"dump_tail", Db::dump_tail},
    {"sql", Db::sql},   {"sql_tail", Db::sql_tail}};
const std::vector<std::pair<std::string_view, Open_Mode>> mode_names{
    {"read", Open_Mode::read_existing},  {"write", Open_Mode::write_existing},
    {"new", Open_Mode::create_new},      {"write_or_new", Open_Mode::write_existing_or_create_new},
    {"shared", Open_Mode::shared_write}, {"lock", Open_Mode::write_lock}};

template <class Enum>
std::string name_of(const std::vector<std::pair<std::string_view, Enum>>& names, Enum value) {
  for (const auto& [name, enumerator] : names)
    if (enumerator == value) return std::string(name);
  return "?";
}

}  // namespace

void add_client_options(Options& options, Client_Options& client) {
  options.add_flag("--hard_checkpoint", client.hard_checkpoint,
                   "end each transaction with a hard checkpoint: it survives a power cut");
  options.add_choice("--check", client.check, check_names,
                     "how much of the file is compared with that of the connection");
  options.add_choice(
      "--recovery", client.recovery, recovery_names,
      "what to do with a file that goes on behind its checkpoint: refuse to write it, believe "
      "everything up to its end, cut off what is behind the checkpoint, or behind the last hard "
      "one, "
      "which is what a power cut has spared for certain");
  options.add_choice("--db", client.db, db_names,
                     "what to do with the journal: nothing, build tables, or print its entries as "
                     "commands or SQL (all of them, or only those that arrive later)");
}

void log_client_options(Logger& log, const Client_Options& client) {
  log.log(client.hard_checkpoint ? "hard_checkpoint = 1" : "hard_checkpoint = 0");
  log.log("content_check = " + name_of(check_names, client.check));
  log.log("recovery = " + name_of(recovery_names, client.recovery));
  log.log("db_type = " + name_of(db_names, client.db));
}

// ---- files --------------------------------------------------------------------------------------

static bool may_be_mode(std::string_view word) { return word.starts_with("--"); }

static void take_mode(Words& words, const File_Grammar& grammar, Open_Mode& mode) {
  if (!may_be_mode(words.peek())) return;
  const std::string word = words.take();
  for (const auto& [name, enumerator] : mode_names) {
    if (word.substr(2) != name || !grammar.has_modes) continue;
    if (enumerator == Open_Mode::shared_write && !grammar.has_shared) continue;
    mode = enumerator;
    return;
  }
  words.fail("unknown option: " + word);
}

File_Argument take_file(Words& words, const File_Grammar& grammar) {
  File_Argument file;
  file.mode = grammar.default_mode;
  const bool has_more = words.count() > 1;
  for (const std::string_view back_end : {"brotli", "sftp", "curl", "server"}) {
    if (has_more && words.peek() == back_end)
      throw Exception(std::string(back_end) + ": not part of this version");
  }
  if (words.take_if("memory")) {
    file.kind = File_Argument::Kind::memory;
    file.mode = Open_Mode::create_new;
    return file;
  }
  if (has_more && words.take_if("interpreted")) file.kind = File_Argument::Kind::interpreted;
  if (words.count() > 1 && words.take_if("device"))
    file.kind = File_Argument::Kind::device;
  else if (words.count() > 1)
    words.take_if("file");
  take_mode(words, grammar, file.mode);
  file.name = words.take();
  if (may_be_mode(file.name)) words.fail("unknown option: " + file.name);
  return file;
}

std::string file_help(const File_Grammar& grammar) {
  const std::string mode = grammar.has_modes ? "[--MODE] " : "";
  const auto line = [](const std::string& words, const std::string& meaning) {
    return "  " + words + std::string(words.size() < 28 ? 28 - words.size() : 1, ' ') + meaning +
           '\n';
  };
  std::string text = "FILE is one of\n";
  text += line(mode + "NAME", "a joedb file");
  text += line("interpreted " + mode + "NAME", "a text file of joedbi commands");
  text += line("device " + mode + "PATH", "a file or block device of fixed size");
  text += line("memory", "nothing but memory");
  text += "A NAME that is one of these words is written as: file NAME\n";
  if (!grammar.has_modes) return text;
  text += "MODE is one of (default: " + name_of(mode_names, grammar.default_mode) + ")\n";
  text += line("read", "nothing is changed");
  text += line("write", "the file must exist; fails if another writer has it");
  text += line("new", "the file must not exist");
  text += line("write_or_new", "write, or new if there is no such file");
  if (grammar.has_shared) text += line("shared", "several may write, one transaction at a time");
  text += line("lock", "waits until no other writer has the file");
  return text;
}

std::unique_ptr<Abstract_File> open_file(const File_Argument& file, Logger& log) {
  switch (file.kind) {
    case File_Argument::Kind::memory:
      log.log("opening memory file");
      return std::make_unique<Memory_File>();
    case File_Argument::Kind::interpreted:
    case File_Argument::Kind::device:
    case File_Argument::Kind::file:
      break;
  }
  log.log("opening local file, open_mode = " + name_of(mode_names, file.mode));
  std::unique_ptr<Abstract_File> result;
  if (file.kind == File_Argument::Kind::interpreted)
    result = std::make_unique<Interpreted_File>(file.name, file.mode);
  else if (file.kind == File_Argument::Kind::device)
    result = std::make_unique<Device_File>(file.name, file.mode);
  else
    result = std::make_unique<File>(file.name, file.mode);
  log.log("file is opened");
  return result;
}

// ---- connections --------------------------------------------------------------------------------

static const char* const connections_text =
    "dummy (no connection), file FILE (another file of this machine)";

const char* const connection_help =
    "CONNECTION is one of\n"
    "  dummy                       none, as if it were left out\n"
    "  file FILE                   another file; with --read, it is only pulled from\n";

Connection_Argument take_connection(Words& words) {
  Connection_Argument result;
  if (words.is_empty()) return result;
  const std::string word = words.take();
  if (word == "dummy") {
    words.require_end();
  } else if (word == "file") {
    if (words.is_empty()) throw Exception("could not create connection");
    result.file = take_file(words, {Open_Mode::write_existing_or_create_new});
    words.require_end();
    if (result.file->mode == Open_Mode::shared_write)
      throw Exception("the file of a connection cannot be shared");
  } else if (word == "local" || word == "ssh" || word == "websocket") {
    throw Exception(
        "connection type " + word +
        ": connections to a server are not part of this version. Connections: " + connections_text);
  } else if (may_be_mode(word)) {
    words.fail("unknown option: " + word);
  } else {
    throw Exception("Unknown connection type: " + word + ". Connections: " + connections_text);
  }
  return result;
}

void require_different(const File_Argument& file, const Connection_Argument& connection) {
  if (!connection.file || file.name.empty() || connection.file->name.empty()) return;
  std::error_code ignored;
  if (std::filesystem::equivalent(file.name, connection.file->name, ignored))
    throw Exception("the file and the connection are the same file");
}

Open_Connection open_connection(const Connection_Argument& argument, Logger& log) {
  Open_Connection result;
  log.log(argument.file ? "creating connection: file" : "creating connection: dummy");
  if (argument.file) {
    result.file = open_file(*argument.file, log);
    result.connection = std::make_unique<File_Connection>(*result.file);
  }
  return result;
}

}  // namespace joedb
