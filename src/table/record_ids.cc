#include "joedb/table/record_ids.h"

#include <algorithm>

namespace joedb {

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

void Record_Ids::make_lists() {
  links_.resize(static_cast<std::size_t>(size_));
  for (index_t i = 0; i < size_; ++i)
    link(i) = {i + 1 < size_ ? i + 1 : no_id, i > 0 ? i - 1 : no_id, true};
  first_used_ = size_ > 0 ? 0 : no_id;
  last_used_ = size_ > 0 ? size_ - 1 : no_id;
  is_dense_ = false;
}

void Record_Ids::push_free(index_t id) {
  link(id) = {first_free_, no_id, false};
  if (first_free_ != no_id) link(first_free_).previous = id;
  first_free_ = id;
}

void Record_Ids::unlink_free(index_t id) {
  const Link old = link(id);
  if (old.previous != no_id)
    link(old.previous).next = old.next;
  else
    first_free_ = old.next;
  if (old.next != no_id) link(old.next).previous = old.previous;
}

void Record_Ids::insert_in_list(index_t id) {
  if (is_dense_) make_lists();
  if (id >= size_) {
    if (links_.capacity() <= static_cast<std::size_t>(id))
      links_.reserve(std::max(static_cast<std::size_t>(id) + 1, 2 * links_.capacity()));
    links_.resize(static_cast<std::size_t>(id) + 1);
    while (size_ < id) push_free(size_++);
    ++size_;
  } else {
    unlink_free(id);
  }
  link(id) = {no_id, last_used_, true};
  if (last_used_ != no_id)
    link(last_used_).next = id;
  else
    first_used_ = id;
  last_used_ = id;
  ++used_count_;
}

void Record_Ids::insert_vector(index_t id, index_t n) {
  if (n == 0) return;
  if (is_dense_ && id == size_) {
    size_ += n;
    used_count_ += n;
    return;
  }
  if (is_dense_) make_lists();
  if (id + n > size_) links_.reserve(static_cast<std::size_t>(id + n));
  for (index_t i = id; i < id + n; ++i) insert_in_list(i);
}

void Record_Ids::erase(index_t id) {
  if (is_dense_) make_lists();
  const Link old = link(id);
  if (old.previous != no_id)
    link(old.previous).next = old.next;
  else
    first_used_ = old.next;
  if (old.next != no_id)
    link(old.next).previous = old.previous;
  else
    last_used_ = old.previous;
  push_free(id);
  --used_count_;
}

}  // namespace joedb
