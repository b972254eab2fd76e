#include "kernel/io/copy_range.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "joedb/base/error.h"
#include "kernel/io/descriptor.h"

namespace joedb::inline v1 {

namespace {

// Returns a Descriptor and not a File, because the constructor of a File would wait for locks.
Descriptor open_for_copy(const std::string& path, int flags) {
  const int number = open_descriptor(AT_FDCWD, path.c_str(), flags);
  if (number < 0) throw_io_error("opening", path, -1, errno);
  return Descriptor(number);
}

bool is_unsupported(int error) {
  return error == EXDEV || error == EINVAL || error == ENOSYS || error == EOPNOTSUPP ||
         error == EPERM || error == ETXTBSY;
}

}  // namespace

bool copy_in_file_system(const std::string& from, const std::string& to, Offset size) {
  constexpr Offset max_step_size = Offset{1} << 30;
  const Descriptor source = open_for_copy(from, O_RDONLY);
  const Descriptor destination = open_for_copy(to, O_WRONLY);
  off_t in = 0;
  off_t out = 0;
  while (in < size) {
    const auto step = static_cast<std::size_t>(std::min<Offset>(size - in, max_step_size));
    const ssize_t n = ::copy_file_range(source.number(), &in, destination.number(), &out, step, 0);
    if (n > 0 || (n < 0 && errno == EINTR)) continue;
    if (n == 0 || is_unsupported(errno)) return false;
    throw_io_error("copying to", to, -1, errno);
  }
  return true;
}

}  // namespace joedb::inline v1
