#ifndef JOEDB_IO_BLOB_READER_H
#define JOEDB_IO_BLOB_READER_H

#include "joedb/io/file.h"

namespace joedb::inline v1 {

// Reads a blob sequentially, in pieces of any size. Not thread-safe.
//
//     joedb::Blob_Reader reader(file, blob);
//     while (const std::size_t n = reader.read(buffer, sizeof buffer)) out.write(buffer, n);
class Blob_Reader {
 public:
  // `file` must outlive the reader. A writer must have flushed the blob to it.
  Blob_Reader(const Abstract_File& file, Blob blob)
      : file_(file), position_(blob.get_position()), end_(blob.get_end()) {}

  // Number of bytes not yet read.
  std::int64_t remaining() const { return end_ - position_; }

  // Reads the next `size` bytes, or fewer at the end of the blob, but at most 1 GiB. Returns the
  // number of bytes read: 0 at the end. Throws Corruption_Error if the file ends before the blob
  // does, Io_Error.
  std::size_t read(char* data, std::size_t size);

 private:
  const Abstract_File& file_;
  Offset position_;
  const Offset end_;
};

}  // namespace joedb::inline v1

#endif
