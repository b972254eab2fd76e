#ifndef JOEDB_CLI_STANDARD_INPUT_H
#define JOEDB_CLI_STANDARD_INPUT_H

#include <memory>
#include <ostream>

#include "interpreter/command_loop.h"

namespace joedb {

// Somebody types the commands and reads the answers.
bool is_interactive();

// The lines of standard input. On a terminal they can be edited; `history` is then the name of a
// file in the home directory that keeps them.
std::unique_ptr<Line_Source> open_standard_input(std::ostream& out, const char* history);

// What a tool returns after a loop that has ended this way: 1 if a command of a script has failed,
// which standard error is told, too. Classic: 1 only if the loop has ended because of it.
int exit_code(const Command_Loop& loop, Command_Loop::End end);

}  // namespace joedb

#endif
