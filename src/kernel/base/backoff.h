#ifndef JOEDB_SRC_KERNEL_BASE_BACKOFF_H
#define JOEDB_SRC_KERNEL_BASE_BACKOFF_H

#include <algorithm>
#include <chrono>
#include <string>

#include "joedb/base/threads.h"

namespace joedb::inline v1 {

// Exponential backoff: the pauses between the tries of an operation. Each pause is twice as long as
// the pause before, up to a longest pause.
//
// Sleeps only through the given System, which must outlive the object. Not thread-safe: each
// operation has its own Backoff.
class Backoff {
 public:
  struct Pauses {
    System::Duration first;
    System::Duration longest = first;
    // If true, each pause is shortened by a random part, up to half of it, so that the clients of a
    // server do not all retry at the same moment.
    bool is_random = false;
  };

  // There is no timeout.
  Backoff(System& system, const Pauses& pauses)
      : system_(system), pauses_(pauses), pause_(pauses.first) {}
  // The timeout begins now. Duration::max() means no timeout.
  Backoff(System& system, const Pauses& pauses, System::Duration timeout)
      : Backoff(system, pauses) {
    end_ = System::after(system.now(), timeout);
  }

  // Returns the length of the next pause, and ignores the timeout. For callers that log the pause
  // and sleep themselves.
  System::Duration next() {
    System::Duration pause = pause_;
    if (pauses_.is_random) pause = pause_ / 2 + pause_ * (system_.random() % 1024) / 2048;
    pause_ = std::min(2 * pause_, pauses_.longest);
    return pause;
  }

  // Sleeps for the next pause, and returns true: the caller tries again. The last pause ends at the
  // timeout, so the last try is made at the timeout. After the timeout, returns false without
  // sleeping.
  bool wait() {
    System::Duration pause = next();
    if (end_ != System::Time::max()) {
      const System::Duration left = end_ - system_.now();
      if (left <= System::Duration(0)) return false;
      pause = std::min(pause, left);
    }
    system_.sleep(pause);
    return true;
  }

 private:
  System& system_;
  const Pauses pauses_;
  System::Duration pause_;
  System::Time end_ = System::Time::max();
};

// The pauses of a client that has lost its server.
inline constexpr Backoff::Pauses reconnection_pauses{.first = std::chrono::milliseconds(100),
                                                     .longest = std::chrono::seconds(10),
                                                     .is_random = true};

// Returns "trying again in 73 ms".
inline std::string trying_again(System::Duration pause) {
  return "trying again in " +
         std::to_string(std::chrono::ceil<std::chrono::milliseconds>(pause).count()) + " ms";
}

}  // namespace joedb::inline v1

#endif
