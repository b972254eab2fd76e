// The second version of a program opens a file of the first one. Each version has its schema: the
// second one begins with the first. Real programs have one at a time.

#include <fstream>
#include <iostream>
#include <string>

#include "contacts_1/writable.h"
#include "contacts_2/writable.h"

// Named in the schema of version 2. It runs once for each older file, when the new tables and
// fields are there: a contact now has any number of phones.
void contacts_2::Writable_Database::move_phones(Writable_Database& db) {
  for (const auto contact : db.get_contact_table()) {
    if (db.get_old_phone(contact).empty()) continue;
    db.new_number(contact, db.get_old_phone(contact));
    db.set_old_phone(contact, "");
  }
}

static void write_version_1(const char* file) {
  contacts_1::File_Database db(file);
  db.new_contact("Ida", "+47 22 33 44");
  db.new_contact("Jon", "");
  db.hard_checkpoint();
}

static void print(const contacts_2::Database& db) {
  for (const auto number : db.get_number_table())
    std::cout << db.get_name(db.get_contact(number)) << ": " << db.get_digits(number) << '\n';
  for (const auto contact : db.get_contact_table())
    std::cout << db.get_name(contact) << " speaks " << db.get_language(contact) << '\n';
}

// What is only read cannot be upgraded. In memory it can: what is written goes nowhere.
static void read_older_file(const char* file) {
  try {
    const contacts_2::Readonly_Database db(file);
  } catch (const joedb::Out_Of_Date& error) {
    std::cout << error.what() << '\n';
  }
  std::ifstream in(file, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  joedb::Upgradable_File<joedb::Readonly_Memory_File> upgradable(bytes);
  print(contacts_2::Writable_Database(upgradable));
}

int main() {
  try {
    const char* const file = "contacts.joedb";
    write_version_1(file);
    read_older_file(file);
    contacts_2::File_Database db(file);  // upgrades the file
    db.new_number(db.get_contact_table().last(), "+44 55 66 77");
    print(db);
    db.hard_checkpoint();
  } catch (const joedb::Exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
