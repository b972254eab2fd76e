#ifndef JOEDB_SRC_KERNEL_TABLE_SAME_BITS_H
#define JOEDB_SRC_KERNEL_TABLE_SAME_BITS_H

#include <cstring>
#include <type_traits>

namespace joedb::inline v1 {

// True if two values of a field have the same bits: a NaN is the same as itself, and 0 is not the
// same as -0.
template <class T>
bool has_same_bits(const T& a, const T& b) {
  if constexpr (std::is_floating_point_v<T>)
    return std::memcmp(&a, &b, sizeof(T)) == 0;
  else
    return a == b;
}

}  // namespace joedb::inline v1

#endif
