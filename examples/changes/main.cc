// Who has changed the ages of people, and how? For any database that has such a table and field.

#include <joedb/joedb.h>

#include <iostream>

static void print_age(const joedb::Values& values, joedb::index_t i) {
  if (values.is_empty())
    std::cout << "nothing";
  else
    std::cout << values.get<std::int32_t>(i);
}

static void print_ages(const joedb::Transaction& transaction) {
  for (const joedb::Change& change : transaction.changes) {
    if (!change.is_of_records()) continue;
    for (const joedb::Field_Change& field : change.fields) {
      if (change.field_name(field) != "age") continue;
      for (joedb::index_t i = 0; i < change.size; ++i) {
        std::cout << transaction.author << ": person " << (change.record + i).get_id() << ' ';
        print_age(field.old_values, i);
        std::cout << " -> ";
        print_age(field.new_values, i);
        std::cout << '\n';
      }
    }
  }
}

int main() {
  try {
    joedb::File file("people.joedb", joedb::Open_Mode::read_existing);

    joedb::Change_Options options;
    options.tables = joedb::tables_named(file, "person");
    std::cout << "forwards:\n";
    for (const joedb::Transaction& transaction : joedb::Changes(file, options))
      print_ages(transaction);

    std::cout << "the newest first:\n";
    for (const joedb::Transaction& transaction : joedb::Reversed<joedb::Changes>(file, options))
      print_ages(transaction);

    const joedb::Offset start = joedb::find_moment(file, joedb::at_time(1'795'000'000));
    const joedb::Offset end = joedb::Readonly_Journal(file).get_checkpoint();
    std::cout << joedb::net_changes(file, start, end).size() << " changes since then\n";
  } catch (const joedb::Exception& error) {
    std::cout << error.what() << '\n';
  }
}
