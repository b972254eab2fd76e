#include "wal/copy_queues.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <optional>
#include <utility>

#include "joedb/base/threads.h"
#include "kernel/base/counted.h"
#include "wal/format.h"

namespace joedb::inline v1::wal {

struct Copy_Queues::Operation {
  std::shared_ptr<const std::string> bytes;  // null for zeros, or for a sync
  Offset offset = 0;
  Offset zeros_end = 0;                                // end of the zeros; 0 if there are none
  std::shared_ptr<std::optional<Io_Error>> no_room{};  // error of a copy without room for zeros
  std::uint64_t number = 0;                            // operations are counted from 1
  std::uint64_t sync_number = 0;                       // syncs are counted from 1

  bool is_sync() const { return !bytes && zeros_end == 0; }
  bool is_header() const { return !is_sync() && offset < log_start; }
  std::size_t size() const { return bytes ? bytes->size() : 0; }
};

struct Copy_Queues::Copy {
  std::shared_ptr<Abstract_File> file;
  bool is_used = false;
  std::string failure;
  std::deque<Operation> queue;
  std::size_t waiting_bytes = 0;  // bytes in the queue and in the operation in progress
  bool is_busy = false;           // an operation is in progress
  bool has_new_header = false;    // a header was written and is not durable yet
  std::uint64_t written = 0;      // number of the last operation performed
  std::uint64_t synced = 0;       // number of the last operation that is durable
  std::uint64_t syncs = 0;        // sync_number of the last sync performed
  bool wait_is_reported = false;  // true if it was reported that the log waits for this copy
  System::Time last_progress{};
  std::condition_variable work;  // notified if there is an operation, or the thread must end

  bool is_idle() const { return queue.empty() && !is_busy; }
  bool has_done(const Operation& operation) const {
    return (operation.is_sync() ? synced : written) >= operation.number;
  }

  // True if the sync that was just taken from the queue may be skipped (invariant 2).
  bool can_skip_sync() const {
    if (has_new_header) return false;
    for (const Operation& operation : queue) {
      if (operation.is_sync()) return true;
      if (operation.is_header()) return false;
    }
    return false;
  }

  bool has_room(std::size_t size, std::size_t most) const {
    constexpr std::size_t cost_of_operation = 128;
    return queue.empty() || waiting_bytes + size + queue.size() * cost_of_operation <= most;
  }
};

struct Copy_Queues::State {
  explicit State(Options o) : options(std::move(o)) {}

  std::size_t used() const JOEDB_REQUIRES(mutex) {
    return static_cast<std::size_t>(
        std::count_if(copies.begin(), copies.end(), [](const Copy& copy) { return copy.is_used; }));
  }

  bool are_idle() const JOEDB_REQUIRES(mutex) {
    return std::all_of(copies.begin(), copies.end(),
                       [](const Copy& copy) { return !copy.is_used || copy.is_idle(); });
  }

  std::size_t count_done(const Operation& operation) const JOEDB_REQUIRES(mutex) {
    return static_cast<std::size_t>(
        std::count_if(copies.begin(), copies.end(),
                      [&](const Copy& copy) { return copy.is_used && copy.has_done(operation); }));
  }

  void drop(Copy& copy, const std::string& failure) JOEDB_REQUIRES(mutex) {
    if (!copy.is_used) return;
    copy.is_used = false;
    copy.failure = failure;
    copy.queue.clear();
    copy.waiting_bytes = 0;
    reports.push_back(copy.file->get_name() + " is not used any more: " + failure);
    copy.work.notify_all();
    done.notify_all();
  }

  // Performs the first operation in the queue. Releases the mutex meanwhile.
  void perform_one(Copy& copy) JOEDB_REQUIRES(mutex) {
    const Operation operation = std::move(copy.queue.front());
    copy.queue.pop_front();
    if (operation.is_sync() && copy.can_skip_sync()) return;
    copy.is_busy = true;
    std::string failure;
    std::optional<Io_Error> no_room;
    {
      const Mutex_Unlock unlocked(mutex);
      try {
        if (operation.is_sync())
          copy.file->datasync();
        else if (operation.bytes)
          copy.file->pwrite(operation.bytes->data(), operation.size(), operation.offset);
        else
          write_zeros(*copy.file, operation, no_room);
      } catch (const std::exception& error) {
        failure = error.what();
      }
    }
    copy.is_busy = false;
    if (no_room) operation.no_room->emplace(*no_room);
    if (!failure.empty())
      drop(copy, failure);
    else if (copy.is_used)
      note_done(copy, operation);
    done.notify_all();
  }

  static void write_zeros(Abstract_File& file, const Operation& operation,
                          std::optional<Io_Error>& no_room) {
    try {
      file.write_zeros(operation.offset, operation.zeros_end);
    } catch (const Io_Error& error) {
      no_room.emplace(error);
    }
  }

  void note_done(Copy& copy, const Operation& operation) JOEDB_REQUIRES(mutex) {
    copy.written = operation.number;
    copy.waiting_bytes -= operation.size();
    copy.last_progress = options.system->now();
    if (operation.is_sync()) {
      copy.synced = operation.number;
      copy.syncs = operation.sync_number;
      copy.has_new_header = false;
    } else if (operation.is_header()) {
      copy.has_new_header = true;
    }
    if (copy.queue.empty()) copy.wait_is_reported = false;
  }

  // Performs all queued operations in the calling thread, for Copy_Queues without threads.
  void perform_all(Copy& copy) JOEDB_REQUIRES(mutex) {
    while (!copy.queue.empty()) perform_one(copy);
  }

  void perform_without_threads(const Operation& operation, std::size_t needed)
      JOEDB_REQUIRES(mutex) {
    for (std::size_t i = 0; i < copies.size(); ++i)
      if (!options.is_slow || !options.is_slow(i)) perform_all(copies[i]);
    for (Copy& copy : copies)
      if (count_done(operation) < needed) perform_all(copy);
  }

  // Waits until each copy in use can queue `size` more bytes within max_lag_bytes.
  void make_room(std::size_t size) JOEDB_REQUIRES(mutex) {
    const auto start = options.system->now();
    for (;;) {
      const auto slow = std::find_if(copies.begin(), copies.end(), [&](const Copy& copy) {
        return copy.is_used && !copy.has_room(size, options.max_lag_bytes);
      });
      if (slow == copies.end()) return;
      if (!options.has_threads) {
        perform_all(*slow);
        continue;
      }
      if (!std::exchange(slow->wait_is_reported, true))
        reports.push_back("the log waits for " + slow->file->get_name() + ", which is " +
                          lag_text(*slow));
      wait_for(*slow, start, used() > options.least);
    }
  }

  // Waits until any copy makes progress. Drops `copy` if it has made no progress for too long.
  void wait_for(Copy& copy, System::Time start, bool may_drop) JOEDB_REQUIRES(mutex) {
    if (!may_drop) return mutex.wait(done);
    const auto end = System::after(std::max(start, copy.last_progress), options.patience);
    if (options.system->now() < end)
      mutex.wait_until(done, end, *options.system);
    else
      drop(copy, "it is " + lag_text(copy) + ", and has done nothing for " +
                     std::to_string(options.patience.count()) + " ms");
  }

  std::string lag_text(const Copy& copy) const JOEDB_REQUIRES(mutex) {
    return std::to_string(copy.waiting_bytes) + " bytes and " +
           counted(syncs - copy.syncs, "sync") + " behind";
  }

  const Options options;
  mutable Mutex mutex;
  std::condition_variable done;  // notified if an operation was performed, or a copy was dropped
  std::deque<Copy> copies JOEDB_GUARDED_BY(mutex);
  std::uint64_t operations JOEDB_GUARDED_BY(mutex) = 0;
  std::uint64_t syncs JOEDB_GUARDED_BY(mutex) = 0;
  bool is_closed JOEDB_GUARDED_BY(mutex) = false;
  std::vector<std::string> reports JOEDB_GUARDED_BY(mutex);
};

Copy_Queues::Copy_Queues(std::vector<std::shared_ptr<Abstract_File>> files, Options options)
    : state_(std::make_shared<State>(std::move(options))) {
  State& s = *state_;
  {
    const Mutex_Lock lock(s.mutex);
    for (std::shared_ptr<Abstract_File>& file : files) {
      Copy& copy = s.copies.emplace_back();
      copy.last_progress = s.options.system->now();
      copy.is_used = file != nullptr;
      copy.file = std::move(file);
    }
  }
  if (!s.options.has_threads) return;
  try {
    for (std::size_t i = 0; i < files.size(); ++i)
      threads_.emplace_back(&Copy_Queues::run_thread, state_, i);
  } catch (...) {
    close();
    throw;
  }
}

Copy_Queues::~Copy_Queues() { close(); }

void Copy_Queues::run_thread(const std::shared_ptr<State>& state, std::size_t index) {
  const Mutex_Lock lock(state->mutex);
  Copy& copy = state->copies[index];
  for (;;) {
    while (copy.queue.empty() && !state->is_closed && copy.is_used) state->mutex.wait(copy.work);
    if (copy.queue.empty()) return;
    state->perform_one(copy);
  }
}

void Copy_Queues::write(const char* data, std::size_t size, Offset offset, std::size_t needed) {
  Operation operation;
  operation.bytes = std::make_shared<const std::string>(data, size);
  operation.offset = offset;
  run(std::move(operation), needed);
}

void Copy_Queues::sync(std::size_t needed) { run({}, needed); }

void Copy_Queues::write_zeros(Offset start, Offset end, std::size_t needed) {
  const auto no_room = std::make_shared<std::optional<Io_Error>>();
  Operation operation;
  operation.offset = start;
  operation.zeros_end = end;
  operation.no_room = no_room;
  run(std::move(operation), needed);
  const Mutex_Lock lock(state_->mutex);
  if (*no_room) throw Io_Error(**no_room);
}

void Copy_Queues::run(Operation operation, std::size_t needed) {
  State& s = *state_;
  const Mutex_Lock lock(s.mutex);
  s.make_room(operation.size());
  operation.number = ++s.operations;
  if (operation.is_sync()) operation.sync_number = ++s.syncs;
  for (Copy& copy : s.copies) {
    if (!copy.is_used) continue;
    copy.waiting_bytes += operation.size();
    copy.queue.push_back(operation);
    copy.work.notify_one();
  }
  if (!s.options.has_threads) return s.perform_without_threads(operation, needed);
  while (s.count_done(operation) < needed && s.used() >= needed) s.mutex.wait(s.done);
}

void Copy_Queues::drain() {
  State& s = *state_;
  const Mutex_Lock lock(s.mutex);
  if (!s.options.has_threads)
    for (Copy& copy : s.copies) s.perform_all(copy);
  while (!s.are_idle()) s.mutex.wait(s.done);
}

void Copy_Queues::close() {
  State& s = *state_;
  const Mutex_Lock lock(s.mutex);
  if (std::exchange(s.is_closed, true)) return;
  const auto start = s.options.system->now();
  for (Copy& copy : s.copies) {
    copy.work.notify_all();
    if (!s.options.has_threads) s.perform_all(copy);
    while (copy.is_used && !copy.is_idle()) s.wait_for(copy, start, true);
  }
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    Copy& copy = s.copies[i];
    if (copy.is_busy) {  // dropped: its thread closes the file when its system call returns
      threads_[i].detach();
      continue;
    }
    {
      const Mutex_Unlock unlocked(s.mutex);
      threads_[i].join();
    }
    copy.file.reset();  // a detached thread keeps the State alive, but not this file
  }
}

void Copy_Queues::drop(std::size_t copy, const std::string& failure) {
  const Mutex_Lock lock(state_->mutex);
  state_->drop(state_->copies[copy], failure);
}

Copy_Queues::Status Copy_Queues::status(std::size_t index) const {
  const Mutex_Lock lock(state_->mutex);
  const Copy& copy = state_->copies[index];
  if (!copy.is_used) return {.is_used = false, .failure = copy.failure};
  return {.is_used = true,
          .failure = {},
          .lag_bytes = copy.waiting_bytes,
          .lag_syncs = state_->syncs - copy.syncs};
}

std::size_t Copy_Queues::used() const {
  const Mutex_Lock lock(state_->mutex);
  return state_->used();
}

std::vector<std::string> Copy_Queues::take_reports() {
  const Mutex_Lock lock(state_->mutex);
  return std::exchange(state_->reports, {});
}

}  // namespace joedb::inline v1::wal
