#include "exchange/arrow/utf8.h"

#include "joedb/base/types.h"
#include "kernel/base/json_text.h"

namespace joedb::inline v1 {

// Returns the number of bytes at the start of a text that are UTF-8.
static std::size_t utf8_size(std::string_view text) {
  constexpr std::uint64_t high_bits = 0x8080808080808080;
  constexpr std::size_t step = sizeof(std::uint64_t);
  std::size_t i = 0;
  while (true) {
    while (i + step <= text.size() && (load<std::uint64_t>(text.data() + i) & high_bits) == 0)
      i += step;
    while (i < text.size() && static_cast<unsigned char>(text[i]) < 0x80) ++i;
    if (i == text.size()) return i;
    const std::size_t sequence = utf8_sequence_size(text.substr(i));
    if (sequence == 0) return i;
    i += sequence;
  }
}

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

bool is_utf8(std::string_view text) { return utf8_size(text) == text.size(); }

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
