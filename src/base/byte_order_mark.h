#ifndef BASE_BYTE_ORDER_MARK_H
#define BASE_BYTE_ORDER_MARK_H

#include <string_view>

namespace joedb::inline v1 {

// What programs of Windows write at the beginning of a text in UTF-8.
inline constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

// A text without the mark that it may begin with.
constexpr std::string_view without_mark(std::string_view text) {
  return text.starts_with(byte_order_mark) ? text.substr(byte_order_mark.size()) : text;
}

}  // namespace joedb::inline v1

#endif
