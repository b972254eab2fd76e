#ifndef JOEDB_HISTORY_UNDO_H
#define JOEDB_HISTORY_UNDO_H

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
// Throws Exception if there is no such transaction, or it has changed nothing; what net_changes()
// and write_plan() throw: in that last case a part may have been written, and rollback() must come.
[[nodiscard]] Plan undo_transaction(Writable_Database& database, const Undo_Options& options = {});

}  // namespace joedb::inline v1

#endif
