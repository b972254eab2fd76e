#ifndef JOEDB_BASE_SYSTEM_H
#define JOEDB_BASE_SYSTEM_H

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace joedb::inline v1 {

// Time and randomness, as whatever waits, or needs a number that nobody can guess, gets them. A
// test derives a class with times of its own.
//
// Thread-safe.
class System {
 public:
  using Duration = std::chrono::steady_clock::duration;
  using Time = std::chrono::steady_clock::time_point;

  constexpr System() = default;
  virtual ~System() = default;
  System(const System&) = delete;
  System& operator=(const System&) = delete;

  // The one of the machine: std::chrono::steady_clock, std::random_device. It lives for ever.
  static System& real();

  virtual Time now();
  // `start + duration`, or the last moment there is.
  static constexpr Time after(Time start, Duration duration) {
    return duration < Time::max() - start ? start + duration : Time::max();
  }
  virtual void sleep(Duration duration);
  // Waits for a notification, at most until `end`; may return earlier, without one.
  virtual void wait_until(std::condition_variable& condition, std::unique_lock<std::mutex>& lock,
                          Time end);
  // 64 random bits. Throws std::exception if there are none.
  virtual std::uint64_t random();
};

}  // namespace joedb::inline v1

#endif
