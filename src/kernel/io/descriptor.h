#ifndef JOEDB_SRC_KERNEL_IO_DESCRIPTOR_H
#define JOEDB_SRC_KERNEL_IO_DESCRIPTOR_H

#include <string>
#include <utility>

#include "kernel/base/standard_descriptors.h"

namespace joedb::inline v1 {

// Opens `path`, relative to an open directory or to AT_FDCWD, with O_CLOEXEC. Returns a descriptor
// above 2, or returns -1 and sets errno. If a signal interrupts the call, it is retried.
int open_descriptor(int directory, const char* path, int flags, unsigned permissions = 0) noexcept;

// Owns a descriptor, and closes it.
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

// True if the file is on ext4, XFS, overlayfs or tmpfs. These file systems are local to this
// machine, so locks show all processes that have the file open. False for all other file systems.
bool is_on_local_disk(int descriptor);

// Copies the owner, permissions and access list of the file `from` to the new file `to`. `from` may
// be any descriptor, even one opened with O_PATH. Before this call, only this user should be able
// to read the new file. `name` is for errors. Throws Io_Error.
enum class Ownership {
  required,    // throws Exception if this user may not set the owner and group
  best_effort  // if the group cannot be set, the group gets only the permissions that others have
};
void copy_permissions(int from, int to, const std::string& name, Ownership ownership);

}  // namespace joedb::inline v1

#endif
