#include "tools/exchange/exchange_formats.h"

#include <algorithm>

#include "kernel/table/live_fields.h"
#include "text/sql.h"
#include "tools/frame/command.h"
#include "tools/frame/parser.h"

namespace joedb {

static constexpr Command import_formats[] = {
    {"csv", nullptr, "import the rows of a CSV file into a table", import_csv},
    {"jsonl", nullptr, "import JSON lines, one object per line, into a table", import_jsonl},
    {"sqlite", nullptr, "import the tables of an SQLite file", import_sqlite},
};

static constexpr Command export_formats[] = {
    {"csv", nullptr, "print a table as CSV", export_csv},
    {"jsonl", nullptr, "print a table as JSON lines", export_jsonl},
    {"sqlite", nullptr, "write a database as an SQLite file", export_sqlite},
    {"parquet", nullptr, "write a table as an Apache Parquet file", export_parquet},
    {"arrow", nullptr, "write a table as an Apache Arrow file", export_arrow},
    {"feather", nullptr, "write a table as a Feather file", export_feather},
};

std::span<const Command> import_commands() { return import_formats; }
std::span<const Command> export_commands() { return export_formats; }

int run_import(std::vector<std::string> arguments) {
  return run_subcommand({"joedb import", "Imports rows from other formats into a database.", ""},
                        import_formats, std::move(arguments));
}

int run_export(std::vector<std::string> arguments) {
  return run_subcommand({"joedb export", "Exports tables of a database to other formats.", ""},
                        export_formats, std::move(arguments));
}

std::vector<std::string> Sql_Notes::lines(const Database& database) {
  std::vector<std::string> result;
  for (const Table* table : live_tables(database))
    if (std::string reason = hidden_in_sql(*table); !reason.empty())
      result.push_back(std::move(reason));
  for (const auto& [what, name] : sql_renames(database))
    result.push_back("in SQL, " + what + " is " + name);
  return result;
}

std::vector<std::string> Sql_Notes::news(const Database& after) const {
  std::vector<std::string> result = lines(after);
  std::erase_if(result,
                [&](const std::string& line) { return std::ranges::count(known_, line) > 0; });
  return result;
}

char separator_of(const std::string& word) {
  if (word == "tab" || word == "\\t") return '\t';
  if (word.size() != 1 || word == "\"" || word == "\n" || word == "\r")
    throw Usage_Error("--separator " + word + ": expected one character, or tab");
  return word[0];
}

}  // namespace joedb
