#include "kernel/base/json_text.h"

#include "kernel/base/plain_text.h"

namespace joedb::inline v1 {

std::size_t utf8_sequence_size(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xc0u) == 0x80u; };
  const unsigned first = byte(0);
  const unsigned second = byte(1);
  if (first < 0xc2 || first > 0xf4 || !continues(1)) return 0;
  if (first < 0xe0) return 2;
  if (first < 0xf0) {
    const bool is_overlong = first == 0xe0 && second < 0xa0;
    const bool is_surrogate = first == 0xed && second >= 0xa0;
    return !is_overlong && !is_surrogate && continues(2) ? 3 : 0;
  }
  const bool is_overlong = first == 0xf0 && second < 0x90;
  const bool is_too_large = first == 0xf4 && second >= 0x90;
  return !is_overlong && !is_too_large && continues(2) && continues(3) ? 4 : 0;
}

static void append_json_escape(std::string& out, char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x20 && byte != 0x7f) {
    out += '\\';
    out += c;
    return;
  }
  static constexpr char digits[] = "0123456789abcdef";
  out += "\\u00";
  out += digits[byte >> 4];
  out += digits[byte & 15];
}

bool append_json_text(std::string& out, std::string_view text) {
  while (true) {
    // Text that needs no escape is copied as a whole.
    std::size_t size = 0;
    for (std::size_t sequence = 1; sequence > 0; size += sequence) {
      size += plain_size<'"', '\\'>(text.substr(size));
      sequence = size < text.size() ? utf8_sequence_size(text.substr(size)) : 0;
    }
    out.append(text.substr(0, size));
    if (size == text.size()) return true;
    if (static_cast<unsigned char>(text[size]) >= 0x80) return false;
    append_json_escape(out, text[size]);
    text.remove_prefix(size + 1);
  }
}

}  // namespace joedb::inline v1
