#ifndef JOEDB_SRC_COMMANDS_COMMAND_HELP_H
#define JOEDB_SRC_COMMANDS_COMMAND_HELP_H

#include <ostream>
#include <span>
#include <string_view>
#include <vector>

namespace joedb::inline v1 {

// Help for a command: `help COMMAND` shows it, and completion by the tab key uses it. The pages of
// the tools in docs/reference say the same: tests/docs/help.py compares them.
struct Command_Help {
  std::string_view name;
  // Kinds of its arguments in order, for completion: table, field, record, new_record, row (a value
  // for each field), value, type, condition, command, setting, setting_value; new and number, which
  // cannot be completed; or the possible words, separated by |. The last kind may be repeated if
  // three dots follow it.
  std::string_view arguments;
  std::string_view summary;
  std::string_view examples;  // whole lines
};

// Returns the help for the commands of joedbi.
std::span<const Command_Help> interpreter_help();

// Prints the help for a command. `forms` are the ways to write it, like "table <table_name>".
void print_command_help(std::ostream& out, const std::vector<std::string_view>& forms,
                        const Command_Help& help);

}  // namespace joedb::inline v1

#endif
