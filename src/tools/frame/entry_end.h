#ifndef JOEDB_SRC_TOOLS_FRAME_ENTRY_END_H
#define JOEDB_SRC_TOOLS_FRAME_ENTRY_END_H

#include "joedb/journal/readonly_journal.h"

namespace joedb {

// Returns the end offset of `entry`. Called by a handler that has received it in a replay of
// `journal`. If the entry is a vector, skips its remaining values, which are a part of the entry.
template <class Entry>
Offset end_of_entry(const Entry& entry, const Readonly_Journal& journal) {
  if constexpr (requires { entry.values.skip_rest(); }) entry.values.skip_rest();
  return journal.get_replay_position();
}

}  // namespace joedb

#endif
