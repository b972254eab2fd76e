#ifndef BASE_PLAIN_TEXT_H
#define BASE_PLAIN_TEXT_H

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "joedb/base/bytes.h"

namespace joedb::inline v1 {

// How many bytes at the start of a text are printable ASCII and none of the `Special` ones. Eight
// at a time: texts are often long and have none.
template <char... Special>
std::size_t plain_size(std::string_view text) {
  constexpr std::uint64_t ones = 0x0101010101010101;
  constexpr std::uint64_t high_bits = 0x80 * ones;
  // In the result, the high bit of each byte that is zero; and perhaps of later ones.
  const auto zeros = [](std::uint64_t word) { return (word - ones) & ~word & high_bits; };
  const auto repeated = [](char c) { return static_cast<unsigned char>(c) * ones; };
  std::size_t i = 0;
  for (; i + sizeof(std::uint64_t) <= text.size(); i += sizeof(std::uint64_t)) {
    const auto word = load<std::uint64_t>(text.data() + i);
    const std::uint64_t is_control = (word - 0x20 * ones) & ~word & high_bits;
    const std::uint64_t is_special = (word & high_bits) | is_control |
                                     zeros(word ^ repeated(0x7f)) |
                                     (zeros(word ^ repeated(Special)) | ...);
    if (is_special != 0) break;
  }
  for (; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte >= 0x7f || ((text[i] == Special) || ...)) break;
  }
  return i;
}

}  // namespace joedb::inline v1

#endif
