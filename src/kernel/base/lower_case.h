#ifndef JOEDB_SRC_KERNEL_BASE_LOWER_CASE_H
#define JOEDB_SRC_KERNEL_BASE_LOWER_CASE_H

#include <string>
#include <string_view>

namespace joedb::inline v1 {

// Returns the text with upper-case ASCII letters replaced by lower-case letters.
inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

}  // namespace joedb::inline v1

#endif
