#include "kernel/io/run_program.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "joedb/base/error.h"

extern char** environ;

namespace joedb::inline v1 {

namespace {

constexpr std::array passed_signals{SIGINT, SIGTERM, SIGHUP};

volatile sig_atomic_t child = 0;  // changed only while the signals are blocked

void pass_on(int signal) {
  const int error = errno;
  if (child != 0) ::kill(static_cast<pid_t>(child), signal);
  errno = error;
}

// Forwards signals to the child. They are blocked from the constructor until unblock().
class Passed_Signals {
 public:
  Passed_Signals() {
    ::sigemptyset(&signals_);
    for (const int signal : passed_signals) ::sigaddset(&signals_, signal);
    ::pthread_sigmask(SIG_BLOCK, &signals_, &mask_);
    for (std::size_t i = 0; i < passed_signals.size(); ++i) {
      ::sigaction(passed_signals[i], nullptr, &actions_[i]);
      if (actions_[i].sa_handler == SIG_IGN) continue;  // nohup, for example
      struct sigaction action {};
      action.sa_handler = pass_on;
      action.sa_flags = SA_ONSTACK;  // see guarded_map.cc
      ::sigaction(passed_signals[i], &action, nullptr);
    }
    // If SIGCHLD were ignored, the exit status of a child would be lost.
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    ::sigaction(SIGCHLD, &usual, &child_action_);
  }
  ~Passed_Signals() {
    block();
    child = 0;
    for (std::size_t i = 0; i < passed_signals.size(); ++i)
      ::sigaction(passed_signals[i], &actions_[i], nullptr);
    ::sigaction(SIGCHLD, &child_action_, nullptr);
    unblock();
  }
  Passed_Signals(const Passed_Signals&) = delete;
  Passed_Signals& operator=(const Passed_Signals&) = delete;

  void block() { ::pthread_sigmask(SIG_BLOCK, &signals_, nullptr); }
  void unblock() { ::pthread_sigmask(SIG_SETMASK, &mask_, nullptr); }
  const sigset_t& mask() const { return mask_; }

 private:
  sigset_t signals_;
  sigset_t mask_;
  std::array<struct sigaction, passed_signals.size()> actions_;
  struct sigaction child_action_ {};
};

// Starts the program with the original signal mask of this process, and with the default action of
// SIGXFSZ, which the tools ignore.
int spawn(pid_t& process, const std::vector<std::string>& words, const sigset_t& mask) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawnattr_t attributes;
  if (const int error = ::posix_spawnattr_init(&attributes); error != 0) return error;
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  ::posix_spawnattr_setsigmask(&attributes, &mask);
  sigset_t usual;
  ::sigemptyset(&usual);
  ::sigaddset(&usual, SIGXFSZ);
  ::posix_spawnattr_setsigdefault(&attributes, &usual);
  const int error =
      ::posix_spawnp(&process, arguments[0], nullptr, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  return error;
}

}  // namespace

Program_End run_program(const std::vector<std::string>& words) {
  Passed_Signals signals;
  pid_t process = 0;
  if (const int error = spawn(process, words, signals.mask()); error != 0)
    throw_io_error("starting", words[0], -1, error);
  child = process;
  signals.unblock();
  // With WNOWAIT, the ended child stays a zombie until waitpid() below. Its pid is not reused
  // before that, so pass_on() cannot send a signal to another process.
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOWAIT) != 0 &&
         errno == EINTR) {
  }
  signals.block();
  child = 0;
  int status = 0;
  while (::waitpid(process, &status, 0) < 0)
    if (errno != EINTR) throw_io_error("waiting for", words[0], -1, errno);
  if (WIFSIGNALED(status)) return {0, WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

void end_by_signal(int signal) {
  ::signal(signal, SIG_DFL);
  ::raise(signal);
  constexpr int shell_signal = 128;
  std::_Exit(shell_signal + signal);  // the signal is blocked, or does not end a process
}

}  // namespace joedb::inline v1
