#ifndef JOEDB_BASE_BLOB_H
#define JOEDB_BASE_BLOB_H

#include <cstdint>

namespace joedb::inline v1 {

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

}  // namespace joedb::inline v1

#endif
