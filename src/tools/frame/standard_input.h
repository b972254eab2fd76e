#ifndef JOEDB_SRC_TOOLS_FRAME_STANDARD_INPUT_H
#define JOEDB_SRC_TOOLS_FRAME_STANDARD_INPUT_H

#include "commands/command_loop.h"
#include "tools/frame/parser.h"
#include "tools/frame/terminal.h"

namespace joedb {

// Returns true if both standard input and standard output are terminals.
bool is_interactive();

// Reads the answer to a question from standard input. Returns true if it is y, Y or yes.
bool reads_yes();

// Adds --color auto|always|never.
void add_colour_option(Options& options, Colour& colour);

// Returns the settings of a loop that reads commands, of a user or a script, from standard input.
Command_Loop::Settings make_loop_settings(Colour colour);

// Runs the commands on standard input, and writes the answers to standard output. On a terminal,
// lines can be edited, and long answers are paged. `history` is the name of a file in the home
// directory that stores the lines. Throws Exception if the answers could not be written.
Command_Loop::End run_standard_input(Command_Loop& loop, const char* history);

// Returns the exit code of a tool after a loop. It is 1 if a command of a script has failed, which
// is also reported on standard error. With --classic, it is 1 only if an error has ended the loop.
int exit_code(const Command_Loop& loop, Command_Loop::End end);

}  // namespace joedb

#endif
