#ifndef JOEDB_HISTORY_CHANGES_H
#define JOEDB_HISTORY_CHANGES_H

#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
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

}  // namespace joedb::inline v1

#endif
