#ifndef JOEDB_SRC_KERNEL_BASE_PARSE_NUMBER_H
#define JOEDB_SRC_KERNEL_BASE_PARSE_NUMBER_H

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace joedb::inline v1 {

// Returns the number that `text` consists of; nullopt if `text` is not a number, or if the number
// is too large for a T. A leading plus sign and spaces are not allowed.
template <class T>
std::optional<T> parse_number(std::string_view text) {
  T number{};
  const char* const text_end = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), text_end, number);
  if (error != std::errc() || end != text_end) return std::nullopt;
  return number;
}

}  // namespace joedb::inline v1

#endif
