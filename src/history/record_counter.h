#ifndef JOEDB_SRC_HISTORY_RECORD_COUNTER_H
#define JOEDB_SRC_HISTORY_RECORD_COUNTER_H

#include <cstdint>
#include <vector>

#include "joedb/base/ids.h"

namespace joedb::inline v1 {

// Counts how many records of a table a transaction inserts, updates and deletes. It notes ranges of
// ids, which usually are few; count() sorts them.
class Record_Counter {
 public:
  struct Counts {
    std::uint64_t inserted;
    std::uint64_t updated;
    std::uint64_t deleted;
  };

  bool is_empty() const { return events_.empty() && updates_.empty(); }

  void insert(index_t first, index_t size) { add_event(first, size, true); }
  void erase(index_t first, index_t size) {
    add_event(first, size, false);
    has_deletions_ = true;
  }
  void update(index_t first, index_t size) {
    const index_t end = first + size;
    // Most updates are of the record that was inserted, or updated, last, or of the next one.
    if (!events_.empty() && events_.back().is_insertion && events_.back().has(first, end)) return;
    if (!updates_.empty()) {
      if (updates_.back().has(first, end)) return;
      if (updates_.back().end == first) {
        updates_.back().end = end;
        return;
      }
    }
    updates_.push_back({first, end, false});
  }

  Counts count();
  void clear() {
    events_.clear();
    updates_.clear();
    has_deletions_ = false;
  }

 private:
  struct Range {
    index_t first;
    index_t end;
    bool is_insertion;
    bool has(index_t from, index_t to) const { return first <= from && to <= end; }
  };

  void add_event(index_t first, index_t size, bool is_insertion) {
    if (size == 0) return;
    if (!events_.empty() && events_.back().end == first &&
        events_.back().is_insertion == is_insertion)
      events_.back().end = first + size;
    else
      events_.push_back({first, first + size, is_insertion});
  }

  std::vector<Range> events_;  // insertions and deletions, in their order
  std::vector<Range> updates_;
  bool has_deletions_ = false;
};

}  // namespace joedb::inline v1

#endif
