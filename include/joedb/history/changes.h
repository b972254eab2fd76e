#ifndef JOEDB_HISTORY_CHANGES_H
#define JOEDB_HISTORY_CHANGES_H

#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "joedb/history/transaction.h"
#include "joedb/journal/readonly_journal.h"
#include "joedb/table/database.h"

// Reads the changes of a database from its journal: with old and new values, between any two
// positions, forwards or backwards.
//
//   for (const joedb::Transaction& transaction : joedb::Changes(file, from, to))
//     for (const joedb::Change& change : transaction.changes) …
//
// Both ends of a range are positions between two entries, and not past the checkpoint: find_moment
// (journal/readonly_journal.h) and Transaction_Info have such positions. Where a range starts or
// ends inside a transaction, only the part inside the range is returned.
//
// All functions and loops throw Exception if the range is not in the journal, or if it starts or
// ends inside an entry (which is detected when reading arrives there); Corruption_Error if an entry
// is invalid or, where values are read, does not fit the tables; Io_Error; std::bad_alloc. The
// transactions before an invalid entry are returned first. An object that has thrown cannot be used
// further. The limits are those of load() (table/load.h); apart from what loading takes, time and
// memory are proportional to the number of values that have changed. Not thread-safe.

namespace joedb::inline v1 {

struct Change_Options {
  // How much of the file is read: as for a Readonly_Journal.
  Recovery recovery = Recovery::none;
  // Limit on the number of values saved from dropped tables and fields: for all drops together,
  // kept_values times the size of the journal in bytes, or times 16,777,216 if that is more. The
  // values of a drop that would exceed the limit are left out.
  index_t kept_values = 1;
  // For Changes: an update has all fields of its records, including unchanged ones.
  bool has_all_fields = false;
  // If not empty: only changes of these tables and, if `record` is not null, only changes of the
  // record with this id. Other changes, marks and blobs are left out, and so are transactions of
  // which nothing remains. Empty: all changes, and `record` is ignored.
  std::vector<Table_Id> tables;
  Record_Id record;
};

// Returns the tables that have, or once had, this name. A table that was dropped and created again
// counts as two. Reads the journal from its start.
std::vector<Table_Id> tables_named(Abstract_File& file, std::string_view name,
                                   Recovery recovery = Recovery::none);

// An input iterator over an object whose function next() returns the address of an item, which is
// valid until the next call, or null at the end.
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
// it skips values, keeps no tables in memory, and stores only ranges of ids of the records that a
// transaction has changed. It also reads what precedes the range, or takes it from a snapshot, for
// the names of tables and fields.
class Summaries {
 public:
  using Item = Transaction_Summary;

  // `file` must outlive it.
  Summaries(Abstract_File& file, Offset from, Offset to, const Change_Options& options = {});
  // The range is the whole journal, up to its checkpoint.
  explicit Summaries(Abstract_File& file, const Change_Options& options = {});
  ~Summaries();
  Summaries(Summaries&&) noexcept;
  Summaries& operator=(Summaries&&) noexcept;

  // Returns the next transaction, valid until the next call; null at the end.
  const Transaction_Summary* next();
  // For one loop only: a second one continues where the first one ended.
  Stream_Iterator<Summaries> begin() { return Stream_Iterator<Summaries>(*this); }
  Stream_Iterator<Summaries> end() const { return {}; }

  // range_end() is the end of the range. After next() has returned null, pull() extends the range
  // to the present checkpoint of the file, and returns true if there is anything new. An incomplete
  // transaction is not returned again: its rest is returned as another transaction.
  Offset range_end() const;
  bool pull();

 private:
  class Reader;
  std::unique_ptr<Reader> reader_;
};

// Returns the transaction that wrote the byte before this position: begin < position <= end.
// Returns nullopt if there is none: the position is not after the start of the first transaction,
// or is past the checkpoint. Reads the journal from its start.
std::optional<Transaction_Summary> find_transaction(Abstract_File& file, Offset position,
                                                    const Change_Options& options = {});

// ---- with values --------------------------------------------------------------------------------

// Iterates over the transactions of a range, in order, with their changes.
//
// Keeps a database in memory and replays the transactions into it. The database starts with the
// state at the start of the range, as load() makes it, from a snapshot if there is one. So this
// needs memory for the database (only for the pages touched, in the part that is mapped from a
// snapshot), and for the changes of one transaction.
class Changes {
 public:
  using Item = Transaction;

  // `file` must outlive it.
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
// A Summaries first finds their positions, which take 16 bytes for each. Then the range is read in
// pieces, the last one first. Each piece is read forwards, and its transactions are kept until they
// have been returned. The first piece is small, and each later one is twice as large as the one
// before, up to 64 MiB of the journal and 65,536 transactions: the newest transactions come soon,
// and there are few pieces. A piece is cut where its transactions take more than 256 MiB of memory,
// unless a single one does. The state at the start of each piece is loaded, which is faster if
// snapshots were kept.
template <class Stream>
class Reversed {
 public:
  using Item = typename Stream::Item;
  // `file` must outlive it.
  Reversed(Abstract_File& file, Offset from, Offset to, const Change_Options& options = {});
  explicit Reversed(Abstract_File& file, const Change_Options& options = {});
  // Only these transactions. `places` must be in the order of the journal.
  Reversed(Abstract_File& file, std::vector<Transaction_Place> places,
           const Change_Options& options = {});

  // Returns the previous transaction, valid until the next call; null when there are no more.
  const Item* next();
  Stream_Iterator<Reversed> begin() { return Stream_Iterator<Reversed>(*this); }
  Stream_Iterator<Reversed> end() const { return {}; }

 private:
  void find_places(Summaries summaries);
  void read_piece();

  Abstract_File* file_;
  Change_Options options_;
  std::vector<Transaction_Place> places_;  // transactions not read yet
  std::vector<Item> items_;                // of the piece read last
  Offset piece_size_ = Offset{1} << 18;
};

extern template class Reversed<Summaries>;
extern template class Reversed<Changes>;

// ---- from state to state ------------------------------------------------------------------------

// Returns the smallest list of changes that turns the state at position a into the state at
// position b. Either position may be the later one. The changes must be applied in order: first new
// tables and fields; then records, sorted by table and record, each with only the fields whose
// values differ; then drops. Renames come first if b is the later position, and last otherwise.
// There are no marks.
//
// Loads the state at the earlier position, and reads the journal between the two positions once.
// Needs memory for the database and for the records touched between the positions.
std::vector<Change> net_changes(Abstract_File& file, Offset a, Offset b,
                                const Change_Options& options = {});

// Returns the changes that undo these, in the opposite order. Marks are left out.
std::vector<Change> reversed(const std::vector<Change>& changes);

// ---- versions of a record, writers of its values ------------------------------------------------

// The values of a record from one transaction to another.
struct Record_Version {
  // One value for each field that the table had then.
  std::vector<std::pair<Field_Id, Values>> fields;
  Transaction_Info from;  // transaction that wrote this version
  // The transaction that changed or deleted the record; nullopt: the version is current.
  std::optional<Transaction_Info> until;
};

// Returns all versions of a record up to the checkpoint, the oldest one first, at most one for each
// transaction. If the id was used again, the versions of all records that had it are included.
// Versions before and after a change of fields have different fields.
//
// `options.tables` and `options.record` are ignored. The journal is decoded twice, without the
// values of other records: time is proportional to its size, memory to the result. Throws what
// Summaries throws.
std::vector<Record_Version> record_versions(Abstract_File& file, Table_Id table, Record_Id record,
                                            const Change_Options& options = {});

// Finds the transaction that wrote each value of a table, or of one record.
//
//   const joedb::Blame blame(file, database, end, table);
//   if (const joedb::Transaction_Info* writer = blame.writer(record, field)) …
//
// The writer of a value is the last of three: the transaction that last updated it; the one that
// inserted the record; and, for a default value, the one that added the field to the table. An
// update counts even if it left the value unchanged.
//
// The journal is decoded twice, without its values: once for the positions of the writes, once for
// their transactions. Memory is about 150 bytes for each range of records that was written at once
// and not overwritten, so at most proportional to the journal, whatever the size of the table; plus
// the Transaction_Info of each writer.
class Blame {
 public:
  // `database` must have the content at position `end`, as load() makes it; it is used only during
  // this call. A null `record` stands for all records. Throws what load() throws, Exception if the
  // database does not have the table or if `end` is not a position between two entries,
  // std::bad_alloc.
  Blame(Abstract_File& file, const Database& database, Offset end, Table_Id table,
        Record_Id record = {}, Recovery recovery = Recovery::none);

  // The functions below return null if the record is not in use, if the field does not exist, or if
  // the object does not cover the record. The result is valid while this object exists.
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
    // Sorts the ranges, and removes the overwritten ones.
    void sort();
    // These functions require that nothing was added since sort(). at() returns 0 for a record that
    // was never written.
    Offset at(index_t record) const;
    const std::vector<Range>& ranges() const { return ranges_; }
    // Returns, for each record, the later of its two positions. Both arguments must be sorted.
    static Written later_of(const Written& a, const Written& b);

   private:
    void append(index_t first, index_t end, Offset position);

    std::vector<Range> ranges_;  // the first sorted_ of them are sorted and do not overlap
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
  Written inserted_;             // 0 for records that are not in use
  Written last_;                 // the last insertion or update of any field
  std::vector<Column> columns_;  // by field id
  std::vector<bool> is_field_;   // true if the field still exists
  std::vector<Transaction_Info> transactions_;
};

}  // namespace joedb::inline v1

#endif
