#ifndef JOEDB_BASE_THREADS_H
#define JOEDB_BASE_THREADS_H

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <utility>

// Tools for objects that threads share: Process_Mark, the source of time, mutexes.

namespace joedb::inline v1 {

// Records the process in which an object was made. fork() copies the object to a child process. The
// copy shares files, their locks and sockets with the parent, but the threads of the parent do not
// run in the child. So the copy must not write, unlock or join anything.
//
// Thread-safe. Does not detect a child that was made by vfork() or by clone() without fork().
class Process_Mark {
 public:
  Process_Mark() noexcept : made_after_(forks.load(std::memory_order_relaxed)) {}

  // True in a child process that fork() made after this object.
  bool is_inherited() const noexcept {
    return made_after_ != forks.load(std::memory_order_relaxed);
  }
  // Throws Inherited_Object if is_inherited(). `name` is the name of the file or connection.
  void require_own(std::string_view name) const {
    if (is_inherited()) [[unlikely]]
      refuse(name);
  }

 private:
  [[noreturn]] static void refuse(std::string_view name);

  // Number of forks between the first process of the program and this one.
  static std::atomic<unsigned> forks;
  static const int is_counting;

  unsigned made_after_;
};

// Keeps an object alive until the process ends. A child process uses this function for objects of
// its parent that the child must not destroy, such as a thread and the objects that the thread
// uses.
void keep_until_exit(std::shared_ptr<void> object);

// Owns an object that has threads or connections. In a child process, each use of the object throws
// Inherited_Object, and the object is never destroyed.
template <class T>
class Process_Owned {
 public:
  // `name` is the name in the text of Inherited_Object.
  Process_Owned(std::unique_ptr<T> object, std::string name)
      : name_(std::move(name)), object_(std::move(object)) {}
  ~Process_Owned() {
    if (is_inherited()) keep_until_exit(std::move(object_));
  }
  Process_Owned(const Process_Owned&) = delete;
  Process_Owned& operator=(const Process_Owned&) = delete;

  bool is_inherited() const noexcept { return process_.is_inherited(); }
  T* operator->() const {
    process_.require_own(name_);
    return object_.get();
  }

 private:
  const Process_Mark process_;
  const std::string name_;
  std::unique_ptr<T> object_;
};

// The source of time and randomness for all code that waits, or needs an unpredictable number.
// Tests derive a class with simulated time.
//
// Thread-safe. A derived class must be thread-safe, too, if several threads use its objects.
class System {
 public:
  using Duration = std::chrono::steady_clock::duration;
  using Time = std::chrono::steady_clock::time_point;

  constexpr System() = default;
  virtual ~System() = default;
  System(const System&) = delete;
  System& operator=(const System&) = delete;

  // Returns the system that uses std::chrono::steady_clock and std::random_device. The object is
  // never destroyed.
  static System& real();

  // Returns a monotonic time, unrelated to the calendar.
  virtual Time now();
  // Returns `start + duration`, or the latest possible time if the sum would overflow.
  static constexpr Time after(Time start, Duration duration) {
    return duration < Time::max() - start ? start + duration : Time::max();
  }
  // Blocks the thread for at least `duration`; returns at once if `duration` is 0 or negative.
  virtual void sleep(Duration duration);
  // Waits until a notification, but not longer than until `end`. May return earlier without a
  // notification. `lock` must be locked; it is unlocked during the wait, and locked again
  // afterwards.
  virtual void wait_until(std::condition_variable& condition, std::unique_lock<std::mutex>& lock,
                          Time end);
  // Returns 64 random bits. Throws std::exception if no source of randomness is available.
  virtual std::uint64_t random();
};

}  // namespace joedb::inline v1

// A mutex with the attributes of clang's thread-safety analysis (-Wthread-safety): with clang, the
// build fails if a member that is declared JOEDB_GUARDED_BY(mutex) is used while the mutex is not
// locked. Other compilers ignore the attributes.
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

  // Waits for a notification; the mutex is unlocked during the wait, and locked again when this
  // function returns or throws. Wakeups can be spurious: call this function in a loop that checks
  // the condition.
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

// A std::condition_variable that can be destroyed in a child process. The destructor of a
// std::condition_variable blocks until all waiting threads have left. In the child, it would block
// for ever, because the threads of the parent do not exist there.
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
