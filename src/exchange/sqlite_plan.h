#ifndef JOEDB_SRC_EXCHANGE_SQLITE_PLAN_H
#define JOEDB_SRC_EXCHANGE_SQLITE_PLAN_H

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "exchange/sqlite_schema.h"

namespace joedb {

// How to import a column of SQLite.
struct Column_Plan {
  std::string column;
  std::string field;
  Type_Code type = Type_Code::string;
  // For a reference: the referenced table, as an index in Sqlite_Plan::tables, and the column in it
  // that has the values; nullopt if the values are record ids. If that table is not imported,
  // records are looked up in the database. If the database does not have the table either, the
  // field gets the type `value_type`.
  std::size_t referenced = 0;
  std::optional<std::size_t> referenced_column = {};
  Logical_Type rule = {};  // of the reference
  Type_Code value_type = Type_Code::string;
  Logical_Type logical = {};  // of values of the type `value_type`
  bool is_exact = false;      // joedb wrote the logical type
  // True if some referenced records do not exist yet when this table is imported.
  bool is_deferred = false;

  const Logical_Type& logical_type() const { return type == Type_Code::reference ? rule : logical; }
};

struct Table_Plan {
  Sqlite_Table source;
  bool is_imported = true;
  std::string table = {};
  std::vector<Column_Plan> columns = {};   // one per column of the source
  std::vector<Sqlite_Values> values = {};  // one per column of the source
  std::int64_t rows = 0;

  // Returns the index of the column with this name in SQLite. Precondition: it exists.
  std::size_t find(std::string_view name) const;
};

// How to import the tables of an SQLite file: their names, the types of columns, which also depend
// on the values, and which columns are references.
struct Sqlite_Plan {
  std::vector<Table_Plan> tables;  // referenced tables first, if possible
  std::int64_t content_size = 0;   // size of all rows, as Sqlite_Budget counts it
  std::vector<std::string> notes;  // for the user: omissions and changes

  // Reads all rows. `wanted` has the names of the tables to import; if empty, all are imported.
  // `may_have_ids`: a column "__id" may be the record id; else it is a field, "id". Throws
  // Sqlite_Error, and Data_Error if a wanted table does not exist.
  Sqlite_Plan(const Sqlite& file, const std::vector<std::string>& wanted,
              std::function<void(std::int64_t)> progress, bool may_have_ids = true);

 private:
  void take_tables(Sqlite_Schema schema, const std::vector<std::string>& wanted,
                   const std::string& file);
  void assign_names();
  void note_names(const Table_Plan& table, const std::vector<std::string>& fields);
  void read_values(const Sqlite& file, std::function<void(std::int64_t)> progress, bool is_exact);
  void find_references();
  void find_reference(Table_Plan& table, const Sqlite_Foreign_Key& key);
  void keep_keys();
  void sort_tables();
  void find_type(Table_Plan& table, std::size_t column, bool is_exact);
  void note_time(const Table_Plan& table, std::size_t column, const Logical_Type& logical);
  void note_changes(bool is_exact);
};

}  // namespace joedb

#endif
