#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>

#include "exchange/csv_reader.h"
#include "exchange/export.h"
#include "exchange/import.h"
#include "exchange/jsonl_reader.h"
#include "fuzz/fuzzers.h"
#include "joedb/io/memory_file.h"

namespace joedb::testing {

namespace {

// The options that the first byte chooses.
struct Choice {
  bool is_json, trims, has_key, is_known_table, looks_up, has_enum, reads_times, has_sample;

  explicit Choice(unsigned char byte)
      : is_json((byte & 1) != 0),
        trims((byte & 2) != 0),
        has_key((byte & 4) != 0),
        is_known_table((byte & 8) != 0),
        looks_up((byte & 16) != 0),
        has_enum((byte & 32) != 0),
        reads_times((byte & 64) != 0),
        has_sample((byte & 128) != 0) {}
};

void require_import(bool condition, const char* promise, const std::string& text) {
  if (condition) return;
  std::fprintf(stderr, "%s\n%s\n", promise, text.c_str());
  std::abort();
}

Import_Counts import(Writable_Database& db, std::string_view text, const Choice& choice,
                     const Import_Settings& settings) {
  constexpr std::size_t max_row = 1 << 16;
  Input input = Input::of_text("input", std::string(text), max_row);
  std::unique_ptr<Row_Source> source;
  if (choice.is_json)
    source = std::make_unique<Jsonl_Reader>(input);
  else
    source = std::make_unique<Csv_Reader>(input, Csv_Format{.trims = choice.trims});
  const Import_Plan plan = plan_import(*source, db.get_database(), settings);
  plan.text();
  const Import_Counts counts = import_rows(*source, db, plan, [] {});
  db.soft_checkpoint();
  return counts;
}

std::string exported(const Database& database, const Abstract_File& file, bool is_json) {
  std::ostringstream out;
  for (const auto& table : database.tables()) {
    out << table->name() << '\n';
    (is_json ? write_jsonl : write_csv)(database, *table, file, {.has_ids = true}, out, [] {});
  }
  return out.str();
}

void make_table(Writable_Database& db) {
  const Table_Id table(1);
  db.write(Create_Table{"t"});
  const Type types[] = {{Type_Code::string, {}},  {Type_Code::int8, {}},
                        {Type_Code::int64, {}},   {Type_Code::float32, {}},
                        {Type_Code::boolean, {}}, {Type_Code::reference, table},
                        {Type_Code::blob, {}}};
  const char* const names[] = {"s", "i", "l", "f", "b", "r", "x"};
  for (std::size_t i = 0; i < std::size(types); ++i) db.write(Add_Field{table, names[i], types[i]});
}

// Requires that an import of the exported table changes nothing.
void require_round_trip(Writable_Database& db, const Memory_File& file, bool is_json) {
  const Table& table = *db.get_database().find_table("t");
  if (table.records().used_count() == 0) return;  // without lines, JSON lines do not mention __id
  std::ostringstream out;
  (is_json ? write_jsonl : write_csv)(db.get_database(), table, file, {.has_ids = true}, out,
                                      [] {});
  const std::string before = exported(db.get_database(), file, is_json);
  const Choice choice(is_json ? 1 : 0);
  const Import_Counts counts =
      import(db, out.str(), choice, {.table = "t", .deletes_missing = true});
  require_import(
      counts == Import_Counts{.unchanged = table.records().used_count(), .missing = counts.missing},
      "an import of what was exported changes something", out.str());
  require_import(exported(db.get_database(), file, is_json) == before, "the export is another",
                 before);
}

}  // namespace

void fuzz_import(std::string_view input) {
  if (input.empty()) return;
  const Choice choice(static_cast<unsigned char>(input.front()));
  input.remove_prefix(1);
  Memory_File file;
  Writable_Database db(file);
  if (choice.is_known_table) make_table(db);
  db.soft_checkpoint();
  const std::string before = exported(db.get_database(), file, true);
  Import_Settings settings{.table = "t"};
  if (choice.has_key) settings.key = {"s"};
  if (choice.looks_up) settings.references = {{"r", "t.s"}};
  settings.creates_references = choice.has_key;
  if (choice.has_enum) settings.enums = {{"e", ""}};
  settings.reads_times = choice.reads_times;
  settings.sample = choice.has_sample ? 1 : 0;
  try {
    import(db, input, choice, settings);
  } catch (const Data_Error&) {
    db.rollback();
    require_import(exported(db.get_database(), file, true) == before,
                   "a failed import left something", before);
    return;
  }
  for (const bool is_json : {false, true}) require_round_trip(db, file, is_json);
}

}  // namespace joedb::testing
