#ifndef JOEDB_BASE_PROCESS_MARK_H
#define JOEDB_BASE_PROCESS_MARK_H

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

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

// Keeps an object of the parent alive until the process ends. For objects that a child must not
// destroy, such as a thread and the objects it uses.
void keep_until_exit(std::shared_ptr<void> object);

// Owns an object that has threads or connections. In a child process, using the object throws
// Inherited_Object, and the object is never destroyed.
template <class T>
class Process_Owned {
 public:
  // `name` is for the error.
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

}  // namespace joedb::inline v1

#endif
