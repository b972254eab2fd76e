#ifndef JOEDB_SRC_TOOLS_FRAME_STOP_SIGNAL_H
#define JOEDB_SRC_TOOLS_FRAME_STOP_SIGNAL_H

#include <signal.h>

#include <chrono>
#include <stdexcept>
#include <string>

namespace joedb {

// Thrown if a signal ends the tool. After the tool has rolled back, main() prints the message, and
// raises the signal again. Not derived from Exception, because loops of commands continue after an
// Exception.
class Interrupted : public std::runtime_error {
 public:
  Interrupted(int signal_number, const char* what)
      : std::runtime_error(std::string("interrupted: ") + what), signal(signal_number) {}
  const int signal;
};

// While this object exists, the first SIGINT or SIGTERM only requests a stop; the second one ends
// the process. Only one object may exist at a time.
class Stop_Signal {
 public:
  Stop_Signal();
  ~Stop_Signal();
  Stop_Signal(const Stop_Signal&) = delete;
  Stop_Signal& operator=(const Stop_Signal&) = delete;

  bool has_come() const;
  // Throws Interrupted if a signal has come. `what` is the message, such as "nothing was imported".
  void require_none(const char* what) const;

  // Waits until the descriptor is readable. Returns false if a signal comes first, or has come.
  bool wait_for(int descriptor) const;
  // Returns after `duration`, or earlier if a signal comes.
  void sleep(std::chrono::milliseconds duration);

 private:
  struct sigaction old_interrupt_;
  struct sigaction old_terminate_;
};

// Use this as Connector::Settings::look. Throws Interrupted 0.2 s after the Stop_Signal of the tool
// has received a signal, so that the signal ends a request without a reply. Does nothing without a
// Stop_Signal.
void end_wait_after_signal();

// Calls f(), a request for which a server may wait up to `wait` until there are news. Returns false
// if a signal has ended the request while the reply was not late. Throws Interrupted if the reply
// was late.
template <class F>
bool ask_until_signal(std::chrono::milliseconds wait, F f) {
  constexpr std::chrono::milliseconds margin{300};  // for a distant server
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

// Returns the number of a signal that a Stop_Signal or an Interrupts has received, and that was not
// cleared; 0 if there is none.
int stop_signal_come();

// While this object exists, control-C (SIGINT) does not end the program: it sets a flag, and
// interrupts blocking system calls. Only one object may exist at a time.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // Returns true if control-C has been typed since the last clear().
  bool has_come() const;
  void clear() const;
  // Waits until the descriptor is readable. Returns false if control-C is typed first, or was typed
  // before.
  bool wait_for(int descriptor) const;

 private:
  struct sigaction old_;
};

// While this object exists, control-C ends the program, even if there is an Interrupts. Use this
// for operations that may wait for others for a long time. Does nothing without an Interrupts.
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

// Makes a write to a pipe without a reader fail with EPIPE, from now on, instead of ending the
// program.
void ignore_closed_pipes();

}  // namespace joedb

#endif
