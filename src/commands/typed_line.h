#ifndef JOEDB_SRC_COMMANDS_TYPED_LINE_H
#define JOEDB_SRC_COMMANDS_TYPED_LINE_H

#include <string_view>
#include <vector>

namespace joedb::inline v1 {

// A line that is being typed, split in the same way as by Line_Reader. Words keep their quotes.
struct Typed_Line {
  std::vector<std::string_view> words;  // complete words: white space follows each of them
  std::string_view last;                // the word being typed; may be empty
  // True if the last word is a string without its closing quote. The next line then continues it.
  bool has_open_string = false;
};

// Splits a line. If the first word begins with #, quotes have no meaning.
Typed_Line split_typed_line(std::string_view line);

}  // namespace joedb::inline v1

#endif
