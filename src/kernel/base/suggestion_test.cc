#include "kernel/base/suggestion.h"

#include <gtest/gtest.h>

namespace joedb::suggestion_test {
namespace {

TEST(Suggestion, IsTheNearestWordThatIsNear) {
  const std::vector<std::string> known{"--ignore-header", "--until", "--bail"};
  EXPECT_EQ(suggestion("--ignore-header", known), "--ignore-header");
  EXPECT_EQ(suggestion("--util", known), "--until");
  EXPECT_EQ(suggestion("--bial", known), "--bail");
  EXPECT_EQ(suggestion("--verbose", known), "");
  EXPECT_EQ(suggestion(std::string(100000, 'x'), known), "");
}

TEST(Suggestion, OfAShortWordKeepsHalfOfItsLetters) {
  EXPECT_EQ(suggestion("u", {"t"}), "");
  EXPECT_EQ(suggestion("ab", {"ac", "xy"}), "ac");
  EXPECT_EQ(did_you_mean("ctiy", {"street", "city"}), ". Did you mean city?");
  EXPECT_EQ(did_you_mean("ctiy", {"street"}), "");
  EXPECT_EQ(did_you_mean("", {"street"}), "");
}

}  // namespace
}  // namespace joedb::suggestion_test
