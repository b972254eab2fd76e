#ifndef JOEDB_TABLE_RECORD_IDS_H
#define JOEDB_TABLE_RECORD_IDS_H

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "joedb/io/zeroed_memory.h"
#include "joedb/schema/type.h"

namespace joedb::inline v1 {

// The snapshot of one object: numbers, texts, and sections, which are blocks of bytes that are used
// in place when they are read. Items are read in the order in which they were written, so that save
// and restore of an object are the same list of calls.

// Writes the items of an object. Functions throw Io_Error.
class Section_Writer {
 public:
  virtual ~Section_Writer() = default;

  virtual void number(std::int64_t value) = 0;
  virtual void text(std::string_view value) = 0;
  // Begins a section, which ends where the next item begins. Its bytes follow, in any number of
  // calls of append.
  virtual void begin_section() = 0;
  virtual void append(const void* bytes, std::size_t size) = 0;

  void section(const void* bytes, std::size_t size) {
    begin_section();
    append(bytes, size);
  }
};

// Reads the items of an object. A snapshot file may have been forged: the caller must check all
// numbers, texts and sizes. Functions throw Corruption_Error if the next item is of another kind,
// or there is none.
class Section_Reader {
 public:
  virtual ~Section_Reader() = default;

  virtual std::int64_t number() = 0;
  // The text is valid for the lifetime of the reader.
  virtual std::string_view text() = 0;
  // Fills `memory`, which must be empty, with the next section, so that memory.size() == `size`.
  // Throws Corruption_Error if the section has another size, Io_Error, std::bad_alloc. `reserved`:
  // see Zeroed_Memory::begin_with.
  virtual void section(Zeroed_Memory& memory, std::size_t size, std::size_t reserved = 0) = 0;
};

// The ids of the rows of a table: which ones are in use, the order of their insertion, and the id
// of the next new row. Ids are 0 … size() - 1; ids that are not in use are free.
//
// A table is dense while its ids are exactly 0 … size - 1, inserted in this order: then nothing
// needs to be stored. The first hole (a deletion, or an insertion beyond the size) turns it into
// linked lists, permanently: iteration follows the order of insertion, and a new row takes the id
// that was freed or skipped last.
//
// A link of zero bytes describes the usual case: an id below the size of the dense part is in use,
// an id above it is free, and the neighbours of both in the list are their numeric neighbours. So
// neither leaving the dense state nor skipping millions of ids costs time or memory.
//
// All functions take constant time, except are_free, are_used and insertions of vectors. Arguments
// are not checked. The caller reserves memory: after reserve_lists(n), insertions and deletions
// that keep size() <= n cannot throw. In a dense table, appending needs no memory.
//
// Not thread-safe. Several threads may call const functions while none changes the object.
class Record_Ids {
 public:
  // The result of first, last, next and previous if there is no record. It differs from a null
  // Record_Id, which is -1.
  static constexpr index_t no_id = -2;

  // Largest id ever inserted, plus one. Deletions do not reduce it.
  index_t size() const { return size_; }
  index_t used_count() const { return used_count_; }
  bool is_dense() const { return is_dense_; }

  // False for any id outside 0 … size() - 1, including negative ones.
  bool is_used(index_t id) const {
    return static_cast<std::size_t>(id) < static_cast<std::size_t>(size_) &&
           (is_dense_ || is_used_in_list(id));
  }
  // True if none (are_free) or all (are_used) of [id, id + n) are in use. are_free requires that id
  // is not negative. Both take time linear in n if the table is not dense.
  bool are_free(index_t id, index_t n) const;
  bool are_used(index_t id, index_t n) const;

  // The ends of the list of used ids, in insertion order; no_id if there are none.
  index_t first() const { return is_dense_ ? (size_ > 0 ? 0 : no_id) : first_used_; }
  index_t last() const { return is_dense_ ? (size_ > 0 ? size_ - 1 : no_id) : last_used_; }
  // The neighbours of an id, which must be in use; no_id at the ends of the list.
  index_t next(index_t id) const {
    if (is_dense_) return id + 1 < size_ ? id + 1 : no_id;
    return moved(id, 1, links()[id].next);
  }
  index_t previous(index_t id) const {
    if (is_dense_) return id > 0 ? id - 1 : no_id;
    return moved(id, -1, links()[id].previous);
  }

  // Returns the id for a new row: the id that was freed or skipped last, else size().
  index_t next_free() const { return is_dense_ || first_free_ == no_id ? size_ : first_free_; }

  // Allocates memory for lists of at most `size` ids. Throws std::bad_alloc, and then nothing has
  // changed.
  void reserve_lists(index_t size);

  // Insert an id, or ids [id, id + n). Require are_free(id, n), with n = 1 for insert. Ids from
  // size() up to `id` become free.
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
  // A loop holds an id, and the value of erasures() when it reached that id. Its next step goes to
  // the neighbour of that record, even if the record was erased since then, and even if its id was
  // reused. Throws Exception if the neighbour is no longer known: after more than 128 erasures, if
  // the record may be one of them.

  std::uint64_t erasures() const { return erasures_; }
  index_t next(index_t id, std::uint64_t erasures) const {
    return erasures == erasures_ ? next(id) : neighbour_since(id, erasures, true);
  }
  index_t previous(index_t id, std::uint64_t erasures) const {
    return erasures == erasures_ ? previous(id) : neighbour_since(id, erasures, false);
  }
  // Call it before an iterator steps back to the record before its own (from no_id: to the last
  // record). Throws Exception if that record was erased since `erasures`: a std::reverse_iterator,
  // whose base is the record after the one it visits, would skip a record.
  void require_previous(index_t id, std::uint64_t erasures) const {
    if (erasures != erasures_) require_neighbour(id, erasures);
  }
  // True if the id was erased since `erasures` and is in use again. Throws as above.
  bool was_replaced_since(index_t id, std::uint64_t erasures) const {
    return erasures != erasures_ && is_used(id) && was_erased_since(id, erasures);
  }
  // Takes the erasure log of `other`, which has the same ids: its loops continue on this object.
  void take_loops(Record_Ids& other) {
    erasures_ = other.erasures_;
    last_reuse_ = other.last_reuse_;
    erased_ = std::move(other.erased_);
  }

  // ---- undoing
  //
  // Undo changes in reverse order. Afterwards ids and the order of both lists are as before, but a
  // table that is no longer dense stays so. `before` is the result of before_…, called before the
  // change.

  struct Before {
    index_t size;
    index_t previous, next;  // neighbours of the id in its list
  };
  // Requires that the id is not in use.
  Before before_insert(index_t id) const;
  // Requires is_used(id).
  Before before_erase(index_t id) const {
    assert(is_used(id));
    return {size_, previous(id), next(id)};
  }
  void undo_insert(index_t id, const Before& before);
  void undo_erase(index_t id, const Before& before);

  // ---- snapshots (snapshot/sections.h)

  void save(Section_Writer& out) const;
  // For a new object, or one with the same ids. Throws Corruption_Error for inconsistent numbers.
  // Does not read the links: if they are damaged, the order of the records is wrong, but no id is
  // outside 0 … size() - 1.
  void restore(Section_Reader& in);
  // See Zeroed_Memory::spill.
  void spill(File& file) {
    if (!is_dense_) links_.spill(file, static_cast<std::size_t>(size_) * sizeof(Link));
  }

 private:
  // All zeros describe the usual state.
  struct Link {
    index_t next;      // distance from the usual next id to the next id in the list
    index_t previous;  // the same for the previous id, in the other direction
    // 1: free in the dense part, or used after it. Not a bool, because a snapshot may have any
    // value.
    std::uint8_t is_unusual;
  };

  // Returns the id that is `distance` beyond the neighbour of `id` in this direction; no_id if
  // there is no such id.
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
  // Distance to the usual next id: 1 if used, -1 if free.
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
  // True if the log has all erasures since `erasures`. If not, throws Exception if the record may
  // be one of them.
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
  // The lists, if not dense. The list of free ids starts with the next id to use.
  Zeroed_Memory links_;
  index_t dense_size_ = 0;  // size_ when the table became lists
  index_t first_used_ = no_id;
  index_t last_used_ = no_id;
  index_t first_free_ = no_id;
  index_t last_free_ = no_id;
  // The erasure log, for loops.
  std::uint64_t erasures_ = 0;
  std::uint64_t last_reuse_ = 0;      // erasures_ when an id was last reused
  std::unique_ptr<Erased[]> erased_;  // the last 128 erasures; null before reserve_lists()
};

}  // namespace joedb::inline v1

#endif
