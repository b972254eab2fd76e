#include "joedb/io/memory_file.h"

#include <cerrno>
#include <ios>

namespace joedb::inline v1 {

Offset Stream_File::get_size() const {
  const std::streamoff end = buffer_.pubseekoff(0, std::ios::end);
  if (end < 0) throw_io_error("seeking", get_name(), -1, EIO);
  return end;
}

std::size_t Stream_File::pread(char* data, std::size_t size, Offset offset) const {
  if (offset >= get_size()) return 0;
  if (buffer_.pubseekpos(offset, std::ios::in) < 0)
    throw_io_error("seeking", get_name(), offset, EIO);
  return static_cast<std::size_t>(buffer_.sgetn(data, static_cast<std::streamsize>(size)));
}

void Stream_File::pwrite(const char* data, std::size_t size, Offset offset) {
  const auto n = static_cast<std::streamsize>(size);
  if (buffer_.pubseekpos(offset, std::ios::out) < 0 || buffer_.sputn(data, n) != n)
    throw_io_error("writing", get_name(), offset, EIO);
}

void Stream_File::sync() {
  if (buffer_.pubsync() < 0) throw_io_error("syncing", get_name(), -1, EIO);
}

}  // namespace joedb::inline v1
