#ifndef DEBIAN_TEXT_H
#define DEBIAN_TEXT_H

#include <cstdint>
#include <string>
#include <string_view>

// Without the white space at both ends; the result lies inside `text`.
inline std::string_view trim(std::string_view text) {
  constexpr std::string_view spaces = " \t\r\n";
  const std::size_t start = text.find_first_not_of(spaces);
  if (start == text.npos) return text.substr(0, 0);
  return text.substr(start, text.find_last_not_of(spaces) + 1 - start);
}

// 1234567 as "1,234,567".
inline std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t i = text.size(); i > first + 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

#endif
