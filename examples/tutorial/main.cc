// The program of docs/tutorial.md.

#include <iostream>

#include "city.h"

static void add_rows(city::Writable_Database& db) {
  const auto japan = db.new_country("Japan");
  const auto tokyo = db.new_city("Tokyo", 37'000'000, japan);
  db.set_population(tokyo, 37'036'200);

  for (const auto id : db.get_city_table())
    std::cout << db.get_name(id) << " in " << db.get_name(db.get_country(id)) << '\n';
}

static void write_checkpoints(city::Writable_Database& db) {
  db.soft_checkpoint();  // survives the death of this process: microseconds
  db.hard_checkpoint();  // survives a power cut: waits for the disk
}

static void add_vector(city::Writable_Database& db) {
  const std::size_t n = 1000;
  const auto read_population = [] { return std::int64_t{50'000}; };

  const auto first = db.new_vector_of_city(n);
  db.update_vector_of_population(first, n, [&](joedb::Span<std::int64_t> population) {
    for (std::size_t i = 0; i < n; ++i) population[i] = read_population();
  });
}

static std::int64_t total_population(const city::Database& db) {
  std::int64_t sum = 0;
  for (const auto id : db.get_city_table()) sum += db.get_population(id);
  return sum;
}

int main(int argc, char** argv) {
  const char* const file = argc > 1 ? argv[1] : "cities.joedb";
  try {
    city::File_Database db(file);
    add_rows(db);
    write_checkpoints(db);
    add_vector(db);
    std::cout << db.get_city_table().get_size() << " cities, " << total_population(db)
              << " people\n";
    db.rollback();
    std::cout << db.get_city_table().get_size() << " city after a rollback\n";
  } catch (const joedb::Exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  const city::Readonly_Database db(file);
  std::cout << "reopened: " << total_population(db) << " people\n";
}
