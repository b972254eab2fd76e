#include <iostream>

#include "hello/writable.h"

int main() try {
  hello::File_Database db("hello.joedb");

  if (db.get_person_table().is_empty()) {
    const auto ada = db.new_person("Ada", 36);
    db.new_person("Charles", 44);
    db.set_age(ada, 37);
    db.hard_checkpoint();
  }
  for (const auto person : db.get_person_table())
    std::cout << db.get_name(person) << " is " << db.get_age(person) << '\n';
} catch (const joedb::Exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
