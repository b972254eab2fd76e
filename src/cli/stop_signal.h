#ifndef JOEDB_CLI_STOP_SIGNAL_H
#define JOEDB_CLI_STOP_SIGNAL_H

#include <signal.h>

#include <chrono>

namespace joedb {

// While one of these lives, SIGINT and SIGTERM do not end the program at once, but ask it to stop.
// The second one ends it. There may be only one at a time.
class Stop_Signal {
 public:
  Stop_Signal();
  ~Stop_Signal();
  Stop_Signal(const Stop_Signal&) = delete;
  Stop_Signal& operator=(const Stop_Signal&) = delete;

  bool has_come() const;

  // Waits for some time, or until the signal comes.
  void sleep(std::chrono::milliseconds duration);

 private:
  struct sigaction old_interrupt_;
  struct sigaction old_terminate_;
};

// From now on, a write to a pipe that nobody reads fails, and does not end the program.
void ignore_closed_pipes();

}  // namespace joedb

#endif
