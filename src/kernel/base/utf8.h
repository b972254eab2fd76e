#ifndef JOEDB_SRC_KERNEL_BASE_UTF8_H
#define JOEDB_SRC_KERNEL_BASE_UTF8_H

#include <cstddef>
#include <string_view>

namespace joedb::inline v1 {

// True for a control character of ASCII.
constexpr bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// Returns the length of the well-formed UTF-8 sequence at the start of `text`, or 0 if there is
// none or it is ASCII.
std::size_t utf8_sequence_size(std::string_view text);

// Returns the number of bytes at the start of a text that are UTF-8.
std::size_t utf8_size(std::string_view text);

inline bool is_utf8(std::string_view text) { return utf8_size(text) == text.size(); }

}  // namespace joedb::inline v1

#endif
