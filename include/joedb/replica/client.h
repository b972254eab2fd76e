#ifndef JOEDB_REPLICA_CLIENT_H
#define JOEDB_REPLICA_CLIENT_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "joedb/base/system.h"
#include "joedb/replica/connection.h"
#include "joedb/replica/local_copy.h"

namespace joedb::inline v1 {

// What a client appends at the end of each transaction, and how safe the checkpoint is.
struct Transaction_Settings {
  // These two are appended to each transaction, also where it has written nothing.
  bool has_valid_data = false;
  bool has_timestamp = false;
  bool is_hard = false;
  // A transaction that has written something, and would have no end, ends with this, so that the
  // history can tell it from the next one. none: bytes are those of joedb 10.
  enum class End { none, valid_data, timestamp } end = End::none;
  std::string author = {};                 // of transactions that say why they are made
  std::function<std::int64_t()> now = {};  // seconds since 1970, for the time stamp; {}: the clock
};

// Works on a local copy of a journal and keeps it in step with that of a connection, if there is
// one. Writers take turns: a transaction (Client_Lock) holds the locks of both, so that it begins
// with everything that others have written. Between transactions a client holds no lock.
//
// Functions that read or write throw Io_Error, Corruption_Error for damaged bytes, Content_Mismatch
// if the copies have diverged, Write_Disabled after a failed write, and what the connection throws.
// After an error in pulling or pushing the local copy is as it was, or has the new entries of its
// file, and the call can be repeated.
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
  // Whether transactions are possible.
  bool can_write() const { return !local_.is_readonly() && !is_pullonly(); }

  // Positions as of the last pull, push or transaction.
  Offset get_journal_checkpoint() const { return local_.get_checkpoint(); }
  Offset get_connection_checkpoint() const {
    return get_journal_checkpoint() + get_checkpoint_difference();
  }
  // Number of bytes by which the connection is ahead (negative: behind), as far as is known; 0
  // without a connection.
  Offset get_checkpoint_difference() const;
  // Whether there are own entries behind the checkpoint, of a transaction that goes on or was
  // abandoned.
  bool has_tail() const { return local_.ahead_of_checkpoint() > 0; }

  // The bytes of a blob, at most max_size of them (-1: all).
  std::string read_blob(Blob blob, std::int64_t max_size = -1) const {
    return local_.file().read_blob(blob, max_size);
  }

  // Reads what others have written, to the local file or at the other end of the connection.
  // Returns the number of bytes. If there are none, waits until there are some or `wait` (a
  // duration of <chrono>) is over: a server wakes those who wait, and may do so before; a file is
  // looked at again after pauses of 1 to 50 ms. Also waits for the end of a transaction of others
  // in the local file, without a limit. This and the other functions that pull or push throw
  // Exception in a transaction of this client. All that pull throw it while there are entries of an
  // abandoned transaction.
  Offset pull() { return pull_for(System::Duration(0), System::real()); }
  template <class Rep, class Period>
  Offset pull(std::chrono::duration<Rep, Period> wait, System& system = System::real()) {
    constexpr std::chrono::hours longest(1'000'000);
    return pull_for(wait < longest ? std::chrono::duration_cast<System::Duration>(wait) : longest,
                    system);
  }
  // Only what others have written to the local file.
  Offset pull_file();
  // Pushes the entries up to the checkpoint that the connection does not have. Nothing happens if
  // there are none. Throws Exception if there are some and the connection can only be read.
  void push_if_ahead();
  // The same: there is no lock to release.
  void push_unlock() { push_if_ahead(); }
  void pull_push() {
    pull();
    push_if_ahead();
  }

  // Written at the end of every transaction, in this order. Without them, a transaction that has
  // written something ends as Transaction_Settings::end says: that of the clients in clients.h and
  // in generated code with Valid_Data, unless the options of the schema say otherwise.
  void set_valid_data(bool value) { settings_.has_valid_data = value; }
  void set_timestamp(bool value) { settings_.has_timestamp = value; }
  void set_hard_checkpoint(bool value) { settings_.is_hard = value; }
  // Whom `joedb log` names as the author of transactions that say why they are made.
  void set_author(std::string name) { settings_.author = std::move(name); }
  Transaction_Settings& settings() { return settings_; }
  const Transaction_Settings& settings() const { return settings_; }

  // In a transaction: if something was written since its begin, or since the last end, it ends here
  // for the history, and what follows is another transaction. The checkpoint is still that of both.
  void end_part();

  // Locks, pulls, calls run(), pushes, writes a checkpoint, unlocks. Returns a copy of what run()
  // returns. Throws Exception, without calling run(), if the client cannot write or is in a
  // transaction, and what pulling throws. If run() throws, everything it has written is rolled
  // back, in memory and in the file, and its exception is thrown.
  //
  // If the push fails, everything is rolled back, too: nothing counts here that the connection does
  // not have. Conflict means that the lock was lost, and somebody else has pushed: the transaction
  // can be repeated. If the connection was lost in the push, the next pull shows whether the
  // transaction counts. If a checkpoint fails after the push, this throws though it counts. Without
  // a connection, a soft checkpoint that fails is rolled back, if the file can still be written to;
  // what a hard one that fails was for stays in the file, with a soft checkpoint.
  //
  // Over a connection to a server, run() may be called twice (set_optimistic).
  template <class Run>
  auto transaction(Run&& run);

  // Where nobody else has written for a while, transaction() does not ask the server for its lock:
  // it calls run() at once, pushes, and then writes the checkpoint. That takes one message and one
  // reply instead of two. (Not where the local file is shared.) If somebody else has written
  // meanwhile, the server refuses the push; everything is rolled back, which takes as long as
  // opening the file and invalidates what a rollback does (addresses, iterators), and run() is
  // called again, with the lock. So it is if run() has thrown without knowing what others have
  // written. What run() does outside of the database should bear that, and run() should write no
  // checkpoints itself: turn this off otherwise. On by default.
  //
  void set_optimistic(bool value) { is_optimistic_ = value; }

  // Drops the entries of an abandoned transaction (Client_Lock::abandon), in memory and in the
  // file.
  void rollback() {
    local_.rollback();
    local_.notify_observers();
  }

 protected:
  // In a transaction, before anything is written: a comment that says why it is made, which `joedb
  // log` shows, one with the author, if there is one, and a time stamp at its end.
  void explain(std::string_view why);

 private:
  friend class Client_Lock;
  class Local_Lock;
  class Transaction;
  class New_Entries;
  bool is_connected() const { return &connection_ != &Connection::dummy; }
  // Throws Exception in a transaction, whose lock would be lost.
  void require_no_transaction() const;
  void compare_new();
  void pull_from_connection(System::Duration wait, bool takes_lock);
  bool take(const Abstract_File& source, Offset from, Offset end);
  void push_to_connection(Connection::After_Push after);
  void push_new_entries(Connection::After_Push after);
  void write_end();
  void checkpoint();
  void checkpoint_pushed();
  Checkpoint_Level level() const {
    return settings_.is_hard ? Checkpoint_Level::hard : Checkpoint_Level::soft;
  }
  void transact(const std::function<void()>& run);
  void transact_with_lock(const std::function<void()>& run);
  bool transact_without_lock(const std::function<void()>& run);
  bool finds_news();
  void note(bool others_have_written);
  Offset pull_for(System::Duration wait, System& system);
  Offset wait_for_entries(System::Duration wait, System& system);
  Offset pull_once(System::Duration wait);

  Local_Copy& local_;
  Connection& connection_;
  const Content_Check check_;
  Transaction_Settings settings_;
  bool is_in_transaction_ = false;
  bool is_explained_ = false;
  bool has_parts_ = false;         // that have ends of their own
  Offset common_ = journal_start;  // up to here, the copies are known to be equal
  bool is_optimistic_ = true;
  int quiet_transactions_ = 0;         // since others have written
  int needed_quiet_transactions_ = 2;  // before a transaction does without the lock
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

  // All functions but abandon() throw Exception after the end of the transaction. Where a function
  // of an observer throws (history/typed_history.h), the transaction has ended, and counts.

  // Before anything is written: says why, as Client::transaction with a text.
  void explain(std::string_view why);

  // Writes a checkpoint, after the entries that the settings say: what was written so far is kept,
  // even if the rest of the transaction is rolled back, or the push is refused: then the copies
  // have diverged, and Content_Mismatch says so from then on.
  void do_checkpoint();
  // Pushes up to the last checkpoint.
  void push_if_ahead();
  // Pushes first, and then writes the checkpoint: nothing counts here that the connection does not
  // have. If the push fails, what has no checkpoint is rolled back. If the checkpoint fails, this
  // throws though the connection has the entries.
  void push_and_checkpoint();
  void checkpoint_and_push() { push_and_checkpoint(); }
  // The same, and ends the transaction. If it throws, the locks are still held: call unlock(),
  // which rolls back what has no checkpoint, or abandon().
  void checkpoint_and_push_unlock();
  // Pushes up to the last checkpoint, and ends the transaction: what has none is rolled back.
  void push_unlock();

  // Ends the transaction, and rolls back what has no checkpoint. If the rollback throws, the locks
  // are still held.
  void unlock();
  // Releases the locks, and leaves what has no checkpoint where it is, as a crash would. Until
  // Client::rollback, transactions and pulls of this client throw. Does nothing after the end.
  void abandon() noexcept;

 private:
  void require_lock() const;
  void cancel();
  void write_and_end();
  friend class Client;
  void end() noexcept;

  Client& client_;
  bool is_locked_ = false;
};

template <class Run>
auto Client::transaction(Run&& run) {
  using Result = std::decay_t<decltype(run())>;
  if constexpr (std::is_void_v<Result>) {
    transact([&] { run(); });
  } else {
    std::optional<Result> result;
    transact([&] { result.emplace(run()); });
    return Result(std::move(*result));
  }
}

}  // namespace joedb::inline v1

#endif
