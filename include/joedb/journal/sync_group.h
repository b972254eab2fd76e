#ifndef JOEDB_JOURNAL_SYNC_GROUP_H
#define JOEDB_JOURNAL_SYNC_GROUP_H

#include <cstdint>
#include <exception>
#include <optional>

#include "joedb/base/mutex.h"
#include "joedb/io/fail_stop_file.h"

namespace joedb::inline v1 {

// Group commit: the sync that makes a hard checkpoint durable. The words of the checkpoint are in
// the file; one thread syncs, others append meanwhile, or wait for its end.
//
// The program's lock is the one around all uses of the journal. sync() and wait() are called
// without it, all other functions under it.
class Sync_Group {
 public:
  // A hard checkpoint that is in the file, and may not be durable.
  struct Checkpoint {
    Offset position;
    bool is_sealed;
  };

  // `out` must outlive this object.
  explicit Sync_Group(Fail_Stop_File& out) : out_(out) {}

  // Whether finish() has something to return.
  bool is_pending() const { return pending_.has_value(); }
  // The next sync() is for this checkpoint. Requires that nothing is pending.
  void begin(Checkpoint checkpoint);
  // Of the sync that was begun last, for wait().
  std::uint64_t number() const { return number_; }

  // Syncs the file, and wakes those who wait. Called once after each begin(). What fails is thrown
  // by finish().
  void sync() noexcept;
  // Returns after this sync, whether it succeeded or not.
  void wait(std::uint64_t number);
  // Whether the sync that was begun last has not returned.
  bool is_syncing();

  // Waits for the sync, and returns the checkpoint that is durable now; nothing if none is pending.
  // Throws what the sync has thrown, once; nothing is pending then.
  std::optional<Checkpoint> finish();

 private:
  Fail_Stop_File& out_;
  std::optional<Checkpoint> pending_;
  std::uint64_t number_ = 0;
  // Shared with the thread that is in the sync.
  Mutex mutex_;
  Condition done_;
  std::uint64_t done_number_ JOEDB_GUARDED_BY(mutex_) = 0;
  std::exception_ptr error_ JOEDB_GUARDED_BY(mutex_);
};

}  // namespace joedb::inline v1

#endif
