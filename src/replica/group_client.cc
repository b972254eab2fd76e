#include "joedb/replica/group_client.h"

#include <algorithm>

namespace joedb::inline v1 {

void Call_Batches::wait_for(Call& call, const Run& run) {
  std::unique_lock lock(mutex_);
  if (runner_ == std::this_thread::get_id())
    throw Exception("a transaction of a Group_Client cannot begin another one");
  waiting_.push_back(&call);
  changed_.notify_all();
  while (!call.is_done) {
    if (runner_ == std::thread::id())
      run_next_batch(lock, run);
    else
      changed_.wait(lock);
  }
}

// Threads that were in the last batch come again soon, mostly: without waiting for them, every
// second batch would be small.
void Call_Batches::run_next_batch(std::unique_lock<std::mutex>& lock, const Run& run) {
  runner_ = std::this_thread::get_id();
  const System::Time end = System::after(system_.now(), last_duration_ / 4);
  while (waiting_.size() < last_size_ && system_.now() < end)
    system_.wait_until(changed_, lock, end);
  std::vector<Call*> batch;
  batch.swap(waiting_);
  lock.unlock();
  const System::Time start = system_.now();
  run(batch);
  const System::Duration duration = system_.now() - start;
  lock.lock();
  last_size_ = batch.size();
  last_duration_ = duration;
  for (Call* const call : batch) call->is_done = true;
  runner_ = {};
  changed_.notify_all();
}

}  // namespace joedb::inline v1
