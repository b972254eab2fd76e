#ifndef JOEDB_SRC_COMMANDS_HISTORY_COMMANDS_H
#define JOEDB_SRC_COMMANDS_HISTORY_COMMANDS_H

#include "commands/commands.h"

namespace joedb::inline v1 {

// Adds log, show, diff, blame and tag for a journal that ends at `end`, where its content is
// `database`. All arguments must outlive the loop. Adds nothing with --classic.
void add_history_commands(Command_Loop& loop, const Database& database, Abstract_File& file,
                          Offset end, const Command_Options& options);

// Adds the same for a writable database, up to its last entry, which may be after the checkpoint;
// and undo, revert and restore, which append transactions without a checkpoint.
void add_history_commands(Command_Loop& loop, Writable_Database& database,
                          const Command_Options& options);

}  // namespace joedb::inline v1

#endif
