#ifndef JOEDB_CLI_HISTORY_CHANGE_H
#define JOEDB_CLI_HISTORY_CHANGE_H

#include <functional>
#include <string>
#include <vector>

#include "cli/file_transaction.h"
#include "cli/terminal.h"
#include "history/requests.h"

// What joedb_undo, joedb_revert and joedb_restore have in common: they append changes that are made
// of the history of a file, in a transaction of their own.

namespace joedb {

struct History_Change {
  bool is_ours = false;
  bool is_theirs = false;
  bool is_dry_run = false;
  bool is_json = false;
  bool is_complete = false;
  // Of joedb_undo: it may drop tables and fields; it asks before it deletes much.
  bool may_drop = true;
  bool asks = false;
  Colour colour = Colour::automatic;
  std::string message;
  std::string author;
  Transaction_Options transaction;
};

// --dry-run, --message, --author, --all, --json, --color, --options, --recovery, --no_seals
void add_history_change_options(Options& options, History_Change& command);
// --ours, --theirs
void add_conflict_options(Options& options, History_Change& command);

inline constexpr File_Grammar history_change_grammar{.default_mode = Open_Mode::write_existing,
                                                     .has_sources = false};

// The file, its present content, and how it is read.
using Find_Changes =
    std::function<Wanted_Changes(Abstract_File&, const Database&, const Change_Options&)>;

// Opens the file, appends what find() returns, and prints it. Returns the exit code. Conflicts are
// printed, and throw Exception if they are not settled: nothing is written then.
int change_by_history(const File_Argument& file, const History_Change& command,
                      const Find_Changes& find);

}  // namespace joedb

#endif
