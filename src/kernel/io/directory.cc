#include "joedb/io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "joedb/io/posix_file.h"
#include "kernel/io/descriptor.h"

namespace joedb::inline v1 {

namespace fs = std::filesystem;

// Returns null and sets errno if the directory cannot be opened.
static std::shared_ptr<const Descriptor> open_directory(const std::string& path) {
  const int number = open_descriptor(AT_FDCWD, path.c_str(), O_PATH | O_DIRECTORY);
  return number < 0 ? nullptr : std::make_shared<const Descriptor>(number);
}

Directory::Directory(std::string path) : path_(std::move(path)), directory_(open_directory(path_)) {
  std::error_code ignored;
  absolute_path_ = fs::absolute(path_, ignored).string();
}

Directory Directory::make(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw_io_error("making the directory", path, -1, error.value());
  return Directory(path);
}

std::shared_ptr<const Descriptor> Directory::descriptor(const char* action,
                                                        const std::string& name) const {
  auto directory = directory_ ? directory_ : open_directory(path_);
  if (!directory) throw_io_error(action, name, -1, errno);
  return directory;
}

std::string Directory::path_of(const std::string& name) const {
  return (fs::path(path_) / name).string();
}

std::vector<std::string> Directory::list() const {
  return list_directory(descriptor("reading the directory", path_)->number(), path_);
}

std::unique_ptr<Abstract_File> Directory::open(const std::string& name, Open_Mode mode) {
  const std::string path = path_of(name);
  return std::unique_ptr<File>(new File(path, mode, descriptor("opening", path)->number(), name));
}

std::unique_ptr<Abstract_File> Directory::open_like(const std::string& model,
                                                    const std::string& name, Open_Mode mode) {
  const std::string path = path_of(name);
  const auto directory = descriptor("opening", path);
  const Descriptor old(open_descriptor(directory->number(), model.c_str(), O_PATH));
  constexpr unsigned permissions = 0644;
  return std::unique_ptr<File>(
      new File(path, mode, directory->number(), name, permissions, old.number()));
}

void Directory::require_not_replaced() const {
  struct stat own;
  struct stat named;
  if (!directory_ || ::fstat(directory_->number(), &own) != 0) return;
  if (::stat(absolute_path_.c_str(), &named) != 0) {
    if (errno == ENOENT) throw File_Replaced(path_, "was removed");
  } else if (own.st_dev != named.st_dev || own.st_ino != named.st_ino) {
    throw File_Replaced(path_, "was replaced by another directory");
  }
}

void Directory::remove(const std::string& name) {
  const std::string path = path_of(name);
  if (::unlinkat(descriptor("removing", path)->number(), name.c_str(), 0) != 0 && errno != ENOENT)
    throw_io_error("removing", path, -1, errno);
}

}  // namespace joedb::inline v1
