#ifndef JOEDB_BASE_TYPES_H
#define JOEDB_BASE_TYPES_H

#include <bit>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>

// Numbers of records, ids, blobs and texts, and their bytes.

namespace joedb::inline v1 {

// A record number in a table, or a count of records.
using index_t = std::ptrdiff_t;

// A position in a journal file, in bytes from its start; or a number of bytes.
using Offset = std::int64_t;

// The id of a table, or of a field within its table: 1 … 65535, in order of creation. 0, the value
// of a default-constructed id, is null. Ids are never reused after a drop.
template <class Tag>
class Small_Id {
 public:
  constexpr Small_Id() = default;
  constexpr explicit Small_Id(std::uint16_t value) : value_(value) {}
  constexpr std::uint16_t value() const { return value_; }
  constexpr bool is_null() const { return value_ == 0; }
  friend constexpr auto operator<=>(Small_Id, Small_Id) = default;

 private:
  std::uint16_t value_ = 0;
};

using Table_Id = Small_Id<struct Table_Tag>;
using Field_Id = Small_Id<struct Field_Tag>;

// A row number in a table, counted from 0. A default-constructed id is null and has the value -1.
//
// Ids of records are 0 or more, but any value can be stored. Only -1 is null; other negative
// values, such as the end of a list of records, are not. Null is less than any record.
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

 private:
  std::uint64_t plus_one_ = 0;
};

// The place of a blob in the journal file: the offset of its first byte, and the number of its
// bytes. It does not contain the bytes, and is not checked against a file:
// Writable_Journal::append_blob makes valid blobs, Abstract_File::read_blob and Blob_Reader read
// them.
//
// A blob with position 0, such as a default-constructed one, is null: no blob can be there, because
// the header of the file is. An empty blob has a position, too. Two blobs are equal if both numbers
// are equal; they are ordered by position.
class Blob {
 public:
  constexpr Blob() = default;
  constexpr Blob(std::int64_t position, std::int64_t size) : position_(position), size_(size) {}

  constexpr std::int64_t get_position() const { return position_; }
  constexpr std::int64_t get_size() const { return size_; }
  constexpr std::int64_t get_end() const { return position_ + size_; }
  constexpr bool is_null() const { return position_ == 0; }
  constexpr bool is_not_null() const { return position_ != 0; }

  friend constexpr bool operator==(Blob, Blob) = default;
  friend constexpr bool operator<(Blob a, Blob b) { return a.position_ < b.position_; }

 private:
  std::int64_t position_ = 0;
  std::int64_t size_ = 0;
};

// std::filesystem::path, without its header, which is slow to compile.
template <class T>
concept File_Path = std::constructible_from<T, std::string> && requires(const T& path) {
  path.lexically_normal();
  path.root_directory();
};

// A std::string_view that converts to std::string: `std::string s = text;` makes a copy. The
// characters must outlive it, and need not be followed by a zero byte.
class Text_View : public std::string_view {
 public:
  constexpr Text_View() = default;
  constexpr explicit Text_View(std::string_view text) : std::string_view(text) {}

  std::string str() const { return std::string(data(), size()); }
  operator std::string() const { return str(); }
  template <File_Path Path>
  operator Path() const {
    return Path(str());
  }

  // Returns a view of the characters [start, start + count), or to the end. Throws
  // std::out_of_range if start > size().
  constexpr Text_View substr(std::size_t start = 0, std::size_t count = npos) const {
    return Text_View(std::string_view::substr(start, count));
  }

  // As with std::string, the result is a copy.
  friend std::string operator+(std::string a, Text_View b) { return std::move(a.append(b)); }
  friend std::string operator+(Text_View a, const std::string& b) { return a.str().append(b); }
  friend std::string operator+(Text_View a, const char* b) { return a.str().append(b); }
  friend std::string operator+(const char* a, Text_View b) { return std::string(a).append(b); }
  friend std::string operator+(Text_View a, char b) { return a.str().append(1, b); }
  friend std::string operator+(char a, Text_View b) { return std::string(1, a).append(b); }
  friend std::string operator+(Text_View a, Text_View b) { return a.str().append(b); }
};

// A string in a column: a view followed by a zero byte. It is valid until any table of the database
// changes; after that it may show other bytes, or freed memory. To keep the text, copy it:
// `std::string name = db.get_name(id);`, or `const std::string& name = db.get_name(id);`.
class String : public Text_View {
 public:
  constexpr String() : Text_View("") {}
  // The byte at data[size] must be 0.
  constexpr String(const char* data, std::size_t size) : Text_View({data, size}) {}
  // Implicit, so that `is_known ? db.get_name(id) : "unknown"` is a String.
  constexpr String(const char* text) : Text_View(std::string_view(text)) {}
  String(std::nullptr_t) = delete;

  // If the text contains a zero byte, the C string ends there.
  constexpr const char* c_str() const { return data(); }
};

}  // namespace joedb::inline v1

template <>
struct std::hash<joedb::Text_View> : std::hash<std::string_view> {};
template <>
struct std::hash<joedb::String> : std::hash<std::string_view> {};

namespace joedb::inline v1 {

// Numbers in a joedb file are little-endian, and whole vectors of them are copied to and from
// memory.
static_assert(std::endian::native == std::endian::little, "joedb needs a little-endian machine");

// Reads a T from the sizeof(T) bytes at `from`, which need not be aligned.
template <class T>
T load(const char* from) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

// Writes the sizeof(T) bytes of `value` to `to`, which need not be aligned. Returns the end of
// these bytes.
template <class T>
char* store(char* to, T value) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::memcpy(to, &value, sizeof(T));
  return to + sizeof(T);
}

}  // namespace joedb::inline v1

#endif
