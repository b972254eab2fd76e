#ifndef WAL_COPY_QUEUES_H
#define WAL_COPY_QUEUES_H

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "joedb/base/system.h"
#include "joedb/io/file.h"

namespace joedb::inline v1::wal {

// The copies of a log that are written. Each has a queue of operations and a thread that performs
// them, so that nobody waits for the slowest copy.
//
// Invariants:
//
// 1. A copy performs its operations in the order in which they came. So each copy by itself holds
//    what a single log would hold, now or at an earlier time.
// 2. A sync may be left out if another one waits behind it: the copy is late, and that one covers
//    both. But a header is durable before anything is written behind it, and what was written
//    before a header is durable before the header is written: these syncs are never left out. An
//    entry may say that one before it is durable: in a late copy that may be so only in the others.
// 3. A copy that fails is not used any more: its queue is discarded.
//
// All functions may be called by all threads.
class Copy_Queues {
 public:
  struct Options {
    bool has_threads = true;
    std::size_t max_lag_bytes = 0;
    std::chrono::milliseconds patience{};
    std::function<bool(std::size_t copy)> is_slow;
    std::size_t least = 1;  // copies that are never given up for being slow
    System* system = &System::real();
  };

  // A file that is null is not used.
  Copy_Queues(std::vector<std::shared_ptr<Abstract_File>> files, Options options);
  // close()
  ~Copy_Queues();
  Copy_Queues(const Copy_Queues&) = delete;
  Copy_Queues& operator=(const Copy_Queues&) = delete;

  // These return when `needed` copies have performed the operation, or when fewer are used.
  void write(const char* data, std::size_t size, Offset offset, std::size_t needed);
  void sync(std::size_t needed);
  // Throws Io_Error if one of them has no room for zeros. That one is used nevertheless: there may
  // be room for entries.
  void write_zeros(Offset start, Offset end, std::size_t needed);

  // Waits until all copies that are used have performed everything. Their files may be used
  // directly then, until the next operation.
  void drain();

  // Waits for all copies; but gives up those that do not come on. Nothing may be written
  // afterwards.
  void close();

  // This copy is not used any more.
  void drop(std::size_t copy, const std::string& failure);

  struct Status {
    bool is_used = false;
    std::string failure;
    std::uint64_t lag_bytes = 0;
    std::uint64_t lag_syncs = 0;
  };
  Status status(std::size_t copy) const;
  std::size_t used() const;

  // What has happened since the last call.
  std::vector<std::string> take_reports();

 private:
  struct Operation;
  struct Copy;
  struct State;  // shared with threads that are left behind in a call of the system
  static void run_thread(const std::shared_ptr<State>& state, std::size_t copy);
  void run(Operation operation, std::size_t needed);

  const std::shared_ptr<State> state_;
  std::vector<std::thread> threads_;
};

}  // namespace joedb::inline v1::wal

#endif
