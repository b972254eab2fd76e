#ifndef JOEDB_INTERPRETER_DISPLAY_WIDTH_H
#define JOEDB_INTERPRETER_DISPLAY_WIDTH_H

#include <cstddef>
#include <string_view>

namespace joedb::inline v1 {

// How many columns of a terminal a code point takes: 0, 1 or 2. By the tables of Unicode 3.1, as
// in the wcwidth of 2001 that is in the public domain, so that emoji count 1; tables look the same
// as those of joedb 10.
int display_width(char32_t code_point);

// The first character of a UTF-8 text that is not empty. A byte that is not UTF-8 counts as one.
struct Character {
  std::size_t size;  // in bytes
  int width;
};
Character first_character(std::string_view text);

// Of a whole text.
std::size_t display_width(std::string_view text);

}  // namespace joedb::inline v1

#endif
