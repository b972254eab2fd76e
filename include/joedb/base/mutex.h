#ifndef JOEDB_BASE_MUTEX_H
#define JOEDB_BASE_MUTEX_H

#include <condition_variable>
#include <mutex>
#include <new>

#include "joedb/base/process_mark.h"
#include "joedb/base/system.h"

// A mutex for clang's thread-safety analysis (-Wthread-safety): with clang, the build fails if a
// member declared JOEDB_GUARDED_BY a mutex is used while the mutex is not locked. Other compilers
// ignore the attributes.
//
// Source: https://clang.llvm.org/docs/ThreadSafetyAnalysis.html; LevelDB's port::Mutex.

#if defined(__clang__)
#define JOEDB_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define JOEDB_THREAD_ATTRIBUTE(x)
#endif
#define JOEDB_CAPABILITY(name) JOEDB_THREAD_ATTRIBUTE(capability(name))
#define JOEDB_SCOPED_CAPABILITY JOEDB_THREAD_ATTRIBUTE(scoped_lockable)
#define JOEDB_GUARDED_BY(mutex) JOEDB_THREAD_ATTRIBUTE(guarded_by(mutex))
#define JOEDB_REQUIRES(...) JOEDB_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define JOEDB_ACQUIRE(...) JOEDB_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define JOEDB_RELEASE(...) JOEDB_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))

namespace joedb::inline v1 {

// A std::mutex: not recursive. It must be unlocked by the thread that locked it.
class JOEDB_CAPABILITY("mutex") Mutex {
 public:
  void lock() JOEDB_ACQUIRE() { mutex_.lock(); }
  void unlock() JOEDB_RELEASE() { mutex_.unlock(); }

  // Waits for a notification; the mutex is unlocked meanwhile, and locked again when this returns
  // or throws. Wakeups can be spurious: call it in a loop that checks the condition.
  void wait(std::condition_variable& condition) JOEDB_REQUIRES(this) {
    Adopted adopted(mutex_);
    condition.wait(adopted.lock);
  }
  // Like wait, but returns at time `end` at the latest.
  void wait_until(std::condition_variable& condition, System::Time end, System& system)
      JOEDB_REQUIRES(this) {
    Adopted adopted(mutex_);
    system.wait_until(condition, adopted.lock, end);
  }

 private:
  // Keeps the mutex locked, even if a wait throws.
  struct Adopted {
    explicit Adopted(std::mutex& mutex) : lock(mutex, std::adopt_lock) {}
    ~Adopted() { lock.release(); }
    Adopted(const Adopted&) = delete;
    Adopted& operator=(const Adopted&) = delete;
    std::unique_lock<std::mutex> lock;
  };

  std::mutex mutex_;
};

// A std::condition_variable that can be destroyed in a child process (base/process_mark.h). The
// destructor of a std::condition_variable blocks until all waiting threads have left, but the
// threads of the parent do not exist in the child.
class Condition {
 public:
  Condition() { new (&value_) std::condition_variable; }
  ~Condition() {
    if (!process_.is_inherited()) value_.~condition_variable();
  }
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;
  operator std::condition_variable&() { return value_; }
  std::condition_variable* operator->() { return &value_; }

 private:
  union {
    std::condition_variable value_;
  };
  const Process_Mark process_;
};

// Locks a mutex for its lifetime.
class JOEDB_SCOPED_CAPABILITY Mutex_Lock {
 public:
  explicit Mutex_Lock(Mutex& mutex) JOEDB_ACQUIRE(mutex) : mutex_(mutex) { mutex.lock(); }
  ~Mutex_Lock() JOEDB_RELEASE() { mutex_.unlock(); }
  Mutex_Lock(const Mutex_Lock&) = delete;
  Mutex_Lock& operator=(const Mutex_Lock&) = delete;

 private:
  Mutex& mutex_;
};

// Unlocks a locked mutex for its lifetime.
class JOEDB_SCOPED_CAPABILITY Mutex_Unlock {
 public:
  explicit Mutex_Unlock(Mutex& mutex) JOEDB_RELEASE(mutex) : mutex_(mutex) { mutex.unlock(); }
  ~Mutex_Unlock() JOEDB_RELEASE() { mutex_.lock(); }  // releases this object, not the mutex
  Mutex_Unlock(const Mutex_Unlock&) = delete;
  Mutex_Unlock& operator=(const Mutex_Unlock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace joedb::inline v1

#endif
