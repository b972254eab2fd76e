#include "kernel/schema/line_reader.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "kernel/schema/value_text.h"
#include "support/error_of.h"
#include "support/property.h"

namespace joedb::line_reader_test {
namespace {

template <class T>
std::string text_of(const T& value) {
  std::string text;
  append_value(text, value);
  return text;
}

// ---- strict -------------------------------------------------------------------------------------

// Reads a value that must be the whole line.
template <class T>
T read_all(std::string_view line) {
  Line_Reader reader(line);
  const T value = reader.read_value<T>();
  reader.require_end();
  return value;
}

// Returns the error for a line that should be a value.
template <class T>
std::string error_in(std::string_view line) {
  return testing::error_of([&] { read_all<T>(line); });
}

std::string read_text(std::string_view line) {
  Line_Reader reader(line);
  const std::string text(reader.read_value<std::string_view>());
  reader.require_end();
  return text;
}

TEST(Line_Reader, TellsTheColumnOfAWordThatIsNoValue) {
  Line_Reader reader("update p 3 age fourty");
  for (const char* word : {"update", "p", "3", "age"}) EXPECT_EQ(reader.read_word("word"), word);
  EXPECT_EQ(testing::error_of([&] { reader.read_value<std::int32_t>(); }),
            "column 16: int32 expected, got `fourty`");
}

TEST(Line_Reader, CountsCharactersAndNotBytes) {
  Line_Reader reader("\u65e5\u672c x");
  reader.read_word("word");
  EXPECT_EQ(testing::error_of([&] { reader.read_value<bool>(); }),
            "column 4: true or false expected, got `x`");
}

TEST(Line_Reader, ReadsNumbersThatAreWholeWords) {
  EXPECT_EQ(read_all<std::int32_t>(" +5"), 5);
  EXPECT_EQ(read_all<std::int8_t>("-128 "), -128);
  EXPECT_EQ(read_all<double>(".5"), 0.5);
  EXPECT_EQ(read_all<double>("1e-400"), 0);
  EXPECT_TRUE(std::isnan(read_all<float>("-nan")));
  EXPECT_EQ(read_all<Blob>("56,10"), Blob(56, 10));
  for (const char* line : {"abc", "12,000", "12abc", "0x1F", "5.", "-", "+-5", "5\"", "1e3"})
    EXPECT_NE(error_in<std::int32_t>(line), "no error") << line;
  for (const char* line : {"1.5abc", "1e", "1,5", ".", "info"})
    EXPECT_NE(error_in<double>(line), "no error") << line;
  for (const char* line : {"TRUE", "yes", "01", "2"})
    EXPECT_NE(error_in<bool>(line), "no error") << line;
  for (const char* line : {"56", "56,", ",10", "56, 10", "56;10", "56,10,1"})
    EXPECT_NE(error_in<Blob>(line), "no error") << line;
}

TEST(Line_Reader, RefusesNumbersOutOfRange) {
  EXPECT_EQ(error_in<std::int8_t>("200"), "column 1: int8 expected, and `200` is out of range");
  EXPECT_EQ(error_in<std::int16_t>("-32769"),
            "column 1: int16 expected, and `-32769` is out of range");
  EXPECT_EQ(error_in<std::int32_t>("2147483648"),
            "column 1: int32 expected, and `2147483648` is out of range");
  EXPECT_EQ(error_in<std::int64_t>("9223372036854775808"),
            "column 1: int64 expected, and `9223372036854775808` is out of range");
  EXPECT_EQ(error_in<float>("1e39"), "column 1: float32 expected, and `1e39` is out of range");
  EXPECT_EQ(error_in<double>("-1e400"), "column 1: float64 expected, and `-1e400` is out of range");
}

TEST(Line_Reader, RefusesWhatIsMissingOrTooMuch) {
  EXPECT_EQ(error_in<std::int64_t>("  "), "column 3: int64 expected, got the end of the line");
  EXPECT_EQ(error_in<std::string_view>(""), "column 1: string expected, got the end of the line");
  EXPECT_EQ(error_in<std::int64_t>("5 6"), "column 3: end of line expected, got `6`");
}

TEST(Line_Reader, ReadsStringsWithAndWithoutQuotes) {
  EXPECT_EQ(read_text(R"("two words" )"), "two words");
  EXPECT_EQ(read_text(R"("")"), "");
  EXPECT_EQ(read_text(R"(  "a\"b\\c\x41\102\?\x7F")"), "a\"b\\cAB?\x7f");
  EXPECT_EQ(read_text("last"), "last");
  EXPECT_EQ(read_text("12,000"), "12,000");
  EXPECT_EQ(read_text(R"(b\x61re\ word)"), "bare word");
}

TEST(Line_Reader, RefusesStringsThatAreNotComplete) {
  EXPECT_EQ(error_in<std::string_view>(R"( "not closed)"),
            "column 2: this string has no closing quote");
  EXPECT_EQ(error_in<std::string_view>(R"("a"b)"),
            "column 4: white space expected behind a string, got `b`");
  EXPECT_EQ(error_in<std::string_view>(R"(say"x")"),
            "column 4: a string that has quotes must begin with one");
}

TEST(Line_Reader, RefusesEscapesThatDoNotExist) {
  for (const char* line : {R"("\q")", R"("\n")", R"("\x4")", R"("\x4g")", R"("\18")", R"("\777")",
                           R"("\400")", R"("\12)", R"("\)", R"(\)", R"("\é")"})
    EXPECT_NE(error_in<std::string_view>(line).find("unknown escape `\\"), std::string::npos)
        << line;
  EXPECT_EQ(error_in<std::string_view>(R"("ab\q")").substr(0, 29),
            "column 4: unknown escape `\\q`");
}

TEST(Line_Reader, KeepsTheTextsItHasRead) {
  const std::string line = R"("a\x62" c "\144e")";
  Line_Reader reader(line);
  const auto first = reader.read_value<std::string_view>();
  const auto second = reader.read_value<std::string_view>();
  const auto third = reader.read_value<std::string_view>();
  EXPECT_EQ(std::string(first) + ' ' + std::string(second) + ' ' + std::string(third), "ab c de");
}

TEST(Line_Reader, TakesAFallbackOnlyForWhatIsMissing) {
  Line_Reader reader("5");
  EXPECT_TRUE(reader.has_more());
  EXPECT_EQ(reader.read_integer_or(-1, "id"), 5);
  EXPECT_FALSE(reader.has_more());
  EXPECT_EQ(reader.read_integer_or(-1, "id"), -1);
  EXPECT_EQ(testing::error_of([] { Line_Reader("x").read_integer_or(-1, "id"); }),
            "column 1: id expected, got `x`");
  EXPECT_EQ(testing::error_of([] { Line_Reader("-2").read_integer_or(0, "id", {.min = 0}); }),
            "column 1: id expected, and `-2` is out of range");
}

TEST(Line_Reader, EveryLineGivesAValueOrAnError) {
  testing::expect_property(
      [](const std::string& line) {
        try {
          const std::string text = read_text(line);
          RC_ASSERT(read_text(text_of(text)) == text);
        } catch (const Data_Error& error) {
          RC_ASSERT(std::string(error.what()).starts_with("column "));
        }
      },
      1000);
}

// ---- round trips --------------------------------------------------------------------------------

template <class T>
T round_trip(const T& value) {
  const std::string line = text_of(value);
  Line_Reader classic(line, Reading::classic);
  const T result = classic.read_value<T>();
  EXPECT_FALSE(classic.has_failed()) << line;
  const T strict = read_all<T>(line);
  EXPECT_EQ(text_of(strict), text_of(result)) << line;
  return strict;
}

TEST(Line_Reader, GivesBackEveryFloat) {
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

TEST(Line_Reader, GivesBackEveryString) {
  testing::expect_property(
      [](const std::string& value) {
        const std::string line = text_of(value);
        RC_ASSERT(read_text(line) == value);
        Line_Reader classic(line, Reading::classic);
        RC_ASSERT(classic.read_value<std::string_view>() == value);
        RC_ASSERT(!classic.has_failed());
      },
      1000);
}

TEST(Line_Reader, GivesBackEveryInteger) {
  testing::expect_property([](std::int64_t a, std::int16_t b, std::int8_t c) {
    RC_ASSERT(round_trip(a) == a);
    RC_ASSERT(round_trip(b) == b);
    RC_ASSERT(round_trip(c) == c);
    RC_ASSERT(round_trip(Record_Id(a)) == Record_Id(a));
    RC_ASSERT(round_trip(Blob(a, b)) == Blob(a, b));
    RC_ASSERT(round_trip(a > b) == (a > b));
  });
}

// ---- classic ------------------------------------------------------------------------------------

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
  Line_Reader reader(line, Reading::classic);
  if constexpr (std::is_same_v<T, std::string>) {
    std::string value(reader.read_value<std::string_view>());
    return Read<std::string>{value, reader.has_failed()};
  } else {
    const T value = reader.read_value<T>();
    return Read<T>{value, reader.has_failed()};
  }
}

TEST(Classic_Line_Reader, ReadsIntegersLikeAStream) {
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

TEST(Classic_Line_Reader, ReadsInt8AsItsLowByte) {
  EXPECT_EQ(read<std::int8_t>("200"), (Read<std::int8_t>{-56, false}));
  EXPECT_EQ(read<std::int8_t>("3000000000"), (Read<std::int8_t>{-1, true}));
}

TEST(Classic_Line_Reader, ReadsFloatsLikeAStream) {
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

TEST(Classic_Line_Reader, ReadsBooleans) {
  EXPECT_EQ(read<bool>("true"), (Read<bool>{true, false}));
  EXPECT_EQ(read<bool>("1"), (Read<bool>{true, false}));
  EXPECT_EQ(read<bool>("0 1"), (Read<bool>{false, false}));
  EXPECT_EQ(read<bool>("TRUE"), (Read<bool>{false, true}));
  EXPECT_EQ(read<bool>(""), (Read<bool>{false, true}));
}

TEST(Classic_Line_Reader, ReadsBlobs) {
  EXPECT_EQ(read<Blob>("56,10"), (Read<Blob>{Blob(56, 10), false}));
  EXPECT_EQ(read<Blob>("7"), (Read<Blob>{Blob(7, 0), true}));
  EXPECT_EQ(read<Blob>("7;5"), (Read<Blob>{Blob(7, 0), true}));
}

TEST(Classic_Line_Reader, ReadsStrings) {
  const struct {
    const char* line;
    const char* value;
    bool has_failed;
  } cases[] = {
      {R"("two words" x)", "two words", false},
      {R"("")", "", false},
      {R"(  "a\"b\\c\x41\102\q")", "a\"b\\cABq", false},
      {R"("bad \xZ1 \9")", "bad \x01 ", true},  // \9 takes three characters
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

TEST(Classic_Line_Reader, ReadsNothingAfterAFailure) {
  Line_Reader reader("1 x 3 word \"text\"", Reading::classic);
  EXPECT_EQ(reader.read_value<std::int32_t>(), 1);
  EXPECT_EQ(reader.read_value<std::int32_t>(), 0);
  EXPECT_TRUE(reader.has_failed());
  EXPECT_EQ(reader.read_value<std::int32_t>(), 0);
  EXPECT_EQ(reader.read_word("word"), "");
  EXPECT_EQ(reader.read_value<std::string_view>(), "");
  EXPECT_EQ(reader.read_integer_or(-1, "id"), -1);
}

TEST(Classic_Line_Reader, KnowsWhetherThereIsMore) {
  Line_Reader reader(" word 5", Reading::classic);
  EXPECT_TRUE(reader.has_more());
  EXPECT_EQ(reader.read_word("word"), "word");
  EXPECT_TRUE(reader.has_more());
  EXPECT_EQ(reader.read_integer_or(-1, "id"), 5);
  EXPECT_FALSE(reader.has_more());
  EXPECT_FALSE(reader.has_failed());
  EXPECT_EQ(reader.read_integer_or(-1, "id"), -1);
  EXPECT_TRUE(reader.has_failed());
}

}  // namespace
}  // namespace joedb::line_reader_test
