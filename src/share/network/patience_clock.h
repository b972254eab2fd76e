#ifndef JOEDB_SRC_SHARE_NETWORK_PATIENCE_CLOCK_H
#define JOEDB_SRC_SHARE_NETWORK_PATIENCE_CLOCK_H

#include <algorithm>
#include <chrono>
#include <string>

#include "joedb/network/channel.h"

namespace joedb::network {

// The time limit for setting up a channel, even if its Patience allows more.
inline constexpr System::Duration setup_time = std::chrono::seconds(10);

// The time limit for the waits of one channel. Not thread-safe.
class Patience_Clock {
 public:
  void start(const Patience& patience) {
    patience_ = patience;
    end_ = System::after(now(), patience_.time);
  }
  void start_setup(Patience patience) {
    patience.time = std::min(patience.time, setup_time);
    start(patience);
  }

  // Extends the time limit after bytes were sent or received.
  void moved(std::size_t bytes) {
    constexpr std::size_t bytes_per_ms = 4;
    if (patience_.time == System::Duration::max()) return;
    const System::Time most = System::after(now(), patience_.time);
    end_ = std::min(most, System::after(end_, std::chrono::milliseconds(bytes / bytes_per_ms)));
  }

  // Returns how long the caller may wait, at least 1 ms, before it calls this function again.
  // Passes on the exceptions of Patience::look. Throws Connection_Lost when the time limit is
  // reached. `name` is the name of the server, for messages.
  std::chrono::milliseconds next_wait(const std::string& name) const {
    constexpr std::chrono::milliseconds between_looks{20};
    constexpr std::chrono::milliseconds longest{60'000};
    if (patience_.look) patience_.look();
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - now());
    if (left.count() <= 0)
      throw Connection_Lost(
          name + ": no answer after " +
          std::to_string(std::chrono::ceil<std::chrono::seconds>(patience_.time).count()) + " s");
    return std::min(left, patience_.look ? between_looks : longest);
  }

 private:
  static System::Time now() { return System::real().now(); }

  Patience patience_;
  System::Time end_ = System::Time::max();
};

}  // namespace joedb::network

#endif
