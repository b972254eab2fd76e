#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "joedb/base/log.h"
#include "kernel/io/process.h"
#include "kernel/io/secret_file.h"
#include "share/server/keys.h"
#include "share/server/served_journal.h"
#include "share/server/socket_server.h"
#include "tools/frame/arguments.h"
#include "tools/frame/command.h"
#include "tools/frame/database_options.h"
#include "tools/frame/lock_notice.h"
#include "tools/frame/output.h"
#include "tools/share/watcher.h"

namespace joedb {

namespace {

const char* const server_details =
    R"(Clients read and write FILE through a Unix-domain socket that only this user may open: joedb_client,
your own programs, and those of joedb 10 and others that speak its protocol, version 19. Data that a
client pushes is checked before it is acknowledged; by then it is in the file and, if there is a
CONNECTION, in its file, server or cluster.

With --listen, clients on other machines connect over TLS 1.3. --init creates a certificate and a
token for a client, and prints the command lines.

SIGINT or SIGTERM ends the server; SIGHUP makes it reload the certificate and the access list.

)";

const char* const server_examples =
    "  joedb_server people.joedb\n"
    "  joedb_server --hard-checkpoint --socket /run/people.sock people.joedb\n"
    "  joedb_server people.joedb file /mnt/backup/people.joedb\n"
    "  joedb_server people.joedb nats://a,b,c/people     a journal on three machines\n"
    "  joedb_server --init keys\n"
    "  joedb_server --listen 0.0.0.0:5619 --certificate keys/server.crt --key keys/server.key \\\n"
    "      --access keys/access people.joedb\n";

constexpr File_Grammar server_grammar{.default_mode = Open_Mode::write_existing_or_create_new,
                                      .has_sources = false};

// Returns FILE.sock if the database has the extension .joedb, otherwise joedb.sock.
std::string default_socket(const File_Argument& file) {
  return file.name.ends_with(".joedb") ? file.name + ".sock" : "joedb.sock";
}

// Returns the name of a database over TCP: its file name without directory and extension.
std::string database_name(const File_Argument& file) {
  return std::filesystem::path(file.name).stem().string();
}

enum class Push_Check { records, form };

// Opens the journal to serve.
std::unique_ptr<server::Served_Journal> open_journal(const Open_Files& open,
                                                     const Client_Options& client,
                                                     Push_Check push_check) {
  if (open.file().is_readonly()) return std::make_unique<server::Read_Journal>(open.file());
  Journal_Options options = client.journal_options();
  if (client.recovery != Recovery::none || is_classic()) options.recovery = client.recovery;
  const auto make = [&]<class Journal>(std::type_identity<Journal>) {
    return std::make_unique<Journal>(open.file(), open.connection(), client.check,
                                     client.hard_checkpoint, options, busy_timeout());
  };
  if (push_check == Push_Check::form)
    return make(std::type_identity<server::Written_Bare_Journal>());
  return make(std::type_identity<server::Written_Journal>());
}

// A served journal, with the objects that it needs.
struct Served_File {
  Served_File(const File_Argument& file, const Connection_Argument& connection,
              const Client_Options& client, Push_Check push_check, Logger& log)
      : open(file, connection, log) {
    require_different(file, connection);
    open.connect(client);
    journal = open_journal(open, client, push_check);
  }
  ~Served_File() {
    if (!journal || is_classic()) return;
    try {
      journal->finish();
    } catch (const std::exception& error) {
      Destructor_Logger::warning(error.what());
    }
  }
  Served_File(const Served_File&) = delete;
  Served_File& operator=(const Served_File&) = delete;

  Open_Files open;
  std::unique_ptr<server::Served_Journal> journal;
};

// Watchers notify the server when others have written to the file, or to the server or log of the
// connection.
using Watchers = std::vector<std::unique_ptr<Watcher>>;
void watch(Watchers& watchers, server::Socket_Server& server, const Served_File& served,
           const File_Argument& file, const Connection_Argument& connection, Logger& log) {
  const auto notify = [&server, name = database_name(file)] { server.refresh(name); };
  if (connection.server)
    watchers.push_back(std::make_unique<Watcher>(*connection.server, log, notify));
  if (connection.nats) watchers.push_back(std::make_unique<Watcher>(*connection.nats, log, notify));
  if (served.journal->has_other_writers() && file.kind == File_Argument::Kind::file)
    watchers.push_back(std::make_unique<Watcher>(file.name, log, notify));
}

// Options shared by both tools.
struct Server_Options {
  Client_Options client;
  Push_Check push_check = Push_Check::records;
  Log_Options log;
  std::chrono::duration<double> lock_time{300};
  std::chrono::duration<double> idle_time{86'400};
  std::int64_t max_sessions = 10'000;
  std::string address;
  std::string metrics;
  server::Tls_Files tls;

  void add_to(Options& options) {
    options.add(
        "--timeout", lock_time,
        "seconds without traffic after which a client loses the lock (default: 300; 0: never)");
    options.add("--idle-timeout", idle_time,
                "seconds without a request after which a client is disconnected (default: 86400; "
                "0: never)");
    options.add("--max-clients", max_sessions,
                "maximum number of connections to one file (default: 10000)", {.min = 1});
    options.add("--listen", address,
                "also listen on [HOST:]PORT over TCP; without a host, only on this machine");
    options.add("--certificate", tls.certificate,
                "certificate of the server (PEM); required for clients on other machines",
                kinds::file);
    options.add("--key", tls.key, "private key of the certificate (PEM)", kinds::file);
    options.add("--access", tls.access_list,
                "access list: the clients over TCP, with their roles and tokens, one per line; "
                "without it, all clients may push (see docs/reference/joedb_server.md)");
    options.add("--client-authority", tls.client_authority,
                "accept client certificates signed by this authority (PEM)");
    options.add("--metrics", metrics,
                "[HOST:]PORT that answers HTTP requests with counters for Prometheus");
    options.add_choice(
        "--check-pushes", push_check,
        {{"records", Push_Check::records}, {"form", Push_Check::form}},
        "what to check before a push is acknowledged: that it fits the schema and the records "
        "(records), for which the server holds all records in memory, or, if there is a snapshot "
        "beside FILE (joedb_snapshot), the records that are used; or only that it consists of "
        "whole "
        "entries (form), in a few MB of memory, as joedb 10 does: a client with a fault can then "
        "write entries that make the database unreadable");
    add_client_options(options, client);
    add_log_options(options, log);
  }
  void check() const {
    if (client.db != Client_Options::Db::none)
      throw Usage_Error("--db: a server does not print the entries; joedb_logdump does");
    check_address("--listen", address);
    check_address("--metrics", metrics);
    if (tls.certificate.empty() != tls.key.empty())
      throw Usage_Error("--certificate and --key must be given together");
    if (!tls.certificate.empty() && address.empty())
      throw Usage_Error("--certificate needs --listen");
    if (!tls.access_list.empty() && tls.certificate.empty())
      throw Usage_Error("--access needs TLS: --certificate and --key");
    if (!tls.client_authority.empty() && tls.access_list.empty())
      throw Usage_Error("--client-authority needs --access, the list of who may do what");
  }
  static void check_address(const std::string& option, const std::string& text) {
    try {
      if (!text.empty()) server::Listen_Address::parse(text);
    } catch (const Exception& error) {
      throw Usage_Error(option + ": " + error.what());
    }
  }
  server::Server_Core::Limits limits(std::size_t max_connections) const {
    server::Server_Core::Limits result;
    result.max_strangers = std::min(result.max_strangers, max_connections / 8);
    result.lock_time = std::chrono::duration_cast<System::Duration>(lock_time);
    result.idle_time = std::chrono::duration_cast<System::Duration>(idle_time);
    result.max_sessions = static_cast<std::size_t>(max_sessions);
    return result;
  }
};

// Returns the maximum number of connections of this process. An eighth of its descriptors, and at
// least 32, is left for databases, their backups, and pushes that are staged in files.
std::size_t connection_limit(const Server_Options& options, Logger& log) {
  const std::size_t files = raise_file_limit();
  const std::size_t result = files - std::min(files / 2, std::max<std::size_t>(files / 8, 32));
  if (static_cast<std::size_t>(options.max_sessions) > result)
    log.log("at most " + std::to_string(result) + " connections, because this process may open " +
            std::to_string(files) + " files (ulimit -n)");
  return result;
}

// Returns the socket that systemd has passed; nullopt if there is none: sd_listen_fds(3). Throws
// Exception if there are several.
std::optional<int> inherited_socket() {
  const char* const process = std::getenv("LISTEN_PID");
  const char* const count = std::getenv("LISTEN_FDS");
  if (process == nullptr || count == nullptr || process != std::to_string(::getpid()))
    return std::nullopt;
  if (std::string_view(count) != "1")
    throw Exception("one socket is needed, not " + std::string(count));
  return 3;
}

// Ends the process one second after begin(), if it has not ended before, because it may wait for
// the server of the connection forever. As with SIGKILL, nothing is lost: acknowledged transactions
// are in the file.
class End_Limit {
 public:
  explicit End_Limit(Logger& log) : log_(log) {}
  ~End_Limit() {
    {
      const std::lock_guard lock(mutex_);
      has_ended_ = true;
    }
    ended_.notify_one();
    if (thread_.joinable()) thread_.join();
  }
  End_Limit(const End_Limit&) = delete;
  End_Limit& operator=(const End_Limit&) = delete;
  void begin() {
    thread_ = std::thread([this] {
      std::unique_lock lock(mutex_);
      if (ended_.wait_for(lock, std::chrono::seconds(1), [this] { return has_ended_; })) return;
      log_.log(
          "stopping without waiting for requests in progress or for the server of the connection");
      std::_Exit(0);
    });
  }

 private:
  Logger& log_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool has_ended_ = false;
  std::thread thread_;
};

void listen(server::Socket_Server& server, const Server_Options& options, Logger& log) {
  if (!options.metrics.empty())
    log.log("metrics at port " + std::to_string(server.listen_for_metrics(options.metrics)));
  if (options.address.empty()) return;
  const int port = server.listen(options.address, options.tls);
  log.log("listening at port " + std::to_string(port) +
          (options.tls.certificate.empty() ? ", without TLS" : ""));
}

// Creates the files for trying out a server with other machines.
int make_keys(const std::string& folder) {
  namespace fs = std::filesystem;
  fs::create_directories(folder);
  const auto in_folder = [&folder](const char* name) { return (fs::path(folder) / name).string(); };
  const server::New_Token token = server::make_token("ann", server::Role::push);
  server::make_certificate(in_folder("server.crt"), in_folder("server.key"));
  write_secret(in_folder("access"), token.line + "\n");
  write_secret(in_folder("ann.token"), "ann:" + token.token + "\n");
  std::cout << "Serve a database to other machines:\n"
            << "  joedb_server --listen 0.0.0.0:5619 --certificate " << in_folder("server.crt")
            << " --key " << in_folder("server.key") << " --access " << in_folder("access")
            << " FILE\n"
            << "Copy server.crt and ann.token to a client, and connect:\n"
            << "  joedb_client FILE --authority server.crt --token ann.token joedb://"
            << server::host_name() << "/DATABASE\n"
            << "DATABASE is the name of the file of the server, without .joedb. Another client:\n"
            << "  joedb_server --new-token bob:pull\n";
  return 0;
}

int print_new_token(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const auto role = server::role_of(colon == std::string::npos ? "push" : text.substr(colon + 1));
  if (!role || !server::is_name(name))
    throw Usage_Error("--new-token: expected NAME:ROLE; the roles are pull, push, admin");
  const server::New_Token token = server::make_token(name, *role);
  std::cout << "For the file of --access of the server:\n  " << token.line
            << "\nFor the file of --token of the client:\n  " << name << ':' << token.token << '\n';
  return 0;
}

}  // namespace

int run_server(std::vector<std::string> arguments) {
  Options options({"joedb_server [options] FILE [CONNECTION]",
                   "Serves a database to clients through a socket.",
                   server_details + file_help(server_grammar) + connection_help, server_examples});
  Server_Options server_options;
  std::string socket;
  std::string key_folder;
  std::string new_token;
  options.add("--socket", socket, "path of the socket (default: FILE.sock)", kinds::socket);
  server_options.add_to(options);
  options.add("--init", key_folder,
              "only create this directory, with a certificate and a token for a client",
              kinds::directory);
  options.add("--new-token", new_token, "NAME:ROLE; only print a token for another client");
  add_busy_option(options);
  add_file_modes(options, server_grammar);
  add_connection_words(options);
  add_classic_option(options);
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;
  if (!key_folder.empty()) return make_keys(key_folder);
  if (!new_token.empty()) return print_new_token(new_token);
  server_options.check();
  const File_Argument file = take_file(*words, server_grammar);
  Connection_Argument connection = take_connection(*words);
  serve_connection(connection);  // keeps its lock while a client holds the lock of this server
  if (socket.empty()) socket = default_socket(file);

  Tool_Log log(server_options.log);
  log_client_options(log, server_options.client);
  return name_file_in_errors(file.name, [&] {
    // Declared first, so that it also limits the time of the destructors of the objects below.
    End_Limit end_limit(log);
    const Served_File served(file, connection, server_options.client, server_options.push_check,
                             log);
    const std::size_t most = connection_limit(server_options, log);
    server::Socket_Server server(server_options.limits(most), log, most);
    server.serve(*served.journal, database_name(file), socket, inherited_socket());
    listen(server, server_options, log);
    log.log("serving " + file.name + " at " + socket);
    Watchers watchers;
    watch(watchers, server, served, file, connection, log);
    server.run();
    if (connection.server || connection.nats) end_limit.begin();
    return 0;
  });
}

int run_multi_server(std::vector<std::string> arguments) {
  Options options({"joedb_multi_server [options] FILE...",
                   "Serves several databases, each at its own socket, FILE.sock.",
                   "Over TCP (--listen), a client selects a database by name: joedb://HOST/people "
                   "for people.joedb.\n"
                   "Everything else is as in joedb_server.\n"
                   "\n",
                   "  joedb_multi_server people.joedb cities.joedb\n"});
  Server_Options server_options;
  server_options.add_to(options);
  add_busy_option(options);
  add_file_modes(options, server_grammar);
  add_classic_option(options);
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;
  server_options.check();
  Tool_Log log(server_options.log);
  log_client_options(log, server_options.client);

  const Connection_Argument no_connection;
  std::vector<std::unique_ptr<Served_File>> files;
  const std::size_t most = connection_limit(server_options, log);
  server::Socket_Server server(server_options.limits(most), log, most);
  Watchers watchers;  // destroyed before the server
  do {
    const File_Argument file = take_file(*words, server_grammar);
    name_file_in_errors(file.name, [&] {
      files.push_back(std::make_unique<Served_File>(file, no_connection, server_options.client,
                                                    server_options.push_check, log));
      server.serve(*files.back()->journal, database_name(file), file.name + ".sock");
      watch(watchers, server, *files.back(), file, no_connection, log);
      return 0;
    });
    log.log("serving " + file.name);
  } while (!words->is_empty());
  listen(server, server_options, log);
  server.run();
  return 0;
}

}  // namespace joedb
