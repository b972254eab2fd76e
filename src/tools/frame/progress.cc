#include "tools/frame/progress.h"

#include <unistd.h>

#include <cstdio>

namespace joedb {

Progress::Progress(std::string what, Offset start, Offset end, Output output, Unit unit)
    : what_(std::move(what)),
      start_(start),
      end_(end),
      unit_(unit),
      is_wanted_(isatty(STDERR_FILENO) == 1 &&
                 (output == Output::nothing || isatty(STDOUT_FILENO) == 0)),
      begin_(Clock::now()),
      next_(begin_ + std::chrono::seconds(1)) {}

Progress::~Progress() {
  if (is_visible_) std::fputs("\r\33[K", stderr);
}

void Progress::update(Offset position) {
  if (!is_wanted_) return;
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(200);
  is_visible_ = true;
  const auto done = static_cast<double>(position - start_);
  const auto all = static_cast<double>(std::max<Offset>(end_ - start_, 1));
  const double rate = done / std::chrono::duration<double>(now - begin_).count();
  const bool is_end_known = end_ > start_;
  std::fprintf(stderr, "\r\33[K%s: ", what_.c_str());
  if (is_end_known) std::fprintf(stderr, "%.0f %%, ", std::min(100 * done / all, 100.0));
  if (unit_ == Unit::bytes)
    std::fprintf(stderr, "%.1f MB/s", rate / 1e6);
  else
    std::fprintf(stderr, "%.0f %s/s", rate, unit_ == Unit::entries ? "entries" : "values");
  if (rate > 0 && is_end_known)
    std::fprintf(stderr, ", %.0f s left", std::max(all - done, 0.0) / rate);
}

}  // namespace joedb
