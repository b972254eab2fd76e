#include "joedb/journal/readonly_journal.h"

#include <algorithm>
#include <limits>

namespace joedb::inline v1 {

// The order of the comparisons is part of the format: if both slots are equal, the second slot
// counts; and a soft word implies that the hard checkpoint is in the other slot.
void Checkpoints::read(const Checkpoint_Words& words, std::optional<Offset> file_size) {
  for (int slot = 0; slot < 2; ++slot) {
    const std::size_t first = 2 * static_cast<std::size_t>(slot);
    if (words[first] == words[first + 1] && words[first] >= hard_checkpoint &&
        (!file_size || words[first] <= *file_size)) {
      hard_checkpoint = words[first];
      hard_index = slot;
    }
    for (int copy = 0; copy < 2; ++copy) {
      const std::int64_t word = words[first + static_cast<std::size_t>(copy)];
      if (word >= 0 || word == std::numeric_limits<std::int64_t>::min()) continue;
      if (-word >= checkpoint && (!file_size || -word <= *file_size)) {
        checkpoint = -word;
        hard_index = 1 - slot;
        soft_index = copy;
      }
    }
  }
  checkpoint = std::max(checkpoint, hard_checkpoint);
}

}  // namespace joedb::inline v1
