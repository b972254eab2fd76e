#ifndef JOEDB_SRC_EXCHANGE_SQLITE_SCHEMA_H
#define JOEDB_SRC_EXCHANGE_SQLITE_SCHEMA_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exchange/sqlite.h"
#include "kernel/schema/logical_type.h"
#include "text/sql.h"

namespace joedb {

// ---- the schema of an SQLite file ---------------------------------------------------------------

struct Sqlite_Column {
  std::string name;
  std::string declared_type;
  int key_place = 0;  // position in the primary key, from 1; 0: not part of it
  bool has_default = false;
  // The types that the declared type may mean, best first, if all values fit one of them.
  std::vector<Declared_Type> logical_types = {};
  bool is_exact = false;     // joedb wrote the logical type
  std::string example = {};  // of the texts, if there may be a logical type
};

struct Sqlite_Foreign_Key {
  std::vector<std::string> columns;
  std::string table;                    // the referenced table
  std::vector<std::string> referenced;  // the referenced columns; empty: the primary key
  std::string on_delete;                // "NO ACTION", "SET NULL", …
};

struct Sqlite_Index {
  std::string name;  // empty for the index of a constraint
  bool is_unique = false;
  std::vector<std::string> columns;
};

struct Sqlite_Table {
  std::string name;
  std::string rowid;     // "rowid" or an alias of it; empty: the table has no rowids
  bool has_ids = false;  // "__id" is INTEGER PRIMARY KEY; not among `columns`
  std::vector<Sqlite_Column> columns;
  std::vector<Sqlite_Foreign_Key> foreign_keys;
  std::vector<Sqlite_Index> indexes;  // including the index of the primary key

  const Sqlite_Column* find_column(std::string_view name) const;  // ignores case, like SQLite
  std::vector<std::string> primary_key() const;
  // Returns true if a unique index has these columns, in this order.
  bool is_unique(const std::vector<std::string>& columns) const;
};

struct Sqlite_Schema {
  bool is_exact = false;             // written by joedb: declared types are types of fields
  std::vector<Sqlite_Table> tables;  // ordinary tables
  std::vector<std::string> skipped;  // "view v", "trigger x", …

  const Sqlite_Table* find_table(std::string_view name) const;  // ignores case
};

// Reads the schema. `may_have_ids`: a column "__id" may be the record id. Throws Sqlite_Error.
Sqlite_Schema read_sqlite_schema(const Sqlite& file, bool may_have_ids = true);

// ---- the types of columns -----------------------------------------------------------------------

// A summary of the values of a column.
struct Sqlite_Values {
  std::int64_t nulls = 0;
  std::int64_t numbers = 0;
  std::int64_t bytes = 0;
  bool has_integers = false;
  bool has_reals = false;
  bool has_texts = false;
  bool has_bytes = false;
  bool has_missing_text = false;  // the value of a string that would mean "missing"
  bool is_single = true;          // all reals are exact as float32
  std::int64_t min = 0;           // of the integers and 0
  std::int64_t max = 0;

  void add(const Sqlite_Statement& row, int column);

 private:
  void add_bytes(std::string_view value);
};

// Returns the type of the field for a column: the declared type if it can hold all values,
// otherwise a type that can.
Type_Code find_type(std::string_view declared, bool is_exact, const Sqlite_Values& values);

// Returns the logical types that a declared type may mean: dates, timestamps by their units (or
// days, if no value has a clock time), decimals, UUIDs and JSON.
std::vector<Declared_Type> logical_types(std::string_view declared);

// Returns the type of a field for a declared type, for a column without values; for a time, in
// microseconds. nullopt if the type depends on the values.
std::optional<Declared_Type> declared_type(std::string_view declared);

// Returns an optional type for a column of this type with NULLs. Returns a plain one if the values
// leave no value that could mean "missing".
Declared_Type optional_type(Type_Code code, const Sqlite_Values& values);

}  // namespace joedb

#endif
