#ifndef JOEDB_JOURNAL_JOURNAL_RECOVERY_H
#define JOEDB_JOURNAL_JOURNAL_RECOVERY_H

#include <optional>
#include <string>

#include "joedb/journal/append_buffer.h"
#include "joedb/journal/checkpoint_writer.h"
#include "joedb/journal/integrity_writer.h"

namespace joedb::inline v1 {

// Brings a file into the state that a writer needs: handles a header that is missing or torn, and
// bytes after the checkpoint (the tail) left by a writer that died before it could checkpoint them.
//
// All functions require the tail lock of the file. Not thread-safe.
class Journal_Recovery {
 public:
  // The arguments are the parts of the journal of `file`; all must outlive this object. Throws
  // Exception if the file is read-only, or if this recovery mode is not for writers or not for this
  // file.
  Journal_Recovery(Abstract_File& file, Fail_Stop_File& out, Checkpoint_Reader& header,
                   Checkpoint_Writer& checkpoints, Append_Buffer& buffer,
                   Integrity_Writer& integrity, Recovery mode);
  ~Journal_Recovery();
  Journal_Recovery(const Journal_Recovery&) = delete;
  Journal_Recovery& operator=(const Journal_Recovery&) = delete;

  // Reads the header, or writes one to an empty file; writes nothing else. Requires the head lock,
  // too. Throws what Checkpoint_Reader::open throws, and Unfinished_Transaction if there is a tail
  // and the mode does not say what to do with it.
  void open();
  // True if the file has a size. Without one, bytes that are written may not be readable
  // (Upgradable_File).
  bool has_file_size() const { return has_file_size_; }

  // True if nothing is left to do for finish().
  bool is_finished() const { return is_finished_; }
  // Handles the tail as the mode says, and invalidates words that claim missing bytes. Throws
  // Io_Error; the last checkpoint still counts then.
  void finish();
  Recovery mode() const { return mode_; }
  // Called when other processes may have written the file, which now has `size` bytes: finish()
  // then handles a new tail. Throws Corruption_Error if a flipped bit of the header hides a
  // checkpoint.
  void reopen(Offset size);

  // Name of the file with the saved tail (Recovery::keep); empty if none was saved.
  const std::string& saved_tail() const { return saved_tail_; }

  // True if the tail was adopted (Recovery::ignore_header) and no checkpoint in the file includes
  // it yet.
  bool has_adopted_tail() const { return header_checkpoint_.has_value(); }
  void forget_adopted_tail() { header_checkpoint_.reset(); }
  // Throws Exception if another process may have removed the adopted tail. Does nothing if there is
  // none.
  void require_adopted_tail();

  // Reads the checkpoints of the file again. Returns true if another process has written where the
  // buffer would be flushed. Throws Io_Error.
  bool has_tail_been_overtaken();
  // Removes the bytes after the checkpoint that were written before a write or sync failed. With
  // integrity entries, first overwrites them with zeros and syncs; if that fails, they stay.
  // Requires that the tail lock has not been released since the failure.
  void cut_after_failure() noexcept;

  // True with Recovery::hard until the first write: no other process has the file open. Until then,
  // opening it a second time blocks, also in this process.
  bool has_file_alone() const { return is_alone_; }

 private:
  bool is_blank(Offset file_size) const;
  void require_presence_alone();
  void end_presence_alone();
  void end_recovery();
  void require_no_tail(Offset file_size) const;
  // Returns the checkpoints of the header, without words beyond `limit`.
  Checkpoints read_checkpoints(Offset file_size, Offset limit);
  void find_header_checkpoint(Offset file_size);
  bool is_preallocated(Offset start, Offset file_size) const;
  void keep_tail(Offset file_size);
  void erase(Abstract_File& file, Offset start, Offset end) const;
  void drop_tail(Offset file_size);

  Abstract_File& file_;
  Fail_Stop_File& out_;
  Checkpoint_Reader& header_;
  Checkpoint_Writer& checkpoints_;
  Append_Buffer& buffer_;
  Integrity_Writer& integrity_;
  Recovery mode_;
  bool is_alone_ = false;  // Recovery::hard: no other process has the file open
  bool is_finished_ = true;
  bool has_file_size_ = true;
  std::optional<Offset> header_checkpoint_;  // checkpoint of the header, if a tail was adopted
  std::string saved_tail_;
};

}  // namespace joedb::inline v1

#endif
