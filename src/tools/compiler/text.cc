#include "tools/compiler/text.h"

#include <algorithm>
#include <cassert>

namespace joedb::compiler {

std::string fill(std::string_view text, Substitutions values) {
  std::string result;
  for (;;) {
    std::size_t start = text.find("{{");
    if (start != text.npos && text.substr(start).starts_with("{{{")) ++start;
    result += text.substr(0, start);
    if (start == text.npos) return result;
    const std::size_t end = text.find("}}", start);
    const std::string_view name = text.substr(start + 2, end - start - 2);
    const auto value = std::find_if(values.begin(), values.end(),
                                    [&](const auto& pair) { return pair.first == name; });
    assert(value != values.end());
    result += value->second;
    text.remove_prefix(end + 2);
  }
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) text.append(text.empty() ? "" : separator).append(part);
  return text;
}

// Octal escapes have three digits, so that the next character cannot extend them.
std::string cpp_literal(std::string_view bytes) {
  std::string result = "\"";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\' || c == '?') {
      result += '\\';
      result += c;
    } else if (byte >= 0x20 && byte < 0x7f) {
      result += c;
    } else {
      result += '\\';
      for (int shift = 6; shift >= 0; shift -= 3)
        result += static_cast<char>('0' + (byte >> shift & 7));
    }
  }
  return result + "\"";
}

}  // namespace joedb::compiler
