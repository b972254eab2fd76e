#ifndef JOEDB_JOURNAL_READONLY_JOURNAL_H
#define JOEDB_JOURNAL_READONLY_JOURNAL_H

#include <limits>
#include <vector>

#include "joedb/format/decoder.h"
#include "joedb/io/file.h"
#include "joedb/journal/checkpoints.h"
#include "joedb/journal/integrity.h"

namespace joedb::inline v1 {

// Which part of a file is read, and what a writer does with the rest.
enum class Recovery {
  none,           // up to the checkpoint; a writer refuses a file that goes on behind it
  ignore_header,  // everything up to the end of the file, or to zeros that a preallocating writer
                  // left
  overwrite,      // up to the checkpoint; a writer truncates the file there
  hard,           // up to the hard checkpoint; a writer truncates the file there. It needs the
                  // file alone: nobody else may have it open
  keep,           // up to the checkpoint; a writer saves what stands behind it in a new file,
                  // FILE.tail-POSITION, and truncates the file
  ignore_signature,  // like ignore_header, and the file need not begin like a joedb file; for
                     // readers only
};

// The bytes of a file as a journal is decoded, read in blocks.
class File_Decoder_Input final : public Decoder_Input {
 public:
  explicit File_Decoder_Input(const Abstract_File& file) : file_(file) {}
  void start(Offset offset, Offset limit) { reset(offset, limit); }

 private:
  void refill(std::size_t size) override;
  void read_at(char* out, std::size_t size, Offset offset) override;

  const Abstract_File& file_;
  std::vector<char> buffer_;
};

// Reads a journal: what is before the checkpoint, entry by entry.
//
// If an integrity entry (format/integrity.h) stands before the checkpoint, the bytes are compared
// with what it says, all of them when the journal is opened, and new ones when they are pulled; so
// is it required before a soft checkpoint if there is one before the last hard checkpoint. With
// Recovery::ignore_header nothing is compared.
//
// Not thread-safe. Other processes may write the file meanwhile.
class Readonly_Journal {
 public:
  // `file` must outlive the journal. Throws Corruption_Error, with the position, where the header
  // is not that of a joedb file of version 5 or claims more than the file has.
  // Without checks_integrity, integrity entries are not looked at.
  explicit Readonly_Journal(Abstract_File& file, Recovery recovery = Recovery::none,
                            bool checks_integrity = true);
  Readonly_Journal(const Readonly_Journal&) = delete;
  Readonly_Journal& operator=(const Readonly_Journal&) = delete;

  Abstract_File& get_file() const { return file_; }
  Offset get_checkpoint() const { return checkpoints_.checkpoint; }
  Offset get_hard_checkpoint() const { return checkpoints_.hard_checkpoint; }
  // Whether integrity entries vouch for everything before the checkpoint.
  bool is_covered() const { return covered_ == get_checkpoint() && covered_ > journal_start; }
  const Checkpoints& get_checkpoints() const { return checkpoints_; }

  // Up to where replay has come.
  Offset get_replay_position() const { return input_.position(); }

  // Looks for a newer checkpoint in the file. Returns the number of bytes it is ahead of the old
  // one.
  Offset pull();

  // Calls handler(entry) for each entry from the replay position to the checkpoint, or to the first
  // entry at or behind `until`. A handler is an overload set for the structs of format/entry.h.
  // Throws Corruption_Error where the bytes make no sense or the handler throws Data_Error; the
  // entries before have been handled then, and the journal can only be rewound.
  template <class Handler>
  void replay(Handler&& handler, Offset until = std::numeric_limits<Offset>::max());

  // The next replay starts at the first entry again.
  void rewind();

 protected:
  struct Unopened {};
  Readonly_Journal(Abstract_File& file, Unopened) : file_(file), input_(file) {}

  // Replays the entries that start before `end`; none may go beyond `limit`.
  template <class Handler>
  void replay_range(Handler& handler, Offset limit, Offset end);

  // Requires a lock on the head.
  void open_header(Recovery recovery, bool is_writer);
  // Takes the checkpoints from words that were just read, and then reads the size, which it
  // returns.
  Offset read_checkpoints(const Checkpoint_Words& words);
  // Throws Corruption_Error if the words of the header claim bytes that the file does not have, or
  // have no checkpoint at all, where the file has entries.
  void require_claimed_bytes(const Checkpoint_Words& words, Offset file_size,
                             Recovery recovery) const;
  // As they stand in the file.
  Checkpoint_Words read_words() const;
  // For readers, after `words`.
  Checkpoint_Words settled(Checkpoint_Words words) const;
  // Where a seal fits, the position that it vouches for stands in its place. `file_size` may be
  // unknown_size.
  Checkpoint_Words without_seals(Checkpoint_Words words, Offset file_size);
  // Whether the last words that were read had such a seal.
  bool had_seal() const { return had_seal_; }
  // The seal for `position` over the bytes of the file from `start` to there.
  std::int64_t seal_of(Offset start, Offset position) const;
  // Compares the bytes up to the checkpoint with integrity entries.
  void check_integrity();
  // Up to where integrity entries are known to vouch for the bytes.
  Offset get_covered() const { return covered_; }
  void set_covered(Offset end) { covered_ = end; }
  void start_replay_at(Offset offset) { input_.start(offset, get_checkpoint()); }
  bool is_replayed() const { return !is_broken_ && get_replay_position() == get_checkpoint(); }

  Abstract_File& file_;
  Checkpoints checkpoints_;
  Context context_;

 private:
  void take_whole_file(const Checkpoint_Words& words, Offset file_size);
  [[noreturn]] void fail_replay(const char* what);
  // Throws the error again. If there is an earlier hard checkpoint, the text names it.
  [[noreturn]] void fail_behind_hard_checkpoint(const Corruption_Error& error) const;
  Offset end_of_entries(Offset file_size) const;

  File_Decoder_Input input_;
  bool is_broken_ = false;
  bool had_seal_ = false;
  bool checks_integrity_ = true;
  Offset covered_ = journal_start;
};

// Writes what stands behind the checkpoint, where this recovery mode opens `file`, to the beginning
// of `tail`: what a writer would truncate. Returns the number of bytes.
Offset save_tail(Abstract_File& file, Recovery recovery, Abstract_File& tail);

template <class Handler>
void Readonly_Journal::replay(Handler&& handler, Offset until) {
  replay_range(handler, get_checkpoint(), std::min(until, get_checkpoint()));
}

template <class Handler>
void Readonly_Journal::replay_range(Handler& handler, Offset limit, Offset end) {
  if (is_broken_) throw Exception("this journal could not be replayed");
  if (input_.limit() != limit) input_.start(input_.position(), limit);
  is_broken_ = true;
  try {
    decode_entries(input_, context_, handler, end);
  } catch (const Data_Error& error) {
    fail_replay(error.what());
  } catch (const Corruption_Error& error) {
    if (error.offset >= get_hard_checkpoint()) fail_behind_hard_checkpoint(error);
    throw;
  }
  is_broken_ = false;
}

}  // namespace joedb::inline v1

#endif
