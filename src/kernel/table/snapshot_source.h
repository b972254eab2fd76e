#ifndef JOEDB_SRC_KERNEL_TABLE_SNAPSHOT_SOURCE_H
#define JOEDB_SRC_KERNEL_TABLE_SNAPSHOT_SOURCE_H

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "joedb/base/threads.h"
#include "kernel/table/snapshot_file.h"

namespace joedb::inline v1 {

// The snapshot from which the values of a database came. Opening a database does not read the whole
// snapshot, so a flipped bit of the file may be in the tables. Therefore the snapshot is verified
// in the background, and again before a new snapshot is made of the tables.
//
// Not thread-safe: one thread at a time calls its functions.
class Snapshot_Source {
 public:
  explicit Snapshot_Source(std::shared_ptr<const Snapshot_File> file);
  // Stops the thread and waits for it. Logs damage that was not yet thrown by require_good(). Does
  // nothing in a forked child process, which does not have the thread.
  ~Snapshot_Source();
  Snapshot_Source(const Snapshot_Source&) = delete;
  Snapshot_Source& operator=(const Snapshot_Source&) = delete;

  const Snapshot_File& file() const { return *file_; }

  // Reads the whole snapshot. Throws Io_Error, and Corruption_Error if the snapshot is damaged;
  // every later require_good() then throws Corruption_Error, too.
  void verify();
  // Starts a thread that verifies the snapshot, and compares the journal if it has changed since
  // the snapshot was made. The thread first waits for a moment, so that short-lived processes do
  // not read the whole snapshot. Does nothing if the snapshot is not in a File, or if no thread can
  // be started.
  void verify_in_background(const Abstract_File& journal);
  // Throws Corruption_Error if verify() or the thread found damage. Each finding also counts as a
  // cut (Zeroed_Memory::cut_count), so that Database::require_intact checks for it.
  void require_good();
  bool is_damaged() const { return is_damaged_; }

 private:
  void run() noexcept;
  void note_damage(const std::string& reason, Offset offset);

  const Process_Mark process_;
  const std::shared_ptr<const Snapshot_File> file_;
  std::unique_ptr<Abstract_File> journal_;  // for the thread; null if the journal is unchanged
  std::mutex mutex_;  // guards must_stop_, damage_, damage_offset_, is_reported_
  Condition stopping_;
  bool must_stop_ = false;
  std::string damage_;
  Offset damage_offset_ = 0;
  bool is_reported_ = false;
  std::atomic<bool> is_damaged_ = false;
  std::thread thread_;
};

// Snapshots with at most this many bytes are verified when they are opened. The crash laboratory
// sets it to 0, so that small snapshots are opened like large ones.
inline thread_local Offset verified_at_opening = Offset{1} << 20;

}  // namespace joedb::inline v1

#endif
