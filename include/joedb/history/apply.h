#ifndef JOEDB_HISTORY_APPLY_H
#define JOEDB_HISTORY_APPLY_H

#include <cstdint>
#include <string>
#include <vector>

#include "joedb/history/transaction.h"
#include "joedb/table/writable_database.h"

// Changes written to a database, checked: what takes a transaction back, for example.
//
//   const auto changes = joedb::net_changes(file, transaction.end, transaction.begin);
//   const joedb::Plan plan = joedb::apply_changes(db, changes);
//   if (!plan.is_possible) report(plan.conflicts);

namespace joedb::inline v1 {

// What is done where the database is not in the state that a change expects.
enum class Conflicts {
  refuse,  // nothing is written at all
  ours,    // the present value is kept: this part of the change is left out
  theirs,  // the value of the change is written
};

// A part of a change that does not fit the present state. What is already as the change wants it is
// no conflict.
struct Change_Conflict {
  enum class Kind {
    value_changed,   // of a field: it is neither the expected value nor the wanted one
    record_present,  // the id of a record that is to be inserted is in use
    record_missing,  // a record that is to be updated was deleted
    table_missing,   // the table was dropped; with a field: that which the field refers to, `name`
    field_missing,   // so was the field
    table_changed,   // a table that is to be dropped was written to
    field_changed,   // so was a field
    name_changed,    // of a table or field that is to be renamed
    name_taken,      // another table, or field, has the name that is wanted
    key_taken,       // another record has the key of a unique index
    needed,          // by an index: the table or field cannot be dropped
  };

  Kind kind;
  std::string table = {};
  Record_Id record = {};   // null if it is about the table or field
  std::string field = {};  // empty if it is about the record or table
  // One value each, or none.
  Values expected = {};
  Values found = {};
  Values wanted = {};
  // Found: of a name_changed; wanted: of a name_taken; of an index; of a table_missing.
  std::string name = {};
  Record_Id other = {};  // that has the key
  // Whether Conflicts::theirs settles it.
  bool can_be_forced = false;
};

struct Plan {
  // What is to be written, as it is now and as it will be; nothing unless is_possible. Changes of
  // the schema come first. A table or field that was dropped has the id in it that it had.
  std::vector<Change> changes;
  std::vector<Change_Conflict> conflicts;  // the first max_conflicts
  std::uint64_t conflict_count = 0;
  // Whether there are no conflicts, or all are settled.
  bool is_possible = true;

  static constexpr std::size_t max_conflicts = 10'000;
};

// Compares the changes with the content of the database.
//
// They must be such as net_changes() gives: of a table, field or record there is at most one. Where
// they make a table or field that was dropped again, all of its values must have been kept
// (Change_Options::kept_values).
//
// A record that was deleted gets its id and all its values again, so that references to it are
// good again. A record is deleted only if none of its values have changed since; so is a table or
// field dropped. Dropped tables and fields cannot get their ids again: they are made with new ones,
// and fields of other tables that referred to the dropped table do not refer to the new one.
//
// Takes time and memory proportional to the size of the changes, and reads the whole of tables and
// fields that are dropped. Throws std::bad_alloc.
Plan plan_changes(const Database& database, const std::vector<Change>& changes,
                  Conflicts conflicts = Conflicts::refuse);

// Writes a plan for the present state. If it throws, a part may have been written: roll back.
// Throws what Writable_Database::write throws.
void write_plan(Writable_Database& database, const Plan& plan);

// Both. Writes nothing if the plan is not possible.
Plan apply_changes(Writable_Database& database, const std::vector<Change>& changes,
                   Conflicts conflicts = Conflicts::refuse);

}  // namespace joedb::inline v1

#endif
