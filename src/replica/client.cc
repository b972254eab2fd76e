#include "replica/client.h"

#include <algorithm>

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

class Client::Connection_Lock {
 public:
  explicit Connection_Lock(Connection* connection) : connection_(connection) {
    if (connection_ != nullptr) connection_->lock();
  }
  ~Connection_Lock() {
    if (connection_ != nullptr) connection_->unlock();
  }
  Connection_Lock(const Connection_Lock&) = delete;
  Connection_Lock& operator=(const Connection_Lock&) = delete;

 private:
  Connection* const connection_;
};

Client::Client(Local_Copy& local, Connection* connection, Content_Check check)
    : local_(local), connection_(connection), check_(check) {
  if (connection_ == nullptr) return;
  check_content(local_.file(), local_.get_checkpoint(), *connection_, check_);
  common_ = std::min(local_.get_checkpoint(), connection_->get_checkpoint());
}

Offset Client::get_difference() const {
  return connection_ == nullptr ? 0 : connection_->get_checkpoint() - local_.get_checkpoint();
}

// Where both have gone on since they were last compared, they may have parted: somebody else has
// pushed after our own push had failed.
void Client::refresh() {
  if (connection_ == nullptr) return;
  connection_->refresh();
  const Offset end = std::min(local_.get_checkpoint(), connection_->get_checkpoint());
  if (end <= common_) return;
  if (check_ != Content_Check::none)
    require_equal(local_.file(), connection_->content(), common_, end);
  common_ = end;
}

void Client::pull_from_connection() {
  refresh();
  if (local_.is_readonly() || get_difference() <= 0) return;
  local_.copy_from(connection_->content(), connection_->get_checkpoint());
  common_ = local_.get_checkpoint();
}

void Client::push_to_connection() {
  if (get_difference() >= 0) return;
  connection_->push(local_.file(), local_.get_checkpoint(),
                    settings_.is_hard ? Checkpoint_Level::hard : Checkpoint_Level::soft);
  common_ = local_.get_checkpoint();
}

Offset Client::pull() {
  const Offset old = local_.get_checkpoint();
  const Local_Lock lock(local_);  // this pulls from the file
  pull_from_connection();
  return local_.get_checkpoint() - old;
}

Offset Client::pull_file() {
  const Offset old = local_.get_checkpoint();
  const Local_Lock lock(local_);
  return local_.get_checkpoint() - old;
}

// What is before the checkpoint never changes: no local lock is needed.
void Client::push() {
  const Connection_Lock lock(connection_);
  refresh();
  push_to_connection();
}

void Client::transaction(const std::function<bool()>& run) {
  if (!can_write()) throw Exception("this client cannot write");
  const Local_Lock local_lock(local_);
  const Connection_Lock connection_lock(connection_);
  pull_from_connection();
  if (run()) write_end();
  push_to_connection();
}

void Client::write_end() {
  if (settings_.has_valid_data) local_.write(Valid_Data{});
  if (settings_.has_timestamp) local_.write(Timestamp{settings_.now()});
  local_.checkpoint(Checkpoint_Level::soft);
  if (settings_.is_hard) local_.checkpoint(Checkpoint_Level::hard);
}

}  // namespace joedb::inline v1
