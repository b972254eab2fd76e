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

// What has changed in a database, read from its journal: with old and new values, from any position
// to any other, forwards and backwards.
//
//   for (const joedb::Transaction& transaction : joedb::Changes(file, from, to))
//     for (const joedb::Change& change : transaction.changes) …
//
// A range goes from one position between two entries to another one, and is not behind the
// checkpoint: as find_moment (journal/moment.h) gives it, or Transaction_Info. A transaction that
// the range cuts is given with what is inside.
//
// All functions and loops throw Exception for a range that the journal does not have, or that
// begins or ends inside of an entry (which is seen when reading comes to it), Corruption_Error if
// an entry is invalid or, where there are values, does not fit the tables; Io_Error;
// std::bad_alloc. The transactions before an invalid entry are given first. After an error an
// object is of no more use. Limits are those of load() (table/load.h); beyond them, time and memory
// are proportional to the number of values that have changed. Not thread-safe.

namespace joedb::inline v1 {

struct Change_Options {
  // What is read of the file: as for a Readonly_Journal.
  Recovery recovery = Recovery::none;
  // How many of the values are kept that drops of tables and fields make unreachable: all together
  // this number times as many as the journal has bytes, or times 16,777,216 if that is more. The
  // values of other drops are left out.
  index_t kept_values = 1;
  // For Changes: an update has all fields of its records, also those that have not changed.
  bool has_all_fields = false;
  // Only changes of these tables, and only those of a record with this id, if it is not null.
  // Transactions without any are left out, and changes of others, marks and blobs. Without tables:
  // all changes.
  std::vector<Table_Id> tables;
  Record_Id record;
};

// The tables that have, or had once, this name: one that was dropped and made again is two. Reads
// the journal from its start.
std::vector<Table_Id> tables_named(Abstract_File& file, std::string_view name,
                                   Recovery recovery = Recovery::none);

// An input iterator over objects with a function next() that returns the address of an item, valid
// until the next call, or null.
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

// The transactions of a range, in their order, with counts of what they have changed. This is
// cheap: values are skipped, there are no tables in memory, and of the records a transaction has
// changed no more is known than ranges of their ids. What is before the range is read, too, or
// comes from a snapshot, for the names of tables and fields.
class Summaries {
 public:
  using Item = Transaction_Summary;

  // `file` must outlive it.
  Summaries(Abstract_File& file, Offset from, Offset to, const Change_Options& options = {});
  // Everything before the checkpoint.
  explicit Summaries(Abstract_File& file, const Change_Options& options = {});
  ~Summaries();
  Summaries(Summaries&&) noexcept;
  Summaries& operator=(Summaries&&) noexcept;

  // The next transaction, valid until the next call; null at the end.
  const Transaction_Summary* next();
  // One loop only: it goes on where the last one has ended.
  Stream_Iterator<Summaries> begin() { return Stream_Iterator<Summaries>(*this); }
  Stream_Iterator<Summaries> end() const { return {}; }

  // Where the range ends. After next() has returned null, pull() makes it go on to what is the
  // checkpoint of the file now, and returns whether there is anything new. A transaction that was
  // not complete is not given again: its rest is another one.
  Offset range_end() const;
  bool pull();

 private:
  class Reader;
  std::unique_ptr<Reader> reader_;
};

// The transaction that wrote the byte before this position: its own end is a position of it, its
// beginning is the end of the one before. Nothing if there is none: the position is not behind the
// beginning of the first one, or behind the checkpoint. Reads the journal from its start.
std::optional<Transaction_Summary> find_transaction(Abstract_File& file, Offset position,
                                                    const Change_Options& options = {});

// ---- with values --------------------------------------------------------------------------------

// The transactions of a range, in their order, with their changes.
//
// It has a database in memory that follows: it begins with the state at the beginning of the range,
// as load() makes it, from a snapshot if there is one. So it needs the memory of the database (that
// of a snapshot is mapped: what is touched of it), and of the changes of one transaction.
class Changes {
 public:
  using Item = Transaction;

  // `file` must outlive it.
  Changes(Abstract_File& file, Offset from, Offset to, const Change_Options& options = {});
  explicit Changes(Abstract_File& file, const Change_Options& options = {});
  ~Changes();
  Changes(Changes&&) noexcept;
  Changes& operator=(Changes&&) noexcept;

  // As of Summaries.
  const Transaction* next();
  Stream_Iterator<Changes> begin() { return Stream_Iterator<Changes>(*this); }
  Stream_Iterator<Changes> end() const { return {}; }
  Offset range_end() const;
  bool pull();

  // The state after the transaction that next() has returned; before the first call, the state at
  // the beginning of the range.
  const Database& database() const;
  // The same transaction without values.
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

// Where a transaction is, as in Transaction_Info.
struct Transaction_Place {
  Offset begin;
  Offset end;
};

// The transactions of a range from the last to the first: Reversed<Changes>, Reversed<Summaries>.
//
// A Summaries finds their positions, 16 bytes for each. Then the range is read in pieces, from the
// last: each piece forwards, and its transactions are kept until they have been given. The first
// piece is small, later ones twice as large as the one before, up to 64 MiB of the journal and
// 65,536 transactions: so the newest ones come soon, and pieces are few. A piece is cut where its
// transactions take more than 256 MiB of memory, unless one alone does. For each piece the state at
// its beginning is loaded, which kept snapshots make faster.
template <class Stream>
class Reversed {
 public:
  using Item = typename Stream::Item;
  // `file` must outlive it.
  Reversed(Abstract_File& file, Offset from, Offset to, const Change_Options& options = {});
  explicit Reversed(Abstract_File& file, const Change_Options& options = {});
  // Only these transactions, which are given in the order of the journal.
  Reversed(Abstract_File& file, std::vector<Transaction_Place> places,
           const Change_Options& options = {});

  // The transaction before, valid until the next call; null when there is no more.
  const Item* next();
  Stream_Iterator<Reversed> begin() { return Stream_Iterator<Reversed>(*this); }
  Stream_Iterator<Reversed> end() const { return {}; }

 private:
  void find_places(Summaries summaries);
  void read_piece();

  Abstract_File* file_;
  Change_Options options_;
  std::vector<Transaction_Place> places_;  // of those that have not been read
  std::vector<Item> items_;                // of the piece that was read last
  Offset piece_size_ = Offset{1} << 18;
};

extern template class Reversed<Summaries>;
extern template class Reversed<Changes>;

// ---- from state to state ------------------------------------------------------------------------

// What makes the state at position b of the state at position a, whichever is the later one, as few
// changes: applied in their order, they do that. First tables and fields that are new or have
// another name, by table; then records, sorted by table and record, with those fields alone whose
// values differ; then drops. The state at the earlier one is loaded, and what is between the two
// positions is read once; the memory is that of the database, and of the records that were touched
// in between. There are no marks.
std::vector<Change> net_changes(Abstract_File& file, Offset a, Offset b,
                                const Change_Options& options = {});

// What takes these changes back, the last one first.
std::vector<Change> reversed(const std::vector<Change>& changes);

}  // namespace joedb::inline v1

#endif
