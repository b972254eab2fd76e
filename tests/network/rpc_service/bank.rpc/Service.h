#ifndef bank_rpc_Service_declared
#define bank_rpc_Service_declared

#include "bank/Client.h"
#include "bank/rpc/deposit/Writable_Database.h"
#include "bank/rpc/echo/Writable_Database.h"

#include <vector>

namespace bank::rpc {
class Service {
 private:
  Client& client;

 public:
  Service(Client& client) : client(client) {}

  // adds the amount to the owner's account (made if missing), fills in the balance
  void put(deposit::Writable_Database& message) {
    if (message.get_amount() < 0) throw joedb::Exception("negative amount");

    client.transaction([&message](Writable_Database& db) {
      auto account = db.find_account_by_owner(message.get_owner());
      if (account.is_null()) {
        account = db.new_account();
        db.set_owner(account, message.get_owner());
      }
      db.set_balance(account, db.get_balance(account) + message.get_amount());
      message.set_balance(db.get_balance(account));
    });
  }

  // appends a copy of every line
  void repeat(echo::Writable_Database& message) {
    std::vector<std::string> lines;
    for (const auto line : message.get_line_table()) lines.push_back(message.get_text(line));
    for (const auto& text : lines) message.set_text(message.new_line(), text);
  }

  // fails with the text of the first line
  void fail(echo::Writable_Database& message) {
    throw joedb::Exception(message.get_text(message.get_line_table().first()));
  }

  // appends all accounts to a message that has the schema of the database
  void accounts(bank::Writable_Database& message) {
    const auto& db = client.get_database();
    for (const auto account : db.get_account_table()) {
      const auto copy = message.new_account();
      message.set_owner(copy, db.get_owner(account));
      message.set_balance(copy, db.get_balance(account));
    }
  }
};
}

#endif
