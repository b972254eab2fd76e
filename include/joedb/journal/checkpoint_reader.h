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

// Reads the header of a journal: which checkpoint counts, after seals (format/seal.h) and integrity
// entries (format/integrity.h) were compared with the bytes that they cover. Readers and writers of
// a journal have one.
//
// Not thread-safe. Other processes may write the file meanwhile.
class Checkpoint_Reader {
 public:
  // `file` must outlive this object. Nothing is read before open().
  explicit Checkpoint_Reader(const Abstract_File& file, bool checks_integrity = true)
      : file_(file), checks_integrity_(checks_integrity) {}
  Checkpoint_Reader(const Checkpoint_Reader&) = delete;
  Checkpoint_Reader& operator=(const Checkpoint_Reader&) = delete;

  // Reads and checks the header. Requires a lock on the head. Throws Corruption_Error, with the
  // position, where the header is not that of a joedb file of version 5 or claims more than the
  // file has.
  void open(Recovery recovery, bool is_writer);

  // For readers, which need a lock on the head: looks for newer checkpoints. Returns the number of
  // bytes that the checkpoint has advanced. If it throws, the checkpoint before counts.
  Offset pull();

  // For writers, which hold the tail lock: takes the checkpoints from words that were just read,
  // and then reads the size of the file, which it returns. If it throws, the checkpoint before
  // counts.
  Offset update(const Checkpoint_Words& words);

  const Checkpoints& checkpoints() const { return checkpoints_; }
  Offset checkpoint() const { return checkpoints_.checkpoint; }
  Offset hard_checkpoint() const { return checkpoints_.hard_checkpoint; }

  // For the writer of the header: what it has just written.
  void set(const Checkpoints& checkpoints) { checkpoints_ = checkpoints; }

  // As they stand in the file.
  Checkpoint_Words read_words() const;
  // Where a seal fits, the position that it proves stands in its place. `file_size` may be
  // unknown_size.
  Checkpoint_Words without_seals(Checkpoint_Words words, Offset file_size);
  // Whether the last words that were read had such a seal.
  bool had_seal() const { return had_seal_; }
  // The seal for `position` over the bytes of the file from `start` to there.
  std::int64_t seal_of(Offset start, Offset position) const;

  // For writers, which hold the tail lock: throws Corruption_Error if the bytes behind the
  // checkpoint, up to `file_size`, had a checkpoint that a flipped bit of the header hides.
  void require_no_hidden_checkpoint(Offset file_size) const {
    require_no_hidden_checkpoint(read_words(), file_size);
  }

  // Up to where integrity entries are known to cover the bytes, which were compared with them. open
  // and pull see to it if an entry of the kind each_checkpoint stands before the checkpoint; else
  // it is done where entries are replayed (File_Decoder_Input).
  Offset covered() const { return covered_; }
  void set_covered(Offset end) { covered_ = end; }
  void set_covered(Offset end, Integrity kind) {
    covered_ = end;
    kind_ = kind;
    has_unchecked_entries_ = false;
  }
  // Where nothing is compared (Recovery::ignore_header), but there are entries: one that does not
  // fit its bytes makes readers refuse the journal, until a later one covers everything.
  void note_unchecked_entry(Integrity kind) {
    kind_ = kind;
    has_unchecked_entries_ = true;
  }
  bool has_unchecked_entries() const { return has_unchecked_entries_; }
  // Of the last entry; nothing: there was none.
  std::optional<Integrity> integrity() const {
    return covered_ > journal_start || has_unchecked_entries_ ? std::optional(kind_) : std::nullopt;
  }
  bool checks_integrity() const { return checks_integrity_; }
  // Whether the bytes that an entry covers may begin there: behind another one, that is.
  bool may_begin_at(Offset start) const { return start <= std::max(covered_, resumed_at_); }
  // Replay starts at `position`: what is before has come from elsewhere. `covered`: up to where
  // entries cover it; 0 if that is not known. Throws Io_Error.
  void resume(Offset position, Offset covered);
  // Whether they cover everything before the checkpoint.
  bool is_covered() const { return covered_ == checkpoint() && covered_ > journal_start; }

  // Throws the error again. The text names the file; and, if names_hard, the hard checkpoint if
  // that is an earlier one, else joedb_verify.
  [[noreturn]] void fail_in_file(const Corruption_Error& error, bool names_hard) const;
  // The same for what an integrity entry that ends at `end` says about bytes that are replayed.
  [[noreturn]] void fail_in_replay(const Corruption_Error& error, Offset end) const;

 private:
  Checkpoint_Words stable(Checkpoint_Words words) const;
  [[noreturn]] void fail_as_damaged(const std::string& what, Offset file_size) const;
  // `found` is the checkpoint that these words give.
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
