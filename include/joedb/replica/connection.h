#ifndef JOEDB_REPLICA_CONNECTION_H
#define JOEDB_REPLICA_CONNECTION_H

#include <memory>

#include "joedb/journal/readonly_journal.h"
#include "joedb/journal/writable_journal.h"

namespace joedb::inline v1 {

// How much of the common beginning of two journals is compared before they are accepted as copies
// of each other. What is compared ends at the earlier of their checkpoints.
enum class Content_Check {
  none,
  fast,  // its last 64 KiB: two histories that parted once do not end in the same bytes
  full   // all of it
};

// Another copy of a journal, which several writers share by pulling from it and pushing to it. The
// copies are equal up to the earlier of their checkpoints. Derive from this for a connection of
// another kind, over a network for example.
//
// Functions throw Io_Error, or an Exception of the derived class, where the other copy cannot be
// reached. Not thread-safe.
class Connection {
 public:
  constexpr Connection() = default;
  constexpr virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // No other copy: the client works on its file alone. It can push, which does nothing; its
  // content() throws Exception.
  static Connection& dummy;

  // False if the other copy can only be read. Does not change.
  virtual bool can_push() const = 0;

  // The checkpoint of the other copy, as of the last call of refresh or push.
  virtual Offset get_checkpoint() const = 0;
  // Asks for the checkpoint of the other copy. If it throws, get_checkpoint() has not changed.
  virtual void refresh() = 0;
  // The other copy, to be read up to get_checkpoint().
  virtual const Abstract_File& content() const = 0;

  // The right to push, which one client has at a time; lock() waits for it. A client holds it for a
  // push or a transaction.
  virtual void lock() = 0;
  virtual void unlock() noexcept = 0;

  // Appends what `local` has before `end` and the other copy has not, and writes a checkpoint
  // there. If the other copy has at least as much, nothing happens. Throws Content_Mismatch if the
  // copies have diverged, Corruption_Error if the bytes are no whole entries that follow those of
  // the other copy; the other copy has not changed then.
  virtual void push(const Abstract_File& local, Offset end, Checkpoint_Level level) = 0;
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

  bool can_push() const override { return writer_ != nullptr; }
  Offset get_checkpoint() const override {
    return writer_ ? writer_->get_checkpoint() : reader_->get_checkpoint();
  }
  void refresh() override;
  const Abstract_File& content() const override { return file_; }
  void lock() override {}
  void unlock() noexcept override {}
  void push(const Abstract_File& local, Offset end, Checkpoint_Level level) override;

 private:
  void prepare_push(const Abstract_File& local, Offset end);

  Abstract_File& file_;
  std::unique_ptr<Writable_Journal> writer_;  // one of the two
  std::unique_ptr<Readonly_Journal> reader_;
  bool has_pushed_ = false;
};

// Throws Content_Mismatch unless both hold the same bytes in [start, end), Corruption_Error if one
// of them ends before that.
void require_equal(const Abstract_File& local, const Abstract_File& other, Offset start,
                   Offset end);

// Throws Content_Mismatch if the copies differ before both checkpoints, as far as `check` looks.
void check_content(const Abstract_File& local, Offset local_checkpoint,
                   const Connection& connection, Content_Check check);

}  // namespace joedb::inline v1

#endif
