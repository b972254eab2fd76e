#ifndef JOEDB_IO_DIRECTORY_H
#define JOEDB_IO_DIRECTORY_H

#include <memory>
#include <string>
#include <vector>

#include "joedb/io/file.h"

namespace joedb::inline v1 {

// A directory with files, for those who make and remove them by themselves.
class Abstract_Directory {
 public:
  virtual ~Abstract_Directory() = default;
  virtual const std::string& get_name() const = 0;
  // The names of the files in it, in any order.
  virtual std::vector<std::string> list() const = 0;
  // Throws Io_Error. What a new file is named survives a power cut after its first sync.
  virtual std::unique_ptr<Abstract_File> open(const std::string& name, Open_Mode mode) = 0;
  // A power cut may bring the file back. Throws Io_Error.
  virtual void remove(const std::string& name) = 0;
};

// One of the system.
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
