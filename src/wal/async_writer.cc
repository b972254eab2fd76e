#include "joedb/wal/log.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "joedb/base/error.h"
#include "joedb/base/log.h"
#include "joedb/base/threads.h"
#include "joedb/wal/segments.h"
#include "wal/format.h"

namespace joedb::inline v1::wal {

// The common interface of a log in one file and a log in segments.
class Async_Writer::Log {
 public:
  virtual ~Log() = default;
  virtual Format format() const = 0;
  virtual Position append(std::string_view bytes) = 0;
  virtual void sync() = 0;
  virtual void rotate() = 0;
  virtual void release(std::uint64_t sequence) = 0;
  virtual void close() = 0;
};

template <class Kind>
class Async_Writer::Log_Of : public Log {
 public:
  explicit Log_Of(Kind log) : log_(std::move(log)) {}
  Format format() const override {
    if constexpr (std::is_same_v<Kind, Segmented_Writer>)
      return Format::checked;
    else
      return log_.format();
  }
  Position append(std::string_view bytes) override { return log_.append(bytes); }
  void sync() override { log_.sync(); }
  void rotate() override { log_.rotate(); }
  void release(std::uint64_t sequence) override {
    if constexpr (std::is_same_v<Kind, Segmented_Writer>) log_.release(sequence);
  }
  void close() override { log_.close(); }

 private:
  Kind log_;
};

class Async_Writer::Implementation {
 public:
  Implementation(std::unique_ptr<Log> log, Async_Options options)
      : options_(options),
        log_(std::move(log)),
        format_(log_->format()),
        thread_([this] { run(); }) {
    writing_thread_ = thread_.get_id();
  }

  std::future<Position> append(std::string bytes) {
    std::promise<Position> promise;
    std::future<Position> result = promise.get_future();
    append(Item{.bytes = std::move(bytes), .listener = std::move(promise)});
    return result;
  }

  void append(std::string bytes, Callback callback) {
    append(Item{.bytes = std::move(bytes), .listener = std::move(callback)});
  }

  Position append_and_wait(std::string bytes) {
    require_other_thread();
    Waiter waiter;
    append(Item{.bytes = std::move(bytes), .listener = &waiter});
    while (!waiter.is_notified.load(std::memory_order_acquire)) {
      const unsigned round = round_;
      if (!waiter.is_notified.load(std::memory_order_acquire)) round_.wait(round);
    }
    if (waiter.error) std::rethrow_exception(waiter.error);
    return waiter.position;
  }

  // Runs `task` in the writing thread when all earlier entries are durable. Waits until the task is
  // done.
  void run_in_order(std::function<void(Log&)> task) {
    require_other_thread();
    std::promise<Position> promise;
    std::future<Position> done = promise.get_future();
    push({.bytes = {}, .listener = std::move(promise), .task = std::move(task)});
    done.get();
  }

  void wait() {
    require_other_thread();
    const Mutex_Lock lock(mutex_);
    const std::uint64_t last = pushed_;
    while (notified_ < last && !failure_) mutex_.wait(done_);
    if (failure_) std::rethrow_exception(failure_);
  }

  void close() {
    require_other_thread();
    const Mutex_Lock closing(closing_);  // a second caller waits for the first
    {
      const Mutex_Lock lock(mutex_);
      is_closed_ = true;
      come_.notify_all();
    }
    if (!thread_.joinable()) return;
    thread_.join();
    {
      const Mutex_Lock lock(mutex_);
      if (failure_) std::rethrow_exception(failure_);
    }
    log_->close();
  }

  std::uint64_t syncs() const {
    const Mutex_Lock lock(mutex_);
    return syncs_;
  }

 private:
  // A thread that waits for an entry. It may destroy this object as soon as is_notified is true.
  struct Waiter {
    Position position;
    std::exception_ptr error;
    std::atomic<bool> is_notified = false;
  };
  struct Item {
    std::string bytes;
    std::variant<std::promise<Position>, Callback, Waiter*> listener;
    Position position = {};
    std::function<void(Log&)> task = {};  // if not empty, it is run, and no entry is appended
  };
  using Clock = std::chrono::steady_clock;

  void append(Item item) {
    require_entry_size(item.bytes.size(), format_);
    push(std::move(item));
  }

  void push(Item item) {
    const Mutex_Lock lock(mutex_);
    // If a callback calls append_async, this is the writing thread, which must neither wait for
    // itself nor throw. So the entry is queued even after a failure, or while the log is being
    // closed; the callback of the entry reports the result.
    if (std::this_thread::get_id() != writing_thread_) {
      while (!has_room(item.bytes.size()) && !failure_ && !is_closed_) mutex_.wait(room_);
      if (failure_) std::rethrow_exception(failure_);
      if (is_closed_) throw Exception("this log is closed");
    }
    waiting_bytes_ += item.bytes.size();
    waiting_.push_back(std::move(item));
    ++pushed_;
    if (waiting_.size() == 1 || waiting_.size() == expected_) come_.notify_one();
  }

  void require_other_thread() const {
    if (std::this_thread::get_id() == writing_thread_)
      throw Exception("a callback of a log cannot wait for the log");
  }

  bool has_room(std::size_t bytes) const JOEDB_REQUIRES(mutex_) {
    return waiting_.empty() || (waiting_.size() < options_.max_waiting_entries &&
                                waiting_bytes_ + bytes <= options_.max_waiting_bytes);
  }

  // ---- the thread -------------------------------------------------------------------------------

  void run() noexcept {
    std::vector<Item> items;
    Clock::duration pause{};
    const Mutex_Lock lock(mutex_);
    for (;;) {
      while (waiting_.empty() && !is_closed_) mutex_.wait(come_);
      if (waiting_.empty()) return;
      // Threads whose entries just became durable are about to append again. Waiting for half the
      // time of a sync may save a whole sync.
      const auto end = Clock::now() + pause;
      while (waiting_.size() < expected_ && !is_closed_ && Clock::now() < end)
        mutex_.wait_until(come_, end, System::real());
      items.swap(waiting_);
      waiting_bytes_ = 0;
      expected_ = items.size();
      room_.notify_all();
      std::exception_ptr failure = failure_;
      const std::size_t count = items.size();
      {
        const Mutex_Unlock unlocked(mutex_);
        if (!failure) failure = write(items);
        pause = std::min<Clock::duration>(sync_time_ / 2, std::chrono::milliseconds(1));
        if (failure) {
          const Mutex_Lock failing(mutex_);
          failure_ = failure;  // set before any waiter is notified, so later appends fail
        }
        for (Item& item : items) tell(item, failure);
        ++round_;
        round_.notify_all();
        items.clear();  // without the mutex, because the destructor of a callback may append
      }
      notified_ += count;
      done_.notify_all();
      if (failure) room_.notify_all();
    }
  }

  // Writes and syncs the items. Returns the error, or null.
  std::exception_ptr write(std::vector<Item>& items) {
    try {
      for (Item& item : items) {
        if (item.task) {
          sync();
          item.task(*log_);
        } else {
          item.position = log_->append(item.bytes);
        }
      }
      sync();
      return nullptr;
    } catch (...) {
      return std::current_exception();
    }
  }

  void sync() {
    const auto start = Clock::now();
    log_->sync();
    sync_time_ = Clock::now() - start;
    const Mutex_Lock lock(mutex_);
    ++syncs_;
  }

  static void tell(Item& item, const std::exception_ptr& failure) {
    if (auto* const callback = std::get_if<Callback>(&item.listener)) {
      (*callback)(item.position, failure);
      return;
    }
    if (auto* const waiter = std::get_if<Waiter*>(&item.listener)) {
      (*waiter)->position = item.position;
      (*waiter)->error = failure;
      (*waiter)->is_notified.store(true, std::memory_order_release);
      return;
    }
    auto& promise = std::get<std::promise<Position>>(item.listener);
    if (failure)
      promise.set_exception(failure);
    else
      promise.set_value(item.position);
  }

  const Async_Options options_;
  std::atomic<unsigned> round_ = 0;  // completed batches; one notification wakes all waiters
  const std::unique_ptr<Log> log_;   // used by the writing thread while it runs
  const Format format_;

  Clock::duration sync_time_{};  // duration of the last sync; used by the writing thread only

  Mutex closing_;
  mutable Mutex mutex_;
  std::condition_variable come_;  // notified if an item was queued, or the log is being closed
  std::condition_variable room_;  // notified if the queue has room, or the log has failed
  std::condition_variable done_;  // notified if a batch was completed
  std::vector<Item> waiting_ JOEDB_GUARDED_BY(mutex_);
  std::size_t waiting_bytes_ JOEDB_GUARDED_BY(mutex_) = 0;
  // Number of items in the last batch.
  std::size_t expected_ JOEDB_GUARDED_BY(mutex_) = 1;
  std::uint64_t pushed_ JOEDB_GUARDED_BY(mutex_) = 0;
  std::uint64_t notified_ JOEDB_GUARDED_BY(mutex_) = 0;
  std::uint64_t syncs_ JOEDB_GUARDED_BY(mutex_) = 0;
  bool is_closed_ JOEDB_GUARDED_BY(mutex_) = false;
  std::exception_ptr failure_ JOEDB_GUARDED_BY(mutex_);

  std::thread::id writing_thread_;
  std::thread thread_;
};

Async_Writer::Async_Writer(Writer log, Async_Options options)
    : implementation_(std::make_unique<Implementation>(
                          std::make_unique<Log_Of<Writer>>(std::move(log)), options),
                      "this log") {}

Async_Writer::Async_Writer(Segmented_Writer log, Async_Options options)
    : implementation_(std::make_unique<Implementation>(
                          std::make_unique<Log_Of<Segmented_Writer>>(std::move(log)), options),
                      "this log") {}

Async_Writer::~Async_Writer() {
  if (implementation_.is_inherited()) return;
  try {
    close();
  } catch (const std::exception& error) {
    Destructor_Logger::warning(error.what());
  }
}

std::future<Position> Async_Writer::append_async(std::string bytes) {
  return implementation_->append(std::move(bytes));
}

void Async_Writer::append_async(std::string bytes, Callback callback) {
  implementation_->append(std::move(bytes), std::move(callback));
}

Position Async_Writer::append(std::string bytes) {
  return implementation_->append_and_wait(std::move(bytes));
}

void Async_Writer::wait() { implementation_->wait(); }
void Async_Writer::rotate() {
  implementation_->run_in_order([](Log& log) { log.rotate(); });
}
void Async_Writer::release(std::uint64_t sequence) {
  implementation_->run_in_order([sequence](Log& log) { log.release(sequence); });
}
void Async_Writer::close() { implementation_->close(); }
std::uint64_t Async_Writer::syncs() const { return implementation_->syncs(); }

}  // namespace joedb::inline v1::wal
