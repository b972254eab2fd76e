#ifndef JOEDB_REPLICA_CLIENT_H
#define JOEDB_REPLICA_CLIENT_H

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "joedb/base/error.h"
#include "joedb/base/threads.h"
#include "joedb/journal/readonly_journal.h"
#include "joedb/journal/writable_journal.h"

namespace joedb::inline v1 {

// ---- connection ---------------------------------------------------------------------------------

// Thrown if the other copy is read-only, and therefore refuses a lock or a push.
class Pull_Only : public Disconnection {
 public:
  using Disconnection::Disconnection;
};

// Thrown if two journals that should be copies of each other differ in [start, end). `path` is the
// name of the local journal. Neither journal has been changed.
class Content_Mismatch : public Disconnection {
 public:
  Content_Mismatch(std::string_view file, Offset start_of_bytes, Offset end_of_bytes);
  const std::string path;
  const Offset start;
  const Offset end;
};

// Thrown if a push does not start at the end of the other copy: another client has pushed since the
// last pull, or the lock was lost. No part of the push was appended. The copies diverge at or after
// `position`. The text names where the push began, which is where an entry begins.
class Conflict : public Disconnection {
 public:
  explicit Conflict(Offset pushed_from) : Conflict(pushed_from, pushed_from) {}
  Conflict(Offset pushed_from, Offset diverges_at);
  const Offset position;
};

// Determines how much of the common part of two journals is compared before they are accepted as
// copies of each other. The common part ends at the earlier of the two checkpoints.
enum class Content_Check {
  none,
  fast,  // a sample that includes the last 4 KiB, in which diverged journals usually differ
  full   // the whole common part
};

// A connection to another copy of a journal. Several writers share the journal by pulling from this
// copy and pushing to it. Copies are equal up to the earlier of their checkpoints. Derive from this
// class to implement another kind of connection.
//
// Functions throw Io_Error, Connection_Lost, or an Exception of the derived class if the other copy
// cannot be reached, and Disconnection if the request is refused. Not thread-safe.
class Connection {
 public:
  constexpr Connection() = default;
  constexpr virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // A connection without another copy, for clients that work on their own file alone. Pushes are
  // allowed, and do nothing.
  static Connection& dummy;

  // False if the other copy is read-only. The result changes only after an error.
  virtual bool can_push() const = 0;

  // The checkpoint of the other copy when the last pull or push ended.
  virtual Offset get_checkpoint() const = 0;

  // Throws Content_Mismatch if the copies differ in [start, end), as far as `check` compares them.
  // Requires that `end` is not past the checkpoint of either copy. The client calls this function
  // before it pulls or pushes, even with Content_Check::none. A connection that reconnects may
  // compare again, so `local` must exist until the last pull or push.
  virtual void compare(const Abstract_File& local, Offset start, Offset end,
                       Content_Check check) = 0;

  struct Pull {
    Offset from = 0;          // the checkpoint of the local copy
    System::Duration wait{};  // how long to wait for bytes past `from`, if can_wait()
    bool takes_lock = false;  // if true, also waits for the lock and takes it
  };
  // Receives bytes of the other copy. It must read the bytes [from, end) of `source` once, in
  // order.
  using Receive = std::function<void(const Abstract_File& source, Offset end)>;
  // Asks for the checkpoint of the other copy. If the checkpoint is past `from`, calls
  // receive(source, end), either once for all bytes up to the checkpoint, or for one part after the
  // other. Each part starts at the end of the previous part, or earlier. If receive() throws
  // Connection_Lost, the call may be repeated; other exceptions pass through. If pull() throws, the
  // lock is not held.
  virtual void pull(const Pull& pull, const Receive& receive) = 0;
  // True if pull() can wait: it returns as soon as there are new bytes, possibly earlier.
  virtual bool can_wait() const { return false; }

  // True if push() supports After_Push::never_locked. Such a push takes one message and one reply.
  virtual bool can_push_without_lock() const { return false; }

  enum class After_Push {
    keep_lock,
    unlock,
    // The lock is not held before or after the push. If another client holds the lock, push()
    // throws Conflict at once.
    never_locked
  };
  // Appends the bytes of `local` up to `end` that the other copy does not have to the other copy,
  // and writes a checkpoint at `end` there. If the other copy has all these bytes, nothing is
  // appended. Waits for the lock unless it is held already; `after` determines whether the lock is
  // held afterwards. If push() throws, the lock can be held only if it was held before, or after a
  // Conflict with keep_lock. `level` is a request: a server uses its own level.
  //
  // Throws Content_Mismatch if the copies have diverged, Conflict if the other copy has advanced
  // since the last pull or push, and Corruption_Error if the bytes are not whole entries that can
  // follow the entries of the other copy. The other copy is unchanged then.
  virtual void push(const Abstract_File& local, Offset end, Checkpoint_Level level,
                    After_Push after) = 0;
  // Releases the lock. Does nothing if the lock is not held.
  virtual void unlock() noexcept = 0;
};

// A connection to a file on this machine. If the file is opened read-only, the connection cannot
// push. Otherwise, no other process can push to the file, because the file is locked while it is
// open. If an interrupted push has left bytes past the checkpoint, they are pushed again; other
// bytes past the checkpoint are saved in a file beside the journal (Recovery::keep).
class File_Connection final : public Connection {
 public:
  // `file` must outlive the connection. Throws Exception if `file` is shared, and the exceptions of
  // Readonly_Journal or Writable_Journal. The recovery mode is always Recovery::keep.
  explicit File_Connection(Abstract_File& file, Journal_Options options = {});

  // Name of the file in which a push has saved bytes past the checkpoint; empty if no bytes were
  // saved.
  std::string get_saved_tail() const { return writer_ ? writer_->get_saved_tail() : ""; }

  // False if the file is read-only, or after a failed write or sync.
  bool can_push() const override { return writer_ && !writer_->has_failed(); }
  Offset get_checkpoint() const override {
    return writer_ ? writer_->get_checkpoint() : reader_->get_checkpoint();
  }
  // Content_Check::fast compares the last 64 KiB.
  void compare(const Abstract_File& local, Offset start, Offset end, Content_Check check) override;
  void pull(const Pull& pull, const Receive& receive) override;
  void push(const Abstract_File& local, Offset end, Checkpoint_Level level,
            After_Push after) override;
  void unlock() noexcept override {}

 private:
  [[noreturn]] void refuse() const;
  void prepare_push(const Abstract_File& local, Offset end);

  Abstract_File& file_;
  std::unique_ptr<Writable_Journal> writer_;  // exactly one of writer_ and reader_ is set
  std::unique_ptr<Readonly_Journal> reader_;
  bool has_pushed_ = false;
};

// ---- client -------------------------------------------------------------------------------------

// The interface of a client to its local copy of the journal, with or without tables. The two
// classes below serve all clients of this library. Derive from this class to implement another kind
// of copy.
//
// Not thread-safe.
class Local_Copy {
 public:
  Local_Copy() = default;
  virtual ~Local_Copy() = default;
  Local_Copy(const Local_Copy&) = delete;
  Local_Copy& operator=(const Local_Copy&) = delete;

  // The file of the journal. Its bytes before get_checkpoint() never change.
  virtual const Abstract_File& file() const = 0;
  virtual bool is_readonly() const = 0;
  virtual Offset get_checkpoint() const = 0;
  // Number of bytes appended since the checkpoint. Between transactions, it is 0 unless a
  // transaction was abandoned.
  virtual Offset ahead_of_checkpoint() const = 0;
  // True if entries follow the last end of a transaction (Writable_Journal::is_unfinished).
  virtual bool is_unfinished() const { return ahead_of_checkpoint() > 0; }

  // If the file is shared, waits for the write lock, takes it, and reads the entries that other
  // processes have written. Throws Io_Error, Lock_Timeout, Corruption_Error, and Exception if this
  // copy has appended entries past the checkpoint; the lock is not held then.
  virtual void lock_pull() = 0;
  // Reads the entries that other processes have written, without keeping the write lock. The
  // default implementation takes the lock for a moment; the two classes below do not take it.
  virtual void pull() {
    lock_pull();
    unlock();
  }
  // If the file is shared, takes the write lock if it is free; otherwise returns false. After true,
  // the next call is lock_pull() or unlock(). The default implementation returns true without
  // taking the lock: lock_pull() then waits for it.
  virtual bool try_lock() { return true; }
  virtual void unlock() noexcept = 0;

  // The functions below require the lock. A read-only copy throws Exception.

  // Appends the bytes [checkpoint, end) of another copy, and writes a soft checkpoint. Requires
  // that no entries follow the checkpoint of this copy. Throws Corruption_Error if the bytes are
  // not whole valid entries; the copy is unchanged then.
  virtual void copy_from(const Abstract_File& source, Offset end) = 0;
  virtual void write(const Valid_Data& entry) = 0;
  virtual void write(const Timestamp& entry) = 0;
  virtual void write(const Comment& entry) = 0;
  // Appends the entries that must precede the next checkpoint of this level, and returns the
  // position where this checkpoint will be.
  virtual Offset prepare_checkpoint(Checkpoint_Level level) = 0;
  // Reads the bytes [offset, offset + size) into `data`. They may include bytes that are not in the
  // file yet.
  virtual void read(char* data, std::size_t size, Offset offset) const = 0;
  // Writes a checkpoint after all entries. If it throws, the previous checkpoint stays valid.
  virtual void checkpoint(Checkpoint_Level level) = 0;

  // Drops the entries past the checkpoint, in memory and in the file. Does not require the lock.
  // Does nothing for a read-only copy.
  virtual void rollback() = 0;

  // Declares that other processes write other copies of the journal (Writable_Journal::set_copy).
  virtual void set_copy() {}

  // Calls the functions that observe the tables. Called between transactions, without the lock,
  // after a commit, pull or rollback. Throws the exceptions of the observers.
  virtual void notify_observers() {}
};

// A copy that can be written. Store is Writable_Database, Bare_Journal, or a class with the same
// functions. The store must outlive this object.
template <class Store>
class Writable_Copy final : public Local_Copy {
 public:
  explicit Writable_Copy(Store& store) : store_(store) {}

  const Abstract_File& file() const override { return store_.get_journal().get_file(); }
  bool is_readonly() const override { return false; }
  Offset get_checkpoint() const override { return store_.get_journal().get_checkpoint(); }
  Offset ahead_of_checkpoint() const override { return store_.ahead_of_checkpoint(); }
  bool is_unfinished() const override { return store_.get_journal().is_unfinished(); }
  void lock_pull() override { store_.lock_pull(); }
  void pull() override { store_.pull(); }
  bool try_lock() override { return store_.try_lock(); }
  void unlock() noexcept override { store_.unlock(); }
  void copy_from(const Abstract_File& source, Offset end) override {
    store_.copy_from(source, end);
  }
  void write(const Valid_Data& entry) override { store_.write(entry); }
  void write(const Timestamp& entry) override { store_.write(entry); }
  void write(const Comment& entry) override { store_.write(entry); }
  Offset prepare_checkpoint(Checkpoint_Level level) override {
    store_.prepare_checkpoint(level);
    return store_.get_journal().get_position();
  }
  void read(char* data, std::size_t size, Offset offset) const override {
    store_.get_journal().read(data, size, offset);
  }
  void checkpoint(Checkpoint_Level level) override { store_.checkpoint(level); }
  void rollback() override { store_.rollback(); }
  void set_copy() override { store_.set_copy(); }
  void notify_observers() override {
    if constexpr (requires { store_.notify_observers(); }) store_.notify_observers();
  }

 private:
  Store& store_;
};

// A read-only copy, which follows a file that other processes write.
class Readonly_Copy final : public Local_Copy {
 public:
  // `journal` must outlive this object. The constructor and each lock_pull() call advance(), which
  // replays the journal up to its checkpoint. Exceptions of advance() pass through.
  Readonly_Copy(Readonly_Journal& journal, std::function<void()> advance)
      : journal_(journal), advance_(std::move(advance)) {
    advance_();
  }

  const Abstract_File& file() const override { return journal_.get_file(); }
  bool is_readonly() const override { return true; }
  Offset get_checkpoint() const override { return journal_.get_checkpoint(); }
  Offset ahead_of_checkpoint() const override { return 0; }
  void lock_pull() override {
    journal_.pull();
    advance_();  // called even if nothing is new, because the last call may have failed
  }
  void unlock() noexcept override {}
  void copy_from(const Abstract_File&, Offset) override { refuse(); }
  void write(const Valid_Data&) override { refuse(); }
  void write(const Timestamp&) override { refuse(); }
  void write(const Comment&) override { refuse(); }
  Offset prepare_checkpoint(Checkpoint_Level) override { refuse(); }
  void read(char* data, std::size_t size, Offset offset) const override {
    file().read_exactly(data, size, offset);
  }
  void checkpoint(Checkpoint_Level) override { refuse(); }
  void rollback() override {}

 private:
  [[noreturn]] void refuse() const {
    throw Exception(file().get_name() + " is opened for reading only and cannot be written");
  }

  Readonly_Journal& journal_;
  const std::function<void()> advance_;
};

// The entries that a client appends at the end of each transaction, and the level of its
// checkpoints.
struct Transaction_Settings {
  // If true, this entry is appended to each transaction, even to a transaction that has written
  // nothing.
  bool has_valid_data = false;
  bool has_timestamp = false;
  bool is_hard = false;
  // The entry that is appended to a transaction that has written something and would otherwise have
  // no end, so that the history can distinguish it from the next transaction. With `none`, the
  // bytes are those of joedb 10.
  enum class End { none, valid_data, timestamp } end = End::none;
  std::string author = {};  // author of transactions with a reason (explain)
  // Returns the seconds since 1970, for time stamps. If empty, the system clock is used.
  std::function<std::int64_t()> now = {};
};

// Works on a local copy of a journal. If there is a connection, synchronizes the local copy with
// the other copy. Writers take turns: a transaction (Client_Lock) holds the locks of both the
// connection and the local file, so it begins with everything that other clients have written.
// Between transactions, a client holds no lock.
//
// Functions that read or write throw Io_Error, Corruption_Error for damaged bytes, Content_Mismatch
// if the copies have diverged, Write_Disabled after a failed write, and the exceptions of the
// connection. After an error in pulling or pushing, the local copy is unchanged, or has only the
// new entries of its file. The call can be repeated.
//
// Base of the clients in clients.h and in generated code. Not thread-safe.
class Client {
 public:
  // Both arguments must outlive the client. Throws Content_Mismatch if the copies have diverged.
  Client(Local_Copy& local, Connection& connection, Content_Check check);
  virtual ~Client() = default;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // True if other processes may write the file.
  bool is_shared() const { return local_.file().is_shared(); }
  // True if the connection is read-only.
  bool is_pullonly() const { return !connection_.can_push(); }
  // True if transactions are possible.
  bool can_write() const { return !local_.is_readonly() && !is_pullonly(); }

  // These positions are updated by each pull, push and transaction.
  Offset get_journal_checkpoint() const { return local_.get_checkpoint(); }
  Offset get_connection_checkpoint() const {
    return get_journal_checkpoint() + get_checkpoint_difference();
  }
  // Number of bytes by which the connection is ahead of the local copy, as far as known; negative
  // if the connection is behind; 0 without a connection.
  Offset get_checkpoint_difference() const;
  // True if entries follow the checkpoint, because a transaction is in progress or was abandoned.
  bool has_tail() const { return local_.ahead_of_checkpoint() > 0; }

  // Returns the first max_size bytes of a blob, or all bytes if max_size is -1.
  std::string read_blob(Blob blob, std::int64_t max_size = -1) const {
    return local_.file().read_blob(blob, max_size);
  }

  // Pulls the entries that other clients have written to the local file or to the connection.
  // Returns the number of new bytes. If there are no new bytes, waits for them, but not longer than
  // `wait` (a duration of <chrono>). A server wakes waiting clients, possibly early; a file is
  // polled with pauses of 1 to 50 ms. Does not wait for a transaction of another process, unless
  // entries of the connection must be written to a shared local file.
  //
  // pull() and the other functions that pull or push throw Exception during a transaction of this
  // client. All functions that pull throw Exception while entries of an abandoned transaction
  // follow the checkpoint.
  Offset pull() { return pull_for(System::Duration(0), System::real()); }
  template <class Rep, class Period>
  Offset pull(std::chrono::duration<Rep, Period> wait, System& system = System::real()) {
    constexpr std::chrono::hours longest(1'000'000);
    return pull_for(wait < longest ? std::chrono::duration_cast<System::Duration>(wait) : longest,
                    system);
  }
  // Pulls only the entries that other processes have written to the local file. Returns the number
  // of new bytes.
  Offset pull_file();
  // Pushes the entries up to the checkpoint that the connection does not have. Throws Exception if
  // there are such entries and the connection is read-only.
  void push_if_ahead();
  // The same as push_if_ahead(): outside a transaction, there is no lock to release.
  void push_unlock() { push_if_ahead(); }
  void pull_push() {
    pull();
    push_if_ahead();
  }

  // Set the entries that are written at the end of every transaction, in this order. If none is
  // set, Transaction_Settings::end determines the end of a transaction that has written something.
  // By default, clients in clients.h and in generated code end it with Valid_Data, unless the
  // options of the schema determine another end.
  void set_valid_data(bool value) { settings_.has_valid_data = value; }
  void set_timestamp(bool value) { settings_.has_timestamp = value; }
  void set_hard_checkpoint(bool value) { settings_.is_hard = value; }
  // Sets the author that `joedb log` shows for transactions with a reason.
  void set_author(std::string name) { settings_.author = std::move(name); }
  Transaction_Settings& settings() { return settings_; }
  const Transaction_Settings& settings() const { return settings_; }

  // If something was written in this transaction since the last end_part(), ends a transaction of
  // the history here; later entries are another transaction of the history. Both get the same
  // checkpoint. Throws Exception if the client is not in a transaction.
  void end_part();

  // Locks, pulls, calls run(), pushes, writes a checkpoint, unlocks. Returns a copy of the result
  // of run(). Before calling run(), may throw Read_Only_Client, Exception if the client is in a
  // transaction, and the exceptions of pulling. If run() throws, everything that it has written is
  // rolled back, in memory and in the file, and its exception passes through.
  //
  // If the push fails, everything is rolled back, too: the local copy never commits entries that
  // the connection does not have. A Conflict means that the lock was lost, and that another client
  // has pushed: the transaction can be repeated. If the connection was lost during the push, the
  // next pull shows whether the transaction is committed. If the checkpoint after the push fails,
  // this throws although the transaction is committed. Without a connection, the transaction is
  // rolled back if a soft checkpoint fails and the file can still be written. If a hard checkpoint
  // fails, the entries stay in the file, with a soft checkpoint.
  //
  // Over a connection to a server, run() may be called twice (set_optimistic).
  template <class Run>
  auto transaction(Run&& run);
  // The same as transaction() if no other process is writing the local file now; otherwise returns
  // at once, without calling run(). If run() returns void, returns true if run() was called;
  // otherwise, returns a std::optional that holds the result of run(), or is empty if run() was not
  // called. Waits for the lock of a connection, as transaction() does, and for a shared local file
  // if new entries of the connection must be written to it.
  template <class Run>
  auto try_transaction(Run&& run);

  // Optimistic transactions are on by default. If no other client has written for a while, and the
  // local file is not shared, transaction() does not ask the server for its lock: it calls run() at
  // once, pushes, and then writes the checkpoint. This takes one message and one reply instead of
  // two of each. If another client has written since the last pull, the server refuses the push.
  // Then everything is rolled back, and run() is called again, with the lock. The rollback takes as
  // long as opening the file, and invalidates addresses and iterators. The same happens if run()
  // throws and another client has written since the last pull. Turn this off if the effects of
  // run() outside the database are not repeatable, or if run() writes checkpoints.
  void set_optimistic(bool value) { is_optimistic_ = value; }

  // Drops the entries of an abandoned transaction (Client_Lock::abandon), in memory and in the
  // file.
  void rollback() {
    local_.rollback();
    local_.notify_observers();
  }

 protected:
  // Must be called in a transaction, before anything is written. Writes a comment with the reason,
  // which `joedb log` shows, and, if the author is set, another comment with the author. The
  // transaction will end with a time stamp.
  void explain(std::string_view why);

 private:
  friend class Client_Lock;
  class Local_Lock;
  class Transaction;
  class New_Entries;
  bool is_connected() const { return &connection_ != &Connection::dummy; }
  // Throws Exception during a transaction, whose lock would be lost.
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
  enum class Wait { yes, no };
  bool transact(const std::function<void()>& run, Wait wait = Wait::yes);
  bool transact_with_lock(const std::function<void()>& run, Wait wait);
  bool transact_without_lock(const std::function<void()>& run);
  bool finds_new_data();
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
  bool has_parts_ = false;         // a part of the transaction has its own end
  Offset common_ = journal_start;  // the copies are known to be equal up to here
  bool is_optimistic_ = true;
  int quiet_transactions_ = 0;         // number of transactions since another client has written
  int needed_quiet_transactions_ = 2;  // their number from which transactions skip the lock
};

// Thrown by a transaction of a client if its connection or its local file can only be read. The
// transaction had no effect.
class Read_Only_Client : public Exception {
 public:
  Read_Only_Client() : Exception("this client cannot write") {}
};

// A transaction that the program ends explicitly. The constructor takes the locks and pulls. End it
// with unlock(), push_unlock() or checkpoint_and_push_unlock(); otherwise the destructor rolls it
// back, and logs a warning.
class Client_Lock {
 public:
  // Throws Read_Only_Client, Exception if the client is in a transaction already, and the
  // exceptions of pulling. No lock is held then.
  explicit Client_Lock(Client& client) : Client_Lock(client, Client::Wait::yes) {}
  virtual ~Client_Lock();
  Client_Lock(const Client_Lock&) = delete;
  Client_Lock& operator=(const Client_Lock&) = delete;

  // After the end of the transaction, all functions except abandon() throw Exception. If a function
  // that observes changes throws (history/typed_history.h), the transaction has ended, and
  // everything that it has committed is kept.

  // Records the reason of the transaction, like Client::transaction with a text. Must be called
  // before anything is written.
  void explain(std::string_view why);

  // Appends the entries that the settings require, and writes a checkpoint. Everything written so
  // far is kept, even if the rest of the transaction is rolled back or the push is refused. If the
  // push is refused, the copies have diverged, and later calls throw Content_Mismatch.
  void do_checkpoint();
  // Pushes up to the last checkpoint.
  void push_if_ahead();
  // Pushes first, and then writes the checkpoint: the local copy never commits entries that the
  // connection does not have. If the push fails, entries without a checkpoint are rolled back. If
  // the checkpoint fails, this throws although the connection has the entries.
  void push_and_checkpoint();
  void checkpoint_and_push() { push_and_checkpoint(); }
  // Does the same as push_and_checkpoint(), and then ends the transaction. If the push or the
  // checkpoint fails, the locks are still held: call unlock(), which rolls back entries without a
  // checkpoint, or abandon().
  void checkpoint_and_push_unlock();
  // Rolls back entries without a checkpoint, pushes up to the last checkpoint, and ends the
  // transaction.
  void push_unlock();

  // Rolls back entries without a checkpoint, and ends the transaction. If the rollback throws, the
  // locks are still held.
  void unlock();
  // Releases the locks, and leaves entries without a checkpoint in the journal, as a crash would.
  // Until Client::rollback is called, transactions and pulls of this client throw. Does nothing
  // after the end of the transaction.
  void abandon() noexcept;

 private:
  friend class Client;
  // With Wait::no, if the lock of the local file is not free, the transaction is not started.
  Client_Lock(Client& client, Client::Wait wait);
  void require_lock() const;
  void cancel();
  void write_and_end();
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

template <class Run>
auto Client::try_transaction(Run&& run) {
  using Result = std::decay_t<decltype(run())>;
  if constexpr (std::is_void_v<Result>) {
    return transact([&] { run(); }, Wait::no);
  } else {
    std::optional<Result> result;
    transact([&] { result.emplace(run()); }, Wait::no);
    return result;
  }
}

}  // namespace joedb::inline v1

#endif
