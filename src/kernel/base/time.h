#ifndef JOEDB_SRC_KERNEL_BASE_TIME_H
#define JOEDB_SRC_KERNEL_BASE_TIME_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace joedb::inline v1 {

// Formats seconds since 1970 as "YYYY-MM-DD HH:MM:SS GMT". Beyond ±900,000,000,000 seconds (year
// 30489), returns "N seconds since 1970".
std::string time_text(std::int64_t seconds);

// Parses a time: "YYYY-MM-DD", optionally followed by " HH:MM:SS" or "THH:MM:SS", in GMT; or a
// number of seconds since 1970, which may be negative. Returns nullopt if the text has no such
// form, or if the day does not exist.
std::optional<std::int64_t> parse_time(std::string_view text);

// Parses an informal time. `now` is the current time in seconds since 1970. Accepts any text that
// the other parse_time accepts, also without seconds ("2026-01-31 12:00"); "now"; "today" and
// "yesterday", which mean the beginning of that day in GMT; and texts like "2 hours ago" or "a day
// ago", with seconds, minutes, hours, days, weeks, months or years. "a month ago" is the same day
// of the previous month, or the last day of that month if it is shorter. Returns nullopt for other
// texts.
std::optional<std::int64_t> parse_time(std::string_view text, std::int64_t now);

}  // namespace joedb::inline v1

#endif
