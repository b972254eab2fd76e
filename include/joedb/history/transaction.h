#ifndef JOEDB_HISTORY_TRANSACTION_H
#define JOEDB_HISTORY_TRANSACTION_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "joedb/history/values.h"
#include "joedb/schema/type.h"

// The history of a database: transactions, and their changes of records, tables and fields. All
// types are values that own everything they refer to, so they can be kept for any time.

namespace joedb::inline v1 {

// ---- names --------------------------------------------------------------------------------------

// A field at the time of a change. The id identifies the field, whatever its name.
struct Field_Description {
  Field_Id id;
  std::string name;
  Type type;
  std::string referenced;  // name of the table that it refers to; empty if that was dropped
};

// A table at the time of a change, with the fields that it had then.
struct Table_Description {
  Table_Id id;
  std::string name;
  std::vector<Field_Description> fields;

  // Returns null if the table does not have the field.
  const Field_Description* find_field(Field_Id field) const;
};

// ---- changes ------------------------------------------------------------------------------------

// The values of one field before and after a change: one value for each record, in order.
struct Field_Change {
  Field_Id field;
  Values old_values;  // empty for inserted records
  Values new_values;  // empty for deleted records
};

struct Schema_Change;

// One change: of one or more records with consecutive ids, of a table, or of a field.
//
// Adjacent records that have changed in the same way form one change: ten million new rows, or a
// new vector, are one change. To visit single records:
//
//   for (index_t i = 0; i < change.size; ++i)
//     for (const Field_Change& field : change.fields)
//       use(change.record + i, field.old_values[i], field.new_values[i]);
struct Change {
  enum class Kind {
    inserted,  // records, with the values of all fields
    updated,   // fields of existing records
    deleted,   // records, with the former values of all fields
    table_created,
    table_renamed,
    table_dropped,
    field_added,
    field_renamed,
    field_dropped,
    custom,  // Custom of format/entry.h: a mark
  };

  Kind kind = Kind::custom;
  // Null for a mark. For table_dropped: with the fields that the table had. For other changes of
  // the schema: without fields. For an update: with only the updated fields, if the table or its
  // name has changed many times in the same transaction.
  std::shared_ptr<const Table_Description> table;
  // Records [record, record + size).
  Record_Id record;
  index_t size = 0;
  std::vector<Field_Change> fields;
  // Details of a change of the schema, or of a mark; null for changes of records.
  std::shared_ptr<const Schema_Change> schema;

  bool is_of_records() const { return schema == nullptr; }
  // Returns null if the change does not have the field.
  const Field_Change* find_field(Field_Id field) const;
  // Return the name. Require that `table` is not null, and that `field` is one of `fields`.
  const std::string& table_name() const { return table->name; }
  const std::string& field_name(const Field_Change& field) const;
};

// The details of a change of the schema, in addition to its table.
struct Schema_Change {
  Field_Description field;  // the added, renamed or dropped field, with its new name
  std::string old_name;     // of a renamed table or field
  std::string mark;         // name of a mark
  // For a drop: the number of records that the table had, and the values that became unreachable.
  // These are changes with only old values, of kind deleted for a table and updated for a field. If
  // !has_lost, the values were not kept (Change_Options::kept_values).
  index_t rows = 0;
  std::vector<Change> lost;
  bool has_lost = true;
};

// ---- transactions -------------------------------------------------------------------------------

// The position of a transaction, and what it says about itself.
//
// A transaction ends with a Valid_Data or a Timestamp entry, or with both if the time stamp
// directly follows; clients and generated code write them in this order. The transactions of a
// client that writes neither cannot be told apart. Before the first such end in a journal, a
// comment starts a new transaction, unless only comments precede it in the present one: a journal
// of joedbi, which has no ends, is divided by its comments. Entries after the last end are a
// transaction that is not complete. So the transactions of a journal stay the same when it grows,
// except the last one. Integrity entries after the end of a transaction belong to it. A comment
// without text (writers need one at times) is ignored.
struct Transaction_Info {
  // The entries of the transaction are in [begin, end). Both are positions between two entries.
  Offset begin = 0;
  Offset end = 0;
  // End of the last entry that is not an integrity entry.
  Offset entries_end = 0;
  // Seconds since 1970: the first time stamp in the transaction, or else the last one before it, if
  // there is one.
  std::optional<std::int64_t> time;
  bool has_own_time = false;
  // True if the transaction has an end, as above.
  bool is_complete = false;
  // The comments in the transaction, in order. The first one says what the transaction is about. A
  // comment "author: NAME" is left out if it is the first one, or directly follows the first one.
  std::vector<std::string> comments;
  std::string author;
  // Number of blobs written, and of their bytes.
  index_t blobs = 0;
  Offset blob_bytes = 0;
};

// Prefix of the comment that names the author.
inline constexpr std::string_view author_mark = "author: ";
// Prefix of the comment by which an undo or redo (joedb/history/undo.h) says which transaction it
// takes back: the position where that transaction ends follows.
inline constexpr std::string_view undone_mark = "takes back: ";

// A transaction with its changes, in the order of their first entries. Entries about the same
// record are merged, unless a change of the schema is between them: an insertion has the values
// that the record has at the end; several updates of a field become one, from the first old value
// to the last new value; a record that is inserted and deleted again does not appear. The deletion
// of a record, and the insertion of another one with its id, are two changes.
struct Transaction : Transaction_Info {
  std::vector<Change> changes;
};

// Number of records of a table that a transaction has changed, and of changes of the table itself
// or of its fields. The name is the last one that the table had in the transaction.
struct Table_Summary {
  Table_Id table;
  std::string name;
  std::uint64_t inserted = 0;
  std::uint64_t updated = 0;  // records that were neither inserted nor deleted
  std::uint64_t deleted = 0;
  std::uint64_t schema_changes = 0;
};

// A transaction without values. The counts are those of the changes of a Transaction, with two
// exceptions: if a vector of values was written over records that are not in use, they count as
// updated; and all entries about a record are merged, even if the schema changes between them.
struct Transaction_Summary : Transaction_Info {
  std::vector<Table_Summary> tables;  // sorted by id; only tables that have changed
  std::uint64_t marks = 0;            // number of Custom entries (format/entry.h)

  bool has_changes() const { return !tables.empty() || marks > 0; }
};

}  // namespace joedb::inline v1

#endif
