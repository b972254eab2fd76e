#include "joedb/wal/log.h"

#include <gtest/gtest.h>

#include "kernel/schema/line_reader.h"
#include "support/error_of.h"
#include "support/property.h"

namespace joedb::wal {
namespace {

using testing::error_of;

std::string text_of(std::string_view bytes) {
  std::string text;
  append_text(text, bytes);
  return text;
}

// Generates bytes with a meaning in the text format more often than others.
rc::Gen<std::string> any_bytes() {
  return rc::gen::container<std::string>(
      rc::gen::oneOf(rc::gen::arbitrary<char>(), rc::gen::elementOf(std::string("\"\\?\n\r01x\0"
                                                                                "\xc3\xa9",
                                                                                11))));
}

TEST(Wal_Text, GivesAnyBytesBack) {
  testing::expect_property(
      [] {
        const std::string bytes = *any_bytes();
        const std::string text = text_of(bytes);
        RC_ASSERT(parse_text(text) == bytes);
        RC_ASSERT(text.find_first_of(std::string_view("\n\r\0", 3)) == text.npos);
      },
      1000);
}

TEST(Wal_Text, IsReadByJoedbiInTheSameWay) {
  testing::expect_property([] {
    const std::string bytes = *any_bytes();
    const std::string text = text_of(bytes);
    Line_Reader reader(text);
    RC_ASSERT(reader.read_value<std::string_view>() == bytes);
    RC_ASSERT(!reader.has_failed());
  });
}

TEST(Wal_Text, EveryLineGivesBytesOrAnError) {
  testing::expect_property(
      [] {
        const std::string line = '"' + *any_bytes();
        try {
          const std::string bytes = parse_text(line);
          RC_ASSERT(parse_text(text_of(bytes)) == bytes);
        } catch (const Exception& error) {
          RC_ASSERT(std::string_view(error.what()).starts_with("column "));
        }
      },
      1000);
}

TEST(Wal_Text, ShowsWhatCanBeShown) {
  EXPECT_EQ(text_of(""), R"("")");
  EXPECT_EQ(text_of("h\u00e9 \"a\\b\""), "\"h\u00e9 \\\"a\\\\b\\\"\"");
  EXPECT_EQ(text_of(std::string_view("\0\n\xff", 3)), R"("\000\012\377")");
}

TEST(Wal_Text, TakesHexadecimalDigits) { EXPECT_EQ(parse_text(R"("\x41\xfF\?")"), "A\xff?"); }

TEST(Wal_Text, SaysWhatIsWrongAndWhere) {
  const auto error = [](std::string_view line) { return error_of([&] { parse_text(line); }); };
  const std::string escape =
      ": behind \\ stand three octal digits (000 to 377), x and two hexadecimal digits, or a "
      "character that is neither letter nor digit";
  EXPECT_EQ(error(""), "column 1: an entry begins with a double quote");
  EXPECT_EQ(error("one"), "column 1: an entry begins with a double quote");
  EXPECT_EQ(error("\"one"), "column 5: the double quote at the end is missing");
  EXPECT_EQ(error("\"one\\\""), "column 7: the double quote at the end is missing");
  EXPECT_EQ(error("\"one\" "), "column 6: there is something behind the double quote at the end");
  EXPECT_EQ(error(R"("\n")"), "column 3" + escape);
  EXPECT_EQ(error(R"("\18")"), "column 4" + escape);
  EXPECT_EQ(error(R"("\400")"), "column 6" + escape);
  EXPECT_EQ(error(R"("\xag")"), "column 5" + escape);
  EXPECT_EQ(error("\"\\"), "column 3" + escape);
}

}  // namespace
}  // namespace joedb::wal
