#ifndef JOEDB_SRC_IO_TEMPORARY_FILE_H
#define JOEDB_SRC_IO_TEMPORARY_FILE_H

#include <fcntl.h>

#include <string>

#include "joedb/io/posix_file.h"

namespace joedb::inline v1 {

// A new file in $TMPDIR, or /var/tmp, that only this user can open. The destructor removes it.
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

// A temporary file for data that may not fit into memory. It is removed from its directory at once,
// so it disappears with the process, however that ends.
class Temporary_File final : private Unique_Path, public File {
 public:
  // `name` is for messages. Throws Io_Error.
  explicit Temporary_File(const std::string& name)
      : File(name, Open_Mode::write_existing, AT_FDCWD, path()) {
    remove();
    forget_name();
  }
  bool has_slow_growth() const override { return false; }  // never needed after a crash
  std::unique_ptr<Abstract_File> open_beside(const std::string&, Open_Mode) const override {
    return nullptr;
  }
};

}  // namespace joedb::inline v1

#endif
