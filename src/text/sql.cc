#include "text/sql.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "kernel/base/utf8.h"
#include "text/dump.h"
#include "text/text_buffer.h"

namespace joedb::inline v1 {

// ---- values -------------------------------------------------------------------------------------

std::string_view sql_type(Type_Code code) {
  switch (code) {
    case Type_Code::string:
      return "TEXT";
    case Type_Code::int32:
      return "INTEGER";
    case Type_Code::int64:
      return "BIGINT";
    case Type_Code::reference:
      return "INTEGER REFERENCES";
    case Type_Code::boolean:
    case Type_Code::int8:
    case Type_Code::int16:
      return "SMALLINT";
    case Type_Code::float32:
    case Type_Code::float64:
      return "REAL";
    case Type_Code::blob:
      return "BLOB";
    case Type_Code::none:
      break;
  }
  return "";
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

// True for UTF-8 without control characters.
static bool is_printable(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::size_t size = byte < 0x80 ? 1 : utf8_sequence_size(text.substr(i));
    if (byte < 0x20 || byte == 0x7f || size == 0) return false;
    i += size;
  }
  return true;
}

void append_sql_text(std::string& out, std::string_view text) {
  if (!is_printable(text)) {
    out += "CAST(";
    append_sql_bytes(out, text);
    out += " AS TEXT)";
    return;
  }
  out += '\'';
  for (std::size_t quote; (quote = text.find('\'')) != text.npos; text.remove_prefix(quote + 1))
    out.append(text.substr(0, quote)).append("''");
  out.append(text) += '\'';
}

std::string sql_text(std::string_view text) {
  std::string out;
  append_sql_text(out, text);
  return out;
}

std::string sql_name(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) quoted.append(c == '"' ? 2 : 1, c);
  return quoted += '"';
}

// ---- tables -------------------------------------------------------------------------------------

namespace {

// Prints one table. Its names are identifiers, and need no escapes.
class Sql_Table {
 public:
  Sql_Table(const Database& database, const Table& table, Text_Buffer& out)
      : database_(database), table_(table), out_(out) {}

  void print() {
    print_definition();
    for_each_run(table_, [&](index_t first, index_t size) {
      for (index_t id = first; id < first + size; ++id) print_row(id);
    });
  }

 private:
  void print_definition() {
    out_.add("CREATE TABLE \"", table_.name(), "\"(\"__id\" INTEGER PRIMARY KEY");
    for_each_live_field(table_, [&](Field_Id, const Field& field) {
      const Type& type = field.column->type();
      out_.add(", \"", field.name, "\" ");
      const Table* const referenced = database_.find_table(type.referenced);
      if (type.code == Type_Code::reference && referenced == nullptr)
        out_.add("INTEGER");  // the table was dropped
      else
        out_.add(sql_type(type.code));
      if (referenced != nullptr) out_.add(" \"", referenced->name(), '"');
    });
    out_.add(");");
    out_.end_line();
  }

  void print_row(index_t id) {
    out_.add("INSERT INTO \"", table_.name(), "\" VALUES(", id);
    for_each_live_field(table_, [&](Field_Id, const Field& field) {
      out_.add(',');
      visit_type(field.column->type().code, [&]<class T>(std::type_identity<T>) {
        const auto& column = static_cast<const Column<T>&>(*field.column);
        if constexpr (std::is_same_v<T, Blob>)
          out_.add("NULL");
        else if constexpr (std::is_same_v<T, std::string_view>)
          append_sql_text(out_.text(), column.get(id));
        else
          append_sql(out_.text(), column.get(id));
      });
    });
    out_.add(");");
    out_.end_line();
  }

  const Database& database_;
  const Table& table_;
  Text_Buffer& out_;
};

}  // namespace

// Returns the name as SQL compares it: without upper-case ASCII letters.
static std::string lower_case(std::string_view name) {
  std::string lower(name);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

bool is_same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && lower_case(a) == lower_case(b);
}

static bool is_reserved(const std::string& lower) { return lower.starts_with("sqlite_"); }

// `place` is "" or "TABLE.".
[[noreturn]] static void fail_reserved(const std::string& place, std::string_view name) {
  throw Exception(place + std::string(name) + " is a name that SQL does not allow: rename it");
}

[[noreturn]] static void fail_clash(const std::string& place, std::string_view a,
                                    std::string_view b) {
  throw Exception(place + std::string(a) + " and " + place + std::string(b) +
                  " are one name in SQL, which does not distinguish upper and lower case: rename "
                  "one");
}

// The names of all tables, or of the fields of one table. Throws Exception if SQL refuses one.
class Sql_Names {
 public:
  explicit Sql_Names(std::string place) : place_(std::move(place)) {}

  void add(const std::string& name) {
    std::string lower = lower_case(name);
    if (is_reserved(lower)) fail_reserved(place_, name);
    const auto [other, is_new] = names_.emplace(std::move(lower), name);
    if (!is_new) fail_clash(place_, other->second, name);
  }

 private:
  const std::string place_;
  std::map<std::string, std::string> names_;
};

void require_sql_names(const Database& database) {
  Sql_Names tables("");
  for (const Table* table : live_tables(database)) {
    tables.add(table->name());
    Sql_Names fields(table->name() + '.');
    for_each_live_field(*table, [&](Field_Id, const Field& field) { fields.add(field.name); });
  }
}

// True if the names differ only in case. Equal names are an error of another kind.
static bool clashes(std::string_view name, std::string_view other) {
  return name != other && is_same_name(name, other);
}

void require_new_table_name(const Database& database, Table_Id id, std::string_view name) {
  if (is_reserved(lower_case(name))) fail_reserved("", name);
  for (const Table* table : live_tables(database))
    if (table->id() != id && clashes(name, table->name())) fail_clash("", table->name(), name);
}

void require_new_field_name(const Table& table, Field_Id id, std::string_view name) {
  if (is_reserved(lower_case(name))) fail_reserved(table.name() + '.', name);
  for_each_live_field(table, [&](Field_Id other, const Field& field) {
    if (other != id && clashes(name, field.name)) fail_clash(table.name() + '.', field.name, name);
  });
}

void write_sql(const Database& database, std::ostream& stream) {
  require_sql_names(database);
  Text_Buffer out(stream);
  out.add("BEGIN TRANSACTION;");
  out.end_line();
  for (const Table* table : live_tables(database)) Sql_Table(database, *table, out).print();
  out.add("COMMIT;");
  out.end_line();
  out.flush();
}

}  // namespace joedb::inline v1
