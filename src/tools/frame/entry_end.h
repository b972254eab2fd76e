#ifndef JOEDB_SRC_TOOLS_FRAME_ENTRY_END_H
#define JOEDB_SRC_TOOLS_FRAME_ENTRY_END_H

#include "joedb/journal/readonly_journal.h"

namespace joedb {

// Returns the offset of the end of `entry`, for a handler that receives it while `journal` is
// replayed. Skips the values of a vector that have not been read, because they are part of the
// entry.
template <class Entry>
Offset end_of_entry(const Entry& entry, const Readonly_Journal& journal) {
  if constexpr (requires { entry.values.skip_rest(); }) entry.values.skip_rest();
  return journal.get_replay_position();
}

}  // namespace joedb

#endif
