#ifndef JOEDB_SRC_SIM_LAB_SIMULATION_H
#define JOEDB_SRC_SIM_LAB_SIMULATION_H

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "joedb/base/threads.h"
#include "sim/lab/fiber.h"
#include "sim/lab/sim_state.h"
#include "sim/lab/world.h"

namespace joedb::testing {

// A simulated process or thread that can block, and can be killed.
struct Program {
  std::unique_ptr<Fiber> fiber = nullptr;
  bool is_killed = false;

  // Called by the program: returns control to the simulation. Throws Sim_Killed if the program was
  // killed before or is killed meanwhile.
  void suspend() const {
    if (is_killed) throw Sim_Killed();
    fiber->suspend();
    if (is_killed) throw Sim_Killed();
  }
};

// A world of programs that run in one thread, with a simulated clock. The seed determines all
// events.
class Simulation : public World, public System {
 public:
  explicit Simulation(const Context& context) : World(context), is_traced_(context.is_traced) {}

  std::string operations() const override { return trace_of(settings_, seed_); }

  // System, for the running program
  Time now() override { return Time(now_); }
  void sleep(Duration duration) override {
    current_ == nullptr ? void(now_ += duration) : sleep_of(*current_, duration);
  }
  std::uint64_t random() override { return random_.next(); }

 protected:
  virtual void sleep_of(Program& program, Duration duration) = 0;

  // Returns a random duration that is less than `limit`.
  Duration below(Duration limit) {
    return Duration(static_cast<Duration::rep>(
        random_.below(static_cast<std::size_t>(std::max<Duration::rep>(limit.count(), 1)))));
  }
  void note(const std::string& text) {
    if (!is_traced_) return;
    std::string time = std::to_string(now_ / std::chrono::microseconds(1));
    if (time.size() < 12) time.insert(0, 12 - time.size(), ' ');
    trace_ += time + " " + text + "\n";
  }
  // Records that a rule is violated. Does not throw, because the caller may be a program that
  // handles exceptions.
  void fail(std::string text) {
    if (has_failed() || is_stopping_) return;
    note("FAILURE: " + text);
    failure_ = std::move(text);
  }
  bool has_failed() const { return !failure_.empty(); }
  void throw_failure() const {
    if (has_failed()) throw Broken_Rule(failure_);
  }

  void resume(Program& program) {
    if (program.fiber->is_done()) return;
    current_ = &program;
    program.fiber->resume();
    current_ = nullptr;
  }
  // For the destructor of the derived class: ends a program whose process was killed.
  void stop(Program& program) {
    is_stopping_ = true;
    program.is_killed = true;
    while (program.fiber && !program.fiber->is_done()) resume(program);
  }

  const bool is_traced_;
  bool is_stopping_ = false;
  Duration now_{};              // time since the start
  Program* current_ = nullptr;  // the running program

 private:
  std::string failure_;
};

}  // namespace joedb::testing

#endif
