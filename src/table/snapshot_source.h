#ifndef JOEDB_SRC_TABLE_SNAPSHOT_SOURCE_H
#define JOEDB_SRC_TABLE_SNAPSHOT_SOURCE_H

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "joedb/base/mutex.h"
#include "joedb/base/process_mark.h"
#include "snapshot/snapshot_file.h"

namespace joedb::inline v1 {

// The snapshot that the values of a database have come from. Opening does not read all of it, so a
// flipped bit of the file may be in the tables: it is verified before a new snapshot is made of
// them, and in the background.
//
// One thread at a time calls its functions.
class Snapshot_Source {
 public:
  explicit Snapshot_Source(std::shared_ptr<const Snapshot_File> file);
  // Waits for the thread, which stops early. Reports damage that nobody was told of. In a child
  // process there is no such thread.
  ~Snapshot_Source();
  Snapshot_Source(const Snapshot_Source&) = delete;
  Snapshot_Source& operator=(const Snapshot_Source&) = delete;

  const Snapshot_File& file() const { return *file_; }

  // Reads all of it. Throws Corruption_Error if it is damaged, also later, by require_good();
  // Io_Error.
  void verify();
  // Starts a thread that does so, and compares the journal if that was changed since. Processes
  // that end soon do not pay for it. Nothing happens where the files are no File, or there is no
  // thread.
  void verify_in_background(const Abstract_File& journal);
  // Throws Corruption_Error if one of them has found damage. Each finding also counts as a cut
  // (Zeroed_Memory::cut_count), so that Database::require_intact looks.
  void require_good();
  bool is_damaged() const { return is_damaged_; }

 private:
  void run() noexcept;
  void note_damage(const std::string& reason, Offset offset);

  const Process_Mark process_;
  const std::shared_ptr<const Snapshot_File> file_;
  std::unique_ptr<Abstract_File> journal_;  // for the thread; null: it was not changed
  std::mutex mutex_;                        // of what follows
  Condition stopping_;
  bool must_stop_ = false;
  std::string damage_;
  Offset damage_offset_ = 0;
  bool was_told_ = false;
  std::atomic<bool> is_damaged_ = false;
  std::thread thread_;
};

// Snapshots with no more bytes than this are verified when they are opened. The laboratory sets it
// to 0: small snapshots are then opened like large ones.
inline thread_local Offset verified_at_opening = Offset{1} << 20;

}  // namespace joedb::inline v1

#endif
