#ifndef JOEDB_SRC_KERNEL_BASE_UTF8_H
#define JOEDB_SRC_KERNEL_BASE_UTF8_H

#include <cstddef>
#include <string_view>

namespace joedb::inline v1 {

// True for a control character of ASCII.
constexpr bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// Returns the size in bytes of the well-formed multi-byte UTF-8 sequence at the start of `text`; 0
// if `text` is empty, or begins with ASCII or with invalid bytes.
std::size_t utf8_sequence_size(std::string_view text);

// Returns the size in bytes of the longest prefix of a text that is UTF-8.
std::size_t utf8_size(std::string_view text);

inline bool is_utf8(std::string_view text) { return utf8_size(text) == text.size(); }

}  // namespace joedb::inline v1

#endif
