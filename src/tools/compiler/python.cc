#include "tools/compiler/python.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <span>

#include "joedb/format/codec.h"
#include "kernel/base/utf8.h"
#include "kernel/schema/logical_type.h"
#include "kernel/schema/value_text.h"
#include "kernel/table/declaration.h"
#include "kernel/table/schema_text.h"
#include "tools/compiler/names.h"
#include "tools/compiler/python_templates.h"
#include "tools/compiler/text.h"

namespace joedb::compiler {

namespace {

using namespace python_templates;

using Names = std::span<const std::string_view>;

// The attributes that the classes of the package joedb have. tests/python_types.py compares these
// lists with the classes.
constexpr std::string_view of_records[] = {"as_dict", "delete", "exists", "history",
                                           "id",      "table",  "update"};
constexpr std::string_view of_tables[] = {
    "add_field", "create_index", "delete",   "drop",        "drop_field", "drop_index",   "fields",
    "get",       "ids",          "insert",   "insert_many", "rename",     "rename_field", "retype",
    "set_type",  "table_name",   "to_arrow", "to_pandas",   "upsert",     "where"};
constexpr std::string_view of_databases[] = {"at",
                                             "can_redo",
                                             "can_undo",
                                             "changes",
                                             "checkpoint",
                                             "close",
                                             "closed",
                                             "create_table",
                                             "duckdb",
                                             "hard_checkpoint",
                                             "in_transaction",
                                             "is_past",
                                             "log",
                                             "name",
                                             "pull",
                                             "redo",
                                             "remove_tag",
                                             "sql",
                                             "tables",
                                             "tag",
                                             "tags",
                                             "transaction",
                                             "undo",
                                             "write_snapshot"};

bool contains(Names names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// ---- values -------------------------------------------------------------------------------------

// Bytes that are not UTF-8 become lone surrogates, as in the package joedb.
std::string python_literal(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  const bool is_text = is_utf8(text);
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !is_text)) {
      result += byte < 0x80 ? "\\x" : "\\udc";
      result += digits[byte >> 4];
      result += digits[byte & 0xf];
    } else {
      result += c;
    }
  }
  return result + '"';
}

// A handler that collects the values of the rows of a new file, which are those of tables with a
// single row. The package joedb takes a value of a logical type as text, but bytes as bytes.
struct Row_Literals : Ignore_Entries {
  explicit Row_Literals(const Model& m) : model(m) {}
  using Ignore_Entries::operator();
  template <Field_Value T>
  void operator()(const Update<T>& update) {
    const Logical_Type& logical = field_of(model, update.table, update.field).logical;
    std::string text;
    const bool has_text = append_logical(text, logical, update.value);
    // A UUID that was never written has no text: the row gets such a one without a value.
    if (!has_text && logical.kind == Logical_Type::Kind::uuid) return;
    values[{update.table, update.field}] = is_missing(logical, update.value) ? "None"
                                           : !has_text                       ? literal(update.value)
                                                       : literal(logical, text);
  }
  static std::string literal(const Logical_Type& logical, const std::string& text) {
    if (logical.kind == Logical_Type::Kind::boolean) return literal(text == "true");
    const std::string result = python_literal(text);
    return logical.kind == Logical_Type::Kind::bytes ? "bytes.fromhex(" + result + ")" : result;
  }
  static std::string literal(std::string_view value) { return python_literal(value); }
  static std::string literal(bool value) { return value ? "True" : "False"; }
  static std::string literal(Record_Id value) {
    return value.is_null() ? "None" : std::to_string(value.value());
  }
  static std::string literal(Blob) { return "None"; }
  template <class T>
  static std::string literal(T value) {
    if constexpr (std::is_floating_point_v<T>)
      if (!std::isfinite(value))
        return std::isnan(value) ? "float(\"nan\")"
               : value < 0       ? "float(\"-inf\")"
                                 : "float(\"inf\")";
    std::string text;
    append_value(text, value);
    return text;
  }
  const Model& model;
  std::map<std::pair<Table_Id, Field_Id>, std::string> values;
};

// ---- names --------------------------------------------------------------------------------------

// Returns the name of the class of a table, for example CityOfBirth for city_of_birth.
std::string class_name(std::string_view table) {
  std::string result;
  bool is_first = true;
  for (const char c : table) {
    const bool is_small = c >= 'a' && c <= 'z';
    if (c != '_') result += is_first && is_small ? static_cast<char>(c - 'a' + 'A') : c;
    is_first = c == '_';
  }
  const bool is_name = !result.empty() && (result[0] < '0' || result[0] > '9');
  return is_name ? result : "Table" + result;
}

class Python_Writer {
 public:
  explicit Python_Writer(const Model& model) : model_(model) {
    std::vector<std::string> taken{"Database", "SCHEMA"};
    for (const Model_Table& table : model.tables) {
      names_.push_back(table.name);
      for (const Model_Field& field : table.fields) names_.push_back(field.name);
    }
    taken.insert(taken.end(), names_.begin(), names_.end());
    const auto is_taken = [&](const std::string& name) {
      return is_python_keyword(name) || std::find(taken.begin(), taken.end(), name) != taken.end();
    };
    for (const Model_Table& table : model.tables) {
      std::string name = class_name(table.name);
      while (is_taken(name) || is_taken(name + "Table") || is_taken(name + "Records")) name += '_';
      for (const char* suffix : {"", "Table", "Records"}) taken.push_back(name + suffix);
      classes_[table.name] = name;
    }
    for (const Model_Table& table : model.tables)
      for (const Model_Field& field : table.fields) {
        if (field.enum_name.empty()) continue;
        std::string name = class_of(table.name) + class_name(field.name);
        while (is_taken(name)) name += '_';
        taken.push_back(name);
        enums_[field.enum_name] = name;
      }
  }

  std::string module() {
    std::string classes;
    for (const Model_Table& table : model_.tables)
      classes += record_class(table) + found_class(table) + table_class(table);
    classes += database_class();
    for (const Model_Table& table : model_.tables)
      classes += fill(runtime_classes, {{"record", class_of(table.name)}});
    return fill(module_begin,
                {{"source", model_.source},
                 {"name", model_.name_space.back()},
                 {"import_builtins", has_hidden_builtins_ ? "import builtins as _builtins\n" : ""},
                 {"enums", enums()},
                 {"schema", schema()},
                 {"changes", changes()},
                 {"rows", rows()},
                 {"unique", unique()}}) +
           classes + std::string(module_end);
  }

 private:
  // ---- types ----

  const std::string& class_of(const std::string& table) const { return classes_.at(table); }

  // Returns the name of a builtin type, qualified if a field of the same name would hide it in a
  // class.
  std::string builtin(const char* name) {
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) return name;
    has_hidden_builtins_ = true;
    return std::string("_builtins.") + name;
  }

  // Returns the type of a value that is not missing.
  std::string present(const Model_Field& field) {
    switch (field.logical.kind) {
      case Logical_Type::Kind::boolean:
        return builtin("bool");
      case Logical_Type::Kind::date:
        return "_datetime.date";
      case Logical_Type::Kind::timestamp:
        return "_datetime.datetime";
      case Logical_Type::Kind::duration:
        return "_datetime.timedelta";
      case Logical_Type::Kind::decimal:
        return "_decimal.Decimal";
      case Logical_Type::Kind::enumeration:
        return enums_.at(field.enum_name);
      case Logical_Type::Kind::bytes:
        return builtin("bytes");
      case Logical_Type::Kind::uuid:
        return "_uuid.UUID";
      default:
        return stored(field);
    }
  }

  std::string stored(const Model_Field& field) {
    switch (field.type) {
      case Type_Code::string:
        return builtin("str");
      case Type_Code::boolean:
        return builtin("bool");
      case Type_Code::float32:
      case Type_Code::float64:
        return builtin("float");
      case Type_Code::blob:
        return builtin("bytes");
      case Type_Code::reference:
        return class_of(field.referenced_table);
      default:
        return builtin("int");
    }
  }

  static bool can_be_none(const Model_Field& field) {
    return field.logical.is_optional || field.type == Type_Code::blob ||
           field.type == Type_Code::reference;
  }

  std::string getter(const Model_Field& field) {
    return present(field) + (can_be_none(field) ? " | None" : "");
  }

  std::string setter(const Model_Field& field) {
    std::string type = present(field);
    if (field.type == Type_Code::blob || field.logical.kind == Logical_Type::Kind::bytes)
      type += " | " + builtin("bytearray") + " | " + builtin("memoryview");
    else if (field.type == Type_Code::reference ||
             field.logical.kind == Logical_Type::Kind::decimal)
      type += " | " + builtin("int");
    else if (field.logical.kind == Logical_Type::Kind::json)
      type = "_Json";
    return type + (can_be_none(field) ? " | None" : "");
  }

  // Returns the items of the array of a logical type; empty if they are those of the stored type.
  static std::string_view logical_item(const Model_Field& field) {
    switch (field.logical.kind) {
      case Logical_Type::Kind::date:
      case Logical_Type::Kind::timestamp:
        return "datetime64";
      case Logical_Type::Kind::duration:
        return "timedelta64";
      case Logical_Type::Kind::plain:
        return !field.logical.is_optional || field.type == Type_Code::float32 ||
                       field.type == Type_Code::float64
                   ? ""
                   : "object_";
      default:
        return "object_";
    }
  }

  static std::string column(const Model_Field& field) {
    std::string item(logical_item(field));
    if (item.empty()) item = stored_item(field);
    return "_Array[_numpy." + item + "]";
  }

  static std::string stored_item(const Model_Field& field) {
    switch (field.type) {
      case Type_Code::string:
      case Type_Code::blob:
        return "object_";
      case Type_Code::boolean:
        return "bool_";
      case Type_Code::reference:
        return "int64";
      default:
        return std::string(type_name(field.type));
    }
  }

  // ---- parts ----

  // Returns why a field or table cannot be an attribute; empty if it can.
  static std::string left_out(const std::string& name, Names used) {
    if (is_python_keyword(name)) return "is a keyword";
    if (contains(used, name)) return "has another meaning";
    if (name.starts_with('_')) return "is private in Python";
    return "";
  }

  static std::string left_out_line(const std::string& name, const std::string& why) {
    return "        # " + name + " " + why + ": [\"" + name + "\"]\n";
  }

  // Returns a function, or its overloads, for all types of an item.
  std::string items(const std::string& function, const std::vector<std::string>& all) {
    std::string text;
    for (const std::string& one : all)
      text += std::string(all.size() > 1 ? "        @_typing.overload\n" : "") + "        def " +
              function + one;
    return text;
  }

  using Type_Of = std::function<std::string(const Model_Field&)>;

  // Groups the fields by type. Returns each type with the names of its fields as Literal["a", "b"],
  // in the order of the first fields.
  static std::vector<std::pair<std::string, std::string>> literals(const Model_Table& table,
                                                                   const Type_Of& type_of) {
    std::vector<std::pair<std::string, std::string>> result;
    for (const Model_Field& field : table.fields) {
      const std::string type = type_of(field);
      auto found = std::find_if(result.begin(), result.end(),
                                [&](const auto& pair) { return pair.first == type; });
      if (found == result.end()) found = result.insert(found, {type, ""});
      found->second += (found->second.empty() ? "" : ", ") + python_literal(field.name);
    }
    for (auto& [type, names] : result) names = "_typing.Literal[" + names + "]";
    return result;
  }

  // Returns the parameters of a function that takes values of fields.
  std::string parameters(const Model_Table& table, bool has_blobs) {
    std::vector<std::string> all{"self"};
    bool has_others = false;
    for (const Model_Field& field : table.fields) {
      if (field.type == Type_Code::blob && !has_blobs) continue;
      if (is_python_keyword(field.name) || field.name == "self") {
        has_others = true;
        continue;
      }
      if (all.size() == 1) all.push_back("*");
      all.push_back(field.name + ": " + setter(field) + " = ...");
    }
    if (has_others) all.push_back("**others: _typing.Any");
    constexpr std::size_t longest = 60;
    const std::string line = join(all, ", ");
    if (line.size() <= longest) return line;
    return "\n            " + join(all, ",\n            ") + ",\n        ";
  }

  std::string record_class(const Model_Table& table) {
    const std::string& record = class_of(table.name);
    std::string text = fill(record_begin, {{"record", record}, {"table", table.name}});
    std::string left;
    std::string properties;
    for (const Model_Field& field : table.fields) {
      const std::string why = left_out(field.name, of_records);
      if (!why.empty())
        left += left_out_line(field.name, why);
      else if (getter(field) == setter(field))
        text += "        " + field.name + ": " + getter(field) + "\n";
      else
        properties += fill(record_property, {{"decorator", builtin("property")},
                                             {"field", field.name},
                                             {"getter", getter(field)},
                                             {"setter", setter(field)}});
    }
    std::vector<std::string> readers;
    std::vector<std::string> writers;
    for (const auto& [type, names] : literals(table, [&](const auto& f) { return getter(f); }))
      readers.push_back("(self, name: " + names + ", /) -> " + type + ": ...\n");
    for (const auto& [type, names] : literals(table, [&](const auto& f) { return setter(f); }))
      writers.push_back("(self, name: " + names + ", value: " + type + ", /) -> None: ...\n");
    return text + left + properties +
           fill(record_end, {{"record", record},
                             {"property", builtin("property")},
                             {"update", parameters(table, true)}}) +
           items("__getitem__", readers) + items("__setitem__", writers);
  }

  std::string found_class(const Model_Table& table) {
    std::vector<std::string> columns;
    for (const auto& [type, names] : literals(table, column))
      columns.push_back("(self, name: " + names + ", /) -> " + type + ": ...\n");
    return fill(records_class, {{"record", class_of(table.name)},
                                {"table", table.name},
                                {"int", builtin("int")},
                                {"property", builtin("property")},
                                {"columns", items("column", columns)}});
  }

  std::string table_class(const Model_Table& table) {
    const std::string& record = class_of(table.name);
    std::string text = fill(table_begin, {{"record", record}, {"table", table.name}});
    std::string left;
    for (const Model_Field& field : table.fields) {
      const std::string why = left_out(field.name, of_tables);
      if (!why.empty())
        left += left_out_line(field.name, why);
      else
        text += "        " + field.name + ": " + column(field) + "\n";
    }
    std::vector<std::string> readers{"(self, key: " + record + " | " + builtin("int") + ", /) -> " +
                                     record + ": ...\n"};
    for (const auto& [type, names] : literals(table, column))
      readers.push_back("(self, key: " + names + ", /) -> " + type + ": ...\n");
    return text + left + "\n" + items("__getitem__", readers) +
           fill(table_end, {{"record", record},
                            {"int", builtin("int")},
                            {"insert", parameters(table, true)},
                            {"where", parameters(table, false)}});
  }

  std::string database_class() {
    std::string text = fill(database_begin, {{"name", model_.name_space.back()}});
    std::string left;
    std::vector<std::string> readers;
    for (const Model_Table& table : model_.tables) {
      const std::string type = class_of(table.name) + "Table";
      std::string why = left_out(table.name, of_databases);
      if (table.name == "Database") why = "has another meaning";
      if (!why.empty())
        left += left_out_line(table.name, why);
      else
        text += "        " + table.name + ": " + type + "\n";
      readers.push_back("(self, name: _typing.Literal[" + python_literal(table.name) + "], /) -> " +
                        type + ": ...\n");
    }
    return text + left + "\n" + items("__getitem__", readers) + std::string(database_end);
  }

  // ---- values at run time ----

  std::string schema() const {
    std::string text;
    for (const Model_Table& table : model_.tables) {
      text += "    " + python_literal(table.name) + ": {";
      for (const Model_Field& field : table.fields)
        text += "\n        " + python_literal(field.name) + ": " +
                python_literal(schema_type(field)) + ",";
      text += table.fields.empty() ? "},\n" : "\n    },\n";
    }
    return text;
  }

  std::string changes() const {
    std::string text;
    for (const std::string& line : schema_lines(model_.schema_entries))
      text += "    " + python_literal(line) + ",\n";
    for (const Model_Table& table : model_.tables)
      for (const Model_Field& field : table.fields)
        if (!field.logical.is_plain())
          text += "    " +
                  python_literal("set_type " + table.name + " " + field.name + " " +
                                 schema_type(field)) +
                  ",\n";
    for (const std::string& declaration : model_.declarations)
      if (const auto index = parse_index_declaration(declaration); index && !index->is_drop)
        text += "    " + python_literal(declaration.substr(declaration_mark.size())) + ",\n";
    return text;
  }

  std::string enums() const {
    std::string text;
    for (const Model_Table& table : model_.tables)
      for (const Model_Field& field : table.fields) {
        if (field.enum_name.empty()) continue;
        std::vector<std::string> names;
        for (const std::string& name : field.logical.names) names.push_back(python_literal(name));
        text += fill(names_of_enum, {{"table", table.name},
                                     {"field", field.name},
                                     {"enum", enums_.at(field.enum_name)},
                                     {"names", join(names, ", ")}});
      }
    return text;
  }

  std::string unique() const {
    std::string text;
    for (const Model_Index& index : model_.indexes) {
      if (!index.is_unique) continue;
      text +=
          "    " + python_literal(index.name) + ": (" + python_literal(index.table->name) + ", (";
      for (const Model_Field* const field : index.fields) text += python_literal(field->name) + ",";
      text += ")),\n";
    }
    return text;
  }

  std::string rows() const {
    Row_Literals literals(model_);
    decode_entries(model_.initial_values, literals);
    std::string text;
    for (const Model_Table& table : model_.tables) {
      if (!table.has_single_row) continue;
      std::vector<std::string> values;
      for (const Model_Field& field : table.fields)
        if (const auto found = literals.values.find({table.id, field.id});
            found != literals.values.end())
          values.push_back(python_literal(field.name) + ": " + found->second);
      text += "    " + python_literal(table.name) + ": {" + join(values, ", ") + "},\n";
    }
    return text;
  }

  const Model& model_;
  std::vector<std::string> names_;  // of tables and fields
  std::map<std::string, std::string> classes_;
  std::map<std::string, std::string> enums_;  // by Model_Field::enum_name
  bool has_hidden_builtins_ = false;
};

}  // namespace

Generated_File generate_python(const Model& model) {
  const std::string& name = model.name_space.back();
  if (is_python_keyword(name))
    throw Schema_Errors({{model.source, 0,
                          "namespace " + name +
                              ": Python cannot import a module of this name, which is a keyword"}});
  return {name + ".py", Python_Writer(model).module()};
}

}  // namespace joedb::compiler
