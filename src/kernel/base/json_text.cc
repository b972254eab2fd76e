#include "kernel/base/json_text.h"

#include "kernel/base/plain_text.h"
#include "kernel/base/utf8.h"

namespace joedb::inline v1 {

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
