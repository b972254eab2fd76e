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

}  // namespace joedb::inline v1

#endif
