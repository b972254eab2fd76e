#include "joedb/io/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
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

Directory::Directory(std::string path)
    : path_(std::move(path)),
      path_prefix_((fs::path(path_) / "").string()),
      directory_(open_directory(path_)) {
  std::error_code ignored;
  absolute_path_ = fs::absolute(path_, ignored).string();
}

Directory::Directory(const File& file)
    : path_(file.get_name()),
      path_prefix_(path_),
      entry_prefix_(file.base_name()),
      directory_(file.directory_),
      owner_(&file) {}

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

// Returns the names in an open directory, without "." and "..". `name` is for errors.
static std::vector<std::string> list_directory(int directory, const std::string& name) {
  const int descriptor = open_descriptor(directory, ".", O_RDONLY | O_DIRECTORY);
  DIR* const stream = descriptor < 0 ? nullptr : ::fdopendir(descriptor);
  if (stream == nullptr) {
    const int error = errno;
    if (descriptor >= 0) ::close(descriptor);
    throw_io_error("reading the directory", name, -1, error);
  }
  std::vector<std::string> names;
  int error = 0;
  try {
    errno = 0;
    while (const dirent* const entry = ::readdir(stream)) {
      if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0)
        names.emplace_back(entry->d_name);
      errno = 0;
    }
    error = errno;
  } catch (...) {
    ::closedir(stream);
    throw;
  }
  ::closedir(stream);
  if (error != 0) throw_io_error("reading the directory", name, -1, error);
  return names;
}

std::vector<std::string> Directory::list() const {
  std::vector<std::string> names;
  for (const std::string& entry :
       list_directory(descriptor("reading the directory", path_)->number(), path_))
    if (entry.starts_with(entry_prefix_)) names.push_back(entry.substr(entry_prefix_.size()));
  return names;
}

std::unique_ptr<Abstract_File> Directory::open_with(const std::string& name, Open_Mode mode,
                                                    int model) {
  const std::string path = path_of(name);
  const auto directory = descriptor("opening", path);
  constexpr unsigned permissions = 0644;
  return std::unique_ptr<File>(
      new File(path, mode, directory->number(), entry_of(name), permissions, model));
}

std::unique_ptr<Abstract_File> Directory::open(const std::string& name, Open_Mode mode) {
  return open_with(name, mode, owner_ ? owner_->descriptor() : -1);
}

std::unique_ptr<Abstract_File> Directory::open_like(const std::string& model,
                                                    const std::string& name, Open_Mode mode) {
  const auto directory = descriptor("opening", path_of(name));
  const Descriptor old(open_descriptor(directory->number(), entry_of(model).c_str(), O_PATH));
  return open_with(name, mode, old.number());
}

void Directory::require_not_replaced() const {
  struct stat own;
  struct stat named;
  if (!directory_ || absolute_path_.empty() || ::fstat(directory_->number(), &own) != 0) return;
  if (::stat(absolute_path_.c_str(), &named) != 0) {
    if (errno == ENOENT) throw File_Replaced(path_, "was removed");
  } else if (own.st_dev != named.st_dev || own.st_ino != named.st_ino) {
    throw File_Replaced(path_, "was replaced by another directory");
  }
}

// ---- changes of names ---------------------------------------------------------------------------

void Directory::require_own_process() const {
  if (owner_) owner_->require_own_process();
}

// Returns false if there is no such file.
bool Directory::remove_entry(const std::string& name) {
  require_own_process();
  const std::string path = path_of(name);
  if (::unlinkat(descriptor("removing", path)->number(), entry_of(name).c_str(), 0) == 0)
    return true;
  if (errno != ENOENT) throw_io_error("removing", path, -1, errno);
  return false;
}

void Directory::remove(const std::string& name) { remove_entry(name); }

// Opens the directory before a change of names that will be synced: if a concurrent sync by another
// process fails, the error is then reported to this descriptor, too. Without read permission, this
// process cannot sync the directory; the returned descriptor is not open then.
Descriptor Directory::open_to_sync() const {
  const auto directory = descriptor("opening", path_);
  return Descriptor(open_descriptor(directory->number(), ".", O_RDONLY | O_DIRECTORY));
}

void Directory::sync(const Descriptor& opened) const {
  if (opened.is_open() && ::fsync(opened.number()) != 0)
    throw_io_error("syncing the directory of", path_, -1, errno);
}

void Directory::rename(const std::string& from, const std::string& to) {
  require_own_process();
  const Descriptor opened = open_to_sync();
  const auto directory = descriptor("renaming", path_of(from));
  const int number = directory->number();
  if (::renameat(number, entry_of(from).c_str(), number, entry_of(to).c_str()) != 0)
    throw_io_error("renaming", path_of(from), -1, errno);
  sync(opened);
}

void Directory::remove_durably(const std::string& name) {
  require_own_process();
  const Descriptor opened = open_to_sync();
  if (remove_entry(name)) sync(opened);
}

void Abstract_Directory::rename(const std::string& from, const std::string&) {
  throw Exception(get_name() + ": " + from + " cannot be renamed");
}

void Abstract_Directory::remove_durably(const std::string& name) {
  throw Exception(get_name() + ": " + name + " cannot be removed");
}

}  // namespace joedb::inline v1
