#include "kernel/base/time.h"
#include "kernel/base/parse_number.h"

#include <chrono>
#include <cstdio>
#include <ctime>

namespace joedb::inline v1 {

static constexpr std::int64_t seconds_of_day = 24 * 60 * 60;

// ---- zones --------------------------------------------------------------------------------------

static bool is_utc = false;

static bool is_joedb_10 = false;

void use_utc() { is_utc = true; }

void write_times_as_joedb_10() { is_utc = is_joedb_10 = true; }

// Returns how many seconds the clocks of a zone are ahead of UTC at a time. Times that the C
// library cannot express are in UTC.
static std::int64_t offset_of(Zone zone, std::int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm local{};
  if (zone == Zone::utc || is_utc || time != seconds || localtime_r(&time, &local) == nullptr)
    return 0;
  return local.tm_gmtoff;
}

// Returns the time at which the clocks of a zone show `clock`, which is in seconds like a time in
// UTC. There is at most one change of the offset in two days.
static std::int64_t from_clock(Zone zone, std::int64_t clock) {
  const std::int64_t before = offset_of(zone, clock - seconds_of_day);
  const std::int64_t after = offset_of(zone, clock + seconds_of_day);
  if (offset_of(zone, clock - before) == before) return clock - before;
  if (offset_of(zone, clock - after) == after) return clock - after;
  return clock - before;  // no clock showed this
}

// ---- texts --------------------------------------------------------------------------------------

// These limits are within the calendar of <chrono>, which has the years -32767 to 32767.
static bool is_in_calendar(std::int64_t seconds) {
  constexpr std::int64_t limit = 900'000'000'000;
  return seconds >= -limit && seconds <= limit;
}

static std::string text_of_seconds(std::int64_t seconds) {
  return std::to_string(seconds) + " seconds since 1970";
}

// Requires is_in_calendar(clock), give or take a day.
static std::string clock_text(std::int64_t seconds, char separator = ' ') {
  using namespace std::chrono;
  const sys_seconds time{std::chrono::seconds{seconds}};
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(time - day);
  char text[64];
  const int year = static_cast<int>(date.year());
  std::snprintf(text, sizeof text,
                year < 0 ? "%05d-%02u-%02u%c%02d:%02d:%02d" : "%04d-%02u-%02u%c%02d:%02d:%02d",
                year, static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                separator, static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text;
}

std::string time_text(std::int64_t seconds, Zone zone) {
  if (is_joedb_10) return dump_time_text(seconds);
  if (!is_in_calendar(seconds)) return text_of_seconds(seconds);
  const std::int64_t offset = offset_of(zone, seconds);
  if (offset == 0 || offset % 60 != 0) return clock_text(seconds) + 'Z';
  const auto minutes = static_cast<int>(offset / 60);
  const int size = minutes < 0 ? -minutes : minutes;
  char text[32];
  std::snprintf(text, sizeof text, " %c%02d%02d", minutes < 0 ? '-' : '+', size / 60, size % 60);
  return clock_text(seconds + offset) + text;
}

std::string calendar_text(std::int64_t seconds) {
  constexpr std::int64_t begin = -377'705'116'800;  // -9999-01-01
  constexpr std::int64_t end = 253'402'300'800;     // 10000-01-01
  return seconds >= begin && seconds < end ? clock_text(seconds, 'T') : "";
}

std::string iso_time_text(std::int64_t seconds) {
  const std::string text = calendar_text(seconds);
  return text.empty() || text[0] == '-' ? std::to_string(seconds) : text + 'Z';
}

std::string dump_time_text(std::int64_t seconds) {
  return is_in_calendar(seconds) ? clock_text(seconds) + " GMT" : text_of_seconds(seconds);
}

// ---- parsing ------------------------------------------------------------------------------------

// Removes the zone at the end of `text`, if there is one, and the blanks before it. Returns its
// offset from UTC in seconds.
static std::optional<std::int64_t> take_zone(std::string_view& text) {
  const auto cut = [&](std::size_t size) {
    text.remove_suffix(size);
    while (text.ends_with(' ')) text.remove_suffix(1);
  };
  for (const std::string_view name : {"Z", "UTC", "GMT"})
    if (text.ends_with(name)) {
      cut(name.size());
      return 0;
    }
  constexpr std::size_t date_size = 10;  // its - are no signs
  const std::size_t sign = text.find_last_of("+-");
  if (sign == text.npos || sign < date_size) return {};
  std::string digits(text.substr(sign + 1));
  if (digits.size() == 5 && digits[2] == ':') digits.erase(2, 1);
  if (digits.size() == 2) digits += "00";
  const auto number = parse_number<std::int64_t>(digits);
  if (digits.size() != 4 || !number || *number < 0 || *number % 100 > 59 || *number > 2359)
    return {};
  const std::int64_t offset = (*number / 100 * 60 + *number % 100) * 60;
  const bool is_west = text[sign] == '-';
  cut(text.size() - sign);
  return is_west ? -offset : offset;
}

// Returns the seconds since 1970 of a clock in UTC.
static std::optional<std::int64_t> parse_clock(std::string_view text) {
  // "%n" stores the number of characters read.
  const std::string copy(text);
  int year = 0, length = 0;
  unsigned month = 0, day = 0, hour = 0, minute = 0, second = 0;
  const char* const form = text.starts_with('-') ? "%5d-%2u-%2u%n" : "%4d-%2u-%2u%n";
  if (std::sscanf(copy.c_str(), form, &year, &month, &day, &length) != 3) return {};
  const char* clock = copy.c_str() + length;
  if (*clock != 0) {
    if (*clock != ' ' && *clock != 'T') return {};
    ++clock;
    if (std::sscanf(clock, "%2u:%2u%n:%2u%n", &hour, &minute, &length, &second, &length) < 2)
      return {};
    if (clock[2] != ':' || clock[length] != 0) return {};
    if (hour > 23 || minute > 59 || second > 59) return {};
  }
  using namespace std::chrono;
  const year_month_day date{std::chrono::year(year), std::chrono::month(month),
                            std::chrono::day(day)};
  if (!date.ok()) return {};
  return sys_seconds(sys_days(date)).time_since_epoch().count() + hour * 3600 + minute * 60 +
         second;
}

std::optional<std::int64_t> parse_time(std::string_view text, Zone zone) {
  if (const auto seconds = parse_number<std::int64_t>(text)) return seconds;
  const auto offset = take_zone(text);
  const auto clock = parse_clock(text);
  if (!clock) return {};
  return offset ? *clock - *offset : from_clock(zone, *clock);
}

// ---- informal times -----------------------------------------------------------------------------

// Returns the beginning of a day, on a clock.
static std::int64_t beginning_of_day(std::int64_t clock) {
  const std::int64_t rest = clock % seconds_of_day;
  return clock - (rest < 0 ? rest + seconds_of_day : rest);
}

static std::int64_t months_before(Zone zone, std::int64_t now, std::int64_t count) {
  using namespace std::chrono;
  const std::int64_t clock = now + offset_of(zone, now);
  const std::int64_t day = beginning_of_day(clock);
  const year_month_day date(floor<days>(sys_seconds(std::chrono::seconds(day))));
  const year_month month = date.year() / date.month() - months(count);
  year_month_day result = month / date.day();
  if (!result.ok()) result = month / last;
  return from_clock(zone, sys_seconds(sys_days(result)).time_since_epoch().count() + clock - day);
}

// Requires `now` and `count` to be within the range of the calendar.
static std::optional<std::int64_t> before(Zone zone, std::int64_t now, std::int64_t count,
                                          std::string_view unit) {
  if (unit.ends_with('s')) unit.remove_suffix(1);
  if (unit == "second") return now - count;
  if (unit == "minute") return now - 60 * count;
  if (unit == "hour") return now - 60 * 60 * count;
  if (unit == "day") return now - seconds_of_day * count;
  if (unit == "week") return now - 7 * seconds_of_day * count;
  if (unit == "month" && count <= 12 * 10'000) return months_before(zone, now, count);
  if (unit == "year" && count <= 10'000) return months_before(zone, now, 12 * count);
  return {};
}

std::optional<std::int64_t> parse_time(std::string_view text, std::int64_t now, Zone zone) {
  if (const auto seconds = parse_time(text, zone)) return seconds;
  constexpr std::int64_t limit = 250'000'000'000;  // year 9892
  if (now < -limit || now > limit) return {};
  if (text == "now") return now;
  const std::int64_t today = beginning_of_day(now + offset_of(zone, now));
  if (text == "today") return from_clock(zone, today);
  if (text == "yesterday") return from_clock(zone, today - seconds_of_day);

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
  return before(zone, now, *count, text.substr(space + 1));
}

}  // namespace joedb::inline v1
