// Cities, and the persons who live there: the program of docs/tutorial.md.

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
}

static void print_persons(const city::Database& db) {
  for (const auto person : db.get_person_table())
    std::cout << db.get_name(person) << ", born in " << db.get_born(person) << ", lives in "
              << db.get_name(db.get_home(person)) << '\n';
}

static void write_checkpoints(city::Writable_Database& db) {
  db.soft_checkpoint();  // survives the death of this process: microseconds
  db.hard_checkpoint();  // survives a power cut: waits for the disk
}

static void add_villages(city::Writable_Database& db, std::size_t n) {
  const auto first = db.new_vector_of_city(n);
  db.update_vector_of_population(first, n, [](joedb::Span<std::int64_t> population) {
    for (std::size_t i = 0; i < population.size(); ++i) population[i] = 300;
  });
}

static std::int64_t total_population(const city::Database& db) {
  std::int64_t sum = 0;
  for (const auto city : db.get_city_table()) sum += db.get_population(city);
  return sum;
}

static void run() {
  city::File_Database db("city.joedb");
  if (db.get_city_table().is_empty()) {
    add_rows(db);
    write_checkpoints(db);
  }
  print_persons(db);

  add_villages(db, 1000);
  std::cout << db.get_city_table().get_size() << " places, " << total_population(db) << " people\n";
  db.rollback();
  std::cout << db.get_city_table().get_size() << " places after a rollback\n";
}

int main() {
  try {
    run();
  } catch (const joedb::Exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
