#include "kernel/base/json_text.h"

#include <algorithm>

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

bool append_json_string(std::string& out, std::string_view text) {
  out += '"';
  const bool is_utf8_text = append_json_text(out, text);
  out += '"';
  return is_utf8_text;
}

std::string json_members(const std::vector<Log_Field>& members) {
  std::string out;
  for (const Log_Field& member : members) {
    if (!out.empty()) out += ", ";
    append_json_string(out, member.name);
    out += ": ";
    if (const auto* const number = std::get_if<std::int64_t>(&member.value))
      out += std::to_string(*number);
    else
      append_json_string(out, std::get<std::string_view>(member.value));
  }
  return out;
}

void append_base64(std::string& out, std::string_view bytes) {
  static constexpr char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t n = std::min<std::size_t>(bytes.size() - i, 3);
    unsigned bits = 0;
    for (std::size_t j = 0; j < 3; ++j)
      bits = bits << 8 | (j < n ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    for (std::size_t j = 0; j < 4; ++j) out += j <= n ? digits[bits >> (18 - 6 * j) & 63] : '=';
  }
}

}  // namespace joedb::inline v1
