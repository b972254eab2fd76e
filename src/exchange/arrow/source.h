#ifndef JOEDB_SRC_EXCHANGE_ARROW_SOURCE_H
#define JOEDB_SRC_EXCHANGE_ARROW_SOURCE_H

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "joedb/arrow/arrow.h"
#include "joedb/base/error.h"
#include "joedb/base/types.h"

namespace joedb::inline v1 {

// The kinds of Arrow columns that can be imported into fields.
enum class Arrow_Kind {
  null,  // every value is null
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  float32,
  float64,
  text,        // 32-bit offsets
  large_text,  // 64-bit offsets
  text_view,
  fixed_bytes,  // of one size
  decimal128,
  blob_place,  // a struct of position and size
};

// The type of a column.
struct Arrow_Column_Type {
  std::string name;
  Arrow_Kind kind = Arrow_Kind::null;  // kind of the values, also with a dictionary
  bool is_bytes = false;               // texts of any bytes
  // For times since 1970 and durations, which are integers in other units: units in a second, or,
  // if negative, seconds in a unit. 0: neither.
  std::int64_t time_units = 0;
  bool is_duration = false;
  bool is_date = false;
  int scale = 0;           // decimal128: digits behind the point
  std::int64_t width = 0;  // fixed_bytes: size of a value
  bool is_uuid = false;    // fixed_bytes
  bool has_dictionary = false;
  Arrow_Kind index = Arrow_Kind::int32;  // kind of the indexes into the dictionary
  std::string joedb_type;                // value of `joedb.type` in the metadata; may be empty

  // Throws Data_Error if no field can hold the type, or if the schema is inconsistent.
  explicit Arrow_Column_Type(const ArrowSchema& schema);
};

// Throws Data_Error unless the schema is a struct and has all its children. Does not check the
// types of the children.
void require_struct(const ArrowSchema& schema);
// Returns the name of a column; empty if the column has no name.
std::string arrow_name(const ArrowSchema& column);

// Maximum length, and maximum offset, of an array. Larger arrays are rejected.
inline constexpr std::int64_t max_arrow_length = std::int64_t{1} << 48;

// Calls f(std::type_identity<T>()), where T is the C++ type of an integer kind. Precondition:
// is_arrow_integer(kind).
template <class F>
decltype(auto) visit_arrow_integer(Arrow_Kind kind, F&& f) {
  switch (kind) {
    case Arrow_Kind::int8:
      return f(std::type_identity<std::int8_t>());
    case Arrow_Kind::int16:
      return f(std::type_identity<std::int16_t>());
    case Arrow_Kind::int32:
      return f(std::type_identity<std::int32_t>());
    case Arrow_Kind::int64:
      return f(std::type_identity<std::int64_t>());
    case Arrow_Kind::uint8:
      return f(std::type_identity<std::uint8_t>());
    case Arrow_Kind::uint16:
      return f(std::type_identity<std::uint16_t>());
    case Arrow_Kind::uint32:
      return f(std::type_identity<std::uint32_t>());
    default:
      return f(std::type_identity<std::uint64_t>());
  }
}
inline bool is_arrow_integer(Arrow_Kind kind) {
  return kind >= Arrow_Kind::int8 && kind <= Arrow_Kind::uint64;
}
// Bytes of any size. See also fixed_bytes.
inline bool is_arrow_text(Arrow_Kind kind) {
  return kind >= Arrow_Kind::text && kind <= Arrow_Kind::text_view;
}

// A checked range of an array. Its offsets and views are known to point into the buffers, as far as
// the interface states the sizes of the buffers. The array and `name` must outlive this object.
class Arrow_Values {
 public:
  // Refers to elements [first, first + size) of the array; the array's own offset is added. `width`
  // is the size of a value, for kind fixed_bytes. Throws Data_Error, whose text contains `name`.
  Arrow_Values(const std::string& name, Arrow_Kind kind, const ArrowArray& array,
               std::int64_t first, std::int64_t size, std::int64_t width = 0);

  std::int64_t size() const { return size_; }
  bool may_have_nulls() const { return validity_ != nullptr || kind_ == Arrow_Kind::null; }
  bool is_null(std::int64_t i) const {
    if (validity_ == nullptr) return kind_ == Arrow_Kind::null;
    return !bit(validity_, first_ + i);
  }
  // Returns the values of a kind of numbers, which may be unaligned; null if there are none.
  template <class T>
  const char* data() const {
    return size_ == 0 ? nullptr : values_ + first_ * std::int64_t{sizeof(T)};
  }
  template <class T>
  T get(std::int64_t i) const {
    return load<T>(values_ + (first_ + i) * std::int64_t{sizeof(T)});
  }
  // Returns half of a value of kind decimal128: the low one, or the high one.
  std::uint64_t half(std::int64_t i, bool is_high) const {
    return load<std::uint64_t>(values_ + (first_ + i) * 16 + (is_high ? 8 : 0));
  }
  bool boolean(std::int64_t i) const { return bit(values_, first_ + i); }
  // Returns a value of any integer kind. A uint64 beyond the range of int64 becomes negative.
  std::int64_t integer(std::int64_t i) const {
    return visit_arrow_integer(kind_, [&]<class T>(std::type_identity<T>) {
      return static_cast<std::int64_t>(get<T>(i));
    });
  }
  // Returns a text, for kinds with offsets of this type. data() of the result is never null.
  template <class Offset_Type>
  std::string_view text(std::int64_t i) const {
    const auto begin = get<Offset_Type>(i);
    const auto end = get<Offset_Type>(i + 1);
    if (begin == end) return "";
    return {texts_ + begin, static_cast<std::size_t>(end - begin)};
  }
  // Returns a text, for kind text_view.
  std::string_view view(std::int64_t i) const;
  // Returns a value of kind fixed_bytes.
  std::string_view fixed(std::int64_t i) const {
    return {values_ + (first_ + i) * width_, static_cast<std::size_t>(width_)};
  }
  // Returns an upper bound in bytes for the texts of a kind with offsets; 0 for other kinds.
  std::int64_t max_text_size() const { return max_text_size_; }

 private:
  static bool bit(const char* bits, std::int64_t i) {
    return (static_cast<unsigned char>(bits[i / 8]) >> (i % 8) & 1) != 0;
  }
  void check_buffers(std::int64_t count);
  template <class Offset_Type>
  void check_offsets();
  void check_views();
  [[noreturn]] void fail(const std::string& what) const;

  const std::string& name_;
  const Arrow_Kind kind_;
  const ArrowArray& array_;
  std::int64_t first_;  // includes the array's own offset
  const std::int64_t size_;
  const std::int64_t width_;
  const char* validity_ = nullptr;
  const char* values_ = nullptr;
  const char* texts_ = nullptr;
  std::int64_t max_text_size_ = 0;
};

// The rows of a column in a batch. If there is a dictionary, values are looked up in it.
class Arrow_Rows {
 public:
  Arrow_Rows(const Arrow_Column_Type& type, const ArrowArray& array, std::int64_t first,
             std::int64_t size);

  std::int64_t size() const { return codes_.size(); }
  bool has_dictionary() const { return values_ != nullptr; }
  const Arrow_Values& values() const { return values_ ? *values_ : codes_; }
  bool may_have_nulls() const {
    return codes_.may_have_nulls() || (values_ && values_->may_have_nulls());
  }
  // Returns the index in values() of the value of a row; -1 if the row is null.
  std::int64_t place(std::int64_t row) const {
    if (codes_.is_null(row)) return -1;
    if (!values_) return row;
    const std::int64_t code = codes_.integer(row);
    return values_->is_null(code) ? -1 : code;
  }
  // The positions and sizes of blobs, for kind blob_place.
  const Arrow_Values& positions() const { return *children_[0]; }
  const Arrow_Values& sizes() const { return *children_[1]; }

 private:
  Arrow_Values codes_;  // indexes into values_; without a dictionary, the values
  std::unique_ptr<Arrow_Values> values_;
  std::unique_ptr<Arrow_Values> children_[2];
};

// Converts a half-float.
float float_of_half(std::uint16_t half);

}  // namespace joedb::inline v1

#endif
