#include <memory>

#include "hello.h"

using namespace hello;

void stop() {}

int main() {
  Memory_Database db;
  const id_of_city oslo = db.new_city("Oslo");
  const id_of_city none;
  const id_of_person ada = db.new_person("Ada, Countess of Lovelace", 36, oslo, 1.5, true, {});
  const id_of_person gone = db.new_person({.name = "gone"});
  db.new_person({.name = "Bé", .age = 7, .photo = db.write_blob("photo")});
  db.delete_person(gone);
  const joedb::String name = db.get_name(ada);
  const joedb::Table_Id table(3);
  const auto people = db.get_person_table();
  const std::unique_ptr<Writable_Database> owner = std::make_unique<Memory_Database>();
  stop();
  return none.is_null() && people.get_size() == name.size() + table.value() ? 1 : 0;
}
