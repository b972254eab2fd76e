#include "exchange/sqlite_export.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

#include "exchange/sqlite.h"
#include "kernel/base/parse_number.h"
#include "kernel/base/utf8.h"
#include "kernel/table/declaration.h"
#include "kernel/table/live_fields.h"
#include "text/dump.h"
#include "text/sql.h"

namespace joedb {

namespace {

// ---- values -------------------------------------------------------------------------------------

bool is_sql_text(std::string_view value) {
  return is_utf8(value) && value.find('\0') == value.npos;
}

// Binds values of a column to a parameter of a statement.
class Parameter {
 public:
  Parameter(int number, const Column_Base& column) : number_(number), column_(column) {}
  virtual ~Parameter() = default;
  virtual void bind(Sqlite_Statement& statement, index_t id) = 0;

 protected:
  const int number_;
  const Column_Base& column_;
};

template <class T>
class Typed_Parameter final : public Parameter {
 public:
  Typed_Parameter(int number, const Column_Base& column, const Abstract_File& file)
      : Parameter(number, column), file_(file) {}

  void bind(Sqlite_Statement& statement, index_t id) override {
    const auto value = static_cast<const Column<T>&>(column_).get(id);
    if constexpr (std::is_same_v<T, std::string_view>) {
      is_sql_text(value) ? statement.bind_text(number_, value)
                         : statement.bind_bytes(number_, value);
    } else if constexpr (std::is_floating_point_v<T>) {
      statement.bind(number_, static_cast<double>(value));
    } else if constexpr (std::is_same_v<T, Record_Id>) {
      value.is_null() ? statement.bind_null(number_)
                      : statement.bind(number_, std::int64_t{value.value()});
    } else if constexpr (std::is_same_v<T, Blob>) {
      if (value.is_null()) return statement.bind_null(number_);
      bytes_ = file_.read_blob(value);
      statement.bind_bytes(number_, bytes_);
    } else {
      statement.bind(number_, static_cast<std::int64_t>(value));
    }
  }

 private:
  const Abstract_File& file_;
  std::string bytes_;
};

// Binds values of a logical type.
template <class T>
class Logical_Parameter final : public Parameter {
  using Kind = Logical_Type::Kind;

 public:
  using Parameter::Parameter;

  void bind(Sqlite_Statement& statement, index_t id) override {
    const T value = static_cast<const Column<T>&>(column_).get(id);
    const Logical_Type& logical = column_.logical();
    if (is_missing<T>(logical, value)) return statement.bind_null(number_);
    text_.clear();
    if constexpr (std::is_same_v<T, std::string_view>) {
      if (logical.kind == Kind::uuid && append_logical<T>(text_, logical, value))
        statement.bind_text(number_, text_);
      else if (logical.kind != Kind::bytes && logical.kind != Kind::uuid && is_sql_text(value))
        statement.bind_text(number_, value);
      else
        statement.bind_bytes(number_, value);
    } else if constexpr (std::is_floating_point_v<T>) {
      statement.bind(number_, static_cast<double>(value));
    } else if constexpr (std::is_integral_v<T>) {
      if (logical.kind == Kind::boolean || !append_logical<T>(text_, logical, value))
        statement.bind(number_, std::int64_t{value});
      else if (logical.kind == Kind::decimal)
        bind_decimal(statement, value);
      else
        statement.bind_text(number_, text_);
    }
  }

 private:
  // A column of decimals converts text to a float, even if digits are lost, but not a BLOB.
  void bind_decimal(Sqlite_Statement& statement, std::int64_t value) {
    const auto real = parse_number<double>(text_);
    std::string shown;
    if (real) append_value(shown, *real);
    if (real && parse_logical_number(shown, column_.logical()) == value)
      statement.bind(number_, *real);
    else
      statement.bind_bytes(number_, text_);
  }

  std::string text_;
};

std::unique_ptr<Parameter> new_parameter(int number, const Column_Base& column,
                                         const Abstract_File& file) {
  return visit_type(column.type().code,
                    [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Parameter> {
                      if (column.logical().has_plain_values())
                        return std::make_unique<Typed_Parameter<T>>(number, column, file);
                      return std::make_unique<Logical_Parameter<T>>(number, column);
                    });
}

// ---- tables -------------------------------------------------------------------------------------

class Table_Export {
 public:
  Table_Export(Sqlite& out, const std::string& sql_name, const Table& table,
               const Abstract_File& file)
      : table_(table), insertion_(out.prepare(insertion(sql_name, table))) {
    int number = 1;
    for_each_field(table, [&](Field_Id, const Field& field) {
      ++number;
      parameters_.push_back(new_parameter(number, *field.column, file));
    });
  }

  void write_row(index_t id) {
    try {
      insertion_.bind(1, std::int64_t{id});
      for (const auto& parameter : parameters_) parameter->bind(insertion_, id);
      insertion_.step();
      insertion_.reset();
    } catch (const Sqlite_Error& error) {
      throw Sqlite_Error(std::string(error.what()) + " (record " + std::to_string(id) +
                         " of table " + table_.name() + ')');
    }
  }

 private:
  static std::string insertion(const std::string& name, const Table& table) {
    std::string sql = "INSERT INTO " + sql_name(name) + " VALUES(?";
    for_each_field(table, [&](Field_Id, const Field&) { sql += ",?"; });
    return sql + ')';
  }

  const Table& table_;
  Sqlite_Statement insertion_;
  std::vector<std::unique_ptr<Parameter>> parameters_;
};

// Returns the CREATE TABLE, with the declarations of logical types.
std::string definition(const Sql_Names& names, const Table& table) {
  std::string sql = sql_definition(names, table, Sql_Types::exact);
  sql.pop_back();
  for (const auto& [name, id, field] : Sql_Names::fields(table)) {
    const Column_Base& column = *field.column;
    // The rule of a reference is in its REFERENCES.
    if (!column.logical().is_plain() && column.type().code != Type_Code::reference)
      sql += "\n/* " +
             type_declaration(names.table(table), name, column.type().code, column.logical()) +
             " */";
  }
  return sql + ')';
}

// ---- indexes ------------------------------------------------------------------------------------

std::string definition(const Sql_Names& names, const Index_Definition& index) {
  const Table& table = names.database().table(index.table);
  std::string sql = std::string(index.is_unique ? "CREATE UNIQUE INDEX " : "CREATE INDEX ") +
                    sql_name(index.name) + " ON " + sql_name(names.table(table));
  std::map<Field_Id, std::string> fields;
  for (const auto& [name, id, field] : Sql_Names::fields(table)) fields[id] = name;
  const char* separator = "(";
  for (const Field_Id field : index.fields) {
    sql += separator + sql_name(fields.at(field));
    separator = ",";
  }
  return sql + ')';
}

// True if SQLite finds two keys equal. Keys that are different in joedb may be, like 0.0 and -0.0.
bool has_equal_keys(Sqlite& out, const Sql_Names& names, const Index_Definition& index) {
  const Table& table = names.database().table(index.table);
  std::string columns, condition;
  for (const auto& [name, id, field] : Sql_Names::fields(table)) {
    if (std::ranges::find(index.fields, id) == index.fields.end()) continue;
    columns.append(columns.empty() ? "" : ",").append(sql_name(name));
    condition.append(condition.empty() ? "" : " AND ").append(sql_name(name) + " IS NOT NULL");
  }
  return out
      .prepare("SELECT 1 FROM " + sql_name(names.table(table)) + " WHERE " + condition +
               " GROUP BY " + columns + " HAVING count(*) > 1 LIMIT 1")
      .step();
}

// Writes an index that the file declares, unless its name is in use in the file of SQLite. If keys
// are equal there, the index is not unique.
void write_declared(Sqlite& out, const Sql_Names& names, Index_Definition index,
                    std::vector<Index_Definition>& written) {
  for (const Index_Definition& other : written)
    if (is_same_name(other.name, index.name)) return;
  for (const Table* table : live_tables(names.database()))
    if (is_same_name(names.table(*table), index.name)) return;
  index.is_unique = index.is_unique && !has_equal_keys(out, names, index);
  out.run(definition(names, index), "index " + index.name);
  written.push_back(std::move(index));
}

}  // namespace

void Sqlite_Export::write(const std::string& path, const std::string& name) const {
  const Sql_Names names(database);
  Sqlite out(path, name, Sqlite::Use::fill);
  out.run("PRAGMA application_id = " + std::to_string(sqlite_application_id));
  const auto is_left_out = [](const Table& table) { return !too_wide_for_sql(table).empty(); };
  std::vector<const Table*> tables = live_tables(database);
  std::erase_if(tables, [&](const Table* table) { return is_left_out(*table); });
  for (const Table* table : tables) out.run(definition(names, *table));
  constexpr index_t step = 1000;
  index_t rows = 0;
  for (const Table* table : tables) {
    Table_Export table_export(out, names.table(*table), *table, file);
    for_each_run(*table, [&](index_t first, index_t size) {
      for (index_t id = first; id < first + size; ++id) {
        table_export.write_row(id);
        if (++rows % step == 0) progress(rows);
      }
    });
  }
  for (const Index_Definition& index : indexes)
    if (!is_left_out(database.table(index.table)))
      out.run(definition(names, index), "index " + index.name);
  std::vector<Index_Definition> written = indexes;
  for (const Table* table : tables)
    for (const auto& index : table->indexes())
      if (database.is_declared(*index)) write_declared(out, names, index->definition(), written);
  out.run("COMMIT");
}

}  // namespace joedb
