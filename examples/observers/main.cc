// Who is told when something changes? What was a record before, and who has taken a change back?

#include <iostream>

#include "stationery.h"

using stationery::id_of_product, stationery::values_of_product;

// Any program that has the file open can do this. Here, one program does both.
static void sell(stationery::File_Client& client) {
  client.set_author("Ann");
  client.transaction("the first delivery", [](stationery::Writable_Database& db) {
    db.new_product("pens", 100);
    db.new_product("ink", 40);
  });
  client.set_author("Ben");
  client.transaction("sold on Tuesday", [](stationery::Writable_Database& db) {
    db.set_pieces(db.find_product_by_name("pens"), 70);
    db.set_pieces(db.find_product_by_name("ink"), 20);
  });
  client.transaction("everything was sold, or so it seemed",
                     [](stationery::Writable_Database& db) { db.clear_product_table(); });
}

int main() {
  try {
    stationery::File_Client client("shop.joedb");
    const stationery::Database& db = client.get_database();

    const joedb::Subscription updates = db.on_product_updated(
        [](id_of_product, const values_of_product& before, const values_of_product& after) {
          std::cout << after.name << ": " << before.pieces << " -> " << after.pieces << '\n';
        });
    const joedb::Subscription deletions =
        db.on_product_deleted([](id_of_product, const values_of_product& before) {
          std::cout << before.name << " is gone\n";
        });

    auto scarce = db.live_product([](const values_of_product& row) { return row.pieces < 30; });
    scarce.on_added([&](id_of_product id) {
      if (db.is_valid(id)) std::cout << "order " << db.get_name(id) << '\n';
    });
    scarce.on_removed([](id_of_product id) { std::cout << id.get_id() << " is off the list\n"; });

    sell(client);

    client.transaction("there is more in the cellar", [](stationery::Writable_Database& writable) {
      if (!writable.undo_transaction().is_possible)
        throw joedb::Exception("somebody else has changed it");
    });

    for (const auto& version : db.history(db.find_product_by_name("pens")))
      std::cout << version.values.pieces << " pens: " << version.from->author << ", "
                << version.from->comments.front() << '\n';

    for (const joedb::Transaction& transaction : db.changes())
      for (const auto& change : stationery::Database::changes_of_product(transaction))
        if (change.is_deletion())
          std::cout << transaction.author << " deleted " << change.before.name << '\n';
  } catch (const joedb::Exception& error) {
    std::cout << error.what() << '\n';
  }
}
