#include "cli/standard_input.h"

#include <unistd.h>

#include <cerrno>
#include <iostream>

#include "cli/terminal.h"
#include "joedb/base/error.h"

namespace joedb {

namespace {

class Standard_Input : public Block_Line_Source {
 public:
  using Block_Line_Source::Block_Line_Source;

 private:
  // Whoever writes the next commands may wait for the output of those before.
  std::size_t read(char* data, std::size_t size) override {
    std::cout.flush();
    while (true) {
      const ssize_t n = ::read(STDIN_FILENO, data, size);
      if (n >= 0) return static_cast<std::size_t>(n);
      if (errno != EINTR) throw_io_error("reading", "standard input", -1, errno);
    }
  }
};

}  // namespace

bool is_interactive() { return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1; }

std::unique_ptr<Line_Source> open_standard_input(std::ostream& out, const char* history) {
  if (is_interactive()) return std::make_unique<Terminal>(out, history);
  return std::make_unique<Standard_Input>(out);
}

int exit_code(const Command_Loop& loop, Command_Loop::End end) {
  const Command_Loop::Failures& failures = loop.failures();
  const bool is_error = end == Command_Loop::End::error;
  const bool is_script = !is_interactive() && !loop.settings().is_classic;
  if (!is_error && (failures.count == 0 || !is_script)) return 0;
  if (is_script)
    std::cerr << failures.count << (failures.count == 1 ? " command" : " commands")
              << " failed, the last in line " << failures.line_number << '\n';
  return 1;
}

}  // namespace joedb
