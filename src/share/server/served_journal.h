#ifndef JOEDB_SRC_SHARE_SERVER_SERVED_JOURNAL_H
#define JOEDB_SRC_SHARE_SERVER_SERVED_JOURNAL_H

#include <memory>
#include <optional>
#include <string>

#include "joedb/io/posix_file.h"
#include "joedb/replica/clients.h"

namespace joedb::server {

// The journal that a server serves. It may have a connection to another copy, which gets all
// pushes, too.
//
// One thread at a time calls these functions. Other threads may call read() at the same time, so
// the file must allow concurrent reads (Locked_Memory_File).
class Served_Journal {
 public:
  Served_Journal() = default;
  virtual ~Served_Journal() = default;
  Served_Journal(const Served_Journal&) = delete;
  Served_Journal& operator=(const Served_Journal&) = delete;

  // True if the functions below may block: on locks, disks or other machines.
  virtual bool may_block() const = 0;
  // True if refresh() may find new entries.
  virtual bool has_other_writers() const = 0;
  // True if a push also goes to another copy, which may then have it when the file does not.
  virtual bool has_other_copy() const = 0;
  // False if the file is read-only or has failed, or if its connection leads to such a file.
  virtual bool can_push() const = 0;
  virtual Offset get_checkpoint() const = 0;
  virtual const Abstract_File& file() const = 0;
  // Reads bytes before a checkpoint that get_checkpoint() has returned.
  void read(char* data, std::size_t size, Offset offset) const {
    file().read_exactly(data, size, offset);
  }
  // Like read(), if the bytes can be read without the disk; returns false otherwise.
  bool read_cached(char* data, std::size_t size, Offset offset) const {
    return file().pread_cached(data, size, offset);
  }

  // Reads the entries that other processes have written to the file or to the other copy.
  virtual void refresh() = 0;

  // Between begin() and end(), no other writer changes the file and the other copy. begin() throws
  // the exceptions of locking and pulling; nothing is locked then. After Lock_Timeout, call it
  // again: another process has the file, and each call waits for it for a moment only, so that
  // refresh() can be called in between.
  virtual void begin() = 0;
  virtual void end() noexcept = 0;
  // Appends [checkpoint, source.get_size()) of `source` to the other copy, and then to the file,
  // with a checkpoint. So the file never has bytes that the other copy has refused or not received.
  // Requires begin(). Throws:
  //
  // * Corruption_Error if the bytes are not valid entries for the content, Conflict and
  //   Content_Mismatch if the other copy has changed, Disconnection if it refuses. Nothing has
  //   changed.
  // * Io_Error and Write_Disabled if the file cannot be written. can_push() is then false, and the
  //   other copy may have the bytes.
  //
  // If the other copy is a file that cannot be written, this throws and can_push() is false, too;
  // the bytes are in the served file, with a checkpoint.
  virtual void push(const Abstract_File& source) = 0;
  // True after a push was refused whose entries are still in the tables. Call restore() before any
  // other function then: it removes them, which may take as long as opening the file. It throws
  // what reading the file throws; begin() tries again.
  virtual bool must_restore() const { return false; }
  virtual void restore() {}

  // Makes the last checkpoint hard, unless the file is shared. Called when the server ends. Throws
  // the exceptions of the checkpoint.
  virtual void finish() {}
};

// A file that clients write. `file` and `connection` must outlive this object. Without a recovery
// mode in `options`, the bytes after the checkpoint are saved beside the file (Recovery::keep). The
// constructor throws the exceptions of opening the file, and of the first pull and push. Waits for
// locks of a shared file take up to `busy_timeout`, except in begin().
//
// Store: Writable_Database, which checks pushes against its tables, in memory or in a snapshot
// beside the file; or Bare_Journal, which only checks that pushes are whole entries, and needs no
// memory for them.
template <class Store>
class Written_Journal_Of final : private Client_Store<Store>, public Served_Journal {
 public:
  Written_Journal_Of(Abstract_File& file, Connection& connection, Content_Check check, bool is_hard,
                     const Journal_Options& options,
                     System::Duration busy_timeout = default_busy_timeout);
  ~Written_Journal_Of() override;

  bool may_block() const override { return may_block_; }
  bool has_other_writers() const override { return is_shared_; }
  bool has_other_copy() const override { return is_connected_; }
  bool can_push() const override {
    return !store_.get_journal().has_failed() && !has_lost_file_ && client_.can_write();
  }
  // With hard checkpoints, a push counts only after its hard checkpoint, so that no client sees
  // entries that a power cut can still remove. Entries of other writers have the checkpoint of
  // their writer, and pulled entries have a soft checkpoint.
  Offset get_checkpoint() const override { return checkpoint_; }
  const Abstract_File& file() const override { return store_.get_journal().get_file(); }
  void refresh() override;
  void begin() override;
  void end() noexcept override;
  void push(const Abstract_File& source) override;
  bool must_restore() const override;
  void restore() override { drop_unfinished(); }
  void finish() override;
  // Name of the file in which a tail of the journal was saved; empty if none.
  const std::string& get_saved_tail() const { return store_.get_journal().get_saved_tail(); }

 private:
  using Client_Store<Store>::store_;
  using Client_Store<Store>::copy_;

  void update();
  void drop_unfinished();
  template <class F>
  void note_replaced(F f);
  template <class F>
  void wait_briefly(F f);
  void lock_with_connection();
  void keep_without_backup(const Abstract_File& source, Offset start);

  Abstract_File& written_file_;
  const System::Duration busy_timeout_;
  Client client_;
  const bool is_shared_;
  const bool is_connected_;
  const bool has_backup_file_;  // the connection is to a file, not to a server
  const bool may_block_;
  Offset checkpoint_ = 0;
  bool has_lost_file_ = false;  // the backup has failed, or a file was replaced
  std::optional<Client_Lock> lock_;
};

using Written_Journal = Written_Journal_Of<Writable_Database>;
using Written_Bare_Journal = Written_Journal_Of<Bare_Journal>;

// A file that only others write.
class Read_Journal final : public Served_Journal {
 public:
  explicit Read_Journal(Abstract_File& file) : journal_(file) {}

  bool may_block() const override { return false; }
  bool has_other_writers() const override { return true; }
  bool has_other_copy() const override { return false; }
  bool can_push() const override { return false; }
  Offset get_checkpoint() const override { return journal_.get_checkpoint(); }
  const Abstract_File& file() const override { return journal_.get_file(); }
  void refresh() override { journal_.pull(); }
  void begin() override {}
  void end() noexcept override {}
  void push(const Abstract_File&) override { throw Exception("this file is only read"); }

 private:
  Readonly_Journal journal_;
};

}  // namespace joedb::server

#endif
