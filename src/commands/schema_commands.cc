#include <utility>

#include "commands/commands.h"
#include "kernel/base/lower_case.h"
#include "kernel/base/suggestion.h"

namespace joedb::inline v1 {

namespace {

// Returns joedb's name for a type of another language or database; empty if `name` is not such a
// type.
std::string_view meant_type(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> types[] = {
      {"text", "string"},    {"str", "string"},      {"varchar", "string"},
      {"char", "string"},    {"int", "int32"},       {"integer", "int64"},
      {"long", "int64"},     {"bigint", "int64"},    {"smallint", "int16"},
      {"tinyint", "int8"},   {"byte", "int8"},       {"double", "float64"},
      {"real", "float64"},   {"float", "float32"},   {"bool", "boolean"},
      {"bytes", "blob"},     {"date", "int64"},      {"time", "int64"},
      {"datetime", "int64"}, {"timestamp", "int64"}, {"reference", "references"}};
  for (const auto& [foreign, own] : types)
    if (foreign == name) return own;
  return "";
}

Line_Error unknown_type(const Line_Reader& in, const std::string& word) {
  if (in.is_classic()) return in.error("unknown type");
  std::vector<std::string> names;
  for (int code = 1; code <= type_count; ++code)
    names.emplace_back(type_name(static_cast<Type_Code>(code)));
  const std::string lower = lower_case(word);
  const std::string_view meant = meant_type(lower);
  std::string hint =
      meant.empty() ? did_you_mean(lower, names) : ". Did you mean " + std::string(meant) + "?";
  if (hint.empty())
    hint =
        "; string, boolean, int8, int16, int32, int64, float32, float64, blob or references "
        "TABLE expected";
  return in.error("unknown type: " + word + hint);
}

Type read_type(Line_Reader& in, const Database& database) {
  const std::string word(in.read_word("type"));
  Type type{type_named(word), {}};
  if (type.code == Type_Code::none) throw unknown_type(in, word);
  if (type.code != Type_Code::reference) return type;
  const std::string_view name = in.read_word("table name");
  const Table* const referenced = database.find_table(name);
  if (referenced == nullptr && in.is_classic()) throw in.error("unknown type");
  if (referenced == nullptr) throw no_such_table(in, database, name);
  type.referenced = referenced->id();
  return type;
}

// Reads the value before it writes anything, so that no field is added if the value is invalid.
template <Field_Value T>
void add_field_with_value(Line_Reader& in, Writable_Database& database, const Add_Field& entry) {
  const T value = read_field_value<T>(in);
  in.require_end();
  database.write(entry);
  const Table& table = *database.get_database().find_table(entry.table);
  const Field_Id field = table.find_field(entry.name);
  for (index_t id = 0; id < table.records().size(); ++id)
    if (table.records().is_used(id))
      database.write(Update<T>{entry.table, Record_Id(id), field, value});
}

void add_field(Line_Reader& in, Writable_Database& database) {
  const Table_Id table = read_table(in, database.get_database()).id();
  const std::string_view name = in.read_word("field name");
  const Add_Field entry{table, name, read_type(in, database.get_database())};
  if (!in.has_more()) return database.write(entry);
  if (in.read_word("=") != "=") {
    if (!in.is_classic()) throw in.unexpected("= or end of line");
    return database.write(entry);
  }
  visit_type(entry.type.code,
             [&]<class T>(std::type_identity<T>) { add_field_with_value<T>(in, database, entry); });
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
    "  references <table_name>\n";

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
  loop.add_group({"Data definition",
                  {{"create_table", "create_table <table_name>", create_table},
                   {"drop_table", "drop_table <table_name>", drop_table},
                   {"rename_table", "rename_table <old_table_name> <new_table_name>", rename_table},
                   {"add_field", "add_field <table_name> <field_name> <type> [= <value>]",
                    [&database](Line_Reader& in, std::ostream&) { add_field(in, database); }},
                   {"drop_field", "drop_field <table_name> <field_name>", drop_field},
                   {"rename_field", "rename_field <table_name> <old_field_name> <new_field_name>",
                    rename_field},
                   {"custom", "custom <custom_name>", custom}},
                  type_notes});
}

}  // namespace joedb::inline v1
