#ifndef JOEDB_SRC_SHARE_NETWORK_PATIENCE_CLOCK_H
#define JOEDB_SRC_SHARE_NETWORK_PATIENCE_CLOCK_H

#include <algorithm>
#include <chrono>
#include <string>

#include "joedb/network/channel.h"

namespace joedb::network {

// To make a channel takes no longer than this, whatever the patience.
inline constexpr System::Duration setup_time = std::chrono::seconds(10);

// The time limit of the waits of one channel. Not thread-safe.
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

  // Notes that bytes were sent or received.
  void moved(std::size_t bytes) {
    constexpr std::size_t bytes_per_ms = 4;
    if (patience_.time == System::Duration::max()) return;
    const System::Time most = System::after(now(), patience_.time);
    end_ = std::min(most, System::after(end_, std::chrono::milliseconds(bytes / bytes_per_ms)));
  }

  // Returns how long to wait now, at least 1 ms: then call this again. Throws what Patience::look
  // throws, and Connection_Lost at the end of the time. `name` is that of the server.
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
