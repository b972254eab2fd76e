#ifndef JOEDB_SRC_KERNEL_IO_PROCESS_H
#define JOEDB_SRC_KERNEL_IO_PROCESS_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace joedb::inline v1 {

// Returns "process 1234 on HOST", which describes the holder of a lock to users who wait for the
// lock.
std::string process_name();

// Returns the private memory of this process in bytes. Pages of mapped files count only if they
// were changed. Returns 0 if unknown.
std::size_t private_memory();

// Raises the limit on open files of this process to the maximum that the system allows. Returns the
// new limit.
std::size_t raise_file_limit() noexcept;

// Returns the width, in characters, of the terminal that is standard output; 0 if it is none.
std::size_t terminal_width() noexcept;

// True if private_memory() exceeds `limit`, and `bytes_since` is at least an eighth of the limit.
// `bytes_since` is the number of bytes read or written since memory was last released; to release
// memory more often would not help.
inline bool is_memory_above(std::size_t limit, std::int64_t bytes_since) {
  return bytes_since >= static_cast<std::int64_t>(limit / 8) && private_memory() > limit;
}

}  // namespace joedb::inline v1

#endif
