#include "kernel/base/interrupts.h"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

namespace joedb {

using namespace std::chrono_literals;

class Interrupts : public testing::Test {
 protected:
  struct Stop : std::runtime_error {
    Stop() : std::runtime_error("stop") {}
  };
  // Makes the next look_for_interrupt() call its function.
  static void wait() { std::this_thread::sleep_for(60ms); }
  const std::function<void()> stop_ = [] { throw Stop(); };
};

TEST_F(Interrupts, NothingIsCalledWithoutAnInterruptible) {
  { const Interruptible interruptible(stop_); }
  wait();
  look_for_interrupt();
}

TEST_F(Interrupts, TheNewestFunctionIsCalled) {
  int inner_calls = 0, outer_calls = 0;
  const std::function<void()> outer = [&] { ++outer_calls; };
  const std::function<void()> inner = [&] { ++inner_calls; };
  const Interruptible outer_interruptible(outer);
  {
    const Interruptible inner_interruptible(inner);
    wait();
    look_for_interrupt();
  }
  EXPECT_EQ(outer_calls, 0);
  EXPECT_EQ(inner_calls, 1);
  wait();
  look_for_interrupt();
  EXPECT_EQ(outer_calls, 1);
}

TEST_F(Interrupts, OtherThreadsAreNotInterrupted) {
  const Interruptible interruptible(stop_);
  wait();
  std::thread([] { look_for_interrupt(); }).join();
  EXPECT_THROW(look_for_interrupt(), Stop);
}

TEST_F(Interrupts, AnInterruptIsThrownAgainAtOnce) {
  const Interruptible interruptible(stop_);
  wait();
  EXPECT_THROW(look_for_interrupt(), Stop);
  EXPECT_THROW(look_for_interrupt(), Stop);
  EXPECT_THROW(interruptible.rethrow(), Stop);
}

TEST_F(Interrupts, AnInterruptIsNotLostInAFunctionThatCatchesIt) {
  const auto caught = [] {
    wait();
    try {
      look_for_interrupt();
    } catch (const std::exception&) {
    }
    return 1;
  };
  EXPECT_THROW(interruptibly(stop_, caught), Stop);
  const auto replaced = [&] {
    caught();
    throw std::logic_error("another error");
  };
  EXPECT_THROW(interruptibly(stop_, replaced), Stop);
}

TEST_F(Interrupts, AFunctionWithoutInterruptsReturnsItsResult) {
  const std::function<void()> nothing = [] {};
  EXPECT_EQ(interruptibly(nothing, [] { return std::string("result"); }), "result");
  EXPECT_THROW(interruptibly(nothing, [] { throw std::logic_error("own"); }), std::logic_error);
}

}  // namespace joedb
