#ifndef JOEDB_CLI_CLIENT_COMMANDS_H
#define JOEDB_CLI_CLIENT_COMMANDS_H

#include <functional>
#include <string>

#include "interpreter/command_loop.h"
#include "joedb/network/channel.h"
#include "joedb/replica/client.h"

namespace joedb {

// What the commands db and transaction offer, which depends on how the journal is kept.
struct Client_Interpreters {
  // Adds commands to a loop that reads, or that writes in a transaction.
  std::function<void(Command_Loop&)> add_db_commands = {};
  std::function<void(Command_Loop&)> add_transaction_commands = {};
  // In the prompt: "db", "transaction", or "db(blobs)", "transaction(journal)".
  std::string db_name = "db";
  std::string transaction_name = "transaction";
  // To the server whose lock transactions wait for; null: there is none.
  Connector* server = nullptr;
};

// "writable_client(41+14)(pull to sync)"
std::string client_prompt(const Client& client);

// The commands of joedb_client. Everything must outlive the loop.
void add_client_commands(Command_Loop& loop, Client& client, Abstract_File& file,
                         const Client_Interpreters& interpreters);

}  // namespace joedb

#endif
