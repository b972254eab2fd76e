#include "kernel/io/unnamed_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>

#include "kernel/base/standard_descriptors.h"

namespace joedb::inline v1 {

// A name of a file. The destructor removes it.
struct Unnamed_File::Path {
  explicit Path(std::string path) : name(std::move(path)) {}
  ~Path() { ::unlink(name.c_str()); }
  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;

  const std::string name;
};

static std::string make_temporary_file() {
  const char* const directory = ::getenv("TMPDIR");
  std::string path = directory == nullptr || *directory == '\0' ? "/var/tmp" : directory;
  path += "/joedb-XXXXXX";
  reserve_standard_descriptors();
  const int descriptor = ::mkostemp(path.data(), O_CLOEXEC);
  if (descriptor < 0) throw_io_error("making the temporary file", path, -1, errno);
  ::close(descriptor);
  return path;
}

// The name is removed as soon as the file is open, or if it cannot be opened.
Unnamed_File::Unnamed_File(const std::string& name)
    : Unnamed_File(name, Open_Mode::write_existing, Path(make_temporary_file())) {}

std::unique_ptr<Unnamed_File> Unnamed_File::make_at(const std::string& path) {
  ::unlink(path.c_str());
  const Path removed(path);
  return std::unique_ptr<Unnamed_File>(new Unnamed_File(path, Open_Mode::create_new, removed));
}

Unnamed_File::Unnamed_File(const std::string& name, Open_Mode mode, const Path& path)
    : File(name, mode, AT_FDCWD, path.name) {
  forget_name();
}

}  // namespace joedb::inline v1
