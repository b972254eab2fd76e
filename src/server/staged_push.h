#ifndef SERVER_STAGED_PUSH_H
#define SERVER_STAGED_PUSH_H

#include <memory>
#include <string>

#include "joedb/io/source_file.h"

namespace joedb::server {

// The bytes of a push, until all of them have come: as a file that has nothing but [start, end).
// Few are kept in memory, more in a file without a name.
class Staged_Push final : public Source_File {
 public:
  // `path`: where that file is made, and unlinked at once. What is there is removed.
  Staged_Push(Offset start, std::string path);

  // Throws Io_Error; the object cannot be used any more then.
  void append(std::string_view bytes);
  // Whether so many bytes more need no file.
  bool fits_into_memory(std::size_t size) const {
    return !file_ && memory_.size() + size <= most_in_memory;
  }
  Offset end() const { return end_; }

  Offset get_size() const override { return end_; }
  std::size_t pread(char* data, std::size_t size, Offset offset) const override;

 private:
  static constexpr std::size_t most_in_memory = std::size_t{1} << 20;
  const Offset start_;
  const std::string path_;
  Offset end_;
  std::string memory_;
  std::unique_ptr<Abstract_File> file_;
};

}  // namespace joedb::server

#endif
