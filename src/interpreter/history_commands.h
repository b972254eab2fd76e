#ifndef JOEDB_INTERPRETER_HISTORY_COMMANDS_H
#define JOEDB_INTERPRETER_HISTORY_COMMANDS_H

#include "interpreter/commands.h"

namespace joedb::inline v1 {

// log, show, diff, blame and tag, of a journal that ends at `end`: the content there is `database`.
// All must outlive the loop. None of these with --classic.
void add_history_commands(Command_Loop& loop, const Database& database, Abstract_File& file,
                          Offset end, const Command_Options& options);

// The same for a database that can be written, up to its last entry, which may have no checkpoint
// yet; and undo, revert and restore, which append transactions, also without a checkpoint.
void add_history_commands(Command_Loop& loop, Writable_Database& database,
                          const Command_Options& options);

}  // namespace joedb::inline v1

#endif
