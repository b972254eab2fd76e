#include "exchange/arrow/logical_input.h"

#include <cmath>
#include <limits>

#include "kernel/schema/logical_type.h"

namespace joedb::inline v1 {

namespace {

using Kind = Logical_Type::Kind;
__extension__ using Int128 = __int128;

constexpr std::int64_t day = 24 * 60 * 60;  // seconds

std::optional<std::int64_t> product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return {};
  return result;
}

std::uint8_t scale_of(std::int64_t time_units) {
  return time_units == 1 ? 0 : time_units == 1000 ? 3 : time_units == 1'000'000 ? 6 : 9;
}

}  // namespace

bool fits_logical_type(const Arrow_Column_Type& column, const Logical_Type& logical) {
  const Arrow_Kind kind = column.kind;
  const bool is_time = column.time_units != 0;
  const bool is_integer = is_arrow_integer(kind) && !is_time;
  const bool is_floating = kind >= Arrow_Kind::float16 && kind <= Arrow_Kind::float64;
  if (kind == Arrow_Kind::null) return true;
  switch (logical.kind) {
    case Kind::boolean:
      return is_integer || kind == Arrow_Kind::boolean;
    case Kind::date:
    case Kind::timestamp:
      return is_integer || (is_time && !column.is_duration);
    case Kind::duration:
      return is_integer || (is_time && column.is_duration);
    case Kind::decimal:
      return is_integer || is_floating || kind == Arrow_Kind::decimal128;
    case Kind::enumeration:
      return is_integer || is_arrow_text(kind);
    case Kind::bytes:
      return is_arrow_text(kind) || kind == Arrow_Kind::fixed_bytes;
    case Kind::uuid:
      return is_arrow_text(kind) || (kind == Arrow_Kind::fixed_bytes && column.width == 16);
    case Kind::json:
      return is_arrow_text(kind);
    case Kind::plain:
      break;
  }
  return false;
}

Logical_Type usual_logical_type(const Arrow_Column_Type& column) {
  constexpr int max_digits = 18;
  if (column.is_date) return {.kind = Kind::date};
  if (column.time_units != 0)
    return {.kind = column.is_duration ? Kind::duration : Kind::timestamp,
            .scale = scale_of(column.time_units)};
  if (column.kind == Arrow_Kind::decimal128 && column.scale >= 0 && column.scale <= max_digits)
    return {.kind = Kind::decimal, .scale = static_cast<std::uint8_t>(column.scale)};
  if (column.is_uuid) return {.kind = Kind::uuid};
  return {};
}

Logical_Input::Logical_Input(const Arrow_Column_Type& column, const Logical_Type& logical,
                             bool round)
    : column_(column), logical_(logical), round_(round), units_(units_of(logical)) {
  for (const std::string& name : logical.names)
    places_.emplace(name, static_cast<std::int64_t>(places_.size()));
}

std::optional<std::int64_t> Logical_Input::rescaled(std::int64_t value, std::int64_t from,
                                                    std::int64_t to) const {
  if (from <= to) return product(value, to / from);
  const std::int64_t units = from / to;
  if (value % units != 0 && !round_) return {};
  return value / units - (value % units < 0 ? 1 : 0);
}

std::optional<std::int64_t> Logical_Input::of_integer(std::int64_t value) const {
  const std::int64_t time_units = column_.time_units;
  switch (logical_.kind) {
    case Kind::boolean:
      return value == 0 || value == 1 ? std::optional(value) : std::nullopt;
    case Kind::enumeration:
      if (value < 0 || value >= static_cast<std::int64_t>(logical_.names.size())) return {};
      return value;
    case Kind::decimal:
      return product(value, units_);
    case Kind::date:
      if (time_units <= 0) return value;
      return rescaled(value, time_units * day, 1);
    default:
      if (time_units == 0) return value;
      if (time_units > 0) return rescaled(value, time_units, units_);
      const auto seconds = product(value, -time_units);
      return seconds ? product(*seconds, units_) : std::nullopt;
  }
}

// A float is the decimal number whose nearest float it is.
std::optional<std::int64_t> Logical_Input::of_float(double value) const {
  const auto units = static_cast<double>(units_);
  const double scaled = std::nearbyint(value * units);
  constexpr double limit = 0x1p63;
  if (!(scaled >= -limit && scaled < limit)) return {};
  const bool is_exact =
      scaled / units == value || (column_.kind != Arrow_Kind::float64 &&
                                  static_cast<float>(scaled / units) == static_cast<float>(value));
  if (!is_exact && !round_) return {};
  return static_cast<std::int64_t>(scaled);
}

std::optional<std::int64_t> Logical_Input::of_decimal(std::uint64_t low, std::int64_t high) const {
  Int128 value = Int128{high} * (Int128{1} << 64) + Int128{low};
  for (int scale = column_.scale; scale < logical_.scale; ++scale)
    if (__builtin_mul_overflow(value, Int128{10}, &value)) return {};
  Int128 units = 1;
  for (int scale = logical_.scale; scale < column_.scale; ++scale) units *= 10;
  const Int128 rest = value % units;
  if (rest != 0 && !round_) return {};
  value /= units;
  if (rest >= units - rest && rest != 0) ++value;
  if (-rest >= units + rest && rest != 0) --value;
  constexpr Int128 max = std::numeric_limits<std::int64_t>::max();
  if (value > max || value < -max - 1) return {};
  return static_cast<std::int64_t>(value);
}

std::optional<std::int64_t> Logical_Input::of_name(std::string_view name) const {
  const auto place = places_.find(name);
  return place == places_.end() ? std::nullopt : std::optional(place->second);
}

}  // namespace joedb::inline v1
