#include <optional>

#include "commands/commands.h"
#include "kernel/base/suggestion.h"
#include "kernel/io/new_file.h"
#include "text/dump.h"
#include "text/entry_text.h"
#include "text/json.h"
#include "text/sql.h"
#include "text/table_printer.h"

namespace joedb::inline v1 {

Unknown_Table no_such_table(const Line_Reader& in, const Database& database,
                            std::string_view name) {
  std::vector<std::string> names;
  if (!in.is_classic()) names = table_names(database);
  return Unknown_Table(in.error("No such table: " + std::string(name) + did_you_mean(name, names)));
}

const Table& read_table(Line_Reader& in, const Database& database) {
  const std::string_view name = in.read_word("table name");
  const Table* const table = database.find_table(name);
  if (table == nullptr) throw no_such_table(in, database, name);
  return *table;
}

Field_Id read_field(Line_Reader& in, const Table& table) {
  return find_field(in, table, in.read_word("field name"));
}

Field_Id find_field(const Line_Reader& in, const Table& table, std::string_view name) {
  const Field_Id field = table.find_field(name);
  if (!field.is_null()) return field;
  if (in.is_classic()) throw in.error("bad field");
  throw in.error("table " + table.name() + " has no field " + std::string(name) +
                 did_you_mean(name, field_names(table)));
}

namespace {

// ---- table --------------------------------------------------------------------------------------

// If there are more records, prints the command that shows them.
void show_rest(std::ostream& out, const Table& table, const Table_Printer::Rest& rest,
               const Row_Style& style) {
  if (rest.count == 0) return;
  if (style.has_colours) out << colour::dim;
  out << "… " << rest.count << " more: table " << table.name() << ' ' << style.max_column_width
      << ' ' << rest.first << ' ' << style.limit << " shows the next, set limit 0 all";
  if (style.has_colours) out << colour::end;
  out << '\n';
}

void show_table(Line_Reader& in, std::ostream& out, const Database& database,
                const Display& display) {
  constexpr Line_Reader::Range not_negative{.min = 0};
  const Table& table = read_table(in, database);
  Table_View view;
  std::optional<std::size_t> requested_width;
  if (in.has_more()) {
    const auto default_width = static_cast<std::int64_t>(view.max_column_width);
    const std::int64_t width = in.read_integer_or(default_width, "width", not_negative);
    if (!in.has_failed() && width >= 0) requested_width = static_cast<std::size_t>(width);
  }
  view.start = in.read_integer_or(0, "start");
  view.length = in.read_integer_or(0, "length", not_negative);
  in.require_end();
  Row_Style style(display, database, requested_width);
  if (view.length == 0) style.limit = display.limit;
  Table_Printer printer(table, view, style);
  printer.print(out);
  show_rest(out, table, printer.rest(), style);
}

// Reads the optional record id of the command. Returns null if there is none.
Record_Id read_record_to_show(Line_Reader& in) {
  const std::int64_t id = in.read_integer_or(-1, "record id");
  in.require_end();
  return in.has_failed() ? Record_Id() : Record_Id(id);
}

// ---- the whole content --------------------------------------------------------------------------

void show_sql(Line_Reader& in, std::ostream& out, const Database& database) {
  in.require_end();
  if (!in.is_classic()) return write_sql(database, out);
  Sql_Writer writer(out, nullptr, Sql_Writer::Strings::bytes);
  dump_schema(database, writer);
  dump_data(database, writer);
}

void show_dump(std::ostream& out, const Database& database) {
  Command_Writer writer(out);
  dump_schema(database, writer);
  dump_data(database, writer);
  writer.flush();
}

void show_json(Line_Reader& in, std::ostream& out, const Database& database) {
  const std::int64_t is_base64 = in.read_integer_or(0, "0 or 1", {.min = 0, .max = 1});
  in.require_end();
  write_json(database, out, is_base64 != 0);
}

// ---- commands that joedb 10 does not have

void show_description(Line_Reader& in, std::ostream& out, const Database& database,
                      const Display& display) {
  if (!in.has_more()) return describe(out, database, display);
  const Table& table = read_table(in, database);
  in.require_end();
  describe(out, database, table, display);
}

}  // namespace

void add_display_commands(Command_Loop& loop, const Database& database) {
  const bool is_classic = loop.settings().is_classic;
  const auto table = [&loop, &database](Line_Reader& in, std::ostream& out) {
    show_table(in, out, database, loop.display());
  };
  const auto record = [&loop, &database](Line_Reader& in, std::ostream& out) {
    const Table& t = read_table(in, database);
    print_record(out, t, read_record_to_show(in), Row_Style(loop.display(), database));
  };
  const auto schema = without_arguments(
      [&database](std::ostream& out) { dump_schema(database, Command_Writer(out)); });
  const auto dump = without_arguments([&database](std::ostream& out) { show_dump(out, database); });
  const auto sql = [&database](Line_Reader& in, std::ostream& out) { show_sql(in, out, database); };
  const auto json = [&database](Line_Reader& in, std::ostream& out) {
    show_json(in, out, database);
  };
  const auto description = [&loop, &database](Line_Reader& in, std::ostream& out) {
    show_description(in, out, database, loop.display());
  };
  const auto find = [&loop, &database](Line_Reader& in, std::ostream& out) {
    find_records(in, out, database, loop.display());
  };
  Command_Group group{
      "Displaying data",
      {{"table", "table <table_name> [<max_column_width> [<start> [<length>]]]", table, true},
       {"record", "record <table_name> [<record_id>]", record, true},
       {"schema", "schema", schema, true},
       {"dump", "dump", dump, true},
       {"sql", "sql", sql, true},
       {"json", "json [<base64>]", json, true}}};
  if (!is_classic) {
    group.commands.push_back({"describe", "describe [<table_name>]", description, true});
    group.commands.push_back(
        {"find", "find <table_name> <field_name> [<operator>] <value> ...", find, true});
  }
  loop.add_group(std::move(group));
  if (!database.indexes().empty())
    loop.add_group(
        {"Indexes",
         {{"find", "find <index_name> [<value>...] (values of the first fields of the index)", find,
           true}}});
  loop.set_completions([&database](std::string_view kind,
                                   const std::vector<std::string_view>& words,
                                   std::string_view prefix) {
    return complete_from(database, kind, words, prefix);
  });
}

void add_blob_commands(Command_Loop& loop, std::function<std::string(Blob)> read) {
  const auto read_blob = [read = std::move(read)](Line_Reader& in, std::ostream& out) {
    const Blob blob = in.read_value<Blob>();
    const std::string name(in.has_more() ? in.read_word("file name") : "");
    in.require_end();
    if (blob == Blob()) return;
    const std::string bytes = read(blob);
    if (!name.empty()) return write_new_file(name, New_File::Existing::refuse, bytes);
    std::string text;
    append_quoted(text, bytes);
    out << text << '\n';
  };
  loop.add_group(
      {"Blob Reader", {{"read_blob", "read_blob <blob> [<output_file_name>]", read_blob}}});
}

}  // namespace joedb::inline v1
