#ifndef JOEDB_SRC_KERNEL_BASE_ZEROS_H
#define JOEDB_SRC_KERNEL_BASE_ZEROS_H

#include <algorithm>
#include <cstring>
#include <string_view>

namespace joedb::inline v1 {

// Returns the number of leading zeros of `bytes`. memcmp is faster than a loop over the bytes,
// because it uses vector registers.
inline std::size_t count_zeros(std::string_view bytes) {
  static constexpr char zeros[1024] = {};
  std::size_t count = 0;
  while (bytes.size() - count >= sizeof zeros &&
         std::memcmp(bytes.data() + count, zeros, sizeof zeros) == 0)
    count += sizeof zeros;
  return std::min(bytes.find_first_not_of('\0', count), bytes.size());
}

inline bool are_zeros(std::string_view bytes) { return count_zeros(bytes) == bytes.size(); }

}  // namespace joedb::inline v1

#endif
