#include "cli/progress.h"

#include <unistd.h>

#include <cstdio>

namespace joedb {

Progress::Progress(std::string what, Offset end)
    : what_(std::move(what)),
      end_(end),
      is_wanted_(isatty(STDERR_FILENO) == 1 && isatty(STDOUT_FILENO) == 0),
      next_(Clock::now() + std::chrono::seconds(1)) {}

Progress::~Progress() {
  if (is_visible_) std::fputs("\r\33[K", stderr);
}

void Progress::update(Offset position) {
  if (!is_wanted_) return;
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(200);
  is_visible_ = true;
  const auto percent = static_cast<int>(100 * static_cast<double>(position) /
                                        static_cast<double>(std::max<Offset>(end_, 1)));
  std::fprintf(stderr, "\r%s: %d %%", what_.c_str(), percent);
}

}  // namespace joedb
