#include <utility>

#include "commands/commands.h"
#include "kernel/base/lower_case.h"
#include "kernel/base/split.h"
#include "kernel/table/declaration.h"
#include "kernel/table/record_runs.h"
#include "kernel/table/retype.h"

namespace joedb::inline v1 {

namespace {

// Returns joedb's name for a type of another language or database; empty if `name` is not such a
// type.
std::string_view meant_type(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> types[] = {
      {"text", "string"},      {"str", "string"},         {"varchar", "string"},
      {"char", "string"},      {"int", "int32"},          {"integer", "int64"},
      {"long", "int64"},       {"bigint", "int64"},       {"smallint", "int16"},
      {"tinyint", "int8"},     {"byte", "int8"},          {"double", "float64"},
      {"real", "float64"},     {"float", "float32"},      {"bool", "boolean"},
      {"time", "timestamp"},   {"datetime", "timestamp"}, {"numeric", "decimal(2)"},
      {"money", "decimal(2)"}, {"interval", "duration"},  {"reference", "references"}};
  for (const auto& [foreign, own] : types)
    if (foreign == name) return own;
  return "";
}

Line_Error invalid_type(const Line_Reader& in, std::string_view word, const std::string& problem) {
  if (in.is_classic()) return in.error("unknown type");
  if (!problem.starts_with("unknown type")) return in.error(problem);
  const std::string_view meant = meant_type(lower_case(std::string(word)));
  if (!meant.empty())
    return in.error("unknown type: " + std::string(word) + ". Did you mean " + std::string(meant) +
                    "?");
  if (problem.ends_with('?')) return in.error(problem);
  std::string known = "; string, boolean, int8, int16, int32, int64, float32, float64, blob, ";
  for (const std::string_view name : logical_type_names()) known.append(name).append(", ");
  return in.error(problem + known + "or references TABLE expected");
}

// Reads the words of a type up to `)`, and `optional` if it follows. Blanks in brackets are left
// out.
std::string read_type_text(Line_Reader& in, std::string_view first) {
  std::string text(first);
  while (text.find('(') != text.npos && !text.ends_with(')') && in.has_more())
    text += in.read_word(")");
  if (in.peek_word() == "optional") text.append(" ").append(in.read_word("optional"));
  return text;
}

}  // namespace

Field_Type read_type(Line_Reader& in, const Database& database) {
  const std::string word(in.read_word("type"));
  if (word != type_name(Type_Code::reference)) {
    const bool is_classic = in.is_classic();
    const Type_Code stored = type_named(word);
    if (is_classic && stored != Type_Code::none) return {{stored, {}}, {}};
    std::string problem;
    const auto type = parse_declared_type(is_classic ? "" : read_type_text(in, word), problem);
    if (!type) throw invalid_type(in, word, problem);
    return {{type->stored, {}}, type->logical};
  }
  const std::string_view name = in.read_word("table name");
  const Table* const referenced = database.find_table(name);
  if (referenced == nullptr && in.is_classic()) throw in.error("unknown type");
  if (referenced == nullptr) throw no_such_table(in, database, name);
  Field_Type result{{Type_Code::reference, referenced->id()}, {}};
  if (in.is_classic() || in.peek_word() != on_delete_word) return result;
  in.read_word(on_delete_word);
  const auto rule = parse_on_delete(in.read_word("clear, cascade or refuse"));
  if (!rule) throw in.unexpected("clear, cascade or refuse");
  result.logical.on_delete = *rule;
  return result;
}

namespace {

// Reads the value before it writes anything, so that no field is added if the value is invalid.
template <Field_Value T>
void add_field_with_value(Line_Reader& in, Writable_Database& database, const Add_Field& entry,
                          const Logical_Type& logical) {
  const T value = read_field_value<T>(in, logical);
  in.require_end();
  joedb::add_field(database, entry, logical);
  const Table& table = *database.get_database().find_table(entry.table);
  const Field_Id field = table.find_field(entry.name);
  for (index_t id = 0; id < table.records().size(); ++id)
    if (table.records().is_used(id))
      database.write(Update<T>{entry.table, Record_Id(id), field, value});
}

void add_field(Line_Reader& in, Writable_Database& database) {
  const Table_Id table = read_table(in, database.get_database()).id();
  const std::string_view name = in.read_word("field name");
  const auto [type, logical] = read_type(in, database.get_database());
  const Add_Field entry{table, name, type};
  if (!in.has_more()) return joedb::add_field(database, entry, logical);
  if (in.read_word("=") != "=") {
    if (!in.is_classic()) throw in.unexpected("= or end of line");
    return database.write(entry);
  }
  visit_type(type.code, [&, &meaning = logical]<class T>(std::type_identity<T>) {
    add_field_with_value<T>(in, database, entry, meaning);
  });
}

// Says what the values of a field mean. Their stored type stays.
void set_type(Line_Reader& in, Writable_Database& database) {
  const Table& table = read_table(in, database.get_database());
  const Field_Id field = read_field(in, table);
  const auto [type, logical] = read_type(in, database.get_database());
  in.require_end();
  const Column_Base& column = *table.find_field(field)->column;
  const auto stored_text = [&](const Type& stored) {
    const Table* const referenced = database.get_database().find_table(stored.referenced);
    return declared_type_text(stored.code, {}, referenced ? referenced->name() : "a dropped table");
  };
  if (logical.kind == Logical_Type::Kind::plain && column.type() != type)
    throw in.error(table.name() + "." + table.find_field(field)->name + " is stored as " +
                   stored_text(column.type()) + ", not as " + stored_text(type));
  declare_type(database, table.id(), field, logical);
}

void retype_field(Line_Reader& in, Writable_Database& database) {
  const Table& table = read_table(in, database.get_database());
  const Field_Id field = read_field(in, table);
  const auto [type, logical] = read_type(in, database.get_database());
  in.require_end();
  retype_field(database, table.id(), field, type, logical);
}

void create_index(Line_Reader& in, Writable_Database& database, bool is_unique) {
  const std::string name(in.read_word("index name"));
  const Table& table = read_table(in, database.get_database());
  Index_Definition index{name, table.id(), {}, is_unique};
  std::string fields(in.read_word("field name"));
  while (in.has_more()) fields += in.read_word("field name");
  for (const std::string_view field : split(fields, ","))
    index.fields.push_back(find_field(in, table, field));
  joedb::declare_index(database, index);
}

void add_index_commands(Command_Group& group, Writable_Database& database) {
  const auto create = [&database](bool is_unique) {
    return [&database, is_unique](Line_Reader& in, std::ostream&) {
      create_index(in, database, is_unique);
    };
  };
  group.commands.push_back(
      {"create_index", "create_index <new_index_name> <table_name> <field_name>,…", create(false)});
  group.commands.push_back({"create_unique_index",
                            "create_unique_index <new_index_name> <table_name> <field_name>,…",
                            create(true)});
  group.commands.push_back(
      {"drop_index", "drop_index <index_name>", [&database](Line_Reader& in, std::ostream&) {
         const std::string name(in.read_word("index name"));
         in.require_end();
         joedb::drop_index(database, name);
       }});
}

// Reads the name of a field. With Reading::classic, returns null for an unknown name: writing the
// entry will throw.
Field_Id read_changed_field(Line_Reader& in, const Table& table) {
  return in.is_classic() ? table.find_field(in.read_word("field name")) : read_field(in, table);
}

constexpr std::string_view type_notes =
    "\n"
    " <type> may be:\n"
    "  string,\n"
    "  blob,\n"
    "  int8, int16, int32, int64,\n"
    "  float32, float64,\n"
    "  boolean,\n"
    "  date, timestamp[(s|ms|us|ns)], duration[(s|ms|us|ns)],\n"
    "  decimal(<digits behind the point>),\n"
    "  enum(<name>, ...),\n"
    "  bytes, uuid, json,\n"
    "  references <table_name> [on_delete clear|cascade|refuse]\n";

}  // namespace

void add_schema_commands(Command_Loop& loop, Writable_Database& database) {
  const auto read_name = [](Line_Reader& in) {
    const std::string_view name = in.read_word("name");
    in.require_end();
    return name;
  };
  const auto create_table = [&database, read_name](Line_Reader& in, std::ostream&) {
    database.write(Create_Table{read_name(in)});
  };
  const auto drop_table = [&database](Line_Reader& in, std::ostream&) {
    const Table_Id table = read_table(in, database.get_database()).id();
    in.require_end();
    database.write(Drop_Table{table});
  };
  const auto rename_table = [&database, read_name](Line_Reader& in, std::ostream&) {
    const Table_Id table = read_table(in, database.get_database()).id();
    database.write(Rename_Table{table, read_name(in)});
  };
  const auto drop_field = [&database](Line_Reader& in, std::ostream&) {
    const Table& table = read_table(in, database.get_database());
    const Field_Id field = read_changed_field(in, table);
    in.require_end();
    database.write(Drop_Field{table.id(), field});
  };
  const auto rename_field = [&database, read_name](Line_Reader& in, std::ostream&) {
    const Table& table = read_table(in, database.get_database());
    const Field_Id field = read_changed_field(in, table);
    database.write(Rename_Field{table.id(), field, read_name(in)});
  };
  const auto custom = [&database, read_name](Line_Reader& in, std::ostream&) {
    // The name may be empty: Command_Writer prints no word for it.
    database.write(Custom{in.has_more() ? read_name(in) : std::string_view()});
  };
  Command_Group group{
      "Data definition",
      {{"create_table", "create_table <table_name>", create_table},
       {"drop_table", "drop_table <table_name>", drop_table},
       {"rename_table", "rename_table <old_table_name> <new_table_name>", rename_table},
       {"add_field", "add_field <table_name> <field_name> <type> [= <value>]",
        [&database](Line_Reader& in, std::ostream&) { add_field(in, database); }},
       {"set_type", "set_type <table_name> <field_name> <type>",
        [&database](Line_Reader& in, std::ostream&) { set_type(in, database); }},
       {"retype_field", "retype_field <table_name> <field_name> <type>",
        [&database](Line_Reader& in, std::ostream&) { retype_field(in, database); }},
       {"drop_field", "drop_field <table_name> <field_name>", drop_field},
       {"rename_field", "rename_field <table_name> <old_field_name> <new_field_name>",
        rename_field},
       {"custom", "custom <custom_name>", custom}},
      type_notes};
  add_index_commands(group, database);
  loop.add_group(std::move(group));
}

}  // namespace joedb::inline v1
