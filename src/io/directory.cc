#include "joedb/io/directory.h"

#include <filesystem>
#include <system_error>

#include "joedb/io/posix_file.h"

namespace joedb::inline v1 {

namespace fs = std::filesystem;

Directory Directory::make(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw_io_error("making the directory", path, -1, error.value());
  return Directory(path);
}

std::vector<std::string> Directory::list() const {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator i(path_, error), end; !error && i != end; i.increment(error))
    names.push_back(i->path().filename().string());
  if (error) throw_io_error("reading the directory", path_, -1, error.value());
  return names;
}

std::unique_ptr<Abstract_File> Directory::open(const std::string& name, Open_Mode mode) {
  return std::make_unique<File>((fs::path(path_) / name).string(), mode);
}

void Directory::remove(const std::string& name) {
  std::error_code error;
  fs::remove(fs::path(path_) / name, error);
  if (error) throw_io_error("removing", (fs::path(path_) / name).string(), -1, error.value());
}

}  // namespace joedb::inline v1
