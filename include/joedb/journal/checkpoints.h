#ifndef JOEDB_JOURNAL_CHECKPOINTS_H
#define JOEDB_JOURNAL_CHECKPOINTS_H

#include <optional>

#include "joedb/format/header.h"

namespace joedb::inline v1 {

// How durable a checkpoint is.
enum class Checkpoint_Level {
  soft,  // survives a killed process
  half,  // a hard one without its last sync
  hard   // survives a power cut
};

// The checkpoints of a journal, as far as this process knows them.
struct Checkpoints {
  int hard_index = 0;  // the slot that holds the current hard checkpoint
  int soft_index = 0;  // the copy, in the other slot, that holds the last soft one
  Offset checkpoint = journal_start;
  Offset hard_checkpoint = journal_start;

  // The slot of the next checkpoint, soft or hard.
  int next_slot() const { return 1 - hard_index; }

  // Updates the checkpoints from the words of the header. They never go back. A word beyond
  // `file_size` does not count; without a size (a device) every word does.
  void read(const Checkpoint_Words& words, std::optional<Offset> file_size);

  friend bool operator==(const Checkpoints&, const Checkpoints&) = default;
};

}  // namespace joedb::inline v1

#endif
