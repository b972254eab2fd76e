#ifndef JOEDB_JOURNAL_APPEND_BUFFER_H
#define JOEDB_JOURNAL_APPEND_BUFFER_H

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "joedb/format/integrity.h"
#include "joedb/io/fail_stop_file.h"
#include "joedb/io/preallocator.h"

namespace joedb::inline v1 {

// Collects bytes for the end of a file in memory, and writes them when the buffer is full or
// flushed. Two offsets matter: position(), the offset of the next byte, and flushed(), the end of
// the bytes that are in the file.
//
// Functions that write throw Io_Error. The bytes then stay in the buffer, and `out` has failed, so
// that nothing more is written. The buffer knows nothing of entries and checkpoints.
//
// Not thread-safe.
class Append_Buffer {
 public:
  // Appended bytes are written to `out`. `file` is the same file: it is read, and preallocated
  // zeros are written to it. Both must outlive this object.
  Append_Buffer(Abstract_File& file, Fail_Stop_File& out);
  Append_Buffer(const Append_Buffer&) = delete;
  Append_Buffer& operator=(const Append_Buffer&) = delete;

  Offset position() const { return flushed_ + static_cast<Offset>(used_); }
  Offset flushed() const { return flushed_; }
  bool is_empty() const { return used_ == 0; }
  // The bytes [flushed(), position()).
  std::string_view unwritten() const { return {body(), used_}; }

  // Returns memory for `size` more bytes, which count after use_to(). If there is no room, the
  // buffer is flushed, and may be enlarged.
  char* reserve(std::size_t size) {
    if (memory_.size() - prefix_size - used_ < size) [[unlikely]]
      make_room(size);
    return body() + used_;
  }
  // Advances position() to `end`, which must be in the memory that reserve() has returned.
  void use_to(const char* end) {
    assert(end >= body() + used_ && end <= memory_.data() + memory_.size());
    used_ = static_cast<std::size_t>(end - body());
  }
  // Appends a copy of the bytes. 256 KiB or more bypass the buffer: it is flushed, and they are
  // written at once.
  void append(const char* data, std::size_t size);

  // Writes the buffer to the file. Returns the bytes written, valid until the next reserve() or
  // append().
  std::string_view flush();

  // Drops the bytes from `position` on, and truncates the file there if some of them were written.
  // If the truncation fails, they stay in the file, and `out` has failed.
  void drop_from(Offset position) noexcept;
  // Drops the whole buffer. The next byte goes to `position`; the bytes before it in the file need
  // not have been written through this object.
  void restart_at(Offset position) noexcept;
  // Truncates the file at `position`, unless the file has no size (a device). Throws Exception if
  // it cannot be truncated.
  void truncate(Offset position);

  // Starts a hash at `start`. Writes of 16 KiB or more are hashed on their way to the file; smaller
  // ones are read back when the hash is needed. Requires flushed() <= start <= position().
  void start_hash(Offset start);
  // Returns integrity_hash of [start, position()), or nullopt if no hash was started at `start`.
  // Throws Io_Error.
  std::optional<std::uint64_t> hash_since(Offset start);

  // Preallocates the file in steps of `step` bytes, filled with zeros (Preallocator). Throws
  // Exception if the step is out of range.
  void preallocate(Offset step) { preallocator_.set_step(step); }
  // 0 if the file is not preallocated, or no longer, because the disk had no room for the zeros.
  Offset preallocation_step() const { return preallocator_.step(); }
  // True if preallocated zeros follow the bytes in the file.
  bool has_zeros_ahead() const { return preallocator_.end() > flushed_; }
  // Called before bytes up to `end` are written to the file without this buffer: preallocates for
  // them.
  void preallocate_to(Offset end);

  // Returns the last integrity_entry_size bytes before position(). Requires that the file has that
  // many. Reads them from the file if they were not appended through this object. Throws Io_Error.
  std::string_view last_bytes();

 private:
  const char* body() const { return memory_.data() + prefix_size; }
  char* body() { return memory_.data() + prefix_size; }
  void make_room(std::size_t size);
  void write(const char* data, std::size_t size);
  void hash_written(const char* data, Offset end);
  void hash_file(Offset end);

  Abstract_File& file_;
  Fail_Stop_File& out_;
  Preallocator preallocator_;
  // memory_ begins with the last prefix_size bytes before flushed_, valid if has_prefix_. The
  // unwritten bytes follow.
  static constexpr std::size_t prefix_size = integrity_entry_size;
  std::vector<char> memory_;
  bool has_prefix_ = false;
  std::size_t used_ = 0;
  Offset flushed_ = 0;
  Offset sent_ = 0;  // end of the bytes that the disk may have begun to write

  Integrity_Hasher hasher_;
};

}  // namespace joedb::inline v1

#endif
