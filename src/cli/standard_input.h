#ifndef JOEDB_CLI_STANDARD_INPUT_H
#define JOEDB_CLI_STANDARD_INPUT_H

#include "cli/parser.h"
#include "cli/terminal.h"
#include "interpreter/command_loop.h"

namespace joedb {

// Somebody types the commands and reads the answers.
bool is_interactive();

// --color auto|always|never
void add_colour_option(Options& options, Colour& colour);

// How a tool begins to read commands from standard input, by a person or a script.
Command_Loop::Settings make_loop_settings(Colour colour);

// Runs the commands of standard input, and writes the answers to standard output. On a terminal
// lines can be edited, and long answers come in pages; `history` is then the name of a file in the
// home directory that keeps the lines. Throws if the answers could not be written.
Command_Loop::End run_standard_input(Command_Loop& loop, const char* history);

// What a tool returns after a loop that has ended this way: 1 if a command of a script has failed,
// which standard error is told, too. Classic: 1 only if the loop has ended because of it.
int exit_code(const Command_Loop& loop, Command_Loop::End end);

}  // namespace joedb

#endif
