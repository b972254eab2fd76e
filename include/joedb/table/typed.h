#ifndef JOEDB_TABLE_TYPED_H
#define JOEDB_TABLE_TYPED_H

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "joedb/base/error.h"
#include "joedb/table/column.h"
#include "joedb/table/database.h"

// The base of the code that joedbc generates: the parts of a typed database that are the same for
// every schema. Programs call the generated functions; this header documents their behaviour.
//
// Not thread-safe. Several threads may call const functions while none changes the database.

namespace joedb::inline v1 {

// ---- values of logical types --------------------------------------------------------------------

// A decimal number with `digits` digits behind the point, such as an amount of money:
//
//     using namespace joedb::literals;
//     joedb::Decimal<2> total = 12.50_decimal;
//     total += 3 * joedb::Decimal<2>("0.05");
//     to_string(total)  // "12.65"
//
// All operations are exact. They throw Data_Error if the result has more digits than 64 bits. There
// is no conversion from floating-point numbers.
template <int digits>
class Decimal {
  static_assert(digits >= 0 && digits <= 18);
  static constexpr std::int64_t power_of_10(int exponent) {
    return exponent == 0 ? 1 : 10 * power_of_10(exponent - 1);
  }
  template <int other>
  friend class Decimal;

 public:
  // 10^digits: the number of units in 1.
  static constexpr std::int64_t unit = power_of_10(digits);

  constexpr Decimal() = default;
  template <std::integral Integer>
  requires(!std::is_same_v<Integer, bool>) constexpr Decimal(Integer whole)
      : units_(times(unit, whole)) {}
  // From fewer digits behind the point.
  template <int fewer>
  requires(fewer < digits) constexpr Decimal(Decimal<fewer> value)
      : units_(times(value.units(), power_of_10(digits - fewer))) {}
  // Reads a text such as "12.50", "-3" or "+0.5". More digits behind the point must be 0.
  constexpr explicit Decimal(std::string_view text) : units_(parse(text)) {}

  // The number is units() / unit. It is stored as units().
  static constexpr Decimal from_units(std::int64_t units) {
    Decimal result;
    result.units_ = units;
    return result;
  }
  constexpr std::int64_t units() const { return units_; }

  constexpr explicit operator double() const {
    return static_cast<double>(units_) / static_cast<double>(unit);
  }

  // The text has all digits behind the point.
  friend std::string to_string(Decimal value) {
    const auto one = static_cast<std::uint64_t>(unit);
    const auto bits = static_cast<std::uint64_t>(value.units_);
    const std::uint64_t size = value.units_ < 0 ? -bits : bits;
    std::string text = (value.units_ < 0 ? "-" : "") + std::to_string(size / one);
    if (digits > 0) text.append(".").append(std::to_string(size % one + one).substr(1));
    return text;
  }
  // Include <ostream>.
  template <class Char, class Traits>
  friend std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& out,
                                                      Decimal value) {
    return out << to_string(value);
  }

  friend constexpr bool operator==(Decimal, Decimal) = default;
  friend constexpr auto operator<=>(Decimal, Decimal) = default;
  friend constexpr Decimal operator+(Decimal a, Decimal b) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a.units_, b.units_, &sum)) throw_overflow();
    return from_units(sum);
  }
  friend constexpr Decimal operator-(Decimal a, Decimal b) {
    std::int64_t difference = 0;
    if (__builtin_sub_overflow(a.units_, b.units_, &difference)) throw_overflow();
    return from_units(difference);
  }
  friend constexpr Decimal operator-(Decimal a) { return Decimal() - a; }
  template <std::integral Integer>
  requires(!std::is_same_v<Integer, bool>) friend constexpr Decimal operator*(Decimal a,
                                                                              Integer factor) {
    return from_units(times(a.units_, factor));
  }
  template <std::integral Integer>
  requires(!std::is_same_v<Integer, bool>) friend constexpr Decimal operator*(Integer factor,
                                                                              Decimal a) {
    return a * factor;
  }
  constexpr Decimal& operator+=(Decimal other) { return *this = *this + other; }
  constexpr Decimal& operator-=(Decimal other) { return *this = *this - other; }
  template <std::integral Integer>
  constexpr Decimal& operator*=(Integer factor) {
    return *this = *this * factor;
  }

 private:
  [[noreturn]] static void throw_overflow() {
    throw Data_Error("a decimal number has too many digits for 64 bits");
  }
  [[noreturn]] static void throw_no_decimal(std::string_view text) {
    throw Data_Error("number with at most " + std::to_string(digits) +
                     " digits behind the point expected, got \"" + std::string(text) + "\"");
  }
  template <std::integral Integer>
  static constexpr std::int64_t times(std::int64_t a, Integer b) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product)) throw_overflow();
    return product;
  }
  static constexpr std::int64_t parse(std::string_view text) {
    const bool is_negative = text.starts_with('-');
    const std::string_view number = text.substr(is_negative || text.starts_with('+'));
    const std::size_t point = std::min(number.find('.'), number.size());
    if (point == 0 || point + 1 == number.size()) throw_no_decimal(text);
    std::int64_t units = 0;
    int behind = 0;
    for (std::size_t i = 0; i < number.size(); ++i) {
      if (i == point) continue;
      if (number[i] < '0' || number[i] > '9') throw_no_decimal(text);
      if (i > point && ++behind > digits) {
        if (number[i] != '0') throw_no_decimal(text);
        continue;
      }
      const int digit = number[i] - '0';
      units = times(units, 10);
      if (__builtin_add_overflow(units, is_negative ? -digit : digit, &units)) throw_overflow();
    }
    return behind < digits ? times(units, power_of_10(digits - behind)) : units;
  }

  std::int64_t units_ = 0;
};

template <char... c>
inline constexpr char literal_digits[] = {c...};

inline namespace literals {
// 12.50_decimal is a Decimal<2>. A number that does not fit is a compile-time error.
template <char... c>
consteval auto operator""_decimal() {
  constexpr std::string_view number(literal_digits<c...>, sizeof...(c));
  constexpr std::size_t point = std::min(number.find('.'), number.size() - 1);
  return Decimal<static_cast<int>(number.size() - point - 1)>(number);
}
}  // namespace literals

// 128 bits that identify something. The default has only zeros. Ordered by its bytes.
class Uuid {
 public:
  static constexpr std::size_t size = 16;

  constexpr Uuid() = default;
  // Reads a text such as "2f1acc6c-3d9a-4f5b-8b1e-0c2b1f1d9a77", with or without dashes, in upper
  // or lower case. Throws Data_Error.
  constexpr explicit Uuid(std::string_view text) {
    std::size_t digits = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text.size() == 36 && (i == 8 || i == 13 || i == 18 || i == 23) && text[i] == '-')
        continue;
      const int digit = value_of(text[i]);
      if (digit < 0 || digits == 2 * size) throw_no_uuid(text);
      bytes_[digits / 2] |= static_cast<std::byte>(digits % 2 == 0 ? digit << 4 : digit);
      ++digits;
    }
    if (digits != 2 * size) throw_no_uuid(text);
  }
  // Returns the UUID with these 16 bytes; one of zeros if the text has another size.
  static Uuid from_bytes(std::string_view bytes) {
    Uuid result;
    if (bytes.size() == size) std::copy_n(bytes.data(), size, result.data());
    return result;
  }
  // The 16 bytes. They refer to this object.
  std::string_view bytes() const { return {reinterpret_cast<const char*>(bytes_.data()), size}; }

  // In lower case, with dashes.
  friend std::string to_string(const Uuid& uuid) {
    std::string text;
    for (const std::byte b : uuid.bytes_) {
      for (const auto digit : {b >> 4, b & std::byte{15}})
        text += "0123456789abcdef"[std::to_integer<std::size_t>(digit)];
      if (text.size() == 8 || text.size() == 13 || text.size() == 18 || text.size() == 23)
        text += '-';
    }
    return text;
  }
  // Include <ostream>.
  template <class Char, class Traits>
  friend std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& out,
                                                      const Uuid& uuid) {
    return out << to_string(uuid);
  }
  friend constexpr bool operator==(const Uuid&, const Uuid&) = default;
  friend constexpr auto operator<=>(const Uuid&, const Uuid&) = default;

 private:
  char* data() { return reinterpret_cast<char*>(bytes_.data()); }
  static constexpr int value_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  }
  [[noreturn]] static void throw_no_uuid(std::string_view text) {
    throw Data_Error("UUID like 2f1acc6c-3d9a-4f5b-8b1e-0c2b1f1d9a77 expected, got \"" +
                     std::string(text) + "\"");
  }

  std::array<std::byte, size> bytes_{};
};

// Given a type T of generated code, the value type if T is a std::optional, or T itself.
template <class T>
struct Without_Optional {
  using type = T;
};
template <class T>
struct Without_Optional<std::optional<T>> {
  using type = T;
};
template <class T>
inline constexpr bool is_optional_type = !std::is_same_v<T, typename Without_Optional<T>::type>;

// ---- conversions of numbers ---------------------------------------------------------------------

// The parameter type of generated functions for fields of numbers or booleans. It accepts only
// conversions that do not change the value.

// Throws Data_Error, whose text says that the value does not fit into a field of type int64.
[[noreturn]] void throw_above_int64(std::uint64_t value);
// Throws Data_Error: this is not a value of the field.
[[noreturn]] void throw_out_of_range(const std::string& value);
// Throws Data_Error: this value of an optional field means that there is none.
[[noreturn]] void throw_means_missing();

// Integers, floating-point numbers, booleans, and enumerations that convert to integers.
template <class T>
concept Convertible_Number = (std::is_arithmetic_v<T> || std::is_enum_v<T>)&&requires(T value) {
  +value;
};

// True if all values of type From are values of type To.
template <class From, class To>
constexpr bool has_all_values_of() {
  using F = std::numeric_limits<From>;
  using T = std::numeric_limits<To>;
  if constexpr (F::is_integer)  // To may be a floating-point type with enough digits
    return F::digits <= T::digits && (!F::is_signed || T::is_signed);
  else
    return !T::is_integer && F::digits <= T::digits && F::max_exponent <= T::max_exponent;
}
// True if all values of From are values of To. An enumeration has the values of its underlying
// type, and of the type to which it is promoted.
template <class From, class To>
constexpr bool always_fits() {
  if constexpr (std::is_enum_v<From>)
    return has_all_values_of<std::underlying_type_t<From>, To>() ||
           has_all_values_of<decltype(+From()), To>();
  else
    return has_all_values_of<From, To>();
}

// True if the conversion does not change the value. From one floating-point type to another, it is
// enough that the value is in range: 0.1 can be converted to a float.
template <class To, class From>
constexpr bool fits(From value) {
  if constexpr (std::is_floating_point_v<From> && std::is_floating_point_v<To>) {
    constexpr auto largest = static_cast<From>(std::numeric_limits<To>::max());
    constexpr From infinity = std::numeric_limits<From>::infinity();
    const bool is_special = value != value || value == infinity || value == -infinity;
    return is_special || (-largest <= value && value <= largest);
  } else {
    const auto converted = static_cast<To>(value);
    return static_cast<From>(converted) == value && (converted < To()) == (value < From());
  }
}

// A type all of whose values are values of T.
template <class From, class T>
concept Widening = Convertible_Number<From> && always_fits<From, T>();

// From is a 64-bit unsigned integer, such as a size, and T is std::int64_t.
template <class From, class T>
concept Large_Size =
    std::is_unsigned_v<From> && sizeof(From) == sizeof(T) && std::is_same_v<T, std::int64_t>;

template <class From, class T>
concept Maybe_Narrowing = Convertible_Number<From> && !Widening<From, T> && !Large_Size<From, T>;

// An object that converts to T under the rules of brace initialization, such as an element of
// std::vector<bool>.
template <class From, class T>
concept Converting_Object = std::is_class_v<std::remove_cvref_t<From>> &&
    std::is_convertible_v<From, T> && requires(From from) {
  T{std::forward<From>(from)};
};

// A value of type T that no conversion has changed. It can be constructed from
//
//   * a type all of whose values are values of T: an int for an int64_t or a double, an int8_t for
//     an int;
//   * values known at compile time that are values of T: db.set_age(person, 5) for an int8_t;
//   * 64-bit unsigned integers, such as sizes, for an int64_t. If the value does not fit,
//     Data_Error is thrown at run time.
//
// All other conversions are compile-time errors: for example, of a double to an int, or of an int
// that is not known at compile time to an int8_t. Use a static_cast if the conversion is intended.
template <class T>
class No_Narrowing {
 public:
  constexpr No_Narrowing() = default;

  template <Widening<T> From>
  constexpr No_Narrowing(From value) : value_(static_cast<T>(value)) {}

  template <Large_Size<T> From>
  constexpr No_Narrowing(From value) : value_(static_cast<T>(value)) {
    if (value_ < 0) throw_above_int64(value);
  }

  // If the compiler reports that `value` is not a constant, and the value fits, use a static_cast.
  template <Maybe_Narrowing<T> From>
  consteval No_Narrowing(const From& value) : value_(static_cast<T>(value)) {
    if (!fits<T>(value)) the_value_does_not_fit();
  }

  template <Converting_Object<T> From>
  constexpr No_Narrowing(From&& value) : value_{std::forward<From>(value)} {}

  constexpr operator T() const { return value_; }

 private:
  // Not constexpr, so that a call of this function is a compile-time error.
  static void the_value_does_not_fit() {}

  T value_{};
};

// A date: a type that converts to std::chrono::sys_days, and that may be no date, like February 30.
template <class T>
concept Calendar_Date = std::is_convertible_v<T, std::chrono::sys_days> && requires(T date) {
  {date.ok()};
};

// A length of time, from one whose unit is a multiple of this unit. Throws Data_Error if it does
// not fit into 64 bits. A finer unit does not compile: use std::chrono::floor or round.
template <class Rep, class Period>
class No_Narrowing<std::chrono::duration<Rep, Period>> {
  using Duration = std::chrono::duration<Rep, Period>;

 public:
  constexpr No_Narrowing() = default;
  template <class From_Rep, class From_Period>
  requires(std::is_convertible_v<
           std::chrono::duration<From_Rep, From_Period>,
           Duration>) constexpr No_Narrowing(std::chrono::duration<From_Rep, From_Period> value) {
    Rep count{};
    if (__builtin_mul_overflow(value.count(), std::ratio_divide<From_Period, Period>::num, &count))
      throw Data_Error("a time does not fit into 64 bits");
    value_ = Duration(count);
  }
  constexpr operator Duration() const { return value_; }

 private:
  Duration value_{};
};

// A point in time, from one whose unit is a multiple of this unit, or from a date. Throws
// Data_Error if it does not fit into 64 bits, and for a year_month_day that is no date.
template <class Duration>
class No_Narrowing<std::chrono::time_point<std::chrono::system_clock, Duration>> {
  using Time = std::chrono::sys_time<Duration>;

 public:
  constexpr No_Narrowing() = default;
  template <class From>
  requires(std::is_convertible_v<From, Duration>) constexpr No_Narrowing(
      std::chrono::sys_time<From> time)
      : value_(No_Narrowing<Duration>(time.time_since_epoch())) {}
  template <Calendar_Date Date>
  constexpr No_Narrowing(Date date)
      : No_Narrowing(date.ok() ? std::chrono::sys_days(date) : throw Data_Error("no valid date")) {}
  constexpr operator Time() const { return value_; }

 private:
  Time value_{};
};

// A value that may be missing: std::nullopt, or all that a No_Narrowing<T> can be made from.
template <class T>
class No_Narrowing<std::optional<T>> {
 public:
  constexpr No_Narrowing() = default;
  constexpr No_Narrowing(std::nullopt_t) {}

  template <class From>
  requires(std::is_convertible_v<const From&, No_Narrowing<T>> &&
           !Maybe_Narrowing<From, T>) constexpr No_Narrowing(const From& value)
      : value_(No_Narrowing<T>(value)) {}
  template <Maybe_Narrowing<T> From>
  consteval No_Narrowing(const From& value) : value_(No_Narrowing<T>(value)) {}
  template <class From>
  requires(std::is_convertible_v<const From&, No_Narrowing<T>> &&
           !Maybe_Narrowing<From, T>) constexpr No_Narrowing(const std::optional<From>& value) {
    if (value) value_ = No_Narrowing<T>(*value);
  }

  constexpr operator std::optional<T>() const { return value_; }

 private:
  std::optional<T> value_{};
};

// The values of consecutive records in a column, which can be read and written in place.
// update_vector_of_FIELD (typed_writer.h) passes a Span to a function of the program. Element i
// belongs to record first + i. Values of records that are not in use can be written, too.
//
// Valid until the function passed to update_vector_of_FIELD returns. A copy refers to the same
// values. Ranges are not checked.
template <class T>
class Span {
 public:
  Span(T* data, std::size_t size) : data_(data), size_(size) {}

  // Requires i < size().
  T& operator[](std::size_t i) const {
    assert(i < size_);
    return data_[i];
  }
  // The number of records; get_size() is the older name.
  std::size_t get_size() const { return size_; }
  std::size_t size() const { return size_; }
  // The values are contiguous: [data(), data() + size()).
  T* data() const { return data_; }
  T* begin() const { return data_; }
  T* end() const { return data_ + size_; }

 private:
  T* data_;
  std::size_t size_;
};

// One string of a column, which can be assigned, or read as a String. A String_Reference refers to
// the column and the record, not to the text. It is valid as long as the Span from which it comes.
class String_Reference {
 public:
  String_Reference(Column<std::string_view>& column, index_t id) : column_(column), id_(id) {}
  String_Reference(const String_Reference&) = default;

  // Copies `text`, which may be a text of this column. Throws Data_Error if it has more than
  // 4294967295 bytes, and std::bad_alloc if memory is exhausted; the old text remains then.
  const String_Reference& operator=(std::string_view text) const {
    if (text.size() > Column<std::string_view>::max_size)
      throw Data_Error("a string can have at most 4294967295 bytes");
    column_.set(id_, text);
    return *this;
  }
  // Copies the text of `other`; this object still refers to its own record.
  const String_Reference& operator=(const String_Reference& other) const {
    return *this = other.get();
  }

  // The String is valid until the next assignment to a string of this column; the std::string is a
  // copy.
  String get() const { return column_.get(id_); }
  operator String() const { return get(); }
  operator std::string() const { return get(); }
  friend bool operator==(const String_Reference& a, std::string_view b) { return a.get() == b; }

 private:
  Column<std::string_view>& column_;
  index_t id_;
};

// A Span of strings, as in name[i] = "text". Its elements are String_References. There is no
// data(), because texts are not contiguous. The Span must outlive its iterators.
template <>
class Span<std::string> {
 public:
  Span(Column<std::string_view>& column, index_t first, std::size_t size)
      : column_(column), first_(first), size_(size) {}

  // Requires i < size().
  String_Reference operator[](std::size_t i) const {
    assert(i < size_);
    return {column_, first_ + static_cast<index_t>(i)};
  }
  std::size_t get_size() const { return size_; }
  std::size_t size() const { return size_; }

  class iterator {
   public:
    using value_type = String_Reference;
    using difference_type = std::ptrdiff_t;
    iterator(const Span& span, std::size_t i) : span_(&span), i_(i) {}
    String_Reference operator*() const { return (*span_)[i_]; }
    iterator& operator++() {
      ++i_;
      return *this;
    }
    iterator operator++(int) { return {*span_, i_++}; }
    friend bool operator==(const iterator& a, const iterator& b) { return a.i_ == b.i_; }

   private:
    const Span* span_;
    std::size_t i_;
  };
  iterator begin() const { return {*this, 0}; }
  iterator end() const { return {*this, size_}; }

 private:
  Column<std::string_view>& column_;
  index_t first_;
  std::size_t size_;
};

// ---- ids and values -----------------------------------------------------------------------------

// The id of a record: its row number in the table, counted from 0. A default-constructed id is null
// and has the number -1. The record need not be in use. Ids of deleted records are reused for new
// records.
//   struct id_of_city : joedb::Typed_Id<id_of_city> { using Typed_Id::Typed_Id; };
template <class Id>
class Typed_Id {
 public:
  constexpr Typed_Id() = default;
  constexpr explicit Typed_Id(index_t id) : record_(id) {}
  constexpr explicit Typed_Id(Record_Id record) : record_(record) {}

  constexpr bool is_null() const { return record_.is_null(); }
  constexpr bool is_not_null() const { return record_.is_not_null(); }
  constexpr index_t get_id() const { return record_.value(); }
  constexpr Record_Id get_record_id() const { return record_; }

  // Returns the id of record i of a vector that starts at this record. Not checked.
  constexpr Id operator[](std::size_t i) const { return Id(get_id() + static_cast<index_t>(i)); }

  friend constexpr bool operator==(Typed_Id, Typed_Id) = default;
  friend constexpr auto operator<=>(Typed_Id, Typed_Id) = default;
  // Prints the number, -1 for null. Include <ostream>.
  template <class Char, class Traits>
  friend std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& out,
                                                      Typed_Id id) {
    return out << id.record_;
  }

 private:
  Record_Id record_;
};

template <class T>
concept Reference_Value = std::derived_from<T, Typed_Id<T>>;

}  // namespace joedb::inline v1

// For std::unordered_map. A program may define its own specialization for one of its id types.
template <joedb::Reference_Value Id>
struct std::hash<Id> {
  std::size_t operator()(Id id) const noexcept {
    return std::hash<joedb::Record_Id>()(id.get_record_id());
  }
};
template <int digits>
struct std::hash<joedb::Decimal<digits>> {
  std::size_t operator()(joedb::Decimal<digits> value) const noexcept {
    return std::hash<std::int64_t>()(value.units());
  }
};
template <>
struct std::hash<joedb::Uuid> {
  std::size_t operator()(const joedb::Uuid& uuid) const noexcept {
    return std::hash<std::string_view>()(uuid.bytes());
  }
};

namespace joedb::inline v1 {

// The types in which a field of C++ type T is stored in its column, returned by its getter, and
// passed to its setter.
template <class T>
struct Field_Traits {
  using Stored = T;
  using Getter = T;
  using Setter = T;
};

template <>
struct Field_Traits<std::string> {
  using Stored = std::string_view;
  using Getter = String;
  using Setter = std::string_view;
};

template <Reference_Value T>
struct Field_Traits<T> {
  using Stored = Record_Id;
  using Getter = T;
  using Setter = T;
};

// The other types are those of logical types (Logical_Type in schema/type.h). They also have the
// functions from_stored and to_stored. to_stored throws Data_Error for a value that cannot be
// stored.
template <>
struct Field_Traits<std::chrono::sys_days> {
  using Stored = std::int32_t;
  using Getter = std::chrono::sys_days;
  using Setter = std::chrono::sys_days;
  static constexpr Getter from_stored(Stored stored) { return Getter(std::chrono::days(stored)); }
  static constexpr Stored to_stored(const Setter& value) {
    const auto days = value.time_since_epoch().count();
    if (!fits<Stored>(days)) throw_out_of_range("day " + std::to_string(days));
    return static_cast<Stored>(days);
  }
};

template <class Period>
struct Field_Traits<std::chrono::duration<std::int64_t, Period>> {
  using Stored = std::int64_t;
  using Getter = std::chrono::duration<std::int64_t, Period>;
  using Setter = Getter;
  static constexpr Getter from_stored(Stored stored) { return Getter(stored); }
  static constexpr Stored to_stored(const Setter& value) { return value.count(); }
};

template <class Duration>
struct Field_Traits<std::chrono::time_point<std::chrono::system_clock, Duration>> {
  using Stored = std::int64_t;
  using Getter = std::chrono::sys_time<Duration>;
  using Setter = Getter;
  static constexpr Getter from_stored(Stored stored) { return Getter(Duration(stored)); }
  static constexpr Stored to_stored(const Setter& value) {
    return value.time_since_epoch().count();
  }
};

template <int digits>
struct Field_Traits<Decimal<digits>> {
  using Stored = std::int64_t;
  using Getter = Decimal<digits>;
  using Setter = Decimal<digits>;
  static constexpr Getter from_stored(Stored stored) { return Getter::from_units(stored); }
  static constexpr Stored to_stored(const Setter& value) { return value.units(); }
};

// A stored number that is no name of the enumeration is still the value of the enum.
template <class T>
requires(std::is_enum_v<T>) struct Field_Traits<T> {
  using Stored = std::underlying_type_t<T>;
  using Getter = T;
  using Setter = T;
  static constexpr Getter from_stored(Stored stored) { return static_cast<T>(stored); }
  static constexpr Stored to_stored(const Setter& value) { return static_cast<Stored>(value); }
};

// A stored text that has not 16 bytes, like the empty text of a new record, is a UUID of zeros.
template <>
struct Field_Traits<Uuid> {
  using Stored = std::string_view;
  using Getter = Uuid;
  using Setter = Uuid;
  static Getter from_stored(Stored stored) { return Uuid::from_bytes(stored); }
  // Refers to the argument.
  static Stored to_stored(const Setter& value) { return value.bytes(); }
};

template <class T>
typename Field_Traits<T>::Stored to_stored(const typename Field_Traits<T>::Setter& value);
template <class T>
typename Field_Traits<T>::Getter from_stored(typename Field_Traits<T>::Stored stored);

// A value that is missing is stored as missing_value (schema/type.h), which cannot be given.
template <class T>
struct Field_Traits<std::optional<T>> {
 private:
  using Present = Field_Traits<T>;
  static constexpr bool is_boolean = std::is_same_v<T, bool>;

 public:
  using Stored = std::conditional_t<is_boolean, std::int8_t, typename Present::Stored>;
  using Getter = std::optional<typename Present::Getter>;
  using Setter = std::optional<typename Present::Setter>;

  static constexpr Stored missing() { return missing_value<Stored>(is_boolean); }
  static constexpr bool is_missing(Stored stored) {
    return is_missing_value<Stored>(stored, is_boolean);
  }
  static Getter from_stored(Stored stored) {
    if (is_missing(stored)) return std::nullopt;
    if constexpr (is_boolean)
      return stored != 0;
    else
      return joedb::from_stored<T>(stored);
  }
  static Stored to_stored(const Setter& value) {
    return value ? present_to_stored(*value) : missing();
  }
  // The same for a value that is not missing.
  static Stored present_to_stored(const typename Present::Setter& value) {
    const auto stored = static_cast<Stored>(joedb::to_stored<T>(value));
    if (is_missing(stored)) throw_means_missing();
    return stored;
  }
};

// True if the types of a field are those of a logical type.
template <class T>
concept Logical_Value = requires(typename Field_Traits<T>::Stored stored) {
  Field_Traits<T>::from_stored(stored);
};

// Returns the value that is stored in the column. A text refers to the argument. Throws Data_Error
// for a string of more than 4294967295 bytes, for a blob that is invalid (Database::require_valid),
// and for a value that means that an optional field has no value.
template <class T>
typename Field_Traits<T>::Stored to_stored(const typename Field_Traits<T>::Setter& value) {
  if constexpr (Logical_Value<T>) {
    return Field_Traits<T>::to_stored(value);
  } else if constexpr (Reference_Value<T>) {
    // The id that next() returns at the end of a list is stored as null.
    return value.get_id() < 0 ? Record_Id() : value.get_record_id();
  } else {
    if constexpr (std::is_same_v<T, Blob>) Database::require_valid(value);
    if constexpr (std::is_same_v<T, std::string>) Database::require_size(value);
    return value;
  }
}

// Returns what the getter of a field returns for a stored value.
template <class T>
typename Field_Traits<T>::Getter from_stored(typename Field_Traits<T>::Stored stored) {
  if constexpr (Logical_Value<T>)
    return Field_Traits<T>::from_stored(stored);
  else if constexpr (std::is_same_v<T, std::string>)
    return String(stored.data(), stored.size());
  else
    return typename Field_Traits<T>::Getter(stored);
}

// ---- tables -------------------------------------------------------------------------------------

// Base of iterators over ids: their types, and i++. Iterator must have ++i.
template <class Iterator, class Id>
class Id_Iterator {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = Id;
  using difference_type = std::ptrdiff_t;
  using pointer = const Id*;
  using reference = Id;

  Iterator operator++(int) {
    Iterator& self = static_cast<Iterator&>(*this);
    const Iterator old = self;
    ++self;
    return old;
  }
};

// The records of a table that are in use, in insertion order:
//
//     for (const id_of_city city : db.get_city_table()) …
//
// A container refers to the table, so changes are visible at once. The container is valid as long
// as the addresses of tables, so not after a rollback. Iterators, including reverse iterators, stay
// valid when records are inserted or deleted. If the record of an iterator is deleted, the iterator
// continues with the next record. So a loop may delete the records that it visits, and insert other
// records, which become the last. A step throws Exception if more than 128 records were deleted
// since the previous step, and the iterator's record may be one of them. A step back also throws if
// the record before the iterator's record was deleted.
template <class Id>
class Container {
 public:
  explicit Container(const Record_Ids& records) : records_(&records) {}

  class iterator : public Id_Iterator<iterator, Id> {
   public:
    using iterator_category = std::bidirectional_iterator_tag;
    using Id_Iterator<iterator, Id>::operator++;

    iterator() = default;
    iterator(const Record_Ids& records, index_t id)
        : records_(&records), erasures_(records.erasures()), id_(id) {}
    // These two functions require that the iterator is not at the end.
    Id operator*() const { return Id(id_); }
    iterator& operator++() {
      id_ = records_->next(id_, erasures_);
      erasures_ = records_->erasures();
      return *this;
    }
    // Moves to the previous record; from the end, to the last record.
    iterator& operator--() {
      records_->require_previous(id_, erasures_);
      id_ = id_ == Record_Ids::no_id ? records_->last() : records_->previous(id_, erasures_);
      erasures_ = records_->erasures();
      return *this;
    }
    iterator operator--(int) {
      const iterator old = *this;
      --*this;
      return old;
    }
    friend bool operator==(const iterator& a, const iterator& b) { return a.id_ == b.id_; }

   private:
    const Record_Ids* records_ = nullptr;
    std::uint64_t erasures_ = 0;  // Record_Ids::erasures() when this record was reached
    index_t id_ = Record_Ids::no_id;
  };

  // Visits the last record first. The visited record may be deleted, because the iterator refers to
  // this record, and not to the record after it like a std::reverse_iterator.
  class reverse_iterator : public Id_Iterator<reverse_iterator, Id> {
   public:
    using Id_Iterator<reverse_iterator, Id>::operator++;

    reverse_iterator() = default;
    reverse_iterator(const Record_Ids& records, index_t id)
        : records_(&records), erasures_(records.erasures()), id_(id) {}
    Id operator*() const { return Id(id_); }
    reverse_iterator& operator++() {
      id_ = records_->previous(id_, erasures_);
      erasures_ = records_->erasures();
      return *this;
    }
    friend bool operator==(const reverse_iterator& a, const reverse_iterator& b) {
      return a.id_ == b.id_;
    }

   private:
    const Record_Ids* records_ = nullptr;
    std::uint64_t erasures_ = 0;
    index_t id_ = Record_Ids::no_id;
  };

  iterator begin() const { return {*records_, records_->first()}; }
  iterator end() const { return {*records_, Record_Ids::no_id}; }
  reverse_iterator rbegin() const { return {*records_, records_->last()}; }
  reverse_iterator rend() const { return {*records_, Record_Ids::no_id}; }

  // Number of records in use. Takes constant time.
  std::size_t get_size() const { return static_cast<std::size_t>(records_->used_count()); }
  bool is_empty() const { return records_->used_count() == 0; }
  // The first and the last record in insertion order; get_end() if the table is empty.
  Id first() const { return Id(records_->first()); }
  Id last() const { return Id(records_->last()); }
  // The id that means "no record" in this list. It is not the null id: compare with get_end().
  static constexpr Id get_end() { return Id(Record_Ids::no_id); }

  // get_at returns the id with number i, even if the id is not in use. is_valid_at is true if it is
  // in use.
  static constexpr Id get_at(std::size_t i) { return Id(static_cast<index_t>(i)); }
  bool is_valid_at(std::size_t i) const { return records_->is_used(static_cast<index_t>(i)); }

 private:
  const Record_Ids* records_;
};

// The part of a table that does not depend on its types. Generated functions pass this class to
// other functions, so that fewer templates are instantiated. Call bind() before any other function.
class Any_Typed_Table {
 public:
  Table& table() { return *table_; }
  const Table& table() const { return *table_; }
  const Record_Ids& records() const { return table_->records(); }
  // Throws Data_Error if the record is not in use.
  void require_used(Record_Id record) const { table_->require_used(record); }

 protected:
  Table* table_ = nullptr;
};

// A table whose number is known at compile time. Generated code derives from this class and adds
// the fields.
template <class Id_Type, std::uint16_t number>
class Typed_Table : public Any_Typed_Table {
 public:
  using Id = Id_Type;
  static constexpr Table_Id id{number};

  // Finds the table and the columns of its fields. Throws Data_Error if the table or a column does
  // not exist, or if a column has another type. `database` must outlive this object; bind again
  // after a rollback.
  template <class... Fields>
  void bind(Database& database, Fields&... fields) {
    table_ = &database.table(id);
    (fields.bind(*table_), ...);
    table_->make_room_for_one();
  }

  // True if the record is in use. False for null, and for any id that the table does not have.
  bool is_used(Id record) const { return records().is_used(record.get_id()); }
  // The next and the previous record in insertion order; Container::get_end() if there is none.
  // Throw Data_Error if `record` is not in use.
  Id next(Id record) const {
    require_used(record.get_record_id());
    return Id(records().next(record.get_id()));
  }
  Id previous(Id record) const {
    require_used(record.get_record_id());
    return Id(records().previous(record.get_id()));
  }
  Container<Id> records_in_order() const {
    table_->expect_scan();
    return Container<Id>(records());
  }
};

// The elements of the Span of a field: values of T, or, for dates, enumerations, UUIDs and optional
// fields, the stored values, to which to_stored<T>() and from_stored<T>() convert.
template <class T>
struct Span_Element {
  using type = T;
};
template <class T>
requires(is_optional_type<T> || std::is_enum_v<T> || std::is_same_v<T, Uuid> ||
         std::is_same_v<T, std::chrono::sys_days>) struct Span_Element<T> {
  using Stored = typename Field_Traits<T>::Stored;
  using type = std::conditional_t<std::is_same_v<Stored, std::string_view>, std::string, Stored>;
};

// A field whose number and type are known at compile time.
template <class T, std::uint16_t number>
class Typed_Field {
 public:
  using Value = T;
  using Stored = typename Field_Traits<T>::Stored;
  using Getter = typename Field_Traits<T>::Getter;
  using Setter = typename Field_Traits<T>::Setter;
  using Element = typename Span_Element<T>::type;
  static constexpr Field_Id id{number};

  // Throws Data_Error if the table has no such field of this type.
  void bind(Table& table) {
    column_ = static_cast<Column<Stored>*>(&table.find_column(id, code_of<Stored>));
  }
  Column<Stored>& column() { return *column_; }
  // Returns the value of a record. The record must be in use, which is not checked. A String is
  // valid until the database is changed.
  Getter get(index_t record) const {
    if constexpr (Logical_Value<T>)
      return from_stored<T>(column_->get(record));
    else
      return Getter(column_->get(record));
  }
  // The value in the form that indexes compare. A text refers to the argument.
  static Key_Part key_part(const Setter& value) { return joedb::key_part(to_stored<T>(value)); }
  Key_Part stored_key_part(index_t record) const {
    return joedb::key_part(Stored(column_->get(record)));
  }

  // The values of records [first, first + size), in place. The range is not checked.
  Span<Element> span(index_t first, std::size_t size) {
    if constexpr (std::is_same_v<Element, std::string>) {
      return {*column_, first, size};
    } else {
      static_assert(sizeof(Element) == sizeof(Stored));
      return {reinterpret_cast<Element*>(column_->data() + first), size};
    }
  }

 private:
  Column<Stored>* column_ = nullptr;
};

// ---- indexes ------------------------------------------------------------------------------------

template <class T>
inline constexpr bool is_time = false;
template <class Rep, class Period>
inline constexpr bool is_time<std::chrono::duration<Rep, Period>> = true;
template <class Duration>
inline constexpr bool is_time<std::chrono::sys_time<Duration>> = true;

// True if a value can be one of a search key, for a field of type T.
template <class T, class Value>
constexpr bool takes_key_value() {
  using Setter = typename Field_Traits<T>::Setter;
  using Present = typename Without_Optional<Setter>::type;
  if constexpr (std::is_floating_point_v<typename Without_Optional<Value>::type> &&
                std::is_integral_v<Present>)
    return false;
  else if constexpr (is_time<Present> && std::is_convertible_v<const Value&, No_Narrowing<Present>>)
    return true;
  else
    return std::is_convertible_v<const Value&, Setter>;
}

// Converts a value to one of a search key, as a setter does, but also a number that is not known at
// compile time. Throws Data_Error if it is not a value of the field.
template <class T, class Value>
typename Field_Traits<T>::Setter to_key_value(const Value& value) {
  using Present = typename Without_Optional<typename Field_Traits<T>::Setter>::type;
  if constexpr (is_optional_type<Value>) {
    if (!value) return std::nullopt;
    return to_key_value<T>(*value);
  } else if constexpr (is_time<Present> &&
                       std::is_convertible_v<const Value&, No_Narrowing<Present>>) {
    return Present(No_Narrowing<Present>(value));
  } else if constexpr (std::is_arithmetic_v<Present> &&
                       std::is_convertible_v<const Value&, Present>) {
    if constexpr (std::is_integral_v<Present> && std::is_integral_v<Value>)
      if (!fits<Present>(value)) throw_out_of_range(std::to_string(value));
    return static_cast<Present>(value);
  } else {
    return value;
  }
}

// The parameter of a search for a field of numbers that may be missing, or of times.
template <class T>
class Key_Value {
  using Setter = typename Field_Traits<T>::Setter;

 public:
  Key_Value() = default;
  template <class Value>
  requires(!std::is_same_v<Value, Key_Value> && takes_key_value<T, Value>())
      Key_Value(const Value& value)
      : value_(to_key_value<T>(value)) {}
  operator Setter() const { return value_; }

 private:
  Setter value_{};
};

template <class T>
struct Search_Value {
  using Setter = typename Field_Traits<T>::Setter;
  using Present = typename Without_Optional<Setter>::type;
  static constexpr bool is_checked =
      is_time<Present> || (is_optional_type<Setter> && std::is_arithmetic_v<Present>);
  using type = std::conditional_t<is_checked, Key_Value<T>, Setter>;
};

// A copy of the first values of a key, or of all of them. Ordered like the index.
template <std::size_t field_count>
class Key_Copy {
 public:
  Key_Copy() = default;
  explicit Key_Copy(Key key) : size_(key.size()) {
    for (std::size_t i = 0; i < size_; ++i) parts_[i] = {key[i].number, std::string(key[i].text)};
  }
  // Negative if the copy is before the key, or positive, or 0; only the values that both have
  // count.
  int compare(Key key) const {
    for (std::size_t i = 0; i < std::min(size_, key.size()); ++i) {
      if (parts_[i].number != key[i].number) return parts_[i].number < key[i].number ? -1 : 1;
      if (const int order = std::string_view(parts_[i].text).compare(key[i].text)) return order;
    }
    return 0;
  }
  // Returns the values, which `parts` holds. They refer to the texts of this object.
  Key view(std::array<Key_Part, field_count>& parts) const {
    for (std::size_t i = 0; i < size_; ++i) parts[i] = {parts_[i].number, parts_[i].text};
    return Key(parts.data(), size_);
  }
  friend bool operator<(const Key_Copy& a, const Key_Copy& b) {
    return std::lexicographical_compare(a.parts_.begin(), a.parts_.end(), b.parts_.begin(),
                                        b.parts_.end(), [](const Part& x, const Part& y) {
                                          return std::tie(x.number, x.text) <
                                                 std::tie(y.number, y.text);
                                        });
  }

 private:
  struct Part {
    std::uint64_t number = 0;
    std::string text;
  };
  std::array<Part, field_count> parts_;
  std::size_t size_ = 0;
};

// The keys between two ends, both included. An end without values is open; one with fewer values
// than the index has fields includes all keys that begin with them.
template <std::size_t field_count>
class Key_Range {
 public:
  Key_Range(Key from, Key to) : from_(from), to_(to) {}
  bool has(Key key) const { return from_.compare(key) <= 0 && !is_before(key); }
  // Returns the first end, of which `parts` holds the values.
  Key first(std::array<Key_Part, field_count>& parts) const { return from_.view(parts); }
  // True if the range ends before the key.
  bool is_before(Key key) const { return to_.compare(key) < 0; }

 private:
  Key_Copy<field_count> from_, to_;
};

// The records with one key, in the order of their ids. Holds a copy of the key. A loop may change
// or delete the records that it visits: it continues with the next record that has the key at that
// time. A range is valid as long as the addresses of tables, so not after a rollback.
template <class Id, std::size_t field_count>
class Index_Range {
 public:
  using Parts = std::array<Key_Part, field_count>;

  Index_Range(const Index& index, Parts key) : index_(&index), key_(key) {
    std::string text;
    for (const Key_Part& part : key) text += part.text;
    if (text.empty()) return;
    // Copies of the range share the text.
    text_ = std::make_shared<const std::string>(std::move(text));
    std::size_t start = 0;
    for (Key_Part& part : key_) {
      part.text = std::string_view(*text_).substr(start, part.text.size());
      start += part.text.size();
    }
  }

  class iterator : public Id_Iterator<iterator, Id> {
   public:
    using Id_Iterator<iterator, Id>::operator++;

    iterator() = default;
    iterator(const Index_Range& range, Index::Cursor cursor) : range_(&range), cursor_(cursor) {}
    Id operator*() const { return Id(cursor_.record()); }
    iterator& operator++() {
      cursor_ = range_->index_->next_with(range_->key_, cursor_);
      return *this;
    }
    friend bool operator==(const iterator& a, const iterator& b) { return a.cursor_ == b.cursor_; }

   private:
    const Index_Range* range_ = nullptr;
    Index::Cursor cursor_;
  };

  // The range must outlive its iterators.
  iterator begin() const {
    const Record_Id first = index_->find(key_);
    return first.is_null() ? end() : iterator(*this, index_->at(first));
  }
  iterator end() const { return {*this, index_->end()}; }
  bool empty() const { return index_->find(key_).is_null(); }
  // Takes time linear in the result, because it counts.
  std::size_t size() const { return static_cast<std::size_t>(std::distance(begin(), end())); }

 private:
  const Index* index_;
  Parts key_;
  std::shared_ptr<const std::string> text_;
};

// The records of a table in the order of some fields, with the interface of a std::map or
// std::multimap: for (const auto& [name, city] : db.get_index_of_city_by_name()) … With several
// fields, keys are tuples.
//
// Iterators stay valid when the index changes. An iterator continues from the current place of its
// record; if the record was deleted, from the key that the record had. So a loop that gives records
// larger keys visits them again. A step throws Exception if the record was deleted and its id has
// been reused. Iterators refer to this object, and are invalid after a rollback.
//
// A record is in the index from the first update of its key fields until it is deleted; in a unique
// index, from the first update of the key field that was added last (table/index.h).
template <class Id, class... Fields>
class Typed_Index {
  static constexpr bool has_one_field = sizeof...(Fields) == 1;
  template <class... T>
  struct Key_Of {
    using type = std::tuple<T...>;
  };
  template <class T>
  struct Key_Of<T> {
    using type = T;
  };

 public:
  using key_type = typename Key_Of<typename Fields::Getter...>::type;
  using mapped_type = Id;
  using value_type = std::pair<key_type, Id>;
  using Range = Index_Range<Id, sizeof...(Fields)>;
  // The type of a search key: strings are std::string_views.
  using Wanted = typename Key_Of<typename Fields::Setter...>::type;
  // The parameter type of searches. It converts to Wanted.
  using Given = typename Key_Of<typename Search_Value<typename Fields::Value>::type...>::type;
  using Keys = Key_Range<sizeof...(Fields)>;
  using Stored_Key = Key_Copy<sizeof...(Fields)>;

  // The values of the first fields of a key: none, some, or all. Refers to the strings.
  class Prefix {
    template <class... Values>
    static constexpr bool are_values() {
      using Taken = std::tuple<std::type_identity<typename Fields::Value>...>;
      if constexpr (sizeof...(Values) > sizeof...(Fields)) {
        return false;
      } else {
        return []<std::size_t... i>(std::index_sequence<i...>) {
          return (takes_key_value<typename std::tuple_element_t<i, Taken>::type, Values>() && ...);
        }
        (std::index_sequence_for<Values...>());
      }
    }

   public:
    Prefix() = default;
    // Throws Data_Error if a number, a time or a date is not a value of its field.
    template <class... Values>
    requires(are_values<Values...>()) Prefix(const Values&... values) : size_(sizeof...(Values)) {
      [&]<std::size_t... i>(std::index_sequence<i...>) {
        (set<std::tuple_element_t<i, std::tuple<Fields...>>>(parts_[i], values), ...);
      }
      (std::index_sequence_for<Values...>());
    }
    Prefix(const Wanted& key) requires(!has_one_field)
        : parts_(Typed_Index::parts(key)), size_(sizeof...(Fields)) {}
    Key key() const { return Key(parts_.data(), size_); }

   private:
    template <class Field, class Value>
    static void set(Key_Part& part, const Value& value) {
      using Present = typename Without_Optional<typename Field::Setter>::type;
      if constexpr (std::is_arithmetic_v<Present> || is_time<Present>)
        part = Field::key_part(to_key_value<typename Field::Value>(value));
      else if constexpr (std::is_same_v<Present, Uuid> && std::is_same_v<Value, Uuid>)
        part = joedb::key_part(to_stored<Uuid>(value));  // a std::optional would be a copy
      else
        part = Field::key_part(value);
    }

    std::array<Key_Part, sizeof...(Fields)> parts_ = {};
    std::size_t size_ = 0;
  };

  class iterator {
   public:
    using iterator_category = std::bidirectional_iterator_tag;
    using value_type = Typed_Index::value_type;
    using difference_type = std::ptrdiff_t;
    // A copy of key and id. To change the copy would not change the database. The type is const, so
    // that `for (auto& entry : index)` compiles, as with a std::map.
    using reference = const value_type;
    struct pointer {
      value_type value;
      const value_type* operator->() const { return &value; }
    };

    iterator() = default;
    iterator(const Typed_Index& index, Index::Cursor cursor) : index_(&index), cursor_(cursor) {}
    reference operator*() const {
      return {index_->key(cursor_.record().value()), Id(cursor_.record())};
    }
    pointer operator->() const { return {**this}; }
    iterator& operator++() {
      cursor_.next();
      return *this;
    }
    iterator operator++(int) {
      const iterator old = *this;
      cursor_.next();
      return old;
    }
    iterator& operator--() {
      cursor_.previous();
      return *this;
    }
    iterator operator--(int) {
      const iterator old = *this;
      cursor_.previous();
      return old;
    }
    friend bool operator==(const iterator& a, const iterator& b) { return a.cursor_ == b.cursor_; }

   private:
    friend class Typed_Index;
    const Typed_Index* index_ = nullptr;
    Index::Cursor cursor_;
  };
  using const_iterator = iterator;

  // Visits the largest key first. The visited record may be deleted, because the iterator refers to
  // this record, and not to the record after it like a std::reverse_iterator.
  class reverse_iterator {
   public:
    using iterator_category = std::bidirectional_iterator_tag;
    using value_type = Typed_Index::value_type;
    using difference_type = std::ptrdiff_t;
    using reference = typename iterator::reference;
    using pointer = typename iterator::pointer;

    reverse_iterator() = default;
    explicit reverse_iterator(const iterator& at) : at_(at) {}
    reference operator*() const { return *at_; }
    pointer operator->() const { return at_.operator->(); }
    reverse_iterator& operator++() {
      at_ = at_.index_->before(at_);
      return *this;
    }
    reverse_iterator operator++(int) {
      const reverse_iterator old = *this;
      ++*this;
      return old;
    }
    reverse_iterator& operator--() {
      at_ = base();
      return *this;
    }
    reverse_iterator operator--(int) {
      const reverse_iterator old = *this;
      --*this;
      return old;
    }
    // The place after the record, like the base of a std::reverse_iterator.
    iterator base() const {
      if (at_ == at_.index_->end()) return at_.index_->begin();
      iterator next = at_;
      return ++next;
    }
    friend bool operator==(const reverse_iterator& a, const reverse_iterator& b) {
      return a.at_ == b.at_;
    }

   private:
    iterator at_;
  };
  using const_reverse_iterator = reverse_iterator;

  // The records with keys between two ends, in the order of the index. Holds copies of the ends. A
  // loop may change or delete the records it visits: it continues behind the key that the record
  // had on arrival. Iterators refer to this object.
  class Between {
   public:
    class iterator : public Id_Iterator<iterator, Id> {
     public:
      using Id_Iterator<iterator, Id>::operator++;

      iterator() = default;
      iterator(const Between& range, Index::Cursor cursor) : range_(&range) { arrive(cursor); }
      Id operator*() const { return Id(cursor_.record()); }
      iterator& operator++() {
        const Index& index = *range_->index_->index_;
        std::array<Key_Part, sizeof...(Fields)> parts;
        const Key key = key_.view(parts);
        Index::Cursor next = cursor_;
        if (index.contains(next.record()) &&
            key_.compare(range_->index_->stored_parts(next.record())) == 0) {
          next.next();
        } else {
          next = index.next_with(key, next);
          if (next == index.end()) next = index.upper_bound(key);
        }
        arrive(next);
        return *this;
      }
      friend bool operator==(const iterator& a, const iterator& b) {
        return a.cursor_ == b.cursor_;
      }

     private:
      // Stops if the range ends before the record of the cursor.
      void arrive(const Index::Cursor& cursor) {
        cursor_ = cursor;
        if (cursor_.record().is_null()) return;
        const auto parts = range_->index_->stored_parts(cursor_.record());
        key_ = Stored_Key(parts);
        if (range_->keys_.is_before(parts)) cursor_ = range_->index_->index_->end();
      }
      const Between* range_ = nullptr;
      Index::Cursor cursor_;
      Stored_Key key_;  // that of the record on arrival
    };

    Between(const Typed_Index& index, const Prefix& from, const Prefix& to)
        : index_(&index), keys_(from.key(), to.key()) {}
    iterator begin() const {
      std::array<Key_Part, sizeof...(Fields)> parts;
      return {*this, index_->index_->lower_bound(keys_.first(parts))};
    }
    iterator end() const { return {*this, index_->index_->end()}; }
    bool empty() const { return begin() == end(); }
    // Takes time linear in the result, because it counts.
    std::size_t size() const { return static_cast<std::size_t>(std::distance(begin(), end())); }

   private:
    const Typed_Index* index_;
    Keys keys_;
  };

  // Returns the ids of the records from one key to another one, both included, in the order of the
  // index. {} is an open end, and {value} stands for all keys that begin with the value:
  //   for (const auto book : db.get_index_of_book_by_year().between({1820}, {})) …
  Between between(const Prefix& from, const Prefix& to) const { return {*this, from, to}; }

  // Number of records in the index: records without a key are not counted.
  std::size_t size() const { return index_->size(); }
  bool empty() const { return size() == 0; }
  iterator begin() const { return {*this, index_->begin()}; }
  iterator end() const { return {*this, index_->end()}; }
  reverse_iterator rbegin() const { return reverse_iterator(before(end())); }
  reverse_iterator rend() const { return reverse_iterator(end()); }

  // Returns the record with the smallest id that has this key, or end(). Takes logarithmic time.
  iterator find(const Given& key) const {
    const Record_Id found = index_->find(parts(key));
    return found.is_null() ? end() : iterator(*this, index_->at(found));
  }
  bool contains(const Given& key) const { return index_->find(parts(key)).is_not_null(); }
  // Number of records with this key. Takes time linear in the result.
  std::size_t count(const Given& key) const { return range(key).size(); }
  // lower_bound returns the first record whose key is not less than `key`; upper_bound returns the
  // first record whose key is greater.
  iterator lower_bound(const Given& key) const { return {*this, index_->lower_bound(parts(key))}; }
  iterator upper_bound(const Given& key) const { return {*this, index_->upper_bound(parts(key))}; }
  std::pair<iterator, iterator> equal_range(const Given& key) const {
    return {lower_bound(key), upper_bound(key)};
  }

  // ---- for generated code

  // Returns the values of a key in the form that the index compares. Texts are not copied.
  static std::array<Key_Part, sizeof...(Fields)> parts(const Wanted& key) {
    if constexpr (has_one_field)
      return {Fields::key_part(key)...};
    else
      return std::apply(
          [](const auto&... value) {
            return std::array<Key_Part, sizeof...(Fields)>{Fields::key_part(value)...};
          },
          key);
  }
  // Returns the values of a record in that form.
  std::array<Key_Part, sizeof...(Fields)> stored_parts(Record_Id record) const {
    return std::apply(
        [&](const auto&... field) {
          return std::array<Key_Part, sizeof...(Fields)>{field.stored_key_part(record.value())...};
        },
        fields_);
  }
  void bind(Database& database, std::string_view name) {
    index_ = database.find_index(name);
    Table& table = database.table(index_->definition().table);
    std::apply([&](auto&... field) { (field.bind(table), ...); }, fields_);
  }
  // Returns the record with the smallest id that has this key; null if there is none.
  Id first(const Wanted& key) const { return Id(index_->find(parts(key))); }
  Range range(const Wanted& key) const { return {*index_, parts(key)}; }
  // The next and the previous record in key order; null if there is none, or if the record is not
  // in the index.
  Id next(Id id) const { return neighbour(id, &Index::Cursor::next); }
  Id previous(Id id) const {
    return index_->begin().record() == id.get_record_id() ? Id()
                                                          : neighbour(id, &Index::Cursor::previous);
  }

 private:
  // Returns the record before `i`, or end() if there is none.
  iterator before(iterator i) const { return i.cursor_.move_back() ? i : end(); }
  Id neighbour(Id id, void (Index::Cursor::*move)()) const {
    if (!index_->contains(id.get_record_id())) return Id();
    Index::Cursor cursor = index_->at(id.get_record_id());
    (cursor.*move)();
    return Id(cursor.record());
  }
  key_type key(index_t id) const {
    return std::apply([&](const auto&... field) { return key_type(field.get(id)...); }, fields_);
  }

  const Index* index_ = nullptr;
  std::tuple<Fields...> fields_;
};

// ---- the database -------------------------------------------------------------------------------

// A field of a schema whose type was changed (retype_field): an upgrade gives the values of the
// field `from` to the field `to`. `before` and `after` are their logical types; empty: plain.
struct Retyped_Field {
  Table_Id table;
  Field_Id from, to;
  std::string_view before, after;
};

// The schema of a program, as generated by joedbc. The strings are literals of the generated code.
struct Program_Schema {
  std::string_view name;              // the namespace; prefix of messages
  std::string_view entries;           // the schema as encoded journal entries
  std::string_view initial_values;    // encoded updates of record 0: the values for new fields
  std::vector<Table_Id> single_rows;  // tables that must have record 0 and no other record
  std::vector<Index_Definition> indexes;
  bool has_timestamps = false;  // true if checkpoints write time stamps
  bool has_no_marks = false;    // true if transactions end as in joedb 10, without an entry
  // The comments that declare logical types (Database::declarations).
  std::vector<std::string_view> declarations = {};
  std::vector<Retyped_Field> retyped = {};
};

// Base of the generated class Database: the tables, read only. The generated Readonly_Database and
// Writable_Database derive from it.
class Typed_Database {
 public:
  Typed_Database() = default;
  Typed_Database(const Typed_Database&) = delete;
  Typed_Database& operator=(const Typed_Database&) = delete;

  // The content with the schema at run time, for code that works with any schema. The reference is
  // valid for the lifetime of this object. Addresses of tables change when a transaction or a
  // rollback rebuilds the tables.
  const Database& get_untyped() const { return *engine_; }

 protected:
  // A program may own a File_Database through a pointer to a Writable_Database.
  virtual ~Typed_Database() = default;

  void bind(Database& engine) {
    engine_ = &engine;
    if (observer_) engine.set_observer(observer_.get());
  }
  // Sets the file of the database, which is needed to read the history. `file` must outlive this
  // object.
  void set_file(Abstract_File& file) { file_ = &file; }
  // Throws Exception if the database has no file: a Readonly_Database does not keep its file.
  Abstract_File& file() const {
    if (file_ == nullptr)
      throw Exception(
          "a Readonly_Database reads its file once, and then does not know it any more; open it "
          "with a Readonly_Client to read its history");
    return *file_;
  }

  // The observer of changes; null if there is none.
  std::shared_ptr<Change_Observer>& observer() const { return observer_; }
  Database& engine() const { return *engine_; }
  // Calls the functions of observers for the changes before the checkpoint.
  void notify_observers(Offset checkpoint) const {
    if (const auto observer = observer_) observer->notify(checkpoint);
  }

  // Returns all records of the table, sorted by is_before(a, b); equal records stay in insertion
  // order.
  template <class Table_Type, class Compare>
  static std::vector<typename Table_Type::Id> sorted(const Table_Type& table, Compare is_before) {
    const auto records = table.records_in_order();
    std::vector<typename Table_Type::Id> ids(records.begin(), records.end());
    std::stable_sort(ids.begin(), ids.end(), is_before);
    return ids;
  }

 private:
  Database* engine_ = nullptr;
  Abstract_File* file_ = nullptr;
  mutable std::shared_ptr<Change_Observer> observer_;
};

}  // namespace joedb::inline v1

#endif
