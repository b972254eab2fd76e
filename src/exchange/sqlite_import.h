#ifndef JOEDB_SRC_EXCHANGE_SQLITE_IMPORT_H
#define JOEDB_SRC_EXCHANGE_SQLITE_IMPORT_H

#include <functional>
#include <string>
#include <vector>

#include "exchange/row_importer.h"
#include "exchange/sqlite_plan.h"

namespace joedb {

struct Sqlite_Import_Options {
  // If true, records are found by the primary keys of their tables, or by `key`, and updated. If
  // false, rows are inserted, except that in tables with record ids, a row updates the record with
  // its id.
  bool updates = false;
  std::vector<std::string> key = {};  // columns that every table has
  bool deletes_missing = false;
  std::size_t memory = 0;         // Import_Target::memory
  bool ignores_dangling = false;  // a reference to a missing record becomes null
};

// The counts of one table.
struct Sqlite_Table_Counts {
  std::string table;
  Import_Counts counts;
};

// Imports the tables of an SQLite file. First creates missing tables and fields, then imports the
// records.
class Sqlite_Import {
 public:
  // `file` and `plan` must outlive this object.
  Sqlite_Import(const Sqlite& file, const Sqlite_Plan& plan, Sqlite_Import_Options options)
      : file_(file), plan_(plan), options_(std::move(options)) {}

  // Calls `progress` with the amount of content read so far; the total is
  // Sqlite_Plan::content_size. Tables with deferred references are read, and counted, twice. Makes
  // no checkpoint. Throws Sqlite_Error, Data_Error with the table, row and column, and the
  // exceptions of Writable_Database::write. After an exception, the caller must roll back.
  std::vector<Sqlite_Table_Counts> run(Writable_Database& database,
                                       std::function<void(std::int64_t)> progress);

  // After run(): notes for the user, like "NULL becomes 0: invoice.total, in 1 row".
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::string place(const Table_Plan& table) const;
  Table_Id referenced(const Database& database, const Column_Plan& column) const;
  void make_schema(Writable_Database& database, const Table_Plan& table);
  void note_nulls(const Database& database, const Table_Plan& table);
  Import_Target target(const Database& database, const Table_Plan& table) const;
  std::vector<Field_Id> key(const Database& database, const Table_Plan& table) const;

  const Sqlite& file_;
  const Sqlite_Plan& plan_;
  const Sqlite_Import_Options options_;
  std::vector<std::string> notes_;
};

// Declares the indexes of the tables in the database after the import, except those whose names are
// declared already. An index is not unique if records have the same key. Returns a note for each
// index that cannot be declared, for example because another one has its name.
std::vector<std::string> declare_sqlite_indexes(const Sqlite_Plan& plan,
                                                Writable_Database& database);

// Returns the indexes of the tables as lines of a .joedbc file, for the database after the import.
// NULL becomes 0 or "" in an import, so a unique index may get duplicate values. Such an index is
// not unique in the result, and a comment line says so.
std::string sqlite_indexes(const Sqlite_Plan& plan, const Database& database,
                           const std::string& file_name);

}  // namespace joedb

#endif
