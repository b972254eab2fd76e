#include "kernel/schema/value_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace joedb::value_text_test {
namespace {

template <class T>
std::string text_of(const T& value) {
  std::string text;
  append_value(text, value);
  return text;
}

TEST(Value_Text, WritesAFloatWithAsFewDigitsAsTellItApart) {
  EXPECT_EQ(text_of(0.1), "0.1");
  EXPECT_EQ(text_of(0.1f), "0.1");
  EXPECT_EQ(text_of(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(text_of(16777216.0f), "16777216");
  EXPECT_EQ(text_of(1234567.89), "1234567.89");
}

TEST(Value_Text, WritesAFloatWithAnExponentOnlyWhereItIsVeryLargeOrSmall) {
  EXPECT_EQ(text_of(100000.0), "100000");
  EXPECT_EQ(text_of(1e6), "1000000");
  EXPECT_EQ(text_of(-1000000.5), "-1000000.5");
  EXPECT_EQ(text_of(9999999999999998.0), "9999999999999998");
  EXPECT_EQ(text_of(1e16), "1e+16");
  EXPECT_EQ(text_of(1e15f), "999999986991104");  // the float32 nearest to 1e15
  EXPECT_EQ(text_of(1e16f), "1e+16");
  EXPECT_EQ(text_of(0.0001), "0.0001");
  EXPECT_EQ(text_of(0.0001f), "0.0001");
  EXPECT_EQ(text_of(0.00001), "1e-05");
  EXPECT_EQ(text_of(-0.0), "-0");
  EXPECT_EQ(text_of(std::nan("")), "nan");
  EXPECT_EQ(text_of(-std::numeric_limits<float>::infinity()), "-inf");
}

TEST(Value_Text, WritesTheOtherTypes) {
  EXPECT_EQ(text_of(std::int8_t{-128}), "-128");
  EXPECT_EQ(text_of(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(text_of(true), "true");
  EXPECT_EQ(text_of(Record_Id()), "-1");
  EXPECT_EQ(text_of(Blob(56, 10)), "56,10");
  EXPECT_EQ(text_of("text"), "\"text\"");
}

TEST(Value_Text, QuotesWhatATerminalWouldNotShow) {
  EXPECT_EQ(text_of("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(text_of(std::string_view("\0\n\x7f", 3)), R"("\000\012\177")");
  EXPECT_EQ(text_of("what?"
                    "?"
                    "?!"),
            R"("what?\?\?!")");
  EXPECT_EQ(text_of("h\u00e9 \u65e5 \U0001F600"), "\"h\u00e9 \u65e5 \U0001F600\"");
}

TEST(Value_Text, QuotesBytesThatAreNotUtf8OneByOne) {
  EXPECT_EQ(text_of("\xff"), R"("\377")");
  EXPECT_EQ(text_of("\xc3"), R"("\303")");                          // truncated
  EXPECT_EQ(text_of("\xc0\x80"), R"("\300\200")");                  // overlong encoding
  EXPECT_EQ(text_of("\xed\xa0\x80"), R"("\355\240\200")");          // half a surrogate pair
  EXPECT_EQ(text_of("\xf4\x90\x80\x80"), R"("\364\220\200\200")");  // above U+10FFFF
}

}  // namespace
}  // namespace joedb::value_text_test
