#include "tools/exchange/sqlite_output.h"

#include <iostream>

#include "exchange/sqlite_export.h"
#include "text/dump.h"
#include "text/sql.h"

namespace joedb {

// Says which tables are left out, and which names are others in SQL.
static void note_differences(const Database& database) {
  for (const Table* table : live_tables(database))
    if (const std::string reason = too_wide_for_sql(*table); !reason.empty())
      std::cerr << "skipped: table " << table->name() << ": " << reason << '\n';
  for (const auto& [what, name] : sql_renames(database))
    std::cerr << "renamed: " << what << " is now " << name << '\n';
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
  note_differences(database);
}

}  // namespace joedb
