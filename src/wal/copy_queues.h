#ifndef JOEDB_SRC_WAL_COPY_QUEUES_H
#define JOEDB_SRC_WAL_COPY_QUEUES_H

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "joedb/base/threads.h"
#include "joedb/io/file.h"

namespace joedb::inline v1::wal {

// The copies of a log that is being written. Each copy has a queue of operations, and a thread that
// performs them, so that writes need not wait for the slowest copy.
//
// Invariants:
//
// 1. A copy performs its operations in the order of the calls. So each copy has the content that a
//    single log would have, now or at an earlier time.
// 2. A sync may be skipped if another sync is queued behind it, because the copy lags and the later
//    sync covers both. But the sync before a header and the sync after a header are never skipped:
//    everything written before a header must be durable before the header is written, and the
//    header must be durable before anything else is written. An entry may state that an earlier
//    entry is durable; in a lagging copy, this may be true only for the other copies.
// 3. A copy that fails is dropped: its queue is discarded, and it is no longer written.
//
// Thread-safe.
class Copy_Queues {
 public:
  struct Options {
    bool has_threads = true;
    std::size_t max_lag_bytes = 0;
    std::chrono::milliseconds patience{};
    std::function<bool(std::size_t copy)> is_slow;
    std::size_t least = 1;  // a write drops no slow copy if fewer copies would be left
    System* system = &System::real();
  };

  // A null file stands for a copy that is not used. Starts a thread for each copy, unless
  // has_threads is false.
  Copy_Queues(std::vector<std::shared_ptr<Abstract_File>> files, Options options);
  // Calls close().
  ~Copy_Queues();
  Copy_Queues(const Copy_Queues&) = delete;
  Copy_Queues& operator=(const Copy_Queues&) = delete;

  // These functions return when `needed` copies have performed the operation, or when fewer than
  // `needed` copies are left.
  void write(const char* data, std::size_t size, Offset offset, std::size_t needed);
  void sync(std::size_t needed);
  // Throws Io_Error if a copy is known to have no room for the zeros. That copy stays in use,
  // because there may be room for entries.
  void write_zeros(Offset start, Offset end, std::size_t needed);

  // Waits until all copies in use have performed all operations. After that, and until the next
  // operation, their files may be used directly.
  void drain();

  // Waits for all copies, but drops a copy that makes no progress for `patience`. No operation may
  // follow. Closing again does nothing.
  void close();

  // Stops using this copy, and discards its queue.
  void drop(std::size_t copy, const std::string& failure);

  struct Status {
    bool is_used = false;
    std::string failure;
    std::uint64_t lag_bytes = 0;
    std::uint64_t lag_syncs = 0;
  };
  Status status(std::size_t copy) const;
  std::size_t used() const;

  // Returns the events since the last call.
  std::vector<std::string> take_reports();

 private:
  struct Operation;
  struct Copy;
  struct State;  // shared with detached threads that are still in a system call
  static void run_thread(const std::shared_ptr<State>& state, std::size_t copy);
  void run(Operation operation, std::size_t needed);

  const std::shared_ptr<State> state_;
  std::vector<std::thread> threads_;
};

}  // namespace joedb::inline v1::wal

#endif
