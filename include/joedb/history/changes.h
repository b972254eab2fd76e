#ifndef JOEDB_HISTORY_CHANGES_H
#define JOEDB_HISTORY_CHANGES_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "joedb/io/file.h"
#include "joedb/journal/readonly_journal.h"
#include "joedb/schema/type.h"
#include "joedb/table/column.h"
#include "joedb/table/database.h"

namespace joedb::inline v1 {

// ---- values -------------------------------------------------------------------------------------

// A value of one of the ten types. The alternatives are in the order of the type codes (type_of). A
// string is a view, not a copy.
using Value = std::variant<std::string_view, std::int32_t, std::int64_t, Record_Id, bool, float,
                           double, std::int8_t, std::int16_t, Blob>;

inline Type_Code type_of(const Value& value) { return static_cast<Type_Code>(value.index() + 1); }

// True if both values have the same type and the same bits. So a NaN is the same as itself, and 0.0
// is not the same as -0.0.
bool is_same(const Value& a, const Value& b);

// Values of one type, copied from a column. They take as much memory as in the column, except that
// long runs of default values take none, and a single value of at most 8 bytes is stored inside
// this object. Views stay valid until this object changes.
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
      return part.bytes[row] != 0;  // in a snapshot, the byte may be neither 0 nor 1
    } else {
      return load<T>(part.bytes.data() + row * sizeof(T));
    }
  }

  // The append functions throw std::bad_alloc. The new values must have the type of this object.
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
  // Consecutive values. For strings, `bytes` holds the concatenated texts, and `ends` the end of
  // each text. Both members are empty while all values are default values.
  struct Part {
    std::string bytes;
    std::vector<std::size_t> ends;
    bool is_default() const { return bytes.empty() && ends.empty(); }
  };
  static constexpr index_t rows_of_part = 4096;

  // True if a single value of this type is stored in single_, without parts. Most changes have a
  // single value.
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

// The history of a database: transactions, and their changes of records, tables and fields. Objects
// of all these types own everything to which they refer, so a program may keep them as long as it
// likes.

// ---- names --------------------------------------------------------------------------------------

// A field at the time of a change. The id identifies the field even if the field is renamed.
struct Field_Description {
  Field_Id id;
  std::string name;
  Type type;
  std::string referenced;  // name of the referenced table; empty if the table was dropped
  Shared_Logical_Type logical = {};
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

// A change of one or more records with consecutive ids, of a table, or of a field.
//
// Adjacent records that have changed in the same way form one change: for example, ten million new
// rows are one change. To visit single records:
//
//   for (index_t i = 0; i < change.size; ++i)
//     for (const Field_Change& field : change.fields)
//       use(change.record + i, field.old_values[i], field.new_values[i]);
struct Change {
  enum class Kind {
    inserted,  // records, with the values of all fields
    updated,   // existing records, with the fields that were updated
    deleted,   // records, with the former values of all fields
    table_created,
    table_renamed,
    table_dropped,
    field_added,
    field_renamed,
    field_dropped,
    field_typed,  // the logical type of a field was declared
    custom,       // Custom of format/entry.h: a mark
  };

  Kind kind = Kind::custom;
  // The table; null for a mark. For table_dropped, the description includes the fields that the
  // table had; for other changes of the schema, it includes no fields. For an update, it may
  // include only the updated fields, if the table or its name has changed many times in the same
  // transaction.
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
  // Return a name. Require that `table` is not null; field_name() requires that `field` is one of
  // `fields`.
  const std::string& table_name() const { return table->name; }
  const std::string& field_name(const Field_Change& field) const;
};

// The details of a change of the schema, in addition to its table.
struct Schema_Change {
  Field_Description field = {};       // the field, with its new name
  std::string old_name = {};          // old name of a renamed table or field
  Shared_Logical_Type old_type = {};  // for field_typed; `field` has the new one
  std::string mark = {};              // name of a mark
  // For a drop, `rows` is the number of records that the table had, and `lost` holds the values
  // that became unreachable. These values are changes with only old values; their kind is deleted
  // for a table, and updated for a field. If !has_lost, the values were not saved
  // (Change_Options::kept_values).
  index_t rows = 0;
  std::vector<Change> lost = {};
  bool has_lost = true;
};

// ---- transactions -------------------------------------------------------------------------------

// The position, time and comments of a transaction.
//
// A transaction ends with a Valid_Data or a Timestamp entry, or with a Valid_Data directly followed
// by a Timestamp, as clients and generated code write them. The transactions of a client that
// writes neither cannot be distinguished. Before the first such end in a journal, a comment starts
// a new transaction, unless the current transaction consists only of comments: so comments divide a
// journal of joedbi, which has no ends. Entries after the last end are a transaction that is not
// complete. When a journal grows, only its last transaction can change. Integrity entries after the
// end of a transaction belong to it. A comment without text, which writers sometimes append, is
// ignored.
struct Transaction_Info {
  // The entries of the transaction are in [begin, end). Both are positions between two entries.
  Offset begin = 0;
  Offset end = 0;
  // End of the last entry that is not an integrity entry.
  Offset entries_end = 0;
  // Seconds since 1970: the first time stamp in the transaction; if it has none, the last time
  // stamp before it; nullopt if there is none.
  std::optional<std::int64_t> time;
  bool has_own_time = false;
  // True if the transaction has an end, as described above.
  bool is_complete = false;
  // The comments in the transaction, in order. The first comment is the reason of the transaction.
  // A comment "author: NAME" that is the first comment, or directly follows the first comment, is
  // omitted.
  std::vector<std::string> comments;
  std::string author;
  // Number of blobs written, and their total size in bytes.
  index_t blobs = 0;
  Offset blob_bytes = 0;
};

// Prefix of the comment that names the author.
inline constexpr std::string_view author_mark = "author: ";
// Prefix of the comment that an undo or redo writes (joedb/history/undo.h). The prefix is followed
// by the position of the end of the transaction that is reverted.
inline constexpr std::string_view undone_mark = "takes back: ";

// A transaction with its changes, in the order of their first entries. Entries about the same
// record are merged, unless a change of the schema is between them. An insertion has the values
// that the record has at the end of the transaction. Several updates of a field become one update,
// from the first old value to the last new value. A record that is inserted and deleted again does
// not appear. If a record is deleted and its id is reused, these are two changes.
struct Transaction : Transaction_Info {
  std::vector<Change> changes;
};

// The number of records of a table that a transaction has changed, and the number of changes of the
// table itself or of its fields. `name` is the last name that the table had in the transaction.
struct Table_Summary {
  Table_Id table;
  std::string name;
  std::uint64_t inserted = 0;
  std::uint64_t updated = 0;  // records that were neither inserted nor deleted
  std::uint64_t deleted = 0;
  std::uint64_t schema_changes = 0;
};

// A transaction without values. The counts are those of the changes in a Transaction, with two
// exceptions. Records that are not in use count as updated if a vector of values was written over
// them. All entries about a record are merged, even if the schema changes between them.
struct Transaction_Summary : Transaction_Info {
  std::vector<Table_Summary> tables;  // sorted by id; only tables that have changed
  std::uint64_t marks = 0;            // number of Custom entries (format/entry.h)
  // Number of indexes that were declared or dropped. These are among the schema_changes of their
  // tables, but a Transaction does not have them as changes, so they cannot be undone.
  std::uint64_t index_changes = 0;

  bool has_changes() const { return !tables.empty() || marks > 0; }
  // True if there is at least one index change, and no other change of a table.
  bool has_only_index_changes() const;
};

// ---- reading ------------------------------------------------------------------------------------

// Reads the changes of a database from its journal, with old and new values, between any two
// positions, forwards or backwards.
//
//   for (const joedb::Transaction& transaction : joedb::Changes(file, from, to))
//     for (const joedb::Change& change : transaction.changes) …
//
// Both ends of a range must be positions between two entries, and not past the checkpoint.
// find_moment (journal/readonly_journal.h) and Transaction_Info provide such positions. If a range
// starts or ends inside a transaction, only the part inside the range is returned.
//
// All functions and loops throw Io_Error and std::bad_alloc. They throw Exception if the range is
// not in the journal, or if it starts or ends inside an entry; this is detected when that entry is
// read. They throw Corruption_Error if an entry is invalid, or, where values are read, does not
// match the tables; the transactions before this entry are returned first. After an exception, the
// object cannot be used. The limits are those of load() (table/load.h). In addition to the cost of
// loading, time and memory are proportional to the number of values that have changed. Not
// thread-safe.

struct Change_Options {
  // Determines how much of the file is read, as for a Readonly_Journal.
  Recovery recovery = Recovery::none;
  // Determines the limit on the number of values saved from dropped tables and fields. The limit
  // for all drops together is kept_values times the size of the journal in bytes, but at least
  // kept_values times 16,777,216. If the values of a drop would exceed the limit, they are omitted.
  index_t kept_values = 1;
  // For Changes: if true, an update has all fields of its records, including unchanged fields.
  bool has_all_fields = false;
  // If empty, all changes are returned, and `record` is ignored. Otherwise, only changes of these
  // tables are returned, and if `record` is not null, only changes of the record with this id.
  // Other changes, marks and blobs are omitted, and so are transactions that would be empty.
  std::vector<Table_Id> tables;
  Record_Id record;
};

// Returns the tables that have, or once had, this name. A table that was dropped and created again
// counts as two tables. Reads the journal from its start.
std::vector<Table_Id> tables_named(Abstract_File& file, std::string_view name,
                                   Recovery recovery = Recovery::none);

// An input iterator over an object with a function next(). next() returns the address of an item,
// which is valid until the next call; null at the end.
template <class Stream>
class Stream_Iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = typename Stream::Item;
  using difference_type = std::ptrdiff_t;
  using pointer = const value_type*;
  using reference = const value_type&;

  Stream_Iterator() = default;
  explicit Stream_Iterator(Stream& stream) : stream_(&stream), item_(stream.next()) {}
  reference operator*() const { return *item_; }
  pointer operator->() const { return item_; }
  Stream_Iterator& operator++() {
    item_ = stream_->next();
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const Stream_Iterator& a, const Stream_Iterator& b) {
    return a.item_ == b.item_;
  }

 private:
  Stream* stream_ = nullptr;
  pointer item_ = nullptr;
};

// ---- without values -----------------------------------------------------------------------------

// Iterates over the transactions of a range, in order, with counts of their changes. This is cheap:
// values are skipped, no tables are kept in memory, and of the records that a transaction has
// changed, only ranges of ids are stored. To know the names of tables and fields, this class also
// reads the entries before the range, or a snapshot instead.
class Summaries {
 public:
  using Item = Transaction_Summary;

  // `file` must outlive this object.
  Summaries(Abstract_File& file, Offset from, Offset to, const Change_Options& options = {});
  // The range is the whole journal, up to its checkpoint.
  explicit Summaries(Abstract_File& file, const Change_Options& options = {});
  ~Summaries();
  Summaries(Summaries&&) noexcept;
  Summaries& operator=(Summaries&&) noexcept;

  // Returns the next transaction, valid until the next call; null at the end.
  const Transaction_Summary* next();
  // Only one loop is possible: a second loop continues where the first loop ended.
  Stream_Iterator<Summaries> begin() { return Stream_Iterator<Summaries>(*this); }
  Stream_Iterator<Summaries> end() const { return {}; }

  // range_end() returns the end of the range. After next() has returned null, pull() extends the
  // range to the current checkpoint of the file, and returns true if there are new entries. If an
  // incomplete transaction was returned already, its remaining entries are returned as another
  // transaction.
  Offset range_end() const;
  bool pull();

 private:
  class Reader;
  std::unique_ptr<Reader> reader_;
};

// Returns the transaction that wrote the byte before this position: begin < position <= end.
// Returns nullopt if `position` is at or before the start of the first transaction, or past the
// checkpoint. Reads the journal from its start.
std::optional<Transaction_Summary> find_transaction(Abstract_File& file, Offset position,
                                                    const Change_Options& options = {});

// ---- with values --------------------------------------------------------------------------------

// Iterates over the transactions of a range, in order, with their changes.
//
// Keeps a database in memory, and replays the transactions into it. The database starts with the
// state at the start of the range, loaded by load(), which uses a snapshot if there is one. This
// takes memory for the database and for the changes of one transaction. Pages that are mapped from
// a snapshot take memory only when they are touched.
class Changes {
 public:
  using Item = Transaction;

  // `file` must outlive this object.
  Changes(Abstract_File& file, Offset from, Offset to, const Change_Options& options = {});
  explicit Changes(Abstract_File& file, const Change_Options& options = {});
  ~Changes();
  Changes(Changes&&) noexcept;
  Changes& operator=(Changes&&) noexcept;

  // As in Summaries.
  const Transaction* next();
  Stream_Iterator<Changes> begin() { return Stream_Iterator<Changes>(*this); }
  Stream_Iterator<Changes> end() const { return {}; }
  Offset range_end() const;
  bool pull();

  // The state after the transaction that next() returned last; before the first call, the state at
  // the start of the range.
  const Database& database() const;
  // The summary of the transaction that next() returned last.
  const Transaction_Summary& summary() const;

 private:
  class Reader;
  std::unique_ptr<Reader> reader_;
};

inline Changes changes(Abstract_File& file, Offset from, Offset to,
                       const Change_Options& options = {}) {
  return {file, from, to, options};
}

// ---- backwards ----------------------------------------------------------------------------------

// The positions of a transaction, as in Transaction_Info.
struct Transaction_Place {
  Offset begin;
  Offset end;
};

// Iterates over the transactions of a range from the last to the first: Reversed<Changes>,
// Reversed<Summaries>.
//
// First, a Summaries object finds the positions of the transactions, which take 16 bytes each. Then
// the range is read in pieces, the last piece first. Each piece is read forwards, and its
// transactions are kept until they have been returned. The first piece that is read is small, so
// that the newest transactions are returned soon. Each further piece is twice as large, up to 64
// MiB of the journal and 65,536 transactions, so that there are few pieces. A piece whose
// transactions take more than 256 MiB of memory is divided, unless it is a single transaction. The
// state at the start of each piece is loaded, which is faster if there are kept snapshots.
template <class Stream>
class Reversed {
 public:
  using Item = typename Stream::Item;
  // `file` must outlive this object.
  Reversed(Abstract_File& file, Offset from, Offset to, const Change_Options& options = {});
  explicit Reversed(Abstract_File& file, const Change_Options& options = {});
  // Returns only the transactions at these places, which must be in the order of the journal.
  Reversed(Abstract_File& file, std::vector<Transaction_Place> places,
           const Change_Options& options = {});

  // Returns the previous transaction, valid until the next call; null after the first transaction
  // of the range.
  const Item* next();
  Stream_Iterator<Reversed> begin() { return Stream_Iterator<Reversed>(*this); }
  Stream_Iterator<Reversed> end() const { return {}; }

 private:
  void find_places(Summaries summaries);
  void read_piece();

  Abstract_File* file_;
  Change_Options options_;
  std::vector<Transaction_Place> places_;  // transactions not read yet
  std::vector<Item> items_;                // transactions of the piece read last
  Offset piece_size_ = Offset{1} << 18;
};

extern template class Reversed<Summaries>;
extern template class Reversed<Changes>;

// ---- from state to state ------------------------------------------------------------------------

// Returns the smallest list of changes that turns the state at position a into the state at
// position b. Position b may be before position a. The changes must be applied in order: new tables
// and fields; then records, sorted by table and record, with only the fields whose values differ;
// then drops. Renames are first if a < b, and last otherwise. The list contains no marks.
//
// Loads the state at the earlier position, and reads the journal between the two positions once.
// Needs memory for the database and for the records touched between the positions.
std::vector<Change> net_changes(Abstract_File& file, Offset a, Offset b,
                                const Change_Options& options = {});

// Returns the changes that undo `changes`, in reverse order. Marks are omitted.
std::vector<Change> reversed(const std::vector<Change>& changes);

// ---- versions of a record, writers of its values ------------------------------------------------

// The values of a record from one transaction to another.
struct Record_Version {
  // One value for each field that the table had then.
  std::vector<std::pair<Field_Id, Values>> fields;
  Transaction_Info from;  // transaction that wrote this version
  // The transaction that ended this version, by a change or deletion; nullopt if the version is
  // current.
  std::optional<Transaction_Info> until;
};

// Returns all versions of a record up to the checkpoint, the oldest version first, and at most one
// version for each transaction. If the id was reused, the versions of all records that had this id
// are included. A version has the fields that the table had then.
//
// `options.tables` and `options.record` are ignored. The journal is decoded twice, but the values
// of other records are skipped. Time is proportional to the size of the journal, and memory to the
// size of the result. Throws the exceptions of Summaries.
std::vector<Record_Version> record_versions(Abstract_File& file, Table_Id table, Record_Id record,
                                            const Change_Options& options = {});

// Finds the transaction that wrote each value of a table, or each value of one record.
//
//   const joedb::Blame blame(file, database, end, table);
//   if (const joedb::Transaction_Info* writer = blame.writer(record, field)) …
//
// The writer of a value is the latest of these transactions: the last that updated the value, even
// to the same value; the one that inserted the record; and, for a default value, the one that added
// the field to the table.
//
// The journal is decoded twice, and values are skipped: once to find the positions of the writes,
// and once to find their transactions. This takes about 150 bytes of memory for each range of
// records that was written at once and not overwritten, and the Transaction_Info of each writer. So
// memory is at most proportional to the size of the journal, and does not depend on the size of the
// table.
class Blame {
 public:
  // `database` must have the content at position `end`, as after load(); it is used only during
  // this call. If `record` is null, the object covers all records; otherwise, only this record.
  // Throws the exceptions of load(), std::bad_alloc, and Exception if the database does not have
  // the table or if `end` is not a position between two entries.
  Blame(Abstract_File& file, const Database& database, Offset end, Table_Id table,
        Record_Id record = {}, Recovery recovery = Recovery::none);

  // These functions return null if the record is not in use, if the field does not exist, or if
  // this object does not cover the record. The result is valid while this object exists.
  const Transaction_Info* writer(Record_Id record, Field_Id field) const;
  // The transaction that last inserted the record, or updated one of its fields that still exist.
  const Transaction_Info* last_writer(Record_Id record) const;
  // The transaction that inserted the record.
  const Transaction_Info* inserter(Record_Id record) const;

  // All transactions that these functions can return, in the order of the journal.
  const std::vector<Transaction_Info>& transactions() const { return transactions_; }

 private:
  class Reader;

  // Positions in the journal at which records were last written. A position identifies the
  // transaction of the write: it is after the start of the transaction and not after its end.
  class Written {
   public:
    struct Range {
      index_t first;
      index_t end;
      Offset position;
    };
    // Sets the position of records [first, end).
    void add(index_t first, index_t end, Offset position);
    // Sorts the ranges by record, and removes the parts that later calls of add() have overwritten.
    void sort();
    // These functions require that nothing was added since sort(). at() returns 0 for a record that
    // was never written.
    Offset at(index_t record) const;
    const std::vector<Range>& ranges() const { return ranges_; }
    // Returns, for each record, the later of its positions in `a` and `b`. Both arguments must be
    // sorted.
    static Written later_of(const Written& a, const Written& b);

   private:
    void append(index_t first, index_t end, Offset position);

    std::vector<Range> ranges_;  // the first sorted_ ranges are sorted and do not overlap
    std::size_t sorted_ = 0;
    std::size_t limit_ = std::size_t{1} << 20;  // number of ranges at which add() sorts them
  };
  struct Column {
    Offset added = 0;  // position at which the field was added to the table
    Written written;
  };

  bool has(Record_Id record) const;
  void find_last();
  void find_transactions(Abstract_File& file, Offset end, Table_Id table, Recovery recovery);
  const Transaction_Info* transaction(Offset position) const;

  index_t first_ = 0;  // the object covers records [first_, end_)
  index_t end_ = 0;
  Written inserted_;             // position 0 for records that are not in use
  Written last_;                 // positions of the last insertion, or update of any field
  std::vector<Column> columns_;  // indexed by field id
  std::vector<bool> is_field_;   // true if the field still exists
  std::vector<Transaction_Info> transactions_;
};

// ---- differences --------------------------------------------------------------------------------

struct Difference_Options {
  // The files that hold the blobs. If both are set, two blobs are equal if their bytes are equal.
  // Otherwise, two blobs are equal if they have the same position and size.
  const Abstract_File* blobs_of_a = nullptr;
  const Abstract_File* blobs_of_b = nullptr;
  // Maximum number of values saved from dropped tables and fields, for all drops together.
  index_t kept_values = index_t{1} << 24;
};

// Returns the changes that turn `a` into `b`; the histories of the databases do not matter. Tables
// correspond if they have the same name, fields if they have the same name and type, and records if
// they have the same id. Two reference types are the same if the referenced tables have the same
// name.
//
// The changes must be applied in order: drops of fields that have another type in `b`; then new
// tables and fields; then records, sorted by table and record, with only the fields whose values
// differ; then other drops. There are no renames. Ids of tables and fields are those in `a`; new
// tables and fields have the ids that they will get in `a`.
//
// Columns are compared in blocks: comparing equal numbers takes as long as reading the memory.
// Throws std::bad_alloc, and Io_Error or Corruption_Error for blobs that cannot be read.
std::vector<Change> differences(const Database& a, const Database& b,
                                const Difference_Options& options = {});

}  // namespace joedb::inline v1

#endif
