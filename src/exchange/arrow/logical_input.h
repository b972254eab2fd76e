#ifndef JOEDB_SRC_EXCHANGE_ARROW_LOGICAL_INPUT_H
#define JOEDB_SRC_EXCHANGE_ARROW_LOGICAL_INPUT_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "exchange/arrow/source.h"
#include "joedb/schema/type.h"

namespace joedb::inline v1 {

// True if a field of this logical type, which is neither plain nor only optional, can hold values
// of the column.
bool fits_logical_type(const Arrow_Column_Type& column, const Logical_Type& logical);

// Returns the logical type that a field for the column has in a new table; plain if it has none.
Logical_Type usual_logical_type(const Arrow_Column_Type& column);

// Converts values of a column to stored values of a field. The functions return nullopt for a value
// that the field cannot hold, with `round`: not even rounded. Requires fits_logical_type().
class Logical_Input {
 public:
  // The arguments must outlive this object.
  Logical_Input(const Arrow_Column_Type& column, const Logical_Type& logical, bool round);

  // A number or boolean of the column, or a time.
  std::optional<std::int64_t> of_integer(std::int64_t value) const;
  std::optional<std::int64_t> of_float(double value) const;
  // A number of 128 bits.
  std::optional<std::int64_t> of_decimal(std::uint64_t low, std::int64_t high) const;
  // The name of a value of an enumeration.
  std::optional<std::int64_t> of_name(std::string_view name) const;

 private:
  std::optional<std::int64_t> rescaled(std::int64_t value, std::int64_t from,
                                       std::int64_t to) const;

  const Arrow_Column_Type& column_;
  const Logical_Type& logical_;
  const bool round_;
  const std::int64_t units_;
  std::unordered_map<std::string_view, std::int64_t> places_;
};

}  // namespace joedb::inline v1

#endif
