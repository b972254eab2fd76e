// A table as arrays of Apache Arrow, and rows from such arrays. Here both ends are joedb; in a
// program one of them is a library of Arrow.

#include <iostream>

#include "joedb/arrow/arrow.h"
#include "joedb/io/memory_file.h"

static const joedb::Field_Id name(1), population(2);

static void insert(joedb::Writable_Database& db, joedb::Table_Id city, joedb::index_t id,
                   const char* its_name, std::int64_t its_population) {
  const joedb::Record_Id record(id);
  db.write(joedb::Insert{city, record});
  db.write(joedb::Update<std::string_view>{city, record, name, its_name});
  db.write(joedb::Update<std::int64_t>{city, record, population, its_population});
}

// What a consumer does: it reads the numbers where they are.
static std::int64_t sum(const ArrowArray& cities) {
  const ArrowArray& child = *cities.children[1];
  const auto* const values = static_cast<const std::int64_t*>(child.buffers[1]) + child.offset;
  std::int64_t result = 0;
  for (std::int64_t i = 0; i < child.length; ++i) result += values[i];
  return result;
}

int main() {
  joedb::Memory_File file;
  joedb::Writable_Database db(file);
  joedb::Arrow_Pins pins(db.get_database());  // one for each database, declared behind it

  db.write(joedb::Create_Table{"city"});
  const joedb::Table_Id city = db.get_database().find_table("city")->id();
  db.write(joedb::Add_Field{city, "name", {joedb::Type_Code::string, {}}});
  db.write(joedb::Add_Field{city, "population", {joedb::Type_Code::int64, {}}});
  insert(db, city, 0, "Lisbon", 550000);
  insert(db, city, 1, "Oslo", 709000);

  ArrowArrayStream stream;
  joedb::export_table(pins, city, {}, &stream);  // for pandas, polars, DuckDB, pyarrow ...
  ArrowArray cities;
  if (stream.get_next(&stream, &cities) != 0) return 1;
  std::cout << cities.length << " cities with " << sum(cities) << " inhabitants\n";

  pins.before_change(city);  // before the table changes
  db.write(joedb::Update<std::int64_t>{city, joedb::Record_Id(1), population, 710000});
  std::cout << sum(cities) << " in the array, which keeps its values\n";
  cities.release(&cities);
  stream.release(&stream);

  joedb::export_table(pins, city, {}, &stream);
  pins.before_change(city);
  joedb::import_stream(db, city, &stream);  // adds the rows of any stream to a table
  std::cout << db.get_database().table(city).records().used_count() << " cities\n";
  db.hard_checkpoint();
}
