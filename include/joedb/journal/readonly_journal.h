#ifndef JOEDB_JOURNAL_READONLY_JOURNAL_H
#define JOEDB_JOURNAL_READONLY_JOURNAL_H

#include <algorithm>
#include <limits>
#include <optional>

#include "joedb/journal/checkpoint_reader.h"
#include "joedb/journal/replay.h"

namespace joedb::inline v1 {

// Reads the entries of a journal, up to its checkpoint.
//
// Replay compares the bytes with the integrity entries among them (format/integrity.h), except for
// large blobs, which it does not read. If an entry of the kind each_checkpoint precedes the
// checkpoint, everything is compared when the journal is opened, and new bytes when they are
// pulled. If such an entry precedes the last hard checkpoint, a soft checkpoint without one is an
// error. With Recovery::ignore_header nothing is compared.
//
// Not thread-safe. Other processes may write the file meanwhile.
class Readonly_Journal {
 public:
  // `file` must outlive the journal. Throws Corruption_Error, with the offset, if the header is not
  // that of a joedb file of version 5 or claims more bytes than the file has. Without
  // checks_integrity, integrity entries are ignored.
  explicit Readonly_Journal(Abstract_File& file, Recovery recovery = Recovery::none,
                            bool checks_integrity = true);

  Abstract_File& get_file() const { return file_; }
  Offset get_checkpoint() const { return header_.checkpoint(); }
  Offset get_hard_checkpoint() const { return header_.hard_checkpoint(); }
  // Kind of the last integrity entry found so far; nullopt if there is none.
  std::optional<Integrity> get_integrity() const { return header_.integrity(); }
  // True if integrity entries are known to cover everything before the checkpoint.
  bool is_covered() const { return header_.is_covered(); }
  const Checkpoints& get_checkpoints() const { return header_.checkpoints(); }

  // End of the entries that were replayed.
  Offset get_replay_position() const { return replay_.position(); }

  // Looks for a newer checkpoint in the file. Returns the number of bytes by which it has advanced.
  // Throws File_Replaced if there is none and the file was replaced.
  Offset pull();

  // Calls handler(entry) for each entry from the replay position to the checkpoint, or to the first
  // entry at or after `until`. A handler is an overload set for the structs of format/entry.h.
  // Throws Corruption_Error if an entry is invalid, or if the handler throws Data_Error. Earlier
  // entries have been handled then, and later replays throw Exception until rewind().
  template <class Handler>
  void replay(Handler&& handler, Offset until = std::numeric_limits<Offset>::max()) {
    replay_.run(handler, get_checkpoint(), std::min(until, get_checkpoint()));
  }

  // The place where the next replay starts. resume() sets it when the state before it comes from a
  // snapshot.
  Replay_Place get_replay_place() const { return replay_.place(); }
  void resume(const Replay_Place& place) { replay_.resume(place); }

  // Makes the next replay start at the first entry.
  void rewind() { replay_.rewind(); }

 private:
  Abstract_File& file_;
  Checkpoint_Reader header_;
  Replay replay_;
};

// Writes the bytes after the checkpoint of `file`, which a writer would truncate, to the beginning
// of `tail`. `recovery` determines the checkpoint. Returns the number of bytes.
Offset save_tail(Abstract_File& file, Recovery recovery, Abstract_File& tail);

}  // namespace joedb::inline v1

#endif
