// A shopping list of two people. Each has a copy of it; both keep their copies in step with a third
// one, the hub.

#include <iostream>

#include "shopping/writable.h"

static void print(const char* who, const shopping::Database& db) {
  std::cout << who << ':';
  for (const auto item : db.get_item_table())
    std::cout << ' ' << db.get_name(item) << (db.get_is_bought(item) ? " (bought)" : "");
  std::cout << '\n';
}

static void run() {
  joedb::File hub("hub.joedb", joedb::Open_Mode::write_existing_or_create_new);
  joedb::File_Connection connection(hub);

  joedb::File ann_file("ann.joedb", joedb::Open_Mode::write_existing_or_create_new);
  joedb::File bob_file("bob.joedb", joedb::Open_Mode::write_existing_or_create_new);
  shopping::Client ann(ann_file, connection);
  shopping::Client bob(bob_file, connection);

  // A transaction pulls what others have written, runs, writes a checkpoint, and pushes. It returns
  // what its function returns.
  const auto bread = ann.transaction([](shopping::Writable_Database& db) {
    db.new_item("salt", false);
    return db.new_item("bread", false);
  });
  print("Ann", ann.get_database());
  print("Bob, before he pulls", bob.get_database());
  bob.pull();
  print("Bob, after he pulled", bob.get_database());

  // Bob buys the bread. Ann need not pull: her next transaction does.
  bob.transaction([bread](shopping::Writable_Database& db) { db.set_is_bought(bread, true); });
  ann.transaction([](shopping::Writable_Database& db) { db.new_item("tea", false); });
  print("Ann", ann.get_database());

  // Whatever a transaction throws: nothing of it stays, and nothing is pushed.
  try {
    bob.transaction([](shopping::Writable_Database& db) {
      db.new_item("cake", false);
      throw std::runtime_error("no cake this week");
    });
  } catch (const std::runtime_error& error) {
    std::cout << error.what() << '\n';
  }
  print("Bob", bob.get_database());
}

int main() {
  try {
    run();
  } catch (const joedb::Exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
