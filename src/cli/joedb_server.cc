#include <chrono>
#include <memory>
#include <string>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/database_options.h"
#include "cli/output.h"
#include "server/served_journal.h"
#include "server/socket_server.h"

namespace joedb {

namespace {

const char* const details =
    R"(Clients read and write FILE through a unix-domain socket, which only this user may open:
those of joedb 10 and others that speak its protocol, version 19. What a client pushes is checked
before it is acknowledged, is in the file then, and in the file of the CONNECTION if there is one.

SIGINT or SIGTERM ends the server.

)";

const char* const examples =
    "  joedb_server people.joedb\n"
    "  joedb_server --hard_checkpoint --socket /run/people.sock people.joedb\n"
    "  joedb_server people.joedb file /mnt/backup/people.joedb\n";

constexpr File_Grammar file_grammar{Open_Mode::write_existing_or_create_new};

// FILE.sock for a database, else joedb.sock.
std::string default_socket(const File_Argument& file) {
  return file.name.ends_with(".joedb") ? file.name + ".sock" : "joedb.sock";
}

// Opens the journal that is served.
std::unique_ptr<server::Served_Journal> open_journal(const Open_Files& open,
                                                     const Client_Options& client) {
  if (open.file().is_readonly()) return std::make_unique<server::Read_Journal>(open.file());
  Journal_Options options;
  if (client.recovery != Recovery::none) options.recovery = client.recovery;
  options.has_seals = !client.has_no_seals;
  auto journal = std::make_unique<server::Written_Journal>(
      open.file(), open.connection(), client.check, client.hard_checkpoint, options);
  print_saved_tail(journal->get_saved_tail());
  return journal;
}

}  // namespace

int run_server(std::vector<std::string> arguments) {
  Options options({"joedb_server [options] FILE [CONNECTION]",
                   "Lets others read and write a database through a socket.",
                   details + file_help(file_grammar) + connection_help, examples});
  Client_Options client;
  std::string socket;
  std::chrono::duration<double> lock_time(300);
  Log_Options log_options;
  options.add("--socket", socket, "the path of the socket (default: FILE.sock)");
  options.add("--timeout", lock_time,
              "a client that holds the lock without traffic loses it after so many seconds "
              "(default: 300; 0: never)");
  add_client_options(options, client);
  add_log_options(options, log_options);
  add_file_modes(options, file_grammar);
  add_connection_words(options);
  add_classic_option(options);
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;
  if (client.db != Client_Options::Db::none)
    throw Usage_Error("--db: a server does not print the entries; joedb_logdump does");
  const File_Argument file = take_file(*words, file_grammar);
  const Connection_Argument connection = take_connection(*words);
  if (socket.empty()) socket = default_socket(file);

  Tool_Log log(log_options);
  log_client_options(log, client);
  return name_file_in_errors(file.name, [&] {
    Open_Files open(file, connection, log);
    require_different(file, connection);
    open.connect(client);
    const auto journal = open_journal(open, client);
    server::Server_Core::Limits limits;
    limits.lock_time = std::chrono::duration_cast<System::Duration>(lock_time);
    server::Socket_Server server(*journal, socket, limits, log);
    log.log("serving " + file.name + " at " + socket);
    server.run();
    return 0;
  });
}

}  // namespace joedb
