#include "joedb/replica/clients.h"

#include <algorithm>

namespace joedb::inline v1 {

void Call_Batches::wait_for(Call& call, const Run& run) {
  std::unique_lock lock(mutex_);
  if (runner_ == std::this_thread::get_id())
    throw Exception("a transaction of a Group_Client cannot begin another one");
  waiting_.push_back(&call);
  arrived_->notify_one();
  while (!call.is_done) {
    if (runner_ == std::thread::id())
      run_next_batch(lock, run);
    else
      ended_->wait(lock);
  }
}

// Waits up to max_wait for callers: most threads of the last batch call again soon. Without the
// wait, every second batch would be small.
void Call_Batches::run_next_batch(std::unique_lock<std::mutex>& lock, const Run& run) {
  runner_ = std::this_thread::get_id();
  constexpr System::Duration max_wait = std::chrono::milliseconds(10);
  const System::Time end = System::after(system_.now(), std::min(last_duration_ / 4, max_wait));
  while (waiting_.size() < expected_ && system_.now() < end)
    system_.wait_until(arrived_, lock, end);
  std::vector<Call*> batch;
  batch.swap(waiting_);
  lock.unlock();
  const System::Time start = system_.now();
  run(batch);
  const System::Duration duration = system_.now() - start;
  lock.lock();
  // Let the expected size decrease by at most one for each batch.
  expected_ = std::max(batch.size(), std::max(expected_, std::size_t{1}) - 1);
  last_duration_ = duration;
  for (Call* const call : batch) call->is_done = true;
  runner_ = {};
  ended_->notify_all();
}

}  // namespace joedb::inline v1
