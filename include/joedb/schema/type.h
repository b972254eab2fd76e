#ifndef JOEDB_SCHEMA_TYPE_H
#define JOEDB_SCHEMA_TYPE_H

#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iosfwd>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "joedb/base/types.h"

namespace joedb::inline v1 {

// A record number in a table, or a count of records.
using index_t = std::ptrdiff_t;

// The id of a table, or of a field in its table: 1 … 65535, in order of creation. A
// default-constructed id is null and has the value 0. Ids are never reused after a drop.
template <class Tag>
class Small_Id {
 public:
  constexpr Small_Id() = default;
  constexpr explicit Small_Id(std::uint16_t value) : value_(value) {}
  constexpr std::uint16_t value() const { return value_; }
  constexpr bool is_null() const { return value_ == 0; }
  friend constexpr auto operator<=>(Small_Id, Small_Id) = default;
  // Prints the number. Include <ostream>.
  template <class Char, class Traits>
  friend std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& out,
                                                      Small_Id id) {
    return out << id.value();
  }

 private:
  std::uint16_t value_ = 0;
};

using Table_Id = Small_Id<struct Table_Tag>;
using Field_Id = Small_Id<struct Field_Tag>;

// A row number in a table, counted from 0. A default-constructed id is null and has the value -1.
//
// Ids of records are 0 or greater, but a Record_Id can hold any value. Only -1 is null; other
// negative values, such as the end of a list of records, are not null. Null is less than the id of
// any record.
//
// The id is stored as value + 1, as in the file, so that null is all zero bytes: a newly allocated
// column of references needs no initialisation.
class Record_Id {
 public:
  constexpr Record_Id() = default;
  constexpr explicit Record_Id(index_t value) : plus_one_(static_cast<std::uint64_t>(value) + 1) {}

  constexpr index_t value() const { return static_cast<index_t>(plus_one_ - 1); }
  constexpr index_t get_id() const { return value(); }
  constexpr bool is_null() const { return plus_one_ == 0; }
  constexpr bool is_not_null() const { return plus_one_ != 0; }
  // Returns the id of record number n in a vector that starts at this record.
  constexpr Record_Id operator+(index_t n) const { return Record_Id(value() + n); }

  friend constexpr bool operator==(Record_Id, Record_Id) = default;
  friend constexpr auto operator<=>(Record_Id a, Record_Id b) { return a.value() <=> b.value(); }
  // Prints the number, -1 for null. Include <ostream>.
  template <class Char, class Traits>
  friend std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& out,
                                                      Record_Id id) {
    return out << id.value();
  }

 private:
  std::uint64_t plus_one_ = 0;
};

// The types of fields, by their codes in the file. Other codes are invalid.
enum class Type_Code : std::uint8_t {
  none = 0,  // not the type of a field; marks a dropped field
  // At most 4294967295 bytes, which may have any values, including zero.
  string = 1,
  int32 = 2,
  int64 = 3,
  // A record of one table, or null. The record need not exist.
  reference = 4,
  boolean = 5,
  // IEEE 754.
  float32 = 6,
  float64 = 7,
  int8 = 8,
  int16 = 9,
  // The position and size of bytes in the journal file.
  blob = 10,
};
inline constexpr int type_count = 10;

// The type of a field. `referenced` is null unless the code is `reference`.
struct Type {
  Type_Code code = Type_Code::none;
  Table_Id referenced;
  friend bool operator==(const Type&, const Type&) = default;
};

// What the values of a field mean beyond their stored type: the logical type, as Arrow and Parquet
// call it. docs/file_format.md describes the comments that declare it.
struct Logical_Type {
  enum class Kind : std::uint8_t {
    plain,        // the values mean what their stored type says
    boolean,      // int8: 0 or 1
    date,         // int32: days since 1970-01-01
    timestamp,    // int64: time since 1970, UTC, in units of 10^-scale seconds
    duration,     // int64, in the same units
    decimal,      // int64: the value times 10^scale
    enumeration,  // int8 or int16: the place of a name in `names`
    bytes,        // string: bytes that are no text
    uuid,         // string of 16 bytes
    json,         // string: JSON in UTF-8
  };

  // What happens to a reference when the record that it refers to is deleted.
  enum class On_Delete : std::uint8_t {
    keep,     // nothing: it stays, and refers to no record
    clear,    // it becomes null
    cascade,  // its record is deleted, too
    refuse,   // the deletion is refused, unless the record of the reference is deleted, too
  };

  Kind kind = Kind::plain;
  // timestamp and duration: 0 (seconds), 3, 6 or 9 (nanoseconds); decimal: 0 … 18.
  std::uint8_t scale = 0;
  // One value of the stored type means that there is no value (missing_value).
  bool is_optional = false;
  std::vector<std::string> names{};       // enumeration: identifiers, all different
  On_Delete on_delete = On_Delete::keep;  // only for references

  bool is_plain() const {
    return kind == Kind::plain && !is_optional && on_delete == On_Delete::keep;
  }
  // True if values are those of the stored type.
  bool has_plain_values() const { return kind == Kind::plain && !is_optional; }
  friend bool operator==(const Logical_Type&, const Logical_Type&) = default;
};

// A Logical_Type that is not plain; null means plain.
using Shared_Logical_Type = std::shared_ptr<const Logical_Type>;
inline const Logical_Type& get(const Shared_Logical_Type& type) {
  static const Logical_Type plain;
  return type ? *type : plain;
}

// The code of the field type whose values have type T in journal entries: for example,
// code_of<std::int32_t> == Type_Code::int32. Strings are std::string_views, and references are
// Record_Ids. The code is none if T is not the type of such values.
template <class T>
inline constexpr Type_Code code_of = Type_Code::none;
template <>
inline constexpr Type_Code code_of<std::string_view> = Type_Code::string;
template <>
inline constexpr Type_Code code_of<std::int32_t> = Type_Code::int32;
template <>
inline constexpr Type_Code code_of<std::int64_t> = Type_Code::int64;
template <>
inline constexpr Type_Code code_of<Record_Id> = Type_Code::reference;
template <>
inline constexpr Type_Code code_of<bool> = Type_Code::boolean;
template <>
inline constexpr Type_Code code_of<float> = Type_Code::float32;
template <>
inline constexpr Type_Code code_of<double> = Type_Code::float64;
template <>
inline constexpr Type_Code code_of<std::int8_t> = Type_Code::int8;
template <>
inline constexpr Type_Code code_of<std::int16_t> = Type_Code::int16;
template <>
inline constexpr Type_Code code_of<Blob> = Type_Code::blob;

// The ten types of values.
template <class T>
concept Field_Value = code_of<T>
!= Type_Code::none;

// The stored value that means that an optional field has no value: the smallest integer, but -1 for
// a boolean, which is stored as an int8; a nan; the text of the one byte 0xff; null.
template <Field_Value T>
constexpr T missing_value(bool is_boolean) {
  if constexpr (std::is_same_v<T, std::string_view>)
    return "\xff";
  else if constexpr (std::is_floating_point_v<T>)
    return std::numeric_limits<T>::quiet_NaN();
  else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
    return is_boolean ? T(-1) : std::numeric_limits<T>::min();
  else
    return T();
}
// True for this value, and for every nan. Fields of bool and Blob cannot be optional.
template <Field_Value T>
constexpr bool is_missing_value(T value, bool is_boolean) {
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, Blob>)
    return false;
  else if constexpr (std::is_floating_point_v<T>)
    return value != value;
  else
    return value == missing_value<T>(is_boolean);
}

// True if values of type T have the same sizeof(T) bytes in the file and in memory. This is so for
// numbers (little-endian) and booleans (one byte, 0 or 1). The other types have a compact form of
// variable length in the file.
template <class T>
inline constexpr bool has_fixed_size = std::is_arithmetic_v<T>;

// Calls f(std::type_identity<T>()) with the value type T of `code`, and returns its result, whose
// type must be the same for all T. Aborts the program if `code` is none or not an enumerator.
template <class F>
decltype(auto) visit_type(Type_Code code, F&& f) {
  switch (code) {
    case Type_Code::string:
      return f(std::type_identity<std::string_view>());
    case Type_Code::int32:
      return f(std::type_identity<std::int32_t>());
    case Type_Code::int64:
      return f(std::type_identity<std::int64_t>());
    case Type_Code::reference:
      return f(std::type_identity<Record_Id>());
    case Type_Code::boolean:
      return f(std::type_identity<bool>());
    case Type_Code::float32:
      return f(std::type_identity<float>());
    case Type_Code::float64:
      return f(std::type_identity<double>());
    case Type_Code::int8:
      return f(std::type_identity<std::int8_t>());
    case Type_Code::int16:
      return f(std::type_identity<std::int16_t>());
    case Type_Code::blob:
      return f(std::type_identity<Blob>());
    case Type_Code::none:
      break;
  }
  std::abort();
}

// Returns the name of a type in the syntax of joedbi: "string", "int32", …. The name of a reference
// is "references", without the name of the table; the name of `none` is "none". The text is static.
// Requires an enumerator.
std::string_view type_name(Type_Code code);

// Returns the type with this name (type_name); none if no type of a field has this name.
Type_Code type_named(std::string_view name);

// True if `name` is valid for a table or field: one or more ASCII letters, digits and underscores,
// without two underscores in a row, and without a digit at the start. Its length is not limited.
bool is_identifier(std::string_view name);

}  // namespace joedb::inline v1

template <class Tag>
struct std::hash<joedb::Small_Id<Tag>> {
  std::size_t operator()(joedb::Small_Id<Tag> id) const noexcept { return id.value(); }
};
template <>
struct std::hash<joedb::Record_Id> {
  std::size_t operator()(joedb::Record_Id id) const noexcept {
    return static_cast<std::size_t>(id.value());
  }
};

#endif
