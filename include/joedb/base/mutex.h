#ifndef JOEDB_BASE_MUTEX_H
#define JOEDB_BASE_MUTEX_H

#include <condition_variable>
#include <mutex>
#include <new>

#include "joedb/base/process_mark.h"
#include "joedb/base/system.h"

// A mutex that clang's thread-safety analysis (-Wthread-safety) knows: members that are declared
// JOEDB_GUARDED_BY a mutex are used only while it is locked, or the build fails. Other compilers
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

// A std::mutex: not recursive. Unlock it in the thread that has locked it.
class JOEDB_CAPABILITY("mutex") Mutex {
 public:
  void lock() JOEDB_ACQUIRE() { mutex_.lock(); }
  void unlock() JOEDB_RELEASE() { mutex_.unlock(); }

  // Unlocks the mutex while it waits. Returns after a notification, or without one: call it in a
  // loop that checks the condition. The mutex is locked again when these return or throw.
  void wait(std::condition_variable& condition) JOEDB_REQUIRES(this) {
    Adopted adopted(mutex_);
    condition.wait(adopted.lock);
  }
  // The same, until `end` at most.
  void wait_until(std::condition_variable& condition, System::Time end, System& system)
      JOEDB_REQUIRES(this) {
    Adopted adopted(mutex_);
    system.wait_until(condition, adopted.lock, end);
  }

 private:
  // The mutex is locked before and afterwards, also if a wait throws.
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
// destructor of a std::condition_variable waits for the threads that wait for it, and those of the
// parent never come.
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

// Locks a mutex while it lives.
class JOEDB_SCOPED_CAPABILITY Mutex_Lock {
 public:
  explicit Mutex_Lock(Mutex& mutex) JOEDB_ACQUIRE(mutex) : mutex_(mutex) { mutex.lock(); }
  ~Mutex_Lock() JOEDB_RELEASE() { mutex_.unlock(); }
  Mutex_Lock(const Mutex_Lock&) = delete;
  Mutex_Lock& operator=(const Mutex_Lock&) = delete;

 private:
  Mutex& mutex_;
};

// Unlocks a mutex that is locked, while it lives.
class JOEDB_SCOPED_CAPABILITY Mutex_Unlock {
 public:
  explicit Mutex_Unlock(Mutex& mutex) JOEDB_RELEASE(mutex) : mutex_(mutex) { mutex.unlock(); }
  ~Mutex_Unlock() JOEDB_RELEASE() { mutex_.lock(); }  // of this object: that locks
  Mutex_Unlock(const Mutex_Unlock&) = delete;
  Mutex_Unlock& operator=(const Mutex_Unlock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace joedb::inline v1

#endif
