#ifndef JOEDB_REPLICA_CONNECTION_H
#define JOEDB_REPLICA_CONNECTION_H

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "joedb/base/error.h"
#include "joedb/journal/readonly_journal.h"
#include "joedb/journal/writable_journal.h"

namespace joedb::inline v1 {

// The other side of a connection can only be read: it refuses a lock, or a push.
class Pull_Only : public Disconnection {
 public:
  using Disconnection::Disconnection;
};

// Two journals that should have the same bytes in [start, end) differ there: they are not copies of
// each other, or have diverged. `path` is the local journal. Neither has been changed.
class Content_Mismatch : public Disconnection {
 public:
  Content_Mismatch(std::string_view file, Offset start_of_bytes, Offset end_of_bytes);
  const std::string path;
  const Offset start;
  const Offset end;
};

// A push does not start at the end of the other copy: somebody else has pushed since the last pull,
// or the lock was lost. No part of the push was appended. The copies diverge at or after
// `position`.
class Conflict : public Disconnection {
 public:
  explicit Conflict(Offset pushed_from);
  const Offset position;
};

// How much of the common part of two journals is compared before they are accepted as copies of
// each other. The common part ends at the earlier of their checkpoints.
enum class Content_Check {
  none,
  fast,  // a sample with the last 4 KiB: journals that have diverged do not end in the same bytes
  full   // the whole common part
};

// Another copy of a journal, which several writers share by pulling from it and pushing to it. The
// copies are equal up to the earlier of their checkpoints. Derive from this class for a connection
// of another kind.
//
// Functions throw Io_Error, Connection_Lost, or an Exception of the derived class if the other copy
// cannot be reached, and Disconnection if it refuses. Not thread-safe.
class Connection {
 public:
  constexpr Connection() = default;
  constexpr virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // No other copy: the client works on its file alone. Pushes are allowed, and are no-ops.
  static Connection& dummy;

  // False if the other copy is read-only. Does not change unless there is an error.
  virtual bool can_push() const = 0;

  // The checkpoint of the other copy, as of the last pull or push.
  virtual Offset get_checkpoint() const = 0;

  // Throws Content_Mismatch if the copies differ in [start, end), as far as `check` compares them.
  // Requires that `end` is not past the checkpoint of either copy. The client calls this before it
  // pulls or pushes, even with Content_Check::none. A connection that reconnects compares again, so
  // `local` must exist until the last pull or push.
  virtual void compare(const Abstract_File& local, Offset start, Offset end,
                       Content_Check check) = 0;

  struct Pull {
    Offset from = 0;          // the checkpoint of the local copy
    System::Duration wait{};  // for bytes past `from`, if the connection can wait
    bool takes_lock = false;  // also take the lock, the exclusive right to push; waits for it
  };
  // Receives bytes of the other copy: must read the bytes [from, end) of `source` once, in order.
  using Receive = std::function<void(const Abstract_File& source, Offset end)>;
  // Asks for the checkpoint of the other copy. If it is past `from`, calls receive(source, end) for
  // all bytes up to the checkpoint, or for one part after the other. Each part starts where the
  // previous one ended, or before that. A call that throws Connection_Lost is repeated; other
  // exceptions are passed on. If pull() throws, the lock is not held.
  virtual void pull(const Pull& pull, const Receive& receive) = 0;
  // True if pull() can wait: it returns as soon as there are new bytes, possibly earlier.
  virtual bool can_wait() const { return false; }

  // True if push() supports After_Push::never_locked, which takes one message and one reply.
  virtual bool can_push_without_lock() const { return false; }

  enum class After_Push {
    keep_lock,
    unlock,
    // The lock is not held before or after the push. If another client has it, push() throws
    // Conflict at once.
    never_locked
  };
  // Appends the bytes of `local` before `end` that the other copy does not have, and writes a
  // checkpoint there. If the other copy has at least as many bytes, nothing is appended. Takes the
  // lock if it is not held, waiting for it, and keeps or releases it as `after` says. If this
  // throws, the lock can be held only if it was held before, or after a Conflict with keep_lock.
  // `level` is a request: a server uses its own level.
  //
  // Throws Content_Mismatch if the copies have diverged, Conflict if the other copy has advanced
  // since the last pull or push, Corruption_Error if the bytes are not whole entries that follow
  // those of the other copy. The other copy is unchanged then.
  virtual void push(const Abstract_File& local, Offset end, Checkpoint_Level level,
                    After_Push after) = 0;
  // Releases the lock. No-op if it is not held.
  virtual void unlock() noexcept = 0;
};

// A connection to a file on this machine. If the file is opened for reading, the connection cannot
// push. Otherwise no other process can push to it, because the file is locked while it is open.
// Bytes that an interrupted push has left past the checkpoint are pushed again; other bytes there
// are saved in a file beside this one (Recovery::keep).
class File_Connection final : public Connection {
 public:
  // `file` must outlive the connection. Throws Exception if it is shared, and what Readonly_Journal
  // or Writable_Journal throws. The recovery mode is always Recovery::keep.
  explicit File_Connection(Abstract_File& file, Journal_Options options = {});

  // The name of the file in which a push has saved bytes past the checkpoint; empty if none.
  std::string get_saved_tail() const { return writer_ ? writer_->get_saved_tail() : ""; }

  // Also false after a failed write or sync.
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
  std::unique_ptr<Writable_Journal> writer_;  // exactly one of the two is set
  std::unique_ptr<Readonly_Journal> reader_;
  bool has_pushed_ = false;
};

}  // namespace joedb::inline v1

#endif
