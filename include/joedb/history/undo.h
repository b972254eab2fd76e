#ifndef JOEDB_HISTORY_UNDO_H
#define JOEDB_HISTORY_UNDO_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "joedb/history/changes.h"
#include "joedb/table/writable_database.h"

// Applies a list of changes to a database, after comparing each of them with the current state. For
// example, to undo a transaction:
//
//   const auto changes = joedb::net_changes(file, transaction.end, transaction.begin);
//   const joedb::Plan plan = joedb::apply_changes(db, changes);
//   if (!plan.is_possible) report(plan.conflicts);

namespace joedb::inline v1 {

// How to handle a change that does not match the current state of the database.
enum class Conflicts {
  refuse,  // write nothing at all
  ours,    // keep the current value, and skip this part of the change
  theirs,  // write the value of the change
};

// A part of a change that does not match the current state. There is no conflict if the database
// already has the wanted result.
struct Change_Conflict {
  enum class Kind {
    value_changed,   // a field has neither the expected value nor the wanted one
    record_present,  // the id of a record to insert is in use, with other values
    record_missing,  // a record to update was deleted
    // The table was dropped. If `field` is set, this field refers to the dropped table `name`.
    table_missing,
    field_missing,   // the field was dropped
    table_changed,   // a table to drop has changed
    field_changed,   // a field to drop has unexpected values
    name_changed,    // a table or field to rename has an unexpected name
    type_changed,    // a field has an unexpected logical type
    type_needed,     // a field has got values that would mean something else in the wanted type
    name_taken,      // another table or field has the wanted name
    key_taken,       // another record has the key, in a unique index
    needed,          // the table or field cannot be dropped, because an index needs it
    referenced,      // the record to delete has a reference with a rule (Logical_Type::On_Delete)
    target_missing,  // a reference with a rule would refer to a record that does not exist
  };

  Kind kind;
  std::string table = {};
  Record_Id record = {};   // null for a conflict about a table or field
  std::string field = {};  // empty for a conflict about a record or table
  // Values of the field. Each member has one value, or is empty.
  Values expected = {};
  Values found = {};
  Values wanted = {};
  Shared_Logical_Type logical = {};  // of the field
  // The meaning depends on the kind. name_changed: the current name. name_taken: the wanted name.
  // key_taken: the name of the index. table_missing with a field: the name of the dropped table.
  // needed: the error message of the drop. referenced: the table and field of the reference.
  // type_needed: which value needs it.
  // target_missing: the referenced table.
  std::string name = {};
  Record_Id other = {};  // the record that has the key or the reference, or does not exist
  // True if Conflicts::theirs resolves the conflict.
  bool can_be_forced = false;
};

struct Plan {
  // The changes to write; empty unless is_possible. Their old values are the current values.
  // Changes of the schema are first. A table or field that is created again has its former id in
  // these changes; write_plan() replaces this id by the new id.
  std::vector<Change> changes;
  std::vector<Change_Conflict> conflicts;  // at most the first max_conflicts conflicts
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
// references to the record are valid again. A record is deleted only if none of its values has
// changed since; a table or field is dropped only under the same condition. Dropped tables and
// fields are created again with new ids, because their ids are never reused. If fields of other
// tables referred to a dropped table, they do not refer to the new table.
//
// Takes time and memory proportional to the size of the changes, and reads all values of each table
// and field to drop. Throws std::bad_alloc.
Plan plan_changes(const Database& database, const std::vector<Change>& changes,
                  Conflicts conflicts = Conflicts::refuse);

// Writes a plan that was made for the current state. Throws the exceptions of
// Writable_Database::write. A part of the plan may have been written then: call rollback().
void write_plan(Writable_Database& database, const Plan& plan);

// Calls plan_changes(), and then write_plan() if the plan is possible. Otherwise writes nothing.
Plan apply_changes(Writable_Database& database, const std::vector<Change>& changes,
                   Conflicts conflicts = Conflicts::refuse);

// ---- one transaction ----------------------------------------------------------------------------

struct Undo_Options {
  // Any position of the transaction except its start, as for find_transaction(). 0 means the last
  // transaction that changed something.
  Offset position = 0;
  Conflicts conflicts = Conflicts::refuse;
  // If false, a transaction that changed tables or fields is refused.
  bool may_change_schema = true;
};

// Undoes a transaction that is before the checkpoint: compares its inverse changes with the current
// state, and writes them. A value that has changed since is a conflict. If the plan is not
// possible, nothing is written. The new entries belong to the current transaction of the caller:
// this function writes no comment, no end of a transaction, and no checkpoint.
//
// Throws Exception if there is no such transaction, if the transaction has changed nothing, or if
// it is at the end of the journal and not complete (Transaction_Info), because its entries may
// belong to several transactions. Also throws the exceptions of net_changes() and write_plan(). If
// write_plan() throws, a part may have been written, and the caller must call rollback().
[[nodiscard]] Plan undo_transaction(Writable_Database& database, const Undo_Options& options = {});

// ---- an undo stack ------------------------------------------------------------------------------

// undo() undoes the last transaction that has not been undone yet, and the next undo() undoes the
// transaction before that. redo() reverts the last undo(), unless something else was written since.
// Comments in the journal record which transactions have been undone, so the stack is the same for
// all programs, and after the file is opened again. joedb undo and undo_transaction() write no such
// comment: undo() treats their transactions like all others.
//
// Transactions must have an end (Transaction_Info): clients and tools write an end; other programs
// write it with the option timestamp_transactions, or with write_valid_data(). Each call reads the
// journal from its start, without values, and includes entries without a checkpoint.
struct Undo_Stack_Options {
  // If not empty, only transactions of this author are undone, only new transactions of this author
  // make redo() impossible, and undo() and redo() write transactions of this author. If empty,
  // transactions of all authors are undone.
  std::string author = {};
  Conflicts conflicts = Conflicts::refuse;
  // If false, a transaction that changed tables or fields cannot be undone, nor can earlier ones.
  bool may_change_schema = true;
  std::function<std::int64_t()> now = {};  // seconds since 1970; if empty, the system clock
};

// True if there is a transaction to undo or redo. False if the journal ends with changes that have
// no end. Does not detect conflicts.
bool can_undo(Writable_Database& database, const Undo_Stack_Options& options = {});
bool can_redo(Writable_Database& database, const Undo_Stack_Options& options = {});

// Append a transaction that ends with a time stamp, without a checkpoint. If the plan is not
// possible, nothing is written, and the stack is unchanged. Throw the exceptions of
// undo_transaction(). Throw Exception if there is nothing to undo or redo, or if the journal ends
// with changes that have no end, because these changes may belong to several transactions.
[[nodiscard]] Plan undo(Writable_Database& database, const Undo_Stack_Options& options = {});
[[nodiscard]] Plan redo(Writable_Database& database, const Undo_Stack_Options& options = {});

}  // namespace joedb::inline v1

#endif
