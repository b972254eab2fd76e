#ifndef JOEDB_IO_ZEROED_MEMORY_H
#define JOEDB_IO_ZEROED_MEMORY_H

#include <cstddef>
#include <cstdint>

#include "joedb/base/types.h"

namespace joedb::inline v1 {

class Abstract_File;
class File;
class Guarded_Map;

// A growable block of memory whose new bytes are zero. Not thread-safe.
//
// Large blocks are private anonymous mappings: they grow by moving page tables instead of copying
// bytes (mremap), and cost nothing until touched. A block that will be filled requests huge pages.
//
// The first bytes of a block can be a private map of a part of a file: pages are read when they are
// touched, and copied when they are changed. Memory past the map is anonymous, in address space
// that was reserved for it.
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

  // Grows the block to `size` bytes; does nothing if the block is at least as large already. The
  // content may move. If this throws std::bad_alloc, nothing has changed. `will_be_filled` says
  // that most of the block is about to be written.
  void grow(std::size_t size, bool will_be_filled = false);

  // Fills an empty block with [offset, offset + size) of `file`; `offset` is a multiple of 4096.
  // The part is mapped if it has at least 64 KiB and the file can be mapped (File::map_privately);
  // otherwise it is read. A mapped block reserves address space: 16 times its size (twice its size
  // if RLIMIT_AS is set), but at least `reserved` bytes. If there is not enough address space, it
  // reserves only its size. The bytes of the file must not change from then on; the file may be
  // closed. Changes to the block do not reach the file. Throws Io_Error, std::bad_alloc, and
  // Corruption_Error if the file ends before offset + size; then the block is empty.
  void begin_with(const Abstract_File& file, Offset offset, std::size_t size,
                  std::size_t reserved = 0);
  // True if a part of the block is a map of a file.
  bool is_mapped() const { return guard_ != nullptr; }

  // Appends the first `used` bytes, rounded down to whole pages, to `file`, and maps these bytes
  // from the file (shared): later changes also reach the file, and the system can reclaim the pages
  // when it needs memory. A later call spills only bytes that were not spilled before, and does
  // nothing if there are fewer than 64 KiB of them. No other process may use `file`. Processes that
  // are forked later share the block. The content may move in memory. Bytes past `used` may be
  // nonzero before the call, and are not preserved. If this throws Io_Error or std::bad_alloc,
  // nothing has changed.
  void spill(File& file, std::size_t used);

  // Reserves address space for an empty block, so that it can grow to `size` bytes without moving.
  // Returns false, without a change, if there is not enough address space.
  bool reserve(std::size_t size);
  // Returns the number of bytes to reserve for a block that must not move and will have at least
  // `least` bytes: the greater of 64 GiB and 2 * `least`, or 2 * `least` if the address space of
  // the process is limited (RLIMIT_AS).
  static std::size_t generous(std::size_t least);
  // Number of bytes up to which the block grows without moving; 0 if every growth may move it.
  std::size_t reserved() const { return reserved_; }

  // Advises the system that the mapped part is about to be read sequentially. Without this, only
  // pages that are touched are read from the disk. Never fails.
  void expect_scan() const noexcept;
  // True if the mapped file was truncated (or became unreadable) under the mapping; the lost range
  // reads as zeros.
  bool was_cut() const;
  // Number of times that any map of this process was cut, or was found to be damaged.
  static std::uint64_t cut_count();
  // Copies the state was_cut() from `other`. Call this after copying the content of `other` to this
  // block, because lost ranges were copied, too.
  void copy_cut_state(const Zeroed_Memory& other) { was_cut_ = was_cut_ || other.was_cut(); }

  // Announces that `size` bytes of the block are about to be written. Requests huge pages if `size`
  // is at least half of the block, and the block has at least 2 MiB and no reserved address space.
  // Never fails.
  void expect(std::size_t size);

 private:
  void release() noexcept;
  void grow_in_place(std::size_t size);
  void swap(Zeroed_Memory& other) noexcept;

  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t reserved_ = 0;  // bytes of address space from data_ on; 0 if none was reserved
  std::size_t usable_ = 0;    // writable bytes of the reserved space
  std::size_t spilled_ = 0;   // bytes at the beginning that were spilled
  Guarded_Map* guard_ = nullptr;
  bool was_cut_ = false;  // true if the block was cut before it moved
};

}  // namespace joedb::inline v1

#endif
