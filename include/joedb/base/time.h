#ifndef JOEDB_BASE_TIME_H
#define JOEDB_BASE_TIME_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace joedb::inline v1 {

// Seconds since 1970 as "YYYY-MM-DD HH:MM:SS GMT". Beyond 900,000,000,000 seconds (year 30489), in
// both directions, "N seconds since 1970".
std::string time_text(std::int64_t seconds);

// The inverse: "YYYY-MM-DD", or with " HH:MM:SS" or "THH:MM:SS", in GMT; or a number of seconds
// since 1970, also a negative one. Nothing if it is none of these, or there is no such day.
std::optional<std::int64_t> parse_time(std::string_view text);

// A time as people say it at `now`, seconds since 1970: what parse_time reads, also without seconds
// ("2026-01-31 12:00"); "now"; "today" and "yesterday", which are the beginning of that day in GMT;
// "2 hours ago", "a day ago", with seconds, minutes, hours, days, weeks, months or years. A month
// ago is the same day of the month before, or its last one.
std::optional<std::int64_t> parse_time(std::string_view text, std::int64_t now);

}  // namespace joedb::inline v1

#endif
