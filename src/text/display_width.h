#ifndef JOEDB_SRC_TEXT_DISPLAY_WIDTH_H
#define JOEDB_SRC_TEXT_DISPLAY_WIDTH_H

#include <cstddef>
#include <string_view>

namespace joedb::inline v1 {

// Returns the width of a code point in terminal columns: 0, 1 or 2. Uses the tables of Unicode 3.1,
// like the public-domain wcwidth of 2001. Newer characters, such as emoji, have width 1. Tables
// therefore look the same as in joedb 10.
int display_width(char32_t code_point);

// The first character of a text, which must not be empty. An invalid byte (not UTF-8) is a
// character of its own.
struct Character {
  std::size_t size;  // in bytes
  int width;
};
Character first_character(std::string_view text);

// Returns the width of a text in terminal columns.
std::size_t display_width(std::string_view text);

}  // namespace joedb::inline v1

#endif
