#include "joedb/io/zeroed_memory.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "joedb/io/posix_file.h"
#include "kernel/io/guarded_map.h"

namespace joedb::inline v1 {

// Blocks of at least this size get a mapping of their own.
static constexpr std::size_t mapping_threshold = std::size_t{1} << 18;
static constexpr std::size_t huge_page_size = std::size_t{1} << 21;

void Zeroed_Memory::grow(std::size_t size, bool will_be_filled) {
  if (size <= size_) return;
  if (reserved_ > 0) {
    if (size <= reserved_) {
      grow_in_place(size);
    } else {
      Zeroed_Memory larger;
      larger.grow(size, true);
      if (size_ > 0) std::memcpy(larger.data_, data_, size_);
      larger.copy_cut_state(*this);
      swap(larger);
    }
    return;
  }
  if (size < mapping_threshold) {
    char* bigger = static_cast<char*>(std::realloc(data_, size));
    if (bigger == nullptr) throw std::bad_alloc();
    std::memset(bigger + size_, 0, size - size_);
    data_ = bigger;
  } else {
    void* mapping;
    if (size_ >= mapping_threshold) {
      mapping = ::mremap(data_, size_, size, MREMAP_MAYMOVE);
      if (mapping == MAP_FAILED) throw std::bad_alloc();
    } else {
      mapping = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (mapping == MAP_FAILED) throw std::bad_alloc();
      if (size_ > 0) std::memcpy(mapping, data_, size_);
      std::free(data_);
    }
    data_ = static_cast<char*>(mapping);
  }
  size_ = size;
  if (will_be_filled) expect(size);
}

// The call is only a hint; without huge pages, there are more page faults. The hint is given for
// the whole block, because mremap cannot grow a mapping with two kinds of pages.
void Zeroed_Memory::expect(std::size_t size) {
  if (reserved_ > 0) return;
  if (size_ >= huge_page_size && size >= size_ / 2) ::madvise(data_, size_, MADV_HUGEPAGE);
}

// ---- reserved addresses -------------------------------------------------------------------------

static constexpr std::size_t page_size = 4096;
// Parts of files that are smaller than this are read, not mapped.
static constexpr std::size_t min_map_size = std::size_t{1} << 16;
static constexpr std::size_t largest = std::size_t{1} << 46;

static std::size_t rounded(std::size_t size, std::size_t unit) {
  return (size + unit - 1) / unit * unit;
}

static bool has_limited_addresses() {
  static const bool is_limited = [] {
    struct rlimit limit {};
    return ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  }();
  return is_limited;
}

static std::size_t room_to_grow(std::size_t size) {
  constexpr std::size_t usual = 16;
  return (has_limited_addresses() ? 2 : usual) * size;
}

bool Zeroed_Memory::reserve(std::size_t size) {
  if (size == 0 || size > largest) return false;
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  const std::size_t whole = rounded(size, page_size);
  void* const place = ::mmap(nullptr, whole, PROT_NONE, flags, -1, 0);
  if (place == MAP_FAILED) return false;
  data_ = static_cast<char*>(place);
  reserved_ = whole;
  return true;
}

std::size_t Zeroed_Memory::generous(std::size_t least) {
  constexpr std::size_t usual = std::size_t{1} << 36;
  return has_limited_addresses() ? 2 * least : std::max(usual, 2 * least);
}

void Zeroed_Memory::begin_with(const Abstract_File& file, Offset offset, std::size_t size,
                               std::size_t reserved) {
  const Offset file_size = file.get_size();
  if (offset < 0 || file_size < offset || static_cast<std::size_t>(file_size - offset) < size)
    throw Corruption_Error(file.get_name() + ": it ends before what it should have", offset);
  try {
    if (size >= min_map_size &&
        (reserve(std::max(room_to_grow(size), reserved)) || reserve(size))) {
      const std::size_t mapped = rounded(size, page_size);
      const auto* const mappable = dynamic_cast<const File*>(&file);
      if (mappable != nullptr && mappable->map_privately(data_, size, offset)) {
        guard_ = Guarded_Map::add(data_, mapped, PROT_READ | PROT_WRITE);
        size_ = size;
        usable_ = mapped;
        // Without this hint, read-ahead costs up to some milliseconds for each page that is
        // touched.
        ::madvise(data_, mapped, MADV_RANDOM);
        return;
      }
    }
    grow(size);
    file.read_exactly(data_, size, offset);
  } catch (...) {
    release();
    throw;
  }
}

// The last mapped page may contain bytes of the file that do not belong to the block. They must
// become zeros.
void Zeroed_Memory::grow_in_place(std::size_t size) {
  if (size > usable_) {
    // The block does not grow page by page, because each call takes two system calls.
    const std::size_t wanted =
        std::min(reserved_, size < huge_page_size ? rounded(size, min_map_size)
                                                  : rounded(size, huge_page_size));
    if (::mprotect(data_ + usable_, wanted - usable_, PROT_READ | PROT_WRITE) != 0)
      throw std::bad_alloc();
    if (size >= huge_page_size) ::madvise(data_ + usable_, wanted - usable_, MADV_HUGEPAGE);
    usable_ = wanted;
  }
  if (is_mapped()) std::memset(data_ + size_, 0, rounded(size_, page_size) - size_);
  size_ = size;
}

void Zeroed_Memory::spill(File& file, std::size_t used) {
  const std::size_t whole = used / page_size * page_size;
  if (whole < spilled_ + min_map_size) return;
  // A failed write may have left a partial page.
  const auto end =
      static_cast<Offset>(rounded(static_cast<std::size_t>(file.get_size()), page_size));
  file.pwrite(data_ + spilled_, whole - spilled_, end);
  Zeroed_Memory moved;
  const bool has_to_move = reserved_ == 0;
  if (has_to_move) {
    if (!moved.reserve(room_to_grow(size_)) && !moved.reserve(size_)) throw std::bad_alloc();
    moved.grow_in_place(size_);
    moved.copy_cut_state(*this);
    std::memcpy(moved.data_ + whole, data_ + whole, used - whole);
  }
  Zeroed_Memory& block = has_to_move ? moved : *this;
  if (block.guard_ == nullptr)
    block.guard_ = Guarded_Map::add(block.data_, spilled_, PROT_READ | PROT_WRITE);
  if (!file.map_shared(block.data_ + spilled_, whole - spilled_, end)) throw std::bad_alloc();
  // The last page of the map at the beginning of the block is not moved, and remains guarded.
  block.guard_->resize(std::max(block.guard_->size(), whole));
  block.spilled_ = whole;
  if (has_to_move) swap(moved);
}

void Zeroed_Memory::swap(Zeroed_Memory& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(reserved_, other.reserved_);
  std::swap(usable_, other.usable_);
  std::swap(spilled_, other.spilled_);
  std::swap(guard_, other.guard_);
  std::swap(was_cut_, other.was_cut_);
}

void Zeroed_Memory::expect_scan() const noexcept {
  if (is_mapped()) ::madvise(data_, guard_->size(), MADV_NORMAL);
}

bool Zeroed_Memory::was_cut() const { return was_cut_ || (guard_ != nullptr && guard_->was_cut()); }
std::uint64_t Zeroed_Memory::cut_count() { return Guarded_Map::cut_count(); }

void Zeroed_Memory::release() noexcept {
  if (guard_ != nullptr) guard_->release();
  if (reserved_ > 0) {
    ::munmap(data_, reserved_);
  } else if (size_ >= mapping_threshold) {
    ::munmap(data_, size_);
  } else {
    std::free(data_);
  }
  data_ = nullptr;
  size_ = reserved_ = usable_ = spilled_ = 0;
  guard_ = nullptr;
}

}  // namespace joedb::inline v1
