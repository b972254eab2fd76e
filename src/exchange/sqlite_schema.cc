#include "exchange/sqlite_schema.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernel/base/parse_number.h"
#include "kernel/table/declaration.h"
#include "text/sql.h"

namespace joedb {

// ---- names --------------------------------------------------------------------------------------

template <class Named>
static const Named* find_named(const std::vector<Named>& all, std::string_view name) {
  for (const Named& one : all)
    if (is_same_name(one.name, name)) return &one;
  return nullptr;
}

const Sqlite_Column* Sqlite_Table::find_column(std::string_view column) const {
  return find_named(columns, column);
}

const Sqlite_Table* Sqlite_Schema::find_table(std::string_view name) const {
  return find_named(tables, name);
}

std::vector<std::string> Sqlite_Table::primary_key() const {
  std::vector<std::string> key;
  for (int place = 1;; ++place) {
    const auto is_next = [&](const Sqlite_Column& column) { return column.key_place == place; };
    const auto found = std::find_if(columns.begin(), columns.end(), is_next);
    if (found == columns.end()) return key;
    key.push_back(found->name);
  }
}

bool Sqlite_Table::is_unique(const std::vector<std::string>& names) const {
  return std::any_of(indexes.begin(), indexes.end(), [&](const Sqlite_Index& index) {
    return index.is_unique && std::equal(index.columns.begin(), index.columns.end(), names.begin(),
                                         names.end(), is_same_name);
  });
}

// ---- reading ------------------------------------------------------------------------------------

namespace {

class Schema_Reader {
 public:
  Schema_Reader(const Sqlite& file, bool may_have_ids) : file_(file), may_have_ids_(may_have_ids) {}

  Sqlite_Schema read() {
    schema_.is_exact = file_.number("PRAGMA application_id") == sqlite_application_id;
    read_tables();
    Sqlite_Statement triggers =
        file_.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger' ORDER BY rowid");
    while (triggers.step()) skip("trigger", triggers.bytes(0));
    return std::move(schema_);
  }

 private:
  void skip(const std::string& kind, std::string_view name) {
    schema_.skipped.push_back(kind + ' ' + std::string(name));
  }

  // Reads the tables in the order of their creation. Skips SQLite's internal tables without a note.
  void read_tables() {
    Sqlite_Statement rows = file_.prepare(
        "SELECT s.name, l.type, l.wr FROM sqlite_schema s JOIN pragma_table_list l"
        " ON l.schema = 'main' AND l.name = s.name WHERE s.type IN ('table', 'view')"
        " AND s.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY s.rowid");
    while (rows.step()) {
      if (const std::string_view type = rows.bytes(1); type == "table")
        read_table(rows.bytes(0), rows.integer(2) == 0);
      else if (type == "virtual")
        skip("virtual table", rows.bytes(0));
      else if (type == "view")
        skip("view", rows.bytes(0));
    }
  }

  void read_table(std::string_view name, bool has_rowid) {
    Sqlite_Table table;
    table.name = name;
    read_columns(table, has_rowid);
    if (schema_.is_exact) read_declarations(table);
    read_indexes(table);
    read_foreign_keys(table);
    if (has_rowid) take_key(table);
    // There is no room for the rowid then, and it is not needed.
    if (table.columns.size() >= max_sqlite_columns) table.rowid.clear();
    schema_.tables.push_back(std::move(table));
  }

  void read_columns(Sqlite_Table& table, bool has_rowid) {
    std::vector<std::string_view> rowids;
    if (has_rowid) rowids = {"rowid", "_rowid_", "oid"};
    Sqlite_Statement rows =
        file_.prepare("SELECT name, type, pk, hidden, dflt_value FROM pragma_table_xinfo(?1)");
    rows.bind_text(1, table.name);
    while (rows.step()) {
      std::erase_if(rowids, [&](auto rowid) { return is_same_name(rowid, rows.bytes(0)); });
      if (rows.integer(3) != 0)
        skip("generated column", table.name + '.' + std::string(rows.bytes(0)));
      else
        table.columns.push_back({std::string(rows.bytes(0)), std::string(rows.bytes(1)),
                                 static_cast<int>(rows.integer(2)), rows.type(4) != SQLITE_NULL,
                                 logical_types(rows.bytes(1))});
    }
    if (!rowids.empty()) table.rowid = rowids.front();
  }

  // Reads the comments that Sqlite_Export has written.
  void read_declarations(Sqlite_Table& table) {
    Sqlite_Statement rows =
        file_.prepare("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?1");
    rows.bind_text(1, table.name);
    if (!rows.step()) return;
    constexpr std::string_view open = "/* ", close = " */";
    const std::string sql(rows.bytes(0));
    for (std::size_t at = 0; (at = sql.find(open, at)) != sql.npos;) {
      at += open.size();
      const std::size_t end = std::min(sql.find(close, at), sql.size());
      const auto declaration = parse_declaration(std::string_view(sql).substr(at, end - at));
      if (!declaration || declaration->type.stored == Type_Code::reference) continue;
      for (Sqlite_Column& column : table.columns) {
        if (!is_same_name(column.name, declaration->field)) continue;
        column.logical_types = {declaration->type};
        column.is_exact = true;
      }
    }
  }

  void read_indexes(Sqlite_Table& table) {
    Sqlite_Statement rows = file_.prepare(
        "SELECT name, \"unique\", origin, partial FROM pragma_index_list(?1) ORDER BY seq DESC");
    rows.bind_text(1, table.name);
    while (rows.step()) {
      const std::string name(rows.bytes(0));
      const bool is_named = rows.bytes(2) == "c";
      Sqlite_Index index{is_named ? name : "", rows.integer(1) != 0, {}};
      if (rows.integer(3) != 0)
        skip("partial index", name);
      else if (!read_key(name, index))
        skip("index on an expression", name);
      else
        table.indexes.push_back(std::move(index));
    }
  }

  // Returns false if a part of the key is not a column.
  bool read_key(const std::string& name, Sqlite_Index& index) {
    Sqlite_Statement rows =
        file_.prepare("SELECT cid, name FROM pragma_index_xinfo(?1) WHERE \"key\" ORDER BY seqno");
    rows.bind_text(1, name);
    while (rows.step()) {
      if (rows.integer(0) < 0) return false;
      index.columns.emplace_back(rows.bytes(1));
    }
    return true;
  }

  void read_foreign_keys(Sqlite_Table& table) {
    Sqlite_Statement rows = file_.prepare(
        "SELECT seq, \"table\", \"from\", \"to\", on_delete FROM pragma_foreign_key_list(?1)"
        " ORDER BY id DESC, seq");
    rows.bind_text(1, table.name);
    while (rows.step()) {
      if (rows.integer(0) == 0)
        table.foreign_keys.push_back(
            {{}, std::string(rows.bytes(1)), {}, std::string(rows.bytes(4))});
      table.foreign_keys.back().columns.emplace_back(rows.bytes(2));
      if (rows.type(3) != SQLITE_NULL)
        table.foreign_keys.back().referenced.emplace_back(rows.bytes(3));
    }
  }

  // Handles an INTEGER PRIMARY KEY, which has no index in SQLite. It becomes the record id, or gets
  // an index here.
  void take_key(Sqlite_Table& table) const {
    const auto key = table.primary_key();
    if (key.size() != 1) return;
    const Sqlite_Column& column = *table.find_column(key[0]);
    if (!is_same_name(column.declared_type, "INTEGER")) return;
    if (may_have_ids_ && column.name == sqlite_id_column && !table.rowid.empty()) {
      table.has_ids = true;
      table.columns.erase(table.columns.begin() + (&column - table.columns.data()));
    } else if (!table.is_unique(key)) {
      table.indexes.insert(table.indexes.begin(), {"", true, key});
    }
  }

  const Sqlite& file_;
  const bool may_have_ids_;
  Sqlite_Schema schema_;
};

}  // namespace

Sqlite_Schema read_sqlite_schema(const Sqlite& file, bool may_have_ids) {
  return Schema_Reader(file, may_have_ids).read();
}

// ---- types --------------------------------------------------------------------------------------

void Sqlite_Values::add_bytes(std::string_view value) {
  if (value == missing_value<std::string_view>(Logical_Type())) has_missing_text = true;
}

void Sqlite_Values::add(const Sqlite_Statement& row, int column) {
  switch (row.type(column)) {
    case SQLITE_NULL:
      ++nulls;
      break;
    case SQLITE_INTEGER: {
      has_integers = true;
      ++numbers;
      const std::int64_t value = row.integer(column);
      min = std::min(min, value);
      max = std::max(max, value);
      break;
    }
    case SQLITE_FLOAT: {
      has_reals = true;
      ++numbers;
      const double value = row.real(column);
      const bool is_float = static_cast<double>(static_cast<float>(value)) == value;
      is_single = is_single && is_float;
      break;
    }
    case SQLITE_TEXT:
      has_texts = true;
      add_bytes(row.bytes(column));
      break;
    default:
      has_bytes = true;
      ++bytes;
      add_bytes(row.bytes(column));
  }
}

static bool contains(std::string_view text, std::string_view word) {
  for (std::size_t i = 0; i + word.size() <= text.size(); ++i)
    if (is_same_name(text.substr(i, word.size()), word)) return true;
  return false;
}

// Returns the type that a declared type means, by SQLite's rules for affinity and by common usage.
// Returns none if the type depends on the values.
static Type_Code declared_code(std::string_view declared, bool is_exact) {
  if (is_exact)
    for (int code = 1; code <= type_count; ++code)
      if (const auto type = static_cast<Type_Code>(code);
          type != Type_Code::reference && is_same_name(declared, sql_type(type, Sql_Types::exact)))
        return type;
  const auto has = [&](std::string_view word) { return contains(declared, word); };
  if (has("INT")) {
    if (has("TINYINT")) return Type_Code::int8;
    return has("SMALLINT") ? Type_Code::int16 : Type_Code::int64;
  }
  if (has("CHAR") || has("CLOB") || has("TEXT")) return Type_Code::string;
  if (has("BLOB")) return Type_Code::blob;
  if (has("REAL") || has("FLOA") || has("DOUB")) return Type_Code::float64;
  if (has("BOOL")) return Type_Code::boolean;
  if (has("DEC") || has("NUMERIC")) return Type_Code::float64;
  return Type_Code::none;
}

template <class T>
static bool fits(const Sqlite_Values& values) {
  return values.min >= std::numeric_limits<T>::min() && values.max <= std::numeric_limits<T>::max();
}

// Returns true if floats with a mantissa of `bits` bits can represent all integers exactly.
static bool fits_float(const Sqlite_Values& values, int bits) {
  const std::int64_t limit = std::int64_t{1} << bits;
  return values.min >= -limit && values.max <= limit;
}

static Type_Code integer_type(Type_Code declared, const Sqlite_Values& values) {
  switch (declared) {
    case Type_Code::boolean:
      if (values.min >= 0 && values.max <= 1) return Type_Code::boolean;
      break;
    case Type_Code::int8:
      if (fits<std::int8_t>(values)) return Type_Code::int8;
      [[fallthrough]];
    case Type_Code::int16:
      if (fits<std::int16_t>(values)) return Type_Code::int16;
      [[fallthrough]];
    case Type_Code::int32:
      if (fits<std::int32_t>(values)) return Type_Code::int32;
      break;
    default:
      break;
  }
  return Type_Code::int64;
}

static Type_Code float_type(Type_Code declared, const Sqlite_Values& values) {
  if (declared == Type_Code::float32 && values.is_single && fits_float(values, 24))
    return Type_Code::float32;
  return fits_float(values, 53) ? Type_Code::float64 : Type_Code::string;
}

// Returns the second number of DECIMAL(10,2), if it can be the scale of a decimal; 0 for
// DECIMAL(10).
static std::optional<std::uint8_t> declared_scale(std::string_view declared) {
  constexpr std::uint8_t max_digits = 18;
  const std::size_t open = declared.find('('), comma = declared.find(','), end = declared.find(')');
  if (open == declared.npos || end == declared.npos || open >= end) return {};
  if (comma >= end) return std::uint8_t{0};
  if (open >= comma) return {};
  const std::size_t start = std::min(declared.find_first_not_of(' ', comma + 1), end);
  const auto scale = parse_number<std::uint8_t>(declared.substr(start, end - start));
  return scale && *scale <= max_digits ? scale : std::nullopt;
}

std::vector<Declared_Type> logical_types(std::string_view declared) {
  using Kind = Logical_Type::Kind;
  if (is_same_name(declared.substr(0, declared.find(' ')), "DATE"))
    return {{Type_Code::int32, {.kind = Kind::date}}};
  std::vector<Declared_Type> types;
  if (contains(declared, "DATETIME") || contains(declared, "TIMESTAMP"))
    for (const std::uint8_t scale : std::to_array<std::uint8_t>({0, 3, 6, 9}))
      types.push_back({Type_Code::int64, {.kind = Kind::timestamp, .scale = scale}});
  if (!types.empty()) types.push_back({Type_Code::int32, {.kind = Kind::date}});
  if (contains(declared, "DEC") || contains(declared, "NUMERIC"))
    if (const auto scale = declared_scale(declared))
      types.push_back({Type_Code::int64, {.kind = Kind::decimal, .scale = *scale}});
  if (is_same_name(declared, "UUID")) types.push_back({Type_Code::string, {.kind = Kind::uuid}});
  if (is_same_name(declared, "JSON")) types.push_back({Type_Code::string, {.kind = Kind::json}});
  return types;
}

std::optional<Declared_Type> declared_type(std::string_view declared) {
  constexpr std::uint8_t microseconds = 6;
  for (const Declared_Type& type : logical_types(declared))
    if (type.logical.kind != Logical_Type::Kind::timestamp || type.logical.scale == microseconds)
      return type;
  const Type_Code code = declared_code(declared, false);
  if (code == Type_Code::none) return {};
  return Declared_Type{code, {}};
}

Declared_Type optional_type(Type_Code code, const Sqlite_Values& values) {
  if (code == Type_Code::boolean)
    return {Type_Code::int8, {.kind = Logical_Type::Kind::boolean, .is_optional = true}};
  if (code == Type_Code::string) return {code, {.is_optional = !values.has_missing_text}};
  if (code == Type_Code::int8 && values.min == std::numeric_limits<std::int8_t>::min())
    code = Type_Code::int16;
  if (code == Type_Code::int16 && values.min == std::numeric_limits<std::int16_t>::min())
    code = Type_Code::int32;
  if (code == Type_Code::int32 && values.min == std::numeric_limits<std::int32_t>::min())
    code = Type_Code::int64;
  const bool is_integer = code == Type_Code::int8 || code == Type_Code::int16 ||
                          code == Type_Code::int32 || code == Type_Code::int64;
  const bool is_taken = values.min == std::numeric_limits<std::int64_t>::min();
  return {code, {.is_optional = is_integer && !is_taken}};
}

Type_Code find_type(std::string_view declared, bool is_exact, const Sqlite_Values& values) {
  const Type_Code code = declared_code(declared, is_exact);
  const bool has_numbers = values.has_integers || values.has_reals;
  if (values.has_texts || (values.has_bytes && has_numbers)) return Type_Code::string;
  if (values.has_bytes) return code == Type_Code::string ? Type_Code::string : Type_Code::blob;
  if (!has_numbers) return code == Type_Code::none ? Type_Code::string : code;
  if (code == Type_Code::string) return Type_Code::string;
  const bool is_float = code == Type_Code::float32 || code == Type_Code::float64;
  if (values.has_reals || (is_float && fits_float(values, 53))) return float_type(code, values);
  return integer_type(code, values);
}

}  // namespace joedb
