#include "kernel/base/plain_text.h"

#include <algorithm>

#include "kernel/base/split.h"
#include "kernel/base/utf8.h"

namespace joedb::inline v1 {

void append_octal(std::string& out, char c) {
  const auto byte = static_cast<unsigned char>(c);
  out += '\\';
  for (const int shift : {6, 3, 0}) out += static_cast<char>('0' + ((byte >> shift) & 7));
}

std::size_t control_size(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  if (byte(0) == 0xc2) return byte(1) >= 0x80 && byte(1) <= 0x9f ? 2 : 0;
  if (byte(0) != 0xe2) return 0;
  const bool is_control = (byte(1) == 0x80 && byte(2) >= 0xa8 && byte(2) <= 0xae) ||
                          (byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9);
  return is_control ? 3 : 0;
}

void append_plain(std::string& out, std::string_view text) {
  while (!text.empty()) {
    std::size_t size = plain_size(text);
    if (size == 0 && control_size(text) == 0) size = utf8_sequence_size(text);
    if (size > 0)
      out += text.substr(0, size);
    else
      append_octal(out, text.front());
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
}

std::string plain(std::string_view text) {
  std::string result;
  append_plain(result, text);
  return result;
}

std::string plain_lines(std::string_view text) {
  std::string result;
  for (const std::string_view line : split(text, "\n")) {
    append_plain(result, line);
    result += '\n';
  }
  result.pop_back();
  return result;
}

}  // namespace joedb::inline v1
