#ifndef JOEDB_TABLE_TYPED_VALUES_H
#define JOEDB_TABLE_TYPED_VALUES_H

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "joedb/base/error.h"
#include "joedb/table/column.h"

// The parameter type of generated functions for fields of numbers or booleans: no conversion
// changes a value.

namespace joedb::inline v1 {

// Throws Data_Error: the value does not fit into a field of type int64.
[[noreturn]] void throw_above_int64(std::uint64_t value);

// Integers, floating-point numbers, booleans, and enumerations that convert to integers.
template <class T>
concept Convertible_Number = (std::is_arithmetic_v<T> || std::is_enum_v<T>)&&requires(T value) {
  +value;
};

// True if all values of one type are values of the other type.
template <class From, class To>
constexpr bool has_all_values_of() {
  using F = std::numeric_limits<From>;
  using T = std::numeric_limits<To>;
  if constexpr (F::is_integer)  // also to a floating-point type with enough digits
    return F::digits <= T::digits && (!F::is_signed || T::is_signed);
  else
    return !T::is_integer && F::digits <= T::digits && F::max_exponent <= T::max_exponent;
}
// An enumeration has the values of its underlying type, and of the type to which it is promoted.
template <class From, class To>
constexpr bool always_fits() {
  if constexpr (std::is_enum_v<From>)
    return has_all_values_of<std::underlying_type_t<From>, To>() ||
           has_all_values_of<decltype(+From()), To>();
  else
    return has_all_values_of<From, To>();
}

// True if the conversion does not change the value, or, from one floating-point type to another, if
// the value is in range: 0.1 fits into a float.
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

// A type with only values that are values of T.
template <class From, class T>
concept Widening = Convertible_Number<From> && always_fits<From, T>();

// A 64-bit unsigned integer, for example a size, for a signed one.
template <class From, class T>
concept Large_Size =
    std::is_unsigned_v<From> && sizeof(From) == sizeof(T) && std::is_same_v<T, std::int64_t>;

template <class From, class T>
concept Maybe_Narrowing = Convertible_Number<From> && !Widening<From, T> && !Large_Size<From, T>;

// An object with a conversion, for example an element of std::vector<bool>, under the rules of
// brace initialization.
template <class From, class T>
concept Converting_Object = std::is_class_v<std::remove_cvref_t<From>> &&
    std::is_convertible_v<From, T> && requires(From from) {
  T{std::forward<From>(from)};
};

// A value of type T that no conversion has changed. It is constructed from
//
//   * values of a type with only values of T: an int for an int64_t or a double, an int8_t for an
//     int;
//   * values known at compile time that are values of T: db.set_age(person, 5) for an int8_t;
//   * 64-bit unsigned integers for an int64_t, for example sizes. A value that does not fit is an
//     error at run time: Data_Error.
//
// Anything else is a compile-time error: an int that is not known at compile time for an int8_t, a
// double for an int. Use a static_cast if the conversion is intended.
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

  // If the compiler reports that `value` is not a constant, use a static_cast if the value fits.
  template <Maybe_Narrowing<T> From>
  consteval No_Narrowing(const From& value) : value_(static_cast<T>(value)) {
    if (!fits<T>(value)) the_value_does_not_fit();
  }

  template <Converting_Object<T> From>
  constexpr No_Narrowing(From&& value) : value_{std::forward<From>(value)} {}

  constexpr operator T() const { return value_; }

 private:
  // Not constexpr, so that calling it is the compile-time error.
  static void the_value_does_not_fit() {}

  T value_{};
};

// The values of consecutive records in a column, to be read and written in place: the argument of
// the function that update_vector_of_FIELD calls (typed_writer.h). Element i belongs to record
// first + i. Values of records that are not in use can be written, too.
//
// Valid until that function returns. A copy refers to the same values. Ranges are not checked.
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

// One string of a column: assign to it, or read it as a String. It refers to the column and the
// record, not to the text. Like the Span it comes from, it is valid while the vector is updated.
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

  // Valid until the next assignment to a string of this column; a std::string is a copy.
  String get() const { return column_.get(id_); }
  operator String() const { return get(); }
  operator std::string() const { return get(); }
  friend bool operator==(const String_Reference& a, std::string_view b) { return a.get() == b; }

 private:
  Column<std::string_view>& column_;
  index_t id_;
};

// The same for strings: name[i] = "text". Elements are String_References. There is no data(),
// because texts are not contiguous. Iterators refer to the Span, which must outlive them.
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

}  // namespace joedb::inline v1

#endif
