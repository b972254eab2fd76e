#include "joedb/replica/client.h"

#include <algorithm>
#include <chrono>
#include <ctime>

#include "history/explanation.h"
#include "joedb/base/log.h"
#include "joedb/io/file.h"
#include "kernel/base/backoff.h"

namespace joedb::inline v1 {

// Lock order: first the connection, then the local file. This order prevents deadlocks, and no
// client holds the local file while it waits for a server.
class Client::Local_Lock {
 public:
  explicit Local_Lock(Local_Copy& local) : local_(local) { local_.lock_pull(); }
  ~Local_Lock() { local_.unlock(); }
  Local_Lock(const Local_Lock&) = delete;
  Local_Lock& operator=(const Local_Lock&) = delete;

 private:
  Local_Copy& local_;
};

class Client::Transaction {
 public:
  explicit Transaction(Client& client) : client_(client), lock_(client.local_) {
    client_.is_in_transaction_ = true;
    client_.is_explained_ = false;
    client_.has_parts_ = false;
  }
  ~Transaction() { client_.is_in_transaction_ = false; }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

 private:
  Client& client_;
  const Local_Lock lock_;
};

// The entries to push. Some of them are not in the local file yet.
class Client::New_Entries final : public Readonly_File {
 public:
  New_Entries(const Local_Copy& local, Offset end)
      : Readonly_File(local.file().get_name()), local_(local), end_(end) {}
  Offset get_size() const override { return end_; }
  std::size_t pread(char* data, std::size_t size, Offset offset) const override {
    if (offset >= end_) return 0;
    size = std::min(size, static_cast<std::size_t>(end_ - offset));
    local_.read(data, size, offset);
    return size;
  }

 private:
  const Local_Copy& local_;
  const Offset end_;
};

Client::Client(Local_Copy& local, Connection& connection, Content_Check check)
    : local_(local), connection_(connection), check_(check) {
  if (!is_connected()) return;
  local_.set_copy();
  const Offset end = std::min(local_.get_checkpoint(), connection_.get_checkpoint());
  connection_.compare(local_.file(), journal_start, end, check_);
  common_ = end;
  compare_new();  // a reconnection during compare() may have found a newer checkpoint
}

Offset Client::get_checkpoint_difference() const {
  return is_connected() ? connection_.get_checkpoint() - local_.get_checkpoint() : 0;
}

// Compares the bytes that both copies have gained since the last comparison. They may differ: after
// a failed push of this client, another client may have pushed.
void Client::compare_new() {
  const Offset end = std::min(local_.get_checkpoint(), connection_.get_checkpoint());
  if (end <= common_) return;
  connection_.compare(local_.file(), common_, end, check_);
  common_ = end;
}

// Copies new bytes to the local file, and returns true. Returns false if the copies must be
// compared first, or if another process has written to the local file since the connection was
// asked.
bool Client::take(const Abstract_File& source, Offset from, Offset end) {
  const Offset start = local_.get_checkpoint();
  if (local_.is_readonly()) return true;
  if (start == from && start == common_) {
    local_.copy_from(source, end);
    common_ = end;
  }
  return local_.get_checkpoint() >= end;
}

// Requires that this client does not hold the local lock. If takes_lock, the client then holds the
// lock of the connection.
void Client::pull_from_connection(System::Duration wait, bool takes_lock) {
  if (!is_connected()) return;
  bool is_done = false;
  while (!is_done) {
    is_done = true;
    Offset from = local_.get_checkpoint();
    connection_.pull({from, wait, takes_lock}, [&](const Abstract_File& source, Offset end) {
      const Local_Lock lock(local_);
      is_done = take(source, from, end);
      from = end;
    });
    wait = {};
    try {
      compare_new();
    } catch (...) {
      if (takes_lock) connection_.unlock();
      throw;
    }
    if (takes_lock && !is_done) connection_.unlock();
  }
}

void Client::push_to_connection(Connection::After_Push after) {
  if (!is_connected()) return;
  connection_.push(local_.file(), local_.get_checkpoint(), level(), after);
  common_ = local_.get_checkpoint();
}

// Pushes the entries that have no checkpoint yet.
void Client::push_new_entries(Connection::After_Push after) {
  write_end();
  const Offset end = local_.prepare_checkpoint(level());
  connection_.push(New_Entries(local_, end), end, level(), after);
}

void Client::require_no_transaction() const {
  if (is_in_transaction_) throw Exception("this client is in a transaction");
}

// Reads the local file first, so that entries that other processes have pulled are not transferred
// again.
Offset Client::pull_once(System::Duration wait) {
  require_no_transaction();
  const Offset old = local_.get_checkpoint();
  local_.pull();
  if (local_.get_checkpoint() > old) wait = {};
  pull_from_connection(wait, false);
  if (local_.get_checkpoint() > old) note(true);
  return local_.get_checkpoint() - old;
}

Offset Client::pull_for(System::Duration wait, System& system) {
  const Offset size = wait_for_entries(wait, system);
  local_.notify_observers();
  return size;
}

// If the connection cannot wait (a file does not signal new entries), polls it.
Offset Client::wait_for_entries(System::Duration wait, System& system) {
  if (connection_.can_wait()) return pull_once(wait);
  Backoff backoff(system, {std::chrono::milliseconds(1), std::chrono::milliseconds(50)}, wait);
  Offset size;
  do {
    size = pull_once({});
  } while (size == 0 && backoff.wait());
  return size;
}

Offset Client::pull_file() {
  require_no_transaction();
  const Offset old = local_.get_checkpoint();
  local_.pull();
  const Offset size = local_.get_checkpoint() - old;
  local_.notify_observers();
  return size;
}

// Needs no local lock, because bytes before the checkpoint never change.
void Client::push_if_ahead() {
  require_no_transaction();
  if (!is_connected()) return;
  compare_new();
  if (get_checkpoint_difference() < 0) push_to_connection(Connection::After_Push::unlock);
}

void Client::explain(std::string_view why) {
  write_explanation(local_, why, settings_.author);
  is_explained_ = true;
}

void Client::write_end() {
  using End = Transaction_Settings::End;
  if (has_parts_ && !local_.is_unfinished()) return;
  if (settings_.has_valid_data) local_.write(Valid_Data{});
  bool has_timestamp = settings_.has_timestamp || is_explained_;
  if (!has_timestamp && settings_.end != End::none && local_.ahead_of_checkpoint() > 0 &&
      local_.is_unfinished()) {
    has_timestamp = settings_.end == End::timestamp;
    if (!has_timestamp) local_.write(Valid_Data{});
  }
  if (has_timestamp)
    local_.write(Timestamp{settings_.now ? settings_.now() : std::int64_t{std::time(nullptr)}});
}

void Client::end_part() {
  if (!is_in_transaction_) throw Exception("this client is not in a transaction");
  if (local_.ahead_of_checkpoint() > 0 && local_.is_unfinished()) write_end();
  is_explained_ = false;
  has_parts_ = true;
}

// Makes a checkpoint. After a push, this appends nothing that was not pushed.
void Client::checkpoint() {
  if (settings_.is_hard && local_.ahead_of_checkpoint() > 0)
    local_.prepare_checkpoint(Checkpoint_Level::hard);
  local_.checkpoint(Checkpoint_Level::soft);
  if (settings_.is_hard) local_.checkpoint(Checkpoint_Level::hard);
}

// Makes a checkpoint for entries that have been pushed.
void Client::checkpoint_pushed() {
  checkpoint();
  if (is_connected()) common_ = local_.get_checkpoint();
}

// ---- transactions -------------------------------------------------------------------------------

void Client::note(bool others_have_written) {
  constexpr int many = 1 << 20;
  quiet_transactions_ = others_have_written ? 0 : std::min(quiet_transactions_ + 1, many);
}

// Runs a transaction. Returns false, without calling run(), if the local file is locked by another
// process.
bool Client::transact(const std::function<void()>& run, Wait wait) {
  const bool is_done = transact_without_lock(run) || transact_with_lock(run, wait);
  local_.notify_observers();  // also of entries pulled before the file was found busy
  return is_done;
}

bool Client::transact_with_lock(const std::function<void()>& run, Wait wait) {
  Client_Lock lock(*this, wait);
  if (!lock.is_locked_) return false;
  try {
    run();
    lock.write_and_end();
  } catch (...) {
    try {
      lock.cancel();
    } catch (const std::exception&) {  // the exception being thrown is more informative
      lock.abandon();
    }
    throw;
  }
  return true;
}

// Returns true if the transaction is complete. If this returns false or throws, nothing has
// changed, except that entries with a checkpoint of run() are kept.
bool Client::transact_without_lock(const std::function<void()>& run) {
  require_no_transaction();
  // Lock order: a client that holds the local lock must not wait for the lock of the connection.
  if (!is_optimistic_ || !connection_.can_push_without_lock() || is_shared() || !can_write() ||
      quiet_transactions_ < needed_quiet_transactions_)
    return false;

  bool is_pushing = false;
  bool has_read_stale_data = false;  // true if stale data may have been read
  Offset start = 0;
  try {
    const Transaction transaction(*this);
    start = local_.get_checkpoint();
    if (start != connection_.get_checkpoint() || start != common_) return false;
    try {
      run();
      is_pushing = true;
      push_new_entries(Connection::After_Push::never_locked);
    } catch (...) {
      local_.rollback();
      has_read_stale_data = !is_pushing;
      throw;
    }
    checkpoint_pushed();
    note(false);
    return true;
  } catch (const Conflict&) {
    // Back off: each refusal doubles the number of quiet transactions that are required. If run()
    // itself made a checkpoint, it cannot be rolled back, so run() is not repeated.
    if (is_pushing && local_.get_checkpoint() == start) {
      constexpr int most = 1024;
      needed_quiet_transactions_ = std::min(2 * needed_quiet_transactions_, most);
      note(true);
      return false;
    }
    if (!has_read_stale_data || !finds_new_data()) throw;
  } catch (...) {
    if (!has_read_stale_data || !finds_new_data()) throw;
  }
  return false;
}

// Returns true if other clients have written, so that a transaction that threw should be repeated.
// Ignores exceptions of pulling, because the exception of the transaction is more informative.
bool Client::finds_new_data() {
  try {
    return pull_once({}) > 0 && can_write();
  } catch (const std::exception&) {
    return false;
  }
}

Client_Lock::Client_Lock(Client& client, Client::Wait wait) : client_(client) {
  if (!client.can_write()) throw Read_Only_Client();
  client.require_no_transaction();
  const Offset old = client.get_journal_checkpoint();
  if (client_.is_connected()) {
    // Read the local file first, like pull_once(). Take its lock after that of the connection (lock
    // order).
    client_.local_.pull();
    client_.pull_from_connection({}, true);
  }
  try {
    if (wait == Client::Wait::no && !client_.local_.try_lock()) {
      client_.connection_.unlock();
      return;
    }
    client_.local_.lock_pull();
  } catch (...) {
    client_.local_.unlock();
    client_.connection_.unlock();
    throw;
  }
  is_locked_ = true;
  client_.is_in_transaction_ = true;
  client_.is_explained_ = false;
  client_.has_parts_ = false;
  client_.note(client.get_journal_checkpoint() > old);
}

Client_Lock::~Client_Lock() {
  if (!is_locked_ || client_.local_.file().is_inherited()) return;
  Destructor_Logger::warning("Client_Lock: locked, cancelling transaction");
  try {
    cancel();
  } catch (const std::exception& error) {
    Destructor_Logger::warning(error.what());
    abandon();
  }
}

void Client_Lock::explain(std::string_view why) {
  require_lock();
  client_.explain(why);
}

void Client_Lock::require_lock() const {
  if (!is_locked_) throw Exception("Client_Lock: the transaction has ended already");
}

void Client_Lock::do_checkpoint() {
  require_lock();
  client_.write_end();
  client_.checkpoint();
}

void Client_Lock::push_if_ahead() {
  require_lock();
  client_.push_to_connection(Connection::After_Push::keep_lock);
}

// Pushes before it makes the checkpoint. If entries had a checkpoint and the connection then
// refused them, the copies would diverge permanently.
void Client_Lock::write_and_end() {
  require_lock();
  client_.push_new_entries(Connection::After_Push::unlock);
  client_.checkpoint_pushed();
  end();
}

void Client_Lock::checkpoint_and_push_unlock() {
  write_and_end();
  client_.local_.notify_observers();
}

void Client_Lock::push_and_checkpoint() {
  require_lock();
  try {
    client_.push_new_entries(Connection::After_Push::keep_lock);
  } catch (...) {
    client_.local_.rollback();
    throw;
  }
  client_.checkpoint_pushed();
}

void Client_Lock::push_unlock() {
  require_lock();
  client_.local_.rollback();
  client_.push_to_connection(Connection::After_Push::unlock);
  end();
  client_.local_.notify_observers();
}

void Client_Lock::unlock() {
  cancel();
  client_.local_.notify_observers();
}

void Client_Lock::cancel() {
  require_lock();
  client_.local_.rollback();
  abandon();
}

void Client_Lock::abandon() noexcept {
  if (!is_locked_) return;
  client_.connection_.unlock();
  end();
}

void Client_Lock::end() noexcept {
  is_locked_ = false;
  client_.is_in_transaction_ = false;
  client_.local_.unlock();
}

}  // namespace joedb::inline v1
