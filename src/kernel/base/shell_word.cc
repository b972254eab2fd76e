#include "kernel/base/shell_word.h"

namespace joedb::inline v1 {

static bool is_plain(char c) {
  const bool is_letter_or_digit =
      (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  const bool is_utf_8 = static_cast<unsigned char>(c) >= 0x80;
  return is_letter_or_digit || is_utf_8 ||
         std::string_view("_-./+,:@%=").find(c) != std::string_view::npos;
}

std::string shell_word(std::string_view name) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string word = name.starts_with('-') ? "-- " : "";
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte == 0x7f)
      word.append("$'\\x").append({digits[byte >> 4], digits[byte & 15], '\''});
    else if (is_plain(c))
      word += c;
    else
      word.append({'\\', c});
  }
  return word;
}

}  // namespace joedb::inline v1
