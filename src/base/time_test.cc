#include "joedb/base/time.h"

#include <gtest/gtest.h>

namespace joedb {
namespace {

TEST(Time, IsReadAsItIsWritten) {
  EXPECT_EQ(time_text(1700000000), "2023-11-14 22:13:20 GMT");
  EXPECT_EQ(parse_time("2023-11-14 22:13:20"), 1700000000);
  EXPECT_EQ(parse_time("2023-11-14T22:13:20"), 1700000000);
  EXPECT_EQ(parse_time("2023-11-14"), 1699920000);
  EXPECT_EQ(parse_time("1700000000"), 1700000000);
  EXPECT_EQ(parse_time("-5"), -5);
  EXPECT_EQ(parse_time("1969-12-31 23:59:59"), -1);
}

TEST(Time, OfNoCalendarIsRefused) {
  for (const char* const text :
       {"", "yesterday", "2023-", "2023-13-01", "2023-02-29", "2023-11-14 ", "2023-11-14 22:13",
        "2023-11-14 24:00:00", "2023-11-14 22:13:20x", "2023-11-14x22:13:20", "12 34",
        "99999999999999999999"})
    EXPECT_EQ(parse_time(text), std::nullopt) << text;
}

}  // namespace
}  // namespace joedb
