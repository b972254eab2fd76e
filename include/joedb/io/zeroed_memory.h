#ifndef JOEDB_IO_ZEROED_MEMORY_H
#define JOEDB_IO_ZEROED_MEMORY_H

#include <cstddef>
#include <cstdint>

#include "joedb/base/ids.h"

namespace joedb::inline v1 {

class Abstract_File;
class File;
class Guarded_Map;

// A block of memory that grows and whose new bytes are zero.
//
// Large blocks are private anonymous mappings: they grow by moving page tables instead of copying
// bytes (mremap), and cost nothing until touched. Those that will be filled ask for huge pages.
//
// A block can begin with a part of a file, which is mapped privately: it is read when it is
// touched, and a page that is changed becomes a copy. What grows behind it is anonymous memory, in
// address space that was reserved for it.
class Zeroed_Memory {
 public:
  Zeroed_Memory() = default;
  Zeroed_Memory(Zeroed_Memory&& other) noexcept { swap(other); }
  Zeroed_Memory& operator=(Zeroed_Memory&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Zeroed_Memory() { release(); }
  Zeroed_Memory(const Zeroed_Memory&) = delete;
  Zeroed_Memory& operator=(const Zeroed_Memory&) = delete;

  char* data() const { return data_; }
  std::size_t size() const { return size_; }

  // Makes the block `size` bytes long; a smaller size than now does nothing. The content may move.
  // Throws std::bad_alloc, and then nothing has changed. `will_be_filled`: most of the block is
  // about to be written.
  void grow(std::size_t size, bool will_be_filled = false);

  // Makes an empty block begin with [offset, offset + size) of `file`, where `offset` is a multiple
  // of 4096: mapped, if the file can be mapped (Abstract_File::map_privately) and this is large
  // enough, else read. A mapped block reserves 16 times its size, and not less than `reserved`. The
  // bytes of the file must not change from then on; it may be closed. Changes of the block do not
  // reach it. Throws Corruption_Error if the file ends before, Io_Error, std::bad_alloc, and then
  // the block is empty.
  void begin_with(const Abstract_File& file, Offset offset, std::size_t size,
                  std::size_t reserved = 0);
  // Whether it begins with a map.
  bool is_mapped() const { return guard_ != nullptr; }

  // Moves the first `used` bytes, but for those in the last page, to the end of `file`, and maps
  // them from there: later changes reach the file, too, and the system can take the pages when it
  // needs memory. Later calls move only what is behind. What is less than 64 KiB stays. The file is
  // of this process alone; processes that it forks share the block. The content may move, and what
  // is behind the used bytes need not be zeros before. Throws Io_Error, std::bad_alloc, and then
  // nothing has changed.
  void spill(File& file, std::size_t used);

  // Reserves address space for an empty block: it grows to so many bytes without moving. False if
  // there is not so much, and then nothing has changed.
  bool reserve(std::size_t size);
  // What to reserve for a block that must not move, and begins with `least` bytes: 64 GiB, or twice
  // `least` where the addresses of the process are limited (RLIMIT_AS).
  static std::size_t generous(std::size_t least);
  // How far it can grow without moving; 0 if every growth may move it.
  std::size_t reserved() const { return reserved_; }

  // The mapped part is about to be read from its beginning to its end: without this, only pages
  // that are touched are read from the disk. Advice only.
  void expect_scan() const noexcept;
  // Whether somebody has cut the mapped file where it was read: there are zeros since.
  bool was_cut() const;
  // How often that has happened to any map of the process.
  static std::uint64_t cut_count();
  // The content of this block was copied from the other one, with the zeros.
  void take_cut_of(const Zeroed_Memory& other) { was_cut_ = was_cut_ || other.was_cut(); }

  // Says that `size` bytes of the block are about to be written. If that is at least half of it,
  // and the block has 2 MiB, huge pages are asked for. Never fails.
  void expect(std::size_t size);

 private:
  void release() noexcept;
  void grow_in_place(std::size_t size);
  void swap(Zeroed_Memory& other) noexcept;

  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t reserved_ = 0;  // address space from data_ on; 0 where none was reserved
  std::size_t usable_ = 0;    // of this, what can be written
  std::size_t spilled_ = 0;   // of the beginning
  Guarded_Map* guard_ = nullptr;
  bool was_cut_ = false;  // before it moved
};

}  // namespace joedb::inline v1

#endif
