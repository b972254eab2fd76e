#ifndef JOEDB_JOURNAL_INTEGRITY_WRITER_H
#define JOEDB_JOURNAL_INTEGRITY_WRITER_H

#include <optional>

#include "joedb/journal/append_buffer.h"
#include "joedb/journal/checkpoint_reader.h"
#include "joedb/journal/checkpoints.h"

namespace joedb::inline v1 {

// Appends the integrity entries of a journal (format/integrity.h). Each covers the bytes appended
// since the previous one.
//
// Not thread-safe.
class Integrity_Writer {
 public:
  // `header` keeps the end of the covered bytes. All arguments must outlive this object.
  Integrity_Writer(const Abstract_File& file, Append_Buffer& buffer, Checkpoint_Reader& header)
      : file_(file), buffer_(buffer), header_(header) {}

  // The kind of entries that are written; nullopt if none are.
  std::optional<Integrity> kind() const { return kind_; }
  bool is_enabled() const { return kind_.has_value(); }
  void enable(Integrity kind) { kind_ = kind; }

  // Called before the first append: starts the hash of the next entry if all bytes so far are
  // covered.
  void begin() {
    if (is_enabled() && !has_uncovered_bytes()) buffer_.start_hash(buffer_.position());
  }

  // True if bytes were appended that no entry covers.
  bool has_uncovered_bytes() const { return buffer_.position() != header_.covered(); }
  // True if this checkpoint needs an entry. Requires has_uncovered_bytes().
  bool is_due(Checkpoint_Level level) const {
    return kind_ == Integrity::each_checkpoint || level != Checkpoint_Level::soft ||
           header_.has_unchecked_entries() ||
           buffer_.position() - header_.covered() >= integrity_step;
  }
  // Appends an entry that covers these bytes. Requires is_enabled(). Throws Io_Error.
  void append_entry();

  // True if readers would take the last bytes, which belong to a text, for an integrity entry.
  // Throws Io_Error.
  bool ends_like_entry();

  // keep() is called after a checkpoint; rollback() returns to the state of the last keep().
  void keep() { covered_at_checkpoint_ = header_.covered(); }
  void rollback() { header_.set_covered(covered_at_checkpoint_); }

 private:
  const Abstract_File& file_;
  Append_Buffer& buffer_;
  Checkpoint_Reader& header_;
  std::optional<Integrity> kind_;
  Offset covered_at_checkpoint_ = journal_start;
};

}  // namespace joedb::inline v1

#endif
