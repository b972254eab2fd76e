#include <array>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "kernel/base/shell_word.h"
#include "kernel/io/new_file.h"
#include "tools/exchange/sqlite_output.h"
#include "tools/frame/arguments.h"
#include "tools/frame/command.h"

namespace joedb {

namespace {

namespace fs = std::filesystem;

const char* const browser_details =
    R"(Copies the current content of FILE to a temporary, read-only SQLite file and opens that in a
program. Changes made there do not affect FILE. The temporary file is removed when the program ends.

The program is the value of --program, else of the environment variable JOEDB_BROWSER, else the
first of sqlitebrowser (which needs a graphical display) and sqlite3 that is installed. It is run as
a shell command, with the name of the temporary file appended.

)";

const char* const browser_examples =
    "  joedb_browser people.joedb\n"
    "  joedb_browser --program 'sqlite3 -readonly -box' people.joedb\n"
    "  joedb_browser --program sqlite3 people.joedb < report.sql\n"
    "  joedb_browser --at 2026-01-31 people.joedb\n";

// ---- the program --------------------------------------------------------------------------------

const char* variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_in_path(const std::string& program) {
  const std::string path = variable("PATH");
  for (std::size_t start = 0; start <= path.size();) {
    const std::size_t end = std::min(path.find(':', start), path.size());
    std::error_code ignored;
    if (fs::is_regular_file(fs::path(path.substr(start, end - start)) / program, ignored))
      return true;
    start = end + 1;
  }
  return false;
}

std::string find_program() {
  struct Known {
    const char* name;
    const char* command;
    bool needs_display;
  };
  constexpr std::array known{Known{"sqlitebrowser", "sqlitebrowser --read-only", true},
                             Known{"sqlite3", "sqlite3 -readonly", false}};
  const bool has_display = *variable("DISPLAY") != 0 || *variable("WAYLAND_DISPLAY") != 0;
  for (const Known& program : known)
    if ((has_display || !program.needs_display) && is_in_path(program.name)) return program.command;
  throw Exception(std::string("there is no SQL browser: install sqlite3") +
                  (has_display ? " or sqlitebrowser" : "") + ", or name another with --program");
}

// While the program runs, std::system ignores SIGINT and SIGQUIT in this process. The program
// handles them.
void run_viewer(const std::string& program, const std::string& path) {
  std::cout.flush();
  const int status = std::system((program + ' ' + shell_word(path)).c_str());
  if (status == 0) return;
  constexpr int not_found = 127;
  constexpr int exit_shift = 8;
  if (status >> exit_shift == not_found)
    throw Exception("cannot start " + program + ": name another program with --program");
  throw Exception(program + " has failed");
}

}  // namespace

int run_browser(std::vector<std::string> arguments) {
  Options options({"joedb_browser [options] FILE",
                   "Opens a copy of the content of a database in an SQL browser, for reading.",
                   browser_details, browser_examples});
  std::string program;
  Sqlite_Source source;
  options.add("--program", program, "program that opens the temporary file",
              Value_Kind{"COMMAND", ""});
  options.add("--options", source.options_file, "a .joedbc file; its indexes make queries faster",
              kinds::options_file);
  add_reading_options(options, source.reading);
  add_source_options(options, source.source);
  auto words = options.parse(std::move(arguments));
  if (!words) return 0;

  source.name = words->take_last_name();
  if (program.empty()) program = variable("JOEDB_BROWSER");
  if (program.empty()) program = find_program();

  const std::string folder = make_temporary_folder();
  const std::string shown = shown_name(source.name);
  const std::string name = fs::path(shown).stem().string().substr(0, 100) + ".sqlite";
  const Temporary_Path copy((fs::path(folder) / name).string(), folder);
  write_sqlite(source, copy.path(), name);
  fs::permissions(copy.path(), fs::perms::owner_read);
  std::cerr << "this is a copy of " << shown << ": changes are not written back\n";
  run_viewer(program, copy.path());
  return 0;
}

}  // namespace joedb
