#include "joedb/table/column.h"

#include <algorithm>
#include <memory>
#include <new>

#include "joedb/base/error.h"

namespace joedb::inline v1 {

static constexpr std::size_t tolerated_garbage = std::size_t{1} << 16;
static constexpr std::size_t first_block = 1024;
// From this size on, a block of texts reserves address space to grow.
static constexpr std::size_t large_block = std::size_t{1} << 16;

// Reserves address space for an empty block that will first have `needed` bytes.
static void reserve_to_grow(Zeroed_Memory& block, std::size_t needed, std::size_t wanted) {
  if (needed > large_block && !block.reserve(Zeroed_Memory::generous(wanted)))
    block.reserve(2 * wanted);
}

// Makes room for `size` bytes after the texts.
void Column<std::string_view>::make_room(std::size_t size) {
  const std::size_t needed = used_ + size;
  if (needed <= texts_.size()) return;
  const std::size_t wanted = std::max({needed, 2 * texts_.size(), first_block});
  if (needed <= texts_.reserved()) return texts_.grow(std::min(wanted, texts_.reserved()));
  Zeroed_Memory larger;
  reserve_to_grow(larger, needed, wanted);
  larger.grow(wanted);
  if (used_ > 0) std::memcpy(larger.data(), texts_.data(), used_);
  larger.copy_cut_state(texts_);
  earlier_texts_.push_back(std::move(texts_));
  texts_ = std::move(larger);
}

std::size_t Column<std::string_view>::allocate(std::size_t size) {
  make_room(size);
  const std::size_t offset = used_;
  used_ += size;
  return offset;
}

// Called if the old or the new text is long. If the new text fits in the place of the old text, it
// is written there.
void Column<std::string_view>::set_far(String_Handle& h, std::string_view value) {
  const std::size_t old_space = space_of(h);
  const bool was_mapped = old_space > 0 && h.offset() < mapped_;
  std::size_t new_garbage = old_space;
  if (value.size() <= String_Handle::max_inline_size) {
    set_inline(h, value);
  } else {
    const std::size_t space = value.size() + 1;
    const bool fits = old_space >= space;
    const std::size_t offset = fits ? h.offset() : allocate(space);
    char* const text = texts_.data() + offset;
    // memmove is necessary, because `value` may be a text of this column in the same place.
    std::memmove(text, value.data(), value.size());
    text[value.size()] = 0;
    h.size = static_cast<std::uint32_t>(value.size());
    h.set_offset(offset);
    if (fits) new_garbage -= space;
  }
  if (was_mapped) return;
  garbage_ += new_garbage;
  // A collection visits every handle, so there must be enough garbage.
  const std::size_t tolerated = std::max(tolerated_garbage, capacity_ * sizeof(String_Handle));
  if (garbage_ > tolerated && garbage_ > (used_ - mapped_) / 2) collect_garbage();
}

// If memory is exhausted, the garbage stays.
void Column<std::string_view>::collect_garbage() noexcept {
  const std::size_t most = used_ - mapped_;
  const auto is_movable = [&](const String_Handle& h) {
    return space_of(h) > 0 && h.offset() >= mapped_;
  };
  std::size_t size = 0;
  for (std::size_t i = 0; i < capacity_ && size <= most; ++i)
    if (is_movable(handles()[i])) size += space_of(handles()[i]);
  if (size > most) return;  // the snapshot is damaged: handles overlap
  std::unique_ptr<char[]> kept(new (std::nothrow) char[size]);
  if (!kept) return;
  char* out = kept.get();
  for (std::size_t i = 0; i < capacity_; ++i) {
    String_Handle& h = handles()[i];
    if (!is_movable(h)) continue;
    std::memcpy(out, texts_.data() + h.offset(), space_of(h));
    const std::size_t space = space_of(h);
    h.set_offset(mapped_ + static_cast<std::size_t>(out - kept.get()));
    out += space;
  }
  std::memcpy(texts_.data() + mapped_, kept.get(), size);
  used_ = mapped_ + size;
  garbage_ = 0;
}

// ---- detaching ----------------------------------------------------------------------------------

Column_Memory Column<std::string_view>::copy(std::size_t rows) const {
  Column_Memory result;
  result.values.grow(memory_.size(), true);
  if (rows > 0) std::memcpy(result.values.data(), memory_.data(), rows * sizeof(String_Handle));
  result.values.copy_cut_state(memory_);
  reserve_to_grow(result.texts, texts_.size(), texts_.size());
  result.texts.grow(texts_.size());
  if (used_ > 0) std::memcpy(result.texts.data(), texts_.data(), used_);
  result.texts.copy_cut_state(texts_);
  return result;
}

// Sets mapped_ to 0, because the new block is a copy and not a map.
Column_Memory Column<std::string_view>::replace(Column_Memory memory) noexcept {
  Column_Memory result{std::move(memory_), std::move(texts_)};
  memory_ = std::move(memory.values);
  texts_ = std::move(memory.texts);
  earlier_texts_.clear();
  mapped_ = 0;
  return result;
}

// ---- snapshots ----------------------------------------------------------------------------------

static constexpr std::size_t page_size = 4096;

// Writes the handles, and then the texts in the order of their rows, without garbage. Zeros fill
// the last page of the texts.
void Column<std::string_view>::save(Section_Writer& out, std::size_t rows) const {
  out.begin_section();
  std::size_t size = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    String_Handle h = handles()[i];
    if (const std::size_t space = space_of(h); space > 0) {
      h.set_offset(size);
      size += space;
    }
    out.append(&h, sizeof h);
  }
  const std::size_t padding = (page_size - size % page_size) % page_size;
  out.number(static_cast<std::int64_t>(size + padding));
  if (size == 0) return;
  out.begin_section();
  for (std::size_t i = 0; i < rows; ++i) {
    const String_Handle& h = handles()[i];
    if (space_of(h) > 0) out.append(texts_.data() + h.offset(), space_of(h));
  }
  const char zeros[page_size] = {};
  out.append(zeros, padding);
}

void Column<std::string_view>::restore(Section_Reader& in, std::size_t rows) {
  Zeroed_Memory memory;
  in.section(memory, rows * sizeof(String_Handle));
  const std::int64_t size = in.number();
  if (size < 0 || size % static_cast<std::int64_t>(page_size) != 0)
    throw Corruption_Error("a column of texts that does not fit", 0);
  const auto used = static_cast<std::size_t>(size);
  Zeroed_Memory texts;
  if (used > 0) {
    in.section(texts, used, Zeroed_Memory::generous(2 * used));
    texts.grow(used + 1);  // the last text ends with a zero byte, even in a damaged snapshot
  }
  memory_ = std::move(memory);
  texts_ = std::move(texts);
  earlier_texts_.clear();
  capacity_ = rows;
  used_ = mapped_ = used;
  garbage_ = 0;
}

}  // namespace joedb::inline v1
