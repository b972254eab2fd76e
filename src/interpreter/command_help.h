#ifndef JOEDB_INTERPRETER_COMMAND_HELP_H
#define JOEDB_INTERPRETER_COMMAND_HELP_H

#include <ostream>
#include <span>
#include <string_view>
#include <vector>

namespace joedb::inline v1 {

// What `help COMMAND` says, and what the tabulator key offers. The pages of the tools in
// docs/reference say the same: tests/docs/help.py compares them.
struct Command_Help {
  std::string_view name;
  // What its arguments are, in this order, for completion: table, field, record, new_record, row (a
  // value for each field), value, type, condition, command, setting, setting_value; new and number,
  // which cannot be completed; or the words that it may be, separated by |. The last one, with
  // three dots, may be repeated.
  std::string_view arguments;
  std::string_view summary;
  std::string_view examples;  // lines
};

// The commands of joedbi.
std::span<const Command_Help> interpreter_help();

// Prints the help for a command that is written in these ways, like "table <table_name>".
void print_command_help(std::ostream& out, const std::vector<std::string_view>& forms,
                        const Command_Help& help);

}  // namespace joedb::inline v1

#endif
