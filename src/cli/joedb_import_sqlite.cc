#include <filesystem>
#include <iostream>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/database_options.h"
#include "cli/output.h"
#include "exchange/sqlite_import.h"

namespace joedb {

namespace {

const char* const details =
    R"(All tables of the file IN become tables of the database FILE, which is made if it does not exist:
columns become fields, and foreign keys become references. A column "__id" INTEGER PRIMARY KEY,
which joedb export sqlite writes, is the record id. Tables and fields that FILE has already stay
as they are, and get the rows.

The type of a field is what the column is declared as, or, if it has values that do not fit, a
larger one. NULL becomes 0, false, an empty string, or nan. What is not imported, or changes its
name, is printed. Everything is one transaction: if anything fails, FILE stays as it was.

)";

const char* const examples =
    "  joedb import sqlite shop.sqlite shop.joedb\n"
    "  joedb import sqlite --update --delete-missing shop.sqlite shop.joedb\n"
    "  joedb import sqlite --table customer,invoice shop.sqlite shop.joedb\n"
    "  joedb import sqlite --write-options shop.joedbc shop.sqlite shop.joedb\n";

struct Arguments {
  std::string in;
  std::string out;
  std::string tables;
  std::string key;
  std::string options_file;
  std::string new_options_file;
  bool force = false;
  Sqlite_Import_Options import;
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

void print(const std::vector<Sqlite_Table_Counts>& tables) {
  for (const auto& [table, counts] : tables) {
    std::cout << table << ": " << counts.inserted << " inserted";
    if (counts.updated > 0) std::cout << ", " << counts.updated << " updated";
    if (counts.unchanged > 0) std::cout << ", " << counts.unchanged << " unchanged";
    if (counts.deleted > 0) std::cout << ", " << counts.deleted << " deleted";
    std::cout << '\n';
  }
}

void write_options_file(const Arguments& arguments, const std::string& text) {
  if (arguments.new_options_file.empty()) return;
  const auto existing = arguments.force ? New_File::Existing::replace : New_File::Existing::refuse;
  fill_new_file(arguments.new_options_file, existing,
                [&](File& file) { file.pwrite(text.data(), text.size(), 0); });
}

void import_into(Abstract_File& file, const Arguments& arguments, const Sqlite& in,
                 const Sqlite_Plan& plan) {
  Writable_Database database(file, {}, Deleted_Values::keep,
                             read_indexes(arguments.options_file, file));
  try {
    std::vector<Sqlite_Table_Counts> counts;
    {
      Progress progress("importing " + arguments.in, 0, plan.content_size);
      counts = Sqlite_Import(in, plan, arguments.import).run(database, [&](std::int64_t bytes) {
        progress.update(bytes);
      });
    }
    write_options_file(arguments, sqlite_indexes(plan, database.get_database(), arguments.in));
    database.hard_checkpoint();
    for (const std::string& note : plan.notes) std::cout << note << '\n';
    print(counts);
    finish_standard_output();
  } catch (...) {
    Destructor_Logger::remove_logger();
    database.rollback();
    throw;
  }
}

Sqlite_Plan make_plan(const Arguments& arguments, const Sqlite& in) {
  Progress progress("reading " + arguments.in, 0,
                    static_cast<Offset>(std::filesystem::file_size(arguments.in)));
  return {in, split(arguments.tables), [&](std::int64_t bytes) { progress.update(bytes); }};
}

}  // namespace

int run_import_sqlite(std::vector<std::string> words_of_line) {
  Options options({"joedb import sqlite [options] IN FILE",
                   "Imports the tables of a file of SQLite.", details, examples});
  Arguments arguments;
  options.add("--table", arguments.tables, "only these tables: NAME[,NAME…]");
  options.add_flag("--update", arguments.import.updates,
                   "rows change the records that have their primary keys, or record ids; the "
                   "others are inserted");
  options.add("--key", arguments.key, "COLUMN[,COLUMN…]: the same, by these columns of each table");
  options.add_flag("--delete-missing", arguments.import.deletes_missing,
                   "with --update or --key: delete the records that no row has changed or found");
  options.add_flag("--null-dangling", arguments.import.ignores_dangling,
                   "a reference to a row that is not there becomes null, and is no error");
  options.add("--options", arguments.options_file,
              "a .joedbc file: nothing is written that violates its unique indexes");
  options.add("--write-options", arguments.new_options_file,
              "write the indexes of IN to this .joedbc file");
  options.add_flag("--force", arguments.force, "replace that file if it exists");
  auto words = options.parse(std::move(words_of_line));
  if (!words) return 0;
  arguments.in = words->take_name();
  arguments.out = words->take_last_name();
  arguments.import.key = split(arguments.key);
  if (!arguments.import.key.empty()) arguments.import.updates = true;
  if (arguments.import.deletes_missing && !arguments.import.updates)
    words->fail("--delete-missing needs --update or --key");
  if (!arguments.new_options_file.empty())
    require_absent(arguments.new_options_file, arguments.force);

  const Sqlite in(arguments.in, arguments.in, Sqlite::Use::read);
  const Sqlite_Plan plan = make_plan(arguments, in);
  name_file_in_errors(arguments.in, [&] {
    if (std::filesystem::exists(arguments.out)) {
      File file(arguments.out, Open_Mode::write_existing);
      import_into(file, arguments, in, plan);
    } else {
      fill_new_file(arguments.out, [&](File& file) { import_into(file, arguments, in, plan); });
    }
  });
  return 0;
}

}  // namespace joedb
