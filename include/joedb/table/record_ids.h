#ifndef JOEDB_TABLE_RECORD_IDS_H
#define JOEDB_TABLE_RECORD_IDS_H

#include <cstddef>

#include "joedb/base/ids.h"
#include "joedb/io/zeroed_memory.h"

namespace joedb::inline v1 {

// Which rows of a table are in use, in which order they were inserted, and which id a new one gets.
//
// A table is dense while its ids are exactly 0 … size - 1, inserted in this order: then there is
// nothing to store. The first hole (a deletion, or an insertion beyond the size) turns it into
// linked lists, for good: iteration follows the order of insertion, and a new row takes the id that
// was freed or skipped last.
//
// An id whose link was never written is what most are: used and between its neighbours, if the
// table was dense up to it; else skipped, and between its neighbours in the list of free ids. So
// neither leaving the dense state nor skipping millions of ids costs time or memory.
//
// The caller checks, and reserves: after reserve_lists(n) nothing that keeps size() <= n can throw.
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
           (is_dense_ || is_used_in_list(id));
  }
  // Whether none of [id, id + n) is in use. Requires id >= 0.
  bool are_free(index_t id, index_t n) const;
  bool are_used(index_t id, index_t n) const;

  index_t first() const { return is_dense_ ? (size_ > 0 ? 0 : no_id) : first_used_; }
  index_t last() const { return is_dense_ ? (size_ > 0 ? size_ - 1 : no_id) : last_used_; }
  // Neighbours of a used id.
  index_t next(index_t id) const {
    if (is_dense_) return id + 1 < size_ ? id + 1 : no_id;
    return id + 1 + links()[id].next;
  }
  index_t previous(index_t id) const {
    if (is_dense_) return id > 0 ? id - 1 : no_id;
    return id - 1 - links()[id].previous;
  }

  // The id that a new row gets.
  index_t next_free() const { return is_dense_ || first_free_ == no_id ? size_ : first_free_; }

  // Memory for what makes or keeps the table a list of at most `size` ids. Throws std::bad_alloc.
  void reserve_lists(index_t size);

  // Requires are_free(id, n).
  void insert(index_t id) {
    if (is_dense_ && id == size_) {
      ++size_;
      ++used_count_;
    } else {
      insert_at_hole(id);
    }
  }
  void insert_vector(index_t id, index_t n);

  // Requires is_used(id).
  void erase(index_t id);

 private:
  // All zeros is the usual state.
  struct Link {
    index_t next;      // how far the next id in its list is from the usual one
    index_t previous;  // and the previous one, in the other direction
    bool is_unusual;   // free in the dense part, used behind it
  };

  Link* links() { return reinterpret_cast<Link*>(links_.data()); }
  const Link* links() const { return reinterpret_cast<const Link*>(links_.data()); }
  bool is_used_in_list(index_t id) const { return links()[id].is_unusual != (id < dense_size_); }
  // The next id in its list is usually one more if used, one less if free.
  static index_t step(bool is_used) { return is_used ? 1 : -1; }
  index_t next_in_list(index_t id) const;
  index_t previous_in_list(index_t id) const;
  void set_next(index_t id, index_t next);
  void set_previous(index_t id, index_t previous);
  void set_link(index_t id, bool is_used, index_t next, index_t previous);
  void unlink(index_t id, index_t& first, index_t& last);
  void make_lists();
  void skip_to(index_t id);
  void insert_at_hole(index_t id);
  void insert_in_list(index_t id);

  index_t size_ = 0;
  index_t used_count_ = 0;
  bool is_dense_ = true;
  // Lists, if not dense. The list of free ids starts with the one to take next.
  Zeroed_Memory links_;
  index_t dense_size_ = 0;  // when it became lists
  index_t first_used_ = no_id;
  index_t last_used_ = no_id;
  index_t first_free_ = no_id;
  index_t last_free_ = no_id;
};

}  // namespace joedb::inline v1

#endif
