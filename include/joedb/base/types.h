#ifndef JOEDB_BASE_TYPES_H
#define JOEDB_BASE_TYPES_H

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

// Places in a file, and the bytes of numbers there.

namespace joedb::inline v1 {

// A position in a file, in bytes from its start; or a number of bytes.
using Offset = std::int64_t;

// The place of a blob in a file: the offset of its first byte, and the number of its bytes. A Blob
// does not contain the bytes, and is not checked against a file: Writable_Journal::append_blob
// makes valid blobs, Abstract_File::read_blob and Blob_Reader read them.
//
// A blob with position 0, such as a default-constructed blob, is null: no blob can be at position
// 0, because the header of the file is there. An empty blob has a position, too. Two blobs are
// equal if both numbers are equal; they are ordered by position.
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

// Numbers in our files are little-endian, and whole vectors of them are copied to and from
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
