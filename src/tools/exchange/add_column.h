#ifndef JOEDB_SRC_TOOLS_EXCHANGE_ADD_COLUMN_H
#define JOEDB_SRC_TOOLS_EXCHANGE_ADD_COLUMN_H

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

// ALTER TABLE … ADD COLUMN, which SQLite refuses for tables of joedb files.

namespace joedb {

struct Added_Column {
  std::string schema;  // empty if the statement does not give it
  std::string table;
  std::string name;
  std::string type;      // with its constraints, as in the statement
  std::size_t size = 0;  // of the statement in bytes, with the semicolon at its end
};

// Returns the content of the first statement of `sql`, if it has the form ALTER TABLE
// [schema.]table ADD [COLUMN] name …. Does not check the names and the type.
std::optional<Added_Column> parse_add_column(std::string_view sql);

// Converts the type of a column to that of a field: "TEXT" to "string", "INTEGER REFERENCES city"
// to "references city", "DECIMAL(18,2) NULL" to "decimal(2) optional". Throws Exception for types
// and constraints that a field cannot have.
std::string field_type(const std::string& type);

}  // namespace joedb

#endif
