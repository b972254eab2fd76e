#ifndef JOEDB_SRC_EXCHANGE_ARROW_UTF8_H
#define JOEDB_SRC_EXCHANGE_ARROW_UTF8_H

#include <string>
#include <string_view>

namespace joedb::inline v1 {

// Returns true if all bytes are ASCII. Faster than is_utf8.
bool is_ascii(std::string_view text);

// Returns the text with each invalid byte (not UTF-8) replaced by U+FFFD.
std::string replaced_utf8(std::string_view text);

}  // namespace joedb::inline v1

#endif
