#ifndef JOEDB_REPLICA_CLIENT_H
#define JOEDB_REPLICA_CLIENT_H

#include <cstdint>
#include <functional>
#include <utility>

#include "joedb/base/system.h"
#include "joedb/replica/connection.h"
#include "joedb/replica/local_copy.h"

namespace joedb::inline v1 {

// What a client appends, and how it ends its transactions.
struct Transaction_Settings {
  bool has_valid_data = false;
  bool has_timestamp = false;
  bool is_hard = false;
  std::function<std::int64_t()> now = {};  // seconds since 1970, for the time stamp; {}: the clock
};

// Works on a local copy of a journal and keeps it in step with that of a connection, if there is
// one. Writers take turns: a transaction (Client_Lock) holds the locks of both, so that it begins
// with everything that others have written.
//
// Base of the clients in clients.h and in generated code. Not thread-safe.
class Client {
 public:
  // Both must outlive the client. Throws Content_Mismatch if the copies have diverged.
  Client(Local_Copy& local, Connection& connection, Content_Check check);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Whether other processes may write the file.
  bool is_shared() const { return local_.file().is_shared(); }
  // Whether the connection can only be read.
  bool is_pullonly() const { return !connection_.can_push(); }
  bool can_write() const { return !local_.is_readonly() && !is_pullonly(); }

  Offset get_journal_checkpoint() const { return local_.get_checkpoint(); }
  Offset get_connection_checkpoint() const {
    return get_journal_checkpoint() + get_checkpoint_difference();
  }
  // Number of bytes by which the connection is ahead (negative: behind), as far as is known.
  Offset get_checkpoint_difference() const;
  // Entries behind the checkpoint, of a transaction that goes on or was abandoned.
  bool has_tail() const { return local_.ahead_of_checkpoint() > 0; }

  // The bytes of a blob, at most max_size of them (-1: all).
  std::string read_blob(Blob blob, std::int64_t max_size = -1) const {
    return local_.file().read_blob(blob, max_size);
  }

  // Reads what others have written, at either place. Returns the number of bytes; if there are none
  // yet, waits for some, but not longer than `wait` (a duration of <chrono>), and the end of a
  // transaction of others. Neither this nor the
  // other functions that read or push can be called in a transaction: they throw.
  Offset pull() { return pull_for(System::Duration(0), System::real()); }
  template <class Rep, class Period>
  Offset pull(std::chrono::duration<Rep, Period> wait, System& system = System::real()) {
    constexpr std::chrono::hours longest(1'000'000);
    return pull_for(wait < longest ? std::chrono::duration_cast<System::Duration>(wait) : longest,
                    system);
  }
  // Only what others have written to the file.
  Offset pull_file();
  // Gives the connection what it does not have yet.
  void push_if_ahead();
  // The same: between transactions a client holds no lock.
  void push_unlock() { push_if_ahead(); }
  void pull_push() {
    pull();
    push_if_ahead();
  }

  // Written at the end of every transaction, in this order.
  void set_valid_data(bool value) { settings_.has_valid_data = value; }
  void set_timestamp(bool value) { settings_.has_timestamp = value; }
  void set_hard_checkpoint(bool value) { settings_.is_hard = value; }
  Transaction_Settings& settings() { return settings_; }

  // Locks, pulls, calls run(), writes a checkpoint, pushes, unlocks. Returns what run() returns. If
  // it throws, everything it has written is rolled back, in memory and in the file. If the push
  // fails, the transaction is in the file, and the next push tries again.
  template <class Run>
  auto transaction(Run&& run);

  // Forgets what an abandoned transaction has left (Client_Lock::abandon).
  void rollback() { local_.rollback(); }

 private:
  friend class Client_Lock;
  class Local_Lock;
  bool is_connected() const { return &connection_ != &Connection::dummy; }
  // Throws Exception in a transaction, whose lock would be lost.
  void require_no_transaction() const;
  void refresh();
  void pull_from_connection();
  void push_to_connection();
  void write_end();
  Offset pull_for(System::Duration wait, System& system);
  Offset pull_once();

  Local_Copy& local_;
  Connection& connection_;
  const Content_Check check_;
  Transaction_Settings settings_;
  bool is_in_transaction_ = false;
  Offset common_ = journal_start;  // up to here, the copies are known to be equal
};

// A transaction whose end is where the program says: holds the locks, after a pull. End it with
// unlock() or checkpoint_and_push_unlock(); otherwise the destructor rolls it back, with a warning.
class Client_Lock {
 public:
  // Throws Exception if the client cannot write, or is in a transaction; otherwise what pulling
  // throws. No lock is held then.
  explicit Client_Lock(Client& client);
  ~Client_Lock();
  Client_Lock(const Client_Lock&) = delete;
  Client_Lock& operator=(const Client_Lock&) = delete;

  // What was written so far is kept, whatever comes.
  void do_checkpoint();
  void push_if_ahead();
  void checkpoint_and_push();
  void checkpoint_and_push_unlock();

  // Rolls back what has no checkpoint.
  void unlock();
  // Leaves what has no checkpoint behind it, as a crash would: until Client::rollback there will be
  // no other transaction, and no pull.
  void abandon() noexcept;

 private:
  void require_lock() const;

  Client& client_;
  bool is_locked_ = false;
};

template <class Run>
auto Client::transaction(Run&& run) {
  Client_Lock lock(*this);
  const auto cancel = [&] {
    try {
      lock.unlock();
    } catch (const std::exception&) {  // what is being thrown says more
      lock.abandon();
    }
  };
  try {
    if constexpr (std::is_void_v<decltype(run())>) {
      run();
      lock.checkpoint_and_push_unlock();
    } else {
      auto result = run();
      lock.checkpoint_and_push_unlock();
      return result;
    }
  } catch (...) {
    cancel();
    throw;
  }
}

}  // namespace joedb::inline v1

#endif
