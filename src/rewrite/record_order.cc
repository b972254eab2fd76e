#include "rewrite/record_order.h"

#include "rewrite/pack.h"

namespace joedb::inline v1 {

Record_Order::Record_Order(Table_Id table, const Record_Ids& records)
    : table_(table), records_(records) {
  if (records.is_dense()) return;
  is_late_.resize(static_cast<std::size_t>(records.size()));
  index_t last = -1;
  for (index_t id = records.first(); id != Record_Ids::no_id; id = records.next(id)) {
    const auto i = static_cast<std::size_t>(id);
    if (first_late_ == Record_Ids::no_id && id < last) first_late_ = id;
    if (first_late_ != Record_Ids::no_id) is_late_[i] = true;
    last = id;
  }
}

void Record_Order::insert(index_t first, index_t size, Writable_Journal& journal) const {
  if (size > 0) append_insertion(table_, first, size, journal);
}

void Record_Order::erase(index_t first, index_t size, Writable_Journal& journal) const {
  if (size == 1)
    journal.append(Delete{table_, Record_Id(first)});
  else
    journal.append(Delete_Vector{table_, Record_Id(first), size});
}

// Inserts the ids below `end`, except late ids, which become free because they are skipped.
void Record_Order::build_to(index_t end, Writable_Journal& journal) {
  const auto is_late = [&](index_t id) {
    return !is_late_.empty() && is_late_[static_cast<std::size_t>(id)];
  };
  while (done_ < end) {
    index_t first = done_;
    while (first < end && is_late(first)) ++first;
    done_ = first;
    if (is_late_.empty()) done_ = end;
    while (done_ < end && !is_late(done_)) ++done_;
    insert(first, done_ - first, journal);
  }
}

void Record_Order::write_first(Writable_Journal& journal) {
  make_free(journal);
  const index_t size = records_.size();
  build_to(size, journal);
  if (is_late_.empty() || size == 0 || !is_late_[static_cast<std::size_t>(size - 1)]) return;
  insert(size - 1, 1, journal);
  erase(size - 1, 1, journal);
}

// The list of free ids is a stack: deleting or skipping an id pushes it. Builds the stack from the
// bottom. An entry that deletes several ids pushes the highest one first; an entry that skips
// several ids pushes the lowest one first.
void Record_Order::make_free(Writable_Journal& journal) {
  std::vector<index_t> stack;  // the last element is the bottom of the list
  if (!records_.is_dense() && records_.next_free() < records_.size())
    for (index_t id = records_.next_free(); id != Record_Ids::no_id;
         id = records_.before_insert(id).next)
      stack.push_back(id);
  while (!stack.empty()) {
    const index_t id = stack.back();
    const index_t step = id < done_ ? -1 : 1;
    index_t n = 0;
    for (; !stack.empty() && stack.back() == id + step * n; ++n) stack.pop_back();
    // Free existing ids by deleting them.
    if (step < 0) {
      erase(id - n + 1, n, journal);
      continue;
    }
    // Free new ids by an insertion that skips them.
    build_to(id, journal);
    index_t next = id + n;
    while (next < records_.size() && is_late_[static_cast<std::size_t>(next)]) ++next;
    const bool can_skip = next < records_.size();
    // If no later id can be inserted, insert the last of these ids, and delete it.
    if (!can_skip) next = id + n - 1;
    insert(next, 1, journal);
    if (!can_skip) erase(next, 1, journal);
    done_ = next + 1;
  }
}

// Writes one entry per id; it has one byte if the ids are consecutive. Unlike the number of records
// in vectors, readers do not limit the number of these entries.
void Record_Order::write_late(Writable_Journal& journal) const {
  for (index_t id = first_late_; id != Record_Ids::no_id; id = records_.next(id))
    journal.append(Insert{table_, Record_Id(id)});
}

}  // namespace joedb::inline v1
