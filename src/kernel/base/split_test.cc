#include "kernel/base/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel/base/counted.h"

namespace joedb::split_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Split, KeepsEmptyParts) {
  EXPECT_THAT(split("a::b", "::"), ElementsAre("a", "b"));
  EXPECT_THAT(split(",a,", ","), ElementsAre("", "a", ""));
  EXPECT_THAT(split("", ","), ElementsAre(""));
}

TEST(Split, DropsSpacesAroundWords) {
  EXPECT_THAT(split_words("\t create_table  city\r"), ElementsAre("create_table", "city"));
  EXPECT_THAT(split_words(" "), IsEmpty());
}

TEST(Counted, HasAPluralExceptForOne) {
  EXPECT_EQ(counted(0, "row"), "0 rows");
  EXPECT_EQ(counted(1, "row"), "1 row");
  EXPECT_EQ(counted(1, "entry", "entries"), "1 entry");
  EXPECT_EQ(counted(2, "entry", "entries"), "2 entries");
}

}  // namespace
}  // namespace joedb::split_test
