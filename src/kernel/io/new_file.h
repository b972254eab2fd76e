#ifndef JOEDB_SRC_KERNEL_IO_NEW_FILE_H
#define JOEDB_SRC_KERNEL_IO_NEW_FILE_H

#include <functional>
#include <string>
#include <string_view>

#include "joedb/io/posix_file.h"

namespace joedb::inline v1 {

// The path of a temporary file. The destructor removes the file. SIGINT, SIGTERM and SIGHUP also
// remove the file, and then have their previous action.
class Temporary_Path {
 public:
  // `folder` is a directory that is removed after the file, if it is empty then.
  explicit Temporary_Path(std::string path, std::string folder = "");
  ~Temporary_Path();
  Temporary_Path(const Temporary_Path&) = delete;
  Temporary_Path& operator=(const Temporary_Path&) = delete;

  const std::string& path() const { return path_; }
  // Renames the file, and makes it permanent. Throws Io_Error; its code is EEXIST if a file of this
  // name exists and `may_replace` is false.
  void rename_to(const std::string& name, bool may_replace);
  // Makes the file permanent.
  void keep();

 private:
  const std::string path_;
  const std::string folder_;
  bool stays_ = false;
};

class Descriptor;

// A file that appears under its name only when it is complete. Until then its name is NAME.tmp-PID.
// Power cuts, and fatal signals that are not handled, such as SIGKILL, leave this temporary file
// behind. The constructor removes such files of the same NAME on a local disk, if no process has
// the number PID and they are not locked.
//
// Only one thread at a time may create such files.
class New_File : private Temporary_Path, public File {
 public:
  using Temporary_Path::path;  // path of the file until publish()
  enum class Existing { refuse, replace };

  // If a file of this name exists, copies its permissions, and its owner if the system allows it;
  // otherwise the file gets `permissions` minus the umask. Throws Io_Error; its code is EEXIST if
  // the existing file must not be replaced.
  New_File(const std::string& name, Existing existing, unsigned permissions = 0644);
  // Makes a replacement of an open file, with the same owner, permissions and access list. Until
  // these are set, no other user can read the new file. Throws Io_Error, and Exception if this user
  // may not set the owner.
  explicit New_File(const File& replaced);

  // Copies the permissions of `model`, and its owner if the system allows it. For files that will
  // contain bytes of `model`. Does nothing if `model` has no name in the file system. Call this
  // before anything is written. Throws Io_Error.
  void take_permissions(const Abstract_File& model);

  // Syncs the file, gives it its final name, and syncs the directory. If this throws Io_Error, the
  // name still refers to the old file, unless only the sync of the directory has failed: then the
  // name refers to the new file, but a power cut may undo the renaming.
  void publish();

 private:
  New_File(const std::string& name, Existing existing, unsigned permissions,
           const Descriptor& replaced);

  const Existing existing_;
};

// Returns the name under which a new file is created: if `name` is a symbolic link to a file that
// does not exist, the target of the link; otherwise `name`.
std::string file_to_create(const std::string& name);
// Throws Io_Error, as the creation of a file of this name would, if its folder does not exist or
// cannot be written to.
void require_folder_for_new_file(const std::string& name);
// Returns the name of the file that a new file replaces: if `name` is a symbolic link, the target
// of the link; otherwise `name`. Throws Exception if it exists and is not a regular file.
std::string file_to_replace(const std::string& name);

// Creates a file and calls fill(file). The file appears under its name when it is complete and
// synced. So if this fails, or if a signal ends the process, the name is unchanged. Throws Io_Error
// (EEXIST) if the file exists and must not be replaced.
void fill_new_file(const std::string& name, New_File::Existing existing,
                   const std::function<void(New_File&)>& fill, unsigned permissions = 0644);
// The same for a file that contains only `text`.
void write_new_file(const std::string& name, New_File::Existing existing, std::string_view text,
                    unsigned permissions = 0644);

// A temporary text file for another program to edit, readable only by this user. It is removed
// unless keep() is called.
class Temporary_Text : private Temporary_Path {
 public:
  // Creates the file in the directory for temporary files; its name ends with `suffix`. Throws
  // Io_Error.
  Temporary_Text(const std::string& suffix, std::string_view text);

  using Temporary_Path::keep;  // keeps the file until remove() is called
  using Temporary_Path::path;
  // Returns the current content. Throws Io_Error.
  std::string read() const;
  void remove();
};

// Creates a directory in the directory for temporary files, accessible only to this user. Throws
// Io_Error.
std::string make_temporary_folder();

}  // namespace joedb::inline v1

#endif
