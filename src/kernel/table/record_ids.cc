#include "joedb/table/column.h"

#include <algorithm>
#include <cassert>
#include <string>

#include "joedb/base/error.h"

namespace joedb::inline v1 {

bool Record_Ids::are_free(index_t id, index_t n) const {
  const index_t end = std::min(id + n, size_);
  if (is_dense_) return id >= end;
  for (index_t i = id; i < end; ++i)
    if (is_used(i)) return false;
  return true;
}

bool Record_Ids::are_used(index_t id, index_t n) const {
  if (id < 0 || n < 0 || id > size_ || n > size_ - id) return false;
  if (is_dense_) return true;
  for (index_t i = id; i < id + n; ++i)
    if (!is_used(i)) return false;
  return true;
}

// ---- links --------------------------------------------------------------------------------------

index_t Record_Ids::next_in_list(index_t id) const {
  return moved(id, step(is_used_in_list(id)), links()[id].next);
}

index_t Record_Ids::previous_in_list(index_t id) const {
  return moved(id, -step(is_used_in_list(id)), links()[id].previous);
}

void Record_Ids::set_next(index_t id, index_t next) {
  links()[id].next = step(is_used_in_list(id)) * (next - id) - 1;
}

void Record_Ids::set_previous(index_t id, index_t previous) {
  links()[id].previous = step(is_used_in_list(id)) * (id - previous) - 1;
}

void Record_Ids::set_link(index_t id, bool is_used, index_t next, index_t previous) {
  links()[id].is_unusual = is_used != (id < dense_size_);
  set_next(id, next);
  set_previous(id, previous);
}

// Removes an id from its list, which has the ends `first` and `last`.
void Record_Ids::unlink(index_t id, index_t& first, index_t& last) {
  const index_t next = next_in_list(id), previous = previous_in_list(id);
  if (previous != no_id)
    set_next(previous, next);
  else
    first = next;
  if (next != no_id)
    set_previous(next, previous);
  else
    last = previous;
}

// ---- changes ------------------------------------------------------------------------------------

void Record_Ids::reserve_lists(index_t size) {
  const std::size_t wanted = static_cast<std::size_t>(size) * sizeof(Link);
  if (!erased_) erased_ = std::make_unique<Erased[]>(erased_size);
  if (wanted > links_.size()) links_.grow(std::max(wanted, 2 * links_.size()));
}

void Record_Ids::make_lists() {
  if (!is_dense_) return;
  is_dense_ = false;
  dense_size_ = size_;
  if (size_ == 0) return;
  first_used_ = 0;
  last_used_ = size_ - 1;
  set_previous(first_used_, no_id);
  set_next(last_used_, no_id);
}

// Frees the ids from size() to id - 1; the last of these ids is the next id to be used.
void Record_Ids::skip_to(index_t id) {
  if (id <= size_) return;
  set_next(size_, first_free_);
  set_previous(id - 1, no_id);
  if (first_free_ != no_id)
    set_previous(first_free_, size_);
  else
    last_free_ = size_;
  first_free_ = id - 1;
  size_ = id;
}

void Record_Ids::insert_in_list(index_t id) {
  if (id < size_) {
    unlink(id, first_free_, last_free_);
    last_reuse_ = erasures_;
  } else {
    skip_to(id);
    ++size_;
  }
  set_link(id, true, no_id, last_used_);
  if (last_used_ != no_id)
    set_next(last_used_, id);
  else
    first_used_ = id;
  last_used_ = id;
  ++used_count_;
}

void Record_Ids::insert_vector(index_t id, index_t n) {
  if (n == 0) return;
  assert(are_free(id, n));
  if (is_dense_ && id == size_) {
    size_ += n;
    used_count_ += n;
    return;
  }
  make_lists();
  for (index_t i = id; i < id + n; ++i) insert_in_list(i);
}

void Record_Ids::insert_at_hole(index_t id) {
  assert(id >= 0 && !is_used(id));
  make_lists();
  insert_in_list(id);
}

void Record_Ids::erase(index_t id) {
  assert(is_used(id));
  make_lists();
  remember_erased({id, previous(id), next(id), false});
  unlink(id, first_used_, last_used_);
  set_link(id, false, first_free_, no_id);
  if (first_free_ != no_id)
    set_previous(first_free_, id);
  else
    last_free_ = id;
  first_free_ = id;
  --used_count_;
}

// ---- loops that erase ---------------------------------------------------------------------------

bool Record_Ids::are_remembered(index_t id, std::uint64_t erasures) const {
  if (erased_ && erasures_ - erasures <= erased_size) return true;
  const bool is_the_same = is_used(id) && last_reuse_ <= erasures;
  if (!is_the_same)
    throw Exception(
        "a loop cannot go on: its record may have been deleted, and so were more than " +
        std::to_string(erased_size) +
        " others of the table. Collect the ids first, and delete afterwards");
  return false;
}

index_t Record_Ids::neighbour_since(index_t id, std::uint64_t erasures, bool is_next) const {
  index_t at = id;
  bool has_moved = false;
  if (are_remembered(id, erasures))
    for (std::uint64_t i = erasures; i < erasures_; ++i) {
      const Erased& erased = erased_[i % erased_size];
      const index_t neighbour = is_next ? erased.next : erased.previous;
      if (!erased.is_undone && at == erased.id) {
        at = neighbour;
        has_moved = true;
      } else if (erased.is_undone && has_moved && at == neighbour) {
        at = erased.id;
        has_moved = at != id;
      }
    }
  if (has_moved) return at;
  return is_next ? next(id) : previous(id);
}

void Record_Ids::require_neighbour(index_t id, std::uint64_t erasures) const {
  bool was_erased = false;
  if (are_remembered(id, erasures))
    for (std::uint64_t i = erasures; i < erasures_; ++i) {
      const Erased& erased = erased_[i % erased_size];
      if (erased.id == id && !erased.is_undone) return;  // the step starts from this erasure
      if (erased.next == id) was_erased = !erased.is_undone;
    }
  if (was_erased)
    throw Exception(
        "an iterator cannot go back: the record before its own was deleted meanwhile. Use "
        "rbegin(), "
        "or collect the ids first, and delete afterwards");
}

bool Record_Ids::was_erased_since(index_t id, std::uint64_t erasures) const {
  bool was_erased = false;
  if (are_remembered(id, erasures))
    for (std::uint64_t i = erasures; i < erasures_; ++i) {
      const Erased& erased = erased_[i % erased_size];
      if (erased.id == id) was_erased = !erased.is_undone;
    }
  return was_erased;
}

// ---- undoing ------------------------------------------------------------------------------------

// Inserts an id in a list again, between its former neighbours.
void Record_Ids::link(index_t id, bool is_used, const Before& neighbours, index_t& first,
                      index_t& last) {
  set_link(id, is_used, neighbours.next, neighbours.previous);
  if (neighbours.previous != no_id)
    set_next(neighbours.previous, id);
  else
    first = id;
  if (neighbours.next != no_id)
    set_previous(neighbours.next, id);
  else
    last = id;
}

Record_Ids::Before Record_Ids::before_insert(index_t id) const {
  if (id < size_) return {size_, previous_in_list(id), next_in_list(id)};
  return {size_, no_id, is_dense_ ? no_id : first_free_};
}

void Record_Ids::undo_insert(index_t id, const Before& before) {
  --used_count_;
  if (is_dense_) {
    size_ = before.size;
    return;
  }
  remember_erased({id, previous(id), next(id), false});
  unlink(id, first_used_, last_used_);
  if (id < before.size) return link(id, false, before, first_free_, last_free_);
  // Ids that the insertion skipped are removed, too. Links past the end must describe free ids.
  first_free_ = before.next;
  if (first_free_ != no_id)
    set_previous(first_free_, no_id);
  else
    last_free_ = no_id;
  for (index_t i = before.size; i <= id; ++i) links()[i] = {0, 0, i < dense_size_};
  size_ = before.size;
}

void Record_Ids::undo_erase(index_t id, const Before& before) {
  unlink(id, first_free_, last_free_);
  link(id, true, before, first_used_, last_used_);
  ++used_count_;
  remember_erased({id, before.previous, before.next, true});
}

// ---- snapshots ----------------------------------------------------------------------------------

void Record_Ids::save(Section_Writer& out) const {
  out.number(size_);
  out.number(is_dense_);
  if (is_dense_) return;
  for (const index_t n :
       {used_count_, dense_size_, first_used_, last_used_, first_free_, last_free_})
    out.number(n);
  out.section(links_.data(), static_cast<std::size_t>(size_) * sizeof(Link));
}

void Record_Ids::restore(Section_Reader& in) {
  constexpr index_t largest = index_t{1} << 48;
  Record_Ids ids;
  ids.size_ = ids.used_count_ = in.number();
  ids.is_dense_ = in.number() != 0;
  if (ids.size_ < 0 || ids.size_ > largest)
    throw Corruption_Error("a table has an impossible size", 0);
  if (!ids.is_dense_) {
    for (index_t* n : {&ids.used_count_, &ids.dense_size_, &ids.first_used_, &ids.last_used_,
                       &ids.first_free_, &ids.last_free_})
      *n = in.number();
    const auto is_end = [&](index_t id) { return id == no_id || (id >= 0 && id < ids.size_); };
    const auto is_count = [&](index_t n) { return n >= 0 && n <= ids.size_; };
    if (!is_count(ids.used_count_) || !is_count(ids.dense_size_) || !is_end(ids.first_used_) ||
        !is_end(ids.last_used_) || !is_end(ids.first_free_) || !is_end(ids.last_free_))
      throw Corruption_Error("the lists of records do not fit", 0);
    in.section(ids.links_, static_cast<std::size_t>(ids.size_) * sizeof(Link));
  }
  *this = std::move(ids);
}

}  // namespace joedb::inline v1
