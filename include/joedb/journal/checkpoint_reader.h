#ifndef JOEDB_JOURNAL_CHECKPOINT_READER_H
#define JOEDB_JOURNAL_CHECKPOINT_READER_H

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "joedb/base/error.h"
#include "joedb/format/integrity.h"
#include "joedb/io/file.h"
#include "joedb/journal/checkpoints.h"
#include "joedb/journal/recovery.h"

namespace joedb::inline v1 {

// Reads the header of a journal and chooses the checkpoint that counts, after comparing seals
// (kernel/format/seal.h) and integrity entries (format/integrity.h) with the bytes that they cover.
// Each reader and each writer of a journal has one.
//
// Not thread-safe. Other processes may write the file meanwhile.
class Checkpoint_Reader {
 public:
  // `file` must outlive this object. Nothing is read before open().
  explicit Checkpoint_Reader(const Abstract_File& file, bool checks_integrity = true)
      : file_(file), checks_integrity_(checks_integrity) {}
  Checkpoint_Reader(const Checkpoint_Reader&) = delete;
  Checkpoint_Reader& operator=(const Checkpoint_Reader&) = delete;

  // Reads and checks the header. Requires the head lock. Throws Corruption_Error, with the offset,
  // if the header is not that of a joedb file of version 5, if it claims more bytes than the file
  // has, or if an integrity entry does not fit its bytes.
  void open(Recovery recovery, bool is_writer);

  // For readers, which hold the head lock: looks for a newer checkpoint. Returns the number of
  // bytes by which the checkpoint has advanced. If it throws, the previous checkpoint still counts.
  Offset pull();

  // For writers, which hold the tail lock: takes the checkpoints from words that were just read,
  // then reads the size of the file and returns it. If it throws, the previous checkpoint still
  // counts.
  Offset update(const Checkpoint_Words& words);

  const Checkpoints& checkpoints() const { return checkpoints_; }
  Offset checkpoint() const { return checkpoints_.checkpoint; }
  Offset hard_checkpoint() const { return checkpoints_.hard_checkpoint; }

  // Called by the writer of the header: sets the checkpoints that it has just written.
  void set(const Checkpoints& checkpoints) { checkpoints_ = checkpoints; }

  // Returns the words as they are in the file.
  Checkpoint_Words read_words() const;
  // Replaces each seal that fits its bytes by the position that it proves. `file_size` may be
  // unknown_size.
  Checkpoint_Words without_seals(Checkpoint_Words words, Offset file_size);
  // True if the last call of without_seals() has replaced a seal.
  bool had_seal() const { return had_seal_; }
  // Returns the seal for `position` that covers the bytes [start, position) of the file.
  std::int64_t seal_of(Offset start, Offset position) const;

  // For writers, which hold the tail lock: throws Corruption_Error if there was a checkpoint after
  // the current one, up to `file_size`, which a flipped bit of the header hides.
  void require_no_hidden_checkpoint(Offset file_size) const {
    require_no_hidden_checkpoint(read_words(), file_size);
  }

  // End of the bytes that integrity entries are known to cover, after a comparison. open() and
  // pull() compare if an entry of the kind each_checkpoint precedes the checkpoint; otherwise
  // replay does (File_Decoder_Input).
  Offset covered() const { return covered_; }
  void set_covered(Offset end) { covered_ = end; }
  void set_covered(Offset end, Integrity kind) {
    covered_ = end;
    kind_ = kind;
    has_unchecked_entries_ = false;
  }
  // Notes an integrity entry that is not compared with its bytes (Recovery::ignore_header). If it
  // does not fit them, readers refuse the journal until a later entry covers everything.
  void note_unchecked_entry(Integrity kind) {
    kind_ = kind;
    has_unchecked_entries_ = true;
  }
  bool has_unchecked_entries() const { return has_unchecked_entries_; }
  // Kind of the last integrity entry; nullopt if there is none.
  std::optional<Integrity> integrity() const {
    return covered_ > journal_start || has_unchecked_entries_ ? std::optional(kind_) : std::nullopt;
  }
  bool checks_integrity() const { return checks_integrity_; }
  // True if an integrity entry may cover the bytes from `start` on: the bytes before `start` are
  // covered already, or replay was resumed at or after it.
  bool may_begin_at(Offset start) const { return start <= std::max(covered_, resumed_at_); }
  // Called when replay starts at `position`, with the state before it taken from elsewhere, such as
  // a snapshot. `covered` is the end of the bytes that integrity entries cover; 0 if unknown.
  // Throws Io_Error.
  void resume(Offset position, Offset covered);
  // True if integrity entries cover everything before the checkpoint.
  bool is_covered() const { return covered_ == checkpoint() && covered_ > journal_start; }

  // Throws the error again, with a text that names the file. If `names_hard`, the text also names
  // the hard checkpoint if that is before the checkpoint, and joedb_verify otherwise.
  [[noreturn]] void fail_in_file(const Corruption_Error& error, bool names_hard) const;
  // The same for an error that replay has found by comparing the integrity entry that ends at
  // `end`.
  [[noreturn]] void fail_in_replay(const Corruption_Error& error, Offset end) const;

 private:
  Checkpoint_Words stable(Checkpoint_Words words) const;
  [[noreturn]] void fail_as_damaged(const std::string& what, Offset file_size) const;
  // `found` is the checkpoint that was chosen from `words`.
  void require_claimed_bytes(const Checkpoint_Words& words, Offset found, Offset file_size,
                             Recovery recovery) const;
  void require_no_hidden_checkpoint(const Checkpoint_Words& words, Offset file_size) const;
  bool is_one_bit_from_seal(std::int64_t word, Offset position) const;
  bool is_checkpoint_of_writer(Offset position) const;
  void check_integrity();
  void take_whole_file(const Checkpoint_Words& words, Offset file_size);
  Offset end_of_entries(Offset file_size) const;
  Offset end_of_whole_entries(Offset file_size) const;

  const Abstract_File& file_;
  Checkpoints checkpoints_;
  bool had_seal_ = false;
  bool checks_integrity_;
  Offset covered_ = journal_start;
  Integrity kind_ = Integrity::sparse;
  bool has_unchecked_entries_ = false;
  Offset resumed_at_ = journal_start;
};

}  // namespace joedb::inline v1

#endif
