#ifndef JOEDB_SRC_IO_TEMPORARY_FILE_H
#define JOEDB_SRC_IO_TEMPORARY_FILE_H

#include <fcntl.h>

#include <string>

#include "joedb/io/posix_file.h"

namespace joedb::inline v1 {

// A new file in $TMPDIR, or /var/tmp, that only this user can open.
class Unique_Path {
 public:
  // Throws Io_Error.
  Unique_Path();
  ~Unique_Path() { remove(); }
  Unique_Path(const Unique_Path&) = delete;
  Unique_Path& operator=(const Unique_Path&) = delete;

  const std::string& path() const { return path_; }
  void remove() noexcept;

 private:
  std::string path_;
};

// A file for what may be too large for memory. It has no name in its directory any more, so that it
// is gone with the process, however that ends.
class Temporary_File final : private Unique_Path, public File {
 public:
  // `name` is for messages. Throws Io_Error.
  explicit Temporary_File(const std::string& name)
      : File(name, Open_Mode::write_existing, AT_FDCWD, path()) {
    remove();
    forget_name();
  }
  bool has_slow_growth() const override { return false; }  // nobody needs it after a crash
  std::unique_ptr<Abstract_File> open_beside(const std::string&, Open_Mode) const override {
    return nullptr;
  }
};

}  // namespace joedb::inline v1

#endif
