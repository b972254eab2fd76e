#ifndef JOEDB_BASE_SYSTEM_H
#define JOEDB_BASE_SYSTEM_H

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace joedb::inline v1 {

// The source of time and randomness for all code that waits, or needs a number that cannot be
// guessed. A test derives a class with its own time.
//
// Thread-safe. A derived class must be, too, if several threads use it.
class System {
 public:
  using Duration = std::chrono::steady_clock::duration;
  using Time = std::chrono::steady_clock::time_point;

  constexpr System() = default;
  virtual ~System() = default;
  System(const System&) = delete;
  System& operator=(const System&) = delete;

  // The clock and the random numbers of the machine: std::chrono::steady_clock, std::random_device.
  // The object is never destroyed.
  static System& real();

  // Never goes backwards. It has no relation to the calendar.
  virtual Time now();
  // `start + duration`, or the last moment there is.
  static constexpr Time after(Time start, Duration duration) {
    return duration < Time::max() - start ? start + duration : Time::max();
  }
  // Blocks the thread for at least this duration; not at all if it is 0 or negative.
  virtual void sleep(Duration duration);
  // Waits for a notification, at most until `end`; may return earlier, without one. `lock` must be
  // locked, is unlocked meanwhile, and is locked again afterwards.
  virtual void wait_until(std::condition_variable& condition, std::unique_lock<std::mutex>& lock,
                          Time end);
  // 64 random bits. Throws std::exception if there are none.
  virtual std::uint64_t random();
};

}  // namespace joedb::inline v1

#endif
