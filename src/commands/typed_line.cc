#include "commands/typed_line.h"

#include <algorithm>

namespace joedb::inline v1 {

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Returns the end of the word that begins at `i`. Sets `is_in_string` to true if its quote is not
// closed.
static std::size_t end_of_word(std::string_view line, std::size_t i, bool& is_in_string) {
  is_in_string = line[i] == '"';
  if (is_in_string) ++i;
  while (i < line.size() && (is_in_string || !is_space(line[i]))) {
    if (line[i] == '"') is_in_string = false;
    i += line[i] == '\\' ? std::size_t{2} : std::size_t{1};
  }
  return std::min(i, line.size());
}

Typed_Line split_typed_line(std::string_view line) {
  Typed_Line result;
  std::size_t i = 0;
  while (true) {
    while (i < line.size() && is_space(line[i])) ++i;
    if (i == line.size()) return result;
    const std::size_t begin = i;
    i = end_of_word(line, i, result.has_open_string);
    const std::string_view word = line.substr(begin, i - begin);
    if (i == line.size()) {
      result.last = word;
      return result;
    }
    result.words.push_back(word);
    if (result.words.front().starts_with('#')) return result;
  }
}

}  // namespace joedb::inline v1
