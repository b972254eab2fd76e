#include "exchange/arrow/utf8.h"

#include "joedb/base/types.h"
#include "kernel/base/json_text.h"
#include "kernel/base/utf8.h"

namespace joedb::inline v1 {

bool is_ascii(std::string_view text) {
  constexpr std::size_t block = 4096;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, block);
    unsigned char bits = 0;
    for (const char c : part) bits |= static_cast<unsigned char>(c);
    if (bits >= 0x80) return false;
    text.remove_prefix(part.size());
  }
  return true;
}

std::string replaced_utf8(std::string_view text) {
  std::string result;
  while (true) {
    const std::size_t size = utf8_size(text);
    result += text.substr(0, size);
    if (size == text.size()) return result;
    result += "\xef\xbf\xbd";
    text.remove_prefix(size + 1);
  }
}

}  // namespace joedb::inline v1
