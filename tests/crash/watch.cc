#include "crash/watch.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

// Needed because sanitizers end the program without a signal.
extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*)());

namespace joedb::testing {

namespace {

// State for the signal handler, which must not allocate.
std::array<char, 1024> current{};
constexpr std::array signals = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGALRM};
std::array<struct sigaction, signals.size()> before{};

void write_text(const char* text) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, std::strlen(text));
}

void report() {
  write_text("to see it again: ");
  write_text(current.data());
  write_text("\n");
}

// Reports, and reinstalls the previous handler, which gets the signal when it is raised again.
void handle(int signal) {
  if (signal == SIGALRM) write_text("broken promise: it takes too long\n");
  report();
  const auto i = std::find(signals.begin(), signals.end(), signal) - signals.begin();
  ::sigaction(signal, &before[static_cast<std::size_t>(i)], nullptr);
  if (signal == SIGALRM || signal == SIGABRT) ::raise(signal);
}

}  // namespace

Watch::Watch(int seconds_for_each_case) : seconds_(seconds_for_each_case) {
  struct sigaction action {};
  action.sa_handler = handle;
  for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &action, &before[i]);
  if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(report);
}

Watch::~Watch() {
  ::alarm(0);
  for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &before[i], nullptr);
}

void Watch::begin(const std::string& replay_command) {
  const std::size_t size = std::min(replay_command.size(), current.size() - 1);
  std::memcpy(current.data(), replay_command.data(), size);
  current[size] = '\0';
  ::alarm(static_cast<unsigned>(seconds_));
}

}  // namespace joedb::testing
