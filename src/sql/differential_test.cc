#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "joedb/io/posix_file.h"
#include "joedb/table/writable_database.h"
#include "kernel/table/declaration.h"
#include "sim/lab/random.h"
#include "sql/collation.h"
#include "sql/values.h"
#include "support/sql_session.h"
#include "support/temporary_directory.h"
#include "text/sql.h"

// Random tables of all types exist twice: as joedb tables and as SQLite's own tables. Random
// SELECTs must return the same rows for both.

namespace joedb {
namespace {

using testing::Random;
using testing::Sql_Session;

constexpr std::size_t table_count = 3;

const std::vector<std::string>& logical_types() {
  static const std::vector<std::string> result = {"date",
                                                  "date optional",
                                                  "timestamp",
                                                  "timestamp(ns) optional",
                                                  "timestamp(s)",
                                                  "duration(ms)",
                                                  "duration(s) optional",
                                                  "decimal(0)",
                                                  "decimal(2)",
                                                  "decimal(2) optional",
                                                  "enum(paid,open,Late)",
                                                  "enum(paid,open,Late) optional",
                                                  "bytes",
                                                  "bytes optional",
                                                  "uuid",
                                                  "uuid optional",
                                                  "json optional",
                                                  "string optional",
                                                  "boolean optional",
                                                  "int8 optional",
                                                  "int32 optional",
                                                  "int64 optional",
                                                  "float64 optional"};
  return result;
}

// Stored numbers of logical types, also of values that no text of the type means.
std::vector<std::int64_t> numbers_of(const Logical_Type& logical) {
  using Limits = std::numeric_limits<std::int64_t>;
  std::int64_t unit = 1;
  for (int i = 0; i < logical.scale; ++i) unit *= 10;
  switch (logical.kind) {
    case Logical_Type::Kind::date:
      return {0, -1, 20484, 20485, 10957, 2932896, 2932897, 3000000, -719528, -719529, -800000};
    case Logical_Type::Kind::timestamp:
      if (logical.scale == 9)
        return {0, 1, -1, 1769860800 * unit, Limits::max(), 1 - Limits::max()};
      return {0,
              1,
              -1,
              1769860800 * unit,
              1769860800 * unit + 1,
              253402300799 * unit,
              253402300800 * unit,
              -62167219200 * unit,
              -62167219200 * unit - 1,
              Limits::max()};
    case Logical_Type::Kind::duration:
      return {0, 1, 59 * unit, 60 * unit, 5400 * unit, -5 * unit, 86400 * unit, 36000 * unit};
    case Logical_Type::Kind::decimal:
      return {0, 5, 50, 100, 1250, -1250, 500, 99999999999};
    case Logical_Type::Kind::enumeration:
      return {0, 1, 2, 0, 1, 2, 3, -7};
    case Logical_Type::Kind::boolean:
      return {0, 1};
    default:
      return {0, 1, 5, -1, -2, 100};
  }
}

// Strings of logical types.
const std::vector<std::string>& strings_of(const Logical_Type& logical) {
  using namespace std::string_literals;
  static const std::vector<std::string> uuids = {
      "\x2f\x1a\xcc\x6c\x3d\x9a\x4f\x5b\x8b\x1e\x0c\x2b\x1f\x1d\x9a\x77"s,
      "\x00\x1a\xcc\x6c\x3d\x9a\x4f\x5b\x8b\x1e\x0c\x2b\x1f\x1d\x9a\x77"s,
      "\xff\x1a\xcc\x6c\x3d\x9a\x4f\x5b\x8b\x1e\x0c\x2b\x1f\x1d\x9a\x77"s,
      "",
      "a",
      "2f1acc6c-3d9a-4f5b-8b1e-0c2b1f1d9a77"};
  static const std::vector<std::string> bytes = {"", "a", "ab", "\0"s, "\xff\xfe", "5", "\xff\xff"};
  if (logical.kind == Logical_Type::Kind::uuid) return uuids;
  static const std::vector<std::string> texts = {"",          "a",   "ab",      "5",
                                                 "{\"a\":1}", "1e3", "\xff\xfe"};
  return logical.kind == Logical_Type::Kind::bytes ? bytes : texts;
}

const std::vector<std::string>& shown_literals() {
  static const std::vector<std::string> result = {"'2026-01-31'",
                                                  "'1970-01-01'",
                                                  "'1969-12-31'",
                                                  "'9999-12-31'",
                                                  "'2026-01'",
                                                  "'2026'",
                                                  "'-0001-12-31'",
                                                  "'3000000'",
                                                  "3000000",
                                                  "'0000-01-01'",
                                                  "'2026-01-31T12:00:00.000000Z'",
                                                  "'2026-01-31T12:00:00Z'",
                                                  "'2026-01-31T12:00:00.000000000Z'",
                                                  "'2026-01-31 12:00'",
                                                  "'2026-01-31T13:00:00.0+01:00'",
                                                  "'2026-01-31T12:00:00.000001Z'",
                                                  "'2026-01-31T00:00Z'",
                                                  "'1970-01-01 00:00'",
                                                  "'1970-01-01T00:00:00.00000000100'",
                                                  "'PT90M'",
                                                  "'P1D'",
                                                  "'PT24H'",
                                                  "'PT60S'",
                                                  "'1970-01-01T00:00:00.000000Z'",
                                                  "'9999-12-31T23:59:59Z'",
                                                  "'PT1H30M'",
                                                  "'PT1H'",
                                                  "'PT0S'",
                                                  "'PT59S'",
                                                  "'-PT5S'",
                                                  "'open'",
                                                  "'paid'",
                                                  "'Late'",
                                                  "'late'",
                                                  "'3'",
                                                  "3",
                                                  "12.5",
                                                  "'12.50'",
                                                  "12.49",
                                                  "0.05",
                                                  "0.5",
                                                  "-12.5",
                                                  "5",
                                                  "999999999.99",
                                                  "x'61'",
                                                  "x'ff'",
                                                  "x'6162'",
                                                  "x'ffff'",
                                                  "'2f1acc6c-3d9a-4f5b-8b1e-0c2b1f1d9a77'",
                                                  "'2F1ACC6C-3D9A-4F5B-8B1E-0C2B1F1D9A77'",
                                                  "'2f1acc6c3d9a4f5b8b1e0c2b1f1d9a77'",
                                                  "x'2f1acc6c3d9a4f5b8b1e0c2b1f1d9a77'",
                                                  "'ff1acc6c-3d9a-4f5b-8b1e-0c2b1f1d9a77'"};
  return result;
}

const std::vector<std::string>& words() {
  using namespace std::string_literals;
  static const std::vector<std::string> result = {"",
                                                  "a",
                                                  "A",
                                                  "ab",
                                                  "abc",
                                                  "Abc",
                                                  "abd",
                                                  "b",
                                                  "5",
                                                  "05",
                                                  "5.0",
                                                  "-1",
                                                  "1e3",
                                                  "a\0b"s,
                                                  "\0"s,
                                                  "ab\0"s,
                                                  "Ärger",
                                                  "ärger",
                                                  "日本",
                                                  "zebra",
                                                  "a longer text that is far",
                                                  "a longer text, far",
                                                  "%",
                                                  "a_c",
                                                  "[a]",
                                                  "abc*",
                                                  "\xff\xfe",
                                                  "100%",
                                                  " 5",
                                                  "0x10"};
  return result;
}

class World {
 public:
  World(std::uint64_t seed, bool has_logical_types)
      : random_(seed), has_logical_types_(has_logical_types) {
    file_ = std::make_unique<File>(directory_.file("a.joedb"), Open_Mode::create_new);
    db_ = std::make_unique<Writable_Database>(*file_);
    // The Bloom filter of an automatic index of SQLite 3.40 loses equal texts of other lengths.
    for (Sql_Session* const session : {&native_, &plain_, &indexed_})
      session->rows("PRAGMA automatic_index = OFF");
    make_tables();
    for (int i = 0; i < (has_logical_types ? 900 : 300); ++i) change();
    for (std::size_t t = 0; t < table_count; ++t)
      for (int i = 0; i < 40; ++i) insert(t);
    db_->soft_checkpoint();
    std::string options;
    for (int i = 0; i < (has_logical_types ? 24 : 8); ++i) options += index(i);
    directory_.write("a.joedbc", options);
    const std::string open = "SELECT joedb_open('" + directory_.file("a.joedb");
    plain_.rows(open + "')");
    indexed_.rows(open + "', '" + directory_.file("a.joedbc") + "')");
  }

  void compare(const std::string& sql, bool is_ordered) {
    const auto rows = [&](Sql_Session& session) {
      std::vector<std::string> result;
      try {
        result = session.rows(sql);
      } catch (const Exception& error) {
        return std::vector<std::string>{std::string("error: ") + error.what()};
      }
      if (!is_ordered) std::sort(result.begin(), result.end());
      return result;
    };
    const auto expected = rows(native_);
    if (!expected.empty() && expected[0].starts_with("error")) ++errors;
    if (!expected.empty()) ++with_rows;
    ++statements;
    const auto check = [&](const char* how, Sql_Session& session) {
      const std::vector<std::string> found = rows(session);
      if (found == expected) return;
      const auto place =
          std::mismatch(found.begin(), found.end(), expected.begin(), expected.end());
      ADD_FAILURE() << how << " indexes, " << found.size() << " rows instead of " << expected.size()
                    << ": " << sql << "\n"
                    << (place.first == found.end() ? "the end" : *place.first) << "\nexpected: "
                    << (place.second == expected.end() ? "the end" : *place.second);
    };
    expect_no_early_close(sql);
    check("without", plain_);
    check("with", indexed_);
  }
  // Verifies that no plan closes a cursor early, because Shared_File relies on this.
  void expect_no_early_close(const std::string& sql) {
    std::set<std::string> cursors;
    std::vector<std::string> closed;
    try {
      for (const std::string& row : indexed_.rows("EXPLAIN " + sql)) {
        const std::size_t name = row.find("|'") + 2, number = row.find("'|") + 2;
        const std::string operation = row.substr(name, number - 2 - name);
        const std::string cursor = row.substr(number, row.find('|', number) - number);
        if (operation == "VOpen") cursors.insert(cursor);
        if (operation == "Close") closed.push_back(cursor);
      }
    } catch (const Exception&) {
    }
    for (const std::string& cursor : closed) EXPECT_EQ(cursors.count(cursor), 0) << sql;
  }
  void change_and_checkpoint() {
    change();
    db_->soft_checkpoint();
  }
  void statement();

  int statements = 0, with_rows = 0, errors = 0;

 private:
  struct Field_Model {
    std::string name;
    Type type;
    Logical_Type logical;
  };
  struct Table_Model {
    std::vector<Field_Model> fields;
    std::vector<index_t> ids;
    index_t next = 0;
  };

  template <class T>
  const T& one_of(const std::vector<T>& list) {
    return list[random_.below(list.size())];
  }
  static Table_Id id_of(std::size_t table) {
    return Table_Id(static_cast<std::uint16_t>(table + 1));
  }
  static std::string name_of(std::size_t table) { return "t" + std::to_string(table); }

  void native(const std::string& sql) { native_.rows(sql); }

  void make_tables() {
    for (std::size_t t = 0; t < table_count; ++t) db_->write(Create_Table{name_of(t)});
    for (std::size_t t = 0; t < table_count; ++t) {
      Table_Model& table = tables_[t];
      std::vector<Field_Model> fields;
      for (int code = 1; code <= type_count; ++code)
        fields.push_back({"", {static_cast<Type_Code>(code), Table_Id()}, {}});
      for (int i = 0; i < 3; ++i)
        fields.push_back(
            {"", {static_cast<Type_Code>(1 + random_.below(type_count)), Table_Id()}, {}});
      if (has_logical_types_)
        for (const std::string& text : logical_types()) {
          std::string problem;
          const auto type = parse_declared_type(text, problem);
          fields.push_back({"", {type->stored, Table_Id()}, type->logical});
        }
      std::string create = "CREATE TABLE " + name_of(t) + "(__id INTEGER PRIMARY KEY";
      for (Field_Model& field : fields) {
        Type& type = field.type;
        if (type.code == Type_Code::reference) type.referenced = id_of(random_.below(table_count));
        const std::size_t number = table.fields.size();
        field.name = std::string(number < 26 ? "" : "z") + static_cast<char>('a' + number % 26);
        db_->write(Add_Field{id_of(t), field.name, type});
        if (!field.logical.is_plain())
          declare_type(*db_, id_of(t), Field_Id(static_cast<std::uint16_t>(number + 1)),
                       field.logical);
        table.fields.push_back(field);
        create += ", " + field.name + " " + declared(field) + " DEFAULT " + default_of(field);
      }
      native(create + ")");
    }
  }
  // The affinity NUMERIC of the declared type would make integers of some decimals.
  static std::string declared(const Field_Model& field) {
    const Kind kind = kind_of(field.type.code, field.logical);
    if (kind == Kind::real) return "REAL";
    const char* const collation = collation_of(field.logical).name;
    return sql_type(field.type.code, field.logical, Sql_Types::shared) +
           (collation == nullptr ? "" : std::string(" COLLATE ") + collation);
  }
  static std::string default_of(const Field_Model& field) {
    if (field.logical.is_optional) return "NULL";
    std::string sql;
    visit_type(field.type.code,
               [&]<class T>(std::type_identity<T>) { append_sql(sql, field.logical, T()); });
    return sql;
  }

  void change() {
    const std::size_t t = random_.below(table_count);
    Table_Model& table = tables_[t];
    const std::size_t what = random_.below(10);
    if (table.ids.empty() || what < 3) return insert(t);
    const std::size_t place = random_.below(table.ids.size());
    const index_t id = table.ids[place];
    if (what < 4) {
      db_->write(Delete{id_of(t), Record_Id(id)});
      native("DELETE FROM " + name_of(t) + " WHERE __id = " + std::to_string(id));
      table.ids.erase(table.ids.begin() + static_cast<std::ptrdiff_t>(place));
      return;
    }
    set(t, id, random_.below(table.fields.size()));
  }
  // Does not reuse ids, because SQLite and joedb treat the old values of a reused id differently.
  void insert(std::size_t t) {
    Table_Model& table = tables_[t];
    const index_t id = table.next + static_cast<index_t>(random_.below(8) == 0);
    table.next = id + 1;
    db_->write(Insert{id_of(t), Record_Id(id)});
    write_missing(*db_, std::as_const(*db_).get_database().table(id_of(t)), Record_Id(id), 1,
                  [](Field_Id) { return false; });
    native("INSERT INTO " + name_of(t) + "(__id) VALUES(" + std::to_string(id) + ")");
    table.ids.push_back(id);
    if (random_.below(20) == 0) return;  // a record without values
    for (std::size_t f = 0; f < table.fields.size(); ++f)
      if (random_.below(6) != 0) set(t, id, f);
  }

  template <class T>
  T logical_value(const Logical_Type& logical) {
    if (logical.is_optional && random_.below(5) == 0) return missing_value<T>(logical);
    if constexpr (std::is_same_v<T, std::string_view>)
      return one_of(strings_of(logical));
    else if constexpr (std::is_floating_point_v<T>)
      return one_of(std::vector<T>{0, T(1.5), 5, -1});
    else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      return static_cast<T>(one_of(numbers_of(logical)));
    else
      return T();
  }
  void set_logical(std::size_t t, index_t id, std::size_t f) {
    const Field_Model& field = tables_[t].fields[f];
    visit_type(field.type.code, [&]<class T>(std::type_identity<T>) {
      const T value = logical_value<T>(field.logical);
      db_->write(
          Update<T>{id_of(t), Record_Id(id), Field_Id(static_cast<std::uint16_t>(f + 1)), value});
      std::string sql = "UPDATE " + name_of(t) + " SET " + field.name + " = ";
      append_sql(sql, field.logical, value);
      native(sql + " WHERE __id = " + std::to_string(id));
    });
  }
  void set(std::size_t t, index_t id, std::size_t f) {
    const Field_Model& field = tables_[t].fields[f];
    if (!field.logical.is_plain()) return set_logical(t, id, f);
    sqlite3_stmt* statement = nullptr;
    const std::string sql = "UPDATE " + name_of(t) + " SET " + field.name + " = ? WHERE __id = ?";
    sqlite3_prepare_v2(native_.connection(), sql.c_str(), -1, &statement, nullptr);
    sqlite3_bind_int64(statement, 2, id);
    const auto field_id = Field_Id(static_cast<std::uint16_t>(f + 1));
    visit_type(field.type.code, [&]<class T>(std::type_identity<T>) {
      T value{};
      if constexpr (std::is_same_v<T, std::string_view>) {
        value = one_of(words());
        sqlite3_bind_text(statement, 1, value.data(), static_cast<int>(value.size()),
                          SQLITE_STATIC);
      } else if constexpr (std::is_same_v<T, Blob>) {
        const std::string& bytes = one_of(words());
        if (random_.below(4) != 0) {
          value = db_->write_blob(bytes);
          sqlite3_bind_blob(statement, 1, bytes.data() == nullptr ? "" : bytes.data(),
                            static_cast<int>(bytes.size()), SQLITE_TRANSIENT);
        }
      } else if constexpr (std::is_same_v<T, Record_Id>) {
        const std::size_t to = field.type.referenced.value() - std::size_t{1};
        const std::size_t what = random_.below(10);
        if (what == 1)
          value = Record_Id(1'000'000);
        else if (what > 2 && !tables_[to].ids.empty())
          value = Record_Id(one_of(tables_[to].ids));
        if (!value.is_null()) sqlite3_bind_int64(statement, 1, value.value());
      } else if constexpr (std::is_floating_point_v<T>) {
        using Limits = std::numeric_limits<T>;
        const std::vector<T> values = {0,
                                       T(-0.0),
                                       1,
                                       T(1.5),
                                       T(2.25),
                                       5,
                                       -1,
                                       Limits::infinity(),
                                       -Limits::infinity(),
                                       Limits::quiet_NaN(),
                                       1000,
                                       T(0.5),
                                       T(1e15),
                                       T(9007199254740992.0),
                                       T(9223372036854775808.0)};
        value = one_of(values);
        sqlite3_bind_double(statement, 1, double{value});
      } else if constexpr (std::is_same_v<T, bool>) {
        value = random_.flip();
        sqlite3_bind_int(statement, 1, value);
      } else {
        using Limits = std::numeric_limits<T>;
        value = random_.below(12) == 0 ? (random_.flip() ? Limits::min() : Limits::max())
                                       : static_cast<T>(static_cast<int>(random_.below(9)) - 2);
        sqlite3_bind_int64(statement, 1, value);
      }
      db_->write(Update<T>{id_of(t), Record_Id(id), field_id, value});
    });
    EXPECT_EQ(sqlite3_step(statement), SQLITE_DONE);
    sqlite3_finalize(statement);
  }

  std::string index(int number) {
    const std::size_t t = random_.below(table_count);
    std::string fields;
    std::vector<std::string> left;
    for (const Field_Model& field : tables_[t].fields) left.push_back(field.name);
    for (std::size_t i = 1 + random_.below(3); i > 0; --i) {
      const std::size_t f = random_.below(left.size());
      fields += (fields.empty() ? "" : ",") + left[f];
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(f));
    }
    return "create_index i" + std::to_string(number) + " " + name_of(t) + " " + fields + "\n";
  }

  // ---- statements

  struct Source {
    std::size_t table;
    std::string alias;
  };
  const Field_Model& field_of(const Source& source) { return one_of(tables_[source.table].fields); }
  std::string column(const Source& source) {
    return source.alias + "." + (random_.below(8) == 0 ? "__id" : field_of(source).name);
  }
  std::string all_columns(const Source& source) {
    std::string result = source.alias + ".__id";
    for (const Field_Model& field : tables_[source.table].fields)
      result += ", " + source.alias + "." + field.name;
    return result;
  }
  std::string text_column(const Source& source) {
    for (;;) {
      const Field_Model& field = field_of(source);
      if (field.type.code == Type_Code::string && field.logical.is_plain())
        return source.alias + "." + field.name;
    }
  }
  std::string small_column(const Source& source) {
    for (;;) {
      const Field_Model& field = field_of(source);
      const Type_Code code = field.type.code;
      if (field.logical.is_plain() &&
          (code == Type_Code::int8 || code == Type_Code::int16 || code == Type_Code::boolean))
        return source.alias + "." + field.name;
    }
  }
  static std::string quoted(const std::string& text) {
    if (text.find('\0') != text.npos || text.find('\xff') != text.npos) {
      std::string hex;
      for (const char c : text) {
        constexpr char digits[] = "0123456789abcdef";
        hex += digits[static_cast<unsigned char>(c) >> 4];
        hex += digits[static_cast<unsigned char>(c) & 15];
      }
      return "CAST(x'" + hex + "' AS TEXT)";
    }
    std::string result = "'";
    for (const char c : text) result.append(c == '\'' ? 2 : 1, c);
    return result + "'";
  }
  std::string literal() {
    if (has_logical_types_ && random_.flip()) return one_of(shown_literals());
    switch (random_.below(9)) {
      case 0:
        return one_of<std::string>({"NULL", "x'61'", "x''", "9e999", "-9e999"});
      case 1:
      case 2:
        return one_of<std::string>({"0.0", "1.5", "2.25", "5.0", "-0.5", "1e15", "-1e30", "1e30",
                                    "9223372036854775807.0", "-9223372036854775808.0"});
      case 3:
        return one_of<std::string>({"9223372036854775807", "-9223372036854775808", "127", "-128",
                                    "9007199254740993", "9007199254740992", "1000000", "-5"});
      case 4:
      case 5:
      case 6:
        return quoted(one_of(words()));
      default:
        return std::to_string(static_cast<int>(random_.below(9)) - 2);
    }
  }
  std::string comparison() {
    return one_of<std::string>(
        {" = ", " = ", " = ", " < ", " <= ", " > ", " >= ", " <> ", " IS ", " IS NOT "});
  }
  std::string list() {
    std::string result = "(" + literal();
    for (std::size_t i = random_.below(4); i > 0; --i) result += ", " + literal();
    return result + ")";
  }
  std::string pattern(bool is_glob) {
    const std::string star = is_glob ? "*" : "%";
    return quoted(one_of<std::string>({"a", "ab", "A", "", "ä", "5", "a longer", "z", "%"}) +
                  one_of<std::string>({star, "", star + "c", is_glob ? "?" : "_"}));
  }
  Source any_source(const std::string& alias) { return {random_.below(table_count), alias}; }

  std::string condition(const std::vector<Source>& sources, int depth) {
    const Source& source = one_of(sources);
    switch (random_.below(depth > 0 ? 18 : 12)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return column(source) + comparison() + literal();
      case 4:
        return column(source) + (random_.flip() ? " IS NULL" : " IS NOT NULL");
      case 5:
        return column(source) + " BETWEEN " + literal() + " AND " + literal();
      case 6:
        return column(source) + (random_.below(4) == 0 ? " NOT IN " : " IN ") + list();
      case 7: {
        const bool is_glob = random_.flip();
        return text_column(source) + (random_.below(4) == 0 ? " NOT" : "") +
               (is_glob ? " GLOB " : " LIKE ") + pattern(is_glob);
      }
      case 8:
        return column(source) + comparison() + column(one_of(sources));
      case 9:
        return text_column(source) + " COLLATE NOCASE" + comparison() + literal();
      case 10:
        return source.alias + ".__id" + comparison() + std::to_string(random_.below(60));
      case 11:
        return text_column(source) + comparison() + quoted(one_of(words()));
      case 12:
        return "NOT (" + condition(sources, depth - 1) + ")";
      case 13:
      case 14:
        return "(" + condition(sources, depth - 1) + " AND " + condition(sources, depth - 1) + ")";
      case 15:
        return "(" + condition(sources, depth - 1) + " OR " + condition(sources, depth - 1) + ")";
      case 16: {
        const Source inner = any_source("s" + std::to_string(depth));
        return column(source) + " IN (SELECT " + column(inner) + " FROM " + from(inner) +
               " WHERE " + condition({inner}, depth - 1) + ")";
      }
      default: {
        const Source inner = any_source("e" + std::to_string(depth));
        return "EXISTS (SELECT 1 FROM " + from(inner) + " WHERE " + column(inner) + " = " +
               column(source) + " AND " + condition({inner}, depth - 1) + ")";
      }
    }
  }
  std::string from(const Source& source) { return name_of(source.table) + " AS " + source.alias; }
  std::string where(const std::vector<Source>& sources) {
    return random_.below(5) == 0 ? "" : " WHERE " + condition(sources, 2);
  }
  std::string columns(const std::vector<Source>& sources, std::size_t count) {
    std::string result;
    for (std::size_t i = 0; i < count; ++i) result += (i > 0 ? ", " : "") + column(one_of(sources));
    return result;
  }
  // Joins sources by references or by equal values.
  std::string join(std::vector<Source>& sources) {
    sources.push_back(any_source("j0"));
    std::string sql = from(sources[0]);
    for (std::size_t i = 1 + random_.below(2); i > 0; --i) {
      const Source left = one_of(sources);
      Source right = any_source("j" + std::to_string(sources.size()));
      std::string on;
      const Field_Model& field = field_of(left);
      if (field.type.code == Type_Code::reference && random_.below(4) != 0) {
        right.table = field.type.referenced.value() - std::size_t{1};
        on = right.alias + "." + one_of<std::string>({"__id", "rowid"}) + " = " + left.alias + "." +
             field.name;
      } else {
        on = column(right) + " = " + left.alias + "." + field.name;
      }
      if (random_.below(3) == 0) on += " AND " + condition({left, right}, 1);
      sql += one_of<std::string>({" JOIN ", " JOIN ", " LEFT JOIN ", " RIGHT JOIN "}) +
             from(right) + " ON " + on;
      sources.push_back(right);
    }
    return sql;
  }

  Random random_;
  const bool has_logical_types_;
  testing::Temporary_Directory directory_;
  std::unique_ptr<File> file_;
  std::unique_ptr<Writable_Database> db_;
  Table_Model tables_[table_count];
  Sql_Session native_, plain_, indexed_;
};

void World::statement() {
  const Source a = any_source("a");
  const auto select = [&](const std::string& what) {
    return "SELECT " + what + " FROM " + from(a) + where({a});
  };
  const std::string direction = random_.flip() ? " DESC" : "";
  const auto order = [&](std::size_t most) {
    std::string result = " ORDER BY ";
    for (std::size_t i = random_.below(most + 1); i > 0; --i)
      result += column(a) + (random_.below(5) == 0 ? "" : direction) + ", ";
    return result + "a.__id" + direction;
  };
  switch (random_.below(14)) {
    case 0:
    case 1:
    case 2:
      return compare(select(all_columns(a)), false);
    case 3:
    case 4: {
      std::string sql = select(columns({a}, 3)) + order(2);
      if (random_.flip()) {
        sql += " LIMIT " + std::to_string(random_.below(10));
        if (random_.flip()) sql += " OFFSET " + std::to_string(random_.below(5));
      }
      return compare(sql, true);
    }
    case 5:
    case 6: {
      std::vector<Source> sources;
      const std::string joined = join(sources);
      return compare("SELECT " + columns(sources, 4) + " FROM " + joined + where(sources), false);
    }
    case 7:
    case 8: {
      const std::string by = columns({a}, 1 + random_.below(2));
      const std::string small = small_column(a);
      std::string sql = select("count(*), sum(" + small + "), min(" + column(a) + "), max(" +
                               column(a) + "), count(DISTINCT " + column(a) + "), avg(" + small +
                               "), " + (random_.flip() ? "typeof(" + by.substr(0, 3) + ")" : by)) +
                        " GROUP BY " + by;
      if (random_.flip()) sql += " HAVING count(*) > " + std::to_string(random_.below(4));
      return compare(sql, false);
    }
    case 9:
      return compare(select("DISTINCT " + columns({a}, 1 + random_.below(2))), false);
    case 10: {
      const std::string op =
          one_of<std::string>({" UNION ", " UNION ALL ", " EXCEPT ", " INTERSECT "});
      const std::string first = select(columns({a}, 2));
      const Source b = any_source("b");
      return compare(first + op + "SELECT " + columns({b}, 2) + " FROM " + from(b) + where({b}),
                     false);
    }
    case 11: {
      const std::string window = " OVER (PARTITION BY " + column(a) + order(1) + ")";
      return compare(select("a.__id, row_number()" + window + ", sum(" + small_column(a) + ")" +
                            window + ", lag(" + column(a) + ")" + window),
                     false);
    }
    case 12: {
      const Source b = any_source("b");
      return compare(select("a.__id, (SELECT count(*) FROM " + from(b) + " WHERE " + column(b) +
                            " = " + column(a) + "), (SELECT max(" + column(b) + ") FROM " +
                            from(b) + " WHERE " + condition({b}, 1) + ")"),
                     false);
    }
    default:
      return compare("SELECT count(*), min(c), max(c), count(c) FROM (" +
                         select(columns({a}, 1) + " AS c") + ")",
                     false);
  }
}

void compare_worlds(bool has_logical_types) {
  int statements = 0, with_rows = 0, errors = 0;
  const std::uint64_t seed = testing::first_seed();
  for (std::uint64_t i = 0; i < 8; ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed + i));
    World world(seed + i, has_logical_types);
    for (int k = 0; k < 500 && !::testing::Test::HasFailure(); ++k) {
      world.statement();
      if (k % 10 == 0) world.change_and_checkpoint();
    }
    statements += world.statements;
    with_rows += world.with_rows;
    errors += world.errors;
  }
  EXPECT_GT(with_rows, statements / 2);
  EXPECT_LT(errors, statements / 20);
}

TEST(Sql_Differential, GivesTheRowsOfSqlitesOwnTables) { compare_worlds(false); }

TEST(Sql_Differential, GivesTheRowsOfTablesWithShownValues) { compare_worlds(true); }

}  // namespace
}  // namespace joedb
