#ifndef JOEDB_WAL_COPIES_H
#define JOEDB_WAL_COPIES_H

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/base/threads.h"
#include "joedb/io/file.h"

namespace joedb::inline v1::wal {

class Copy_Queues;

struct Copies_Options {
  // Number of copies that must hold an entry before it is durable; 0 means all copies. With n
  // needed copies, no durable entry is lost if n - 1 copies are lost.
  std::size_t needed = 0;
  // Called when a copy cannot be opened, was repaired, has failed and is no longer used, or lags so
  // far that the log waits for it. Called in the thread that uses the log: events of background
  // threads are reported by the next write or sync, or on closing.
  std::function<void(std::string_view)> on_report = {};
  // If true, each copy has a thread that writes and syncs it. If false, the calling thread writes
  // and syncs one copy after the other.
  bool has_threads = true;
  // Number of bytes that may be queued in memory for a copy that lags behind the needed copies. A
  // write that would exceed this number waits for the lagging copy.
  std::size_t max_lag_bytes = std::size_t{1} << 26;
  // How long a write or closing waits for a lagging copy that makes no progress at all, for example
  // because its disk hangs. Then the copy is dropped, unless too few copies would be left; a write
  // keeps waiting in this case. If a write or sync has not reached the needed number of copies, it
  // waits without a timeout.
  std::chrono::milliseconds patience = std::chrono::seconds(30);
  // For simulations without threads: returns true if this copy is slow now. Operations of a slow
  // copy are queued until the copy is no longer slow, or is needed.
  std::function<bool(std::size_t copy)> is_slow = {};

  // Clock for `patience`. The clock must outlive the Copies and their threads.
  System* system = &System::real();
};

// Several copies of one log, on different disks, as one file:
//
//   joedb::wal::Writer log(joedb::wal::Copies::open({"/a/x.wal", "/b/x.wal", "/c/x.wal"},
//                                                   joedb::Open_Mode::write_existing_or_create_new,
//                                                   {.needed = 2}));
//
// The constructor reads all copies, entry by entry, and takes each entry from any copy in which it
// is good. Unless `mode` is read_existing, it repairs copies that lack entries. To prevent that
// entries are lost or histories are mixed, the constructor throws in these cases: too few copies
// are available, so that a durable entry may be missing in all of them; copies belong to different
// logs; two copies have different good entries at the same place, unless exactly one of these
// entries is in at least `needed` copies.
//
// A write or sync returns when `needed` copies have performed it. The other copies perform the same
// operations in the same order in the background; consecutive overdue syncs may be merged into one.
// status() returns the lag of each copy. The destructor waits until all copies have performed all
// operations.
//
// A copy that fails is dropped: it is no longer written. If fewer than `needed` copies are left,
// the write or sync throws. Only the format `checked` is supported. A log that is opened with
// read_existing has only the entries that the constructor found, and no later entries.
//
// An object is used by one thread at a time, except for status().
class Copies : public Abstract_File {
 public:
  // A null file stands for a copy that could not be opened. Throws Exception, Io_Error, or
  // Corruption_Error.
  Copies(std::vector<std::unique_ptr<Abstract_File>> files, Open_Mode mode,
         Copies_Options options = {});
  // Waits for lagging copies. If a copy makes no progress for `patience`, its queued operations are
  // dropped, and its file is closed when the pending system call returns.
  ~Copies() override;
  // Opens the files. Reports each file that cannot be opened. Throws Io_Error if another writer has
  // one of the files open.
  static std::unique_ptr<Copies> open(const std::vector<std::string>& names, Open_Mode mode,
                                      Copies_Options options = {});

  struct Status {
    std::string name;
    bool is_used = false;
    std::uint64_t repaired_entries = 0;  // number of entries repaired by the constructor
    std::string failure;                 // reason why the copy is not used; empty if it is used
    // Lag: bytes and syncs that this copy has not performed yet.
    std::uint64_t lag_bytes = 0;
    std::uint64_t lag_syncs = 0;
  };
  // May be called by any thread, even while another thread writes.
  std::vector<Status> status() const;

  Offset get_size() const override;
  std::size_t pread(char* data, std::size_t size, Offset offset) const override;
  void pwrite(const char* data, std::size_t size, Offset offset) override;
  void sync() override;
  void datasync() override;
  bool truncate(Offset size) override;
  // Throws Io_Error if a copy has no room for the zeros; that copy stays in use.
  void write_zeros(Offset start, Offset end) override;
  bool is_inherited() const override { return process_.is_inherited(); }
  // Locks do nothing, because each copy was locked when it was opened.
  void shared_lock(Offset, Offset) override {}
  void exclusive_lock(Offset, Offset) override {}
  void unlock(Offset, Offset) noexcept override {}

 private:
  // From `start` to the start of the next Piece, the log is read from this copy.
  struct Piece {
    Offset start;
    std::size_t copy;
  };
  class Merge;

  std::size_t used() const;
  std::size_t first_used() const;
  void report(const std::string& text) const;
  void drop(std::size_t copy, const std::string& failure);
  std::size_t least() const;
  void require_enough() const;
  void begin_writing();
  void report_news() const;

  const Process_Mark process_;
  std::vector<std::shared_ptr<Abstract_File>> files_;
  const Copies_Options options_;
  const std::size_t needed_;
  std::vector<Status> status_;           // the state found by the constructor
  std::unique_ptr<Copy_Queues> queues_;  // null if the mode is read_existing
  std::vector<Piece> pieces_;
  Offset read_size_ = 0;  // size of a log opened with read_existing
  // True until entries are written to a new log. Until then all copies are needed: each must get
  // the header.
  std::atomic<bool> is_new_ = false;
};

}  // namespace joedb::inline v1::wal

#endif
