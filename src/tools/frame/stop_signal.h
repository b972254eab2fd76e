#ifndef JOEDB_SRC_TOOLS_FRAME_STOP_SIGNAL_H
#define JOEDB_SRC_TOOLS_FRAME_STOP_SIGNAL_H

#include <signal.h>

#include <chrono>
#include <stdexcept>
#include <string>

namespace joedb {

// Thrown when a signal ends the tool, after it has rolled back. main() prints the message, and
// raises the signal again. Not an Exception: loops of commands go on after those.
class Interrupted : public std::runtime_error {
 public:
  Interrupted(int signal_number, const char* what)
      : std::runtime_error(std::string("interrupted: ") + what), signal(signal_number) {}
  const int signal;
};

// During its lifetime, the first SIGINT or SIGTERM only requests a stop; the second one ends the
// process. Only one object may exist at a time.
class Stop_Signal {
 public:
  Stop_Signal();
  ~Stop_Signal();
  Stop_Signal(const Stop_Signal&) = delete;
  Stop_Signal& operator=(const Stop_Signal&) = delete;

  bool has_come() const;
  // Throws Interrupted if a signal has come. `what` is, for example, "nothing was imported".
  void require_none(const char* what) const;

  // Returns after `duration`, or when a signal comes.
  void sleep(std::chrono::milliseconds duration);

 private:
  struct sigaction old_interrupt_;
  struct sigaction old_terminate_;
};

// For Connector::Settings::look: throws Interrupted 0.2 s after a signal has come to the
// Stop_Signal of the tool, so that the signal ends a request that is not answered. A no-op without
// a Stop_Signal.
void end_wait_after_signal();

// Calls f(), a request that asks a server to wait up to `wait` for news. Returns false if a signal
// has ended it before the answer was late. Throws Interrupted if the answer was late.
template <class F>
bool ask_until_signal(std::chrono::milliseconds wait, F f) {
  constexpr std::chrono::milliseconds margin{300};  // for a server that is far away
  const auto start = std::chrono::steady_clock::now();
  try {
    f();
    return true;
  } catch (const Interrupted&) {
    const bool may_wait = wait > wait.zero();
    if (!may_wait || std::chrono::steady_clock::now() - start > wait + margin) throw;
    return false;
  }
}

// Returns the number of a signal that a Stop_Signal or an Interrupts has noted and that was not
// cleared; 0 if there is none.
int stop_signal_come();

// During its lifetime, control-C (SIGINT) does not end the program: it sets a flag, and interrupts
// blocking system calls. Only one object may exist at a time.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // Returns true if control-C has come since the last clear().
  bool has_come() const;
  void clear() const;
  // Waits until the descriptor is readable. Returns false if control-C comes first, or has come
  // before.
  bool wait_for(int descriptor) const;

 private:
  struct sigaction old_;
};

// During its lifetime, control-C ends the program again, even inside the lifetime of an Interrupts:
// for operations that may wait for others for a long time. A no-op without an Interrupts.
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

// From now on, a write to a pipe without a reader fails with EPIPE instead of ending the program.
void ignore_closed_pipes();

}  // namespace joedb

#endif
