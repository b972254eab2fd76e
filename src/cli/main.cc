#include <cstdio>
#include <exception>
#include <iterator>
#include <string_view>

#include "cli/arguments.h"
#include "cli/command.h"
#include "joedb/base/version.h"

namespace joedb {

static constexpr Command commands[] = {
    {"interpreter", "joedbi", "run commands on a database", run_interpreter},
    {"client", "joedb_client", "share a database with other writers", run_client},
    {"compile", "joedbc", "compile a schema to C++", run_compiler},
    {"logdump", "joedb_logdump", "print the history of a database", run_logdump},
    {"to_json", "joedb_to_json", "print the content of a database as JSON", run_to_json},
    {"pack", "joedb_pack", "write a database without its history", run_pack},
    {"convert", "joedb_convert", "write the history of a database again", run_convert},
    {"push", "joedb_push", "copy the history of a database to another place", run_push},
    {"verify", "joedb_verify", "find damage in a database", run_verify},
    {"merge", "joedb_merge", "put the tables of several databases together", run_merge},
    {"wal", "joedb_wal", "print, check, repair and follow write-ahead logs", run_wal},
    {"crash-lab", "joedb_crash_lab", "search for crashes that lose data", run_crash_lab_command},
};

static void print_help() {
  std::printf(
      "joedb: the journal-only embedded database\n\n"
      "usage: joedb COMMAND [argument...]\n\n"
      "Commands:\n");
  for (const Command& command : commands)
    std::printf("  %-14s%s (also: %s)\n", command.name, command.help, command.alias);
  std::printf("\nMore is shown by joedb COMMAND --help. joedb --version: which version this is.\n");
}

// By either name.
static const Command* find_command(std::string_view name) {
  for (const Command& command : commands)
    if (name == command.name || name == command.alias) return &command;
  return nullptr;
}

static std::string_view last_part(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

static int run(std::string_view program, std::vector<std::string> arguments) {
  const Command* command = find_command(program);
  if (command == nullptr) {
    if (arguments.empty())
      throw Usage_Error("usage: joedb COMMAND [argument...]; see joedb --help");
    const std::string name = arguments.front();
    if (name == "--help" || name == "-h" || name == "help") return print_help(), 0;
    if (name != "--version") {
      command = find_command(name);
      if (command == nullptr) throw Usage_Error("unknown command: " + name + "; see joedb --help");
      arguments.erase(arguments.begin());
    }
  }
  if (!arguments.empty() && arguments.front() == "--version") {
    std::printf("joedb %s\n", version);
    return 0;
  }
  return command->run(std::move(arguments));
}

}  // namespace joedb

int main(int argc, char** argv) {
  try {
    std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    return joedb::run(argc > 0 ? joedb::last_part(argv[0]) : "joedb", std::move(arguments));
  } catch (const joedb::Usage_Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
  } catch (const std::exception& error) {
    std::fflush(stdout);
    std::fprintf(stderr, "Exception caught: %s\n", error.what());
  }
  return 1;
}
