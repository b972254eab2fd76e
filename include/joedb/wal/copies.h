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

#include "joedb/base/process_mark.h"
#include "joedb/base/system.h"
#include "joedb/io/file.h"

namespace joedb::inline v1::wal {

class Copy_Queues;

struct Copies_Options {
  // An entry is durable when so many copies have it; 0: all of them. What is lost on all but one of
  // these is not lost.
  std::size_t needed = 0;
  // Called for each thing that was found or happened: a copy that cannot be opened, was repaired,
  // failed and is not used any more, or is so late that the log waits for it. Called by the thread
  // that uses the log: for what happened in the background, in the next call, or on closing.
  std::function<void(std::string_view)> on_report = {};
  // Each copy has a thread that writes and syncs it. Otherwise the calling thread does this, one
  // copy after the other.
  bool has_threads = true;
  // So many bytes may wait in memory for a copy that is slower than those that are needed. When
  // there are more, writes wait for it.
  std::size_t max_lag_bytes = std::size_t{1} << 26;
  // How long such a write, or closing, waits for a copy that does nothing at all, such as one on a
  // disk that hangs. Then that copy is not used any more; a write goes on waiting if too few would
  // be left.
  std::chrono::milliseconds patience = std::chrono::seconds(30);
  // For simulations without threads: whether this copy is slow now. What it has to do waits then,
  // until it is not slow any more, or is needed.
  std::function<bool(std::size_t copy)> is_slow = {};

  // Where `patience` is measured. It must outlive the Copies, and their threads.
  System* system = &System::real();
};

// Several copies of one log, on different disks, as one file:
//
//   joedb::wal::Writer log(joedb::wal::Copies::open({"/a/x.wal", "/b/x.wal", "/c/x.wal"},
//                                                   joedb::Open_Mode::write_existing_or_create_new,
//                                                   {.needed = 2}));
//
// The constructor reads all of them, entry by entry, and takes each from any copy where it is good.
// If the copies may be written, those that miss something are repaired. It refuses what could lose
// or mix something: too few copies to be sure that none of the durable entries is missing; copies
// of different logs; and good entries that differ in the same place, unless one of them stands in
// as many copies as are needed, and the other does not.
//
// A write or sync returns when as many copies as are needed have done it. Others catch up in the
// background: each does the same in the same order, but one sync for all that it is late with.
// status() tells how late each is. The destructor waits until all have caught up.
//
// A copy that fails is not written to any more; if fewer are left than needed, the write or sync
// throws. For logs of format `checked` only. A log that is read is the one that was found: it does
// not follow what is written meanwhile.
class Copies : public Abstract_File {
 public:
  // A file that is null could not be opened. Throws Exception, Io_Error, Corruption_Error.
  Copies(std::vector<std::unique_ptr<Abstract_File>> files, Open_Mode mode,
         Copies_Options options = {});
  // Waits for copies that are late, but no longer than `patience` for one that does nothing: what
  // it is late with is lost, and its file is closed when the call of the system returns.
  ~Copies() override;
  // Opens files; what cannot be opened is reported.
  static std::unique_ptr<Copies> open(const std::vector<std::string>& names, Open_Mode mode,
                                      Copies_Options options = {});

  struct Status {
    std::string name;
    bool is_used = false;
    std::uint64_t repaired_entries = 0;  // by the constructor
    std::string failure;                 // why it is not used
    // How late it is: what it has still to write, and syncs that it has not done.
    std::uint64_t lag_bytes = 0;
    std::uint64_t lag_syncs = 0;
  };
  // May be called by any thread, also while another one writes.
  std::vector<Status> status() const;

  Offset get_size() const override;
  std::size_t pread(char* data, std::size_t size, Offset offset) const override;
  void pwrite(const char* data, std::size_t size, Offset offset) override;
  void sync() override;
  void datasync() override;
  bool truncate(Offset size) override;
  // Throws Io_Error if one of the copies has no room for them, and goes on using it.
  void write_zeros(Offset start, Offset end) override;
  bool is_inherited() const override { return process_.is_inherited(); }
  // Each copy was locked when it was opened; these do nothing.
  void shared_lock(Offset, Offset) override {}
  void exclusive_lock(Offset, Offset) override {}
  void unlock(Offset, Offset) noexcept override {}

 private:
  // From `start` on the log is read from this copy.
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
  std::vector<Status> status_;           // as the constructor found them
  std::unique_ptr<Copy_Queues> queues_;  // if they are written
  std::vector<Piece> pieces_;
  Offset read_size_ = 0;  // of a log that is only read
  // Until entries are written, no copy may fail: each must have the header.
  std::atomic<bool> is_new_ = false;
};

}  // namespace joedb::inline v1::wal

#endif
