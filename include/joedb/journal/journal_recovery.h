#ifndef JOEDB_JOURNAL_JOURNAL_RECOVERY_H
#define JOEDB_JOURNAL_JOURNAL_RECOVERY_H

#include <optional>
#include <string>

#include "joedb/journal/append_buffer.h"
#include "joedb/journal/checkpoint_writer.h"
#include "joedb/journal/integrity_writer.h"

namespace joedb::inline v1 {

// What a writer does with the state in which it finds a file: a header that is missing or torn, and
// bytes behind the checkpoint (the tail) of a writer that did not live to checkpoint them.
//
// All functions require the tail lock of the file. Not thread-safe.
class Journal_Recovery {
 public:
  // The parts of the journal of `file`, which must outlive this object. Throws Exception if this
  // recovery mode is not for writers, or not for this file.
  Journal_Recovery(Abstract_File& file, Fail_Stop_File& out, Checkpoint_Reader& header,
                   Checkpoint_Writer& checkpoints, Append_Buffer& buffer,
                   Integrity_Writer& integrity, Recovery mode);
  ~Journal_Recovery();
  Journal_Recovery(const Journal_Recovery&) = delete;
  Journal_Recovery& operator=(const Journal_Recovery&) = delete;

  // Reads the header, or writes one to an empty file; nothing else is written. Requires the head
  // lock, too. Throws what Checkpoint_Reader::open throws, and Unfinished_Transaction if there is a
  // tail and the mode does not say what to do with it.
  void open();
  // Whether open() has found how long the file is: else what is written can perhaps not be read.
  bool has_file_size() const { return has_file_size_; }

  // Whether there is nothing left to do for finish().
  bool is_finished() const { return is_finished_; }
  // Does what the mode says with the tail, and invalidates words that claim missing bytes. Throws
  // Io_Error; the last checkpoint counts then.
  void finish();
  Recovery mode() const { return mode_; }
  // Others may have written the file, which has `size` bytes.
  void reopen(Offset size);

  // Where the tail has been saved (Recovery::keep); empty: nowhere.
  const std::string& saved_tail() const { return saved_tail_; }

  // Whether the tail was adopted (Recovery::ignore_header), and no checkpoint of the file says so.
  bool has_adopted_tail() const { return header_checkpoint_.has_value(); }
  void forget_adopted_tail() { header_checkpoint_.reset(); }
  // Throws Exception if another process may have removed the adopted tail.
  void require_adopted_tail();

  // Takes the checkpoints of the file. Returns whether another process has written where the buffer
  // would be written. Throws Io_Error.
  bool has_tail_been_overtaken();
  // Removes what was written behind the checkpoint before a write or sync failed. With integrity
  // entries, zeros are written there first, and synced; if that fails, it stays. Requires that the
  // tail lock was not released since then.
  void cut_after_failure() noexcept;

  // True with Recovery::hard until the first write: no other process has the file open. Opening it
  // a second time blocks then, also in this process.
  bool has_file_alone() const { return is_alone_; }

 private:
  bool is_blank(Offset file_size) const;
  void require_presence_alone();
  void end_presence_alone();
  void end_recovery();
  void require_no_tail(Offset file_size) const;
  // What the header of the file says, without words beyond `limit`.
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
  std::optional<Offset> header_checkpoint_;  // what the header says, after a tail was adopted
  std::string saved_tail_;
};

}  // namespace joedb::inline v1

#endif
