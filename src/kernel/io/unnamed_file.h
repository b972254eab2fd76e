#ifndef JOEDB_SRC_KERNEL_IO_UNNAMED_FILE_H
#define JOEDB_SRC_KERNEL_IO_UNNAMED_FILE_H

#include <memory>
#include <string>

#include "joedb/io/posix_file.h"

namespace joedb::inline v1 {

// A temporary file for data that may not fit into memory. Its name is removed as soon as the file
// is open, so the file disappears when the process ends, even if the process is killed. Several
// threads may create such files at the same time.
class Unnamed_File final : public File {
 public:
  // Creates a file in $TMPDIR, or /var/tmp, that only this user can open. `name` is for messages.
  // Throws Io_Error.
  explicit Unnamed_File(const std::string& name);
  // Removes a file that a killed process has left at `path`, and creates a new file there. Throws
  // Io_Error.
  static std::unique_ptr<Unnamed_File> make_at(const std::string& path);

  bool has_slow_growth() const override { return false; }  // it need not survive a crash
  std::unique_ptr<Abstract_Directory> beside() const override { return Abstract_File::beside(); }

 private:
  struct Path;
  Unnamed_File(const std::string& name, Open_Mode mode, const Path& path);
};

}  // namespace joedb::inline v1

#endif
