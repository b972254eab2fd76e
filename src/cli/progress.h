#ifndef JOEDB_CLI_PROGRESS_H
#define JOEDB_CLI_PROGRESS_H

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <utility>

#include "joedb/journal/readonly_journal.h"
#include "joedb/table/database.h"

namespace joedb {

// Tells who waits how far the work has come: "WHAT: 42 %" on standard error, once it has taken a
// second, if that is a terminal and standard output is not. The line disappears in the end.
class Progress {
 public:
  Progress(std::string what, Offset end);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(Offset position);

 private:
  using Clock = std::chrono::steady_clock;

  const std::string what_;
  const Offset end_;
  const bool is_wanted_;
  Clock::time_point next_;
  bool is_visible_ = false;
};

// journal.replay(handler, until), with progress.
template <class Handler>
void replay_with_progress(Readonly_Journal& journal, Handler&& handler, std::string what,
                          Offset until = std::numeric_limits<Offset>::max()) {
  constexpr Offset step = Offset{1} << 22;
  const Offset end = std::min(until, journal.get_checkpoint());
  Progress progress(std::move(what), end);
  while (journal.get_replay_position() < end) {
    journal.replay(handler, std::min(end, journal.get_replay_position() + step));
    progress.update(journal.get_replay_position());
  }
}

}  // namespace joedb

#endif
