#ifndef JOEDB_JOURNAL_CHECKPOINTS_H
#define JOEDB_JOURNAL_CHECKPOINTS_H

#include <optional>

#include "joedb/format/header.h"

namespace joedb::inline v1 {

// What a checkpoint survives.
enum class Checkpoint_Level {
  soft,  // survives a killed process
  half,  // hard, but for the last sync
  hard   // survives a power cut
};

// What a process knows of the checkpoints of a journal.
struct Checkpoints {
  int hard_index = 0;  // the slot that holds the current hard checkpoint
  int soft_index = 0;  // the copy, in the other slot, that holds the last soft one
  Offset checkpoint = journal_start;
  Offset hard_checkpoint = journal_start;

  // The slot of the next soft checkpoint, and of the next hard one.
  int next_slot() const { return 1 - hard_index; }

  // Takes over what the words of the header say. Checkpoints never go back. A word beyond
  // `file_size` does not count; without a size (a device) every word does.
  void read(const Checkpoint_Words& words, std::optional<Offset> file_size);

  friend bool operator==(const Checkpoints&, const Checkpoints&) = default;
};

}  // namespace joedb::inline v1

#endif
