#ifndef JOEDB_SRC_TOOLS_EXCHANGE_SQL_DEFINITION_H
#define JOEDB_SRC_TOOLS_EXCHANGE_SQL_DEFINITION_H

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Statements that SQLite cannot do for joedb files: CREATE TABLE, ALTER TABLE … ADD COLUMN, CREATE
// INDEX and DROP INDEX.

namespace joedb {

struct Sql_Definition {
  std::string schema;  // empty if the statement does not give it
  std::string table;
  bool is_new = false;     // CREATE TABLE
  bool may_exist = false;  // IF NOT EXISTS
  struct Column {
    std::string name;
    std::string type;  // with its constraints, as in the statement
  };
  std::vector<Column> columns;  // of ALTER TABLE, the new one
  std::size_t size = 0;         // of the statement in bytes, with the semicolon at its end
};

// Returns the content of the first statement of `sql`, if it has the form CREATE TABLE [IF NOT
// EXISTS] [schema.]table(…) or ALTER TABLE [schema.]table ADD [COLUMN] name …. Does not check the
// names and the types. Throws Exception for constraints and options of a table.
std::optional<Sql_Definition> parse_sql_definition(std::string_view sql);

struct Index_Statement {
  std::string schema;  // empty if the statement does not give it
  std::string name;
  bool is_drop = false;     // DROP INDEX
  bool may_exist = false;   // CREATE with IF NOT EXISTS
  bool may_be_new = false;  // DROP with IF EXISTS
  bool is_unique = false;
  std::string table;                 // of CREATE INDEX
  std::vector<std::string> columns;  // of CREATE INDEX
  std::size_t size = 0;
};

// The same for CREATE [UNIQUE] INDEX [IF NOT EXISTS] [schema.]name ON table(column, …), and DROP
// INDEX [IF EXISTS] [schema.]name.
std::optional<Index_Statement> parse_index_statement(std::string_view sql);

// True if the column is the record id: __id INTEGER PRIMARY KEY.
bool is_record_id(const Sql_Definition::Column& column);

// Converts the type of a column to that of a field: "TEXT NOT NULL" to "string", "INTEGER
// REFERENCES city ON DELETE CASCADE" to "references city on_delete cascade", "DECIMAL(18,2)" to
// "decimal(2) optional". Types may have the names of joedbi, or of an import from SQLite. Throws
// Exception for types and constraints that a field cannot have.
std::string field_type(const std::string& type);

// Returns the type of a column of which field_type() makes this type. `quoted` returns the name of
// a table as SQL needs it.
std::string column_type(const std::string& field_type, std::string (*quoted)(const std::string&));

}  // namespace joedb

#endif
