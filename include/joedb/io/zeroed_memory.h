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

  // Makes the block `size` bytes long, not less than now. The content moves. Throws std::bad_alloc,
  // and then nothing has changed. Not to be filled: it is not known whether much will be written.
  void grow(std::size_t size, bool will_be_filled = false);

  // `size` bytes of it are about to be written. If they are most of the block, that is known now.
  void expect(std::size_t size);

 private:
  void release() noexcept;

  char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace joedb::inline v1

#endif
