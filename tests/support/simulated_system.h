#ifndef JOEDB_TESTS_SUPPORT_SIMULATED_SYSTEM_H
#define JOEDB_TESTS_SUPPORT_SIMULATED_SYSTEM_H

#include <atomic>
#include <functional>
#include <utility>

#include "joedb/base/threads.h"

namespace joedb::testing {

// A system whose time advances only by advance() and sleep(). Random numbers count up from 1.
class Simulated_System : public System {
 public:
  // Called after each sleep.
  std::function<void()> on_sleep;

  void advance(Duration duration) { time_ += duration.count(); }
  Duration passed() const { return Duration(time_); }

  Time now() override { return Time(passed()); }
  void sleep(Duration duration) override {
    advance(duration);
    if (on_sleep) on_sleep();
  }
  // Returns when notified, or after 1 ms of real time: callers check the time after each return.
  void wait_until(std::condition_variable& condition, std::unique_lock<std::mutex>& lock,
                  Time) override {
    condition.wait_for(lock, std::chrono::milliseconds(1));
  }
  std::uint64_t random() override { return ++random_; }

 private:
  std::atomic<Duration::rep> time_ = 0;
  std::atomic<std::uint64_t> random_ = 0;
};

}  // namespace joedb::testing

#endif
