#ifndef JOEDB_INTERPRETER_SQL_H
#define JOEDB_INTERPRETER_SQL_H

#include <concepts>
#include <ostream>
#include <string>
#include <string_view>

#include "joedb/table/database.h"
#include "schema/value_text.h"

// Values and content as SQL that SQLite understands.

namespace joedb::inline v1 {

// The type of a column; for a reference, the name of the table is to follow.
std::string_view sql_type(Type_Code code);

// SQL has no literals for some numbers: nan becomes NULL, as in SQLite, infinity 9e999.
void append_sql(std::string& out, float value);
void append_sql(std::string& out, double value);
void append_sql(std::string& out, Record_Id value);
inline void append_sql(std::string& out, bool value) { out += value ? '1' : '0'; }
template <std::integral T>
void append_sql(std::string& out, T value) {
  append_value(out, value);
}

// X'…': SQLite stores this as a blob.
void append_sql_bytes(std::string& out, std::string_view bytes);
// '…', if this is UTF-8 without control characters; else a cast of its bytes.
void append_sql_text(std::string& out, std::string_view text);
std::string sql_text(std::string_view text);
// In double quotes, whatever it contains.
std::string sql_name(std::string_view name);

// As SQLite compares names: ASCII letters without case.
bool is_same_name(std::string_view a, std::string_view b);

// Throws Exception where SQL would refuse a name of a table or field, or take two for one.
void require_sql_names(const Database& database);

// The same for a name that a table, or a field of this table, is about to get. `id` is the one that
// has a name already; null for a new one.
void require_new_table_name(const Database& database, Table_Id id, std::string_view name);
void require_new_field_name(const Table& table, Field_Id id, std::string_view name);

// The content of a database: a transaction that makes each table, with a column "__id", and has one
// INSERT for each record. The content of blobs is not there, and their columns are NULL. Throws
// Exception, and writes nothing, where SQL would refuse a name.
void write_sql(const Database& database, std::ostream& out);

}  // namespace joedb::inline v1

#endif
