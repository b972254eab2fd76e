#ifndef JOEDB_HISTORY_TRANSACTION_H
#define JOEDB_HISTORY_TRANSACTION_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "joedb/history/values.h"
#include "joedb/schema/type.h"

// What the history of a database consists of: transactions, and changes of records, tables and
// fields. All are values that own what they refer to: they can be kept as long as one likes.

namespace joedb::inline v1 {

// ---- names --------------------------------------------------------------------------------------

// A field at the time of a change. The id says which one it is, whatever its name.
struct Field_Description {
  Field_Id id;
  std::string name;
  Type type;
  std::string referenced;  // the name of the table that it refers to; empty if that was dropped
};

// A table at the time of a change, with the fields that it had.
struct Table_Description {
  Table_Id id;
  std::string name;
  std::vector<Field_Description> fields;

  // Null if it has no such field.
  const Field_Description* find_field(Field_Id field) const;
};

// ---- changes ------------------------------------------------------------------------------------

// The values of one field before and after a change: one for each of its records, in their order.
struct Field_Change {
  Field_Id field;
  Values old_values;  // empty for records that are inserted
  Values new_values;  // empty for records that are deleted
};

struct Schema_Change;

// One change: of one or more records with consecutive ids, of a table, or of a field.
//
// Records that are next to each other and have changed alike are one change, so that ten million
// new rows, or a new vector, are one. Who wants records goes through them:
//
//   for (index_t i = 0; i < change.size; ++i)
//     for (const Field_Change& field : change.fields)
//       use(change.record + i, field.old_values[i], field.new_values[i]);
struct Change {
  enum class Kind {
    inserted,  // records, with the values of all fields
    updated,   // fields of records that there were before
    deleted,   // records, with the values that all fields had
    table_created,
    table_renamed,
    table_dropped,
    field_added,
    field_renamed,
    field_dropped,
    custom,  // Custom of format/entry.h: a mark
  };

  Kind kind = Kind::custom;
  // Null for a mark. For table_dropped with the fields that it had, for other changes of the schema
  // without fields. Of an update, only the fields that it has, where the table or its name has
  // changed again and again in the same transaction.
  std::shared_ptr<const Table_Description> table;
  // Records [record, record + size).
  Record_Id record;
  index_t size = 0;
  std::vector<Field_Change> fields;
  // Of a change of the schema; else null.
  std::shared_ptr<const Schema_Change> schema;

  bool is_of_records() const { return schema == nullptr; }
  // Null if the change does not have the field.
  const Field_Change* find_field(Field_Id field) const;
  // "city": requires a table; and of a field of `fields`.
  const std::string& table_name() const { return table->name; }
  const std::string& field_name(const Field_Change& field) const;
};

// What a change of the schema has beside the table.
struct Schema_Change {
  Field_Description field;  // added, renamed or dropped; with its new name
  std::string old_name;     // of a table or field that was renamed
  std::string mark;         // of a mark
  // What a drop has made unreachable: how many records the table had, and their values, as changes
  // with old values alone, of the kind deleted, or, for a field, updated. Without has_lost these
  // are missing: Change_Options::kept_values.
  index_t rows = 0;
  std::vector<Change> lost;
  bool has_lost = true;
};

// ---- transactions -------------------------------------------------------------------------------

// Where a transaction is, and what it says about itself.
//
// A transaction is what ends with a Valid_Data or a Timestamp entry, or with both, the time stamp
// directly behind: clients and generated code write them in this order. A client that writes
// neither leaves no trace of its transactions. Before the first end of a journal, a comment begins
// a new one, unless nothing but comments is before it since the last beginning: so a journal of
// joedbi, where nothing ends, is divided by its comments. What is behind the last end is a
// transaction that is not complete. So what a journal has been divided into stays when it grows,
// but for the last one. Integrity entries behind the end of a transaction belong to it. A comment
// without text (writers need one at times) says nothing, and is not seen.
struct Transaction_Info {
  // Its entries are those in [begin, end): both are positions between two entries.
  Offset begin = 0;
  Offset end = 0;
  // Behind its last entry that is no integrity entry.
  Offset entries_end = 0;
  // Seconds since 1970: the first time stamp in it, else the last one before, if there is one.
  std::optional<std::int64_t> time;
  bool has_own_time = false;
  // Whether it has an end, as above.
  bool is_complete = false;
  // The comments in it, in their order: the first says what it is about. A comment "author: NAME"
  // is left out if it is the first one, or follows the first one directly.
  std::vector<std::string> comments;
  std::string author;
  // Blobs that were written.
  index_t blobs = 0;
  Offset blob_bytes = 0;
};

// What begins the comment that names the author.
inline constexpr std::string_view author_mark = "author: ";
// What begins the comment of an undo or a redo (joedb/history/undo.h) that says which transaction
// it takes back: the position where that ends follows.
inline constexpr std::string_view undone_mark = "takes back: ";

// A transaction with its changes, in the order in which their first entries stand. Entries about
// the same record are merged, as far as no change of the schema stands between them: an insertion
// has the values that the record has at the end; several updates of a field are one, from the first
// old to the last new value; what is inserted and deleted again does not appear. A record that is
// deleted, and another one that gets its id, are two changes.
struct Transaction : Transaction_Info {
  std::vector<Change> changes;
};

// How many records of a table a transaction has changed, and how often the table itself, or a field
// of it. The name is the last one that it had in the transaction.
struct Table_Summary {
  Table_Id table;
  std::string name;
  std::uint64_t inserted = 0;
  std::uint64_t updated = 0;  // those that were neither inserted nor deleted
  std::uint64_t deleted = 0;
  std::uint64_t schema_changes = 0;
};

// A transaction without values. It counts as many records as a Transaction has, with two
// exceptions: where a vector of values was written over records that are not in use, they count as
// updated, too; and all entries about a record are merged, also where the schema has changed.
struct Transaction_Summary : Transaction_Info {
  std::vector<Table_Summary> tables;  // by id; only those that have changed
  std::uint64_t marks = 0;            // Custom of format/entry.h

  bool has_changes() const { return !tables.empty() || marks > 0; }
};

}  // namespace joedb::inline v1

#endif
