#ifndef JOEDB_SRC_KERNEL_BASE_TIME_H
#define JOEDB_SRC_KERNEL_BASE_TIME_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Times as text. People read and write times of their own time zone; what programs read is in UTC.

namespace joedb::inline v1 {

// local: the zone of the environment (TZ), unless use_utc() was called.
enum class Zone { local, utc };

// From now on, Zone::local means UTC in this process. Call it before other threads use times.
void use_utc();
// use_utc(), and time_text() becomes dump_time_text(), as in joedb 10.
void write_times_as_joedb_10();

// Formats seconds since 1970 as "YYYY-MM-DD HH:MM:SS +HHMM", with the offset from UTC; or as
// "YYYY-MM-DD HH:MM:SSZ" if the offset is 0. A time whose offset has seconds, as before 1900, is
// shown in UTC. Beyond ±900,000,000,000 seconds (year 30489), returns "N seconds since 1970".
std::string time_text(std::int64_t seconds, Zone zone = Zone::local);

// "YYYY-MM-DDTHH:MM:SSZ", for programs. For years that have not four digits, returns the number of
// seconds.
std::string iso_time_text(std::int64_t seconds);

// "YYYY-MM-DDTHH:MM:SS", in UTC; a year before 0 has a sign and four digits. Empty for years
// outside of -9999 to 9999.
std::string calendar_text(std::int64_t seconds);

// "YYYY-MM-DD HH:MM:SS GMT", as joedb 10 writes it in its dumps; the limit is that of time_text.
std::string dump_time_text(std::int64_t seconds);

// Parses a time: "YYYY-MM-DD" (before year 0, "-YYYY-MM-DD"), optionally followed by " HH:MM",
// "THH:MM" and ":SS"; and optionally by its zone: "Z", "UTC", "GMT", or an offset such as +0100,
// +01:00 or +01. Without a zone, it is a time of `zone`. Also parses a number of seconds since
// 1970, which may be negative. Returns nullopt if the text has no such form, or if the day does not
// exist.
//
// Where clocks are put back, a local time occurs twice: the first one is meant. Where they are put
// forward, a local time is missing: it is read with the offset that was valid before, so 02:30
// becomes 03:30. (RFC 5545 and Python have the same rules.)
std::optional<std::int64_t> parse_time(std::string_view text, Zone zone);

// Parses an informal time. `now` is the current time in seconds since 1970. Accepts any text that
// the other parse_time accepts; "now"; "today" and "yesterday", which mean the beginning of that
// day; and texts like "2 hours ago" or "a day ago", with seconds, minutes,
// hours, days (of 24 hours), weeks, months or years. "a month ago" is the same day of the previous
// month, or the last day of that month if it is shorter. Returns nullopt for other texts.
std::optional<std::int64_t> parse_time(std::string_view text, std::int64_t now,
                                       Zone zone = Zone::local);

}  // namespace joedb::inline v1

#endif
