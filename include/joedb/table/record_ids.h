#ifndef JOEDB_TABLE_RECORD_IDS_H
#define JOEDB_TABLE_RECORD_IDS_H

#include <cstddef>
#include <vector>

#include "joedb/base/ids.h"

namespace joedb {

// Which rows of a table are in use, in which order they were inserted, and which id a new one gets.
//
// A table is dense while its ids are exactly 0 … size - 1, inserted in this order: then there is
// nothing to store. The first hole (a deletion, or an insertion beyond the size) turns it into
// linked lists, for good: iteration follows the order of insertion, and a new row takes the id that
// was freed or skipped last.
//
// The caller checks; nothing here throws but std::bad_alloc, which leaves everything as it was.
class Record_Ids {
 public:
  // What first, last, next and previous give at the ends of the list.
  static constexpr index_t no_id = -2;

  // Largest id ever inserted, plus one.
  index_t size() const { return size_; }
  index_t used_count() const { return used_count_; }
  bool is_dense() const { return is_dense_; }

  bool is_used(index_t id) const {
    return static_cast<std::size_t>(id) < static_cast<std::size_t>(size_) &&
           (is_dense_ || links_[static_cast<std::size_t>(id)].is_used);
  }
  // Whether none of [id, id + n) is in use. Requires id >= 0.
  bool are_free(index_t id, index_t n) const;
  bool are_used(index_t id, index_t n) const;

  index_t first() const { return is_dense_ ? (size_ > 0 ? 0 : no_id) : first_used_; }
  index_t last() const { return is_dense_ ? (size_ > 0 ? size_ - 1 : no_id) : last_used_; }
  // Neighbours of a used id.
  index_t next(index_t id) const {
    if (is_dense_) return id + 1 < size_ ? id + 1 : no_id;
    return links_[static_cast<std::size_t>(id)].next;
  }
  index_t previous(index_t id) const {
    if (is_dense_) return id > 0 ? id - 1 : no_id;
    return links_[static_cast<std::size_t>(id)].previous;
  }

  // The id that a new row gets.
  index_t next_free() const { return is_dense_ || first_free_ == no_id ? size_ : first_free_; }

  // Requires are_free(id, n).
  void insert(index_t id) {
    if (is_dense_ && id == size_) {
      ++size_;
      ++used_count_;
    } else {
      insert_in_list(id);
    }
  }
  void insert_vector(index_t id, index_t n);

  // Requires is_used(id).
  void erase(index_t id);

 private:
  struct Link {
    index_t next;
    index_t previous;
    bool is_used;
  };

  Link& link(index_t id) { return links_[static_cast<std::size_t>(id)]; }
  void make_lists();
  void insert_in_list(index_t id);
  void push_free(index_t id);
  void unlink_free(index_t id);

  index_t size_ = 0;
  index_t used_count_ = 0;
  bool is_dense_ = true;
  // Lists, if not dense. The list of free ids starts with the one to take next.
  std::vector<Link> links_;
  index_t first_used_ = no_id;
  index_t last_used_ = no_id;
  index_t first_free_ = no_id;
};

}  // namespace joedb

#endif
