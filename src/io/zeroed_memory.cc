#include "joedb/io/zeroed_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "io/guarded_map.h"
#include "joedb/io/file.h"

namespace joedb::inline v1 {

// From this size on a block is a mapping of its own.
static constexpr std::size_t mapping_threshold = std::size_t{1} << 18;
static constexpr std::size_t huge_page_size = std::size_t{1} << 21;

void Zeroed_Memory::grow(std::size_t size, bool will_be_filled) {
  if (size <= size_) return;
  if (is_mapped()) {
    grow_behind_map(size);
  } else if (size < mapping_threshold) {
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

// Advice only: without huge pages everything works, with more page faults. It is given for the
// whole block, because a block of two kinds cannot grow.
void Zeroed_Memory::expect(std::size_t size) {
  if (is_mapped()) return;
  if (size_ >= huge_page_size && size >= size_ / 2) ::madvise(data_, size_, MADV_HUGEPAGE);
}

// ---- a part of a file at the beginning ----------------------------------------------------------

static constexpr std::size_t page_size = 4096;
static constexpr std::size_t least_map = std::size_t{1} << 16;  // smaller ones are read
static constexpr std::size_t growth = 16;  // so many times larger a block can become in its place

static std::size_t rounded(std::size_t size, std::size_t unit) {
  return (size + unit - 1) / unit * unit;
}

void Zeroed_Memory::begin_with(const Abstract_File& file, Offset offset, std::size_t size) {
  const Offset file_size = file.get_size();
  if (offset < 0 || file_size < offset || static_cast<std::size_t>(file_size - offset) < size)
    throw Corruption_Error(file.get_name() + ": it ends before what it should have", offset);
  if (size >= least_map && size < (std::size_t{1} << 56)) {
    // The anonymous part begins where a huge page may.
    const std::size_t whole = rounded(growth * size, huge_page_size) + huge_page_size;
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void* const place = ::mmap(nullptr, whole, PROT_NONE, flags, -1, 0);
    if (place != MAP_FAILED) {
      char* const start = static_cast<char*>(place);
      const std::size_t mapped = rounded(size, page_size);
      try {
        if (file.map_privately(start, size, offset)) {
          guard_ = Guarded_Map::add(start, mapped, PROT_READ | PROT_WRITE);
          data_ = start;
          size_ = size;
          usable_ = mapped;
          reserved_ = whole;
          return;
        }
      } catch (...) {
        ::munmap(place, whole);
        throw;
      }
      ::munmap(place, whole);
    }
  }
  grow(size);
  try {
    file.read_exactly(data_, size, offset);
  } catch (...) {
    release();
    throw;
  }
}

// What stands behind the part in its last page is not ours, and must become zeros.
void Zeroed_Memory::grow_behind_map(std::size_t size) {
  if (size > reserved_) {
    Zeroed_Memory larger;
    larger.grow(size, true);
    std::memcpy(larger.data_, data_, size_);
    std::swap(larger.data_, data_);
    std::swap(larger.size_, size_);
    std::swap(larger.reserved_, reserved_);
    std::swap(larger.usable_, usable_);
    std::swap(larger.guard_, guard_);
    return;
  }
  if (size > usable_) {
    const std::size_t wanted = rounded(size, page_size);
    if (::mprotect(data_ + usable_, wanted - usable_, PROT_READ | PROT_WRITE) != 0)
      throw std::bad_alloc();
    ::madvise(data_ + usable_, wanted - usable_, MADV_HUGEPAGE);
  }
  const std::size_t page_end = std::min(rounded(size_, page_size), size);
  std::memset(data_ + size_, 0, page_end - size_);
  usable_ = std::max(usable_, rounded(size, page_size));
}

bool Zeroed_Memory::was_cut() const { return guard_ != nullptr && guard_->was_cut(); }
std::uint64_t Zeroed_Memory::cut_count() { return Guarded_Map::cut_count(); }

void Zeroed_Memory::release() noexcept {
  if (is_mapped()) {
    guard_->release();
    ::munmap(data_, reserved_);
  } else if (size_ >= mapping_threshold) {
    ::munmap(data_, size_);
  } else {
    std::free(data_);
  }
  data_ = nullptr;
  size_ = reserved_ = usable_ = 0;
  guard_ = nullptr;
}

}  // namespace joedb::inline v1
