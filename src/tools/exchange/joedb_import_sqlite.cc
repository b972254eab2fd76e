#include <iostream>

#include "exchange/sqlite_import.h"
#include "exchange/sqlite_rows.h"
#include "kernel/base/counted.h"
#include "kernel/base/json_text.h"
#include "kernel/io/new_file.h"
#include "tools/exchange/exchange_formats.h"
#include "tools/frame/database_options.h"
#include "tools/frame/file_transaction.h"
#include "tools/frame/json_output.h"
#include "tools/frame/lock_notice.h"
#include "tools/frame/memory_limit.h"
#include "tools/frame/output.h"
#include "tools/frame/progress.h"
#include "tools/frame/stop_signal.h"

namespace joedb {

namespace {

const char* const import_sqlite_details =
    R"(Tables of IN become tables of FILE: columns become fields, and single-column foreign keys become
references. A column "__id" INTEGER PRIMARY KEY, which joedb export sqlite writes, is the record id.
Existing tables and fields of FILE are not changed; the rows are added to them.

A field gets the type of the column, or a larger one if some values do not fit: DATE, DATETIME,
TIMESTAMP and DECIMAL(10,2) become date, timestamp and decimal(2) if all values are exact. A column
with NULLs gets an optional field, or a float. Everything that is not imported, or is renamed, is
reported. The import is one transaction: after any error, nothing is imported.

)";

const char* const import_sqlite_examples =
    "  joedb import sqlite --preview shop.joedb shop.sqlite\n"
    "  joedb import sqlite --new --write-options shop.joedbc shop.joedb shop.sqlite\n"
    "  joedb import sqlite --update --delete-missing shop.joedb shop.sqlite\n"
    "  joedb import sqlite --table customer,invoice shop.joedb shop.sqlite\n";

struct Arguments {
  std::string in;
  std::vector<std::string> tables;
  std::string new_options_file;
  bool is_replacing = false;
  bool has_preview = false;
  bool is_json = false;
  bool is_immutable = false;
  bool has_no_ids = false;
  Memory_Limit memory;
  Sqlite_Import_Options import;
  Transaction_Options transaction;
};

void add_options(Options& options, Arguments& all) {
  options.add("--table", all.tables, "import only these tables", "NAME,...");
  options.add_flag("--update", all.import.updates,
                   "rows update the records with the same primary key, and insert the others; "
                   "tables with record ids do not need this option");
  options.add("--key", all.import.key, "same as --update, but match by these columns of each table",
              "COLUMN,...");
  options.add_flag("--delete-missing", all.import.deletes_missing,
                   "delete the records that match no row");
  options.add_flag("--no-ids", all.has_no_ids,
                   "import a column __id as a field, not as the record id");
  options.add_flag("--null-dangling", all.import.ignores_dangling,
                   "make a reference to a missing row null instead of an error");
  options.add_flag("--immutable", all.is_immutable,
                   "read IN alone, without the journal or write-ahead log beside it: of a "
                   "transaction that has not ended well, IN may have a part");
  options.add_flag("--preview", all.has_preview,
                   "show how the tables would be imported, but write nothing");
  options.add("--write-options", all.new_options_file,
              "write the indexes of the tables to this new .joedbc file", kinds::options_file);
  options.add_flag("--force", all.is_replacing, "replace that file if it exists");
  all.memory.add_to(options);
  options.add_flag("--json", all.is_json, "print the counts as JSON objects");
  add_transaction_options(options, all.transaction);
  add_busy_option(options);
  add_file_modes(options, transaction_grammar);
}

// Shows progress. Throws Interrupted after a signal.
class Sqlite_Watch {
 public:
  Sqlite_Watch(const std::string& what, std::int64_t size) : progress_(what, 0, size) {}
  void operator()(std::int64_t bytes) {
    stop_.require_none("nothing was imported");
    progress_.update(bytes);
  }

 private:
  Stop_Signal stop_;
  Progress progress_;
};

Sqlite_Plan make_plan(const Arguments& arguments, const Sqlite& in) {
  Sqlite_Watch watch("reading " + arguments.in, Sqlite_Budget(in).file_size());
  return {in, arguments.tables, [&](std::int64_t bytes) { watch(bytes); }, !arguments.has_no_ids};
}

void print_notes(const std::vector<std::string>& notes, bool is_json) {
  for (const std::string& note : notes)
    std::cout << (is_json ? '{' + json_members({{"note", note}}) + '}' : note) << '\n';
}

void print_tables(const Sqlite_Plan& plan, bool is_json) {
  for (const Table_Plan& table : plan.tables) {
    if (!table.is_imported) continue;
    Json json{{"table", table.table}, {"written", false}, {"rows", table.rows}};
    json["fields"] = Json::array();
    std::string text = "table " + table.table + ": " + counted(table.rows, "row") + '\n';
    for (const Column_Plan& column : table.columns) {
      const std::string type = declared_type_text(column.type, column.logical_type(),
                                                  plan.tables[column.referenced].table);
      text += "  " + column.field + ' ' + type + '\n';
      json["fields"].push_back({{"name", column.field}, {"type", type}});
    }
    if (is_json)
      print_json(json);
    else
      std::cout << text;
  }
  if (!is_json) std::cout << "nothing was written\n";
}

// Returns notes like "dangling becomes null: invoice.customer, in 1 row".
std::vector<std::string> dangling_notes(const std::vector<Sqlite_Table_Counts>& tables) {
  std::vector<std::string> notes;
  for (const auto& [table, counts] : tables)
    for (const auto& [field, rows] : counts.dangling) {
      std::string note = "dangling becomes null: " + table;
      note.append(".").append(field).append(", in ").append(counted(rows, "row"));
      notes.push_back(std::move(note));
    }
  return notes;
}

// Takes the types that fields have in the database.
void take_types(Sqlite_Plan& plan, const Database& database) {
  for (Table_Plan& table : plan.tables) {
    const Table* const found = database.find_table(table.table);
    if (!table.is_imported || found == nullptr) continue;
    for (Column_Plan& column : table.columns) {
      const Field* const field = found->find_field(found->find_field(column.field));
      if (field == nullptr || field->column->type().code == Type_Code::reference) continue;
      column.type = field->column->type().code;
      column.logical = field->column->logical();
    }
  }
}

// Imports into a copy of the database, which finds what the import would refuse.
void preview(const File_Argument& file, const Arguments& arguments, const Sqlite& in,
             const Sqlite_Plan& plan) {
  std::vector<Sqlite_Table_Counts> counts;
  Sqlite_Import import(in, plan, arguments.import);
  Sqlite_Plan shown = plan;
  change_copy(file, arguments.transaction, [&](Writable_Database& database) {
    Sqlite_Watch watch("checking " + arguments.in, plan.content_size);
    counts = import.run(database, std::ref(watch));
    take_types(shown, database.get_database());
  });
  print_notes(plan.notes, arguments.is_json);
  print_notes(import.notes(), arguments.is_json);
  print_notes(dangling_notes(counts), arguments.is_json);
  print_tables(shown, arguments.is_json);
}

void write_options_file(const Arguments& arguments, const std::string& text) {
  const auto existing =
      arguments.is_replacing ? New_File::Existing::replace : New_File::Existing::refuse;
  write_new_file(arguments.new_options_file, existing, text);
}

void import_into(const File_Argument& file, const Arguments& arguments, const Sqlite& in,
                 const Sqlite_Plan& plan) {
  std::vector<Sqlite_Table_Counts> counts;
  Sqlite_Import import(in, plan, arguments.import);
  std::vector<std::string> sql_notes, index_notes;
  change_file(file, arguments.transaction, [&](Writable_Database& database) {
    const Sql_Notes sql(database.get_database());
    Sqlite_Watch watch("importing " + arguments.in, plan.content_size);
    counts = import.run(database, std::ref(watch));
    in.require_unchanged();
    index_notes = declare_sqlite_indexes(plan, database);
    sql_notes = sql.news(database.get_database());
    if (!arguments.new_options_file.empty())
      write_options_file(arguments, sqlite_indexes(plan, database.get_database(), arguments.in));
  });
  print_notes(plan.notes, arguments.is_json);
  print_notes(import.notes(), arguments.is_json);
  print_notes(dangling_notes(counts), arguments.is_json);
  print_notes(index_notes, arguments.is_json);
  print_notes(sql_notes, arguments.is_json);
  for (const auto& [table, count] : counts) print_counts(table, count, arguments.is_json);
}

}  // namespace

int import_sqlite(std::vector<std::string> words_of_line) {
  const std::string usage = "joedb import sqlite [options] FILE IN";
  Options options({usage, "Imports the tables of an SQLite file.",
                   import_sqlite_details + file_help(transaction_grammar), import_sqlite_examples});
  Arguments arguments;
  add_options(options, arguments);
  options.set_words({kinds::database, kinds::file});
  auto words = options.parse(std::move(words_of_line));
  if (!words) return 0;
  const auto [in_name, file] = take_import_words(*words, usage);
  arguments.in = in_name;
  arguments.import.memory = arguments.memory.bytes();
  arguments.import.updates |= !arguments.import.key.empty();
  if (!arguments.new_options_file.empty()) {
    require_absent(arguments.new_options_file, arguments.is_replacing);
    require_other_file(arguments.new_options_file, arguments.in);
    require_other_file(arguments.new_options_file, file.name);
  }

  const Sqlite in(arguments.in, arguments.in,
                  arguments.is_immutable ? Sqlite::Use::read_alone : Sqlite::Use::read);
  const Sqlite_Plan plan = make_plan(arguments, in);
  if (arguments.has_preview)
    preview(file, arguments, in, plan);
  else
    import_into(file, arguments, in, plan);
  finish_standard_output();
  return 0;
}

}  // namespace joedb
