#ifndef JOEDB_FORMAT_COMPACT_H
#define JOEDB_FORMAT_COMPACT_H

#include <cstddef>
#include <cstdint>

// Compact numbers, most significant byte first. The three high bits of the first byte give the
// number of bytes that follow it; its five low bits are the most significant bits of the value.
//
//     0 … 31          00 … 1f
//     32 … 8191       20 20 … 3f ff
//     8192 … 2^21-1   40 20 00 … 5f ff ff
//     … 2^61-1        … ff ff ff ff ff ff ff ff

namespace joedb::inline v1 {

inline constexpr std::size_t max_compact_size = 8;
inline constexpr std::uint64_t max_compact = (std::uint64_t{1} << 61) - 1;

// Number of bytes of the shortest form. Requires value <= max_compact.
constexpr std::size_t compact_size(std::uint64_t value) {
  std::size_t size = 1;
  for (std::uint64_t limit = 32; value >= limit; limit <<= 8) ++size;
  return size;
}

// Writes the shortest form of `value` (<= max_compact) at `out` and returns its end.
constexpr char* write_compact(char* out, std::uint64_t value) {
  if (value < 32) {
    *out = static_cast<char>(value);
    return out + 1;
  }
  const std::size_t size = compact_size(value);
  for (std::size_t i = size; i-- > 0; value >>= 8) out[i] = static_cast<char>(value);
  *out = static_cast<char>(static_cast<unsigned char>(*out) | ((size - 1) << 5));
  return out + size;
}

// Number of bytes of the number that starts with this byte: 1 … 8. Forms longer than the shortest
// are read, too.
constexpr std::size_t compact_size_from_first_byte(char first) {
  return (static_cast<unsigned char>(first) >> 5) + std::size_t{1};
}

// Returns the value of the `size` bytes at `in`. `size` must be compact_size_from_first_byte(*in).
constexpr std::uint64_t read_compact(const char* in, std::size_t size) {
  std::uint64_t value = static_cast<unsigned char>(*in) & 0x1fu;
  for (std::size_t i = 1; i < size; ++i) value = value << 8 | static_cast<unsigned char>(in[i]);
  return value;
}

}  // namespace joedb::inline v1

#endif
