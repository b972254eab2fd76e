#ifndef JOEDB_JOURNAL_BARE_JOURNAL_H
#define JOEDB_JOURNAL_BARE_JOURNAL_H

#include "joedb/journal/writable_journal.h"

namespace joedb::inline v1 {

// A journal that is written without tables in memory: for comments, blobs, and bytes of another
// copy. Its functions are those of Writable_Database.
class Bare_Journal {
 public:
  // `file` must outlive this object.
  explicit Bare_Journal(Abstract_File& file, const Journal_Options& options = {})
      : journal_(file, options) {
    replay();
    if (!journal_.is_shared()) recover();
  }
  // Writable_Journal::recover.
  void recover() { journal_.recover(); }

  const Writable_Journal& get_journal() const { return journal_; }
  Writable_Journal& get_journal() { return journal_; }

  template <class Entry>
  void write(const Entry& entry) {
    journal_.append(entry);
  }
  Blob write_blob(std::string_view bytes) { return journal_.append_blob(bytes); }
  std::string read_blob(Blob blob) { return journal_.read_blob(blob); }

  void flush() { journal_.flush(); }
  void checkpoint(Checkpoint_Level level) { journal_.checkpoint(level); }
  void soft_checkpoint() { journal_.soft_checkpoint(); }
  void hard_checkpoint() { journal_.hard_checkpoint(); }
  Offset ahead_of_checkpoint() const { return journal_.ahead_of_checkpoint(); }
  void rollback() {
    journal_.rollback();
    replay();
  }

  Offset lock_pull() {
    return journal_.lock_pull([this] { replay(); });
  }
  void unlock() noexcept { journal_.unlock(); }
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
  // The short forms of later entries depend on those before.
  void replay() { journal_.replay(Ignore_Entries()); }

  Writable_Journal journal_;
};

}  // namespace joedb::inline v1

#endif
