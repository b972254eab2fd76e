#ifndef JOEDB_SRC_TOOLS_SHARE_CLIENT_COMMANDS_H
#define JOEDB_SRC_TOOLS_SHARE_CLIENT_COMMANDS_H

#include <functional>
#include <string>

#include "commands/command_loop.h"
#include "joedb/network/channel.h"
#include "joedb/replica/client.h"

namespace joedb {

// The parts of the commands `db` and `transaction` that depend on the representation of the
// journal.
struct Client_Interpreters {
  // Add commands to a loop: to the read-only loop of `db`, or to the loop of `transaction`, which
  // writes.
  std::function<void(Command_Loop&)> add_db_commands = {};
  std::function<void(Command_Loop&)> add_transaction_commands = {};
  // The names in the prompt: "db" or "db(blobs)", "transaction" or "transaction(journal)".
  std::string db_name = "db";
  std::string transaction_name = "transaction";
  // Transactions wait for the lock of this server; null if there is none.
  Connector* server = nullptr;
  // True if pull_every and push_every end after the connection has been lost for too long.
  bool gives_up = false;
};

// Returns a prompt like "writable_client(41+14)(pull to sync)".
std::string client_prompt(const Client& client);

// Adds the commands of joedb_client. All arguments must outlive the loop.
void add_client_commands(Command_Loop& loop, Client& client, Abstract_File& file,
                         const Client_Interpreters& interpreters);

}  // namespace joedb

#endif
