#ifndef JOEDB_BASE_TIME_H
#define JOEDB_BASE_TIME_H

#include <cstdint>
#include <string>

namespace joedb::inline v1 {

// Seconds since 1970 as "YYYY-MM-DD HH:MM:SS GMT".
std::string time_text(std::int64_t seconds);

}  // namespace joedb::inline v1

#endif
