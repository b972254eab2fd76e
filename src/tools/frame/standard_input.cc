#include "tools/frame/standard_input.h"

#include <unistd.h>

#include <cerrno>
#include <functional>
#include <iostream>
#include <string>

#include "joedb/base/error.h"
#include "kernel/base/counted.h"
#include "kernel/base/interrupts.h"
#include "tools/frame/output.h"
#include "tools/frame/pager.h"
#include "tools/frame/stop_signal.h"

namespace joedb {

namespace {

constexpr char rest_not_run[] = "the rest of the script was not run";

class Standard_Input : public Block_Line_Source {
 public:
  // A signal ends the wait for input.
  Standard_Input(std::ostream& out, const Stop_Signal& stop)
      : Block_Line_Source(out), stop_(stop) {}

 private:
  // Flushes the output first: a program that sends commands may wait for the answers to earlier
  // commands before it sends more.
  std::size_t read(char* data, std::size_t size) override {
    std::cout.flush();
    while (true) {
      if (!stop_.wait_for(STDIN_FILENO)) stop_.require_none(rest_not_run);
      const ssize_t n = ::read(STDIN_FILENO, data, size);
      if (n >= 0) return static_cast<std::size_t>(n);
      if (errno != EINTR) throw_io_error("reading", "standard input", -1, errno);
    }
  }

  const Stop_Signal& stop_;
};

}  // namespace

bool is_interactive() { return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1; }

bool reads_yes() {
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

void add_colour_option(Options& options, Colour& colour) {
  options.add_choice(
      "--color", colour,
      {{"auto", Colour::automatic}, {"always", Colour::always}, {"never", Colour::never}},
      "colours in the output; auto: at a terminal, unless NO_COLOR is set");
}

Command_Loop::Settings make_loop_settings(Colour colour) {
  Command_Loop::Settings settings{.is_prompting = is_interactive(), .is_classic = is_classic()};
  Display& display = *settings.display;
  if (settings.is_classic) return settings;
  display.has_colours = has_colours(colour);
  if (!is_interactive()) return settings;
  constexpr index_t shown_records = 1000;
  display.has_reference_names = true;
  display.has_pager = has_pager_program();
  display.limit = shown_records;
  return settings;
}

Command_Loop::End run_standard_input(Command_Loop& loop, const char* history) {
  Command_Loop::End end;
  if (is_interactive()) {
    Terminal terminal(std::cout, history, !loop.settings().is_classic);
    loop.display().screen = &terminal;
    end = loop.run(terminal, std::cout);
    loop.display().screen = nullptr;
  } else {
    const Stop_Signal stop;
    const std::function<void()> look = [&] { stop.require_none(rest_not_run); };
    Standard_Input input(std::cout, stop);
    end = interruptibly(look, [&] { return loop.run(input, std::cout); });
  }
  finish_standard_output();
  return end;
}

int exit_code(const Command_Loop& loop, Command_Loop::End end) {
  const Command_Loop::Failures& failures = loop.failures();
  const bool is_error = end == Command_Loop::End::error;
  const bool is_script = !is_interactive() && !loop.settings().is_classic;
  if (!is_error && (failures.count == 0 || !is_script)) return 0;
  if (is_script)
    std::cerr << counted(failures.count, "command") << " failed, the last in line "
              << failures.line_number << '\n';
  return 1;
}

}  // namespace joedb
