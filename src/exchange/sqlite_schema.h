#ifndef JOEDB_SRC_EXCHANGE_SQLITE_SCHEMA_H
#define JOEDB_SRC_EXCHANGE_SQLITE_SCHEMA_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exchange/sqlite.h"
#include "joedb/schema/type.h"
#include "text/sql.h"

namespace joedb {

// ---- the schema of a file of SQLite -------------------------------------------------------------

struct Sqlite_Column {
  std::string name;
  std::string declared_type;
  int key_place = 0;  // position in the primary key, from 1; 0: not a part of it
  bool has_default = false;
};

struct Sqlite_Foreign_Key {
  std::vector<std::string> columns;
  std::string table;                    // referenced table
  std::vector<std::string> referenced;  // referenced columns; empty: its primary key
};

struct Sqlite_Index {
  std::string name;  // empty: index of a constraint
  bool is_unique = false;
  std::vector<std::string> columns;
};

struct Sqlite_Table {
  std::string name;
  std::string rowid;     // "rowid" or another name of it; empty: rows have none
  bool has_ids = false;  // "__id" INTEGER PRIMARY KEY, not among the columns
  std::vector<Sqlite_Column> columns;
  std::vector<Sqlite_Foreign_Key> foreign_keys;
  std::vector<Sqlite_Index> indexes;  // including that of the primary key

  const Sqlite_Column* find_column(std::string_view name) const;  // ignores case, like SQLite
  std::vector<std::string> primary_key() const;
  // Returns true if a unique index has these columns, in this order.
  bool is_unique(const std::vector<std::string>& columns) const;
};

struct Sqlite_Schema {
  bool is_exact = false;             // written by joedb: types are those of fields
  std::vector<Sqlite_Table> tables;  // ordinary tables
  std::vector<std::string> skipped;  // "view v", "trigger x", …

  const Sqlite_Table* find_table(std::string_view name) const;  // ignores case
};

// Reads the schema. Throws Sqlite_Error.
Sqlite_Schema read_sqlite_schema(const Sqlite& file);

// ---- the types of its columns -------------------------------------------------------------------

// Summary of the values of a column.
struct Sqlite_Values {
  std::int64_t nulls = 0;
  std::int64_t numbers = 0;
  std::int64_t bytes = 0;
  bool has_integers = false;
  bool has_reals = false;
  bool has_texts = false;
  bool has_bytes = false;
  bool is_single = true;  // all reals are float32, exactly
  std::int64_t min = 0;   // of the integers, and 0
  std::int64_t max = 0;

  void add(const Sqlite_Statement& row, int column);
};

// Returns the type of a field for such a column: the declared type, unless it cannot hold all
// values.
Type_Code find_type(std::string_view declared, bool is_exact, const Sqlite_Values& values);

}  // namespace joedb

#endif
