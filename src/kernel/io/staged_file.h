#ifndef JOEDB_SRC_KERNEL_IO_STAGED_FILE_H
#define JOEDB_SRC_KERNEL_IO_STAGED_FILE_H

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "joedb/io/file.h"

namespace joedb::inline v1 {

// Collects bytes that arrive in pieces, for example from a connection, and makes them readable as a
// file that contains only [start, end). The bytes are kept in memory; if they are many, in a file.
class Staged_File final : public Readonly_File {
 public:
  using Make_File = std::function<std::unique_ptr<Abstract_File>()>;

  // If there are more than `max_in_memory` bytes, append() calls make_file() to get a new file.
  // Exceptions of make_file() pass through append().
  Staged_File(const std::string& name, Offset start, std::size_t max_in_memory, Make_File make_file)
      : Readonly_File(name),
        start_(start),
        max_in_memory_(max_in_memory),
        make_file_(std::move(make_file)),
        end_(start) {}

  // Throws Io_Error; the object is unusable then.
  void append(std::string_view bytes);
  // True if `size` more bytes can be kept in memory.
  bool fits_into_memory(std::size_t size) const {
    return !file_ && memory_.size() + size <= max_in_memory_;
  }
  // Discards the bytes from `end` on. Requires end >= start().
  void drop_after(Offset end);
  Offset start() const { return start_; }
  Offset end() const { return end_; }

  Offset get_size() const override { return end_; }
  std::size_t pread(char* data, std::size_t size, Offset offset) const override;

 private:
  const Offset start_;
  const std::size_t max_in_memory_;
  const Make_File make_file_;
  Offset end_;
  std::string memory_;
  std::unique_ptr<Abstract_File> file_;
};

}  // namespace joedb::inline v1

#endif
