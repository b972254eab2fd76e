#ifndef JOEDB_SRC_SQL_SHOWN_H
#define JOEDB_SRC_SQL_SHOWN_H

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "joedb/schema/type.h"

// How SQL shows stored numbers of a logical type, and which stored numbers meet a condition on what
// is shown. SQL compares what it shows; so must conditions that the extension evaluates.

namespace joedb {

// What SQL shows for the values of a field.
enum class Shown {
  stored,       // the value as it is stored
  number_text,  // the text of a stored integer
  decimal,      // a stored integer, divided by a power of 10
  uuid,         // a text; or a BLOB, for a value without 16 bytes
  bytes,        // a BLOB
};
Shown shown_as(const Logical_Type& logical);

// Integers from low to high; none if low > high.
struct Interval {
  std::int64_t low = std::numeric_limits<std::int64_t>::min();
  std::int64_t high = std::numeric_limits<std::int64_t>::max();
  bool has(std::int64_t value) const { return low <= value && value <= high; }
  bool is_empty() const { return low > high; }
};

// Returns the largest known interval of stored numbers in which the order of the texts is that of
// the numbers, and in which no text looks like a number. It is empty for durations and names; for
// dates and times, it has the years 0 to 9999.
Interval ordered_interval(const Logical_Type& logical);

// Returns the text that SQL shows. Requires Shown::number_text.
std::string shown_number(const Logical_Type& logical, std::int64_t value);

// Returns the stored number for which SQL shows this text, or one that is equal to it in such a
// column (sql/collation.h); nullopt if there is none.
std::optional<std::int64_t> number_shown_as(const Logical_Type& logical, Type_Code stored,
                                            std::string_view text);

// Returns the first number of the interval whose text is greater than `text`, or, if not
// `is_greater`, also equal to it; interval.high + 1 if there is none. Requires a part of
// ordered_interval().
std::int64_t first_beyond(const Logical_Type& logical, Interval interval, std::string_view text,
                          bool is_greater);

// Returns the numbers whose decimals are shown as low to high.
Interval decimals_between(std::uint8_t scale, double low, double high);

}  // namespace joedb

#endif
