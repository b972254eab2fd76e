#ifndef JOEDB_TESTS_SUPPORT_ARBITRARY_VALUES_H
#define JOEDB_TESTS_SUPPORT_ARBITRARY_VALUES_H

#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kernel/schema/logical_type.h"
#include "support/property.h"

// Generated values of fields, for tests that write a database in another format and read it again.

namespace joedb::testing {

template <class T>
T arbitrary_number() {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_same_v<T, bool>) {
    return *rc::gen::arbitrary<bool>();
  } else if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    if (*rc::gen::arbitrary<bool>()) return std::bit_cast<T>(*rc::gen::arbitrary<Bits>());
    return *rc::gen::elementOf(std::vector<T>{Limits::infinity(), -Limits::infinity(),
                                              Limits::quiet_NaN(), Limits::denorm_min(),
                                              Limits::max(), Limits::lowest(), T(0.1), T(-0.0)});
  } else {
    return *rc::gen::oneOf(rc::gen::arbitrary<T>(),
                           rc::gen::elementOf(std::vector<T>{Limits::min(), Limits::max(), 0, -1}));
  }
}

inline std::string arbitrary_text() {
  return *rc::gen::oneOf(rc::gen::container<std::string>(rc::gen::arbitrary<char>()),
                         rc::gen::container<std::string>(
                             rc::gen::element(',', '"', '\'', '\n', '\r', ' ', 'a', '\0', '\xef')),
                         rc::gen::elementOf(std::vector<std::string>{
                             "", "nan", "null", "0", "true", "é", "\xff", "\xed\xa0\x80",
                             "\xef\xbb\xbf", std::string("a\0b", 3), std::string(5000, 'x')}));
}

// A type with a logical part, or the name of a stored one; half of them optional.
inline Declared_Type arbitrary_logical_type() {
  const std::string text = *rc::gen::elementOf(std::vector<std::string>{
      "date",       "timestamp",  "timestamp(s)", "timestamp(ns)",   "duration", "duration(ms)",
      "decimal(0)", "decimal(2)", "decimal(18)",  "enum(open,paid)", "bytes",    "uuid",
      "json",       "int8",       "int16",        "int32",           "int64",    "float32",
      "float64",    "string",     "boolean"});
  return parse_declared_type(text + (*rc::gen::arbitrary<bool>() ? " optional" : "")).value();
}

// Whether values are generated that the type does not have.
enum class Foreign_Values : std::uint8_t { none, some };

template <Field_Value T>
T arbitrary_logical_number(const Logical_Type& logical, Foreign_Values foreign) {
  using Kind = Logical_Type::Kind;
  if (logical.is_optional && *rc::gen::inRange(0, 4) == 0) return missing_value<T>(logical);
  if (foreign == Foreign_Values::some && *rc::gen::inRange(0, 8) == 0) return arbitrary_number<T>();
  const auto below = [](std::int64_t limit) {
    return static_cast<T>(
        *rc::gen::oneOf(rc::gen::inRange<std::int64_t>(1 - limit, limit),
                        rc::gen::elementOf(std::vector<std::int64_t>{0, limit - 1, 1 - limit})));
  };
  switch (logical.kind) {
    case Kind::boolean:
      return static_cast<T>(*rc::gen::inRange(0, 2));
    case Kind::date:
      return below(1'000'000);
    case Kind::timestamp:
      return below(8'000'000'000 * units_of(logical));  // in the year 2223
    case Kind::decimal:
    case Kind::duration:
      return below(1'000'000'000'000'000'000);
    case Kind::enumeration:
      return static_cast<T>(*rc::gen::inRange<std::size_t>(0, logical.names.size()));
    default:
      return arbitrary_number<T>();
  }
}

inline std::string arbitrary_logical_text(const Logical_Type& logical, Foreign_Values foreign) {
  using Kind = Logical_Type::Kind;
  if (logical.is_optional && *rc::gen::inRange(0, 4) == 0)
    return std::string(missing_value<std::string_view>(logical));
  const bool is_foreign = foreign == Foreign_Values::some && *rc::gen::inRange(0, 8) == 0;
  if (logical.kind == Kind::uuid && !is_foreign)
    return std::string(15, *rc::gen::arbitrary<char>()) + 'x';
  if (logical.kind == Kind::json)
    return *rc::gen::elementOf(std::vector<std::string>{
        "{\"a\":[1,2.50,\"é\"]}", "null", "\"x\"", "1.50", "true", "{\"base64\":\"AAAA\"}",
        "no JSON", "\"1\"", "[]", "{\"a\": 1}\n]", "18446744073709551615"});
  return arbitrary_text();
}

}  // namespace joedb::testing

#endif
