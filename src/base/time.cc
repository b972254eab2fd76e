#include "joedb/base/time.h"

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

}  // namespace joedb::inline v1
