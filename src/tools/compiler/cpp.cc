#include "tools/compiler/cpp.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "joedb/base/version.h"
#include "joedb/format/codec.h"
#include "kernel/base/split.h"
#include "kernel/schema/logical_type.h"
#include "kernel/schema/value_text.h"
#include "tools/compiler/cpp_templates.h"
#include "tools/compiler/names.h"
#include "tools/compiler/text.h"

namespace joedb::compiler {

namespace {

using namespace templates;

// ---- types --------------------------------------------------------------------------------------

struct Cpp_Type {
  std::string field;   // the type in Typed_Field and values_of_TABLE
  std::string getter;  // the type that getters return
  std::string setter;  // the type that setters take
};

Cpp_Type same(const std::string& type) { return {type, type, type}; }
Cpp_Type number(const std::string& type) {
  return {type, type, "joedb::No_Narrowing<" + type + ">"};
}

Cpp_Type plain_type(const Model_Field& field) {
  switch (field.type) {
    case Type_Code::string:
      return {"std::string", "joedb::String", "std::string_view"};
    case Type_Code::int8:
      return number("std::int8_t");
    case Type_Code::int16:
      return number("std::int16_t");
    case Type_Code::int32:
      return number("std::int32_t");
    case Type_Code::int64:
      return number("std::int64_t");
    case Type_Code::reference:
      return same("id_of_" + field.referenced_table);
    case Type_Code::boolean:
      return number("bool");
    case Type_Code::float32:
      return number("float");
    case Type_Code::float64:
      return number("double");
    case Type_Code::blob:
      return same("joedb::Blob");
    case Type_Code::none:
      break;
  }
  std::abort();
}

// The types of std::chrono.
std::string time_type(const Logical_Type& logical) {
  switch (logical.scale) {
    case 0:
      return "std::chrono::seconds";
    case 3:
      return "std::chrono::milliseconds";
    case 6:
      return "std::chrono::microseconds";
    default:
      return "std::chrono::nanoseconds";
  }
}

// The types of a field that is not optional.
Cpp_Type present_type(const Model_Field& field) {
  switch (field.logical.kind) {
    case Logical_Type::Kind::boolean:
      return number("bool");
    case Logical_Type::Kind::date:
      return number("std::chrono::sys_days");
    case Logical_Type::Kind::timestamp:
      return number("std::chrono::sys_time<" + time_type(field.logical) + ">");
    case Logical_Type::Kind::duration:
      return number(time_type(field.logical));
    case Logical_Type::Kind::decimal:
      return same("joedb::Decimal<" + std::to_string(field.logical.scale) + ">");
    case Logical_Type::Kind::enumeration:
      return same(field.enum_name);
    case Logical_Type::Kind::uuid:
      return same("joedb::Uuid");
    default:
      return plain_type(field);
  }
}

Cpp_Type cpp_type(const Model_Field& field) {
  Cpp_Type type = present_type(field);
  if (!field.logical.is_optional) return type;
  const bool is_checked = type.setter.starts_with("joedb::No_Narrowing");
  for (std::string* const name : {&type.field, &type.getter, &type.setter})
    *name = "std::optional<" + *name + ">";
  if (is_checked) type.setter = "joedb::No_Narrowing<" + type.field + ">";
  return type;
}

// True if the type of C++ is not that of a plain field: joedb::from_stored makes values of it.
bool is_converted(const Model_Field& field) {
  return field.logical.is_optional || present_type(field).field != plain_type(field).field;
}

// The type of the stored values, in joedb::Values.
std::string stored_type(const Model_Field& field) {
  if (field.type == Type_Code::reference) return "joedb::Record_Id";
  return field.type == Type_Code::string ? "std::string_view" : plain_type(field).field;
}

// ---- initial values -----------------------------------------------------------------------------

std::string float_literal(double value) {
  std::string text;
  if (std::isnan(value)) return "std::numeric_limits<double>::quiet_NaN()";
  if (std::isinf(value))
    return std::string(value < 0 ? "-" : "") + "std::numeric_limits<double>::infinity()";
  append_value(text, value);
  return text;
}

// The smallest integer has no literal in C++: a minus sign would negate a number that is too large.
std::string integer_literal(std::int64_t value) {
  return value == std::numeric_limits<std::int64_t>::min() ? "(-9223372036854775807 - 1)"
                                                           : std::to_string(value);
}

// A string literal without a size would end at the first zero byte.
std::string string_literal(std::string_view value) {
  const std::string literal = cpp_literal(value);
  return value.find('\0') == value.npos
             ? literal
             : "std::string_view(" + literal + ", " + std::to_string(value.size()) + ")";
}

// A handler that collects the initial values of fields as C++ literals of the stored type. Omits
// missing values.
struct Initial_Literals : Ignore_Entries {
  explicit Initial_Literals(const Model& m) : model(m) {}
  using Ignore_Entries::operator();
  template <Field_Value T>
  void operator()(const Update<T>& update) {
    std::string text;
    const Logical_Type& logical = field_of(model, update.table, update.field).logical;
    if (is_missing(logical, update.value)) return;
    if constexpr (std::is_same_v<T, std::string_view>)
      text = string_literal(update.value);
    else if constexpr (std::is_floating_point_v<T>)
      text = float_literal(update.value);
    else if constexpr (std::is_same_v<T, std::int64_t>)
      text = integer_literal(update.value);
    else
      append_value(text, update.value);
    values[{update.table, update.field}] = text;
  }
  // Returns the initial value of a field as a literal; empty if it has none.
  std::string find(const Model_Table& table, const Model_Field& field) const {
    const auto found = values.find({table.id, field.id});
    return found == values.end() ? "" : found->second;
  }
  const Model& model;
  std::map<std::pair<Table_Id, Field_Id>, std::string> values;
};

Initial_Literals initial_literals(const Model& model) {
  Initial_Literals initial(model);
  decode_entries(model.initial_values, initial);
  return initial;
}

// ---- parts --------------------------------------------------------------------------------------

std::string field_list(const Model_Table& table) {
  std::string text;
  for (const Model_Field& field : table.fields)
    text += (text.empty() ? ": " : ", ") + field.name + " " + schema_type(field);
  return text;
}

template <class Range, class Part>
std::string for_each(const Range& range, Part part) {
  std::string text;
  for (const auto& item : range) text += part(item);
  return text;
}

// Calls part(table, field) for each field, and returns the concatenated results.
template <class Part>
std::string for_each_field(const Model_Table& table, Part part) {
  return for_each(table.fields, [&](const Model_Field& field) { return part(table, field); });
}

bool has_field(const Model& model, std::string_view name) {
  return std::any_of(model.tables.begin(), model.tables.end(), [&](const Model_Table& table) {
    return std::any_of(table.fields.begin(), table.fields.end(),
                       [&](const Model_Field& field) { return field.name == name; });
  });
}

// Returns true if get_field() and set_field(value) are unambiguous, without the name of the table.
bool is_single_value(const Model& model, const Model_Table& table, const Model_Field& field) {
  const auto hides = [&](const auto& other) {
    return field.name == other.name + "_table" || field.name == "index_of_" + other.name;
  };
  if (field.name == "untyped" || field.name == "journal" || field.name == "data") return false;
  return table.has_single_row && std::none_of(model.tables.begin(), model.tables.end(), hides) &&
         std::none_of(model.indexes.begin(), model.indexes.end(), hides) &&
         std::all_of(model.tables.begin(), model.tables.end(), [&](const Model_Table& other) {
           return &other == &table || !other.has_single_row ||
                  std::none_of(other.fields.begin(), other.fields.end(),
                               [&](const Model_Field& f) { return f.name == field.name; });
         });
}

// Returns the schema's comment as lines of documentation. A backslash at the end of a line would
// continue it.
std::string documentation(std::string_view comment, std::string_view indent) {
  std::string text;
  if (comment.empty()) return text;
  for (const std::string_view line : split(comment, "\n")) {
    text.append(indent).append(line.empty() ? "///" : "/// ").append(line);
    text += line.ends_with('\\') ? " .\n" : "\n";
  }
  return text;
}

std::string readers(const Model& model, const Model_Table& table) {
  std::string text = fill(table_readers, {{"table", table.name},
                                          {"fields", field_list(table)},
                                          {"comment", documentation(table.comment, "  ")}});
  std::string table_lines(table.has_single_row ? single_row_readers : many_rows_readers);
  table_lines += table_history;
  if (!table.has_single_row) table_lines += many_rows_history;
  text += fill(table_lines, {{"table", table.name}});
  return text + for_each_field(table, [&](const Model_Table&, const Model_Field& field) {
           std::string lines(getter);
           if (is_single_value(model, table, field)) lines += single_row_getter;
           return fill(lines, {{"table", table.name},
                               {"field", field.name},
                               {"type", cpp_type(field).getter},
                               {"schema_type", schema_type(field)},
                               {"comment", documentation(field.comment, "  ")}});
         });
}

std::string structure(const Model_Table& table) {
  std::string members, names;
  for (const Model_Field& field : table.fields) {
    members += fill(table_member, {{"type", cpp_type(field).field},
                                   {"number", std::to_string(field.id.value())},
                                   {"field", field.name}});
    names += ", " + field.name + "_";
  }
  return fill(table_struct, {{"table", table.name},
                             {"number", std::to_string(table.id.value())},
                             {"members", members},
                             {"names", names}});
}

// Joins the parameters on one line if that is short enough; otherwise, puts each on its own line.
std::string parameter_list(const std::vector<std::string>& parameters, std::size_t indent) {
  const bool is_short = indent + join(parameters, ", ").size() + 3 <= 100;
  return join(parameters, is_short ? ", " : ",\n" + std::string(indent, ' '));
}

// Returns an expression of the type of the getter.
std::string converted_value(const Model_Field& field, const std::string& stored) {
  return "joedb::from_stored<" + cpp_type(field).field + ">(" + stored + ")";
}

// Returns the initial value in values_of_TABLE.
std::string default_value(const Model_Table& table, const Model_Field& field,
                          const Initial_Literals& initial) {
  const std::string literal = initial.find(table, field);
  if (literal.empty()) return "{}";
  if (is_converted(field)) return converted_value(field, literal);
  if (field.type == Type_Code::reference) return cpp_type(field).field + "(" + literal + ")";
  if (field.type == Type_Code::float32) return "static_cast<float>(" + literal + ")";
  if (literal.starts_with("std::string_view(")) return "std::string(" + literal + ")";
  return literal;
}

// Returns the members of values_of_TABLE, in the order of the fields.
std::vector<std::string> member_names(const Model_Table& table) {
  std::vector<std::string> names;
  for (const Model_Field& field : table.fields) names.push_back(cpp_parameter(field.name, names));
  return names;
}

// Returns the parameters of find_INDEX, in the order of the key.
std::vector<std::string> parameter_names(const Model_Index& index) {
  std::vector<std::string> names;
  for (const Model_Field* field : index.fields) names.push_back(cpp_parameter(field->name, names));
  return names;
}

// Returns an expression that reads the field from joedb::Values.
std::string value_in_values(const Model_Field& field) {
  if (is_converted(field))
    return converted_value(field, "values.get<" + stored_type(field) + ">(i)");
  if (field.type == Type_Code::reference)
    return cpp_type(field).field + "(values.get<joedb::Record_Id>(i))";
  if (field.type == Type_Code::string) return "values.get<std::string_view>(i)";
  return "values.get<" + cpp_type(field).field + ">(i)";
}

std::string values_of(const Model_Table& table, const Initial_Literals& initial) {
  const std::vector<std::string> names = member_names(table);
  std::string members, cases;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Model_Field& field = table.fields[i];
    members += documentation(field.comment, "  ") + "  " + cpp_type(field).field + " " + names[i] +
               " = " + default_value(table, field, initial) + ";\n";
    cases += fill(row_case, {{"number", std::to_string(field.id.value())},
                             {"name", names[i]},
                             {"value", value_in_values(field)}});
  }
  return fill(std::string(values_struct).append(row_struct),
              {{"table", table.name},
               {"comment", documentation(table.comment, "")},
               {"members", members},
               {"number", std::to_string(table.id.value())},
               {"cases", cases}});
}

// Returns lines of documentation: what the deletion of a record does to references.
std::string deletion_comment(const Model& model, const Model_Table& table) {
  std::string text;
  for (const Model_Table& other : model.tables)
    for (const Model_Field& field : other.fields) {
      if (field.referenced_table != table.name) continue;
      const std::string name = other.name + "." + field.name;
      switch (field.logical.on_delete) {
        case Logical_Type::On_Delete::keep:
          text += "  /// " + name + " does not change.\n";
          break;
        case Logical_Type::On_Delete::clear:
          text += "  /// " + name + " becomes null.\n";
          break;
        case Logical_Type::On_Delete::cascade:
          text += "  /// Records whose " + name + " refers to it are deleted first.\n";
          break;
        case Logical_Type::On_Delete::refuse:
          text += "  /// Throws joedb::Data_Error if " + name + " refers to it.\n";
      }
    }
  return text;
}

std::string creators(const Model& model, const Model_Table& table,
                     const Initial_Literals& initial) {
  const std::vector<std::string> names = member_names(table);
  std::vector<std::string> parameters, arguments;
  std::string assignments, members;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Model_Field& field = table.fields[i];
    std::string value = initial.find(table, field);
    if (field.type != Type_Code::string || is_converted(field))
      value = default_value(table, field, initial);
    members += documentation(field.comment, "    ") + "    " + cpp_type(field).setter + " " +
               names[i] + " = " + (value.empty() ? "{}" : value) + ";\n";
    parameters.push_back(cpp_type(field).setter + " " + names[i]);
    arguments.push_back("values." + names[i]);
    assignments +=
        fill(assignment, {{"table", table.name}, {"field", field.name}, {"parameter", names[i]}});
  }
  const std::size_t indent = std::string_view("  id_of_ new_(").size() + 2 * table.name.size();
  const std::size_t argument_indent =
      std::string_view("    return new_(").size() + table.name.size();
  std::string missing, optional_fields;
  for (const Model_Field& field : table.fields) {
    if (!field.logical.is_optional) continue;
    missing +=
        fill(assignment, {{"table", table.name}, {"field", field.name}, {"parameter", "{}"}});
    optional_fields += ", " + table.name + "_table_." + field.name + "_";
  }
  std::string lines(missing.empty() ? new_row : new_row_with_missing);
  if (!table.fields.empty()) (lines += new_with_values) += new_with_struct;
  lines += many_rows_writers;
  return fill(lines, {{"table", table.name},
                      {"parameters", parameter_list(parameters, indent)},
                      {"assignments", assignments},
                      {"members", members},
                      {"missing", missing},
                      {"optional_fields", optional_fields},
                      {"deletion", deletion_comment(model, table)},
                      {"template", table.fields.size() == 1 ? "template <class = void>\n  " : ""},
                      {"arguments", parameter_list(arguments, argument_indent)}});
}

std::string writers(const Model& model, const Model_Table& table, const Initial_Literals& initial) {
  std::string text = "\n  // " + table.name + "\n";
  if (!table.has_single_row) text += creators(model, table, initial);
  return text + for_each_field(table, [&](const Model_Table&, const Model_Field& field) {
           std::string lines(setter);
           if (is_single_value(model, table, field)) lines += single_row_setter;
           if (!table.has_single_row) lines += vector_setter;
           return fill(lines, {{"table", table.name},
                               {"field", field.name},
                               {"type", cpp_type(field).setter},
                               {"schema_type", schema_type(field)},
                               {"comment", documentation(field.comment, "  ")}});
         });
}

// ---- enumerations -------------------------------------------------------------------------------

// Returns the names of the values in C++, in their order.
std::vector<std::string> enumerators(const Model_Field& field) {
  std::vector<std::string> names;
  for (const std::string& name : field.logical.names) {
    std::string enumerator = name;
    while (is_cpp_keyword(enumerator) ||
           std::find(names.begin(), names.end(), enumerator) != names.end())
      enumerator += '_';
    names.push_back(enumerator);
  }
  return names;
}

std::string enums(const Model& model) {
  return for_each(model.tables, [&](const Model_Table& table) {
    return for_each_field(table, [&](const Model_Table&, const Model_Field& field) {
      if (field.enum_name.empty()) return std::string();
      if (field.has_enum_of_main)
        return fill(shared_enumeration,
                    {{"enum", field.enum_name}, {"main", join(model.main_name_space, "::")}});
      std::vector<std::string> literals;
      for (const std::string& name : field.logical.names) literals.push_back(cpp_literal(name));
      const std::vector<std::string> names = enumerators(field);
      return fill(enumeration, {{"comment", documentation(field.comment, "")},
                                {"table", table.name},
                                {"field", field.name},
                                {"enum", field.enum_name},
                                {"stored", stored_type(field)},
                                {"size", std::to_string(names.size())},
                                {"values", join(names, ",\n  ")},
                                {"names", join(literals, ",\n    ")}});
    });
  });
}

// ---- indexes ------------------------------------------------------------------------------------

std::string types_of(const Model_Index& index) {
  return fill(index_types, {{"index", index.name},
                            {"comment", documentation(index.comment, "")},
                            {"table", index.table->name},
                            {"fields", for_each(index.fields, [](const Model_Field* field) {
                               return ", joedb::Typed_Field<" + cpp_type(*field).field + ", " +
                                      std::to_string(field->id.value()) + ">";
                             })}});
}

std::string readers_of(const Model_Index& index) {
  const std::vector<std::string> members = member_names(*index.table);
  const std::vector<std::string> names = parameter_names(index);
  std::vector<std::string> fields, parameters, keys;
  for (const Model_Field* field : index.fields) {
    keys.push_back("row." + members[static_cast<std::size_t>(field - index.table->fields.data())]);
    parameters.push_back(cpp_type(*field).setter + " " + names[fields.size()]);
    fields.push_back(field->name);
  }
  const std::string result =
      (index.is_unique ? "id_of_" + index.table->name : "range_of_" + index.name);
  const std::size_t indent =
      std::string_view("   find_(").size() + result.size() + index.name.size();
  std::string prefixes;
  for (std::size_t size = 1; size < names.size(); ++size) {
    const auto last = static_cast<std::ptrdiff_t>(size);
    prefixes += fill(prefix_finder,
                     {{"index", index.name},
                      {"comment", documentation(index.comment, "  ")},
                      {"parameters", join({parameters.begin(), parameters.begin() + last}, ", ")},
                      {"names", join({names.begin(), names.begin() + last}, ", ")}});
  }
  return fill(index_readers, {{"index", index.name},
                              {"prefixes", prefixes},
                              {"is_unique", index.is_unique ? "unique " : ""},
                              {"table", index.table->name},
                              {"fields", join(fields, ", ")},
                              {"comment", documentation(index.comment, "  ")},
                              {"found", index.is_unique ? "The record with this key, or null."
                                                        : "The records with this key, by id."},
                              {"result", result},
                              {"parameters", parameter_list(parameters, indent)},
                              {"find", index.is_unique ? "first" : "range"},
                              {"names", join(names, ", ")},
                              {"keys", join(keys, ", ")}});
}

// Returns true if the name of the function is that of the getter of a field.
bool is_hidden(const Back_Reference& reference) {
  const auto& fields = reference.referenced->fields;
  return std::any_of(fields.begin(), fields.end(),
                     [&](const Model_Field& field) { return field.name == reference.name; });
}

std::string reader_of(const Back_Reference& reference) {
  if (is_hidden(reference)) return "";
  const Model_Index& index = *reference.index;
  const bool is_range = index.fields.size() == 1 && !index.is_unique;
  return fill(
      back_reference,
      {{"name", reference.name},
       {"table", index.table->name},
       {"field", index.fields.front()->name},
       {"referenced", reference.referenced->name},
       {"result", is_range ? "range_of_" + index.name : "index_of_" + index.name + "::Between"},
       {"found",
        is_range ? "find_" + index.name + "(id)" : index.name + "_index_.between({id}, {id})"},
       {"order", index.fields.size() == 1 ? "by id" : "in the order of " + index.name}});
}

std::string definition_of(const Model& model, const Model_Index& index) {
  std::vector<std::string> fields;
  for (const Model_Field* field : index.fields)
    fields.push_back("joedb::Field_Id(" + std::to_string(field->id.value()) + ")");
  return fill(index_definition, {{"index", index.name},
                                 {"table", std::to_string(index.table->id.value())},
                                 {"fields", join(fields, ", ")},
                                 {"is_unique", index.is_unique ? "true" : "false"},
                                 {"name", model.name_space.back()}});
}

// ---- the header ---------------------------------------------------------------------------------

// Returns `lines`, which are using declarations, if a table has this field. Without them, the
// getter of the field would hide a function of a base class, or be hidden by it.
std::string using_if_field(const Model& model, std::string_view field, std::string_view lines) {
  return has_field(model, field) ? std::string(lines) : std::string();
}

// Returns the entries as a C++ string literal, with one entry per line.
std::string entries_literal(const std::string& entries) {
  std::string text;
  Memory_Decoder_Input input(entries);
  Context context;
  Ignore_Entries ignore;
  for (std::size_t start = 0; start < entries.size();) {
    decode_entry(input, context, ignore);
    const auto end = static_cast<std::size_t>(input.position());
    if (start > 0) text += "\n        ";
    text += cpp_literal(std::string_view(entries).substr(start, end - start));
    start = end;
  }
  return text.empty() ? "\"\"" : text;
}

std::string single_rows(const Model& model) {
  std::vector<std::string> ids;
  for (const Model_Table& table : model.tables)
    if (table.has_single_row)
      ids.push_back("joedb::Table_Id(" + std::to_string(table.id.value()) + ")");
  return join(ids, ", ");
}

// Returns the initializer of Program_Schema::declarations, with the comma before it.
std::string declarations(const Model& model) {
  if (model.declarations.empty() && model.retypings.empty()) return "";
  std::vector<std::string> literals;
  for (const std::string& text : model.declarations) literals.push_back(cpp_literal(text));
  return ",\n            {" + join(literals, ",\n             ") + "}";
}

// The same for Program_Schema::retyped.
std::string retypings(const Model& model) {
  if (model.retypings.empty()) return "";
  std::vector<std::string> items;
  for (const Retyping& r : model.retypings) {
    const auto id = [](auto value) { return "(" + std::to_string(value.value()) + ")"; };
    items.push_back("{joedb::Table_Id" + id(r.table) + ", joedb::Field_Id" + id(r.from) +
                    ", joedb::Field_Id" + id(r.to) + ", " + cpp_literal(r.before) + ", " +
                    cpp_literal(r.after) + "}");
  }
  return ",\n            {" + join(items, ",\n             ") + "}";
}

std::string types(const Model& model) {
  const auto line = [&](const std::string& name) {
    return "  using " + name + " = ::" + join(model.name_space, "::") + "::" + name + ";\n";
  };
  return for_each(model.tables,
                  [&](const Model_Table& table) {
                    return line("id_of_" + table.name) + line("container_of_" + table.name) +
                           line("values_of_" + table.name) + line("row_of_" + table.name);
                  }) +
         for_each(model.indexes, [&](const Model_Index& index) {
           return line("index_of_" + index.name) + line("range_of_" + index.name);
         });
}

// Returns the names from the schema that the header contains unchanged, without a prefix like get_.
// A macro of the same name would replace them.
std::set<std::string> bare_names(const Model& model) {
  std::set<std::string> names(model.customs.begin(), model.customs.end());
  const auto add = [&](const std::vector<std::string>& more) {
    names.insert(more.begin(), more.end());
  };
  for (const Model_Table& table : model.tables) {
    add(member_names(table));
    for (const Model_Field& field : table.fields) {
      add(enumerators(field));
      if (!field.enum_name.empty()) names.insert(field.enum_name);
    }
  }
  for (const Model_Index& index : model.indexes) add(parameter_names(index));
  return names;
}

// Returns the text with lines around it: in it, none of these names is a macro.
std::string without_macros(std::set<std::string> names, std::string_view comment,
                           std::string_view text) {
  names.erase("defined");  // cannot be a macro
  if (names.empty()) return std::string(text);
  const auto with_name = [](std::string_view line) {
    return [line](const std::string& name) { return fill(line, {{"name", name}}); };
  };
  return std::string(comment) + for_each(names, with_name(saved_macro)) + std::string(text) +
         for_each(names, with_name(restored_macro));
}

std::string guard(const Model& model) {
  std::string text = join(model.name_space, "_") + "_JOEDB_H";
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

// Returns the #include of the main header, for a message schema, whose header is in rpc/.
std::string main_include(const Model& model) {
  if (model.main_name_space.empty()) return "";
  return "#include \"../../" + model.main_name_space.back() + ".h\"\n";
}

std::string header_text(const Model& model) {
  const std::string name = model.name_space.back();
  const std::string main_name_space = join(model.main_name_space, "::");
  const Initial_Literals initial = initial_literals(model);
  const auto with_id = [&](std::string_view own, std::string_view of_main) {
    return [&main_name_space, own, of_main](const Model_Table& table) {
      return fill(table.has_id_of_main ? of_main : own,
                  {{"table", table.name}, {"main", main_name_space}});
    };
  };
  const auto with_table = [](std::string_view text) {
    return [text](const Model_Table& table) { return fill(text, {{"table", table.name}}); };
  };
  const auto with_index = [](std::string_view text) {
    return [text](const Model_Index& index) { return fill(text, {{"index", index.name}}); };
  };
  const auto with_custom = [](std::string_view text) {
    return [text](const std::string& custom) { return fill(text, {{"custom", custom}}); };
  };
  std::string definitions = for_each(
      model.indexes, [&](const Model_Index& index) { return definition_of(model, index); });
  if (!definitions.empty()) definitions.erase(0, 1);  // the first comma
  const std::string content = fill(
      header_content,
      {{"code_version", std::to_string(generated_code_version)},
       {"namespace", join(model.name_space, "::")},
       {"name", name},
       {"id_declarations", for_each(model.tables, with_id("class id_of_{{table}};\n", shared_id))},
       {"id_classes",
        enums(model) + for_each(model.tables, with_id(id_class, shared_container)) +
            for_each(model.tables,
                     [&](const Model_Table& table) { return values_of(table, initial); })},
       {"times", model.has_timestamps ? "true" : "false"},
       {"no_marks",
        (model.has_no_marks ? "true" : "false") + declarations(model) + retypings(model)},
       {"index_types", for_each(model.indexes, types_of)},
       {"schema", entries_literal(model.schema_entries)},
       {"schema_size", std::to_string(model.schema_entries.size())},
       {"initial_values", entries_literal(model.initial_values)},
       {"initial_values_size", std::to_string(model.initial_values.size())},
       {"single_rows", single_rows(model)},
       {"index_definitions", definitions},
       {"readers",
        for_each(model.tables, [&](const Model_Table& table) { return readers(model, table); })},
       {"index_readers",
        for_each(model.indexes, readers_of) + for_each(model.back_references, reader_of)},
       {"structs", for_each(model.tables, structure)},
       {"members",
        for_each(model.tables, with_table("  {{table}}_table {{table}}_table_;\n")) +
            for_each(model.indexes, with_index("  index_of_{{index}} {{index}}_index_;\n"))},
       {"binds", for_each(model.tables, with_table("    {{table}}_table_.bind(database);\n")) +
                     for_each(model.indexes,
                              with_index("    {{index}}_index_.bind(database, \"{{index}}\");\n"))},
       {"customs", for_each(model.customs, with_custom(custom_declaration))},
       {"custom_calls", for_each(model.customs, with_custom(custom_call))},
       {"writers",
        for_each(model.tables,
                 [&](const Model_Table& table) { return writers(model, table, initial); })},
       {"types", types(model)},
       {"database_using",
        using_if_field(model, "untyped", "  using Typed_Database::get_untyped;\n")},
       {"writable_using",
        using_if_field(model, "journal",
                       "  using Database::get_journal;\n  using Typed_Writer::get_journal;\n")},
       {"memory_using",
        using_if_field(
            model, "data",
            "  using Writable_Database::get_data;\n  using Typed_Memory_Writer::get_data;\n")}});
  return fill(header, {{"version", version},
                       {"source", model.source},
                       {"guard", guard(model)},
                       {"includes", main_include(model)},
                       {"content", without_macros(bare_names(model), macros_comment, content)}});
}

// ---- the folder ---------------------------------------------------------------------------------

std::string print_table_text(const Model& model) {
  return fill(print_table_header,
              {{"version", version},
               {"guard", guard(model)},
               {"name", model.name_space.back()},
               {"namespace", join(model.name_space, "::")},
               {"functions", for_each(model.tables, [](const Model_Table& table) {
                  return fill(print_function, {{"table", table.name},
                                               {"number", std::to_string(table.id.value())}});
                })}});
}

std::string interpreted_text(const Model& model) {
  return fill(interpreted_header, {{"version", version},
                                   {"guard", guard(model)},
                                   {"name", model.name_space.back()},
                                   {"namespace", join(model.name_space, "::")}});
}

std::string introspection_text(const Model& model, const Model_Table& table,
                               const Initial_Literals& initial) {
  const bool has_data = std::any_of(initial.values.begin(), initial.values.end(),
                                    [&](const auto& v) { return v.first.first == table.id; });
  const std::string ids = "::" + join(model.name_space, "::") + "::";
  const auto line = [&](const Model_Table&, const Model_Field& original) {
    Model_Field field = original;
    if (!field.enum_name.empty()) field.enum_name = ids + field.enum_name;
    std::string type = cpp_type(field).field;
    if (field.type == Type_Code::reference) type = ids + type;
    std::string text = "JOEDB_INTROSPECTION(" + type + ", " + field.name;
    if (has_data) {
      const std::string literal = initial.find(table, field);
      const bool is_class = field.type == Type_Code::reference || field.type == Type_Code::blob;
      text += ", ";
      if (is_converted(field))
        text += literal.empty() ? "std::nullopt" : converted_value(field, literal);
      else
        text += is_class ? type + "(" + literal + ")" : literal;
    }
    return text + ");\n";
  };
  std::set<std::string> names;
  for (const Model_Field& field : table.fields) names.insert(field.name);
  return fill(introspection_header,
              {{"version", version},
               {"arguments", has_data ? "type, name, initial_value" : "type, name"},
               {"fields", without_macros(names, "", for_each_field(table, line))}});
}

}  // namespace

std::vector<Generated_File> generate_cpp(const Model& model) {
  const std::string name = model.name_space.back();
  const auto forward = [&](std::string_view up, std::string_view to) {
    return fill(forwarder, {{"version", version}, {"up", up}, {"name", to}});
  };
  std::vector<Generated_File> files{
      {name + ".h", header_text(model)},
      {name + "/print_table.h", print_table_text(model)},
      {name + "/Interpreted_File_Database.h", interpreted_text(model)},
      {name + "/Readonly_Interpreted_File_Database.h", forward("", "Interpreted_File_Database")}};
  for (const std::string_view header_name :
       {"Client", "Database", "File_Client", "File_Database", "Memory_Database", "Readonly_Client",
        "Readonly_Database", "Types", "Writable_Database", "ids", "readonly", "writable"})
    files.push_back({name + "/" + std::string(header_name) + ".h", forward("../", name)});

  const Initial_Literals initial = initial_literals(model);
  for (const Model_Table& table : model.tables)
    files.push_back({name + "/tables/" + table.name + "_introspection.h",
                     introspection_text(model, table, initial)});
  return files;
}

}  // namespace joedb::compiler
