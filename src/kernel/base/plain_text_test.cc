#include "kernel/base/plain_text.h"

#include <gtest/gtest.h>

#include <string>

namespace joedb::plain_text_test {
namespace {

// Tests each byte at each position of a text that is otherwise plain.
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

TEST(Plain_Text, HasNoControlCharacters) {
  EXPECT_EQ(plain("a\"\\ä\x1b\n\xff\x7f and more than eight bytes"),
            "a\"\\ä\\033\\012\\377\\177 and more than eight bytes");
  EXPECT_EQ(plain(""), "");
  EXPECT_EQ(plain_lines("a\x1b\n\nb\t\n"), "a\\033\n\nb\\011\n");
  EXPECT_EQ(plain_lines(""), "");
}

// U+009B begins a terminal command, U+2028 ends a line, U+202E and U+2066 change the text
// direction. U+00A0, U+2027, U+202F and U+2065 are harmless.
TEST(Plain_Text, HasNoControlCharactersOfSeveralBytes) {
  const std::string controls = "\xc2\x9b\xe2\x80\xa8\xe2\x80\xae\xe2\x81\xa6";
  const std::string others = "\xc2\xa0\xe2\x80\xa7\xe2\x80\xaf\xe2\x81\xa5";
  EXPECT_EQ(plain("x" + controls + others + "2"),
            "x\\302\\233\\342\\200\\250\\342\\200\\256\\342\\201\\246" + others + "2");
}

}  // namespace
}  // namespace joedb::plain_text_test
