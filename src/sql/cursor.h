#ifndef JOEDB_SRC_SQL_CURSOR_H
#define JOEDB_SRC_SQL_CURSOR_H

#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sql/plan.h"
#include "sql/virtual_table.h"

namespace joedb {

// Searches a table, and iterates over the records found. Reads ids in blocks, and removes from each
// block the ids of records that do not meet the conditions.
class Cursor : public sqlite3_vtab_cursor {
 public:
  // Begins to read the file. Passes on the exceptions of Shared_File::begin_reading.
  explicit Cursor(Virtual_Table& table)
      : sqlite3_vtab_cursor(),
        table_(table),
        opened_(table.file().begin_reading(*this, table.connection())) {}
  ~Cursor() {
    sqlite3_value_free(moment_);
    table_.file().end_reading(*opened_, *this);
  }
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  // Implements xFilter: begins a new search. `number` and `text` are the idxNum and idxStr that
  // Virtual_Table::choose has set. Throws Exception, Io_Error or std::bad_alloc.
  void filter(int number, const char* text, sqlite3_value** values);

  bool is_at_end() const { return next_ == end_; }
  // Requires !is_at_end(). The same holds for the functions below.
  void move_on() {
    if (++next_ == end_) [[unlikely]]
      next_block();
  }
  index_t id() const { return *next_; }
  // Returns id(), the rowid for SQLite. Notes whether the record is in a past state.
  index_t rowid() {
    has_given_past_rowid_ |= past_ != nullptr;
    return id();
  }
  // Returns true if rowid() has ever returned a record in a past state of `table`.
  bool has_given_past_rowid_of(const Virtual_Table& table) const {
    return has_given_past_rowid_ && &table == &table_;
  }
  // Passes the value of a column to SQLite. Throws Io_Error, Corruption_Error, or Exception if the
  // field was dropped.
  void give(sqlite3_context* context, int column) const;

  // Call this before the current state is replaced by another one. The cursor keeps the state that
  // it reads. Throws std::bad_alloc.
  void keep_state();
  // Call this after records of the current state were deleted. The cursor will skip these records,
  // but not the record at its position.
  void drop_deleted_records() noexcept;

 private:
  static constexpr std::size_t block_size = 1024;
  // Block size for reading through an index. It is small, so that the values of a block fit in a
  // cache.
  static constexpr std::size_t walk_size = 256;
  enum class Source { list, scan, index };

  bool find_one(sqlite3_value* id);
  void begin(sqlite3_value** values);
  void read_conditions(sqlite3_value** values);
  bool may_use(unsigned char op);
  void choose_state(sqlite3_value* moment);
  void use_state();
  State& state() const { return past_ ? *past_ : *opened_; }
  // Returns true if the cursor reads the current state, which follows other writers, and which
  // transactions change.
  bool is_present() const { return past_ == nullptr && opened_.get() == &table_.file().present(); }
  Range& range_of(int column);
  const Range* find_range(int column) const;
  const Column_Source& column(int number) const;
  bool can_be_null(int column) const;

  void begin_scan(const Range* ids);
  void begin_list(std::vector<index_t> ids);
  bool begin_index(const Index& index, bool is_descending);
  bool set_walk(const Index& index, const std::vector<Key_Part>& prefix, const Range* range,
                bool is_descending);
  const Index* usable_index() const;
  const Index* own_index();
  bool has_order(const Index& index) const;
  bool sorts_like_sql(const Index& index, std::size_t field) const;
  static bool sorts_like_sql(const Index& index, std::size_t field, const Range& range);
  static bool is_in_order(const Index& index, const std::vector<Key_Part>& prefix,
                          const Range& range);

  std::size_t fill_from_scan();
  std::size_t fill_from_index();
  // Finds the first block, unless begin_list() has found it.
  void start() {
    if (from_ != Source::list) next_block();
  }
  void fetch(std::size_t count) const;
  void next_block();
  std::vector<index_t> rest();
  void sort();

  Virtual_Table& table_;
  const std::shared_ptr<State> opened_;  // the current state when the cursor was opened
  // Address of the text from which plan_ was parsed. An equal address means an equal plan.
  const char* plan_text_ = nullptr;
  Plan plan_;

  std::optional<bool> may_join_outer_, has_other_patterns_;

  std::shared_ptr<State> past_;  // null: the cursor reads opened_
  bool has_given_past_rowid_ = false;
  bool is_writing_ = false;          // in a transaction, which may change values
  sqlite3_value* moment_ = nullptr;  // a copy of the argument for the moment
  Virtual_Table::Source past_source_;
  const Virtual_Table::Source* source_ = nullptr;

  std::vector<std::pair<int, Range>> ranges_;
  std::vector<std::pair<const Column_Source*, const Range*>> filters_;

  const index_t* next_ = nullptr;
  const index_t* end_ = nullptr;
  Source from_ = Source::list;
  std::array<index_t, block_size> block_;
  std::vector<index_t> list_;
  // For Source::scan: the ids that have not been checked yet, [scan_begin_, scan_end_).
  index_t scan_begin_ = 0, scan_end_ = 0;
  bool is_descending_ = false;
  // For Source::index: the cursor goes from walk_ to walk_end_. In ascending order, walk_end_ is
  // behind the last record; in descending order, it is the last record.
  Index::Cursor walk_, walk_end_;
  bool walk_is_descending_ = false;
  bool walk_is_done_ = false;
};

}  // namespace joedb

#endif
