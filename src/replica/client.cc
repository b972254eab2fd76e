#include "joedb/replica/client.h"

#include <algorithm>
#include <chrono>
#include <ctime>

#include "joedb/base/log.h"

namespace joedb::inline v1 {

// Of the two locks, everybody takes the local one first, so that nobody waits for ever.
class Client::Local_Lock {
 public:
  explicit Local_Lock(Local_Copy& local) : local_(local) { local_.lock_pull(); }
  ~Local_Lock() { local_.unlock(); }
  Local_Lock(const Local_Lock&) = delete;
  Local_Lock& operator=(const Local_Lock&) = delete;

 private:
  Local_Copy& local_;
};

Client::Client(Local_Copy& local, Connection& connection, Content_Check check)
    : local_(local), connection_(connection), check_(check) {
  if (!is_connected()) return;
  check_content(local_.file(), local_.get_checkpoint(), connection_, check_);
  common_ = std::min(local_.get_checkpoint(), connection_.get_checkpoint());
}

Offset Client::get_checkpoint_difference() const {
  return is_connected() ? connection_.get_checkpoint() - local_.get_checkpoint() : 0;
}

// Where both have gone on since they were last compared, they may have parted: somebody else has
// pushed after our own push had failed.
void Client::refresh() {
  if (!is_connected()) return;
  connection_.refresh();
  const Offset end = std::min(local_.get_checkpoint(), connection_.get_checkpoint());
  if (end <= common_) return;
  if (check_ != Content_Check::none)
    require_equal(local_.file(), connection_.content(), common_, end);
  common_ = end;
}

void Client::pull_from_connection() {
  refresh();
  if (local_.is_readonly() || get_checkpoint_difference() <= 0) return;
  local_.copy_from(connection_.content(), connection_.get_checkpoint());
  common_ = local_.get_checkpoint();
}

void Client::push_to_connection() {
  if (get_checkpoint_difference() >= 0) return;
  connection_.push(local_.file(), local_.get_checkpoint(),
                   settings_.is_hard ? Checkpoint_Level::hard : Checkpoint_Level::soft);
  common_ = local_.get_checkpoint();
}

void Client::require_no_transaction() const {
  if (is_in_transaction_) throw Exception("this client is in a transaction");
}

Offset Client::pull_once() {
  require_no_transaction();
  const Offset old = local_.get_checkpoint();
  const Local_Lock lock(local_);  // this pulls from the file
  pull_from_connection();
  return local_.get_checkpoint() - old;
}

// Neither a file nor a connection says when there is more, so we look again and again.
Offset Client::pull_for(System::Duration wait, System& system) {
  constexpr System::Duration longest_pause = std::chrono::milliseconds(50);
  const System::Time end = System::after(system.now(), wait);
  System::Duration pause = std::chrono::milliseconds(1);
  Offset size;
  while ((size = pull_once()) == 0) {
    const System::Duration left = end - system.now();
    if (left <= System::Duration(0)) break;
    system.sleep(std::min(left, pause));
    pause = std::min(2 * pause, longest_pause);
  }
  return size;
}

Offset Client::pull_file() {
  require_no_transaction();
  const Offset old = local_.get_checkpoint();
  const Local_Lock lock(local_);
  return local_.get_checkpoint() - old;
}

// What is before the checkpoint never changes: no local lock is needed.
void Client::push_if_ahead() {
  require_no_transaction();
  connection_.lock();
  try {
    refresh();
    push_to_connection();
  } catch (...) {
    connection_.unlock();
    throw;
  }
  connection_.unlock();
}

void Client::write_end() {
  if (settings_.has_valid_data) local_.write(Valid_Data{});
  if (settings_.has_timestamp)
    local_.write(Timestamp{settings_.now ? settings_.now() : std::int64_t{std::time(nullptr)}});
  local_.checkpoint(Checkpoint_Level::soft);
  if (settings_.is_hard) local_.checkpoint(Checkpoint_Level::hard);
}

// ---- transactions -------------------------------------------------------------------------------

Client_Lock::Client_Lock(Client& client) : client_(client) {
  if (!client.can_write()) throw Exception("this client cannot write");
  client.require_no_transaction();
  client_.local_.lock_pull();
  try {
    client_.connection_.lock();
    is_locked_ = true;
    client_.pull_from_connection();
    client_.is_in_transaction_ = true;
  } catch (...) {
    if (is_locked_) client_.connection_.unlock();
    client_.local_.unlock();
    throw;
  }
}

Client_Lock::~Client_Lock() {
  if (!is_locked_) return;
  Destructor_Logger::warning("Client_Lock: locked, cancelling transaction");
  try {
    unlock();
  } catch (const std::exception& error) {
    Destructor_Logger::warning(error.what());
    abandon();
  }
}

void Client_Lock::require_lock() const {
  if (!is_locked_) throw Exception("Client_Lock: the transaction has ended already");
}

void Client_Lock::do_checkpoint() {
  require_lock();
  client_.write_end();
}

void Client_Lock::push_if_ahead() {
  require_lock();
  client_.push_to_connection();
}

void Client_Lock::checkpoint_and_push() {
  do_checkpoint();
  push_if_ahead();
}

void Client_Lock::checkpoint_and_push_unlock() {
  checkpoint_and_push();
  abandon();
}

void Client_Lock::unlock() {
  require_lock();
  client_.local_.rollback();
  abandon();
}

void Client_Lock::abandon() noexcept {
  if (!is_locked_) return;
  is_locked_ = false;
  client_.is_in_transaction_ = false;
  client_.connection_.unlock();
  client_.local_.unlock();
}

}  // namespace joedb::inline v1
