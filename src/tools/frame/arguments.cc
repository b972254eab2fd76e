#include "tools/frame/arguments.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <forward_list>
#include <iostream>

#include "joedb/base/log.h"
#include "joedb/commands/interpreted_file.h"
#include "joedb/io/memory_file.h"
#include "joedb/io/posix_file.h"
#include "joedb/network/channel.h"
#include "joedb/network/server_connection.h"
#include "kernel/base/backoff.h"
#include "kernel/base/json_text.h"
#include "kernel/base/parse_number.h"
#include "kernel/base/plain_text.h"
#include "kernel/base/time.h"
#include "kernel/journal/late_file.h"
#include "share/replica/retry.h"
#include "tools/frame/exact_connection.h"
#include "tools/frame/lock_notice.h"
#include "tools/frame/standard_input.h"
#include "tools/frame/stop_signal.h"
#ifdef JOEDB_HAS_SSH
#endif

namespace joedb {

// ---- log ----------------------------------------------------------------------------------------

void add_log_options(Options& options, Log_Options& log) {
  using Target = Log_Options::Target;
  options.add_choice("--log", log.target,
                     {{"none", Target::none},
                      {"clog", Target::clog},
                      {"system", Target::system},
                      {"json", Target::json}},
                     "destination of log lines: nowhere (the default), standard error (the default "
                     "with --classic), syslog, or standard error as JSON objects");
  options.add_flag("--verbose", log.is_verbose, "same as --log clog");
  options.add("--log-level", log.level, "log level; 0 logs nothing (default: 100)");
  options.add("--log-tag", log.tag, "prefix of each log line");
  add_utc_option(options);
}

namespace {

class Json_Logger final : public Logger {
 public:
  explicit Json_Logger(std::string tag) : tag_(std::move(tag)) {}
  void log(std::string_view line) override { event(line, {}); }
  void event(std::string_view event, std::span<const Log_Field> fields) override {
    const std::string time = iso_time_text(std::time(nullptr));
    std::vector<Log_Field> members{{"time", time}};
    if (!tag_.empty()) members.push_back({"tag", tag_});
    std::forward_list<std::string> texts;
    const auto add = [&](std::string_view name, std::string_view text) {
      members.push_back({name, texts.emplace_front(plain(text))});
    };
    add("event", event);
    for (const Log_Field& field : fields)
      if (const auto* const text = std::get_if<std::string_view>(&field.value))
        add(field.name, *text);
      else
        members.push_back(field);
    std::clog << '{' + json_members(members) + "}\n" << std::flush;
  }

 private:
  const std::string tag_;
};

}  // namespace

static Tool_Log* json_log = nullptr;

Tool_Log::Tool_Log(const Log_Options& options) {
  using Target = Log_Options::Target;
  Target target = options.target;
  if (target == Target::unset)
    target = options.is_verbose || is_classic() ? Target::clog : Target::none;
  if (options.level <= 0 || target == Target::none) return;
  if (target == Target::json) {
    logger_ = std::make_unique<Json_Logger>(options.tag);
    json_log = this;
  } else if (target == Target::system) {
    logger_ = std::make_unique<System_Logger>(options.tag.empty() ? "joedb" : options.tag);
  } else {
    logger_ = std::make_unique<CLog_Logger>(options.tag);
  }
}

Tool_Log::~Tool_Log() {
  if (json_log == this) json_log = nullptr;
}

void print_notice(const std::string& line) {
  if (json_log != nullptr)
    json_log->log(line);
  else
    std::cerr << line + "\n" << std::flush;
}

void Tool_Log::log(std::string_view line) {
  const std::lock_guard lock(mutex_);
  if (logger_) logger_->log(line);
}

void Tool_Log::event(std::string_view event, std::span<const Log_Field> fields) {
  const std::lock_guard lock(mutex_);
  if (logger_) logger_->event(event, fields);
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
    {"hard", Recovery::hard},
    {"keep", Recovery::keep}};
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
  options.add_flag("--hard-checkpoint", client.hard_checkpoint,
                   "end each transaction with a hard checkpoint, which survives a power cut");
  options.add_choice("--check", client.check, check_names,
                     "how much of the file to compare with the connection");
  add_recovery_option(options, client.recovery);
  add_seals_option(options, client.has_no_seals);
  options.add_choice("--db", client.db, db_names,
                     "how to process the journal: ignore it, build tables, or print its entries as "
                     "commands or SQL (all entries, or only later ones)");
}

void add_recovery_option(Options& options, Recovery& recovery) {
  options.add_choice(
      "--recovery", recovery, recovery_names,
      "how to treat data after the checkpoint: refuse to write the file (none), read up to the end "
      "of the file (ignore_header), remove the data after the checkpoint (overwrite) or after the "
      "last hard checkpoint, which survives a power cut (hard), or save the data in "
      "FILE.tail-POSITION and then remove it (keep). A read-only tool changes nothing: it stops "
      "where the file would be truncated");
}

void add_seals_option(Options& options, bool& has_no_seals) {
  options.add_flag("--no-seals", has_no_seals,
                   "write hard checkpoints with two syncs, like joedb 10: for a file that joedb 10 "
                   "opens concurrently, or after a power cut");
}

void log_client_options(Logger& log, const Client_Options& client) {
  log.log(client.hard_checkpoint ? "hard_checkpoint = 1" : "hard_checkpoint = 0");
  log.log("content_check = " + name_of(check_names, client.check));
  log.log("recovery = " + name_of(recovery_names, client.recovery));
  log.log("db_type = " + name_of(db_names, client.db));
}

// ---- files --------------------------------------------------------------------------------------

// The names of modes, which are also in log lines, have _.
static std::string option_of(std::string_view mode) {
  std::string option = "--" + std::string(mode);
  std::replace(option.begin(), option.end(), '_', '-');
  return option;
}

void add_file_modes(Options& options, const File_Grammar& grammar) {
  options.offer(0, {{"interpreted", "a text file of commands", {"NAME", "*.joedbi"}},
                    {"device", "a file or block device of fixed size", kinds::file},
                    {"memory", "memory only"}});
  if (grammar.has_server) options.offer(0, {{"server", "no local file, only the connection's"}});
  if (!grammar.has_modes) return;
  for (const auto& [name, mode] : mode_names)
    if (mode != Open_Mode::shared_write || grammar.has_shared) options.allow_word(option_of(name));
  if (grammar.has_sources)
    for (const char* const word : {"--port", "--key", "--known-hosts"}) options.allow_word(word);
}

static void take_mode(Words& words, const File_Grammar& grammar, File_Argument& file) {
  if (!words.is_option()) return;
  const std::string word(words.peek());
  for (const auto& [name, mode] : mode_names) {
    if (word != option_of(name) || !grammar.has_modes) continue;
    if (mode == Open_Mode::shared_write && !grammar.has_shared) continue;
    words.take();
    file.mode = mode;
    file.has_mode = true;
    return;
  }
  words.fail("unexpected option: " + word);
}

static int take_port(Words& words) {
  const std::string text = words.take_name();
  const int port = parse_number<int>(text).value_or(0);
  if (port < 1 || port > 65'535) words.fail("--port: not a port: " + text);
  return port;
}

// Takes the words [--port N] [--key FILE] [--known-hosts FILE] [USER@]HOST PATH. Returns them as a
// URL.
static std::string take_sftp(Words& words, Source_Options& source) {
  std::string port;
  for (;;) {
    if (words.take_if("--port"))
      port = ':' + std::to_string(take_port(words));
    else if (words.take_if("--key"))
      source.key_file = words.take_name();
    else if (words.take_if("--known-hosts"))
      source.known_hosts_file = words.take_name();
    else
      break;
  }
  if (words.count() < 2) words.fail("sftp: the host or the path is missing");
  const std::string host = words.take_name();
  const std::string path = words.take_name();
  return "sftp://" + host + port + (path.starts_with('/') ? "" : "/~/") + path;
}

// If the next words name a source, takes them. Otherwise, returns false, and takes no word.
static bool take_source(Words& words, File_Argument& file) {
  if (words.count() < 2) return false;
  if (words.peek() == "zstd" || words.peek() == "brotli") {
    file.source.packing = words.take() == "zstd" ? Packing::zstd : Packing::brotli;
    if (words.take_if("--read")) {
      file.mode = Open_Mode::read_existing;
      file.has_mode = true;
    }
    file.name = words.take_name();
  } else if (words.take_if("curl")) {
    file.name = words.take_name();
    if (!is_url(file.name)) words.fail("curl: not a URL of http or https: " + file.name);
  } else if (words.take_if("sftp")) {
    file.name = take_sftp(words, file.source);
  } else {
    return false;
  }
  file.kind = File_Argument::Kind::source;
  return true;
}

// Also recognizes a compressed file or a URL by its name or content. Both are read-only.
static void find_source(File_Argument& file) {
  using Kind = File_Argument::Kind;
  if (file.kind == Kind::file && !is_classic() && (is_url(file.name) || is_packed(file.name)))
    file.kind = Kind::source;
  if (file.kind != Kind::source) return;
  if (file.has_mode && file.mode != Open_Mode::read_existing) {
    require_writable_name(file.name);
    throw Exception(file.name + ": can only be read");
  }
  file.mode = Open_Mode::read_existing;
}

File_Argument take_file(Words& words, const File_Grammar& grammar, const Source_Options& source) {
  File_Argument file;
  file.mode = grammar.default_mode;
  file.source = source;
  file.may_be_late = grammar.may_be_late;
  const bool has_more = words.count() > 1;
  if (has_more && grammar.has_server && words.take_if("server")) {
    file.kind = File_Argument::Kind::server;
    file.mode = Open_Mode::shared_write;
    return file;
  }
  if (words.take_if("memory")) {
    file.kind = File_Argument::Kind::memory;
    file.mode = Open_Mode::create_new;
    file.has_mode = true;
    return file;
  }
  if (has_more && words.take_if("interpreted")) file.kind = File_Argument::Kind::interpreted;
  bool has_kind = file.kind == File_Argument::Kind::interpreted;
  if (words.count() > 1 && words.take_if("device")) {
    file.kind = File_Argument::Kind::device;
    has_kind = true;
  } else if (words.count() > 1 && words.take_if("file")) {
    has_kind = true;
  }
  const bool may_be_source = grammar.has_sources && !has_kind;
  if (!may_be_source || !take_source(words, file)) {
    take_mode(words, grammar, file);
    if (!may_be_source || !take_source(words, file)) file.name = words.take_name();
  }
  if (!grammar.has_sources && file.kind == File_Argument::Kind::file && !is_classic())
    require_writable_name(file.name);
  find_source(file);
  return file;
}

static const char* const source_help =
    "  zstd NAME, brotli NAME      a compressed file; read-only, like the sources below. The word "
    "can\n"
    "                              be omitted if NAME ends with .zst or .br\n"
    "  [curl] URL                  http:// or https://\n"
    "  sftp [--port N] [--key FILE] [--known-hosts FILE] [USER@]HOST PATH\n"
    "                              a file on an SFTP server; or sftp://[USER@]HOST[:PORT]/PATH\n";

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
  text += line("memory", "memory only");
  if (grammar.has_sources) text += source_help;
  if (grammar.has_server)
    text += line("server", "no local file: each read goes to the server of the CONNECTION");
  text += "If NAME is one of these words, write: file NAME\n";
  if (!grammar.has_modes) return text;
  text += "--MODE is one of (default: " + option_of(name_of(mode_names, grammar.default_mode)) +
          (grammar.may_be_late
               ? "; the first command that changes a file that does not exist makes it)\n"
               : ")\n");
  text += line("--read", "open read-only");
  text += line("--write", "open an existing file; fail if another writer has it");
  text += line("--new", "create the file; fail if it exists");
  text += line("--write-or-new", "like --write if the file exists, else like --new");
  if (grammar.has_shared)
    text += line("--shared", "share the file with other writers, one transaction at a time");
  text += line("--lock", "wait, for --busy-timeout, until no other writer has the file");
  return text;
}

// Retries, because a file that another process is creating is empty for a moment.
static bool stays_empty(const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  Backoff backoff(System::real(), {std::chrono::milliseconds(10)}, std::chrono::milliseconds(200));
  do {
    if (!fs::is_regular_file(name, ignored) || fs::file_size(name, ignored) != 0) return false;
  } while (backoff.wait());
  return true;
}

void require_database(const File_Argument& file) {
  using Kind = File_Argument::Kind;
  if (is_classic() || file.mode == Open_Mode::read_existing) return;
  if (file.kind == Kind::file && file.mode != Open_Mode::create_new && stays_empty(file.name))
    throw Exception(file.name + ": the file is empty; it is not a database. Remove it to make one");
}

bool is_late(const File_Argument& file) {
  using Kind = File_Argument::Kind;
  std::error_code ignored;
  return file.may_be_late && !is_classic() && !file.has_mode &&
         file.mode != Open_Mode::read_existing && file.mode != Open_Mode::write_existing &&
         (file.kind == Kind::file || file.kind == Kind::interpreted) &&
         !std::filesystem::exists(file.name, ignored);
}

File_Argument late_argument(const std::string& name) {
  File_Argument file;
  file.mode = Open_Mode::shared_write;
  file.name = name;
  file.may_be_late = true;
  return file;
}

void announce_late_file(const std::string& name) {
  if (is_interactive())
    std::cout << name << " does not exist; the first command that changes it makes it\n";
}

void require_made(const File_Argument& file) {
  if (is_late(file) && !is_interactive())
    throw Exception(file.name + ": does not exist, and no command has made it");
}

std::unique_ptr<Abstract_File> open_file(const File_Argument& file, Logger& log) {
  switch (file.kind) {
    case File_Argument::Kind::memory:
      log.log("opening memory file");
      return std::make_unique<Locked_Memory_File>();
    case File_Argument::Kind::server:
      throw Exception("this command needs a file, not a server");
    case File_Argument::Kind::source: {
      log.log("opening " + shown_name(file.name));
      auto result = open_source(file.name, file.source);
      log.log("file is opened");
      return result;
    }
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
    result = std::make_unique<Device_File>(file.name, file.mode, busy_timeout());
  else if (is_late(file))
    result = std::make_unique<Late_File>(file.name, file.mode, busy_timeout());
  else
    result = std::make_unique<File>(file.name, file.mode, busy_timeout());
  log.log("file is opened");
  return result;
}

// ---- connections --------------------------------------------------------------------------------

static const char* const connections_text =
    "dummy (no connection), file FILE (another file of this machine), local PATH (the socket of a "
    "server of this machine), ssh HOST PATH (a socket of another machine), joedb://HOST/DATABASE "
    "(a "
    "server of another machine), nats://HOST,HOST,HOST/DATABASE (a cluster of NATS servers)";

const char* const connection_help =
    "CONNECTION is one of\n"
    "  dummy                       no connection (the default)\n"
    "  file FILE                   another file; with --read, it can only be pulled from\n"
    "  local [--keep-alive SECONDS] [--retry-time SECONDS] [--answer-time SECONDS]\n"
    "      [--lock-time SECONDS] PATH\n"
    "                              a server on this machine, by its socket (joedb_server). After\n"
    "                              SECONDS without traffic, the client sends a keep-alive "
    "message.\n"
    "                              A server that does not answer a request for the answer time\n"
    "                              (default: 30) is lost. A lost connection is made again for the\n"
    "                              retry time (default: 60; joedb_server and --follow: inf). The\n"
    "                              lock is waited for up to its time (default: 60; joedb_server:\n"
    "                              inf)\n"
    "  ssh [--keep-alive SECONDS] [--retry-time SECONDS] [--answer-time SECONDS]\n"
    "      [--lock-time SECONDS] [--port N] [--key FILE] [--known-hosts FILE]\n"
    "      [USER@]HOST PATH\n"
    "                              a socket on another machine, through SSH. The host must be "
    "known\n"
    "                              and accept a key: FILE, or a key in ~/.ssh\n"
    "  [--keep-alive SECONDS] [--retry-time SECONDS] [--answer-time SECONDS]\n"
    "  [--lock-time SECONDS] [--authority FILE] [--token FILE]\n"
    "  [--certificate FILE --key FILE]\n"
    "  joedb://HOST[:PORT][/DATABASE]\n"
    "                              a server on another machine, over TLS 1.3. The authority (PEM)\n"
    "                              must have signed its certificate (default: the authorities of\n"
    "                              this machine). The token file has the line NAME:TOKEN. "
    "DATABASE\n"
    "                              can be omitted if the server has only one. joedb+tcp:// "
    "connects\n"
    "                              to a server on this machine without TLS\n"
    "  [nats] [--credentials FILE] [--authority FILE] [--certificate FILE --key FILE]\n"
    "  [--monitor PORT] [--require process|machine|power] [--require-of all|running]\n"
    "  [--lease SECONDS] [--retry-time SECONDS]\n"
    "  nats://HOST[:PORT][,HOST...]/DATABASE\n"
    "                              a journal replicated on a cluster of NATS servers\n"
    "                              (docs/cluster.md). The client reports which failures an\n"
    "                              acknowledged transaction survives, according to the settings\n"
    "                              that the servers publish at their monitor port, and refuses "
    "less\n"
    "                              than --require; with --require-of running, a server that is\n"
    "                              down does not count. A client that shows no sign of life for "
    "its\n"
    "                              lease (default: 30) loses the lock to a waiting client\n";

namespace {

constexpr std::array connection_options{
    "--keep-alive", "--retry-time",  "--answer-time", "--lock-time",   "--authority",
    "--token",      "--certificate", "--key",         "--known-hosts", "--port"};

// Returns a function that prints on standard error that the tool retries to connect.
std::function<void(const std::string&)> retry_notice(const std::string& name) {
  return [name](const std::string& reason) {
    print_notice(name + " cannot be reached; trying again. Ctrl-C gives up. The reason: " + reason);
  };
}

// The options before the address of a server.
struct Server_Options {
  std::chrono::milliseconds keep_alive{0};
  std::optional<System::Duration> retry_time;
  std::optional<System::Duration> answer_time;
  std::optional<System::Duration> lock_time;
  Tls_Identity identity;

  // Takes an option that is valid for all servers. Returns false if the next word is not such an
  // option.
  bool take(Words& words) {
    if (words.take_if("--keep-alive"))
      keep_alive = take_seconds(words, "--keep-alive");
    else if (words.take_if("--retry-time"))
      retry_time = take_time(words, "--retry-time");
    else if (words.take_if("--answer-time"))
      answer_time = take_time(words, "--answer-time");
    else if (words.take_if("--lock-time"))
      lock_time = take_time(words, "--lock-time");
    else
      return false;
    return true;
  }
};

Server_Options take_server_options(Words& words) {
  Server_Options options;
  for (;;) {
    if (options.take(words)) continue;
    if (words.take_if("--authority"))
      options.identity.authority_file = words.take_name();
    else if (words.take_if("--token"))
      options.identity.token_file = words.take_name();
    else if (words.take_if("--certificate"))
      options.identity.certificate_file = words.take_name();
    else if (words.take_if("--key"))
      options.identity.key_file = words.take_name();
    else
      break;
  }
  if (options.identity.certificate_file.empty() != options.identity.key_file.empty())
    words.fail("--certificate and --key must be given together");
  return options;
}

// With protocol extensions, a push that finds the lock taken waits for it; without, the server ends
// the connection.
void set_up(Connection_Argument& result, std::unique_ptr<Connector> connector,
            const Server_Options& options) {
  result.has_retry_time = options.retry_time.has_value();
  result.server = std::move(connector);
  Connector::Settings& settings = result.server->settings();
  settings.keep_alive = options.keep_alive;
  settings.has_extensions = !is_classic();
  if (options.retry_time) settings.retry_time = *options.retry_time;
  if (options.answer_time) settings.answer_time = *options.answer_time;
  result.has_lock_time = options.lock_time.has_value();
  if (options.lock_time) settings.lock_time = *options.lock_time;
  if (is_classic()) {
    settings.retry_time = settings.answer_time = settings.lock_time = System::Duration::max();
    return;
  }
  settings.on_retry = retry_notice(result.server->name());
  settings.look = end_wait_after_signal;
}

void take_local(Words& words, Connection_Argument& result) {
  const Server_Options options = take_server_options(words);
  if (words.is_empty()) words.fail("the path of the socket is missing");
  set_up(result, std::make_unique<Local_Connector>(words.take_last_name()), options);
}

void take_ssh(Words& words, [[maybe_unused]] Connection_Argument& result) {
#ifdef JOEDB_HAS_SSH
  Server_Options options;
  Ssh_Address address;
  for (;;) {
    if (options.take(words)) continue;
    if (words.take_if("--port"))
      address.port = take_port(words);
    else if (words.take_if("--key"))
      address.identity_file = words.take_name();
    else if (words.take_if("--known-hosts"))
      address.known_hosts_file = words.take_name();
    else
      break;
  }
  if (words.count() < 2) words.fail("ssh: the host or the path of the socket is missing");
  address.host = words.take_name();
  if (const std::size_t at = address.host.find('@'); at != std::string::npos) {
    address.user = address.host.substr(0, at);
    address.host.erase(0, at + 1);
  }
  if (address.host.empty()) words.fail("ssh: the host is missing");
  address.path = words.take_last_name();
  set_up(result, std::make_unique<Ssh_Connector>(std::move(address)), options);
#else
  words.fail("ssh: this program was built without libssh (Debian: libssh-dev)");
#endif
}

void take_tcp(Words& words, Connection_Argument& result) {
  const Server_Options options = take_server_options(words);
  if (words.is_empty()) words.fail("the address of the server is missing");
  set_up(
      result,
      std::make_unique<Tcp_Connector>(Tcp_Address::parse(words.take_last_name()), options.identity),
      options);
}

// Sets the time for retries, and a notice about them.
void set_up(Connection_Argument& result, Nats_Argument argument) {
  Log_Settings& settings = argument.log_settings;
  result.has_retry_time = argument.retry_time.has_value();
  if (argument.retry_time) settings.retry_time = *argument.retry_time;
  settings.on_retry = retry_notice(argument.name);
  settings.look = end_wait_after_signal;
  result.nats = std::move(argument);
}

}  // namespace

void add_connection_words(Options& options) {
  add_file_modes(options, connection_grammar);
  options.set_words({kinds::database, {"CONNECTION", ""}});
  options.offer(1, {{"dummy", "no connection"},
                    {"file", "another file", kinds::database},
                    {"local", "a server of this machine", kinds::socket},
                    {"ssh", "a server of another machine, through SSH", kinds::text},
                    {"joedb://", "a server of another machine, over TLS"},
                    {"nats://", "a journal on a cluster of NATS servers"}});
  for (const char* const word : connection_options) options.allow_word(word);
  allow_nats_words(options);
}

std::string Connection_Argument::name() const {
  if (file) return shown_name(file->name);
  return server ? server->name() : nats->name;
}

Connection_Argument take_connection(Words& words, const Source_Options& source) {
  Connection_Argument result;
  if (words.is_empty()) return result;
  if (is_nats_url(words.last())) {
    words.take_if("nats");
    set_up(result, take_nats(words));
    words.require_end();
    return result;
  }
  if (words.is_option() || words.peek().find("://") != std::string_view::npos) {
    take_tcp(words, result);
    return result;
  }
  const std::string word = words.take_name();
  if (word == "dummy") {
    words.require_end();
  } else if (word == "file") {
    if (words.is_empty()) words.fail("the file of the connection is missing");
    result.file = take_file(words, connection_grammar, source);
    words.require_end();
    if (result.file->kind == File_Argument::Kind::source && !result.file->has_mode) {
      require_writable_name(result.file->name);
      throw Exception(shown_name(result.file->name) + ": can only be read: file --read");
    }
    if (result.file->mode == Open_Mode::shared_write)
      throw Exception("the file of a connection cannot be shared");
  } else if (word == "local") {
    take_local(words, result);
  } else if (word == "ssh") {
    take_ssh(words, result);
  } else if (word == "nats") {
    words.fail("nats: the URL is missing: nats://HOST[,HOST...]/DATABASE");
  } else if (word == "websocket") {
    throw Exception("connection type " + word +
                    ": not supported in this version. Connections: " + connections_text);
  } else {
    words.fail("unknown connection type: " + word + ". Connections: " + connections_text);
  }
  return result;
}

void keep_lock(const Connection_Argument& connection) {
  if (connection.server && connection.server->settings().keep_alive.count() == 0)
    connection.server->set_keep_alive_interval(std::chrono::seconds(30));
}

void serve_connection(Connection_Argument& connection) {
  keep_lock(connection);
  if (is_classic()) return;
  connection.waits_at_start = true;
  if (connection.server && !connection.has_lock_time)
    connection.server->set_lock_time(System::Duration::max());
  if (connection.has_retry_time) return;
  if (connection.server) connection.server->set_retry_time(System::Duration::max());
  if (connection.nats) connection.nats->log_settings.retry_time = System::Duration::max();
}

void require_different(const File_Argument& file, const Connection_Argument& connection) {
  if (!connection.file || file.name.empty() || connection.file->name.empty()) return;
  std::error_code ignored;
  if (std::filesystem::equivalent(file.name, connection.file->name, ignored))
    throw Exception("the file and the connection are the same file");
}

bool is_new(const Connection_Argument& connection) {
  std::error_code ignored;
  return connection.file && connection.file->kind != File_Argument::Kind::source &&
         !connection.file->name.empty() && !std::filesystem::exists(connection.file->name, ignored);
}

Open_Files::Open_Files(const File_Argument& file, const Connection_Argument& connection,
                       Logger& log)
    : argument_(connection), log_(log) {
  if (file.kind != File_Argument::Kind::server) {
    file_ = open_file(file, log);
    return;
  }
  if (!connection.server)
    throw Usage_Error("the file word server needs the connection of a server: server local PATH");
  make([&] {
    auto server = std::make_unique<Server_File>(*connection.server, log);
    connection_ = server.get();
    file_ = std::move(server);
  });
}

// Calls f(), which connects. If waits_at_start, retries.
template <class F>
void Open_Files::make(F f) {
  if (!argument_.waits_at_start || (!argument_.server && !argument_.nats)) return f();
  Retry retry = argument_.server
                    ? Retry(argument_.name(), argument_.server->settings(), log_, System::real())
                    : Retry(argument_.name(), argument_.nats->log_settings, log_, System::real());
  for (;;) {
    try {
      return f();
    } catch (const Connection_Lost& error) {
      retry.wait(error);
    }
  }
}

void Open_Files::connect_copy(const Client_Options& client) {
  const bool is_copied = is_new(argument_) && argument_.file->kind == File_Argument::Kind::file &&
                         argument_.file->mode != Open_Mode::read_existing &&
                         argument_.file->mode != Open_Mode::write_existing;
  if (is_copied && !is_classic()) {
    auto made = std::make_unique<New_File>(file_to_create(argument_.file->name),
                                           New_File::Existing::refuse);
    new_file_ = made.get();
    other_file_ = std::move(made);
  }
  connect(client);
}

void Open_Files::finish_copy() {
  if (New_File* const made = std::exchange(new_file_, nullptr)) made->publish();
}

void Open_Files::connect(const Client_Options& client) {
  if (is_connected()) return;
  if (argument_.file) {
    log_.log("creating connection: file");
    if (!other_file_) other_file_ = open_file(*argument_.file, log_);
    file_connection_ = std::make_unique<File_Connection>(*other_file_, client.journal_options());
    connection_ = file_connection_.get();
  } else if (argument_.server) {
    log_.log("creating connection: " + argument_.server->name());
    make(
        [&] { server_connection_ = std::make_unique<Robust_Connection>(*argument_.server, log_); });
    connection_ = server_connection_.get();
  } else if (argument_.nats) {
    log_.log("creating connection: " + argument_.nats->name);
    make([&] {
      log_of_journal_ = open_log(*argument_.nats, log_);
      log_connection_ = std::make_unique<Log_Connection>(*log_of_journal_, log_, System::real(),
                                                         argument_.nats->log_settings);
    });
    connection_ = log_connection_.get();
    print_promise(argument_.nats->name, log_connection_->promise());
  } else {
    log_.log("creating connection: dummy");
  }
  if (!is_connected() || is_classic()) return;
  exact_connection_ = std::make_unique<Exact_Connection>(*connection_);
  connection_ = exact_connection_.get();
}

}  // namespace joedb
