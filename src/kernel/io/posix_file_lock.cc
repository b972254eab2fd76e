#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <memory>
#include <sstream>
#include <thread>

#include "joedb/io/posix_file.h"
#include "kernel/base/backoff.h"
#include "kernel/base/parse_number.h"
#include "kernel/io/lock_wait.h"

// The locks of File. A lock is tried again and again, with pauses, because the blocking call,
// F_OFD_SETLKW, has no timeout.

namespace joedb::inline v1 {

// ---- the holder of a lock -----------------------------------------------------------------------

namespace {

// Calls f(name) for each number that is the name of a file in a directory of /proc, until f returns
// true. Does nothing if the directory cannot be read.
template <class F>
void for_each_number(const std::string& directory, F f) {
  struct Close {
    void operator()(DIR* opened) const { ::closedir(opened); }
  };
  const std::unique_ptr<DIR, Close> opened(::opendir(directory.c_str()));
  if (!opened) return;
  while (const dirent* const entry = ::readdir(opened.get()))
    if (const auto number = parse_number<int>(entry->d_name))
      if (f(*number)) return;
}

// True if the open file of this /proc/PID/fdinfo/FD holds the lock. A line of that file such as
// "lock: 1: OFDLCK ADVISORY WRITE -1 08:01:42 0 EOF" describes a lock; see proc(5).
bool holds(const std::string& fdinfo, const struct flock& lock) {
  std::ifstream lines(fdinfo);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string label, number, kind, advisory, type, process, file, start;
    words >> label >> number >> kind >> advisory >> type >> process >> file >> start;
    if (label == "lock:" && type == (lock.l_type == F_WRLCK ? "WRITE" : "READ") &&
        parse_number<Offset>(start) == lock.l_start)
      return true;
  }
  return false;
}

// True if an open file of the process other than `own_descriptor` holds the lock.
bool holds(int process, const struct stat& file, const struct flock& lock, int own_descriptor) {
  bool is_found = false;
  const std::string directory = "/proc/" + std::to_string(process);
  for_each_number(directory + "/fd", [&](int descriptor) {
    struct stat other;
    const std::string name = std::to_string(descriptor);
    return is_found = descriptor != own_descriptor &&
                      ::stat((directory + "/fd/" + name).c_str(), &other) == 0 &&
                      other.st_ino == file.st_ino && other.st_dev == file.st_dev &&
                      holds(directory + "/fdinfo/" + name, lock);
  });
  return is_found;
}

// Returns the name of a program. Bytes that are not printable ASCII are replaced by '?'.
std::string program_name(int process) {
  std::string name;
  std::ifstream comm("/proc/" + std::to_string(process) + "/comm");
  std::getline(comm, name);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return name;
}

}  // namespace

Lock_Holder Lock_Wait::find_holder() const {
  struct flock lock = lock_;
  struct stat file;
  if (::fcntl(descriptor_, F_OFD_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return {};
  if (::fstat(descriptor_, &file) != 0) return {};
  const int own = ::getpid();
  if (holds(own, file, lock, descriptor_)) return {own, "this process"};
  int holder = std::max(lock.l_pid, 0);  // -1 for a lock of an open file
  if (holder == 0)
    for_each_number("/proc", [&](int process) {
      const bool is_holder = process != own && holds(process, file, lock, -1);
      if (is_holder) holder = process;
      return is_holder;
    });
  if (holder == 0) return {};
  return {holder, "process " + std::to_string(holder) + " (" + program_name(holder) + ")"};
}

// ---- locking ------------------------------------------------------------------------------------

static void (*lock_wait_hook)(Lock_Wait&) = nullptr;

void set_lock_wait_hook(void (*hook)(Lock_Wait&)) { lock_wait_hook = hook; }

static struct flock lock_argument(short type, Lock_Range range) {
  struct flock argument {};
  argument.l_type = type;
  argument.l_whence = SEEK_SET;
  argument.l_start = range.start;
  argument.l_len = range.size;
  return argument;
}

// Because waiting writers only try the tail lock from time to time, a busy writer that releases it
// and takes it again at once could keep it from all others. Therefore a writer that has waited for
// some time holds this other lock, shared. A busy writer checks this lock now and then, and if it
// is held, lets others go first. This is not necessary for other ranges, which are never held for
// long.
static constexpr Lock_Range waiting_lock{presence_lock.start - 1, 1};
static constexpr std::chrono::milliseconds long_wait{20};
static constexpr Backoff::Pauses pauses{.first = std::chrono::microseconds(50),
                                        .longest = std::chrono::milliseconds(1)};

bool try_lock(int descriptor, short type, Lock_Range range) {
  struct flock argument = lock_argument(type, range);
  while (::fcntl(descriptor, F_OFD_SETLK, &argument) != 0)
    if (errno != EINTR) return false;
  return true;
}

bool File::try_lock(short type, Lock_Range range) const {
  return joedb::try_lock(descriptor_, type, range);
}

void File::lock(short type, Lock_Range range, System::Duration patience) const {
  require_own_process();
  const auto is_locked = [&] {
    if (try_lock(type, range)) return true;
    if (errno != EAGAIN && errno != EACCES) throw_io_error("locking", get_name(), -1, errno);
    return false;
  };
  const bool is_tail = range.start == tail_lock.start;
  if (is_tail && patience > pauses.longest) give_way();
  if (is_locked()) return;
  const struct flock wanted = lock_argument(type, range);
  Lock_Wait wait(get_name(), descriptor_, wanted, system_);
  // A transaction is often shorter than the shortest sleep.
  constexpr int quick_tries = 20;
  for (int i = 0; i < quick_tries; ++i) {
    std::this_thread::yield();
    if (is_locked()) return;
  }
  struct Waiting {
    const File& file;
    bool is_shown = false;
    ~Waiting() {
      if (is_shown && !file.is_inherited()) file.try_lock(F_UNLCK, waiting_lock);
    }
  } waiting{*this};
  Backoff backoff(system_, pauses, patience);
  while (!is_locked()) {
    if (lock_wait_hook != nullptr) lock_wait_hook(wait);
    if (is_tail && !waiting.is_shown && wait.waited() > long_wait)
      waiting.is_shown = try_lock(F_RDLCK, waiting_lock);
    if (backoff.wait()) continue;
    const System::Duration waited = wait.waited();
    const Lock_Holder holder = wait.find_holder();
    throw Lock_Timeout(get_name(), holder.process, holder.text, waited);
  }
}

// If a writer has waited for some time, waits as long as the longest pause of that writer.
void File::give_way() const {
  constexpr unsigned locks_per_look = 16;
  if (++locks_ % locks_per_look != 0) return;
  struct flock waiting = lock_argument(F_WRLCK, waiting_lock);
  if (::fcntl(descriptor_, F_OFD_GETLK, &waiting) == 0 && waiting.l_type != F_UNLCK)
    system_.sleep(2 * pauses.longest);
}

bool File::try_exclusive_lock(Offset start, Offset size) {
  require_own_process();
  if (try_lock(F_WRLCK, {start, size})) return true;
  if (errno != EAGAIN && errno != EACCES) throw_io_error("locking", get_name(), -1, errno);
  return false;
}

void File::lock_at_opening() {
  if (get_mode() == Open_Mode::write_lock) {
    lock(F_WRLCK, tail_lock, busy_timeout_);
  } else if (!is_readonly() && !is_shared() &&
             !File::try_exclusive_lock(tail_lock.start, tail_lock.size)) {
    const struct flock wanted = lock_argument(F_WRLCK, tail_lock);
    const Lock_Holder holder = Lock_Wait(get_name(), descriptor_, wanted, system_).find_holder();
    throw File_Locked(get_name(), holder.process, holder.text);
  }
  try {
    lock(F_RDLCK, presence_lock, busy_timeout_);
  } catch (const Lock_Timeout&) {
    throw;
  } catch (const Io_Error&) {  // if locks are not supported, a reader does not need them
    if (!is_readonly()) throw;
  }
}

bool File::is_being_written() const {
  struct flock argument = lock_argument(F_RDLCK, tail_lock);
  return ::fcntl(descriptor_, F_OFD_GETLK, &argument) == 0 && argument.l_type != F_UNLCK;
}

void File::shared_lock(Offset start, Offset size) { lock(F_RDLCK, {start, size}, busy_timeout_); }

void File::exclusive_lock(Offset start, Offset size) {
  lock(F_WRLCK, {start, size}, busy_timeout_);
}

void File::unlock(Offset start, Offset size) noexcept {
  // If this fails, closing the file releases the lock.
  if (!is_inherited()) try_lock(F_UNLCK, {start, size});
}

}  // namespace joedb::inline v1
