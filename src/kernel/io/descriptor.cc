#include "kernel/io/descriptor.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "joedb/base/error.h"

namespace joedb::inline v1 {

// There is a race: another thread may take or release a number between these calls. In this case,
// open_descriptor later moves its file to another number.
void reserve_standard_descriptors() noexcept {
  const int error = errno;
  for (int number = 0; number <= STDERR_FILENO; ++number) {
    if (::fcntl(number, F_GETFD) >= 0 || errno != EBADF) continue;
    const int mode = number == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    // O_CLOEXEC is not set, because programs that this program starts must inherit the descriptor.
    const int opened = ::open("/dev/null", mode | O_NOCTTY);
    if (opened > STDERR_FILENO) ::close(opened);
  }
  errno = error;
}

static constexpr int first_usable = 3;

int open_descriptor(int directory, const char* path, int flags, unsigned permissions) noexcept {
  reserve_standard_descriptors();
  int descriptor;
  do descriptor = ::openat(directory, path, flags | O_CLOEXEC, permissions);
  while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0 || descriptor >= first_usable) return descriptor;
  // Another thread may have closed a standard descriptor after reserve_standard_descriptors().
  const int moved = ::fcntl(descriptor, F_DUPFD_CLOEXEC, first_usable);
  const int error = errno;
  ::close(descriptor);
  errno = error;
  return moved;
}

Descriptor::~Descriptor() {
  if (number_ < 0) return;
  const int error = errno;
  ::close(number_);
  errno = error;
}

// Not every magic.h defines XFS_SUPER_MAGIC.
bool is_on_local_disk(int descriptor) {
  struct statfs status;
  if (::fstatfs(descriptor, &status) != 0) return false;
  constexpr auto xfs_magic = 0x58465342;
  return status.f_type == EXT4_SUPER_MAGIC || status.f_type == xfs_magic ||
         status.f_type == OVERLAYFS_SUPER_MAGIC || status.f_type == TMPFS_MAGIC;
}

static struct stat full_status_of(int descriptor, const std::string& name) {
  struct stat status;
  if (::fstat(descriptor, &status) != 0) throw_io_error("reading the status of", name, -1, errno);
  return status;
}

void copy_permissions(int from, int to, const std::string& name, Ownership ownership) {
  const struct stat model = full_status_of(from, name);
  const struct stat own = full_status_of(to, name);
  mode_t mode = model.st_mode & 07777;
  const bool is_other = own.st_uid != model.st_uid || own.st_gid != model.st_gid;
  const bool is_required = ownership == Ownership::required;
  if (is_other && ::fchown(to, model.st_uid, model.st_gid) != 0) {
    if (is_required)
      throw Exception(name + ": belongs to another user or group (" + std::to_string(model.st_uid) +
                      ':' + std::to_string(model.st_gid) +
                      "), and a new file cannot be given to it: do this as its owner");
    const bool has_group =
        own.st_gid == model.st_gid || ::fchown(to, static_cast<uid_t>(-1), model.st_gid) == 0;
    mode &= 0777;
    if (!has_group) mode &= ~mode_t{070} | (mode & 07) << 3;
  }
  // The mode is set after fchown, which may clear the set-user-ID and set-group-ID bits.
  if (::fchmod(to, mode) != 0) throw_io_error("setting the permissions of", name, -1, errno);
  constexpr auto access_list = "system.posix_acl_access";
  // The list is read through /proc, because fgetxattr refuses O_PATH descriptors.
  const std::string path = "/proc/self/fd/" + std::to_string(from);
  std::array<char, 65536> list;
  const ssize_t size = ::getxattr(path.c_str(), access_list, list.data(), list.size());
  if (size > 0 && ::fsetxattr(to, access_list, list.data(), static_cast<size_t>(size), 0) != 0 &&
      is_required)
    throw_io_error("setting the access list of", name, -1, errno);
}

}  // namespace joedb::inline v1
