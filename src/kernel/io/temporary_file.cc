#include "kernel/io/temporary_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>

#include "kernel/base/standard_descriptors.h"

namespace joedb::inline v1 {

Unique_Path::Unique_Path() {
  const char* const directory = ::getenv("TMPDIR");
  path_ = (directory == nullptr || *directory == '\0' ? "/var/tmp" : directory);
  path_ += "/joedb-XXXXXX";
  reserve_standard_descriptors();
  const int descriptor = ::mkostemp(path_.data(), O_CLOEXEC);
  if (descriptor < 0) {
    const int error = errno;
    throw_io_error("making the temporary file", std::exchange(path_, ""), -1, error);
  }
  ::close(descriptor);
}

void Unique_Path::remove() noexcept {
  if (!path_.empty()) ::unlink(path_.c_str());
  path_.clear();
}

}  // namespace joedb::inline v1
