#ifndef JOEDB_TABLE_RECORD_IDS_H
#define JOEDB_TABLE_RECORD_IDS_H

#include <cstddef>
#include <cstdint>
#include <memory>

#include "joedb/base/ids.h"
#include "joedb/io/zeroed_memory.h"
#include "joedb/snapshot/sections.h"

namespace joedb::inline v1 {

// Which rows of a table are in use, in which order they were inserted, and which id a new one gets.
// Ids are 0 … size() - 1; those that are not in use are free.
//
// A table is dense while its ids are exactly 0 … size - 1, inserted in this order: then there is
// nothing to store. The first hole (a deletion, or an insertion beyond the size) turns it into
// linked lists, for good: iteration follows the order of insertion, and a new row takes the id that
// was freed or skipped last.
//
// A link of zero bytes describes the usual case: an id below the size of the dense part is in use,
// an id above it is free, and both have their numeric neighbours as neighbours in the list. So
// neither leaving the dense state nor skipping millions of ids costs time or memory.
//
// All functions but are_free and are_used, and insertions of vectors, take constant time. Arguments
// are not checked. The caller reserves memory: after reserve_lists(n), insertions and deletions
// that keep size() <= n cannot throw. In a dense table, appending needs no memory.
//
// Not thread-safe. Functions that are const may be called by several threads while none changes it.
class Record_Ids {
 public:
  // What first, last, next and previous return where there is no record. Not the value of a null
  // Record_Id, which is -1.
  static constexpr index_t no_id = -2;

  // Largest id ever inserted, plus one. Deletions do not make it smaller.
  index_t size() const { return size_; }
  index_t used_count() const { return used_count_; }
  bool is_dense() const { return is_dense_; }

  // False for any id outside of 0 … size() - 1, negative ones included.
  bool is_used(index_t id) const {
    return static_cast<std::size_t>(id) < static_cast<std::size_t>(size_) &&
           (is_dense_ || is_used_in_list(id));
  }
  // Whether none, or all, of [id, id + n) are in use. are_free requires id >= 0. Both take time
  // linear in n if the table is not dense.
  bool are_free(index_t id, index_t n) const;
  bool are_used(index_t id, index_t n) const;

  // The ends of the list of used ids, in the order of insertion; no_id if there are none.
  index_t first() const { return is_dense_ ? (size_ > 0 ? 0 : no_id) : first_used_; }
  index_t last() const { return is_dense_ ? (size_ > 0 ? size_ - 1 : no_id) : last_used_; }
  // The neighbours of an id, which must be in use; no_id at the ends.
  index_t next(index_t id) const {
    if (is_dense_) return id + 1 < size_ ? id + 1 : no_id;
    return moved(id, 1, links()[id].next);
  }
  index_t previous(index_t id) const {
    if (is_dense_) return id > 0 ? id - 1 : no_id;
    return moved(id, -1, links()[id].previous);
  }

  // The id that a new row gets: the one that was freed or skipped last, else size().
  index_t next_free() const { return is_dense_ || first_free_ == no_id ? size_ : first_free_; }

  // Takes the memory for lists of at most `size` ids. Throws std::bad_alloc, and then nothing has
  // changed.
  void reserve_lists(index_t size);

  // Requires are_free(id, n), with n = 1 for insert. Ids from size() up to `id` become free.
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

  // ---- loops that erase
  //
  // A loop has an id, and the number of erasures there were when it came to it. Its next step goes
  // to the neighbour of that record, also if the record was erased meanwhile, whether or not its id
  // is in use again. Throws Exception where that is not known any more: after more than 128
  // erasures, if the record may be one of them.

  std::uint64_t erasures() const { return erasures_; }
  index_t next(index_t id, std::uint64_t erasures) const {
    return erasures == erasures_ ? next(id) : neighbour_since(id, erasures, true);
  }
  index_t previous(index_t id, std::uint64_t erasures) const {
    return erasures == erasures_ ? previous(id) : neighbour_since(id, erasures, false);
  }
  // For a step of an iterator to the record before its own, from no_id to the last one. If that was
  // erased since, throws Exception: a std::reverse_iterator, which stands behind the record that it
  // visits, would leave one out.
  void require_previous(index_t id, std::uint64_t erasures) const {
    if (erasures != erasures_) require_neighbour(id, erasures);
  }
  // Whether the id was erased since, and is in use again. Throws as above.
  bool is_other_since(index_t id, std::uint64_t erasures) const {
    return erasures != erasures_ && is_used(id) && was_erased_since(id, erasures);
  }
  // For new ids that are those of `other`: its loops go on with them.
  void take_loops(Record_Ids& other) {
    erasures_ = other.erasures_;
    last_reuse_ = other.last_reuse_;
    erased_ = std::move(other.erased_);
  }

  // ---- undoing
  //
  // What is done last is undone first. Then ids and the order of both lists are as before; a table
  // that is no longer dense stays so. `before` was asked for before the change.

  struct Before {
    index_t size;
    index_t previous, next;  // neighbours of the id in the list that it was in
  };
  // Requires that the id is not in use.
  Before before_insert(index_t id) const;
  // Requires is_used(id).
  Before before_erase(index_t id) const { return {size_, previous(id), next(id)}; }
  void undo_insert(index_t id, const Before& before);
  void undo_erase(index_t id, const Before& before);

  // ---- snapshots (snapshot/sections.h)

  void save(Section_Writer& out) const;
  // For a new object, or one with the same ids. Throws Corruption_Error for numbers that do not fit
  // together. The links are not read: where they are wrong, so is the order of the records, but no
  // id is outside of 0 … size() - 1.
  void restore(Section_Reader& in);
  // Zeroed_Memory::spill.
  void spill(File& file) {
    if (!is_dense_) links_.spill(file, static_cast<std::size_t>(size_) * sizeof(Link));
  }

 private:
  // All zeros is the usual state.
  struct Link {
    index_t next;      // how far the next id in its list is from the usual one
    index_t previous;  // and the previous one, in the other direction
    // 1: free in the dense part, used behind it. A snapshot may have any value, which no bool has.
    std::uint8_t is_unusual;
  };

  // The id that is `distance` beyond the neighbour of `id` in this direction; no_id if there is no
  // such id.
  index_t moved(index_t id, index_t direction, index_t distance) const {
    const auto unsigned_of = [](index_t i) { return static_cast<std::uint64_t>(i); };
    const std::uint64_t to = unsigned_of(id) + unsigned_of(direction) * (1 + unsigned_of(distance));
    return to < unsigned_of(size_) ? static_cast<index_t>(to) : no_id;
  }
  Link* links() { return reinterpret_cast<Link*>(links_.data()); }
  const Link* links() const { return reinterpret_cast<const Link*>(links_.data()); }
  bool is_used_in_list(index_t id) const {
    return (links()[id].is_unusual != 0) != (id < dense_size_);
  }
  // The next id in its list is usually one more if used, one less if free.
  static index_t step(bool is_used) { return is_used ? 1 : -1; }
  // An erasure, with the neighbours that the id had, or has again after undo_erase().
  struct Erased {
    index_t id, previous, next;
    bool is_undone;
  };
  static constexpr std::uint64_t erased_size = 128;
  void remember_erased(const Erased& erased) {
    if (erased_) erased_[erasures_ % erased_size] = erased;
    ++erasures_;
  }
  [[gnu::cold]] index_t neighbour_since(index_t id, std::uint64_t erasures, bool is_next) const;
  [[gnu::cold]] void require_neighbour(index_t id, std::uint64_t erasures) const;
  [[gnu::cold]] bool was_erased_since(index_t id, std::uint64_t erasures) const;
  // Whether the log has all of them. If not, and the record may be one of them, throws Exception.
  bool are_remembered(index_t id, std::uint64_t erasures) const;

  index_t next_in_list(index_t id) const;
  index_t previous_in_list(index_t id) const;
  void set_next(index_t id, index_t next);
  void set_previous(index_t id, index_t previous);
  void set_link(index_t id, bool is_used, index_t next, index_t previous);
  void unlink(index_t id, index_t& first, index_t& last);
  void link(index_t id, bool is_used, const Before& neighbours, index_t& first, index_t& last);
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
  // For loops.
  std::uint64_t erasures_ = 0;
  std::uint64_t last_reuse_ = 0;      // the number of erasures when an id was used again
  std::unique_ptr<Erased[]> erased_;  // the last ones, by number; null before the first list
};

}  // namespace joedb::inline v1

#endif
