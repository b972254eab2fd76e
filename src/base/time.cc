#include "joedb/base/time.h"

#include <charconv>
#include <chrono>
#include <cstdio>

namespace joedb::inline v1 {

std::string time_text(std::int64_t seconds) {
  // Beyond these the calendar of <chrono> ends (years -32767 to 32767).
  constexpr std::int64_t limit = 900'000'000'000;
  if (seconds < -limit || seconds > limit) return std::to_string(seconds) + " seconds since 1970";
  using namespace std::chrono;
  const sys_seconds time{std::chrono::seconds{seconds}};
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(time - day);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02u-%02u %02d:%02d:%02d GMT",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text;
}

std::optional<std::int64_t> parse_time(std::string_view text) {
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error == std::errc() && end == text.data() + text.size()) return seconds;

  // "%n" gives the length of what was read.
  const std::string copy(text);
  int year = 0, length = 0;
  unsigned month = 0, day = 0, hour = 0, minute = 0, second = 0;
  if (std::sscanf(copy.c_str(), "%4d-%2u-%2u%n", &year, &month, &day, &length) != 3) return {};
  const char* const clock = copy.c_str() + length;
  if (*clock != 0) {
    if (*clock != ' ' && *clock != 'T') return {};
    if (std::sscanf(clock + 1, "%2u:%2u:%2u%n", &hour, &minute, &second, &length) != 3) return {};
    if (clock[1 + length] != 0 || hour > 23 || minute > 59 || second > 59) return {};
  }
  using namespace std::chrono;
  const year_month_day date{std::chrono::year(year), std::chrono::month(month),
                            std::chrono::day(day)};
  if (!date.ok()) return {};
  return sys_seconds(sys_days(date)).time_since_epoch().count() + hour * 3600 + minute * 60 +
         second;
}

}  // namespace joedb::inline v1
