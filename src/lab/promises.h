#ifndef LAB_PROMISES_H
#define LAB_PROMISES_H

#include <cstdint>
#include <deque>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/format/header.h"
#include "joedb/journal/writable_journal.h"

// The crash laboratory's model of a journal: what was asked for and what was promised, and so what
// may be found after a crash. It knows positions and bytes, and nothing of tables.

namespace joedb::testing {

// What a crash leaves alone.
enum class Crash {
  kill,  // everything that was written
  power  // everything that was synced
};

// A checkpoint that may be found, and the bytes before it.
struct Allowed {
  Offset position;
  bool is_hard;             // it may be claimed as a hard one
  const std::string* file;  // the bytes [journal_start, position) stand there
  // As a soft checkpoint, it proves nothing: after a power cut the bytes before it may be others.
  bool is_unproven = false;
};

// What may be found after a crash at one moment.
struct In_Force {
  Offset least = journal_start;          // what a reader of the default mode must find
  Offset least_hard = journal_start;     // what Recovery::hard must find
  Offset least_classic = journal_start;  // what a reader of the classic rule must find as hard
  bool has_integrity = false;            // the journal can prove its soft checkpoints
  bool is_exact = false;                 // the default mode finds a true state, or nothing
  std::vector<Allowed> allowed;

  // The one at `position` whose bytes are those of `image`. A soft one that proves nothing counts
  // only on request: a reader may open it, and may refuse it.
  const Allowed* find(Offset position, bool is_hard, std::string_view image,
                      bool with_unproven = false) const;
  bool has(Offset position, bool is_hard) const;
  // Where the last one at `position` has other bytes than `image`, as text.
  std::string difference(Offset position, std::string_view image) const;
  // As text: "hard 57 at least, default 60 at least; soft 44 57 60, hard 57".
  std::string text() const;
};

// What a workload asks of a journal, in the order of its I/O operations.
//
// An epoch begins when a process takes the file over: what it finds is what the file holds from
// then on. Within an epoch bytes before a checkpoint never change.
class Promises {
 public:
  static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

  // A new file; or one that was found after a crash, where this may be found.
  Promises();
  explicit Promises(In_Force before);

  // `has_integrity`: the journal can tell true bytes from others behind its soft checkpoints.
  void set_integrity(bool has_integrity) { has_integrity_ = has_integrity; }

  // A process opens the file; `end` says what it has found in it. If it did not succeed: cancel;
  // `is_hard`: it was about to cut off what is not hard.
  void begin_epoch(std::size_t io);
  void end_epoch(std::size_t io, Offset found, std::string_view content) {
    end_epoch(io, found, content, found);
  }
  // `found_by_default`: up to where a reader of the default mode reads this content. The rest is
  // adopted: no checkpoint says so yet.
  void end_epoch(std::size_t io, Offset found, std::string_view content, Offset found_by_default);
  void cancel_epoch(bool is_hard = false);

  // The file as it should be: what was appended, behind a header that is not compared. It is
  // changed by who appends.
  std::string& file() { return current().file; }

  // A checkpoint was asked for, and acknowledged. A promise that was never given may be found.
  // `is_classic`: programs that know no seals will find a hard one, too.
  void ask(Checkpoint_Level level, Offset position, std::size_t io, bool is_classic = true);
  void give(Offset position, std::size_t io);

  // What may be found if a crash comes after `io` operations.
  In_Force in_force(std::size_t io, Crash crash) const;

  // The last checkpoint that was given in this epoch, or what its process has found.
  Offset last_given() const;

 private:
  struct Promise {
    Checkpoint_Level level;
    Offset position;
    bool is_classic;
    std::size_t asked;
    std::size_t given = never;
    bool is_own = false;       // asked for in this epoch
    bool is_unproven = false;  // see Allowed
  };
  struct Epoch {
    std::size_t begin = 0;
    std::size_t end = never;
    std::size_t hard_only_since = never;  // soft checkpoints may have been cut off
    Offset found = journal_start;
    bool is_adopted = false;
    std::string file;
    std::vector<Promise> promises;
  };
  Epoch& current() { return epochs_.back(); }
  bool is_in_force(const Epoch& epoch, std::size_t io) const;
  void add(In_Force& in_force, const Epoch& epoch, std::size_t io, Crash crash) const;

  In_Force before_;  // epoch 0 if it was found after a crash
  bool is_found_;
  bool has_integrity_ = false;
  std::deque<Epoch> epochs_;
};

// The selection rule of a joedb 10 reader, from the specification of the format: a second opinion.
struct Classic_Checkpoint {
  Offset checkpoint = journal_start;
  Offset hard_checkpoint = journal_start;
};
Classic_Checkpoint classic_checkpoint(std::string_view image);

}  // namespace joedb::testing

#endif
