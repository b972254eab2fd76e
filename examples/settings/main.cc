// The settings of a program: one row that is always there, with initial values from the schema.

#include <algorithm>
#include <iostream>
#include <string>

#include "settings/writable.h"

static void print(const settings::Database& db) {
  const int volume = db.get_volume();
  std::cout << "volume " << volume << ", language " << db.get_language()
            << (db.get_is_dark() ? ", dark" : ", light") << '\n';
}

// For forms and dialogs: all fields, without naming them.
static void print_defaults() {
#define JOEDB_INTROSPECTION(type, name, initial_value) \
  std::cout << #name " (" #type "), initially " << +(initial_value) << '\n'
#include "settings/tables/settings_introspection.h"
}

static bool change(settings::Writable_Database& db, const std::string& name,
                   const std::string& value) {
  if (name == "volume")
    db.set_volume(static_cast<std::int8_t>(std::clamp(std::stoi(value), 0, 100)));
  else if (name == "language")
    db.set_language(value);
  else if (name == "dark")
    db.set_is_dark(value == "yes");
  else
    return false;
  db.soft_checkpoint();
  return true;
}

int main(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  try {
    if (first == "defaults") {
      print_defaults();
      return 0;
    }
    settings::File_Database db("settings.joedb");
    if (argc == 3 && !change(db, first, argv[2])) {
      std::cerr << "usage: settings [defaults | volume 0…100 | language CODE | dark yes|no]\n";
      return 2;
    }
    print(db);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
