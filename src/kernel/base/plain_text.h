#ifndef JOEDB_SRC_KERNEL_BASE_PLAIN_TEXT_H
#define JOEDB_SRC_KERNEL_BASE_PLAIN_TEXT_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "joedb/base/types.h"

namespace joedb::inline v1 {

// True if all eight bytes of a word are printable ASCII, and none of them is a `Special` character.
template <char... Special>
bool is_plain(std::uint64_t word) {
  constexpr std::uint64_t ones = 0x0101010101010101;
  constexpr std::uint64_t high_bits = 0x80 * ones;
  // Returns a word whose high bits are set in the bytes that are less than `limit`. Because the
  // subtraction borrows, the high bits of later bytes may be set, too, but only if some byte really
  // is less than the limit.
  const auto below = [word](std::uint64_t limit, std::uint64_t flipped) {
    const std::uint64_t bytes = word ^ (flipped * ones);
    return (bytes - limit * ones) & ~bytes & high_bits;
  };
  return ((word & high_bits) | below(0x20, 0) | below(1, 0x7f) |
          (std::uint64_t{0} | ... | below(1, static_cast<unsigned char>(Special)))) == 0;
}

// Returns the number of leading bytes of a text that are printable ASCII and not `Special`
// characters. Checks eight bytes at a time, because most texts have only such bytes.
template <char... Special>
std::size_t plain_size(std::string_view text) {
  constexpr std::size_t step = sizeof(std::uint64_t);
  const char* const data = text.data();
  const std::size_t size = text.size();
  std::size_t i = 0;
  while (i + step <= size && is_plain<Special...>(load<std::uint64_t>(data + i))) i += step;
  if (size >= step) {
    // The last eight bytes overlap bytes that were already checked.
    if (i + step > size && is_plain<Special...>(load<std::uint64_t>(data + size - step)))
      return size;
  } else if (size >= step / 2) {
    const std::uint64_t start = load<std::uint32_t>(data);
    const std::uint64_t end = load<std::uint32_t>(data + size - step / 2);
    if (is_plain<Special...>(start | end << 32)) return size;
  }
  for (; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(data[i]);
    if (byte < 0x20 || byte >= 0x7f || ((data[i] == Special) || ...)) break;
  }
  return i;
}

// Appends one byte as a backslash and three octal digits.
void append_octal(std::string& out, char c);

// If the text begins with a multi-byte character that controls a terminal, ends a line, or changes
// the order in which other characters are shown, returns the size of this character in bytes;
// otherwise 0. Such characters are U+0080 to U+009F, U+2028 to U+202E, and U+2066 to U+2069.
std::size_t control_size(std::string_view text);

// Appends an untrusted text in a form that is safe on a terminal and in a line of a log. A
// backslash and three octal digits replace each byte of control characters (including ends of
// lines), of characters that change the direction of a text, and of sequences that are not UTF-8.
void append_plain(std::string& out, std::string_view text);
// Returns the text in this form.
std::string plain(std::string_view text);
// Returns the text in this form, but keeps the ends of lines.
std::string plain_lines(std::string_view text);

}  // namespace joedb::inline v1

#endif
