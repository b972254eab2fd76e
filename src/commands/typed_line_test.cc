#include "commands/typed_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace joedb {
namespace {

using ::testing::ElementsAre;

TEST(Typed_Line, IsTakenApartAsItIsTyped) {
  EXPECT_THAT(split_typed_line("").words, ElementsAre());
  const Typed_Line line = split_typed_line(" update  city 0 na");
  EXPECT_THAT(line.words, ElementsAre("update", "city", "0"));
  EXPECT_EQ(line.last, "na");
  EXPECT_EQ(split_typed_line("update city ").last, "");
}

TEST(Typed_Line, KeepsStringsTogether) {
  const Typed_Line line = split_typed_line("insert_into t 0 \"two words\" \"a \\\" b\" c");
  EXPECT_THAT(line.words, ElementsAre("insert_into", "t", "0", "\"two words\"", "\"a \\\" b\""));
  EXPECT_EQ(line.last, "c");
}

TEST(Typed_Line, HasAnOpenStringIfTheLastHasNoClosingQuote) {
  const struct {
    const char* line;
    bool is_open;
  } cases[] = {
      {"", false},
      {"comment \"", true},
      {"comment \"a", true},
      {"comment \"a\nb", true},
      {"comment \"a\nb\"", false},
      {"comment \"a\\\"", true},
      {"comment \"a\\\\\"", false},
      {"comment \"a\\", true},
      {"comment a\"b", false},
      {"comment a\\\" \"", true},
      {"# a \"remark", false},
      {"  #\" remark", false},
      {"\"", true},
  };
  for (const auto& c : cases)
    EXPECT_EQ(split_typed_line(c.line).has_open_string, c.is_open) << c.line;
}

}  // namespace
}  // namespace joedb
