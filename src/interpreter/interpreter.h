#ifndef JOEDB_INTERPRETER_INTERPRETER_H
#define JOEDB_INTERPRETER_INTERPRETER_H

#include <string_view>

#include "interpreter/commands.h"

namespace joedb::inline v1 {

// All commands for a database that can be written.
void add_commands(
    Command_Loop& loop, Writable_Database& database, const Command_Options& options,
    std::function<void()> after_rollback = [] {});

// Those that change nothing. `file` is that of the journal, for blobs.
void add_readonly_commands(Command_Loop& loop, const Database& database, const Abstract_File& file);

// Runs the commands of a text, quietly. Throws the first error, with its line: "WHAT\nLine N: …".
// What the commands before did stays. Returns whether the end was reached, and not the command
// quit.
bool run_text(std::string_view text, Writable_Database& database);

}  // namespace joedb::inline v1

#endif
