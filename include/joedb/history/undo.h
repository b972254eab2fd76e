#ifndef JOEDB_HISTORY_UNDO_H
#define JOEDB_HISTORY_UNDO_H

#include <functional>
#include <string>

#include "joedb/history/apply.h"
#include "joedb/history/changes.h"

namespace joedb::inline v1 {

struct Undo_Options {
  // Any position of the transaction except its start, as for find_transaction(). 0: the last
  // transaction that changed something.
  Offset position = 0;
  Conflicts conflicts = Conflicts::refuse;
  // If false, a transaction that changed tables or fields is refused.
  bool may_change_schema = true;
};

// Takes back a transaction that is before the checkpoint: compares its inverse changes with the
// present state, and writes them. A value that has changed since is a conflict. If the plan is not
// possible, nothing is written. The entries are like entries of the caller: there is no comment, no
// end and no checkpoint.
//
// Throws Exception if there is no such transaction, if it has changed nothing, or if it is at the
// end of the journal and not complete (Transaction_Info), since it may be several transactions.
// Also throws what net_changes() and write_plan() throw: in the last case a part may have been
// written, and the caller must call rollback().
[[nodiscard]] Plan undo_transaction(Writable_Database& database, const Undo_Options& options = {});

// ---- an undo stack ------------------------------------------------------------------------------

// undo() takes back the last transaction that has not been taken back yet, the next undo() the one
// before it. redo() takes back the last undo(), until something else is written. Comments in the
// journal say what has been undone: this is the same for all programs, and survives reopening the
// file. joedb undo and undo_transaction() write no such comment: their transactions are like any
// other.
//
// Transactions must have an end (Transaction_Info): clients and tools write one, other programs do
// so with the option timestamp_transactions, or with write_valid_data(). Each call reads the
// journal from its start, without values, and includes entries without a checkpoint.
struct Undo_Stack_Options {
  // Only transactions of this author are undone, and only those of this author end redo(). Also the
  // author of the new transaction. Empty: all transactions are undone.
  std::string author = {};
  Conflicts conflicts = Conflicts::refuse;
  // If false, the stack ends at a transaction that changed tables or fields.
  bool may_change_schema = true;
  std::function<std::int64_t()> now = {};  // seconds since 1970; {}: the system clock
};

// True if there is a transaction to undo or redo. False if the journal ends with changes that have
// no end. Does not detect conflicts.
bool can_undo(Writable_Database& database, const Undo_Stack_Options& options = {});
bool can_redo(Writable_Database& database, const Undo_Stack_Options& options = {});

// Append a transaction that ends with a time stamp, and write no checkpoint. If the plan is not
// possible, nothing is written, and the stack is unchanged. Throw Exception if there is nothing to
// undo or redo, or if the journal ends with changes that have no end, which may be those of several
// transactions; and what undo_transaction() throws.
[[nodiscard]] Plan undo(Writable_Database& database, const Undo_Stack_Options& options = {});
[[nodiscard]] Plan redo(Writable_Database& database, const Undo_Stack_Options& options = {});

}  // namespace joedb::inline v1

#endif
