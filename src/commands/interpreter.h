#ifndef JOEDB_SRC_COMMANDS_INTERPRETER_H
#define JOEDB_SRC_COMMANDS_INTERPRETER_H

#include <string_view>

#include "commands/commands.h"

namespace joedb::inline v1 {

// Adds all commands for a writable database. `after_rollback` is called after each command
// `rollback`.
void add_commands(
    Command_Loop& loop, Writable_Database& database, const Command_Options& options,
    std::function<void()> after_rollback = [] {});

// Adds the commands that change nothing. `file` is the file of the journal, from which blobs are
// read.
void add_readonly_commands(Command_Loop& loop, const Database& database, const Abstract_File& file);

// Runs the commands of a text, without output. Throws Exception for the first error, with the text
// "WHAT\nLine N: …", and for the command `abort`. The effects of earlier commands remain. Returns
// true at the end of the text, and false if the command `quit` ended it.
bool run_text(std::string_view text, Writable_Database& database);

}  // namespace joedb::inline v1

#endif
