#ifndef JOEDB_SRC_KERNEL_BASE_SPLIT_H
#define JOEDB_SRC_KERNEL_BASE_SPLIT_H

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <string_view>
#include <vector>

namespace joedb::inline v1 {

// Returns the parts of `text` between the separators. `separator` must not be empty. n separators
// give n + 1 parts, so "" gives one part. Parts may be empty. They are views into `text`.
inline std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  assert(!separator.empty());
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + separator.size());
  }
}

// Returns the words of a line, which are separated by blanks, tabs and carriage returns. A blank
// line has no words. The words are views into `line`.
inline std::vector<std::string_view> split_words(std::string_view line) {
  constexpr std::string_view spaces = " \t\r";
  std::vector<std::string_view> words;
  for (std::size_t start = line.find_first_not_of(spaces); start < line.size();) {
    const std::size_t end = std::min(line.find_first_of(spaces, start), line.size());
    words.push_back(line.substr(start, end - start));
    start = line.find_first_not_of(spaces, end);
  }
  return words;
}

}  // namespace joedb::inline v1

#endif
