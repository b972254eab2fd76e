#include "joedb/io/zeroed_memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace joedb::inline v1 {

// From this size on a block is a mapping of its own.
static constexpr std::size_t mapping_threshold = std::size_t{1} << 18;
static constexpr std::size_t huge_page_size = std::size_t{1} << 21;

void Zeroed_Memory::grow(std::size_t size, bool will_be_filled) {
  if (size <= size_) return;
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

// Advice only: without huge pages everything works, with more page faults. It is given for the
// whole block, because a block of two kinds cannot grow.
void Zeroed_Memory::expect(std::size_t size) {
  if (size_ >= huge_page_size && size >= size_ / 2) ::madvise(data_, size_, MADV_HUGEPAGE);
}

void Zeroed_Memory::release() noexcept {
  if (size_ >= mapping_threshold)
    ::munmap(data_, size_);
  else
    std::free(data_);
}

}  // namespace joedb::inline v1
