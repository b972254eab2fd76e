#ifndef ARROW_UTF8_H
#define ARROW_UTF8_H

#include <string>
#include <string_view>

namespace joedb::inline v1 {

// Faster than is_utf8.
bool is_ascii(std::string_view text);

bool is_utf8(std::string_view text);

// What is not UTF-8 becomes U+FFFD, one for each byte.
std::string replaced_utf8(std::string_view text);

}  // namespace joedb::inline v1

#endif
