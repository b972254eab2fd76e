#ifndef JOEDB_SRC_KERNEL_BASE_INTERRUPTS_H
#define JOEDB_SRC_KERNEL_BASE_INTERRUPTS_H

#include <exception>
#include <functional>
#include <type_traits>

namespace joedb::inline v1 {

// While this object exists, the code that this thread runs can be interrupted where it calls
// look_for_interrupt(). If there are several such objects, the newest counts.
class Interruptible {
 public:
  // `look` must outlive this object.
  explicit Interruptible(const std::function<void()>& look);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  // Throws what `look` has thrown. Does nothing if it has thrown nothing.
  void rethrow() const {
    if (interrupt_) std::rethrow_exception(interrupt_);
  }

 private:
  friend void look_for_interrupt();
  void call_look();

  const std::function<void()>& look_;
  Interruptible* const outer_;
  std::exception_ptr interrupt_;
};

// Calls the `look` of the Interruptible of this thread, at most every 50 ms. If it has thrown once,
// throws the same each time. Does nothing without an Interruptible. Takes about 20 ns; call it in
// loops that may take long, and not where an exception would end all later writing.
void look_for_interrupt();

// For loops whose steps are shorter than look(): each 4096th call calls it.
template <void (*look)()>
class Look_Counter {
 public:
  void operator()() {
    constexpr unsigned many = 1 << 12;
    if (++count_ % many == 0) look();
  }

 private:
  unsigned count_ = 0;
};
using Interrupt_Counter = Look_Counter<look_for_interrupt>;

// Calls f(), which can be interrupted by what `look` throws. This exception is thrown even if f()
// has caught it, or has thrown another one instead. For functions that leave nothing half-made:
// they only read, or their caller takes their changes back.
template <class F>
auto interruptibly(const std::function<void()>& look, F f) {
  const Interruptible interruptible(look);
  try {
    if constexpr (std::is_void_v<decltype(f())>) {
      f();
      interruptible.rethrow();
    } else {
      auto result = f();
      interruptible.rethrow();
      return result;
    }
  } catch (...) {
    interruptible.rethrow();
    throw;
  }
}

}  // namespace joedb::inline v1

#endif
