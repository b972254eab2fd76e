#ifndef JOEDB_SRC_SIM_LAB_FIBER_H
#define JOEDB_SRC_SIM_LAB_FIBER_H

#include <functional>
#include <memory>

namespace joedb::testing {

// A function with its own stack, which can be suspended and resumed (a stackful coroutine). So
// several pieces of blocking code can run in one thread, under the control of a simulation.
//
// A fiber belongs to the thread that made it. It may be suspended anywhere, even in a destructor or
// an exception handler. The function must return before the fiber is destroyed, and must not throw.
class Fiber {
 public:
  explicit Fiber(std::function<void()> function);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs the function until it suspends itself or returns.
  void resume();
  // Called by the function: returns control to resume().
  void suspend();
  bool is_done() const;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace joedb::testing

#endif
