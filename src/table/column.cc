#include "joedb/table/column.h"

#include <algorithm>
#include <new>

namespace joedb::inline v1 {

static constexpr std::size_t max_block_size = std::size_t{1} << 22;
static constexpr std::size_t tolerated_garbage = std::size_t{1} << 16;

void Column<std::string_view>::add_block(std::size_t size) {
  const std::size_t block_size = std::max(size, next_block_size_);
  blocks_.push_back(std::make_unique_for_overwrite<char[]>(block_size));
  free_ = blocks_.back().get();
  free_size_ = block_size;
  next_block_size_ = std::min(max_block_size, 2 * next_block_size_);
}

char* Column<std::string_view>::allocate(std::size_t size) {
  if (size > free_size_) add_block(size);
  char* const result = free_;
  free_ += size;
  free_size_ -= size;
  allocated_ += size;
  return result;
}

// One of the two texts is long. A text that fits where the old one was is written there.
void Column<std::string_view>::set_far(String_Handle& h, std::string_view value) {
  const std::size_t old_space = h.is_inline() ? 0 : h.size + std::size_t{1};
  if (value.size() <= String_Handle::max_inline_size) {
    set_inline(h, value);
    garbage_ += old_space;
  } else {
    const std::size_t space = value.size() + 1;
    char* text = old_space >= space ? h.far_text() : allocate(space);
    std::memmove(text, value.data(), value.size());
    text[value.size()] = 0;
    h.size = static_cast<std::uint32_t>(value.size());
    h.set_far_text(text);
    garbage_ += old_space >= space ? old_space - space : old_space;
  }
  // A collection looks at every handle: there must be enough to gain.
  const std::size_t tolerated = std::max(tolerated_garbage, capacity_ * sizeof(String_Handle));
  if (garbage_ > tolerated && garbage_ > allocated_ / 2) collect_garbage();
}

// One allocation, made before anything changes. Without memory the garbage stays.
void Column<std::string_view>::collect_garbage() noexcept {
  const std::size_t size = allocated_ - garbage_;
  std::unique_ptr<char[]> block(new (std::nothrow) char[size]);
  if (!block) return;
  char* out = block.get();
  for (std::size_t i = 0; i < capacity_; ++i) {
    String_Handle& h = handles()[i];
    if (h.is_inline()) continue;
    std::memcpy(out, h.far_text(), h.size + std::size_t{1});
    h.set_far_text(out);
    out += h.size + std::size_t{1};
  }
  blocks_.clear();
  blocks_.push_back(std::move(block));
  free_size_ = 0;
  allocated_ = size;
  garbage_ = 0;
}

}  // namespace joedb::inline v1
