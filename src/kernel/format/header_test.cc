#include "joedb/format/header.h"

#include <gtest/gtest.h>

#include "support/entries.h"

namespace joedb {
namespace {

TEST(Header, OfANewFileIsThatOfTheFormat) {
  const auto bytes = encode_header(Header());
  EXPECT_EQ(testing::hex({bytes.data(), bytes.size()}),
            "29 00 00 00 00 00 00 00 29 00 00 00 00 00 00 00 "
            "29 00 00 00 00 00 00 00 29 00 00 00 00 00 00 00 "
            "05 00 00 00 6a 6f 65 64 62");
}

TEST(Header, ComesBack) {
  Header header;
  header.checkpoints = {-1, 0x0123456789abcdef, 41, -0x0123456789abcdef};
  header.version = 0x04030201;
  header.signature = {'a', 'b', 'c', 'd', 'e'};
  const auto bytes = encode_header(header);
  const Header decoded = decode_header(bytes);
  EXPECT_EQ(decoded.checkpoints, header.checkpoints);
  EXPECT_EQ(decoded.version, header.version);
  EXPECT_EQ(decoded.signature, header.signature);
}

TEST(Header, WordsStandWhereTheFormatSays) {
  EXPECT_EQ(checkpoint_word_offset(0, 0), 0);
  EXPECT_EQ(checkpoint_word_offset(0, 1), 8);
  EXPECT_EQ(checkpoint_word_offset(1, 0), 16);
  EXPECT_EQ(checkpoint_word_offset(1, 1), 24);

  const auto bytes = encode_header({.checkpoints = {1, 2, 3, 4}});
  std::array<char, checkpoint_words_size> words;
  std::copy_n(bytes.begin(), words.size(), words.begin());
  EXPECT_EQ(decode_checkpoints(words), (Checkpoint_Words{1, 2, 3, 4}));
}

}  // namespace
}  // namespace joedb
