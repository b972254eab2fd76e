#ifndef JOEDB_SCHEMA_TYPE_H
#define JOEDB_SCHEMA_TYPE_H

#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <type_traits>
#include <utility>

#include "joedb/base/blob.h"
#include "joedb/base/ids.h"

namespace joedb::inline v1 {

// The types of fields, by their codes in the file.
enum class Type_Code : std::uint8_t {
  none = 0,  // no field has this type; used for a dropped one
  string = 1,
  int32 = 2,
  int64 = 3,
  reference = 4,
  boolean = 5,
  float32 = 6,
  float64 = 7,
  int8 = 8,
  int16 = 9,
  blob = 10,
};
inline constexpr int type_count = 10;

// The type of a field. `referenced` is null unless the code is `reference`.
struct Type {
  Type_Code code = Type_Code::none;
  Table_Id referenced;
  friend bool operator==(const Type&, const Type&) = default;
};

// The type of a field whose values are T, as journal entries carry them:
// code_of<std::int32_t> == Type_Code::int32.
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

template <class T>
concept Field_Value = code_of<T>
!= Type_Code::none;

// Values that stand in the file as they do in memory, with a fixed number of bytes.
template <class T>
inline constexpr bool has_fixed_size = std::is_arithmetic_v<T>;

// Calls f(std::type_identity<T>()) with the value type of `code`, which must not be none.
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

// As users write them: "string", "int32", …; "references" for a reference, which is followed by a
// table.
std::string_view type_name(Type_Code code);

// The inverse; none if there is no such type.
Type_Code type_named(std::string_view name);

// Tables and fields have names of ASCII letters, digits and single underscores, and do not start
// with a digit.
bool is_identifier(std::string_view name);

}  // namespace joedb::inline v1

#endif
