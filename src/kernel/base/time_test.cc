#include "kernel/base/time.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace joedb::time_test {
namespace {

class Time_Test : public ::testing::Test {
 protected:
  ~Time_Test() override { set_zone("UTC0"); }
  static void set_zone(const char* zone) {
    setenv("TZ", zone, 1);
    tzset();
  }
  // Summer time from the last Sunday of March to the last Sunday of October. Needs no files.
  static constexpr const char* berlin = "CET-1CEST,M3.5.0,M10.5.0/3";
};

TEST_F(Time_Test, IsReadAsItIsWritten) {
  EXPECT_EQ(time_text(1700000000, Zone::utc), "2023-11-14 22:13:20Z");
  EXPECT_EQ(dump_time_text(1700000000), "2023-11-14 22:13:20 GMT");
  EXPECT_EQ(iso_time_text(1700000000), "2023-11-14T22:13:20Z");
  EXPECT_EQ(iso_time_text(std::int64_t{1} << 40), "1099511627776");
  for (const char* const text :
       {"2023-11-14 22:13:20", "2023-11-14T22:13:20", "2023-11-14 22:13:20Z", "1700000000",
        "2023-11-14T22:13:20Z", "2023-11-14 22:13:20 GMT", "2023-11-14 22:13:20 UTC",
        "2023-11-14 23:13:20 +0100", "2023-11-15T03:58:20+05:45", "2023-11-14 14:13:20-08"})
    EXPECT_EQ(parse_time(text, Zone::utc), 1700000000) << text;
  EXPECT_EQ(parse_time("2023-11-14", Zone::utc), 1699920000);
  EXPECT_EQ(parse_time("2023-11-14Z", Zone::utc), 1699920000);
  EXPECT_EQ(parse_time("2023-11-14 22:13", Zone::utc), 1699999980);
  EXPECT_EQ(parse_time("-5", Zone::utc), -5);
  EXPECT_EQ(parse_time("1969-12-31 23:59:59", Zone::utc), -1);
}

TEST_F(Time_Test, OfNoCalendarIsRefused) {
  for (const char* const text :
       {"", "yesterday", "2023-", "2023-13-01", "2023-02-29", "2023-11-14 ", "2023-11-14 22",
        "2023-11-14 24:00:00", "2023-11-14 22:13:20x", "2023-11-14x22:13:20", "12 34", "Z", "+0100",
        "99999999999999999999", "2023-11-14 22:13:20 +1", "2023-11-14 22:13:20 +2400",
        "2023-11-14 22:13:20 +0160", "2023-11-14 22:13:20 ZZ", "2023-11-14 22:13: +0100"})
    EXPECT_EQ(parse_time(text, Zone::utc), std::nullopt) << text;
}

TEST_F(Time_Test, IsShownInTheZoneOfTheEnvironment) {
  set_zone(berlin);
  EXPECT_EQ(time_text(1700000000), "2023-11-14 23:13:20 +0100");
  EXPECT_EQ(time_text(1690000000), "2023-07-22 06:26:40 +0200");
  for (const std::int64_t seconds : {0, 1690000000, 1700000000})
    EXPECT_EQ(parse_time(time_text(seconds), Zone::local), seconds);
  set_zone("NST3:30");
  EXPECT_EQ(time_text(0), "1969-12-31 20:30:00 -0330");
  EXPECT_EQ(parse_time("1969-12-31 20:30", Zone::local), 0);
  set_zone("LMT-0:53:28");
  EXPECT_EQ(time_text(0), "1970-01-01 00:00:00Z") << "no offset of ISO 8601 has seconds";
  set_zone("UTC0");
  EXPECT_EQ(time_text(0), "1970-01-01 00:00:00Z");
}

TEST_F(Time_Test, OfClocksThatChangeIsDefined) {
  set_zone(berlin);
  const auto utc = [](const char* text) {
    return time_text(*parse_time(text, Zone::local), Zone::utc);
  };
  EXPECT_EQ(utc("2026-03-29 01:59"), "2026-03-29 00:59:00Z");
  EXPECT_EQ(utc("2026-03-29 02:30"), "2026-03-29 01:30:00Z") << "missing: 03:30";
  EXPECT_EQ(utc("2026-03-29 03:30"), "2026-03-29 01:30:00Z");
  EXPECT_EQ(utc("2026-10-25 01:59"), "2026-10-24 23:59:00Z");
  EXPECT_EQ(utc("2026-10-25 02:30"), "2026-10-25 00:30:00Z") << "the first of two";
  EXPECT_EQ(utc("2026-10-25 02:30 +0100"), "2026-10-25 01:30:00Z") << "the second";
  EXPECT_EQ(utc("2026-10-25 03:00"), "2026-10-25 02:00:00Z");
  const std::int64_t now = *parse_time("2026-10-25 12:00 +0100", Zone::utc);
  EXPECT_EQ(parse_time("today", now), parse_time("2026-10-25 00:00 +0200", Zone::utc));
  EXPECT_EQ(parse_time("a month ago", now), parse_time("2026-09-25 12:00 +0200", Zone::utc));
}

TEST_F(Time_Test, IsReadAsPeopleSayIt) {
  const auto text_at = [](std::string_view text, std::string_view now) {
    const auto seconds = parse_time(text, *parse_time(now, Zone::utc), Zone::utc);
    return seconds ? time_text(*seconds, Zone::utc) : "nothing";
  };
  const char* const now = "2026-03-31 12:30:05";
  EXPECT_EQ(text_at("2026-01-31", now), "2026-01-31 00:00:00Z");
  EXPECT_EQ(text_at("2026-01-31 12:00", now), "2026-01-31 12:00:00Z");
  EXPECT_EQ(text_at("2026-01-31T12:00", now), "2026-01-31 12:00:00Z");
  EXPECT_EQ(text_at("60", now), "1970-01-01 00:01:00Z");
  EXPECT_EQ(text_at("now", now), "2026-03-31 12:30:05Z");
  EXPECT_EQ(text_at("today", now), "2026-03-31 00:00:00Z");
  EXPECT_EQ(text_at("yesterday", now), "2026-03-30 00:00:00Z");
  EXPECT_EQ(text_at("yesterday", "1969-12-31 00:00:01"), "1969-12-30 00:00:00Z");
  EXPECT_EQ(text_at("10 seconds ago", now), "2026-03-31 12:29:55Z");
  EXPECT_EQ(text_at("1 minute ago", now), "2026-03-31 12:29:05Z");
  EXPECT_EQ(text_at("an hour ago", now), "2026-03-31 11:30:05Z");
  EXPECT_EQ(text_at("2 hours ago", now), "2026-03-31 10:30:05Z");
  EXPECT_EQ(text_at("a day ago", now), "2026-03-30 12:30:05Z");
  EXPECT_EQ(text_at("3 weeks ago", now), "2026-03-10 12:30:05Z");
  EXPECT_EQ(text_at("a month ago", now), "2026-02-28 12:30:05Z");
  EXPECT_EQ(text_at("4 months ago", now), "2025-11-30 12:30:05Z");
  EXPECT_EQ(text_at("2 years ago", now), "2024-03-31 12:30:05Z");
  EXPECT_EQ(text_at("a year ago", "2024-02-29 00:00:00"), "2023-02-28 00:00:00Z");
  for (const char* const text :
       {"", "ago", " ago", "2 ago", "2hours ago", "2 hours", "-2 hours ago", "2 moons ago",
        "x hours ago", "2 hours  ago", "999999999999 years ago", "20000 years ago", "tomorrow",
        "2026-01-31 1:00", "2026-01-31 25:00", "2026-01-31 12:00 "})
    EXPECT_EQ(text_at(text, now), "nothing") << text;
  EXPECT_EQ(parse_time("a year ago", std::int64_t{1} << 62), std::nullopt);
}

}  // namespace
}  // namespace joedb::time_test
