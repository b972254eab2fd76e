#ifndef JOEDB_BASE_BYTES_H
#define JOEDB_BASE_BYTES_H

#include <bit>
#include <cstring>
#include <type_traits>

namespace joedb::inline v1 {

// Numbers in a joedb file are little-endian, and whole vectors of them are copied to and from
// memory.
static_assert(std::endian::native == std::endian::little, "joedb needs a little-endian machine");

// Reads a T from the sizeof(T) bytes at `from`, which need not be aligned.
template <class T>
T load(const char* from) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

// Writes the sizeof(T) bytes of `value` to `to`, which need not be aligned. Returns the end of
// these bytes.
template <class T>
char* store(char* to, T value) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::memcpy(to, &value, sizeof(T));
  return to + sizeof(T);
}

}  // namespace joedb::inline v1

#endif
