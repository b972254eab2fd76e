#include "kernel/base/standard_descriptors.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace joedb::inline v1 {

// Race: another thread may take or release a number between these calls; open_descriptor then moves
// the file to another number.
void reserve_standard_descriptors() noexcept {
  const int error = errno;
  for (int number = 0; number <= STDERR_FILENO; ++number) {
    if (::fcntl(number, F_GETFD) >= 0 || errno != EBADF) continue;
    const int mode = number == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    // Without O_CLOEXEC: programs that this one starts inherit it.
    const int opened = ::open("/dev/null", mode | O_NOCTTY);
    if (opened > STDERR_FILENO) ::close(opened);
  }
  errno = error;
}

}  // namespace joedb::inline v1
