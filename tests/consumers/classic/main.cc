#include <cstdint>
#include <iostream>
#include <string>

#include "hello/Writable_Database.h"
#include "joedb/Span.h"
#include "joedb/journal/File.h"
#include "joedb/ui/main_wrapper.h"

static void write_and_read(joedb::Arguments& arguments) {
  const std::string program(arguments[0]);
  joedb::File file(program + ".joedb", joedb::Open_Mode::write_existing_or_create_new);
  hello::Writable_Database db(file);

  const auto people = db.new_vector_of_person(2);
  db.set_name(people[0], "Ada");
  db.set_name(people[1], "Charles");
  db.update_vector_of_age(people, 2, [](joedb::Span<std::int32_t> ages) {
    ages[0] = 37;
    ages[1] = 44;
  });
  db.hard_checkpoint();

  for (const auto person : db.get_person_table())
    std::cout << db.get_name(person) << " is " << db.get_age(person) << '\n';
}

int main(int argc, char** argv) { return joedb::main_wrapper(write_and_read, argc, argv); }
