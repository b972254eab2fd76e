#ifndef JOEDB_SRC_TOOLS_SHARE_CLIENT_COMMANDS_H
#define JOEDB_SRC_TOOLS_SHARE_CLIENT_COMMANDS_H

#include <functional>
#include <string>

#include "commands/command_loop.h"
#include "joedb/network/channel.h"
#include "joedb/replica/client.h"

namespace joedb {

// The parts of the commands db and transaction that depend on the representation of the journal.
struct Client_Interpreters {
  // Adds commands to a read-only loop (db), or to a loop that writes in a transaction.
  std::function<void(Command_Loop&)> add_db_commands = {};
  std::function<void(Command_Loop&)> add_transaction_commands = {};
  // Names in the prompt: "db", "transaction", or "db(blobs)", "transaction(journal)".
  std::string db_name = "db";
  std::string transaction_name = "transaction";
  // The server whose lock transactions wait for; null if there is none.
  Connector* server = nullptr;
  // True if pull_every and push_every end when the connection is lost for too long.
  bool gives_up = false;
};

// For example "writable_client(41+14)(pull to sync)".
std::string client_prompt(const Client& client);

// Adds the commands of joedb_client. All arguments must outlive the loop.
void add_client_commands(Command_Loop& loop, Client& client, Abstract_File& file,
                         const Client_Interpreters& interpreters);

}  // namespace joedb

#endif
