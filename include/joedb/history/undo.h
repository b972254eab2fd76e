#ifndef JOEDB_HISTORY_UNDO_H
#define JOEDB_HISTORY_UNDO_H

#include <functional>
#include <string>

#include "joedb/history/apply.h"
#include "joedb/history/changes.h"

namespace joedb::inline v1 {

struct Undo_Options {
  // Any position of the transaction but its beginning, as find_transaction() takes it. 0: the last
  // transaction that has changed something.
  Offset position = 0;
  Conflicts conflicts = Conflicts::refuse;
  // Without it, a transaction that has changed tables or fields is refused.
  bool may_change_schema = true;
};

// Writes the opposite changes of a transaction before the checkpoint, checked: a value that has
// changed since is a conflict. If the plan is not possible, nothing was written. What was written
// is as if the caller had written it: it has no comment, no end and no checkpoint.
//
// Throws Exception if there is no such transaction, or it has changed nothing; if it is at the end
// of the journal and is not complete (Transaction_Info): it may be several; what net_changes() and
// write_plan() throw: in that last case a part may have been written, and rollback() must come.
[[nodiscard]] Plan undo_transaction(Writable_Database& database, const Undo_Options& options = {});

// ---- an undo stack ------------------------------------------------------------------------------

// undo() takes the last transaction back that was not taken back yet, the next undo() the one
// before it; redo() takes the last undo() back, until something else is written. What has been
// undone is read from the journal, where comments say it: it holds for all programs, and after
// opening the file again. joedb undo and undo_transaction() write no such comment: what they write
// is a transaction as others.
//
// Transactions must have an end (Transaction_Info): clients and tools write one, other programs
// with the option timestamp_transactions, or write_valid_data(). Each call reads the journal from
// its start, without values.
struct Undo_Stack_Options {
  // Only transactions of this author are undone, and only those of this author end redo(). It is
  // the author of the new transaction, too. Empty: all transactions.
  std::string author = {};
  Conflicts conflicts = Conflicts::refuse;
  // Without it, the stack ends at a transaction that has changed tables or fields.
  bool may_change_schema = true;
  std::function<std::int64_t()> now = {};  // seconds since 1970; {}: the clock
};

// Whether there is something to undo or redo. Conflicts are not looked for.
bool can_undo(Writable_Database& database, const Undo_Stack_Options& options = {});
bool can_redo(Writable_Database& database, const Undo_Stack_Options& options = {});

// Appends a transaction, which ends with a time stamp, and no checkpoint. If the plan is not
// possible, nothing was written, and the stack is as before. Throws Exception if there is nothing
// to undo or redo; if the journal ends with changes that have no end, which may be those of several
// transactions; and what undo_transaction() throws.
[[nodiscard]] Plan undo(Writable_Database& database, const Undo_Stack_Options& options = {});
[[nodiscard]] Plan redo(Writable_Database& database, const Undo_Stack_Options& options = {});

}  // namespace joedb::inline v1

#endif
