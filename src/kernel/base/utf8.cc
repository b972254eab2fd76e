#include "kernel/base/utf8.h"

#include <cstdint>

#include "joedb/base/types.h"

namespace joedb::inline v1 {

std::size_t utf8_sequence_size(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xc0u) == 0x80u; };
  const unsigned first = byte(0);
  const unsigned second = byte(1);
  if (first < 0xc2 || first > 0xf4 || !continues(1)) return 0;
  if (first < 0xe0) return 2;
  if (first < 0xf0) {
    const bool is_overlong = first == 0xe0 && second < 0xa0;
    const bool is_surrogate = first == 0xed && second >= 0xa0;
    return !is_overlong && !is_surrogate && continues(2) ? 3 : 0;
  }
  const bool is_overlong = first == 0xf0 && second < 0x90;
  const bool is_too_large = first == 0xf4 && second >= 0x90;
  return !is_overlong && !is_too_large && continues(2) && continues(3) ? 4 : 0;
}

std::size_t utf8_size(std::string_view text) {
  constexpr std::uint64_t high_bits = 0x8080808080808080;
  constexpr std::size_t step = sizeof(std::uint64_t);
  std::size_t i = 0;
  while (true) {
    while (i + step <= text.size() && (load<std::uint64_t>(text.data() + i) & high_bits) == 0)
      i += step;
    while (i < text.size() && static_cast<unsigned char>(text[i]) < 0x80) ++i;
    if (i == text.size()) return i;
    const std::size_t sequence = utf8_sequence_size(text.substr(i));
    if (sequence == 0) return i;
    i += sequence;
  }
}

}  // namespace joedb::inline v1
