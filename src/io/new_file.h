#ifndef JOEDB_SRC_IO_NEW_FILE_H
#define JOEDB_SRC_IO_NEW_FILE_H

#include <memory>
#include <string>
#include <string_view>

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
  // It stays.
  void keep();

 private:
  const std::string path_;
  const std::string folder_;
  bool stays_ = false;
};

class Descriptor;

// A file that appears under its name when it is complete, and not before. Until then it is
// NAME.tmp-PID. Only SIGKILL and a power cut leave that behind.
//
// One thread at a time may make such files.
class New_File : private Temporary_Path, public File {
 public:
  using Temporary_Path::path;  // where it is until publish()
  enum class Existing { refuse, replace };

  // With the permissions of the file that has the name, and its owner where that is possible.
  // Throws Io_Error, also (EEXIST) if there is a file of this name that must not be replaced.
  New_File(const std::string& name, Existing existing);
  // For the place of a file that is open, with its owner, permissions and access list; until then
  // nobody else can read it. Throws Exception if it may not have that owner.
  explicit New_File(const File& replaced);

  // Takes the permissions of `model`, and its owner where that is possible: for what was a part of
  // that file. Does nothing if `model` has no name here. Call it before anything is written. Throws
  // Io_Error.
  void take_permissions(const Abstract_File& model);

  // Syncs the file, gives it its name, and syncs the directory. Throws Io_Error: then the name has
  // what it had before, or, where the directory could not be synced, the new file, which a power
  // cut may take back.
  void publish();

 private:
  New_File(const std::string& name, Existing existing, const Descriptor& replaced);

  const Existing existing_;
};

// A text for another program to work on, which this user alone can read. It does not stay, unless
// keep() is called.
class Temporary_Text {
 public:
  // In the folder for temporary files; its name ends with `suffix`. Throws Io_Error.
  Temporary_Text(const std::string& suffix, std::string_view text);

  const std::string& path() const { return path_->path(); }
  // What is there now. Throws Io_Error.
  std::string read() const;
  // From now on it stays, until it is removed.
  void keep() { path_->keep(); }
  void remove();

 private:
  std::unique_ptr<Temporary_Path> path_;
};
// A new directory, among those for temporary files, that only this user can read. Throws Io_Error.
std::string make_temporary_folder();

}  // namespace joedb::inline v1

#endif
