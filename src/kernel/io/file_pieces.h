#ifndef JOEDB_SRC_KERNEL_IO_FILE_PIECES_H
#define JOEDB_SRC_KERNEL_IO_FILE_PIECES_H

#include <algorithm>
#include <memory>
#include <string_view>

#include "joedb/io/file.h"

namespace joedb::inline v1 {

// Reads the bytes [start, end) of a file in order, in pieces of at most `piece_size` bytes, and
// calls f(bytes, offset) for each piece. `bytes` are valid during the call. Throws Io_Error,
// Corruption_Error if the file ends before `end`, and the exceptions of f.
template <class F>
void for_each_piece(const Abstract_File& file, Offset start, Offset end, std::size_t piece_size,
                    F f) {
  if (start >= end) return;
  const std::size_t most = std::min(piece_size, static_cast<std::size_t>(end - start));
  const auto buffer = std::make_unique<char[]>(most);
  while (start < end) {
    const std::size_t size = std::min(most, static_cast<std::size_t>(end - start));
    file.read_exactly(buffer.get(), size, start);
    f(std::string_view(buffer.get(), size), start);
    start += static_cast<Offset>(size);
  }
}

// True if the file contains all of [start, end), and every byte there is zero. Throws Io_Error.
bool is_zero(const Abstract_File& file, Offset start, Offset end);

// Copies the bytes from `start` to the end of a file to offset 0 of `destination`. Returns the
// number of bytes copied. Throws Io_Error; any part may have been written then.
Offset copy_end(const Abstract_File& file, Offset start, Abstract_File& destination);

}  // namespace joedb::inline v1

#endif
