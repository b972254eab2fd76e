#ifndef JOEDB_EXCHANGE_SQLITE_IMPORT_H
#define JOEDB_EXCHANGE_SQLITE_IMPORT_H

#include <functional>
#include <string>
#include <vector>

#include "exchange/row_importer.h"
#include "exchange/sqlite_plan.h"

namespace joedb {

struct Sqlite_Import_Options {
  // Records are found by the primary keys of their tables, or by `key`, and updated. Otherwise rows
  // are inserted; but where tables have record ids, these identify records.
  bool updates = false;
  std::vector<std::string> key = {};  // columns that each table has
  bool deletes_missing = false;
  std::size_t memory = 0;         // Import_Target::memory
  bool ignores_dangling = false;  // a reference to what is not there becomes null
};

// What was done with a table.
struct Sqlite_Table_Counts {
  std::string table;
  Import_Counts counts;
};

// Imports the tables of a file of SQLite: makes the tables and fields that the database does not
// have, then the records.
class Sqlite_Import {
 public:
  // All must outlive this.
  Sqlite_Import(const Sqlite& file, const Sqlite_Plan& plan, Sqlite_Import_Options options)
      : file_(file), plan_(plan), options_(std::move(options)) {}

  // `progress` gets a number up to Sqlite_Plan::content_size. Writes no checkpoint. Throws
  // Sqlite_Error, Data_Error with the table, row and column, and what Writable_Database::write
  // throws; then only a rollback is left.
  std::vector<Sqlite_Table_Counts> run(Writable_Database& database,
                                       std::function<void(std::int64_t)> progress);

 private:
  std::string place(const Table_Plan& table) const;
  Table_Id referenced(const Database& database, const Column_Plan& column) const;
  void make_schema(Writable_Database& database, const Table_Plan& table);
  Import_Target target(const Database& database, const Table_Plan& table) const;
  std::vector<Field_Id> key(const Database& database, const Table_Plan& table) const;

  const Sqlite& file_;
  const Sqlite_Plan& plan_;
  const Sqlite_Import_Options options_;
};

// The indexes of the tables as lines of a .joedbc file, for the database after the import. A unique
// index of values that are there twice, because NULL has become 0 or "", is not unique there, and
// the line says so.
std::string sqlite_indexes(const Sqlite_Plan& plan, const Database& database,
                           const std::string& file_name);

}  // namespace joedb

#endif
