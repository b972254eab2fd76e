#include <cstdint>
#include <string>

#include "hello/Client.h"
#include "hello/Readonly_Database.h"
#include "hello/Writable_Database.h"
#include "joedb/Span.h"
#include "joedb/concurrency/File_Connection.h"
#include "joedb/journal/File.h"
#include "joedb/journal/Memory_File.h"
#include "joedb/ui/main_exception_catcher.h"
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

  // A client with a copy of the file.
  joedb::Memory_File copy;
  joedb::File file_to_read(program + ".joedb", joedb::Open_Mode::read_existing);
  joedb::File_Connection connection(file_to_read);
  hello::Client client(copy, connection);
  if (!client.is_pullonly()) throw joedb::Exception("the connection can only be read");

  const hello::Database& people_read = client.get_database();
  for (const auto person : people_read.get_person_table())
    std::cout << people_read.get_name(person) << " is " << people_read.get_age(person) << '\n';
}

static int run(int argc, char** argv) { return joedb::main_wrapper(write_and_read, argc, argv); }

int main(int argc, char** argv) { return joedb::main_exception_catcher(run, argc, argv); }
