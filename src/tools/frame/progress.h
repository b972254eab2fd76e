#ifndef JOEDB_SRC_TOOLS_FRAME_PROGRESS_H
#define JOEDB_SRC_TOOLS_FRAME_PROGRESS_H

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "joedb/io/file.h"
#include "joedb/io/posix_file.h"
#include "joedb/journal/readonly_journal.h"
#include "joedb/table/database.h"

namespace joedb {

// Shows progress on standard error: "WHAT: 42 %, 120.5 MB/s, 3 s left". The line appears after one
// second, if standard error is a terminal, and disappears at the end.
class Progress {
 public:
  // Whether the tool prints to standard output during the work. If it does, and standard output is
  // a terminal, progress is not shown, because the two outputs would mix.
  enum class Output { nothing, printing };
  enum class Unit { bytes, entries, values };
  // The work goes from `start` to `end`. If `end` is not greater than `start`, the end is unknown,
  // and only the rate is shown.
  Progress(std::string what, Offset start, Offset end, Output output = Output::nothing,
           Unit unit = Unit::bytes);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(Offset position);

 private:
  using Clock = std::chrono::steady_clock;

  const std::string what_;
  const Offset start_;
  const Offset end_;
  const Unit unit_;
  const bool is_wanted_;
  const Clock::time_point begin_;
  Clock::time_point next_;
  bool is_visible_ = false;
};

// A wrapper of a file that is read sequentially. It shows progress.
class Progress_File : public Readonly_File {
 public:
  // `file` and `progress` must outlive this object.
  Progress_File(const Abstract_File& file, Progress& progress)
      : Readonly_File(file.get_name()), file_(file), progress_(progress) {}
  Offset get_size() const override { return file_.get_size(); }
  std::size_t pread(char* data, std::size_t size, Offset offset) const override {
    progress_.update(offset);
    return file_.pread(data, size, offset);
  }

 private:
  const Abstract_File& file_;
  Progress& progress_;
};

// A file that is read once, sequentially, to load a database. It shows progress until end_loading()
// is called.
class Loading_File : public File {
 public:
  Loading_File(const std::string& name, Open_Mode mode)
      : File(name, mode), progress_(std::in_place, "loading " + name, Offset{0}, get_size()) {}
  std::size_t pread(char* data, std::size_t size, Offset offset) const override {
    if (progress_) progress_->update(offset);
    return File::pread(data, size, offset);
  }
  // Ends the progress line.
  void end_loading() { progress_.reset(); }

 private:
  mutable std::optional<Progress> progress_;
};

// Calls journal.replay(handler, until). Shows progress, and calls between() after each 4 MiB of the
// journal.
template <class Handler, class Between>
void replay_with_progress(Readonly_Journal& journal, Handler&& handler, std::string what,
                          Offset until, Between&& between,
                          Progress::Output output = Progress::Output::nothing) {
  constexpr Offset step = Offset{1} << 22;
  const Offset end = std::min(until, journal.get_checkpoint());
  Progress progress(std::move(what), journal.get_replay_position(), end, output);
  while (journal.get_replay_position() < end) {
    journal.replay(handler, std::min(end, journal.get_replay_position() + step));
    progress.update(journal.get_replay_position());
    between();
  }
}
template <class Handler>
void replay_with_progress(Readonly_Journal& journal, Handler&& handler, std::string what,
                          Offset until = std::numeric_limits<Offset>::max(),
                          Progress::Output output = Progress::Output::nothing) {
  replay_with_progress(
      journal, handler, std::move(what), until, [] {}, output);
}

}  // namespace joedb

#endif
