#ifndef JOEDB_SRC_TEXT_DISPLAY_WIDTH_H
#define JOEDB_SRC_TEXT_DISPLAY_WIDTH_H

#include <cstddef>
#include <string_view>

namespace joedb::inline v1 {

// Returns the number of terminal columns of a code point: 0, 1 or 2. Uses the tables of Unicode
// 3.1, like the public-domain wcwidth of 2001, so that emoji count 1; tables look the same as in
// joedb 10.
int display_width(char32_t code_point);

// The first character of a UTF-8 text, which must not be empty. A byte that is not UTF-8 is one
// character.
struct Character {
  std::size_t size;  // in bytes
  int width;
};
Character first_character(std::string_view text);

// Returns the number of terminal columns of a text.
std::size_t display_width(std::string_view text);

}  // namespace joedb::inline v1

#endif
