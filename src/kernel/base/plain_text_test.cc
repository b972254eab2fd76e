#include "kernel/base/plain_text.h"

#include <gtest/gtest.h>

#include <string>

namespace joedb::plain_text_test {
namespace {

// Puts each byte at each position of a text that is otherwise plain.
TEST(Plain_Text, EndsBeforeTheFirstByteThatIsNot) {
  for (std::size_t size = 0; size < 30; ++size)
    for (std::size_t place = 0; place < size; ++place)
      for (int byte = 0; byte < 256; ++byte) {
        std::string text(size, 'a');
        text[place] = static_cast<char>(byte);
        const bool is_plain = byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
        const std::size_t plain = plain_size<'"', '\\'>(text);
        ASSERT_EQ(plain, is_plain ? size : place) << size << ' ' << place << ' ' << byte;
      }
}

TEST(Plain_Text, HasNoBytesBehindTheFirst) {
  const std::string text = std::string("ab\"") + '\x21' + std::string("\x01\x80 \x7f", 4);
  EXPECT_EQ((plain_size<'"', '\\'>(text)), 2u);
  EXPECT_EQ((plain_size<'\\'>(text)), 4u);
  EXPECT_EQ((plain_size<'"', '\\'>("")), 0u);
}

}  // namespace
}  // namespace joedb::plain_text_test
