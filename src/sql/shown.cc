#include "sql/shown.h"

#include <type_traits>

#include "kernel/base/parse_number.h"
#include "sql/collation.h"
#include "text/sql.h"

namespace joedb {

using Logical_Kind = Logical_Type::Kind;

Shown shown_as(const Logical_Type& logical) {
  switch (logical.kind) {
    case Logical_Kind::date:
    case Logical_Kind::timestamp:
    case Logical_Kind::duration:
    case Logical_Kind::enumeration:
      return Shown::number_text;
    case Logical_Kind::decimal:
      return logical.scale > 0 ? Shown::decimal : Shown::stored;
    case Logical_Kind::uuid:
      return Shown::uuid;
    case Logical_Kind::bytes:
      return Shown::bytes;
    default:
      return Shown::stored;
  }
}

static constexpr Interval all_numbers;
static constexpr Interval no_numbers{0, -1};

Interval ordered_interval(const Logical_Type& logical) {
  constexpr std::int64_t first_day = -719'528;  // 0000-01-01
  constexpr std::int64_t end_day = 2'932'897;   // behind 9999-12-31
  if (logical.kind == Logical_Kind::date) return {first_day, end_day - 1};
  if (logical.kind != Logical_Kind::timestamp) return no_numbers;
  const std::int64_t unit = 86'400 * units_of(logical);
  Interval interval;
  if (__builtin_mul_overflow(first_day, unit, &interval.low)) interval.low = all_numbers.low + 1;
  if (__builtin_mul_overflow(end_day, unit, &interval.high))
    interval.high = all_numbers.high - 1;
  else
    --interval.high;
  return interval;
}

std::string shown_number(const Logical_Type& logical, std::int64_t value) {
  std::string text;
  append_shown_text(text, logical, value);
  return text;
}

std::optional<std::int64_t> number_shown_as(const Logical_Type& logical, Type_Code stored,
                                            std::string_view text) {
  auto value = parse_logical_number(text, logical);
  if (!value) value = parse_number<std::int64_t>(text);  // a value without a text of its own
  if (!value) return {};
  const bool fits = visit_type(stored, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      return *value == static_cast<std::int64_t>(static_cast<T>(*value));
    else
      return false;
  });
  if (!fits || compare_texts(logical, shown_number(logical, *value), text) != 0) return {};
  return value;
}

// Returns the first number from low to high for which test() is true; high + 1 if there is none,
// but at most the largest number. test() must be true for all numbers behind the first one. `guess`
// is tried before others.
template <class Test>
static std::int64_t first_number(Interval in, std::int64_t guess, Test test) {
  if (in.is_empty() || !test(in.high)) return in.high == all_numbers.high ? in.high : in.high + 1;
  if (test(in.low)) return in.low;
  // test(low) is false, and test(high) is true.
  for (const std::int64_t next : {guess, guess < in.high ? guess + 1 : guess}) {
    if (next <= in.low || next >= in.high) continue;
    if (test(next)) {
      in.high = next;
      break;
    }
    in.low = next;
  }
  if (guess > in.low && guess == in.high && !test(guess - 1)) return guess;
  const auto distance = [&] {
    return static_cast<std::uint64_t>(in.high) - static_cast<std::uint64_t>(in.low);
  };
  while (distance() > 1) {
    const std::int64_t middle = in.low + static_cast<std::int64_t>(distance() / 2);
    (test(middle) ? in.high : in.low) = middle;
  }
  return in.high;
}

std::int64_t first_beyond(const Logical_Type& logical, Interval interval, std::string_view text,
                          bool is_greater) {
  const std::int64_t guess = parse_logical_number(text, logical).value_or(0);
  return first_number(interval, guess, [&](std::int64_t value) {
    const int order = compare_texts(logical, shown_number(logical, value), text);
    return is_greater ? order > 0 : order >= 0;
  });
}

Interval decimals_between(std::uint8_t scale, double low, double high) {
  const auto shown = [&](std::int64_t value) { return shown_decimal(value, scale); };
  if (!(shown(all_numbers.high) >= low) || !(shown(all_numbers.low) <= high)) return no_numbers;
  Interval found;
  found.low = first_number(all_numbers, 0, [&](std::int64_t v) { return shown(v) >= low; });
  if (!(shown(all_numbers.high) <= high))
    found.high = first_number(all_numbers, 0, [&](std::int64_t v) { return shown(v) > high; }) - 1;
  return found;
}

}  // namespace joedb
