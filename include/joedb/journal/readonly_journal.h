#ifndef JOEDB_JOURNAL_READONLY_JOURNAL_H
#define JOEDB_JOURNAL_READONLY_JOURNAL_H

#include <algorithm>
#include <limits>
#include <optional>

#include "joedb/journal/checkpoint_reader.h"
#include "joedb/journal/replay.h"

namespace joedb::inline v1 {

// Reads a journal: what is before the checkpoint, entry by entry.
//
// The bytes are compared with the integrity entries among them (format/integrity.h) when they are
// replayed; all but large blobs, which are not read then. If the one before the checkpoint is of
// the kind each_checkpoint, everything is compared when the journal is opened, and new bytes when
// they are pulled; and a soft checkpoint is not believed without an entry if there is one before
// the last hard checkpoint. With Recovery::ignore_header nothing is compared.
//
// Not thread-safe. Other processes may write the file meanwhile.
class Readonly_Journal {
 public:
  // `file` must outlive the journal. Throws Corruption_Error, with the position, where the header
  // is not that of a joedb file of version 5 or claims more than the file has.
  // Without checks_integrity, integrity entries are not looked at.
  explicit Readonly_Journal(Abstract_File& file, Recovery recovery = Recovery::none,
                            bool checks_integrity = true);

  Abstract_File& get_file() const { return file_; }
  Offset get_checkpoint() const { return header_.checkpoint(); }
  Offset get_hard_checkpoint() const { return header_.hard_checkpoint(); }
  // Of the last integrity entry that was found so far; nothing: there was none.
  std::optional<Integrity> get_integrity() const { return header_.integrity(); }
  // Whether such entries cover everything before the checkpoint, as far as that is known.
  bool is_covered() const { return header_.is_covered(); }
  const Checkpoints& get_checkpoints() const { return header_.checkpoints(); }

  // Up to where replay has come.
  Offset get_replay_position() const { return replay_.position(); }

  // Looks for a newer checkpoint in the file. Returns the number of bytes it is ahead of the old
  // one.
  Offset pull();

  // Calls handler(entry) for each entry from the replay position to the checkpoint, or to the first
  // entry at or behind `until`. A handler is an overload set for the structs of format/entry.h.
  // Throws Corruption_Error for an invalid entry, or where the handler throws Data_Error; the
  // entries before have been handled then, and a later replay throws Exception until rewind().
  template <class Handler>
  void replay(Handler&& handler, Offset until = std::numeric_limits<Offset>::max()) {
    replay_.run(handler, get_checkpoint(), std::min(until, get_checkpoint()));
  }

  // Where the next replay starts; resume says where: what is before that has come from a snapshot.
  Replay_Place get_replay_place() const { return replay_.place(); }
  void resume(const Replay_Place& place) { replay_.resume(place); }

  // The next replay starts at the first entry again.
  void rewind() { replay_.rewind(); }

 private:
  Abstract_File& file_;
  Checkpoint_Reader header_;
  Replay replay_;
};

// Writes what stands behind the checkpoint, where this recovery mode opens `file`, to the beginning
// of `tail`: what a writer would truncate. Returns the number of bytes.
Offset save_tail(Abstract_File& file, Recovery recovery, Abstract_File& tail);

}  // namespace joedb::inline v1

#endif
