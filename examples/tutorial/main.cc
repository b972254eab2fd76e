#include <iostream>

#include "city/writable.h"

static void add_rows(city::Writable_Database& db) {
  const auto lisbon = db.new_city("Lisbon", 545'000);
  const auto oslo = db.new_city("Oslo", 709'000);

  db.new_person("Ana", 1990, lisbon);
  const auto finn = db.new_person("Finn", 1985, oslo);
  const auto noor = db.new_person("Noor", 2001, db.null_city());

  db.set_home(noor, lisbon);
  db.delete_person(finn);
  db.hard_checkpoint();
}

int main() {
  try {
    city::File_Database db("city.joedb");
    if (db.get_city_table().is_empty()) add_rows(db);

    for (const auto person : db.get_person_table())
      std::cout << db.get_name(person) << ", born in " << db.get_born(person) << ", lives in "
                << db.get_name(db.get_home(person)) << '\n';
  } catch (const joedb::Exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
