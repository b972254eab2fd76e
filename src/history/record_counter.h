#ifndef JOEDB_SRC_HISTORY_RECORD_COUNTER_H
#define JOEDB_SRC_HISTORY_RECORD_COUNTER_H

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "joedb/schema/type.h"

namespace joedb::inline v1 {

// Counts the records of a table that a transaction inserts, updates and deletes. Stores ranges of
// ids, of which there are usually few. count() sorts the ranges.
class Record_Counter {
 public:
  struct Counts {
    std::uint64_t inserted;
    std::uint64_t updated;
    std::uint64_t deleted;
  };

  // From now on, counts only records [first, end).
  void limit_to(index_t first, index_t end) {
    first_ = first;
    end_ = end;
  }

  bool is_empty() const { return events_.empty() && updates_.empty(); }

  // These functions accept any ids and sizes. Ids that no table can have are not counted.
  void insert(index_t first, index_t size) { add_event(first, end_of(first, size), true); }
  void erase(index_t first, index_t size) {
    add_event(first, end_of(first, size), false);
    has_deletions_ = true;
  }
  void update(index_t first, index_t size) {
    const index_t end = std::min(end_of(first, size), end_);
    first = std::max(first, first_);
    if (first >= end) return;
    // Most updates are of the last inserted or updated record, or of the next one.
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

  // Merges the stored ranges. After it, call clear() before counting more changes.
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

  static index_t end_of(index_t first, index_t size) {
    if (size <= 0) return first;
    return first > std::numeric_limits<index_t>::max() - size ? first : first + size;
  }
  void add_event(index_t first, index_t end, bool is_insertion) {
    first = std::max(first, first_);
    end = std::min(end, end_);
    if (first >= end) return;
    if (!events_.empty() && events_.back().end == first &&
        events_.back().is_insertion == is_insertion)
      events_.back().end = end;
    else
      events_.push_back({first, end, is_insertion});
  }

  index_t first_ = std::numeric_limits<index_t>::min();
  index_t end_ = std::numeric_limits<index_t>::max();
  std::vector<Range> events_;  // insertions and deletions, in their order
  std::vector<Range> updates_;
  bool has_deletions_ = false;
};

}  // namespace joedb::inline v1

#endif
