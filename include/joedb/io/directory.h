#ifndef JOEDB_IO_DIRECTORY_H
#define JOEDB_IO_DIRECTORY_H

#include <memory>
#include <string>
#include <vector>

#include "joedb/io/file.h"

namespace joedb::inline v1 {

// A directory, for code that creates and removes files, such as a segmented log. Derive from this
// class to simulate a directory. Not thread-safe.
class Abstract_Directory {
 public:
  virtual ~Abstract_Directory() = default;
  virtual const std::string& get_name() const = 0;
  // Returns the names of the files in the directory, without its path, in any order. Throws
  // Io_Error.
  virtual std::vector<std::string> list() const = 0;
  // Opens a file in the directory. The name of a new file is durable after the first sync of the
  // file. Throws Io_Error.
  virtual std::unique_ptr<Abstract_File> open(const std::string& name, Open_Mode mode) = 0;
  // Like open, but a new file gets the owner and permissions of the file `model`, if this kind of
  // directory has them and the system allows it.
  virtual std::unique_ptr<Abstract_File> open_like(const std::string& /*model*/,
                                                   const std::string& name, Open_Mode mode) {
    return open(name, mode);
  }
  // Throws File_Replaced if the directory was removed, or if its name now refers to another
  // directory. Does nothing for kinds of directories that cannot detect this.
  virtual void require_not_replaced() const {}
  // Removes a file; does nothing if there is none. The removal is not durable: a power cut may undo
  // it. Throws Io_Error.
  virtual void remove(const std::string& name) = 0;
};

class Descriptor;

// A directory of the operating system. It is kept open: renaming it, or changing the current
// directory of the process, does not affect this object.
class Directory : public Abstract_Directory {
 public:
  // Creates the directory, and its parents, if they do not exist. Throws Io_Error.
  static Directory make(const std::string& path);
  // Does not throw if the directory does not exist; until it does, list, open, open_like and remove
  // throw Io_Error.
  explicit Directory(std::string path);

  const std::string& get_name() const override { return path_; }
  std::vector<std::string> list() const override;
  std::unique_ptr<Abstract_File> open(const std::string& name, Open_Mode mode) override;
  std::unique_ptr<Abstract_File> open_like(const std::string& model, const std::string& name,
                                           Open_Mode mode) override;
  void require_not_replaced() const override;
  void remove(const std::string& name) override;

 private:
  // Throws Io_Error, "ACTION NAME: …", if the directory does not exist.
  std::shared_ptr<const Descriptor> descriptor(const char* action, const std::string& name) const;
  std::string path_of(const std::string& name) const;

  std::string path_;
  std::string absolute_path_;                    // for require_not_replaced
  std::shared_ptr<const Descriptor> directory_;  // null: it did not exist
};

}  // namespace joedb::inline v1

#endif
