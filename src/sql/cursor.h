#ifndef SQL_CURSOR_H
#define SQL_CURSOR_H

#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sql/plan.h"
#include "sql/virtual_table.h"

namespace joedb {

// A search in a table, and its records one after the other. They are found in blocks: ids, of which
// those that do not meet the conditions are taken away.
class Cursor : public sqlite3_vtab_cursor {
 public:
  // Begins to read the file: throws what Shared_File::begin_reading throws.
  explicit Cursor(Virtual_Table& table)
      : sqlite3_vtab_cursor(), table_(table), opened_(table.file().begin_reading(*this)) {}
  ~Cursor() {
    sqlite3_value_free(moment_);
    table_.file().end_reading(*opened_, *this);
  }
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  // xFilter: a new search, for what Virtual_Table::choose has written to idxNum and idxStr. Throws
  // Exception, Io_Error, std::bad_alloc.
  void filter(int number, const char* text, sqlite3_value** values);

  bool is_at_end() const { return next_ == end_; }
  // Requires that it is not at the end, as the following do.
  void move_on() {
    if (++next_ == end_) [[unlikely]]
      next_block();
  }
  index_t id() const { return *next_; }
  // The same, for SQLite's rowid.
  index_t rowid() {
    has_given_past_rowid_ |= past_ != nullptr;
    return id();
  }
  // Whether a rowid was that of a record in a past state of this table.
  bool has_given_past_rowid_of(const Virtual_Table& table) const {
    return has_given_past_rowid_ && &table == &table_;
  }
  // Throws Exception if the field was dropped; Io_Error, Corruption_Error.
  void give(sqlite3_context* context, int column) const;

  // What it reads is about to be no longer the present state. Throws std::bad_alloc.
  void keep_state();
  // Some records of the present state are not in use any more: does not give them, unless it is at
  // one.
  void leave_out_gone_records() noexcept;

 private:
  static constexpr std::size_t block_size = 1024;
  static constexpr std::size_t walk_size =
      256;  // of an index: the values of a block fit in a cache
  enum class Source { list, scan, index };

  bool find_one(sqlite3_value* id);
  void begin(sqlite3_value** values);
  bool may_use(unsigned char op);
  void choose_state(sqlite3_value* moment);
  void use_state();
  State& state() const { return past_ ? *past_ : *opened_; }
  // Whether it reads the state that follows others, and that a transaction changes.
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

  std::size_t fill_from_scan();
  std::size_t fill_from_index();
  // Finds the first block, unless begin_list has.
  void start() {
    if (from_ != Source::list) next_block();
  }
  void fetch(std::size_t count) const;
  void next_block();
  std::vector<index_t> rest();
  void sort();

  Virtual_Table& table_;
  const std::shared_ptr<State> opened_;  // the present, then
  // The plan, which is the same as long as its text has this address.
  const char* plan_text_ = nullptr;
  Plan plan_;

  std::optional<bool> may_join_outer_, has_other_patterns_;

  std::shared_ptr<State> past_;  // null: opened_
  bool has_given_past_rowid_ = false;
  bool is_writing_ = false;          // in a transaction, which changes values
  sqlite3_value* moment_ = nullptr;  // argument of the search; a copy
  Virtual_Table::Source past_source_;
  const Virtual_Table::Source* source_ = nullptr;

  std::vector<std::pair<int, Range>> ranges_;
  std::vector<std::pair<const Column_Source*, const Range*>> filters_;

  const index_t* next_ = nullptr;
  const index_t* end_ = nullptr;
  Source from_ = Source::list;
  std::array<index_t, block_size> block_;
  std::vector<index_t> list_;
  // Of a scan: ids that are still to be looked at.
  index_t scan_begin_ = 0, scan_end_ = 0;
  bool is_descending_ = false;
  // Of an index: from here to there.
  Index::Cursor walk_, walk_end_;
  bool walk_is_descending_ = false;
  bool walk_is_done_ = false;
};

}  // namespace joedb

#endif
