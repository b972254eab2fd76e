#ifndef JOEDB_HISTORY_VALUES_H
#define JOEDB_HISTORY_VALUES_H

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "joedb/table/column.h"

namespace joedb::inline v1 {

// A value of one of the ten types, in the order of their codes. A string is a view.
using Value = std::variant<std::string_view, std::int32_t, std::int64_t, Record_Id, bool, float,
                           double, std::int8_t, std::int16_t, Blob>;

inline Type_Code type_of(const Value& value) { return static_cast<Type_Code>(value.index() + 1); }

// True if both have the same type and the same bits: a NaN is the same as itself, and 0.0 is not
// the same as -0.0.
bool is_same(const Value& a, const Value& b);

// Values of one type, copied from a column. They take as much memory as in the column, but none for
// long runs of default values, and none outside this object for a single value of at most 8 bytes.
// Copyable; views stay valid until the object changes.
class Values {
 public:
  Values() = default;
  explicit Values(Type_Code type) : type_(type) {}
  // `size` default values.
  Values(Type_Code type, index_t size) : type_(type) { append_defaults(size); }

  Type_Code type() const { return type_; }
  index_t size() const { return size_; }
  bool is_empty() const { return size_ == 0; }

  // Require 0 <= i < size(). get() requires that T is the type of the values.
  Value operator[](index_t i) const;
  template <Field_Value T>
  T get(index_t i) const {
    if constexpr (can_be_single<T>)
      if (parts_.empty()) return single<T>();
    const Part& part = parts_[static_cast<std::size_t>(i / rows_of_part)];
    const auto row = static_cast<std::size_t>(i % rows_of_part);
    if (part.is_default()) return T();
    if constexpr (std::is_same_v<T, std::string_view>) {
      const std::size_t begin = row > 0 ? part.ends[row - 1] : 0;
      return std::string_view(part.bytes).substr(begin, part.ends[row] - begin);
    } else if constexpr (std::is_same_v<T, bool>) {
      return part.bytes[row] != 0;  // a snapshot can have bytes that no bool has
    } else {
      return load<T>(part.bytes.data() + row * sizeof(T));
    }
  }

  // The append functions throw std::bad_alloc. The types must be the same.
  void append(const Value& value);
  // Appends rows [first, first + size) of a column, which must have them.
  void append(const Column_Base& column, index_t first, index_t size);
  // Appends values [first, first + size) of another object.
  void append(const Values& other, index_t first, index_t size);
  void append_defaults(index_t size);

  // True if values [first, first + size) have the same bits as rows [row, row + size) of a column
  // of the same type, which must have them. Fast where both are default values.
  bool is_same(index_t first, index_t size, const Column_Base& column, index_t row) const;
  // Returns the approximate memory of the values, in bytes.
  std::size_t memory() const;

  friend bool operator==(const Values& a, const Values& b);

 private:
  // Consecutive values. For strings: the concatenated texts, and the end of each of them. Both
  // members are empty while all values are default values.
  struct Part {
    std::string bytes;
    std::vector<std::size_t> ends;
    bool is_default() const { return bytes.empty() && ends.empty(); }
  };
  static constexpr index_t rows_of_part = 4096;

  // A single value of such a type is stored in single_, and there are no parts: most changes have
  // one value.
  template <Field_Value T>
  static constexpr bool can_be_single =
      !std::is_same_v<T, std::string_view> && sizeof(T) <= sizeof(std::uint64_t);
  template <Field_Value T>
  T single() const {
    return load<T>(reinterpret_cast<const char*>(&single_));
  }

  // Requires size() == 1 and no parts.
  void move_single_to_part();
  template <Field_Value T>
  void append_one(T value);
  template <Field_Value T>
  bool is_same_part(const Part& part, index_t row_of_part, index_t size, const Column<T>& column,
                    index_t row) const;

  // Calls f(part, rows, room) until `size` more values are appended. `part` has `rows` values; f
  // must append `room` values to it.
  template <class F>
  void append_in_parts(index_t size, F f);
  template <Field_Value T>
  static void append_value(Part& part, index_t rows, T value);

  Type_Code type_ = Type_Code::none;
  index_t size_ = 0;
  std::uint64_t single_ = 0;  // bytes of the value, padded with zeros
  std::vector<Part> parts_;
};

}  // namespace joedb::inline v1

#endif
