#ifndef JOEDB_IO_ZEROED_MEMORY_H
#define JOEDB_IO_ZEROED_MEMORY_H

#include <cstddef>

namespace joedb::inline v1 {

// A block of memory that grows and whose new bytes are zero.
//
// Large blocks are private anonymous mappings: they grow by moving page tables instead of copying
// bytes (mremap), and cost nothing until touched. Those that will be filled ask for huge pages.
class Zeroed_Memory {
 public:
  Zeroed_Memory() = default;
  ~Zeroed_Memory() { release(); }
  Zeroed_Memory(const Zeroed_Memory&) = delete;
  Zeroed_Memory& operator=(const Zeroed_Memory&) = delete;

  char* data() const { return data_; }
  std::size_t size() const { return size_; }

  // Makes the block `size` bytes long; a smaller size than now does nothing. The content may move.
  // Throws std::bad_alloc, and then nothing has changed. `will_be_filled`: most of the block is
  // about to be written.
  void grow(std::size_t size, bool will_be_filled = false);

  // Says that `size` bytes of the block are about to be written. If that is at least half of it,
  // and the block has 2 MiB, huge pages are asked for. Never fails.
  void expect(std::size_t size);

 private:
  void release() noexcept;

  char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace joedb::inline v1

#endif
