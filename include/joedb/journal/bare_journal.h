#ifndef JOEDB_JOURNAL_BARE_JOURNAL_H
#define JOEDB_JOURNAL_BARE_JOURNAL_H

#include "joedb/journal/writable_journal.h"

namespace joedb::inline v1 {

// A journal that is written without tables in memory, for comments, blobs, and bytes of another
// copy. Its functions are those of Writable_Database, but entries are not checked against tables:
// an entry that does not fit makes the journal unreadable for every program that has tables.
//
// Functions that write throw Io_Error if the file cannot be written, Write_Disabled after such a
// failure, and Exception if a shared file is not locked. An entry is appended whole or not at all.
// Not thread-safe.
class Bare_Journal {
 public:
  // Reads all entries, then calls recover() unless the file is shared. `file` must outlive this
  // object. Throws what Writable_Journal and its replay throw; a file whose entries cannot be read
  // has not changed then.
  explicit Bare_Journal(Abstract_File& file, const Journal_Options& options = {})
      : journal_(file, options) {
    replay();
    if (!journal_.is_shared()) recover();
  }
  // Writable_Journal::recover. The constructor has already called it, unless the file is shared.
  void recover() { journal_.recover(); }

  const Writable_Journal& get_journal() const { return journal_; }
  Writable_Journal& get_journal() { return journal_; }

  // Appends any entry of format/entry.h except Blob_Data and Update_Vector.
  template <class Entry>
  void write(const Entry& entry) {
    journal_.append(entry);
  }
  // Appends the bytes and returns their position and size.
  Blob write_blob(std::string_view bytes) { return journal_.append_blob(bytes); }
  std::string read_blob(Blob blob) { return journal_.read_blob(blob); }

  // Writes the buffer to the file, without a checkpoint.
  void flush() { journal_.flush(); }
  // Writable_Journal::prepare_checkpoint.
  void prepare_checkpoint(Checkpoint_Level level) { journal_.prepare_checkpoint(level); }
  // Writable_Journal::set_copy.
  void set_copy() { journal_.set_copy(); }
  // After a soft checkpoint, the appended entries survive a killed process; after a hard one, also
  // a power cut. If one throws, the previous checkpoint still counts.
  void checkpoint(Checkpoint_Level level) { journal_.checkpoint(level); }
  void soft_checkpoint() { journal_.soft_checkpoint(); }
  void hard_checkpoint() { journal_.hard_checkpoint(); }
  // Number of bytes appended since the checkpoint.
  Offset ahead_of_checkpoint() const { return journal_.ahead_of_checkpoint(); }
  // Drops everything after the checkpoint, in the file and in memory, and reads the journal again.
  void rollback() {
    journal_.rollback();
    replay();
  }

  // Shared files: waits for the write lock, takes it, and reads the entries that others have
  // written. Returns their number of bytes. If it throws, the lock is not held.
  Offset lock_pull() {
    return journal_.lock_pull([this] { replay(); });
  }
  void unlock() noexcept { journal_.unlock(); }
  // Appends [checkpoint, end) of another journal that begins with the same bytes as this one, and
  // makes a soft checkpoint. Requires that no bytes follow the checkpoint. If the bytes are not
  // whole valid entries, throws Corruption_Error, and nothing has changed.
  void copy_from(const Abstract_File& source, Offset end) {
    journal_.copy_from(source, end);
    try {
      journal_.replay_copied(Ignore_Entries());
    } catch (...) {
      rollback();
      throw;
    }
    journal_.soft_checkpoint();
  }

 private:
  // Called before anything is appended: short forms depend on the entries before them.
  void replay() { journal_.replay(Ignore_Entries()); }

  Writable_Journal journal_;
};

}  // namespace joedb::inline v1

#endif
