#ifndef JOEDB_SRC_KERNEL_TABLE_INDEX_RUN_H
#define JOEDB_SRC_KERNEL_TABLE_INDEX_RUN_H

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/io/zeroed_memory.h"
#include "joedb/table/column.h"
#include "joedb/table/index.h"

namespace joedb::inline v1 {

// ---- slices -------------------------------------------------------------------------------------

// Encodes keys as slices: numbers of 4 or 8 bytes that approximate the place of a key in a run. A
// coder is made from a sample of the keys, so that keys of the sample have different slices if
// possible.
//
// Every key has a slice, and slices have the order of the keys: of two keys with different slices,
// the key with the smaller slice is smaller. Keys with equal slices must be compared.
//
// * Texts: the bytes after the common prefix are the digits of a number whose base is about the
//   number of different bytes in the sample. So 4 bytes hold 6 letters or 9 decimal digits. A text
//   without the prefix has the smallest or the largest slice.
// * Numbers with slices of 8 bytes: the slice is the number.
// * Numbers with slices of 4 bytes: the slice is the distance from a number less than the sample,
//   without low bits that do not fit. All numbers out of range have the smallest or the largest
//   slice.
class Key_Coder {
 public:
  struct Slice {
    std::uint64_t value;
    bool is_exact;  // no other key has this slice
  };

  // A default coder distinguishes no keys.
  Key_Coder() = default;
  static Key_Coder of_texts(std::vector<std::string_view> sample);
  static Key_Coder of_numbers(std::vector<std::uint64_t> sample);

  bool is_wide() const { return is_wide_; }  // true if slices have 8 bytes
  Key_Coder with_width(bool is_wide) const;

  // Returns the slice of a key, which must be of the same kind as the sample.
  Slice encode(const Key_Part& key) const {
    return is_text_ ? encode_text(key.text) : encode_number(key.number);
  }
  // Converts the 8-byte slice of a key to its 4-byte slice. Requires !is_wide().
  std::uint64_t narrow(std::uint64_t wide) const;

  void save(Section_Writer& out) const;
  static Key_Coder restore(Section_Reader& in, bool is_text);  // throws Corruption_Error

 private:
  static constexpr std::uint64_t max_narrow = 0xffff'ffff;
  static constexpr std::uint64_t max_wide = ~std::uint64_t{0};
  static constexpr std::uint16_t unknown = 0x8000;
  static constexpr std::size_t max_digits = 16;
  using Bytes = std::array<bool, 256>;

  std::uint64_t largest() const { return is_wide_ ? max_wide : max_narrow; }
  void set_bytes(const Bytes& used);
  Slice encode_text(std::string_view text) const;
  Slice encode_number(std::uint64_t number) const {
    if (is_wide_) return {number, true};
    const std::uint64_t distance = number < base_ ? 0 : (number - base_) >> shift_;
    if (number < base_ || distance >= max_narrow - 1)
      return {number < base_ ? 0 : max_narrow, false};
    return {distance + 1, shift_ == 0};
  }

  bool is_text_ = false;
  bool is_wide_ = false;
  // numbers
  std::uint64_t base_ = 0;
  int shift_ = 0;
  // texts
  std::string prefix_;
  Bytes used_ = {};
  // The digit of each byte: 1 … radix_ - 1, in the order of the bytes; digit 0 is the end of the
  // text. The flag `unknown` marks a byte that is not in the sample. A text with this byte is
  // greater than all texts that have the same digit, without the flag, in this place.
  std::array<std::uint16_t, 256> digits_of_ = {};
  // False if all 256 bytes occur in the sample. Then the end of a text shares digit 0 with the zero
  // byte.
  bool has_end_ = true;
  std::uint64_t radix_ = 2;
  std::size_t digit_count_ = 0;
  std::array<std::uint64_t, max_digits + 1> powers_ = {};  // powers of radix_
  std::uint64_t narrow_unit_ = 1;  // number of 8-byte slices for each 4-byte slice
};

// Chooses the width of slices for sorted keys. 8 bytes are chosen only if the number of different
// slices then grows by more than a quarter of the number of keys.
class Width_Choice {
 public:
  explicit Width_Choice(const Key_Coder& narrow) : coder_(narrow) {}
  // Adds the 8-byte slice of the next key.
  void add(std::uint64_t wide) {
    const std::uint64_t narrow = coder_.narrow(wide);
    wide_count_ += size_ == 0 || wide != last_wide_ ? 1 : 0;
    narrow_count_ += size_ == 0 || narrow != last_narrow_ ? 1 : 0;
    ++size_;
    last_wide_ = wide;
    last_narrow_ = narrow;
  }
  Key_Coder result() const;

 private:
  const Key_Coder& coder_;
  std::size_t size_ = 0, wide_count_ = 0, narrow_count_ = 0;
  std::uint64_t last_wide_ = 0, last_narrow_ = 0;
};

// ---- the run ------------------------------------------------------------------------------------

// A set of bits in which clear bits are found fast. At first, all bits are clear. Each level except
// the lowest has a bit for each word of the level below; it is set if all bits of that word are
// set.
class Bit_Tree {
 public:
  static constexpr std::size_t none = ~std::size_t{0};

  // Makes room for `bits` bits. Requires an empty tree. Throws std::bad_alloc.
  void grow(std::size_t bits);
  void set(std::size_t bit);
  // next_clear returns the first clear bit from `bit` on, which may be past the end; previous_clear
  // returns the last clear bit up to `bit`. They return `none` if there is none.
  std::size_t next_clear(std::size_t bit) const;
  std::size_t previous_clear(std::size_t bit) const;

 private:
  std::uint64_t word(std::size_t level, std::size_t i) const {
    return reinterpret_cast<const std::uint64_t*>(levels_[level].data())[i];
  }
  std::size_t words(std::size_t level) const {
    return levels_[level].size() / sizeof(std::uint64_t);
  }
  std::vector<Zeroed_Memory> levels_;
};

// The sorted records of an index. They do not change, except that erased records are marked. A run
// consists of three arrays, which are used in place even if they come from a snapshot:
//
//     ids      4 bytes a record, the top bit of which is the mark (8 bytes, with more than 2^31
//              records)
//     slices   4 or 8 bytes a record: Key_Coder
//     levels   an implicit search tree of 16 slices a node: the first slices of each 16 slices, of
//              each 16 of these, and so on (S+ tree:
//              en.algorithmica.org/hpc/data-structures/s-tree)
//
// Before the columns of a record are read, the mark of its entry must be checked: an erased record
// may have a new key. A snapshot may have any bytes. An entry whose id is not in use counts as
// erased; if the order is wrong, searches return wrong results, but no memory outside the arrays is
// accessed.
class Index_Run {
 public:
  static constexpr std::size_t none = ~std::size_t{0};

  Index_Run() = default;

  // Sorts ids by their keys, which are slices of 8 bytes. The sort is stable. It temporarily
  // doubles the memory of both arrays.
  template <class Id>
  static void sort(Zeroed_Memory& keys, Zeroed_Memory& ids, std::size_t size);
  // Makes a run of sorted records. `coder` makes the 4-byte slices; the 8-byte keys are kept if
  // they distinguish much better (Width_Choice). Throws std::bad_alloc.
  Index_Run(Key_Coder coder, Zeroed_Memory keys, Zeroed_Memory ids, std::size_t size,
            bool has_wide_ids);

  std::size_t size() const { return size_; }  // includes erased entries
  std::size_t live_count() const { return live_count_; }
  const Key_Coder& coder() const { return coder_; }

  index_t id(std::size_t i) const {
    return static_cast<index_t>(has_wide_ids_ ? array<std::uint64_t>(ids_)[i] & ~wide_mark
                                              : array<std::uint32_t>(ids_)[i] & ~narrow_mark);
  }
  bool is_live(std::size_t i) const {
    return !is_marked(i) && (records_ == nullptr || records_->is_used(id(i)));
  }
  std::uint64_t slice(std::size_t i) const {
    return coder_.is_wide() ? array<std::uint64_t>(slices_)[i] : array<std::uint32_t>(slices_)[i];
  }

  // Returns the first live entry from i on, or size().
  std::size_t next_live(std::size_t i) const {
    return i >= size_ || is_live(i) ? i : find_next_live(i);
  }
  // Returns the last live entry before i, or `none`.
  std::size_t previous_live(std::size_t i) const;

  // Returns the first entry whose slice is not less than `slice`.
  std::size_t lower_bound(std::uint64_t slice) const {
    return coder_.is_wide() ? lower_bound_of(slice)
                            : lower_bound_of(static_cast<std::uint32_t>(slice));
  }
  // Returns the end of the entries that have the same slice as entry i.
  std::size_t end_of_equal(std::size_t i) const;

  // True if a key with slice `value` belongs directly before entry i, and neither neighbour has
  // this slice.
  bool is_between(std::size_t i, std::uint64_t value) const {
    return (i == 0 || slice(i - 1) < value) && (i == size_ || value < slice(i));
  }

  // Marks the entry as erased.
  void mark(std::size_t i);

  // ---- snapshots

  // Writes a run. for_each_id(f) must call f with each of the `size` ids in order, and
  // for_each_slice(f) must call f with each slice.
  template <class For_Each_Id, class For_Each_Slice>
  static void save(Section_Writer& out, const Key_Coder& coder, std::size_t size, bool has_wide_ids,
                   For_Each_Id for_each_id, For_Each_Slice for_each_slice);
  // Throws Corruption_Error, Io_Error or std::bad_alloc. `records` must outlive the run.
  static Index_Run restore(Section_Reader& in, bool is_text, const Record_Ids& records);
  bool is_mapped() const { return ids_.is_mapped(); }
  bool was_cut() const { return ids_.was_cut() || slices_.was_cut() || levels_.was_cut(); }

 private:
  static constexpr std::size_t node_size = 16;
  static constexpr std::size_t block_size = 64;  // entries for each bit of marked_blocks_
  static constexpr std::uint32_t narrow_mark = std::uint32_t{1} << 31;
  static constexpr std::uint64_t wide_mark = std::uint64_t{1} << 63;

  template <class T>
  static T* array(const Zeroed_Memory& memory) {
    return reinterpret_cast<T*>(memory.data());
  }
  static std::size_t rounded(std::size_t size) {
    return (size + node_size - 1) / node_size * node_size;
  }
  bool is_marked(std::size_t i) const {
    return has_wide_ids_ ? (array<std::uint64_t>(ids_)[i] & wide_mark) != 0
                         : (array<std::uint32_t>(ids_)[i] & narrow_mark) != 0;
  }
  std::size_t find_next_live(std::size_t i) const;

  template <class Slice>
  static std::size_t count_less(const Slice* node, Slice slice) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < node_size; ++i) count += node[i] < slice ? 1 : 0;
    return count;
  }
  template <class Slice>
  std::size_t lower_bound_of(Slice slice) const;

  struct Level {
    std::size_t start;  // offset in levels_, as a number of slices
    // Number of slices: one for each node of the level below. The last node is padded with the
    // largest slice.
    std::size_t size;
  };
  static std::vector<Level> levels_of(std::size_t size);
  static std::size_t slice_count(const std::vector<Level>& levels) {
    return levels.empty() ? 0 : levels.back().start + node_size;
  }
  template <class Slice>
  static void fill_levels(Slice* slices, const std::vector<Level>& levels);

  void prepare();

  Key_Coder coder_;
  std::size_t size_ = 0;
  std::size_t live_count_ = 0;
  bool has_wide_ids_ = false;
  Zeroed_Memory ids_;
  Zeroed_Memory slices_;
  Zeroed_Memory levels_;
  std::vector<Level> level_list_;  // the lowest level first
  Bit_Tree marked_blocks_;
  const Record_Ids* records_ = nullptr;  // not null if the ids come from a snapshot
};

// ---- searching ----------------------------------------------------------------------------------

// In each node, descends to the child of the last slice that is less: the first slice that is not
// less is in this child, or is the first of the next node.
template <class Slice>
std::size_t Index_Run::lower_bound_of(Slice slice) const {
  if (size_ == 0) return 0;
  std::size_t node = 0;
  const Slice* const levels = array<const Slice>(levels_);
  for (auto level = level_list_.rbegin(); level != level_list_.rend(); ++level) {
    const std::size_t less = count_less(levels + level->start + node * node_size, slice);
    const std::size_t child = node * node_size + (less > 0 ? less - 1 : 0);
    node = child < level->size ? child : level->size - 1;
  }
  __builtin_prefetch(ids_.data() + node * node_size * (has_wide_ids_ ? 8 : 4));
  const std::size_t place =
      node * node_size + count_less(array<const Slice>(slices_) + node * node_size, slice);
  return place < size_ ? place : size_;
}

// ---- writing ------------------------------------------------------------------------------------

// Appends values to a section in pieces of up to 64 KiB.
class Piece_Writer {
 public:
  explicit Piece_Writer(Section_Writer& out) : out_(out) { out.begin_section(); }
  template <class T>
  void put(T value) {
    if (size_ + sizeof value > sizeof piece_) flush();
    std::memcpy(piece_ + size_, &value, sizeof value);
    size_ += sizeof value;
  }
  void flush() {
    out_.append(piece_, size_);
    size_ = 0;
  }

 private:
  Section_Writer& out_;
  std::size_t size_ = 0;
  char piece_[1 << 16];
};

template <class For_Each_Id, class For_Each_Slice>
void Index_Run::save(Section_Writer& out, const Key_Coder& coder, std::size_t size,
                     bool has_wide_ids, For_Each_Id for_each_id, For_Each_Slice for_each_slice) {
  out.number(static_cast<std::int64_t>(size));
  if (size == 0) return;
  out.number(has_wide_ids);
  coder.save(out);
  const auto piece = std::make_unique<Piece_Writer>(out);
  for_each_id([&](index_t id) {
    has_wide_ids ? piece->put(static_cast<std::uint64_t>(id))
                 : piece->put(static_cast<std::uint32_t>(id));
  });
  piece->flush();

  const std::vector<Level> levels = levels_of(size);
  const auto save_slices = [&]<class Slice>(std::type_identity<Slice>) {
    std::vector<Slice> upper(slice_count(levels));
    const auto slices = std::make_unique<Piece_Writer>(out);
    std::size_t i = 0;
    for_each_slice([&](std::uint64_t slice) {
      slices->put(static_cast<Slice>(slice));
      if (i % node_size == 0 && !levels.empty()) upper[i / node_size] = static_cast<Slice>(slice);
      ++i;
    });
    for (; i < rounded(size); ++i) slices->put(std::numeric_limits<Slice>::max());
    slices->flush();
    if (levels.empty()) return;
    fill_levels(upper.data(), levels);
    out.section(upper.data(), upper.size() * sizeof(Slice));
  };
  coder.is_wide() ? save_slices(std::type_identity<std::uint64_t>())
                  : save_slices(std::type_identity<std::uint32_t>());
}

// Fills all levels except the lowest, which must be filled already. Pads all levels.
template <class Slice>
void Index_Run::fill_levels(Slice* slices, const std::vector<Level>& levels) {
  for (std::size_t k = 0; k < levels.size(); ++k) {
    Slice* const level = slices + levels[k].start;
    for (std::size_t i = 0; k > 0 && i < levels[k].size; ++i)
      level[i] = slices[levels[k - 1].start + i * node_size];
    for (std::size_t i = levels[k].size; i < rounded(levels[k].size); ++i)
      level[i] = std::numeric_limits<Slice>::max();
  }
}

}  // namespace joedb::inline v1

#endif
