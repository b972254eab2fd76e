#ifndef JOEDB_SRC_KERNEL_BASE_BYTE_ORDER_MARK_H
#define JOEDB_SRC_KERNEL_BASE_BYTE_ORDER_MARK_H

#include <string_view>

namespace joedb::inline v1 {

// The mark that Windows programs write at the beginning of a UTF-8 text.
inline constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

// Returns the text without a leading byte order mark.
constexpr std::string_view without_mark(std::string_view text) {
  return text.starts_with(byte_order_mark) ? text.substr(byte_order_mark.size()) : text;
}

}  // namespace joedb::inline v1

#endif
