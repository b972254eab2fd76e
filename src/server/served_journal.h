#ifndef SERVER_SERVED_JOURNAL_H
#define SERVER_SERVED_JOURNAL_H

#include <memory>
#include <optional>
#include <string>

#include "joedb/replica/clients.h"

namespace joedb::server {

// The journal that a server serves, and perhaps a connection to another copy, which gets all that
// is pushed, too.
//
// One thread at a time calls these functions; read() may be called by others meanwhile, so the file
// must bear that (Locked_Memory_File).
class Served_Journal {
 public:
  Served_Journal() = default;
  virtual ~Served_Journal() = default;
  Served_Journal(const Served_Journal&) = delete;
  Served_Journal& operator=(const Served_Journal&) = delete;

  // Whether the functions below may take long: they wait for locks, disks or other machines.
  virtual bool may_block() const = 0;
  // Whether refresh() may find something.
  virtual bool has_other_writers() const = 0;
  // Whether a push goes to another copy, too, which may have it where the file has not.
  virtual bool has_other_copy() const = 0;
  // False for a file that is only read, or that has failed, and below a connection of such a kind.
  virtual bool can_push() const = 0;
  virtual Offset get_checkpoint() const = 0;
  virtual const Abstract_File& file() const = 0;
  // Bytes before a checkpoint that was seen.
  void read(char* data, std::size_t size, Offset offset) const {
    file().read_exactly(data, size, offset);
  }
  // The same if the disk is not needed for it; returns false otherwise.
  bool read_cached(char* data, std::size_t size, Offset offset) const {
    return file().pread_cached(data, size, offset);
  }

  // Finds what others have written to the file.
  virtual void refresh() = 0;

  // Between these two, nobody else changes file and other copy. Throws what locking and pulling
  // throw; nothing is locked then.
  virtual void begin() = 0;
  virtual void end() noexcept = 0;
  // Appends [checkpoint, source.get_size()) of the source to the other copy, and then to the file,
  // with a checkpoint: what the other copy refuses, or does not get, is not in the file. Requires
  // begin(). Throws Corruption_Error if the bytes are no entries that fit the content, Conflict and
  // Content_Mismatch if the other copy has gone on; nothing has changed then; Io_Error and
  // Write_Disabled if the file cannot be written: can_push() is false then, and the other copy may
  // have the bytes. If the other copy is a file that cannot be written, can_push() is false, too,
  // and the bytes are in the file, with a checkpoint. Disconnection if the other copy refuses:
  // nothing has changed then.
  virtual void push(const Abstract_File& source) = 0;
};

// A file that is written. `file` and `connection` must outlive it. Without a recovery mode in
// `options`, what stands behind the checkpoint is saved beside the file (Recovery::keep). Throws
// what opening the file and the first pull and push throw.
class Written_Journal final : private Client_Store<Writable_Database>, public Served_Journal {
 public:
  Written_Journal(Abstract_File& file, Connection& connection, Content_Check check, bool is_hard,
                  const Journal_Options& options);
  ~Written_Journal() override;

  bool may_block() const override { return may_block_; }
  bool has_other_writers() const override { return is_shared_; }
  bool has_other_copy() const override { return is_connected_; }
  bool can_push() const override {
    return !store_.get_journal().has_failed() && !has_lost_file_ && client_.can_write();
  }
  // With hard checkpoints, a push counts when its hard checkpoint has succeeded, so that nobody
  // sees what a power cut can still take away. What others have written has the checkpoint that
  // they gave it, and what was pulled a soft one.
  Offset get_checkpoint() const override { return checkpoint_; }
  const Abstract_File& file() const override { return store_.get_journal().get_file(); }
  void refresh() override;
  void begin() override;
  void end() noexcept override;
  void push(const Abstract_File& source) override;
  // At the end of the server: makes the last checkpoint a hard one, unless the file is shared.
  // Throws what that throws.
  void finish();
  // Where a tail of the file was saved; empty: nowhere.
  const std::string& get_saved_tail() const { return store_.get_journal().get_saved_tail(); }

 private:
  void update();
  void drop_leftover();
  template <class F>
  void note_replaced(F f);
  void keep_without_backup(const Abstract_File& source, Offset start);

  Client client_;
  const bool is_shared_;
  const bool is_connected_;
  const bool has_backup_file_;  // the connection is to a file: servers can wait
  const bool may_block_;
  Offset checkpoint_ = 0;
  bool has_lost_file_ = false;  // the backup has failed, or a file was replaced
  std::optional<Client_Lock> lock_;
};

// A file that others write.
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
