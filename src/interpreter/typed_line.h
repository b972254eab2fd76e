#ifndef JOEDB_INTERPRETER_TYPED_LINE_H
#define JOEDB_INTERPRETER_TYPED_LINE_H

#include <string_view>
#include <vector>

namespace joedb::inline v1 {

// A line while it is being typed, taken apart as Line_Reader will do it. Words keep their quotes.
struct Typed_Line {
  std::vector<std::string_view> words;  // those that are complete: white space follows
  std::string_view last;                // the one that is being typed; may be empty
  // The last word is a string without its closing quote: the next line continues it.
  bool has_open_string = false;
};

// A line whose first word begins with # has no strings.
Typed_Line split_typed_line(std::string_view line);

}  // namespace joedb::inline v1

#endif
