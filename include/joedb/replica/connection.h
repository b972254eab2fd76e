#ifndef JOEDB_REPLICA_CONNECTION_H
#define JOEDB_REPLICA_CONNECTION_H

#include <functional>
#include <memory>

#include "joedb/journal/readonly_journal.h"
#include "joedb/journal/writable_journal.h"

namespace joedb::inline v1 {

// How much of the common beginning of two journals is compared before they are accepted as copies
// of each other. What is compared ends at the earlier of their checkpoints.
enum class Content_Check {
  none,
  fast,  // a sample with the last 4 KiB: two histories that parted once do not end in the same
         // bytes
  full   // all of it
};

// Another copy of a journal, which several writers share by pulling from it and pushing to it. The
// copies are equal up to the earlier of their checkpoints. Derive from this for a connection of
// another kind.
//
// Functions throw Io_Error, Connection_Lost, or an Exception of the derived class, where the other
// copy cannot be reached, and Disconnection where it refuses. Not thread-safe.
class Connection {
 public:
  constexpr Connection() = default;
  constexpr virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // No other copy: the client works on its file alone. It can push, which does nothing.
  static Connection& dummy;

  // False if the other copy can only be read. Does not change while there is no error.
  virtual bool can_push() const = 0;

  // The checkpoint of the other copy, as of the last call of pull or push.
  virtual Offset get_checkpoint() const = 0;

  // Throws Content_Mismatch if the copies differ in [start, end), as far as `check` looks. Requires
  // that `end` is not behind the checkpoint of either. The client calls this before it pulls or
  // pushes, also with Content_Check::none. A connection that reconnects compares again then:
  // `local` must live as long as it is pulled from and pushed to.
  virtual void compare(const Abstract_File& local, Offset start, Offset end,
                       Content_Check check) = 0;

  struct Pull {
    Offset from = 0;          // the checkpoint of the local copy
    System::Duration wait{};  // for more than `from`, if the connection can wait
    bool takes_lock = false;  // the right to push, which one client has at a time; waits for it
  };
  // Where the other copy is to be read: the bytes [from, end) of `source`, once, in their order.
  using Receive = std::function<void(const Abstract_File& source, Offset end)>;
  // Asks for the checkpoint of the other copy. If it is behind `from`, calls receive(source, end)
  // for all bytes up to there, or for one part after the other, each from where the part before has
  // ended, or from before that. A call that throws Connection_Lost is repeated; anything else that
  // it throws is passed on. If pull() throws, the lock is not held.
  virtual void pull(const Pull& pull, const Receive& receive) = 0;
  // Whether pull() waits: it returns as soon as there are new bytes, and perhaps before.
  virtual bool can_wait() const { return false; }

  // Whether push() knows After_Push::never_locked, which takes one message and one reply.
  virtual bool can_push_without_lock() const { return false; }

  enum class After_Push {
    keep_lock,
    unlock,
    never_locked  // the lock is not held before and after; where another client has it, there is a
                  // Conflict at once
  };
  // Appends what `local` has before `end` and the other copy has not, and writes a checkpoint
  // there. If the other copy has at least as much, nothing is appended. Takes the lock, if it is
  // not held, waiting for it, and keeps it or not. If it throws, the lock is held at most if it
  // was before, or after a Conflict with keep_lock. `level` is a wish: a server has its own level.
  //
  // Throws Content_Mismatch if the copies have diverged, Conflict if the other copy has gone on
  // since the last pull or push, Corruption_Error if the bytes are no whole entries that follow
  // those of the other copy. The other copy has not changed then.
  virtual void push(const Abstract_File& local, Offset end, Checkpoint_Level level,
                    After_Push after) = 0;
  // Does nothing if the lock is not held.
  virtual void unlock() noexcept = 0;
};

// A file of this machine. If it is opened for reading, the connection cannot push. Otherwise no
// other process can, for the file is locked as long as it is open. Bytes that an interrupted push
// has left behind the checkpoint are pushed again; other bytes there are saved in a file beside
// this one (Recovery::keep).
class File_Connection final : public Connection {
 public:
  // `file` must outlive the connection. Throws Exception if it is shared, and what Readonly_Journal
  // or Writable_Journal throws. The recovery mode is always Recovery::keep.
  explicit File_Connection(Abstract_File& file, Journal_Options options = {});

  // The name of the file in which a push has saved bytes behind the checkpoint; empty if none.
  std::string get_saved_tail() const { return writer_ ? writer_->get_saved_tail() : ""; }

  // False after a failed write or sync, too.
  bool can_push() const override { return writer_ && !writer_->has_failed(); }
  Offset get_checkpoint() const override {
    return writer_ ? writer_->get_checkpoint() : reader_->get_checkpoint();
  }
  // `fast` looks at the last 64 KiB.
  void compare(const Abstract_File& local, Offset start, Offset end, Content_Check check) override;
  void pull(const Pull& pull, const Receive& receive) override;
  void push(const Abstract_File& local, Offset end, Checkpoint_Level level,
            After_Push after) override;
  void unlock() noexcept override {}

 private:
  [[noreturn]] void refuse() const;
  void prepare_push(const Abstract_File& local, Offset end);

  Abstract_File& file_;
  std::unique_ptr<Writable_Journal> writer_;  // one of the two
  std::unique_ptr<Readonly_Journal> reader_;
  bool has_pushed_ = false;
};

}  // namespace joedb::inline v1

#endif
