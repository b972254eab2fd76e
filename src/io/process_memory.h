#ifndef JOEDB_SRC_IO_PROCESS_MEMORY_H
#define JOEDB_SRC_IO_PROCESS_MEMORY_H

#include <cstddef>
#include <cstdint>

namespace joedb::inline v1 {

// The private memory of this process, in bytes: of what is mapped from files, only what was changed
// counts. 0 if the system does not say.
std::size_t private_memory();

// Whether that is more than `limit`, and at least an eighth of the limit has been read or written
// since memory was given back: otherwise giving it back again would not help.
inline bool is_memory_above(std::size_t limit, std::int64_t bytes_since) {
  return bytes_since >= static_cast<std::int64_t>(limit / 8) && private_memory() > limit;
}

}  // namespace joedb::inline v1

#endif
