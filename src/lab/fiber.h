#ifndef LAB_FIBER_H
#define LAB_FIBER_H

#include <functional>
#include <memory>

namespace joedb::testing {

// A function with a stack of its own, which can be suspended in the middle and resumed: code that
// waits, in one thread, where a simulation decides what comes next.
//
// A fiber belongs to the thread that made it. It may be suspended anywhere, also in a destructor or
// in a handler of an exception. The function must return before the fiber is destroyed, and must
// not throw.
class Fiber {
 public:
  explicit Fiber(std::function<void()> function);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs the function until it suspends itself or returns.
  void resume();
  // Called by the function: goes back to resume().
  void suspend();
  bool is_done() const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace joedb::testing

#endif
