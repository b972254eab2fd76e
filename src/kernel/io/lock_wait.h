#ifndef JOEDB_SRC_KERNEL_IO_LOCK_WAIT_H
#define JOEDB_SRC_KERNEL_IO_LOCK_WAIT_H

#include <string>

#include "joedb/base/threads.h"
#include "joedb/io/file.h"

struct flock;  // of <fcntl.h>

namespace joedb::inline v1 {

// Takes a lock of an open file, or releases it if `type` is F_UNLCK. Returns false and sets errno
// if another open file holds the lock, or if the system call fails.
bool try_lock(int descriptor, short type, Lock_Range range);

// The process that holds a lock of a file. Processes of other users, in other containers and on
// other machines are not found.
struct Lock_Holder {
  int process = 0;        // 0 if unknown
  std::string text = {};  // "process 1234 (shop)", "this process" or, if unknown, empty
};

// Describes a wait for a lock of a File.
class Lock_Wait {
 public:
  // `lock` is the lock that the open file `descriptor` waits for. The arguments must outlive this
  // object.
  Lock_Wait(const std::string& file, int descriptor, const struct flock& lock, System& system)
      : file_(file), descriptor_(descriptor), lock_(lock), system_(system), start_(system.now()) {}

  const std::string& file() const { return file_; }
  System::Duration waited() const { return system_.now() - start_; }
  // Searches the open files of all processes of this user, which may take some milliseconds.
  Lock_Holder find_holder() const;

  // A flag for the function set by set_lock_wait_hook; false at first.
  bool is_announced = false;

 private:
  const std::string& file_;
  const int descriptor_;
  const struct flock& lock_;
  System& system_;
  const System::Time start_;
};

// Sets a hook for all waits of this process for locks of Files. The hook is called before each
// pause, in the thread that waits. If the hook throws, the wait ends without the lock. By default,
// and if `hook` is null, there is no hook. For programs, not for libraries. Call this before other
// threads start.
void set_lock_wait_hook(void (*hook)(Lock_Wait&));

}  // namespace joedb::inline v1

#endif
