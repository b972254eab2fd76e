#ifndef JOEDB_HISTORY_TRANSACTION_H
#define JOEDB_HISTORY_TRANSACTION_H

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "joedb/schema/type.h"
#include "joedb/table/column.h"

namespace joedb::inline v1 {

// A value of one of the ten types, in the order of their codes. A string is a view.
using Value = std::variant<std::string_view, std::int32_t, std::int64_t, Record_Id, bool, float,
                           double, std::int8_t, std::int16_t, Blob>;

inline Type_Code type_of(const Value& value) { return static_cast<Type_Code>(value.index() + 1); }

// True if both have the same type and the same bits: a NaN is the same as itself, and 0.0 is not
// the same as -0.0.
bool is_same(const Value& a, const Value& b);

// Values of one type, copied from a column. They take as much memory as in the column, but none for
// long runs of default values, and none outside this object for a single value of at most 8 bytes.
// Copyable; views stay valid until the object changes.
class Values {
 public:
  Values() = default;
  explicit Values(Type_Code type) : type_(type) {}
  // `size` default values.
  Values(Type_Code type, index_t size) : type_(type) { append_defaults(size); }

  Type_Code type() const { return type_; }
  index_t size() const { return size_; }
  bool is_empty() const { return size_ == 0; }

  // Require 0 <= i < size(). get() requires that T is the type of the values.
  Value operator[](index_t i) const;
  template <Field_Value T>
  T get(index_t i) const {
    if constexpr (can_be_single<T>)
      if (parts_.empty()) return single<T>();
    const Part& part = parts_[static_cast<std::size_t>(i / rows_of_part)];
    const auto row = static_cast<std::size_t>(i % rows_of_part);
    if (part.is_default()) return T();
    if constexpr (std::is_same_v<T, std::string_view>) {
      const std::size_t begin = row > 0 ? part.ends[row - 1] : 0;
      return std::string_view(part.bytes).substr(begin, part.ends[row] - begin);
    } else if constexpr (std::is_same_v<T, bool>) {
      return part.bytes[row] != 0;  // a snapshot can have bytes that no bool has
    } else {
      return load<T>(part.bytes.data() + row * sizeof(T));
    }
  }

  // The append functions throw std::bad_alloc. The types must be the same.
  void append(const Value& value);
  // Appends rows [first, first + size) of a column, which must have them.
  void append(const Column_Base& column, index_t first, index_t size);
  // Appends values [first, first + size) of another object.
  void append(const Values& other, index_t first, index_t size);
  void append_defaults(index_t size);

  // True if values [first, first + size) have the same bits as rows [row, row + size) of a column
  // of the same type, which must have them. Fast where both are default values.
  bool is_same(index_t first, index_t size, const Column_Base& column, index_t row) const;
  // Returns the approximate memory of the values, in bytes.
  std::size_t memory() const;

  friend bool operator==(const Values& a, const Values& b);

 private:
  // Consecutive values. For strings: the concatenated texts, and the end of each of them. Both
  // members are empty while all values are default values.
  struct Part {
    std::string bytes;
    std::vector<std::size_t> ends;
    bool is_default() const { return bytes.empty() && ends.empty(); }
  };
  static constexpr index_t rows_of_part = 4096;

  // A single value of such a type is stored in single_, and there are no parts: most changes have
  // one value.
  template <Field_Value T>
  static constexpr bool can_be_single =
      !std::is_same_v<T, std::string_view> && sizeof(T) <= sizeof(std::uint64_t);
  template <Field_Value T>
  T single() const {
    return load<T>(reinterpret_cast<const char*>(&single_));
  }

  // Requires size() == 1 and no parts.
  void move_single_to_part();
  template <Field_Value T>
  void append_one(T value);
  template <Field_Value T>
  bool is_same_part(const Part& part, index_t row_of_part, index_t size, const Column<T>& column,
                    index_t row) const;

  // Calls f(part, rows, room) until `size` more values are appended. `part` has `rows` values; f
  // must append `room` values to it.
  template <class F>
  void append_in_parts(index_t size, F f);
  template <Field_Value T>
  static void append_value(Part& part, index_t rows, T value);

  Type_Code type_ = Type_Code::none;
  index_t size_ = 0;
  std::uint64_t single_ = 0;  // bytes of the value, padded with zeros
  std::vector<Part> parts_;
};

// The history of a database: transactions, and their changes of records, tables and fields. All
// types are values that own everything they refer to, so they can be kept for any time.

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
  Field_Description field = {};  // the added, renamed or dropped field, with its new name
  std::string old_name = {};     // of a renamed table or field
  std::string mark = {};         // name of a mark
  // For a drop: the number of records that the table had, and the values that became unreachable.
  // These are changes with only old values, of kind deleted for a table and updated for a field. If
  // !has_lost, the values were not kept (Change_Options::kept_values).
  index_t rows = 0;
  std::vector<Change> lost = {};
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
