#include "tools/exchange/sqlite_output.h"

#include <iostream>

#include "exchange/sqlite_export.h"
#include "text/dump.h"
#include "text/sql.h"

namespace joedb {

// Prints which names are different in SQL.
static void note_names(const Database& database) {
  const Sql_Names names(database);
  const auto note = [](const std::string& what, const std::string& name, const std::string& now) {
    if (name != now) std::cerr << "renamed: " << what << name << " is now " << now << '\n';
  };
  for (const Table* table : live_tables(database)) {
    note("table ", table->name(), names.table(*table));
    for (const auto& [now, id, field] : Sql_Names::fields(*table))
      note("field " + table->name() + '.', field.name, now);
  }
}

void write_sqlite(const Sqlite_Source& source, const std::string& path, const std::string& name) {
  const auto file = open_source(source.name, source.source);
  Database database;
  std::vector<Index_Definition> indexes;
  name_file_in_errors(file->get_name(), [&] {
    indexes = read_indexes(source.options_file, *file, source.reading.get_recovery());
    Readonly_Journal journal(*file, source.reading.get_recovery());
    source.reading.load(journal, database);
  });
  index_t rows = 0;
  for (const Table* table : live_tables(database)) rows += table->records().used_count();
  Progress progress("writing " + name, 0, rows, Progress::Output::nothing, Progress::Unit::entries);
  Sqlite_Export{.database = database,
                .file = *file,
                .indexes = std::move(indexes),
                .progress = [&](index_t row) { progress.update(row); }}
      .write(path, name);
  note_names(database);
}

}  // namespace joedb
