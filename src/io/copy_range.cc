#include "io/copy_range.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "joedb/base/error.h"

namespace joedb::inline v1 {

namespace {

// Not a File: that would wait for locks.
class Descriptor {
 public:
  Descriptor(const std::string& path, int flags)
      : number_(::open(path.c_str(), flags | O_CLOEXEC)) {
    if (number_ < 0) throw_io_error("opening", path, -1, errno);
  }
  ~Descriptor() { ::close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  const int number_;
};

bool means_impossible(int error) {
  return error == EXDEV || error == EINVAL || error == ENOSYS || error == EOPNOTSUPP ||
         error == EPERM || error == ETXTBSY;
}

}  // namespace

bool copy_in_file_system(const std::string& from, const std::string& to, Offset size) {
  constexpr Offset largest_step = Offset{1} << 30;
  const Descriptor source(from, O_RDONLY);
  const Descriptor destination(to, O_WRONLY);
  off_t in = 0;
  off_t out = 0;
  while (in < size) {
    const auto step = static_cast<std::size_t>(std::min<Offset>(size - in, largest_step));
    const ssize_t n = ::copy_file_range(source.number(), &in, destination.number(), &out, step, 0);
    if (n > 0 || (n < 0 && errno == EINTR)) continue;
    if (n == 0 || means_impossible(errno)) return false;
    throw_io_error("copying to", to, -1, errno);
  }
  return true;
}

}  // namespace joedb::inline v1
