#include "crash/allocations.h"

#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <new>

namespace joedb::testing::allocations {

namespace {

Live now;
std::int64_t most = 0;
std::int64_t mapped_bytes = 0;
std::int64_t max_in_maps = 0;
std::int64_t limit = std::numeric_limits<std::int64_t>::max();
std::int64_t failure_countdown = -1;
bool has_been_refused = false;

bool must_refuse() {
  if (failure_countdown < 0) return false;
  const bool result = failure_countdown == 0;
  --failure_countdown;
  has_been_refused |= result;
  return result;
}

void* take(std::size_t size) {
  if (must_refuse()) return nullptr;
  if (static_cast<std::int64_t>(size) > limit - now.bytes) {
    std::fprintf(stderr, "broken promise: %zu bytes are asked for, %lld are in use\n", size,
                 static_cast<long long>(now.bytes));
    std::abort();
  }
  void* const result = std::malloc(size);
  if (result == nullptr) return nullptr;
  ++now.count;
  now.bytes += static_cast<std::int64_t>(::malloc_usable_size(result));
  most = std::max(most, now.bytes);
  return result;
}

void give_back(void* block) noexcept {
  if (block == nullptr) return;
  --now.count;
  now.bytes -= static_cast<std::int64_t>(::malloc_usable_size(block));
  std::free(block);
}

void note_map(std::int64_t change) {
  mapped_bytes += change;
  max_in_maps = std::max(max_in_maps, mapped_bytes);
}

}  // namespace

Live live() { return now; }
std::int64_t peak() { return most; }
std::int64_t column_peak() { return max_in_maps; }
void reset_peak() {
  most = now.bytes;
  max_in_maps = mapped_bytes;
}
void set_limit(std::int64_t bytes) { limit = bytes; }
void fail_after(std::int64_t count) {
  failure_countdown = count;
  has_been_refused = false;
}
bool has_failed() { return has_been_refused; }

}  // namespace joedb::testing::allocations

namespace counted = joedb::testing::allocations;

// ---- operators ----------------------------------------------------------------------------------

void* operator new(std::size_t size) {
  void* const result = counted::take(size);
  if (result == nullptr) throw std::bad_alloc();
  return result;
}
void* operator new[](std::size_t size) { return ::operator new(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return counted::take(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return counted::take(size);
}
void operator delete(void* block) noexcept { counted::give_back(block); }
void operator delete[](void* block) noexcept { counted::give_back(block); }
void operator delete(void* block, std::size_t) noexcept { counted::give_back(block); }
void operator delete[](void* block, std::size_t) noexcept { counted::give_back(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { counted::give_back(block); }
void operator delete[](void* block, const std::nothrow_t&) noexcept { counted::give_back(block); }

// ---- columns (linker option --wrap) -------------------------------------------------------------

extern "C" {

void* __real_mmap(void* address, std::size_t size, int protection, int flags, int fd, off_t offset);
void* __real_mremap(void* address, std::size_t old_size, std::size_t size, int flags, ...);
int __real_munmap(void* address, std::size_t size);
void* __real_realloc(void* block, std::size_t size);

void* __wrap_mmap(void* address, std::size_t size, int protection, int flags, int fd,
                  off_t offset) {
  if (counted::must_refuse()) return MAP_FAILED;
  void* const result = __real_mmap(address, size, protection, flags, fd, offset);
  if (result != MAP_FAILED) counted::note_map(static_cast<std::int64_t>(size));
  return result;
}

void* __wrap_mremap(void* address, std::size_t old_size, std::size_t size, int flags, ...) {
  if (counted::must_refuse()) return MAP_FAILED;
  void* const result = __real_mremap(address, old_size, size, flags);
  if (result != MAP_FAILED) counted::note_map(static_cast<std::int64_t>(size - old_size));
  return result;
}

int __wrap_munmap(void* address, std::size_t size) {
  counted::note_map(-static_cast<std::int64_t>(size));
  return __real_munmap(address, size);
}

void* __wrap_realloc(void* block, std::size_t size) {
  return counted::must_refuse() ? nullptr : __real_realloc(block, size);
}

}  // extern "C"
