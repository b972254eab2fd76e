#ifndef JOEDB_SRC_SHARE_SERVER_SERVED_JOURNAL_H
#define JOEDB_SRC_SHARE_SERVER_SERVED_JOURNAL_H

#include <memory>
#include <optional>
#include <string>

#include "joedb/io/posix_file.h"
#include "joedb/replica/clients.h"

namespace joedb::server {

// The journal that a server serves. It may be connected to another copy, to which all pushes are
// forwarded.
//
// These functions must be called by one thread at a time. Only the reads may be made by other
// threads at the same time, so the file must allow concurrent reads (Locked_Memory_File).
class Served_Journal {
 public:
  Served_Journal() = default;
  virtual ~Served_Journal() = default;
  Served_Journal(const Served_Journal&) = delete;
  Served_Journal& operator=(const Served_Journal&) = delete;

  // True if the functions below may wait for locks, disks or other machines.
  virtual bool may_block() const = 0;
  // True if other processes may append entries, which refresh() then reads.
  virtual bool has_other_writers() const = 0;
  // True if pushes are also forwarded to another copy. If a push fails, that copy may have entries
  // that the file does not have.
  virtual bool has_other_copy() const = 0;
  // False if the file is read-only or has failed, or if the other copy is such a file.
  virtual bool can_push() const = 0;
  virtual Offset get_checkpoint() const = 0;
  virtual const Abstract_File& file() const = 0;
  // Reads bytes before any checkpoint that get_checkpoint() has returned.
  void read(char* data, std::size_t size, Offset offset) const {
    file().read_exactly(data, size, offset);
  }
  // Reads like read() if the bytes can be read without disk access. Otherwise returns false.
  virtual bool read_cached(char* data, std::size_t size, Offset offset) const {
    return file().pread_cached(data, size, offset);
  }

  // Reads the entries that other processes have appended to the file or to the other copy.
  virtual void refresh() = 0;

  // Between begin() and end(), no other writer changes the file and the other copy. begin() throws
  // the exceptions of locking and pulling; nothing is locked then. After Lock_Timeout, call it
  // again: another process has the file, and each call waits for it for a moment only, so that
  // refresh() can be called in between.
  virtual void begin() = 0;
  virtual void end() noexcept = 0;
  // Appends the bytes [checkpoint, source.get_size()) of `source` to the other copy, then to the
  // file, and makes a checkpoint. So the file never has bytes that the other copy has refused or
  // not received. Call this between begin() and end(). Throws:
  //
  // * Corruption_Error if the bytes are not valid entries for the content; Conflict or
  //   Content_Mismatch if the other copy has changed; Disconnection if the other copy refuses the
  //   bytes. Nothing has changed.
  // * Io_Error or Write_Disabled if the file cannot be written. From then on, can_push() is false.
  //   The other copy may have the bytes.
  //
  // If the other copy is a file that cannot be written, this function also throws, and can_push()
  // is false; but the served file has the bytes, with a checkpoint.
  virtual void push(const Abstract_File& source) = 0;
  // True after a push was refused whose entries are still in the tables. Call restore() before any
  // other function then: it removes them, which may take as long as opening the file. It throws
  // what reading the file throws; begin() tries again.
  virtual bool must_restore() const { return false; }
  virtual void restore() {}

  // Makes the last checkpoint hard, unless the file is shared. The server calls this when it ends.
  // Passes on the exceptions of the checkpoint.
  virtual void finish() {}
};

// A file that clients write. `file` and `connection` must outlive this object. Without a recovery
// mode in `options`, the bytes after the checkpoint are saved beside the file (Recovery::keep). The
// constructor throws the exceptions of opening the file, and of the first pull and push. Waits for
// locks of a shared file take up to `busy_timeout`, except in begin().
//
// `Store` is Writable_Database or Bare_Journal. Writable_Database checks pushes against its tables,
// which are in memory or in a snapshot beside the file. Bare_Journal only checks that pushes
// consist of whole entries, and needs no memory for tables.
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
  // With hard checkpoints, a push is visible only after its hard checkpoint, so that no client
  // reads entries that a power cut could still remove. Entries of other writers have the checkpoint
  // of their writer; pulled entries have a soft checkpoint.
  Offset get_checkpoint() const override { return checkpoint_; }
  const Abstract_File& file() const override { return store_.get_journal().get_file(); }
  bool read_cached(char* data, std::size_t size, Offset offset) const override {
    return store_.get_journal().read_recent(data, size, offset) ||
           Served_Journal::read_cached(data, size, offset);
  }
  void refresh() override;
  void begin() override;
  void end() noexcept override;
  void push(const Abstract_File& source) override;
  bool must_restore() const override;
  void restore() override { drop_unfinished(); }
  void finish() override;
  // Returns the name of the file in which the tail of the journal was saved; empty if there is
  // none.
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
  const bool has_backup_file_;  // true if the other copy is a file, and not on a server
  const bool may_block_;
  Offset checkpoint_ = 0;
  // True if the other copy has failed, or if a file was replaced by another one.
  bool has_lost_file_ = false;
  std::optional<Client_Lock> lock_;
};

using Written_Journal = Written_Journal_Of<Writable_Database>;
using Written_Bare_Journal = Written_Journal_Of<Bare_Journal>;

// A file that only other processes write.
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
