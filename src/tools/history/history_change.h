#ifndef JOEDB_SRC_TOOLS_HISTORY_HISTORY_CHANGE_H
#define JOEDB_SRC_TOOLS_HISTORY_HISTORY_CHANGE_H

#include <functional>
#include <string>
#include <vector>

#include "history/requests.h"
#include "tools/frame/file_transaction.h"
#include "tools/frame/terminal.h"

// Shared parts of joedb_undo, joedb_revert and joedb_restore. These commands derive changes from
// the history of a file, and append them as a separate transaction.

namespace joedb {

struct History_Change {
  bool is_ours = false;
  bool is_theirs = false;
  bool is_dry_run = false;
  bool is_json = false;
  bool is_complete = false;
  // For joedb_undo: true if it may drop tables and fields; true if it asks before large deletions.
  bool may_drop = true;
  bool asks = false;
  Colour colour = Colour::automatic;
  std::string message;
  std::string author;
  Transaction_Options transaction;
};

// Adds --dry-run, --message, --author, --all, --json, --color, --options, --recovery and
// --no-seals.
void add_history_change_options(Options& options, History_Change& command);
// Adds --ours and --theirs.
void add_conflict_options(Options& options, History_Change& command);

inline constexpr File_Grammar history_change_grammar{.default_mode = Open_Mode::write_existing,
                                                     .has_sources = false};

// Finds the changes to append. The arguments are the file, its current content, and how to read the
// file.
using Find_Changes = std::function<Transaction_Content(Abstract_File&, const Database&, Recovery)>;

// Opens the file, appends the changes that find() returns, and prints them. Returns the exit code.
// Prints conflicts. If --ours or --theirs do not resolve them, throws Exception, and writes
// nothing.
int change_by_history(const File_Argument& file, const History_Change& command,
                      const Find_Changes& find);

}  // namespace joedb

#endif
