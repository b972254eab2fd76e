#include "cli/exchange_formats.h"

#include <iostream>

#include "cli/command.h"
#include "cli/output.h"

namespace joedb {

static constexpr Exchange_Format import_formats[] = {
    {"csv", "[options] IN FILE", "Imports the rows of a CSV file into a table.", import_csv},
    {"jsonl", "[options] IN FILE", "Imports JSON lines, an object in each, into a table.",
     import_jsonl},
    {"sqlite", "[options] IN FILE", "Imports the tables of a file of SQLite.", import_sqlite},
};

static constexpr Exchange_Format export_formats[] = {
    {"csv", "[options] FILE TABLE", "Prints a table as CSV.", export_csv},
    {"jsonl", "[options] FILE TABLE", "Prints a table as JSON lines.", export_jsonl},
    {"sqlite", "[options] FILE OUT", "Writes a database as a file of SQLite.", export_sqlite},
};

char separator_of(const std::string& word) {
  if (word == "tab" || word == "\\t") return '\t';
  if (word.size() != 1 || word == "\"" || word == "\n" || word == "\r")
    throw Usage_Error("--separator " + word + ": expected one character, or tab");
  return word[0];
}

static void print_help(const std::string& command, const char* summary,
                       std::span<const Exchange_Format> formats) {
  std::cout << summary << "\n\nusage: joedb " << command << " FORMAT [options] ...\n\nFormats:\n";
  for (const Exchange_Format& format : formats)
    std::cout << "  " << format.name << ' ' << format.arguments << "\n      " << format.help
              << '\n';
  std::cout << "\nMore is shown by joedb " << command << " FORMAT --help.\n";
  finish_standard_output();
}

int run_format(const char* command, const char* summary, std::span<const Exchange_Format> formats,
               std::vector<std::string> arguments) {
  const std::string usage = std::string("usage: joedb ") + command +
                            " FORMAT [options] ...\nMore is shown by joedb " + command + " --help.";
  if (arguments.empty()) throw Usage_Error(usage);
  const std::string name = arguments.front();
  if (name == "--help" || name == "-h" || name == "help") {
    print_help(command, summary, formats);
    return 0;
  }
  arguments.erase(arguments.begin());
  std::vector<std::string> names;
  for (const Exchange_Format& format : formats) {
    if (name == format.name) return format.run(std::move(arguments));
    names.emplace_back(format.name);
  }
  const std::string meant = suggestion(name, names);
  throw Usage_Error("unknown format: " + name +
                    (meant.empty() ? "" : ". Did you mean " + meant + "?") + '\n' + usage);
}

int run_import(std::vector<std::string> arguments) {
  return run_format("import", "Imports rows of other formats into a database.", import_formats,
                    std::move(arguments));
}

int run_export(std::vector<std::string> arguments) {
  return run_format("export", "Writes tables of a database in other formats.", export_formats,
                    std::move(arguments));
}

}  // namespace joedb
