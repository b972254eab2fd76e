#include "schema/value_text.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "testing/property.h"

namespace joedb {
namespace {

template <class T>
std::string text_of(const T& value) {
  std::string text;
  append_value(text, value);
  return text;
}

// ---- writing ------------------------------------------------------------------------------------

TEST(Value_Text, WritesAFloatWithAsFewDigitsAsTellItApart) {
  EXPECT_EQ(text_of(0.1), "0.1");
  EXPECT_EQ(text_of(0.1f), "0.1");
  EXPECT_EQ(text_of(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(text_of(16777216.0f), "1.6777216e+07");
}

TEST(Value_Text, WritesAFloatAsTheOriginalWhereSixDigitsAreEnough) {
  EXPECT_EQ(text_of(100000.0), "100000");
  EXPECT_EQ(text_of(1e6), "1e+06");
  EXPECT_EQ(text_of(0.0001), "0.0001");
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
  EXPECT_EQ(text_of("\xc3"), R"("\303")");                          // cut
  EXPECT_EQ(text_of("\xc0\x80"), R"("\300\200")");                  // too long
  EXPECT_EQ(text_of("\xed\xa0\x80"), R"("\355\240\200")");          // half a surrogate pair
  EXPECT_EQ(text_of("\xf4\x90\x80\x80"), R"("\364\220\200\200")");  // beyond 10FFFF
}

// ---- reading ------------------------------------------------------------------------------------

template <class T>
struct Read {
  T value;
  bool has_failed;
  friend bool operator==(const Read&, const Read&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Read& r) {
    return out << text_of(r.value) << (r.has_failed ? " failed" : "");
  }
};

template <class T>
auto read(std::string_view line) {
  Line_Reader reader(line);
  if constexpr (std::is_same_v<T, std::string>) {
    std::string value(reader.read_value<std::string_view>());
    return Read<std::string>{value, reader.has_failed()};
  } else {
    const T value = reader.read_value<T>();
    return Read<T>{value, reader.has_failed()};
  }
}

TEST(Line_Reader, ReadsIntegersLikeAStream) {
  const struct {
    const char* line;
    std::int32_t value;
    bool has_failed;
  } cases[] = {
      {"5", 5, false},
      {"  +5", 5, false},
      {"-7x", -7, false},
      {"0x1F", 0, false},
      {"12abc", 12, false},
      {"2147483648", 2147483647, true},
      {"-99999999999999999999", -2147483648, true},
      {"abc", 0, true},
      {"-", 0, true},
      {"+-5", 0, true},
      {"--5", 0, true},
      {"", 0, true},
  };
  for (const auto& c : cases)
    EXPECT_EQ(read<std::int32_t>(c.line), (Read<std::int32_t>{c.value, c.has_failed})) << c.line;
}

TEST(Line_Reader, ReadsInt8AsItsLowByte) {
  EXPECT_EQ(read<std::int8_t>("200"), (Read<std::int8_t>{-56, false}));
  EXPECT_EQ(read<std::int8_t>("3000000000"), (Read<std::int8_t>{-1, true}));
}

TEST(Line_Reader, ReadsFloatsLikeAStream) {
  constexpr double max = std::numeric_limits<double>::max();
  const struct {
    const char* line;
    double value;
    bool has_failed;
  } cases[] = {
      {"0.1", 0.1, false},
      {".5", 0.5, false},
      {"5.", 5, false},
      {"+1e3", 1000, false},
      {"1.5abc", 1.5, false},
      {"1E-2 x", 0.01, false},
      {"1e", 0, true},
      {"1e400", max, true},
      {"-1e400", -max, true},
      {"1e-400", 0, false},
      {".", 0, true},
      {"abc", 0, true},
      {"", 0, true},
      {"inf", std::numeric_limits<double>::infinity(), false},
      {"-inf 5", -std::numeric_limits<double>::infinity(), false},
      {"+infinity", std::numeric_limits<double>::infinity(), false},
      {"info", 0, true},
  };
  for (const auto& c : cases)
    EXPECT_EQ(read<double>(c.line), (Read<double>{c.value, c.has_failed})) << c.line;
  EXPECT_TRUE(std::isnan(read<float>("nan").value));
  EXPECT_TRUE(std::signbit(read<float>("-nan").value));
  EXPECT_EQ(read<float>("1e39"), (Read<float>{std::numeric_limits<float>::max(), true}));
}

TEST(Line_Reader, ReadsBooleans) {
  EXPECT_EQ(read<bool>("true"), (Read<bool>{true, false}));
  EXPECT_EQ(read<bool>("1"), (Read<bool>{true, false}));
  EXPECT_EQ(read<bool>("0 1"), (Read<bool>{false, false}));
  EXPECT_EQ(read<bool>("TRUE"), (Read<bool>{false, true}));
  EXPECT_EQ(read<bool>(""), (Read<bool>{false, true}));
}

TEST(Line_Reader, ReadsBlobs) {
  EXPECT_EQ(read<Blob>("56,10"), (Read<Blob>{Blob(56, 10), false}));
  EXPECT_EQ(read<Blob>("7"), (Read<Blob>{Blob(7, 0), true}));
  EXPECT_EQ(read<Blob>("7;5"), (Read<Blob>{Blob(7, 0), true}));
}

TEST(Line_Reader, ReadsStrings) {
  const struct {
    const char* line;
    const char* value;
    bool has_failed;
  } cases[] = {
      {R"("two words" x)", "two words", false},
      {R"("")", "", false},
      {R"(  "a\"b\\c\x41\102\q")", "a\"b\\cABq", false},
      {R"("bad \xZ1 \9")", "bad \x01 ", true},  // a digit takes three characters
      {"bare word", "bare", false},
      {"b\\x61re word", "bare", false},
      {"tab\tinside x", "tab\tinside", false},
      {"last", "last", true},
      {R"("not closed)", "not closed", true},
      {R"("cut \0)", "cut ", true},
      {"", "", true},
  };
  for (const auto& c : cases)
    EXPECT_EQ(read<std::string>(c.line), (Read<std::string>{c.value, c.has_failed})) << c.line;
}

TEST(Line_Reader, ReadsNothingAfterAFailure) {
  Line_Reader reader("1 x 3 word \"text\"");
  EXPECT_EQ(reader.read_value<std::int32_t>(), 1);
  EXPECT_EQ(reader.read_value<std::int32_t>(), 0);
  EXPECT_TRUE(reader.has_failed());
  EXPECT_EQ(reader.read_value<std::int32_t>(), 0);
  EXPECT_EQ(reader.read_word(), "");
  EXPECT_EQ(reader.read_value<std::string_view>(), "");
  EXPECT_EQ(reader.read_integer_or(-1), -1);
}

TEST(Line_Reader, KnowsWhetherThereIsMore) {
  Line_Reader reader(" word 5");
  EXPECT_TRUE(reader.has_more());
  EXPECT_EQ(reader.read_word(), "word");
  EXPECT_TRUE(reader.has_more());
  EXPECT_EQ(reader.read_integer_or(-1), 5);
  EXPECT_FALSE(reader.has_more());
  EXPECT_FALSE(reader.has_failed());
  EXPECT_EQ(reader.read_integer_or(-1), -1);
  EXPECT_TRUE(reader.has_failed());
}

// ---- both ---------------------------------------------------------------------------------------

template <class T>
T round_trip(const T& value) {
  const std::string line = text_of(value);
  Line_Reader reader(line);
  const T result = reader.read_value<T>();
  EXPECT_FALSE(reader.has_failed()) << line;
  return result;
}

TEST(Value_Text, GivesBackEveryFloat) {
  testing::expect_property([](std::uint32_t bits) {
    const float value = std::bit_cast<float>(bits);
    if (std::isnan(value)) return RC_ASSERT(std::isnan(round_trip(value)));
    RC_ASSERT(std::bit_cast<std::uint32_t>(round_trip(value)) == bits);
  });
  testing::expect_property([](std::uint64_t bits) {
    const double value = std::bit_cast<double>(bits);
    if (std::isnan(value)) return RC_ASSERT(std::isnan(round_trip(value)));
    RC_ASSERT(std::bit_cast<std::uint64_t>(round_trip(value)) == bits);
  });
}

TEST(Value_Text, GivesBackEveryString) {
  testing::expect_property([](const std::string& value) {
    const std::string line = text_of(value);
    Line_Reader reader(line);
    RC_ASSERT(reader.read_value<std::string_view>() == value);
    RC_ASSERT(!reader.has_failed());
  });
}

TEST(Value_Text, GivesBackEveryInteger) {
  testing::expect_property([](std::int64_t a, std::int16_t b, std::int8_t c) {
    RC_ASSERT(round_trip(a) == a);
    RC_ASSERT(round_trip(b) == b);
    RC_ASSERT(round_trip(c) == c);
  });
}

}  // namespace
}  // namespace joedb
