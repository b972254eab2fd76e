#include "text/sql.h"

#include <algorithm>
#include <cmath>

#include "kernel/base/lower_case.h"
#include "kernel/base/parse_number.h"
#include "kernel/base/utf8.h"
#include "kernel/table/live_fields.h"
#include "text/different_names.h"
#include "text/dump.h"
#include "text/text_buffer.h"

namespace joedb::inline v1 {

// ---- values -------------------------------------------------------------------------------------

std::string_view sql_type(Type_Code code, Sql_Types types) {
  const bool is_exact = types == Sql_Types::exact;
  switch (code) {
    case Type_Code::string:
      return "TEXT";
    case Type_Code::boolean:
      return is_exact ? "BOOLEAN" : "SMALLINT";
    case Type_Code::int8:
      return is_exact ? "TINYINT" : "SMALLINT";
    case Type_Code::int16:
      return "SMALLINT";
    case Type_Code::int32:
    case Type_Code::reference:
      return "INTEGER";
    case Type_Code::int64:
      return "BIGINT";
    case Type_Code::float32:
      return is_exact ? "FLOAT" : "REAL";
    case Type_Code::float64:
      return "REAL";
    case Type_Code::blob:
      return "BLOB";
    case Type_Code::none:
      break;
  }
  return "";
}

std::string sql_type(Type_Code code, const Logical_Type& logical, Sql_Types types) {
  using Kind = Logical_Type::Kind;
  const bool is_exact = types == Sql_Types::exact;
  switch (logical.kind) {
    case Kind::plain:
      return std::string(sql_type(code, types));
    case Kind::boolean:
      return "BOOLEAN";
    case Kind::date:
      return is_exact ? "DATE" : "DATE TEXT";
    case Kind::timestamp:
      return is_exact ? "TIMESTAMP" : "DATETIME TEXT";
    case Kind::decimal:
      return "DECIMAL(18," + std::to_string(logical.scale) + ")";
    case Kind::bytes:
      return "BLOB";
    default:
      return "TEXT";
  }
}

double shown_decimal(std::int64_t value, std::uint8_t scale) {
  constexpr std::int64_t exact = std::int64_t{1} << 53;
  // Both numbers are exact, so the quotient is rounded once.
  if (value >= -exact && value <= exact)
    return static_cast<double>(value) / static_cast<double>(powers_of_10[scale]);
  std::string text;
  append_logical(text, {.kind = Logical_Type::Kind::decimal, .scale = scale}, value);
  return parse_number<double>(text).value_or(0);
}

std::string exact_sql_type(const Column_Base& column) {
  const Type_Code code = column.type().code;
  const bool may_be_null = column.logical().is_optional || code == Type_Code::reference ||
                           code == Type_Code::blob || code == Type_Code::float32 ||
                           code == Type_Code::float64;
  return sql_type(code, column.logical(), Sql_Types::exact) + (may_be_null ? "" : " NOT NULL");
}

std::string_view sql_on_delete(Logical_Type::On_Delete rule) {
  using On_Delete = Logical_Type::On_Delete;
  switch (rule) {
    case On_Delete::clear:
      return " ON DELETE SET NULL";
    case On_Delete::cascade:
      return " ON DELETE CASCADE";
    case On_Delete::refuse:
      return " ON DELETE RESTRICT";
    case On_Delete::keep:
      break;
  }
  return "";
}

std::optional<Logical_Type::On_Delete> on_delete_of_sql(std::string_view action) {
  if (is_same_name(action, "NO ACTION")) return Logical_Type::On_Delete::refuse;
  for (const auto& [rule, name] : on_delete_rules)
    if (is_same_name(" ON DELETE " + std::string(action), sql_on_delete(rule))) return rule;
  return {};
}

std::string sql_definition(const Sql_Names& names, const Table& table, Sql_Types types) {
  std::string sql =
      "CREATE TABLE " + sql_name(names.table(table)) + "(\"__id\" INTEGER PRIMARY KEY";
  for (const auto& [name, id, field] : Sql_Names::fields(table)) {
    const Type& type = field.column->type();
    sql.append(", ").append(sql_name(name)).append(" ");
    sql += types == Sql_Types::exact ? exact_sql_type(*field.column)
                                     : sql_type(type.code, field.column->logical(), types);
    const Table* const referenced = names.database().find_table(type.referenced);
    if (referenced != nullptr && too_wide_for_sql(*referenced).empty())
      sql.append(" REFERENCES ")
          .append(sql_name(names.table(*referenced)))
          .append(sql_on_delete(field.column->logical().on_delete));
  }
  return sql + ')';
}

template <std::floating_point T>
static void append_float(std::string& out, T value) {
  if (std::isnan(value))
    out += "NULL";
  else if (std::isinf(value))
    out += value < 0 ? "-9e999" : "9e999";
  else
    append_value(out, value);
}

void append_sql(std::string& out, float value) { append_float(out, value); }
void append_sql(std::string& out, double value) { append_float(out, value); }

void append_sql(std::string& out, Record_Id value) {
  if (value.is_null())
    out += "NULL";
  else
    append_value(out, value);
}

void append_sql_bytes(std::string& out, std::string_view bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  out += "X'";
  const std::size_t start = out.size();
  out.resize(start + 2 * bytes.size());
  char* to = out.data() + start;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    *to++ = digits[byte >> 4];
    *to++ = digits[byte & 15];
  }
  out += '\'';
}

void append_sql_text(std::string& out, std::string_view text) {
  if (!is_utf8(text) || std::ranges::any_of(text, is_control)) {
    out += "CAST(";
    append_sql_bytes(out, text);
    out += " AS TEXT)";
    return;
  }
  append_doubled(out, text, '\'');
}

std::string sql_text(std::string_view text) {
  std::string out;
  append_sql_text(out, text);
  return out;
}

std::string sql_name(std::string_view name) {
  std::string quoted;
  append_doubled(quoted, name, '"');
  return quoted;
}

// ---- tables -------------------------------------------------------------------------------------

static void print_sql(const Sql_Names& names, const Table& table, Text_Buffer& out) {
  out.add(sql_definition(names, table, Sql_Types::shared), ';');
  out.end_line();
  const std::string insertion = "INSERT INTO " + sql_name(names.table(table)) + " VALUES(";
  const auto print_row = [&](index_t id) {
    out.add(insertion, id);
    for_each_field(table, [&](Field_Id, const Field& field) {
      out.add(',');
      visit_type(field.column->type().code, [&]<class T>(std::type_identity<T>) {
        const auto& column = static_cast<const Column<T>&>(*field.column);
        if (!column.logical().has_plain_values())
          append_sql(out.text(), column.logical(), T(column.get(id)));
        else if constexpr (std::is_same_v<T, Blob>)
          out.add("NULL");
        else if constexpr (std::is_same_v<T, std::string_view>)
          append_sql_text(out.text(), column.get(id));
        else
          append_sql(out.text(), column.get(id));
      });
    });
    out.add(");");
    out.end_line();
  };
  for_each_run(table, [&](index_t first, index_t size) {
    for (index_t id = first; id < first + size; ++id) print_row(id);
  });
}

bool is_same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && lower_case(a) == lower_case(b);
}

static bool is_reserved(const std::string& lower) { return lower.starts_with("sqlite_"); }

// `place` is empty for a table, "TABLE." for a field.
[[noreturn]] static void fail_reserved(const std::string& place, std::string_view name) {
  throw Exception(place + std::string(name) + " is a name that SQL does not allow: rename it");
}

[[noreturn]] static void fail_clash(const std::string& place, std::string_view a,
                                    std::string_view b) {
  throw Exception(place + std::string(a) + " and " + place + std::string(b) +
                  " are one name in SQL, which does not distinguish upper and lower case: rename "
                  "one");
}

static std::vector<std::string> sql_names(const std::vector<std::string>& names) {
  return different_names(
      names,
      [](const std::string& name) { return is_reserved(lower_case(name)) ? '_' + name : name; },
      lower_case);
}

Sql_Names::Sql_Names(const Database& database) : database_(database) {
  const std::vector<std::string> names = sql_names(table_names(database));
  auto name = names.begin();
  for (const Table* table : live_tables(database)) tables_[table->id()] = *name++;
}

std::vector<Sql_Names::Named_Field> Sql_Names::fields(const Table& table) {
  const std::vector<std::string> names = sql_names(field_names(table));
  std::vector<Named_Field> result;
  for_each_field(table, [&](Field_Id id, const Field& field) {
    result.push_back({names[result.size()], id, field});
  });
  return result;
}

// `shown` is the name of another table or field in SQL. That both have the same name is an error of
// another kind.
static void require_distinguished(const std::string& place, std::string_view other,
                                  std::string_view shown, std::string_view name) {
  if (name == other || !is_same_name(name, shown)) return;
  if (is_same_name(name, other)) fail_clash(place, other, name);
  throw Exception(place + std::string(name) + " is the name in SQL of " + place +
                  std::string(other) + ": choose another one");
}

void require_new_table_name(const Database& database, Table_Id id, std::string_view name) {
  if (is_reserved(lower_case(name))) fail_reserved("", name);
  const Sql_Names names(database);
  for (const Table* table : live_tables(database))
    if (table->id() != id) require_distinguished("", table->name(), names.table(*table), name);
}

void require_new_field_name(const Table& table, Field_Id id, std::string_view name) {
  if (is_reserved(lower_case(name))) fail_reserved(table.name() + '.', name);
  for (const auto& [shown, other, field] : Sql_Names::fields(table))
    if (other != id) require_distinguished(table.name() + '.', field.name, shown, name);
}

// ---- differences in SQL -------------------------------------------------------------------------

std::vector<Sql_Rename> sql_renames(const Database& database) {
  std::vector<Sql_Rename> result;
  const auto add = [&](std::string what, const std::string& name, const std::string& shown) {
    if (name != shown) result.push_back({std::move(what), shown});
  };
  const Sql_Names names(database);
  for (const Table* table : live_tables(database)) {
    add("table " + table->name(), table->name(), names.table(*table));
    for (const auto& [shown, id, field] : Sql_Names::fields(*table))
      add("field " + table->name() + '.' + field.name, field.name, shown);
  }
  return result;
}

std::string too_wide_for_sql(const Table& table, std::size_t other_columns) {
  const std::size_t fields = field_names(table).size();
  if (fields + other_columns <= max_sqlite_columns) return "";
  return "it has " + std::to_string(fields) + " fields, and at most " +
         std::to_string(max_sqlite_columns - other_columns) + " are possible";
}

std::string hidden_in_sql(const Table& table) {
  constexpr std::size_t hidden_columns = 2;  // __id and __moment
  const std::string reason = too_wide_for_sql(table, hidden_columns);
  return reason.empty() ? "" : "SQL does not show table " + table.name() + ": " + reason;
}

// -------------------------------------------------------------------------------------------------

void write_sql(const Database& database, std::ostream& stream) {
  const Sql_Names names(database);
  Text_Buffer out(stream);
  out.add("BEGIN TRANSACTION;");
  out.end_line();
  for (const Table* table : live_tables(database)) {
    const std::string reason = too_wide_for_sql(*table);
    if (reason.empty()) {
      print_sql(names, *table, out);
    } else {
      out.add("-- skipped: table ", table->name(), ": ", reason);
      out.end_line();
    }
  }
  out.add("COMMIT;");
  out.end_line();
  out.flush();
}

}  // namespace joedb::inline v1
