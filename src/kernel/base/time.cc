#include "kernel/base/time.h"
#include "kernel/base/parse_number.h"

#include <chrono>
#include <cstdio>

namespace joedb::inline v1 {

std::string time_text(std::int64_t seconds) {
  // These limits are within the calendar of <chrono>, which has the years -32767 to 32767.
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
  if (const auto seconds = parse_number<std::int64_t>(text)) return seconds;

  // "%n" stores the number of characters read.
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

// ---- informal times -----------------------------------------------------------------------------

static constexpr std::int64_t seconds_of_day = 24 * 60 * 60;

static std::int64_t beginning_of_day(std::int64_t seconds) {
  const std::int64_t rest = seconds % seconds_of_day;
  return seconds - (rest < 0 ? rest + seconds_of_day : rest);
}

static std::int64_t months_before(std::int64_t now, std::int64_t count) {
  using namespace std::chrono;
  const std::int64_t day = beginning_of_day(now);
  const year_month_day date(floor<days>(sys_seconds(std::chrono::seconds(day))));
  const year_month month = date.year() / date.month() - months(count);
  year_month_day result = month / date.day();
  if (!result.ok()) result = month / last;
  return sys_seconds(sys_days(result)).time_since_epoch().count() + now - day;
}

// Requires `now` and `count` to be within the range of the calendar.
static std::optional<std::int64_t> before(std::int64_t now, std::int64_t count,
                                          std::string_view unit) {
  if (unit.ends_with('s')) unit.remove_suffix(1);
  if (unit == "second") return now - count;
  if (unit == "minute") return now - 60 * count;
  if (unit == "hour") return now - 60 * 60 * count;
  if (unit == "day") return now - seconds_of_day * count;
  if (unit == "week") return now - 7 * seconds_of_day * count;
  if (unit == "month" && count <= 12 * 10'000) return months_before(now, count);
  if (unit == "year" && count <= 10'000) return months_before(now, 12 * count);
  return {};
}

std::optional<std::int64_t> parse_time(std::string_view text, std::int64_t now) {
  if (const auto seconds = parse_time(text)) return seconds;
  constexpr std::size_t size_without_seconds = 16;  // YYYY-MM-DD HH:MM
  if (text.size() == size_without_seconds && text[size_without_seconds - 3] == ':')
    return parse_time(std::string(text) + ":00");
  constexpr std::int64_t limit = 250'000'000'000;  // year 9892
  if (now < -limit || now > limit) return {};
  if (text == "now") return now;
  if (text == "today") return beginning_of_day(now);
  if (text == "yesterday") return beginning_of_day(now) - seconds_of_day;

  constexpr std::string_view ago = " ago";
  if (!text.ends_with(ago)) return {};
  text.remove_suffix(ago.size());
  const std::size_t space = text.find(' ');
  if (space == text.npos) return {};
  const std::string_view number = text.substr(0, space);
  const bool is_one = number == "a" || number == "an";
  const auto count = is_one ? std::optional<std::int64_t>(1) : parse_number<std::int64_t>(number);
  constexpr std::int64_t largest = 100'000'000;
  if (!count || *count < 0 || *count > largest) return {};
  return before(now, *count, text.substr(space + 1));
}

}  // namespace joedb::inline v1
