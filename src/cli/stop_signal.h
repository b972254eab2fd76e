#ifndef JOEDB_CLI_STOP_SIGNAL_H
#define JOEDB_CLI_STOP_SIGNAL_H

#include <signal.h>

#include <chrono>

#include "joedb/base/error.h"

namespace joedb {

// A signal ends the tool, which has undone what it had begun. main() prints it, and ends by the
// signal.
class Interrupted : public Exception {
 public:
  Interrupted(int signal_number, const char* what)
      : Exception(std::string("interrupted: ") + what), signal(signal_number) {}
  const int signal;
};

// While one of these lives, SIGINT and SIGTERM do not end the program at once, but ask it to stop.
// The second one ends it. There may be only one at a time.
class Stop_Signal {
 public:
  Stop_Signal();
  ~Stop_Signal();
  Stop_Signal(const Stop_Signal&) = delete;
  Stop_Signal& operator=(const Stop_Signal&) = delete;

  bool has_come() const;
  // Throws Interrupted if it has come. `what`: "nothing was imported"
  void require_none(const char* what) const;

  // Waits for some time, or until the signal comes.
  void sleep(std::chrono::milliseconds duration);

 private:
  struct sigaction old_interrupt_;
  struct sigaction old_terminate_;
};

// While one of these lives, control-C (SIGINT) does not end the program, but is noted, and
// interrupts system calls that wait. There may be only one at a time.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // Since this was cleared last.
  bool has_come() const;
  void clear() const;
  // Waits until there is something to read. Returns false if control-C comes before, or has come.
  bool wait_for(int descriptor) const;

 private:
  struct sigaction old_;
};

// While one of these lives, control-C ends the program all the same: for what may wait for others
// for a long time. Does nothing if there is no Interrupts.
class Interrupts_End_Program {
 public:
  Interrupts_End_Program();
  ~Interrupts_End_Program();
  Interrupts_End_Program(const Interrupts_End_Program&) = delete;
  Interrupts_End_Program& operator=(const Interrupts_End_Program&) = delete;

 private:
  const bool is_needed_;
  struct sigaction old_;
};

// From now on, a write to a pipe that nobody reads fails, and does not end the program.
void ignore_closed_pipes();

}  // namespace joedb

#endif
