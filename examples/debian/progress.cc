#include "progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "text.h"

using namespace std::chrono_literals;

Progress::Progress(std::optional<std::int64_t> total_bytes)
    : total_bytes_(total_bytes),
      is_terminal_(isatty(STDERR_FILENO) == 1),
      interval_(is_terminal_ ? 100ms : 1s) {
  if (!is_terminal_) next_ += interval_;
}

Progress::~Progress() {
  if (is_terminal_) std::fputs("\r\033[K", stderr);
}

void Progress::show(std::int64_t bytes, std::int64_t versions) {
  if (Clock::now() < next_) return;
  next_ = Clock::now() + interval_;

  std::string text = grouped(versions) + " versions, " + grouped(bytes / 1'000'000) + " MB";
  if (total_bytes_ && *total_bytes_ > 0) {
    constexpr std::size_t width = 40;
    const double part =
        std::min(1.0, static_cast<double>(bytes) / static_cast<double>(*total_bytes_));
    std::string bar(width, '.');
    std::fill_n(bar.begin(), static_cast<std::size_t>(part * width), '#');
    text = "[" + bar + "] " + std::to_string(static_cast<int>(part * 100)) + " %  " + text;
  }
  std::fprintf(stderr, is_terminal_ ? "\r\033[K%s" : "%s\n", text.c_str());
}
