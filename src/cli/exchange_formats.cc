#include "cli/exchange_formats.h"

#include "cli/command.h"
#include "cli/parser.h"

namespace joedb {

static constexpr Command import_formats[] = {
    {"csv", nullptr, "read the rows of a CSV file into a table", import_csv},
    {"jsonl", nullptr, "read JSON lines, an object in each, into a table", import_jsonl},
    {"sqlite", nullptr, "read the tables of a file of SQLite", import_sqlite},
};

static constexpr Command export_formats[] = {
    {"csv", nullptr, "print a table as CSV", export_csv},
    {"jsonl", nullptr, "print a table as JSON lines", export_jsonl},
    {"sqlite", nullptr, "write a database as a file of SQLite", export_sqlite},
    {"parquet", nullptr, "write a table as a file of Apache Parquet", export_parquet},
    {"arrow", nullptr, "write a table as a file of Apache Arrow", export_arrow},
    {"feather", nullptr, "write a table as a Feather file", export_feather},
};

std::span<const Command> import_commands() { return import_formats; }
std::span<const Command> export_commands() { return export_formats; }

int run_import(std::vector<std::string> arguments) {
  return run_subcommand({"joedb import", "Imports rows of other formats into a database.", ""},
                        import_formats, std::move(arguments));
}

int run_export(std::vector<std::string> arguments) {
  return run_subcommand({"joedb export", "Writes tables of a database in other formats.", ""},
                        export_formats, std::move(arguments));
}

char separator_of(const std::string& word) {
  if (word == "tab" || word == "\\t") return '\t';
  if (word.size() != 1 || word == "\"" || word == "\n" || word == "\r")
    throw Usage_Error("--separator " + word + ": expected one character, or tab");
  return word[0];
}

}  // namespace joedb
