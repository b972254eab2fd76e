#ifndef JOEDB_SRC_SIM_LAB_PROMISES_H
#define JOEDB_SRC_SIM_LAB_PROMISES_H

#include <cstdint>
#include <deque>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/format/header.h"
#include "joedb/journal/writable_journal.h"

// The crash laboratory's model of a journal. Records the requests and acknowledgements of a
// workload, and derives the states that a reader may find after a crash. It works on positions and
// bytes, not on tables.

namespace joedb::testing {

// What survives a crash.
enum class Crash {
  kill,  // everything that was written
  power  // everything that was synced
};

// A checkpoint that a reader may find, with the bytes before it.
struct Allowed {
  Offset position;
  bool is_hard;             // true if a reader may report it as a hard checkpoint
  const std::string* file;  // the bytes [journal_start, position) that are expected
  // True for a soft checkpoint that no integrity entry proves: after a power cut, the bytes before
  // it may differ.
  bool is_unproven = false;
};

// The states that are allowed after a crash at one moment.
struct In_Force {
  Offset least = journal_start;        // lowest checkpoint for a reader in the default mode
  Offset min_hard = journal_start;     // lowest checkpoint for Recovery::hard
  Offset min_classic = journal_start;  // lowest hard checkpoint under the classic rule
  bool has_integrity = false;          // integrity entries can verify soft checkpoints
  bool is_exact = false;               // the default mode must find a true state, or refuse
  std::vector<Allowed> allowed;

  // Returns the allowed checkpoint at `position` whose bytes equal those of `image`; null if there
  // is none. Unproven soft checkpoints, which a reader may accept or refuse, are included only if
  // `with_unproven`.
  const Allowed* find(Offset position, bool is_hard, std::string_view image,
                      bool with_unproven = false) const;
  bool has(Offset position, bool is_hard) const;
  // Describes the first difference between `image` and the bytes of the last allowed checkpoint at
  // `position`; empty if no checkpoint is allowed there.
  std::string difference(Offset position, std::string_view image) const;
  // Returns a text such as "a hard checkpoint at 57 at least, any at 60 at least; may be found:
  // soft 44 hard 57".
  std::string text() const;
};

// Records the requests of a workload to a journal, in the order of its I/O operations.
//
// An epoch begins when a process takes over the file. The content that the process finds is then
// the content of the file. Within an epoch, bytes before a checkpoint never change.
class Promises {
 public:
  static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

  // For a new file, or for a file that was found after a crash, with the states that are allowed
  // for it.
  Promises();
  explicit Promises(In_Force before);

  // `has_integrity` says that integrity entries can verify the bytes of soft checkpoints.
  void set_integrity(bool has_integrity) { has_integrity_ = has_integrity; }

  // Call begin_epoch() when a process begins to open the file. If opening succeeds, call
  // end_epoch() with the content that was found; otherwise call cancel_epoch(). `is_hard` says that
  // the process may have truncated the file to the hard checkpoint.
  void begin_epoch(std::size_t io);
  void end_epoch(std::size_t io, Offset found, std::string_view content) {
    end_epoch(io, found, content, found);
  }
  // `found_by_default` is the end of the content that a reader in the default mode finds. The bytes
  // from there to `found` are adopted: no checkpoint covers them yet.
  void end_epoch(std::size_t io, Offset found, std::string_view content, Offset found_by_default);
  void cancel_epoch(bool is_hard = false);

  // Expected content of the file: a header, which is not compared, and the appended bytes. The
  // caller appends bytes to it.
  std::string& file() { return current().file; }

  // ask() records the request for a checkpoint, and give() its acknowledgement. A requested
  // checkpoint may be found even if it was never acknowledged. `is_classic` says that a program
  // that ignores seals finds it as a hard checkpoint.
  void ask(Checkpoint_Level level, Offset position, std::size_t io, bool is_classic = true);
  void give(Offset position, std::size_t io);

  // Returns the states that are allowed after a crash that follows `io` operations.
  In_Force in_force(std::size_t io, Crash crash) const;

  // Returns the last checkpoint that was acknowledged in this epoch; if there is none, the
  // checkpoint that the process has found.
  Offset last_given() const;

 private:
  struct Promise {
    Checkpoint_Level level;
    Offset position;
    bool is_classic;
    std::size_t asked;
    std::size_t given = never;
    bool is_own = false;       // requested in this epoch
    bool is_unproven = false;  // see Allowed
  };
  struct Epoch {
    std::size_t begin = 0;
    std::size_t end = never;
    std::size_t hard_only_since = never;  // from here on, soft checkpoints may be truncated
    Offset found = journal_start;
    bool is_adopted = false;
    std::string file;
    std::vector<Promise> promises;
  };
  Epoch& current() { return epochs_.back(); }
  bool is_in_force(const Epoch& epoch, std::size_t io) const;
  void add(In_Force& in_force, const Epoch& epoch, std::size_t io, Crash crash) const;

  In_Force before_;  // allowed states in epoch 0, for a file found after a crash
  bool is_found_;
  bool has_integrity_ = false;
  std::deque<Epoch> epochs_;
};

// The checkpoints that a reader of joedb 10 chooses. The rule is implemented from the specification
// of the format, independently of the library.
struct Classic_Checkpoint {
  Offset checkpoint = journal_start;
  Offset hard_checkpoint = journal_start;
};
Classic_Checkpoint classic_checkpoint(std::string_view image);

}  // namespace joedb::testing

#endif
