#ifndef JOEDB_SRC_HISTORY_RANGE_MAP_H
#define JOEDB_SRC_HISTORY_RANGE_MAP_H

#include <algorithm>
#include <cstdint>
#include <map>

#include "joedb/schema/type.h"

namespace joedb::inline v1 {

// A map from ranges of record ids to payloads. Ranges do not overlap. A new range that begins at
// the end of an existing range is merged with it if their payloads can be joined, so that
// consecutive rows do not need a range each.
template <class Payload>
class Range_Map {
 public:
  struct Range {
    index_t first;  // equal to its key
    index_t end;
    std::uint64_t order;  // the order of the first part that was added
    Payload payload;
  };
  using Map = std::map<index_t, Range>;  // keyed by the first id
  using Iterator = typename Map::const_iterator;

  bool is_empty() const { return ranges_.empty(); }
  const Map& ranges() const { return ranges_; }

  // Returns the range that contains the id; the end of ranges() if there is none.
  Iterator find(index_t id) const {
    if (ranges_.empty()) return ranges_.end();
    auto last = std::prev(ranges_.end());
    if (id < last->first) {
      last = ranges_.upper_bound(id);
      if (last == ranges_.begin()) return ranges_.end();
      --last;
    }
    return id < last->second.end ? last : ranges_.end();
  }
  bool has(index_t id) const { return find(id) != ranges_.end(); }

  // Calls f(first, end) for the parts of [first, end) that are in no range.
  template <class F>
  void for_each_gap(index_t first, index_t end, F f) const {
    for_each_part(first, end, [&](index_t part_first, index_t part_end, const Range* range) {
      if (range == nullptr) f(part_first, part_end);
    });
  }
  // Calls f(first, end, range) for all parts of [first, end). `range` is null where there is no
  // range. f may add to the map, but only in the part with which it was called.
  template <class F>
  void for_each_part(index_t first, index_t end, F f) const {
    auto next = ranges_.empty() || first >= std::prev(ranges_.end())->second.end
                    ? ranges_.end()
                    : ranges_.upper_bound(first);
    if (next != ranges_.begin() && first < std::prev(next)->second.end) --next;
    while (first < end) {
      if (next == ranges_.end() || next->first >= end) {
        f(first, end, static_cast<const Range*>(nullptr));
        return;
      }
      if (first < next->first) {
        f(first, next->first, static_cast<const Range*>(nullptr));
        first = next->first;
      }
      const index_t part_end = std::min(end, next->second.end);
      f(first, part_end, &next->second);
      first = part_end;
      ++next;
    }
  }

  // Adds the range [first, end). Requires first < end, and that no id in it is in a range.
  // extend(payload) appends the data of the new ids to the payload of the preceding range, or
  // returns false if that is impossible. make() returns a payload for the new ids only.
  template <class Extend, class Make>
  void add(index_t first, index_t end, std::uint64_t order, Extend extend, Make make) {
    auto next = ranges_.empty() || first >= std::prev(ranges_.end())->second.end
                    ? ranges_.end()
                    : ranges_.upper_bound(first);
    if (next != ranges_.begin()) {
      const auto before = std::prev(next);
      if (before->second.end == first && extend(before->second.payload)) {
        before->second.end = end;
        return;
      }
    }
    ranges_.emplace_hint(next, first, Range{first, end, order, make()});
  }

 private:
  Map ranges_;
};

}  // namespace joedb::inline v1

#endif
