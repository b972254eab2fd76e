#ifndef JOEDB_HISTORY_APPLY_H
#define JOEDB_HISTORY_APPLY_H

#include <cstdint>
#include <string>
#include <vector>

#include "joedb/history/transaction.h"
#include "joedb/table/writable_database.h"

// Applies a list of changes to a database, after comparing each of them with the present state. For
// example, takes a transaction back:
//
//   const auto changes = joedb::net_changes(file, transaction.end, transaction.begin);
//   const joedb::Plan plan = joedb::apply_changes(db, changes);
//   if (!plan.is_possible) report(plan.conflicts);

namespace joedb::inline v1 {

// What to do with a change that does not match the present state of the database.
enum class Conflicts {
  refuse,  // write nothing at all
  ours,    // keep the present value, and leave out this part of the change
  theirs,  // write the value of the change
};

// A part of a change that does not match the present state. A part that already has the wanted
// result is not a conflict.
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
  // Depends on the kind. name_changed: the present name. name_taken: the wanted name. key_taken:
  // the name of the index. table_missing, with a field: the name of the dropped table. needed: the
  // error message of the drop.
  std::string name = {};
  Record_Id other = {};  // the record that has the key
  // True if Conflicts::theirs resolves the conflict.
  bool can_be_forced = false;
};

struct Plan {
  // The changes to write; old values are the present ones. Empty unless is_possible. Changes of the
  // schema come first. A table or field that is created again has its former id here; write_plan()
  // replaces it by the new one.
  std::vector<Change> changes;
  std::vector<Change_Conflict> conflicts;  // the first max_conflicts
  std::uint64_t conflict_count = 0;
  // True if there are no conflicts, or if the mode (Conflicts) resolves all of them.
  bool is_possible = true;

  static constexpr std::size_t max_conflicts = 10'000;
};

// Compares the changes with the content of the database. Returns what to write.
//
// `changes` must have the form that net_changes() returns: at most one change for each table, field
// and record. If a dropped table or field is created again, all of its values must have been kept
// (Change_Options::kept_values).
//
// A record that was deleted is inserted again with its former id and all its values, so that
// references to it are valid again. A record is deleted only if none of its values has changed
// since; the same holds for dropping a table or field. Dropped tables and fields cannot have their
// ids back: they are created with new ones, and fields of other tables that referred to the dropped
// table do not refer to the new one.
//
// Takes time and memory proportional to the size of the changes, and reads the whole of each table
// and field to drop. Throws std::bad_alloc.
Plan plan_changes(const Database& database, const std::vector<Change>& changes,
                  Conflicts conflicts = Conflicts::refuse);

// Writes a plan that was made for the present state. If this throws, a part may have been written:
// roll back. Throws what Writable_Database::write throws.
void write_plan(Writable_Database& database, const Plan& plan);

// Calls plan_changes(), and then write_plan() if the plan is possible. Otherwise writes nothing.
Plan apply_changes(Writable_Database& database, const std::vector<Change>& changes,
                   Conflicts conflicts = Conflicts::refuse);

}  // namespace joedb::inline v1

#endif
