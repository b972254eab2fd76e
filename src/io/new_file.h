#ifndef JOEDB_SRC_IO_NEW_FILE_H
#define JOEDB_SRC_IO_NEW_FILE_H

#include <string>

#include "joedb/io/posix_file.h"

namespace joedb::inline v1 {

// The path of a file that must not stay: the destructor removes it, and so do SIGINT, SIGTERM and
// SIGHUP before they do what they did before.
class Temporary_Path {
 public:
  // Removes what an earlier process has left there. `folder`: a directory that is removed, too,
  // once it is empty.
  explicit Temporary_Path(std::string path, std::string folder = "");
  ~Temporary_Path();
  Temporary_Path(const Temporary_Path&) = delete;
  Temporary_Path& operator=(const Temporary_Path&) = delete;

  const std::string& path() const { return path_; }
  // Renames the file. Throws Io_Error.
  void rename_to(const std::string& name, bool may_replace);

 private:
  const std::string path_;
  const std::string folder_;
  bool is_renamed_ = false;
};

// A file that appears under its name when it is complete, and not before. Until then it is
// NAME.tmp-PID. Only SIGKILL and a power cut leave that behind.
//
// One thread at a time may make such files.
class New_File : private Temporary_Path, public File {
 public:
  using Temporary_Path::path;  // where it is until publish()
  enum class Existing { refuse, replace };

  // Throws Io_Error, also (EEXIST) if there is a file of this name that must not be replaced.
  New_File(const std::string& name, Existing existing);

  // Syncs the file, gives it its name, and syncs the directory. Throws Io_Error: then the name has
  // what it had before, or, where the directory could not be synced, the new file, which a power
  // cut may take back.
  void publish();

 private:
  const Existing existing_;
};

// A new directory, among those for temporary files, that only this user can read. Throws Io_Error.
std::string make_temporary_folder();

}  // namespace joedb::inline v1

#endif
