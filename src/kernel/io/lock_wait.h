#ifndef JOEDB_SRC_KERNEL_IO_LOCK_WAIT_H
#define JOEDB_SRC_KERNEL_IO_LOCK_WAIT_H

#include <string>

#include "joedb/base/threads.h"
#include "joedb/io/file.h"

struct flock;  // of <fcntl.h>

namespace joedb::inline v1 {

// Takes or releases (F_UNLCK) a lock of an open file. Returns false, and sets errno, if the lock is
// not free, or cannot be taken at all.
bool try_lock(int descriptor, short type, Lock_Range range);

// The process that holds a lock of a file. Processes of other users, in other containers and on
// other machines are not found.
struct Lock_Holder {
  int process = 0;        // 0: unknown
  std::string text = {};  // "process 1234 (shop)", "this process" or, if unknown, empty
};

// A wait for a lock of a File.
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

  // False at first. For the function of set_lock_wait_hook.
  bool is_announced = false;

 private:
  const std::string& file_;
  const int descriptor_;
  const struct flock& lock_;
  System& system_;
  const System::Time start_;
};

// Sets a function that is called, in the thread that waits, before each pause of each wait of this
// process for a lock of a File. If it throws, the wait ends without the lock. Null: none, the
// default. For programs that own the process: set it before other threads start.
void set_lock_wait_hook(void (*hook)(Lock_Wait&));

}  // namespace joedb::inline v1

#endif
