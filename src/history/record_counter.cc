#include "history/record_counter.h"

#include <algorithm>
#include <map>

namespace joedb::inline v1 {

static std::uint64_t size_of(index_t first, index_t end) {
  return static_cast<std::uint64_t>(end - first);
}

// Sorts the ranges, and merges ranges that overlap or touch.
template <class Range>
static void merge(std::vector<Range>& ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.first < b.first; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (kept > 0 && ranges[i].first <= ranges[kept - 1].end)
      ranges[kept - 1].end = std::max(ranges[kept - 1].end, ranges[i].end);
    else
      ranges[kept++] = ranges[i];
  }
  ranges.erase(ranges.begin() + static_cast<std::ptrdiff_t>(kept), ranges.end());
}

namespace {

// Tracks which of the inserted or deleted records are now in use. A new range replaces the ranges
// that it covers, so each range is inserted and erased at most once.
class Uses {
 public:
  void apply(index_t first, index_t end, bool is_used) {
    split(first);
    split(end);
    const auto begin = ranges_.lower_bound(first);
    auto range = begin;
    index_t next = first;  // ids below are done
    std::uint64_t untouched = 0;
    for (; range != ranges_.end() && range->first < end; ++range) {
      untouched += size_of(next, range->first);
      next = range->second.end;
    }
    untouched += size_of(next, end);
    if (!is_used) deleted_ += untouched;  // the deleted records existed before
    ranges_.emplace_hint(ranges_.erase(begin, range), first, Use{end, is_used});
  }
  void count(std::uint64_t& inserted, std::uint64_t& deleted) const {
    for (const auto& [first, use] : ranges_)
      if (use.is_used) inserted += size_of(first, use.end);
    deleted += deleted_;
  }

 private:
  struct Use {
    index_t end;
    bool is_used;
  };

  void split(index_t id) {
    auto range = ranges_.lower_bound(id);
    if (range == ranges_.begin()) return;
    --range;
    if (range->second.end <= id) return;
    const Use rest = range->second;
    range->second.end = id;
    ranges_.emplace(id, rest);
  }

  std::map<index_t, Use> ranges_;
  std::uint64_t deleted_ = 0;  // number of deleted records that were in use before
};

}  // namespace

Record_Counter::Counts Record_Counter::count() {
  Counts counts{};
  if (has_deletions_) {
    Uses uses;
    for (const Range& event : events_) uses.apply(event.first, event.end, event.is_insertion);
    uses.count(counts.inserted, counts.deleted);
  }
  merge(events_);
  if (!has_deletions_)
    for (const Range& range : events_) counts.inserted += size_of(range.first, range.end);
  merge(updates_);
  auto event = events_.begin();
  for (const Range& update : updates_) {
    counts.updated += size_of(update.first, update.end);
    while (event != events_.end() && event->end <= update.first) ++event;
    for (auto covered = event; covered != events_.end() && covered->first < update.end; ++covered)
      counts.updated -=
          size_of(std::max(update.first, covered->first), std::min(update.end, covered->end));
  }
  return counts;
}

}  // namespace joedb::inline v1
