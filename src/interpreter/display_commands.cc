#include "interpreter/commands.h"
#include "interpreter/dump.h"
#include "interpreter/entry_text.h"
#include "interpreter/json.h"
#include "interpreter/sql.h"
#include "io/new_file.h"
#include "joedb/interpreter/table_text.h"

namespace joedb::inline v1 {

const Table& read_table(Line_Reader& in, const Database& database) {
  const std::string_view name = in.read_word("table name");
  const Table* const table = database.find_table(name);
  if (table == nullptr) throw in.error("No such table: " + std::string(name));
  return *table;
}

Field_Id read_field(Line_Reader& in, const Table& table) {
  const std::string_view name = in.read_word("field name");
  const Field_Id field = table.find_field(name);
  if (!field.is_null()) return field;
  throw in.error(in.is_classic() ? "bad field"
                                 : "table " + table.name() + " has no field " + std::string(name));
}

static Table_View read_view(Line_Reader& in) {
  constexpr Line_Reader::Range not_negative{.min = 0};
  Table_View view;
  const auto default_width = static_cast<std::int64_t>(view.max_column_width);
  const std::int64_t width = in.read_integer_or(default_width, "width", not_negative);
  if (!in.has_failed() && width >= 0) view.max_column_width = static_cast<std::size_t>(width);
  view.start = in.read_integer_or(0, "start");
  view.length = in.read_integer_or(0, "length", not_negative);
  in.require_end();
  return view;
}

// Values for the first fields of an index.
static std::vector<Key_Part> read_key(Line_Reader& in, const Table& table,
                                      const std::vector<Field_Id>& fields) {
  std::vector<Key_Part> key;
  for (const Field_Id field : fields) {
    if (!in.has_more()) break;
    const Type_Code type = table.find_field(field)->column->type().code;
    visit_type(type, [&]<class T>(std::type_identity<T>) {
      const T value = read_field_value<T>(in);
      // Classic: an unquoted text at the end of the line is read all the same.
      bool is_there = !in.has_failed();
      if constexpr (std::is_same_v<T, std::string_view>) is_there = is_there || !value.empty();
      if (is_there) key.push_back(key_part(value));
    });
  }
  in.require_end();
  return key;
}

static void find_records(Line_Reader& in, std::ostream& out, const Database& database) {
  const std::string name(in.read_word("index name"));
  const Index* const index = database.find_index(name);
  if (index == nullptr) throw in.error("No such index: " + name);
  const Table& table = database.table(index->definition().table);
  const auto key = read_key(in, table, index->definition().fields);
  std::vector<index_t> records;
  const Index::Cursor end = index->upper_bound(key);
  for (Index::Cursor i = index->lower_bound(key); i != end; i.next())
    records.push_back(i.record().value());
  write_records(out, table, std::move(records));
}

// The record of the command; null: of none in particular.
static Record_Id read_shown_record(Line_Reader& in) {
  const std::int64_t id = in.read_integer_or(-1, "record id");
  in.require_end();
  return in.has_failed() ? Record_Id() : Record_Id(id);
}

static void add_find_command(Command_Loop& loop, const Database& database) {
  if (database.indexes().empty()) return;
  loop.add_group(
      {"Indexes",
       {{"find", "find <index_name> [<value>...] (values of the first fields of the index)",
         [&database](Line_Reader& in, std::ostream& out) { find_records(in, out, database); }}}});
}

void add_display_commands(Command_Loop& loop, const Database& database) {
  const auto table = [&database](Line_Reader& in, std::ostream& out) {
    const Table& t = read_table(in, database);
    write_table(out, t, read_view(in));
  };
  const auto record = [&database](Line_Reader& in, std::ostream& out) {
    const Table& t = read_table(in, database);
    write_record(out, t, read_shown_record(in));
  };
  const auto schema = without_arguments(
      [&database](std::ostream& out) { dump_schema(database, Command_Writer(out)); });
  const auto dump = without_arguments([&database](std::ostream& out) {
    Command_Writer writer(out);
    dump_schema(database, writer);
    dump_data(database, writer);
  });
  const auto sql = [&database](Line_Reader& in, std::ostream& out) {
    in.require_end();
    if (!in.is_classic()) return write_sql(database, out);
    Sql_Writer writer(out);
    dump_schema(database, writer);
    dump_data(database, writer);
  };
  const auto json = [&database](Line_Reader& in, std::ostream& out) {
    const std::int64_t is_base64 = in.read_integer_or(0, "0 or 1", {.min = 0, .max = 1});
    in.require_end();
    write_json(database, out, is_base64 != 0);
  };
  loop.add_group({"Displaying data",
                  {{"table", "table <table_name> [<max_column_width> [<start> [<length>]]]", table},
                   {"record", "record <table_name> [<record_id>]", record},
                   {"schema", "schema", schema},
                   {"dump", "dump", dump},
                   {"sql", "sql", sql},
                   {"json", "json [<base64>]", json}}});
  add_find_command(loop, database);

  // The first argument of most commands is a table, the others may be its fields.
  loop.set_completions([&database](const std::vector<std::string_view>& words) {
    std::vector<std::string> names;
    if (words.size() > 1) {
      if (const Table* const t = database.find_table(words[1]))
        for_each_live_field(*t, [&](Field_Id, const Field& f) { names.push_back(f.name); });
    }
    for (const Table* t : live_tables(database)) names.push_back(t->name());
    for (const Index* index : database.indexes()) names.push_back(index->definition().name);
    return names;
  });
}

void add_blob_commands(Command_Loop& loop, std::function<std::string(Blob)> read) {
  const auto read_blob = [read = std::move(read)](Line_Reader& in, std::ostream& out) {
    const Blob blob = in.read_value<Blob>();
    const std::string name(in.has_more() ? in.read_word("file name") : "");
    in.require_end();
    if (blob == Blob()) return;
    const std::string bytes = read(blob);
    if (name.empty()) {
      std::string text;
      append_quoted(text, bytes);
      out << text << '\n';
    } else {
      New_File file(name, New_File::Existing::refuse);
      file.pwrite(bytes.data(), bytes.size(), 0);
      file.publish();
    }
  };
  loop.add_group(
      {"Blob Reader", {{"read_blob", "read_blob <blob> [<output_file_name>]", read_blob}}});
}

}  // namespace joedb::inline v1
