#ifndef JOEDB_SRC_KERNEL_IO_PROCESS_H
#define JOEDB_SRC_KERNEL_IO_PROCESS_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace joedb::inline v1 {

// Returns "process 1234 on HOST", which names the holder of a lock to people who wait for it.
std::string process_name();

// Returns the private memory of this process, in bytes: of mapped files, only changed pages count.
// Returns 0 if the system does not say.
std::size_t private_memory();

// Raises the number of files that this process may have open to the most that the system allows.
// Returns this number.
std::size_t raise_file_limit() noexcept;

// True if private_memory() exceeds `limit`, and `bytes_since`, the number of bytes read or written
// since memory was last released, is at least an eighth of the limit: releasing it more often would
// not help.
inline bool is_memory_above(std::size_t limit, std::int64_t bytes_since) {
  return bytes_since >= static_cast<std::int64_t>(limit / 8) && private_memory() > limit;
}

}  // namespace joedb::inline v1

#endif
