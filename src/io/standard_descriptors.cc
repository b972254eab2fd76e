#include "base/standard_descriptors.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace joedb::inline v1 {

// Another thread may take a number, or give one back, between these calls: then open_descriptor
// moves the file.
void occupy_standard_descriptors() noexcept {
  const int error = errno;
  for (int number = 0; number <= STDERR_FILENO; ++number) {
    if (::fcntl(number, F_GETFD) >= 0 || errno != EBADF) continue;
    const int mode = number == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    const int opened = ::open("/dev/null", mode | O_NOCTTY);  // programs that we start get it, too
    if (opened > STDERR_FILENO) ::close(opened);
  }
  errno = error;
}

}  // namespace joedb::inline v1
