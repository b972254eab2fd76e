#include "kernel/table/index_run.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>
#include <limits>
#include <utility>

#include "joedb/base/error.h"
#include "kernel/base/interrupts.h"

namespace joedb::inline v1 {

// ---- slices -------------------------------------------------------------------------------------

// Sorts the sample, and returns its smallest and largest key. In a large sample, ignores 1/256 of
// the keys at each end, so that a few outliers do not matter.
template <class T>
static std::pair<T, T> ends_of(std::vector<T>& sample) {
  std::sort(sample.begin(), sample.end());
  const std::size_t left_out = sample.size() / 256;
  return {sample[left_out], sample[sample.size() - 1 - left_out]};
}

Key_Coder Key_Coder::of_texts(std::vector<std::string_view> sample) {
  Key_Coder coder;
  coder.is_text_ = true;
  Bytes used = {};
  if (!sample.empty()) {
    const auto [first, last] = ends_of(sample);
    const auto different = std::mismatch(first.begin(), first.end(), last.begin(), last.end());
    coder.prefix_ = first.substr(0, static_cast<std::size_t>(different.first - first.begin()));
  }
  for (std::string_view text : sample) {
    if (!text.starts_with(coder.prefix_)) continue;
    text.remove_prefix(coder.prefix_.size());
    for (const char byte : text.substr(0, max_digits))
      used[static_cast<unsigned char>(byte)] = true;
  }
  coder.set_bytes(used);
  return coder;
}

// If there is room, centers the sample in the range of slices, because greater numbers may be
// inserted later.
Key_Coder Key_Coder::of_numbers(std::vector<std::uint64_t> sample) {
  Key_Coder coder;
  if (sample.empty()) return coder;
  const auto [first, last] = ends_of(sample);
  while ((last - first) >> coder.shift_ >= max_narrow / 4) ++coder.shift_;
  const std::uint64_t room = (max_narrow - ((last - first) >> coder.shift_)) / 2;
  coder.base_ = coder.shift_ < 32 ? first - std::min(first, room << coder.shift_) : 0;
  return coder;
}

void Key_Coder::set_bytes(const Bytes& used) {
  used_ = used;
  has_end_ = std::count(used.begin(), used.end(), true) < 256;
  std::uint16_t digit = 0;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    if (has_end_ ? used[byte] || byte == 0 : byte > 0) ++digit;
    digits_of_[byte] = used[byte] ? digit : digit | unknown;
  }
  radix_ = digit + std::uint64_t{1};
  // The smallest and the largest slice are reserved for texts without the prefix.
  const auto digits_up_to = [&](std::uint64_t largest) {
    std::size_t count = 0;
    for (powers_[0] = 1; count < max_digits && powers_[count] <= (largest - 2) / radix_; ++count)
      powers_[count + 1] = powers_[count] * radix_;
    return count;
  };
  const std::size_t narrow = digits_up_to(max_narrow), wide = digits_up_to(max_wide);
  digit_count_ = is_wide_ ? wide : narrow;
  narrow_unit_ = powers_[wide - narrow];
}

Key_Coder Key_Coder::with_width(bool is_wide) const {
  Key_Coder result = *this;
  result.is_wide_ = is_wide;
  if (is_text_) result.set_bytes(used_);
  return result;
}

Key_Coder::Slice Key_Coder::encode_text(std::string_view text) const {
  if (!text.starts_with(prefix_)) return {text < prefix_ ? 0 : largest(), false};
  const char* const bytes = text.data() + prefix_.size();
  const std::size_t size = text.size() - prefix_.size();
  const std::size_t end = std::min(size, digit_count_);
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < end; ++i) {
    const std::uint64_t digit = digits_of_[static_cast<unsigned char>(bytes[i])];
    if (digit >= unknown) [[unlikely]]
      return {(value * radix_ + digit - unknown + 1) * powers_[digit_count_ - i - 1], false};
    value = value * radix_ + digit;
  }
  return {value * powers_[digit_count_ - end] + 1, has_end_ && size < digit_count_};
}

std::uint64_t Key_Coder::narrow(std::uint64_t wide) const {
  if (!is_text_) return encode_number(wide).value;
  if (wide == 0 || wide == max_wide) return wide == 0 ? 0 : max_narrow;
  return (wide - 1) / narrow_unit_ + 1;
}

void Key_Coder::save(Section_Writer& out) const {
  out.number(is_wide_);
  if (!is_text_) {
    out.number(static_cast<std::int64_t>(base_));
    out.number(shift_);
    return;
  }
  out.text(prefix_);
  std::string used;
  for (std::size_t byte = 0; byte < 256; ++byte)
    if (used_[byte]) used += static_cast<char>(byte);
  out.text(used);
}

Key_Coder Key_Coder::restore(Section_Reader& in, bool is_text) {
  Key_Coder coder;
  coder.is_text_ = is_text;
  coder.is_wide_ = in.number() != 0;
  if (!is_text) {
    coder.base_ = static_cast<std::uint64_t>(in.number());
    const std::int64_t shift = in.number();
    if (shift < 0 || shift > 63) throw Corruption_Error("an index has a bad shift", 0);
    coder.shift_ = static_cast<int>(shift);
    return coder;
  }
  coder.prefix_ = in.text();
  Bytes used = {};
  for (const char byte : in.text()) used[static_cast<unsigned char>(byte)] = true;
  coder.set_bytes(used);
  return coder;
}

Key_Coder Width_Choice::result() const {
  return coder_.with_width(wide_count_ - narrow_count_ > size_ / 4);
}

// ---- bits ---------------------------------------------------------------------------------------

static constexpr std::uint64_t all_set = ~std::uint64_t{0};

static std::size_t lowest(std::uint64_t bits) {
  return static_cast<std::size_t>(std::countr_zero(bits));
}
static std::size_t highest(std::uint64_t bits) {
  return 63 - static_cast<std::size_t>(std::countl_zero(bits));
}

void Bit_Tree::grow(std::size_t bits) {
  assert(levels_.empty());
  do {
    bits = (bits + 63) / 64;
    levels_.emplace_back().grow(bits * sizeof(std::uint64_t));
  } while (bits > 1);
}

void Bit_Tree::set(std::size_t bit) {
  for (Zeroed_Memory& level : levels_) {
    std::uint64_t& word = reinterpret_cast<std::uint64_t*>(level.data())[bit / 64];
    word |= std::uint64_t{1} << bit % 64;
    if (word != all_set) return;
    bit /= 64;
  }
}

std::size_t Bit_Tree::next_clear(std::size_t bit) const {
  for (std::size_t level = 0; level < levels_.size() && bit / 64 < words(level); ++level) {
    const std::uint64_t clear = ~word(level, bit / 64) & all_set << bit % 64;
    if (clear != 0) {
      bit = bit / 64 * 64 + lowest(clear);
      for (; level > 0; --level) {
        if (bit >= words(level - 1)) return none;
        bit = bit * 64 + lowest(~word(level - 1, bit));
      }
      return bit;
    }
    bit = bit / 64 + 1;
  }
  return none;
}

std::size_t Bit_Tree::previous_clear(std::size_t bit) const {
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    const std::uint64_t clear = ~word(level, bit / 64) & all_set >> (63 - bit % 64);
    if (clear != 0) {
      bit = bit / 64 * 64 + highest(clear);
      for (; level > 0; --level) bit = bit * 64 + highest(~word(level - 1, bit));
      return bit;
    }
    if (bit < 64) return none;
    bit = bit / 64 - 1;
  }
  return none;
}

// ---- the run ------------------------------------------------------------------------------------

namespace {

template <class Id>
struct Keyed_Ids {
  std::uint64_t* keys;
  Id* ids;

  Keyed_Ids from(std::size_t i) const { return {keys + i, ids + i}; }
  void copy_to(const Keyed_Ids& other, std::size_t size) const {
    std::memcpy(other.keys, keys, size * sizeof(std::uint64_t));
    std::memcpy(other.ids, ids, size * sizeof(Id));
  }
};

constexpr int digit_bits = 8;
constexpr std::size_t digits = 1 << digit_bits;

// Sorts by the digit at `shift`; the sort is stable. For each digit, returns the position at which
// the keys with the next digit begin.
template <class Id>
std::array<std::size_t, digits> distribute(const Keyed_Ids<Id>& from, const Keyed_Ids<Id>& to,
                                           std::size_t size, int shift) {
  const auto digit = [&](std::size_t i) { return from.keys[i] >> shift & (digits - 1); };
  std::array<std::size_t, digits> places = {};
  for (std::size_t i = 0; i < size; ++i) ++places[digit(i)];
  std::size_t sum = 0;
  for (std::size_t& place : places) sum += std::exchange(place, sum);
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t place = places[digit(i)]++;
    to.keys[place] = from.keys[i];
    to.ids[place] = from.ids[i];
  }
  return places;
}

// Radix sort. Parts that are larger than the CPU cache are first divided by their most significant
// digit; smaller parts are sorted from the least significant digit on.
template <class Id>
void sort_part(const Keyed_Ids<Id>& part, const Keyed_Ids<Id>& other, std::size_t size) {
  constexpr std::size_t few = 32, cached = std::size_t{1} << 16;
  if (size <= few) {
    for (std::size_t i = 1; i < size; ++i) {
      const std::uint64_t key = part.keys[i];
      const Id id = part.ids[i];
      std::size_t k = i;
      for (; k > 0 && part.keys[k - 1] > key; --k) {
        part.keys[k] = part.keys[k - 1];
        part.ids[k] = part.ids[k - 1];
      }
      part.keys[k] = key;
      part.ids[k] = id;
    }
    return;
  }
  look_for_interrupt();
  std::uint64_t differences = 0;
  for (std::size_t i = 1; i < size; ++i) differences |= part.keys[i] ^ part.keys[0];
  const int bits = static_cast<int>(std::bit_width(differences));
  if (bits == 0) return;
  if (size > cached) {
    std::size_t begin = 0;
    for (const std::size_t end : distribute(part, other, size, std::max(bits - digit_bits, 0))) {
      sort_part(other.from(begin), part.from(begin), end - begin);
      other.from(begin).copy_to(part.from(begin), end - begin);
      begin = end;
    }
    return;
  }
  Keyed_Ids<Id> sorted = part, next = other;
  for (int shift = 0; shift < bits; shift += digit_bits) {
    if ((differences >> shift & (digits - 1)) == 0) continue;
    distribute(sorted, next, size, shift);
    std::swap(sorted, next);
  }
  if (sorted.keys != part.keys) sorted.copy_to(part, size);
}

}  // namespace

template <class Id>
void Index_Run::sort(Zeroed_Memory& keys, Zeroed_Memory& ids, std::size_t size) {
  if (size < 2) return;
  Zeroed_Memory other_keys, other_ids;
  other_keys.grow(size * sizeof(std::uint64_t), true);
  other_ids.grow(size * sizeof(Id), true);
  sort_part<Id>({array<std::uint64_t>(keys), array<Id>(ids)},
                {array<std::uint64_t>(other_keys), array<Id>(other_ids)}, size);
}

template void Index_Run::sort<std::uint32_t>(Zeroed_Memory&, Zeroed_Memory&, std::size_t);
template void Index_Run::sort<std::uint64_t>(Zeroed_Memory&, Zeroed_Memory&, std::size_t);

Index_Run::Index_Run(Key_Coder coder, Zeroed_Memory keys, Zeroed_Memory ids, std::size_t size,
                     bool has_wide_ids)
    : size_(size), has_wide_ids_(has_wide_ids), ids_(std::move(ids)) {
  Width_Choice choice(coder);
  const std::uint64_t* const wide = array<std::uint64_t>(keys);
  for (std::size_t i = 0; i < size; ++i) choice.add(wide[i]);
  coder_ = choice.result();
  prepare();
  const auto fill = [&]<class Slice>(std::type_identity<Slice>) {
    Slice* const slices = array<Slice>(slices_);
    for (std::size_t i = 0; i < size; ++i)
      slices[i] = static_cast<Slice>(coder_.is_wide() ? wide[i] : coder_.narrow(wide[i]));
    for (std::size_t i = size; i < rounded(size); ++i)
      slices[i] = std::numeric_limits<Slice>::max();
    if (level_list_.empty()) return;
    Slice* const levels = array<Slice>(levels_);
    for (std::size_t i = 0; i < level_list_[0].size; ++i) levels[i] = slices[i * node_size];
    fill_levels(levels, level_list_);
  };
  const std::size_t slice_size = coder_.is_wide() ? 8 : 4;
  slices_.grow(rounded(size) * slice_size, true);
  if (!level_list_.empty()) levels_.grow(slice_count(level_list_) * slice_size, true);
  coder_.is_wide() ? fill(std::type_identity<std::uint64_t>())
                   : fill(std::type_identity<std::uint32_t>());
}

void Index_Run::prepare() {
  live_count_ = size_;
  level_list_ = levels_of(size_);
  marked_blocks_.grow((size_ + block_size - 1) / block_size);
}

std::vector<Index_Run::Level> Index_Run::levels_of(std::size_t size) {
  std::vector<Level> levels;
  std::size_t start = 0;
  for (std::size_t nodes = rounded(size) / node_size; nodes > 1;
       nodes = rounded(nodes) / node_size) {
    levels.push_back({start, nodes});
    start += rounded(nodes);
  }
  return levels;
}

std::size_t Index_Run::find_next_live(std::size_t i) const {
  while (i < size_) {
    const std::size_t end = std::min(size_, (i / block_size + 1) * block_size);
    for (; i < end; ++i)
      if (is_live(i)) return i;
    const std::size_t block = marked_blocks_.next_clear(i / block_size);
    if (block == Bit_Tree::none) break;
    i = std::max(i, block * block_size);
  }
  return size_;
}

std::size_t Index_Run::previous_live(std::size_t i) const {
  while (i > 0) {
    const std::size_t start = (i - 1) / block_size * block_size;
    while (i > start)
      if (is_live(--i)) return i;
    if (start == 0) break;
    const std::size_t block = marked_blocks_.previous_clear(start / block_size - 1);
    if (block == Bit_Tree::none) break;
    i = (block + 1) * block_size;
  }
  return none;
}

std::size_t Index_Run::end_of_equal(std::size_t i) const {
  const std::uint64_t value = slice(i);
  if (i + 1 == size_ || slice(i + 1) != value) return i + 1;
  const bool is_largest = value == (coder_.is_wide() ? ~std::uint64_t{0} : 0xffff'ffff);
  return is_largest ? size_ : std::max(i, lower_bound(value + 1));
}

void Index_Run::mark(std::size_t i) {
  if (has_wide_ids_)
    array<std::uint64_t>(ids_)[i] |= wide_mark;
  else
    array<std::uint32_t>(ids_)[i] |= narrow_mark;
  --live_count_;
  const std::size_t start = i / block_size * block_size;
  const std::size_t end = std::min(size_, start + block_size);
  for (std::size_t k = start; k < end; ++k)
    if (!is_marked(k)) return;
  marked_blocks_.set(start / block_size);
}

Index_Run Index_Run::restore(Section_Reader& in, bool is_text, const Record_Ids& records) {
  Index_Run run;
  const std::int64_t size = in.number();
  if (size < 0 || size > records.size())
    throw Corruption_Error("an index has more records than its table", 0);
  if (size == 0) return run;
  run.size_ = static_cast<std::size_t>(size);
  run.has_wide_ids_ = in.number() != 0;
  run.coder_ = Key_Coder::restore(in, is_text);
  run.records_ = &records;
  run.prepare();
  const std::size_t slice_size = run.coder_.is_wide() ? 8 : 4;
  in.section(run.ids_, run.size_ * (run.has_wide_ids_ ? 8 : 4));
  in.section(run.slices_, rounded(run.size_) * slice_size);
  if (!run.level_list_.empty()) in.section(run.levels_, slice_count(run.level_list_) * slice_size);
  return run;
}

}  // namespace joedb::inline v1
