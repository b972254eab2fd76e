#ifndef JOEDB_REPLICA_LOCAL_COPY_H
#define JOEDB_REPLICA_LOCAL_COPY_H

#include <functional>
#include <utility>

#include "joedb/journal/journal_options.h"
#include "joedb/journal/readonly_journal.h"

namespace joedb::inline v1 {

// The local copy of a journal, with or without tables, as the client sees it. The two classes below
// serve all clients of this library; derive from this class for another kind of copy.
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
  // Number of bytes appended since the checkpoint. 0 between transactions, unless one was
  // abandoned.
  virtual Offset ahead_of_checkpoint() const = 0;
  // True if entries follow the last end of a transaction (Writable_Journal::is_unfinished).
  virtual bool is_unfinished() const { return ahead_of_checkpoint() > 0; }

  // Takes the write lock if others share the file, waiting for it, and reads what they have
  // written. Throws Exception if there are own entries past the checkpoint, Corruption_Error,
  // Io_Error; the lock is not held then.
  virtual void lock_pull() = 0;
  virtual void unlock() noexcept = 0;

  // The functions below require the lock. A read-only copy throws Exception.

  // Appends [checkpoint, end) of another copy, and writes a soft checkpoint. Requires that there
  // are no entries past the checkpoint. Throws Corruption_Error if the bytes are not whole valid
  // entries; the copy is unchanged then.
  virtual void copy_from(const Abstract_File& source, Offset end) = 0;
  virtual void write(const Valid_Data& entry) = 0;
  virtual void write(const Timestamp& entry) = 0;
  virtual void write(const Comment& entry) = 0;
  // Appends the entries that the next checkpoint of this level would append, and returns the
  // position where that checkpoint will be.
  virtual Offset prepare_checkpoint(Checkpoint_Level level) = 0;
  // Reads the bytes at `offset` into data[0, size), including bytes that are not in the file yet.
  virtual void read(char* data, std::size_t size, Offset offset) const = 0;
  // Writes a checkpoint after all entries. If it throws, the previous checkpoint stays valid.
  virtual void checkpoint(Checkpoint_Level level) = 0;

  // Drops the entries past the checkpoint, in memory and in the file. Does not require the lock.
  // No-op for a read-only copy.
  virtual void rollback() = 0;

  // Says that others write the journal elsewhere, too (Writable_Journal::set_copy).
  virtual void set_copy() {}

  // Calls the observers of the tables. Called between transactions, without the lock, after a
  // commit, pull or rollback. Throws what their functions throw.
  virtual void notify_observers() {}
};

// A copy that can be written. Store: Writable_Database, Bare_Journal, or a class with the same
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

// A copy that follows a file that others write: it can be pulled, but not written.
class Readonly_Copy final : public Local_Copy {
 public:
  // `journal` must outlive this object. `advance` replays the journal up to its checkpoint. It is
  // called here and by each lock_pull(), even if there is nothing new. Its exceptions are passed
  // on.
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
    advance_();  // even if nothing is new: the last call may have failed
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

}  // namespace joedb::inline v1

#endif
