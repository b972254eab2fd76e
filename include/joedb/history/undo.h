#ifndef JOEDB_HISTORY_UNDO_H
#define JOEDB_HISTORY_UNDO_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "joedb/history/changes.h"
#include "joedb/table/writable_database.h"

// Applies a list of changes to a database, after comparing each of them with the current state. For
// example, takes a transaction back:
//
//   const auto changes = joedb::net_changes(file, transaction.end, transaction.begin);
//   const joedb::Plan plan = joedb::apply_changes(db, changes);
//   if (!plan.is_possible) report(plan.conflicts);

namespace joedb::inline v1 {

// What to do with a change that does not match the current state of the database.
enum class Conflicts {
  refuse,  // write nothing at all
  ours,    // keep the current value, and leave out this part of the change
  theirs,  // write the value of the change
};

// A part of a change that does not match the current state. If the database already has the wanted
// result, this is not a conflict.
struct Change_Conflict {
  enum class Kind {
    value_changed,   // a field has neither the expected value nor the wanted one
    record_present,  // the id of a record to insert is in use, with other values
    record_missing,  // a record to update was deleted
    // The table was dropped. With a field: that field refers to the dropped table `name`.
    table_missing,
    field_missing,  // the field was dropped
    table_changed,  // a table to drop has changed
    field_changed,  // a field to drop has unexpected values
    name_changed,   // a table or field to rename has an unexpected name
    name_taken,     // another table or field has the wanted name
    key_taken,      // another record has the key, in a unique index
    needed,         // an index needs the table or field, which cannot be dropped
  };

  Kind kind;
  std::string table = {};
  Record_Id record = {};   // null for a conflict about a table or field
  std::string field = {};  // empty for a conflict about a record or table
  // Values of the field: one each, or empty where there is none.
  Values expected = {};
  Values found = {};
  Values wanted = {};
  // Depends on the kind. name_changed: the current name. name_taken: the wanted name. key_taken:
  // the name of the index. table_missing, with a field: the name of the dropped table. needed: the
  // error message of the drop.
  std::string name = {};
  Record_Id other = {};  // the record that has the key
  // True if Conflicts::theirs resolves the conflict.
  bool can_be_forced = false;
};

struct Plan {
  // The changes to write; old values are the current ones. Empty unless is_possible. Changes of the
  // schema come first. A table or field that is created again has its former id in these changes;
  // write_plan() replaces it by the new id.
  std::vector<Change> changes;
  std::vector<Change_Conflict> conflicts;  // the first max_conflicts
  std::uint64_t conflict_count = 0;
  // True if there are no conflicts, or if the mode (Conflicts) resolves all of them.
  bool is_possible = true;

  static constexpr std::size_t max_conflicts = 10'000;
};

// Compares the changes with the content of the database. Returns the changes to write.
//
// `changes` must have the form that net_changes() returns: at most one change for each table, field
// and record. If a dropped table or field is created again, all of its values must have been kept
// (Change_Options::kept_values).
//
// A record that was deleted is inserted again with its former id and all its values, so that
// references to it are valid again. A record is deleted only if none of its values has changed
// since; the same holds for dropping a table or field. Dropped tables and fields are created again
// with new ids, because ids are never reused; fields of other tables that referred to the dropped
// table do not refer to the new table.
//
// Takes time and memory proportional to the size of the changes, and reads the whole of each table
// and field to drop. Throws std::bad_alloc.
Plan plan_changes(const Database& database, const std::vector<Change>& changes,
                  Conflicts conflicts = Conflicts::refuse);

// Writes a plan that was made for the current state. If this throws, a part may have been written:
// roll back. Throws what Writable_Database::write throws.
void write_plan(Writable_Database& database, const Plan& plan);

// Calls plan_changes(), and then write_plan() if the plan is possible. Otherwise writes nothing.
Plan apply_changes(Writable_Database& database, const std::vector<Change>& changes,
                   Conflicts conflicts = Conflicts::refuse);

// ---- one transaction ----------------------------------------------------------------------------

struct Undo_Options {
  // Any position of the transaction except its start, as for find_transaction(). 0: the last
  // transaction that changed something.
  Offset position = 0;
  Conflicts conflicts = Conflicts::refuse;
  // If false, a transaction that changed tables or fields is refused.
  bool may_change_schema = true;
};

// Takes back a transaction that is before the checkpoint: compares its inverse changes with the
// current state, and writes them. A value that has changed since is a conflict. If the plan is not
// possible, nothing is written. The entries are like entries of the caller: there is no comment, no
// end and no checkpoint.
//
// Throws Exception if there is no such transaction, if it has changed nothing, or if it is at the
// end of the journal and not complete (Transaction_Info), since the rest of the journal may be
// several transactions. Also throws the exceptions of net_changes() and write_plan(). If
// write_plan() throws, a part may have been written, and the caller must call rollback().
[[nodiscard]] Plan undo_transaction(Writable_Database& database, const Undo_Options& options = {});

// ---- an undo stack ------------------------------------------------------------------------------

// undo() takes back the last transaction that has not been taken back yet, the next undo() the one
// before it. redo() takes back the last undo(), until something else is written. Comments in the
// journal say which transactions have been undone, so the stack is the same for all programs, and
// after the file is opened again. joedb undo and undo_transaction() write no such comment: undo()
// treats their transactions like all others.
//
// Transactions must have an end (Transaction_Info): clients and tools write an end; other programs
// write it with the option timestamp_transactions, or with write_valid_data(). Each call reads the
// journal from its start, without values, and includes entries without a checkpoint.
struct Undo_Stack_Options {
  // Only transactions of this author are undone, and only new transactions of this author end
  // redo(). Also the author of the transaction that undo() or redo() writes. Empty: all
  // transactions are undone.
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
// undo or redo, or if the journal ends with changes that have no end, which may belong to several
// transactions; and the exceptions of undo_transaction().
[[nodiscard]] Plan undo(Writable_Database& database, const Undo_Stack_Options& options = {});
[[nodiscard]] Plan redo(Writable_Database& database, const Undo_Stack_Options& options = {});

}  // namespace joedb::inline v1

#endif
