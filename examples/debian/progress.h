#ifndef DEBIAN_PROGRESS_H
#define DEBIAN_PROGRESS_H

#include <chrono>
#include <cstdint>
#include <optional>

// Shows on standard error how far a load has come: on a terminal in one line that moves, elsewhere
// in a line per second.
class Progress {
 public:
  // Without a total (a pipe) there is no bar.
  explicit Progress(std::optional<std::int64_t> total_bytes);
  // Takes the line away.
  ~Progress();

  void show(std::int64_t bytes, std::int64_t versions);

 private:
  using Clock = std::chrono::steady_clock;

  const std::optional<std::int64_t> total_bytes_;
  const bool is_terminal_;
  const Clock::duration interval_;
  Clock::time_point next_ = Clock::now();
};

#endif
