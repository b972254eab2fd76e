#include "kernel/io/file_watch.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>

#include "joedb/base/error.h"
#include "kernel/base/standard_descriptors.h"

namespace joedb::inline v1 {

File_Watch::File_Watch(const std::string& path) : path_(path) {
  reserve_standard_descriptors();
  descriptor_ = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (descriptor_ < 0) throw_io_error("watching", path, -1, errno);
  if (inotify_add_watch(descriptor_, path.c_str(), IN_MODIFY) >= 0) return;
  const int error = errno;
  ::close(descriptor_);
  throw_io_error("watching", path, -1, error);
}

File_Watch::~File_Watch() { ::close(descriptor_); }

void File_Watch::wait(std::chrono::milliseconds duration) {
  pollfd waiting{descriptor_, POLLIN, 0};
  if (::poll(&waiting, 1, static_cast<int>(duration.count())) < 0 && errno != EINTR)
    throw_io_error("watching", path_, -1, errno);
  char events[4096];
  while (::read(descriptor_, events, sizeof events) > 0) {
  }
}

}  // namespace joedb::inline v1
