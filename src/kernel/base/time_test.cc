#include "kernel/base/time.h"

#include <gtest/gtest.h>

namespace joedb::time_test {
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

TEST(Time, IsReadAsPeopleSayIt) {
  const auto text_at = [](std::string_view text, std::string_view now) {
    const auto seconds = parse_time(text, *parse_time(now));
    return seconds ? time_text(*seconds) : "nothing";
  };
  const char* const now = "2026-03-31 12:30:05";
  EXPECT_EQ(text_at("2026-01-31", now), "2026-01-31 00:00:00 GMT");
  EXPECT_EQ(text_at("2026-01-31 12:00", now), "2026-01-31 12:00:00 GMT");
  EXPECT_EQ(text_at("2026-01-31T12:00", now), "2026-01-31 12:00:00 GMT");
  EXPECT_EQ(text_at("60", now), "1970-01-01 00:01:00 GMT");
  EXPECT_EQ(text_at("now", now), "2026-03-31 12:30:05 GMT");
  EXPECT_EQ(text_at("today", now), "2026-03-31 00:00:00 GMT");
  EXPECT_EQ(text_at("yesterday", now), "2026-03-30 00:00:00 GMT");
  EXPECT_EQ(text_at("yesterday", "1969-12-31 00:00:01"), "1969-12-30 00:00:00 GMT");
  EXPECT_EQ(text_at("10 seconds ago", now), "2026-03-31 12:29:55 GMT");
  EXPECT_EQ(text_at("1 minute ago", now), "2026-03-31 12:29:05 GMT");
  EXPECT_EQ(text_at("an hour ago", now), "2026-03-31 11:30:05 GMT");
  EXPECT_EQ(text_at("2 hours ago", now), "2026-03-31 10:30:05 GMT");
  EXPECT_EQ(text_at("a day ago", now), "2026-03-30 12:30:05 GMT");
  EXPECT_EQ(text_at("3 weeks ago", now), "2026-03-10 12:30:05 GMT");
  EXPECT_EQ(text_at("a month ago", now), "2026-02-28 12:30:05 GMT");
  EXPECT_EQ(text_at("4 months ago", now), "2025-11-30 12:30:05 GMT");
  EXPECT_EQ(text_at("2 years ago", now), "2024-03-31 12:30:05 GMT");
  EXPECT_EQ(text_at("a year ago", "2024-02-29 00:00:00"), "2023-02-28 00:00:00 GMT");
  for (const char* const text :
       {"", "ago", " ago", "2 ago", "2hours ago", "2 hours", "-2 hours ago", "2 moons ago",
        "x hours ago", "2 hours  ago", "999999999999 years ago", "20000 years ago", "tomorrow",
        "2026-01-31 1:00", "2026-01-31 25:00", "2026-01-31 12:00 "})
    EXPECT_EQ(text_at(text, now), "nothing") << text;
  EXPECT_EQ(parse_time("a year ago", std::int64_t{1} << 62), std::nullopt);
}

}  // namespace
}  // namespace joedb::time_test
