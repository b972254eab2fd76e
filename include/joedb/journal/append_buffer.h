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

// Bytes on their way to the end of a file. They are collected in memory, and written when the
// buffer is full, or flushed. Two offsets count: position(), where the next byte will stand, and
// flushed(), up to where the bytes are in the file.
//
// What writes throws Io_Error; the bytes of the buffer are still in it then, and `out` has failed,
// so that nothing more is written. It does not know what an entry is, nor a checkpoint.
//
// Not thread-safe.
class Append_Buffer {
 public:
  // What is appended is written to `out`, zeros ahead of it to `file`, which is the same file and
  // is also read. Both must outlive this object.
  Append_Buffer(Abstract_File& file, Fail_Stop_File& out);
  Append_Buffer(const Append_Buffer&) = delete;
  Append_Buffer& operator=(const Append_Buffer&) = delete;

  Offset position() const { return flushed_ + static_cast<Offset>(used_); }
  Offset flushed() const { return flushed_; }
  bool is_empty() const { return used_ == 0; }
  // The bytes [flushed(), position()).
  std::string_view unwritten() const { return {body(), used_}; }

  // Memory for `size` more bytes, which count from use_to() on. If there is no room for them, the
  // buffer is flushed, and may be enlarged.
  char* reserve(std::size_t size) {
    if (memory_.size() - before_size - used_ < size) [[unlikely]]
      make_room(size);
    return body() + used_;
  }
  // Bytes count up to `end`, which is in the memory that reserve() has returned.
  void use_to(const char* end) {
    assert(end >= body() + used_ && end <= memory_.data() + memory_.size());
    used_ = static_cast<std::size_t>(end - body());
  }
  // Appends a copy. Large ones are written at once, behind what is in the buffer.
  void append(const char* data, std::size_t size);

  // Writes the buffer to the file. Returns what was written: valid until the next reserve().
  std::string_view flush();

  // Forgets what was appended from `position` on, and truncates the file there if that was written.
  // If the truncation fails, the bytes stay in the file, and `out` has failed.
  void drop_from(Offset position) noexcept;
  // Forgets the whole buffer. The next byte will stand at `position`; what stands before it in the
  // file may be new.
  void restart_at(Offset position) noexcept;
  // Truncates the file at `position`. Throws Exception if it cannot be truncated.
  void truncate(Offset position);

  // From here on, what is written to the file from `start` on is hashed on its way, if it is much;
  // a little is read again when it is needed. Requires that `start` is in the buffer.
  void start_hash(Offset start);
  // integrity_hash of [start, position()); nothing if that was not started there. Throws Io_Error.
  std::optional<std::uint64_t> hash_since(Offset start);

  // Fills the file with zeros ahead of the bytes, in steps (Preallocator). Throws Exception.
  void preallocate(Offset step) { preallocator_.set_step(step); }
  // 0 if nothing is preallocated, or no longer: the disk had no room for it.
  Offset preallocation_step() const { return preallocator_.step(); }
  // Whether the file has zeros behind the bytes.
  bool has_zeros_ahead() const { return preallocator_.end() > flushed_; }
  // Before somebody else writes to the file, up to `end`.
  void preallocate_to(Offset end);

  // The last bytes before position(), as many as an integrity entry has. Requires that there are so
  // many. Reads them from the file if they were not appended through this object. Throws Io_Error.
  std::string_view last_bytes();

 private:
  const char* body() const { return memory_.data() + before_size; }
  char* body() { return memory_.data() + before_size; }
  void make_room(std::size_t size);
  void write(const char* data, std::size_t size);
  void hash_written(const char* data, Offset end);
  void hash_file(Offset end);

  Abstract_File& file_;
  Fail_Stop_File& out_;
  Preallocator preallocator_;
  // The last bytes before flushed_, if knows_before_; then those that are not written yet.
  static constexpr std::size_t before_size = integrity_entry_size;
  std::vector<char> memory_;
  bool knows_before_ = false;
  std::size_t used_ = 0;
  Offset flushed_ = 0;
  Offset sent_ = 0;  // up to here the disk may have begun to write

  Integrity_Hasher hasher_;
  Offset hash_start_ = 0;  // 0: nothing is hashed
  Offset hashed_ = 0;      // hasher_ has [hash_start_, hashed_)
};

}  // namespace joedb::inline v1

#endif
