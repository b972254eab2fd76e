#ifndef JOEDB_SRC_COMMANDS_INTERPRETER_H
#define JOEDB_SRC_COMMANDS_INTERPRETER_H

#include <string_view>

#include "commands/commands.h"

namespace joedb::inline v1 {

// Adds all commands for a writable database. Calls `after_rollback` after each command rollback.
void add_commands(
    Command_Loop& loop, Writable_Database& database, const Command_Options& options,
    std::function<void()> after_rollback = [] {});

// Adds the commands that change nothing. `file` is the file of the journal, for blobs.
void add_readonly_commands(Command_Loop& loop, const Database& database, const Abstract_File& file);

// Runs the commands of a text without output. Throws Exception for the first error, with its line:
// "WHAT\nLine N: …"; the effects of earlier commands stay. Returns true if the end of the text was
// reached, false if the command quit ended it. Throws Exception for the command abort.
bool run_text(std::string_view text, Writable_Database& database);

}  // namespace joedb::inline v1

#endif
