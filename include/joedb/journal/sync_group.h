#ifndef JOEDB_JOURNAL_SYNC_GROUP_H
#define JOEDB_JOURNAL_SYNC_GROUP_H

#include <cstdint>
#include <exception>
#include <optional>

#include "joedb/base/threads.h"
#include "joedb/io/fail_stop_file.h"

namespace joedb::inline v1 {

// Group commit: the sync that makes a hard checkpoint durable. The words of the checkpoint are in
// the file; one thread syncs while others append, or wait for the end of the sync.
//
// All functions except sync() and wait() are called with the program's lock, the one around all
// uses of the journal. sync() and wait() are called without it.
class Sync_Group {
 public:
  // A hard checkpoint that is in the file, but may not be durable yet.
  struct Checkpoint {
    Offset position;
    bool is_sealed;
  };

  // `out` must outlive this object.
  explicit Sync_Group(Fail_Stop_File& out) : out_(out) {}

  // True if finish() has a checkpoint to return.
  bool is_pending() const { return pending_.has_value(); }
  // Makes the next sync() the one of this checkpoint. Requires that none is pending.
  void begin(Checkpoint checkpoint);
  // Number of the most recent sync; pass it to wait().
  std::uint64_t number() const { return number_; }

  // Syncs the file, and wakes the waiting threads. Called once after each begin(). finish() throws
  // the error if it fails.
  void sync() noexcept;
  // Returns after this sync, whether it has succeeded or failed.
  void wait(std::uint64_t number);
  // True if the most recent sync has not returned.
  bool is_syncing();

  // Waits for the sync, and returns the checkpoint that is durable now, or nullopt if none is
  // pending. Throws the error of the sync, once; no checkpoint is pending then.
  std::optional<Checkpoint> finish();

 private:
  Fail_Stop_File& out_;
  std::optional<Checkpoint> pending_;
  std::uint64_t number_ = 0;
  // Shared with the thread that runs the sync.
  Mutex mutex_;
  Condition done_;
  std::uint64_t done_number_ JOEDB_GUARDED_BY(mutex_) = 0;
  std::exception_ptr error_ JOEDB_GUARDED_BY(mutex_);
};

}  // namespace joedb::inline v1

#endif
