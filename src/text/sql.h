#ifndef JOEDB_SRC_TEXT_SQL_H
#define JOEDB_SRC_TEXT_SQL_H

#include <concepts>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "joedb/table/database.h"
#include "kernel/schema/value_text.h"

// Values and content as SQL for SQLite.

namespace joedb::inline v1 {

// The declared types of columns. shared: the same type for several types of fields, as joedb 10
// writes them. exact: a different type for each type of field except references, from which an
// import restores the type of the field.
enum class Sql_Types : std::uint8_t { shared, exact };

// Returns the declared type of a column. For a reference, REFERENCES and the table follow it.
std::string_view sql_type(Type_Code code, Sql_Types types);

// Returns the CREATE TABLE of a table, without a semicolon: a column "__id" for the record id, then
// one for each field. A reference to a dropped table is only an INTEGER.
std::string sql_definition(const Database& database, const Table& table, Sql_Types types);

// Append a number. SQL has no literals for some of them: nan becomes NULL, as in SQLite, and
// infinity becomes 9e999.
void append_sql(std::string& out, float value);
void append_sql(std::string& out, double value);
void append_sql(std::string& out, Record_Id value);
inline void append_sql(std::string& out, bool value) { out += value ? '1' : '0'; }
template <std::integral T>
void append_sql(std::string& out, T value) {
  append_value(out, value);
}

// Appends X'…', which SQLite stores as a blob.
void append_sql_bytes(std::string& out, std::string_view bytes);
// Appends '…' if the text is UTF-8 without control characters, else a cast of its bytes.
void append_sql_text(std::string& out, std::string_view text);
std::string sql_text(std::string_view text);
// Returns the name in double quotes. It may have any characters.
std::string sql_name(std::string_view name);

// Compares names as SQLite does, without the case of ASCII letters.
bool is_same_name(std::string_view a, std::string_view b);

// Throws Exception if SQL refuses the name of a table or field, or does not distinguish two names.
void require_sql_names(const Database& database);

// Throw the same exception for a name that a table, or a field of this table, is about to get. `id`
// is the table or field that is renamed; null for a new one.
void require_new_table_name(const Database& database, Table_Id id, std::string_view name);
void require_new_field_name(const Table& table, Field_Id id, std::string_view name);

// Writes the content of a database: a transaction that creates each table, with a column "__id",
// and has one INSERT per record. The bytes of blobs are omitted, and their columns are NULL. Throws
// Exception, before it writes anything, if SQL refuses a name.
void write_sql(const Database& database, std::ostream& out);

}  // namespace joedb::inline v1

#endif
