#ifndef JOEDB_CLI_COMMAND_H
#define JOEDB_CLI_COMMAND_H

#include <string>
#include <vector>

namespace joedb {

// One of the things that the program joedb can do. The table of all of them is in main.cc.
struct Command {
  const char* name;   // joedb NAME …
  const char* alias;  // the name under which it is also installed
  const char* help;   // one line
  // Gets what follows the name; returns the exit code. What it throws is printed: the exit code is
  // then 2 for a Usage_Error, else 1.
  int (*run)(std::vector<std::string> arguments);
};

int run_browser(std::vector<std::string> arguments);
int run_interpreter(std::vector<std::string> arguments);
int run_client(std::vector<std::string> arguments);
int run_compiler(std::vector<std::string> arguments);
int run_logdump(std::vector<std::string> arguments);
int run_sha256sum(std::vector<std::string> arguments);
int run_stats(std::vector<std::string> arguments);
int run_to_json(std::vector<std::string> arguments);
int run_pack(std::vector<std::string> arguments);
int run_convert(std::vector<std::string> arguments);
int run_import(std::vector<std::string> arguments);
int run_export(std::vector<std::string> arguments);
int run_merge(std::vector<std::string> arguments);
int run_push(std::vector<std::string> arguments);
int run_verify(std::vector<std::string> arguments);
int run_recover(std::vector<std::string> arguments);
int run_multi_server(std::vector<std::string> arguments);
int run_server(std::vector<std::string> arguments);
int run_wal(std::vector<std::string> arguments);
int run_crash_lab_command(std::vector<std::string> arguments);

}  // namespace joedb

#endif
