#ifndef JOEDB_SRC_IO_DESCRIPTOR_H
#define JOEDB_SRC_IO_DESCRIPTOR_H

#include <string>
#include <utility>
#include <vector>

#include "base/standard_descriptors.h"

namespace joedb::inline v1 {

// Opens `path`, relative to an open directory or to AT_FDCWD, with O_CLOEXEC. Returns a descriptor
// above 2, or -1 and errno. A call that a signal interrupts is repeated.
int open_descriptor(int directory, const char* path, int flags, unsigned permissions = 0) noexcept;

// Closes a descriptor.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor();

  bool is_open() const { return number_ >= 0; }
  int number() const { return number_; }

 private:
  int number_;
};

// Gives a new file the owner, permissions and access list of another one (of which any descriptor
// will do, also O_PATH). Until then only the user should be able to read it. `name` is for errors.
// Throws Io_Error.
enum class Ownership {
  required,       // throws Exception if this user may not give the file to that owner and group
  where_possible  // a group that cannot be given gets what all others may do
};
void copy_permissions(int from, int to, const std::string& name, Ownership ownership);

// The names in an open directory, in any order. `name` is for the error. Throws Io_Error.
std::vector<std::string> list_directory(int directory, const std::string& name);

}  // namespace joedb::inline v1

#endif
