#ifndef JOEDB_IO_DIRECTORY_H
#define JOEDB_IO_DIRECTORY_H

#include <memory>
#include <string>
#include <vector>

#include "joedb/io/file.h"

namespace joedb::inline v1 {

// A directory with files, for code that makes and removes them by itself, such as a log in
// segments. Derive from this to simulate one. Used by one thread at a time.
class Abstract_Directory {
 public:
  virtual ~Abstract_Directory() = default;
  virtual const std::string& get_name() const = 0;
  // The names of the files in the directory, without its path, in any order. Throws Io_Error.
  virtual std::vector<std::string> list() const = 0;
  // Opens a file of the directory. The name of a new file survives a power cut after the first sync
  // of the file. Throws Io_Error.
  virtual std::unique_ptr<Abstract_File> open(const std::string& name, Open_Mode mode) = 0;
  // The same, but a new file gets the owner and permissions of the file `model`, where this kind of
  // directory has them and it is possible.
  virtual std::unique_ptr<Abstract_File> open_like(const std::string& /*model*/,
                                                   const std::string& name, Open_Mode mode) {
    return open(name, mode);
  }
  // Throws File_Replaced if the directory was removed, or its name leads to another one now. Does
  // nothing where this is not known.
  virtual void require_not_replaced() const {}
  // Removes a file; nothing happens if there is none. A power cut may bring it back. Throws
  // Io_Error.
  virtual void remove(const std::string& name) = 0;
};

class Descriptor;

// A directory of the operating system. It stays open, whatever its name, or the current directory
// of the process, is by then.
class Directory : public Abstract_Directory {
 public:
  // Makes the directory, and those it is in, if there is none. Throws Io_Error.
  static Directory make(const std::string& path);
  // Throws Io_Error when it is used, if there is none.
  explicit Directory(std::string path);

  const std::string& get_name() const override { return path_; }
  std::vector<std::string> list() const override;
  std::unique_ptr<Abstract_File> open(const std::string& name, Open_Mode mode) override;
  std::unique_ptr<Abstract_File> open_like(const std::string& model, const std::string& name,
                                           Open_Mode mode) override;
  void require_not_replaced() const override;
  void remove(const std::string& name) override;

 private:
  // Throws Io_Error: "ACTION NAME: …".
  std::shared_ptr<const Descriptor> descriptor(const char* action, const std::string& name) const;
  std::string path_of(const std::string& name) const;

  std::string path_;
  std::string absolute_path_;                    // for require_not_replaced
  std::shared_ptr<const Descriptor> directory_;  // null: there was none
};

}  // namespace joedb::inline v1

#endif
