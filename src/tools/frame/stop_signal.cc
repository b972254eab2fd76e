#include "tools/frame/stop_signal.h"

#include <poll.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace joedb {

static volatile sig_atomic_t signal_come = 0;     // number of the signal, or 0
static volatile sig_atomic_t is_interrupted = 0;  // set by Interrupts

static void note_signal(int number) { signal_come = number; }

Stop_Signal::Stop_Signal() {
  signal_come = 0;
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, &old_interrupt_);
  sigaction(SIGTERM, &action, &old_terminate_);
}

Stop_Signal::~Stop_Signal() {
  sigaction(SIGINT, &old_interrupt_, nullptr);
  sigaction(SIGTERM, &old_terminate_, nullptr);
  signal_come = 0;
}

// Also checks the flag of Interrupts, because control-C may have been typed before this object was
// created.
bool Stop_Signal::has_come() const { return signal_come != 0 || is_interrupted != 0; }

void Stop_Signal::require_none(const char* what) const {
  if (has_come()) throw Interrupted(signal_come != 0 ? signal_come : SIGINT, what);
}

int stop_signal_come() {
  if (signal_come != 0) return signal_come;
  return is_interrupted != 0 ? SIGINT : 0;
}

namespace {

// Blocks the signals between the check of the flag and the wait, so that a signal in between is not
// lost.
struct Blocked_Signals {
  Blocked_Signals() {
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, &old_mask);
  }
  ~Blocked_Signals() { pthread_sigmask(SIG_SETMASK, &old_mask, nullptr); }
  Blocked_Signals(const Blocked_Signals&) = delete;
  Blocked_Signals& operator=(const Blocked_Signals&) = delete;

  sigset_t signals;
  sigset_t old_mask;
};

}  // namespace

// `flag` tells whether a signal has come.
template <class Flag>
static bool is_readable_before_signal(int descriptor, const Flag& flag) {
  {
    const Blocked_Signals blocked;
    pollfd input{descriptor, POLLIN, 0};
    int ready = -1;
    while (ready < 0 && !flag.has_come()) {
      ready = ::ppoll(&input, 1, nullptr, &blocked.old_mask);
      if (ready < 0 && errno != EINTR) break;  // read() will report the error
    }
  }
  return !flag.has_come();
}

bool Stop_Signal::wait_for(int descriptor) const {
  return is_readable_before_signal(descriptor, *this);
}

void Stop_Signal::sleep(std::chrono::milliseconds duration) {
  const Blocked_Signals blocked;
  if (has_come()) return;
  timespec time{};
  time.tv_sec = static_cast<time_t>(duration.count() / 1000);
  time.tv_nsec = static_cast<long>(duration.count() % 1000) * 1'000'000;
  const int number = sigtimedwait(&blocked.signals, nullptr, &time);
  if (number > 0) signal_come = number;
}

void end_wait_after_signal() {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds grace{200};
  static thread_local Clock::time_point noticed;
  if (signal_come == 0) {
    noticed = {};
  } else if (noticed == Clock::time_point()) {
    noticed = Clock::now();
  } else if (Clock::now() - noticed >= grace) {
    throw Interrupted(signal_come, "the server has not answered");
  }
}

// ---- interrupts ---------------------------------------------------------------------------------

static bool are_interrupts_noted = false;

Interrupts::Interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { is_interrupted = 1; };
  sigaction(SIGINT, &action, &old_);
  is_interrupted = 0;
  are_interrupts_noted = true;
}

Interrupts::~Interrupts() {
  are_interrupts_noted = false;
  sigaction(SIGINT, &old_, nullptr);
  is_interrupted = 0;
}

bool Interrupts::has_come() const { return is_interrupted != 0; }
void Interrupts::clear() const { is_interrupted = 0; }

bool Interrupts::wait_for(int descriptor) const {
  return is_readable_before_signal(descriptor, *this);
}

Interrupts_End_Program::Interrupts_End_Program() : is_needed_(are_interrupts_noted), old_() {
  if (!is_needed_) return;
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(SIGINT, &action, &old_);
}

Interrupts_End_Program::~Interrupts_End_Program() {
  if (is_needed_) sigaction(SIGINT, &old_, nullptr);
}

void ignore_closed_pipes() { std::signal(SIGPIPE, SIG_IGN); }

}  // namespace joedb
