#ifndef JOEDB_SRC_TEXT_SQL_H
#define JOEDB_SRC_TEXT_SQL_H

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/table/database.h"
#include "kernel/schema/logical_type.h"
#include "kernel/schema/value_text.h"

// Writes values and databases as SQL for SQLite.

namespace joedb::inline v1 {

// The declared types of columns. shared: several types of fields have the same SQL type, as in
// joedb 10. exact: each type of field, except reference, has its own SQL type, so that an import
// can restore it.
enum class Sql_Types : std::uint8_t { shared, exact };

// Returns the declared type of a column. For a reference, append REFERENCES and the table.
std::string_view sql_type(Type_Code code, Sql_Types types);
// The same for a field with a logical type: "DECIMAL(18,2)". Shared types of dates and times have
// the affinity TEXT ("DATE TEXT"), because SQL shows them as texts.
std::string sql_type(Type_Code code, const Logical_Type& logical, Sql_Types types);
// Returns the exact type of a field. NOT NULL follows if no value is NULL.
std::string exact_sql_type(const Column_Base& column);

// Returns " ON DELETE SET NULL" and so on, to follow REFERENCES; empty without a rule.
std::string_view sql_on_delete(Logical_Type::On_Delete rule);
// Returns the rule of SQLite's name for the action, in any case. NO ACTION is RESTRICT, because
// rules are not deferred. Returns nullopt for SET DEFAULT, and for no action of SQL.
std::optional<Logical_Type::On_Delete> on_delete_of_sql(std::string_view action);

// The names of tables and fields in SQL. SQL ignores case: if names differ only in case, all except
// the first get a suffix _2, _3 …. SQL reserves names that begin with sqlite_: they get the prefix
// _.
class Sql_Names {
 public:
  // `database` must outlive this object, and its tables must not change.
  explicit Sql_Names(const Database& database);
  const Database& database() const { return database_; }
  const std::string& table(const Table& table) const { return tables_.at(table.id()); }
  struct Named_Field {
    std::string name;  // in SQL
    Field_Id id;
    const Field& field;  // in the table
  };
  // Returns the fields that exist (were not dropped), in the order of their ids.
  static std::vector<Named_Field> fields(const Table& table);

 private:
  const Database& database_;
  std::map<Table_Id, std::string> tables_;
};

// A table or field with another name in SQL.
struct Sql_Rename {
  std::string what;  // "table NAME" or "field TABLE.NAME"
  std::string name;  // in SQL
};
std::vector<Sql_Rename> sql_renames(const Database& database);

// SQLite's limit on the columns of a table, and of the result of a statement.
inline constexpr std::size_t max_sqlite_columns = 2000;

// Returns the reason why SQLite cannot have a table: it has too many fields. Empty if it can.
// `other_columns` is the number of columns that are not fields: __id in a file of SQLite.
std::string too_wide_for_sql(const Table& table, std::size_t other_columns = 1);
// Returns the same for SQL on joedb files, as a sentence.
std::string hidden_in_sql(const Table& table);

// Returns the CREATE TABLE of a table, without a semicolon: a column "__id" for the record id, then
// one for each field. A reference to a table that is dropped, or too wide, is only an INTEGER.
std::string sql_definition(const Sql_Names& names, const Table& table, Sql_Types types);

// Append a number. SQL has no literal for nan, which becomes NULL, as in SQLite, and none for
// infinity, which becomes 9e999.
void append_sql(std::string& out, float value);
void append_sql(std::string& out, double value);
void append_sql(std::string& out, Record_Id value);
inline void append_sql(std::string& out, bool value) { out += value ? '1' : '0'; }
template <std::integral T>
void append_sql(std::string& out, T value) {
  append_value(out, value);
}

// Returns the number that is nearest to value / 10^scale.
double shown_decimal(std::int64_t value, std::uint8_t scale);

// True if SQL shows stored integers as texts: dates, times, durations and names.
inline bool is_shown_as_text(const Logical_Type& logical) {
  using Kind = Logical_Type::Kind;
  return (logical.kind >= Kind::date && logical.kind <= Kind::duration) ||
         logical.kind == Kind::enumeration;
}
// Appends this text; the digits of a value that has no other text. Requires is_shown_as_text.
template <std::integral T>
void append_shown_text(std::string& out, const Logical_Type& logical, T value) {
  if (!append_logical(out, logical, value)) append_value(out, value);
}

// Appends X'…', which SQLite stores as a blob.
void append_sql_bytes(std::string& out, std::string_view bytes);
// Appends '…' if the text is UTF-8 without control characters. Otherwise appends a cast of its
// bytes.
void append_sql_text(std::string& out, std::string_view text);
std::string sql_text(std::string_view text);

// Appends the value that SQL shows: NULL for a missing value, and for a blob; a text for dates,
// times, durations and names (append_shown_text), and UUIDs; a number for decimals; X'…' for bytes,
// and for bytes that are no UUID.
template <Field_Value T>
void append_sql(std::string& out, const Logical_Type& logical, T value) {
  std::string text;
  if constexpr (std::is_same_v<T, Blob>) {
    out += "NULL";
  } else if (is_missing(logical, value)) {
    out += "NULL";
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    const bool is_bytes = logical.kind == Logical_Type::Kind::bytes;
    if (!is_bytes && logical.kind != Logical_Type::Kind::uuid) return append_sql_text(out, value);
    if (is_bytes || !append_logical(text, logical, value)) return append_sql_bytes(out, value);
    append_sql_text(out, text);
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    const bool is_text = is_shown_as_text(logical);
    if (is_text) out += '\'';
    if (logical.kind == Logical_Type::Kind::boolean)
      append_sql(out, value);
    else
      append_shown_text(out, logical, value);
    if (is_text) out += '\'';
  } else {
    append_sql(out, value);
  }
}
// Returns the name in double quotes. The name may have any characters.
std::string sql_name(std::string_view name);

// Compares names as SQLite does: ignores the case of ASCII letters.
bool is_same_name(std::string_view a, std::string_view b);

// Throw Exception if SQL refuses a name that a table, or a field of this table, is about to get, or
// does not distinguish it from the name that another one has in SQL. Other names in SQL do not
// change then. `id` is the table or field that is renamed; null for a new one.
void require_new_table_name(const Database& database, Table_Id id, std::string_view name);
void require_new_field_name(const Table& table, Field_Id id, std::string_view name);

// Writes the content of a database: a transaction that creates each table, with a column "__id",
// and has one INSERT per record. Names are those of Sql_Names. The bytes of blobs are omitted, and
// their columns are NULL. A table that is too wide is only a comment.
void write_sql(const Database& database, std::ostream& out);

}  // namespace joedb::inline v1

#endif
