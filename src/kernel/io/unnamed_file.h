#ifndef JOEDB_SRC_KERNEL_IO_UNNAMED_FILE_H
#define JOEDB_SRC_KERNEL_IO_UNNAMED_FILE_H

#include <memory>
#include <string>

#include "joedb/io/posix_file.h"

namespace joedb::inline v1 {

// A temporary file for data that may not fit into memory. It is removed from its directory as soon
// as it is open, so it disappears when the process ends, even if the process is killed. Several
// threads may create such files.
class Unnamed_File final : public File {
 public:
  // Creates a file in $TMPDIR, or /var/tmp, that only this user can open. `name` is for messages.
  // Throws Io_Error.
  explicit Unnamed_File(const std::string& name);
  // Creates the file at `path`, and first removes a file that a killed process has left there.
  // Throws Io_Error.
  static std::unique_ptr<Unnamed_File> make_at(const std::string& path);

  bool has_slow_growth() const override { return false; }  // never needed after a crash
  std::unique_ptr<Abstract_Directory> beside() const override { return Abstract_File::beside(); }

 private:
  struct Path;
  Unnamed_File(const std::string& name, Open_Mode mode, const Path& path);
};

}  // namespace joedb::inline v1

#endif
