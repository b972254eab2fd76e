#include "joedb/wal/async_writer.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "joedb/base/error.h"
#include "joedb/base/log.h"
#include "joedb/wal/writer.h"

namespace joedb::inline v1::wal {

class Async_Writer::Implementation {
 public:
  Implementation(Writer log, Async_Options options)
      : options_(options), log_(std::move(log)), thread_([this] { run(); }) {
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

  void rotate() {
    std::promise<Position> promise;
    std::future<Position> done = promise.get_future();
    push({.bytes = {}, .listener = std::move(promise), .is_rotation = true});
    done.get();
  }

  void wait() {
    std::unique_lock lock(mutex_);
    const std::uint64_t last = pushed_;
    done_.wait(lock, [&] { return told_ >= last || failure_; });
    if (failure_) std::rethrow_exception(failure_);
  }

  void close() {
    {
      const std::lock_guard lock(mutex_);
      if (is_closed_) return;
      is_closed_ = true;
      come_.notify_all();
    }
    thread_.join();
    if (failure_) std::rethrow_exception(failure_);
    log_.close();
  }

  std::uint64_t syncs() const {
    const std::lock_guard lock(mutex_);
    return syncs_;
  }

 private:
  struct Item {
    std::string bytes;
    std::variant<std::promise<Position>, Callback> listener;
    Position position = {};
    bool is_rotation = false;
  };
  using Clock = std::chrono::steady_clock;

  void append(Item item) {
    log_.require_size(item.bytes.size());
    push(std::move(item));
  }

  void push(Item item) {
    std::unique_lock lock(mutex_);
    // Who appends in a callback cannot wait for the thread that runs it.
    if (std::this_thread::get_id() != writing_thread_)
      room_.wait(lock, [&] { return has_room(item.bytes.size()) || failure_ || is_closed_; });
    if (failure_) std::rethrow_exception(failure_);
    if (is_closed_) throw Exception("this log is closed");
    waiting_bytes_ += item.bytes.size();
    waiting_.push_back(std::move(item));
    ++pushed_;
    if (waiting_.size() == 1 || waiting_.size() == expected_) come_.notify_one();
  }

  bool has_room(std::size_t bytes) const {
    return waiting_.empty() || (waiting_.size() < options_.max_waiting_entries &&
                                waiting_bytes_ + bytes <= options_.max_waiting_bytes);
  }

  // ---- the thread -------------------------------------------------------------------------------

  void run() noexcept {
    std::vector<Item> items;
    Clock::duration pause{};
    std::unique_lock lock(mutex_);
    for (;;) {
      come_.wait(lock, [&] { return !waiting_.empty() || is_closed_; });
      if (waiting_.empty()) return;
      // Those who were told just now are about to append again: half of the time of a sync may save
      // a whole one.
      come_.wait_for(lock, pause, [&] { return waiting_.size() >= expected_ || is_closed_; });
      items.swap(waiting_);
      waiting_bytes_ = 0;
      expected_ = items.size();
      room_.notify_all();
      std::exception_ptr failure = failure_;
      lock.unlock();
      const auto start = Clock::now();
      if (!failure) failure = write(items);
      pause = (Clock::now() - start) / 2;
      if (failure) {
        lock.lock();
        failure_ = failure;  // before anybody is told: what is appended from here on is refused
        lock.unlock();
      }
      for (Item& item : items) tell(item, failure);
      lock.lock();
      told_ += items.size();
      items.clear();
      done_.notify_all();
      if (failure) room_.notify_all();
    }
  }

  // What went wrong; null if nothing did.
  std::exception_ptr write(std::vector<Item>& items) {
    try {
      for (Item& item : items) {
        if (item.is_rotation) {
          sync();
          log_.rotate();
        } else {
          item.position = log_.append(item.bytes);
        }
      }
      sync();
      return nullptr;
    } catch (...) {
      return std::current_exception();
    }
  }

  void sync() {
    log_.sync();
    const std::lock_guard lock(mutex_);
    ++syncs_;
  }

  static void tell(Item& item, const std::exception_ptr& failure) {
    if (auto* const callback = std::get_if<Callback>(&item.listener)) {
      (*callback)(item.position, failure);
      return;
    }
    auto& promise = std::get<std::promise<Position>>(item.listener);
    if (failure)
      promise.set_exception(failure);
    else
      promise.set_value(item.position);
  }

  const Async_Options options_;
  Writer log_;  // of the thread, but for its limits

  mutable std::mutex mutex_;      // for all below
  std::condition_variable come_;  // something waits, or the log is closed
  std::condition_variable room_;  // there is room for more
  std::condition_variable done_;  // somebody was told
  std::vector<Item> waiting_;
  std::size_t waiting_bytes_ = 0;
  std::size_t expected_ = 1;  // as many as were written together the last time
  std::uint64_t pushed_ = 0;
  std::uint64_t told_ = 0;
  std::uint64_t syncs_ = 0;
  bool is_closed_ = false;
  std::exception_ptr failure_;

  std::thread::id writing_thread_;
  std::thread thread_;
};

Async_Writer::Async_Writer(Writer log, Async_Options options)
    : implementation_(std::make_unique<Implementation>(std::move(log), options)) {}

Async_Writer::~Async_Writer() {
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

void Async_Writer::wait() { implementation_->wait(); }
void Async_Writer::rotate() { implementation_->rotate(); }
void Async_Writer::close() { implementation_->close(); }
std::uint64_t Async_Writer::syncs() const { return implementation_->syncs(); }

}  // namespace joedb::inline v1::wal
