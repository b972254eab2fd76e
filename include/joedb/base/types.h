#ifndef JOEDB_BASE_TYPES_H
#define JOEDB_BASE_TYPES_H

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

// Positions in a file, and functions that load and store numbers.

namespace joedb::inline v1 {

// A position in a file, in bytes from the start of the file; or a number of bytes.
using Offset = std::int64_t;

// The position and size of a blob in a file. A Blob does not contain the bytes of the blob, and is
// not checked against a file. Writable_Journal::append_blob writes a blob; Abstract_File::read_blob
// and Blob_Reader read it.
//
// A Blob with position 0, such as a default-constructed Blob, is null: no blob can be at position
// 0, because the header of the file is there. An empty blob is not null. Two blobs are equal if
// their positions and sizes are equal. Blobs are ordered by position.
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

// The numbers in joedb files are little-endian. Vectors of numbers are copied between file and
// memory without conversion.
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
