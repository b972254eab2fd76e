#ifndef JOEDB_BASE_SYSTEM_H
#define JOEDB_BASE_SYSTEM_H

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace joedb::inline v1 {

// The source of time and randomness for all code that waits, or needs an unpredictable number.
// Tests derive a class with simulated time.
//
// Thread-safe. A derived class must be thread-safe, too, if several threads use it.
class System {
 public:
  using Duration = std::chrono::steady_clock::duration;
  using Time = std::chrono::steady_clock::time_point;

  constexpr System() = default;
  virtual ~System() = default;
  System(const System&) = delete;
  System& operator=(const System&) = delete;

  // Returns the system that uses the machine's clock and random numbers: std::chrono::steady_clock,
  // std::random_device. The object is never destroyed.
  static System& real();

  // Returns a monotonic time, unrelated to the calendar.
  virtual Time now();
  // Returns `start + duration`, or the latest time if that would overflow.
  static constexpr Time after(Time start, Duration duration) {
    return duration < Time::max() - start ? start + duration : Time::max();
  }
  // Blocks the thread for at least `duration`; returns at once if it is 0 or negative.
  virtual void sleep(Duration duration);
  // Waits for a notification, until `end` at most; may return earlier without a notification.
  // `lock` must be locked; it is unlocked meanwhile, and locked again afterwards.
  virtual void wait_until(std::condition_variable& condition, std::unique_lock<std::mutex>& lock,
                          Time end);
  // Returns 64 random bits. Throws std::exception if no source of randomness is available.
  virtual std::uint64_t random();
};

}  // namespace joedb::inline v1

#endif
