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
  // Removes a file; nothing happens if there is none. A power cut may bring it back. Throws
  // Io_Error.
  virtual void remove(const std::string& name) = 0;
};

// A directory of the operating system.
class Directory : public Abstract_Directory {
 public:
  // Makes the directory, and those it is in, if there is none. Throws Io_Error.
  static Directory make(const std::string& path);
  // Throws Io_Error when it is used, if there is none.
  explicit Directory(std::string path) : path_(std::move(path)) {}

  const std::string& get_name() const override { return path_; }
  std::vector<std::string> list() const override;
  std::unique_ptr<Abstract_File> open(const std::string& name, Open_Mode mode) override;
  void remove(const std::string& name) override;

 private:
  std::string path_;
};

}  // namespace joedb::inline v1

#endif
