#include "joedb/journal/writable_journal.h"

#include <cassert>
#include <utility>

namespace joedb::inline v1 {

void Sync_Group::begin(Checkpoint checkpoint) {
  assert(!pending_ && !is_syncing());
  pending_ = checkpoint;
  ++number_;
}

void Sync_Group::sync() noexcept {
  std::exception_ptr error;
  try {
    out_.datasync();
  } catch (...) {
    error = std::current_exception();
  }
  {
    const Mutex_Lock lock(mutex_);
    assert(done_number_ < number_);
    error_ = error;
    ++done_number_;
  }
  done_->notify_all();
}

void Sync_Group::wait(std::uint64_t number) {
  const Mutex_Lock lock(mutex_);
  while (done_number_ < number) mutex_.wait(done_);
}

bool Sync_Group::is_syncing() {
  const Mutex_Lock lock(mutex_);
  return done_number_ < number_;
}

std::optional<Sync_Group::Checkpoint> Sync_Group::finish() {
  if (!pending_) return std::nullopt;
  wait(number_);
  const Checkpoint done = *pending_;
  pending_.reset();
  const Mutex_Lock lock(mutex_);
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  return done;
}

}  // namespace joedb::inline v1
