#ifndef JOEDB_CLI_ENTRY_END_H
#define JOEDB_CLI_ENTRY_END_H

#include "joedb/journal/readonly_journal.h"

namespace joedb {

// For a handler that `journal` replays: where the entry ends that it has got. Values of a vector
// that it has not read yet are skipped, for they are part of the entry.
template <class Entry>
Offset end_of_entry(const Entry& entry, const Readonly_Journal& journal) {
  if constexpr (requires { entry.values.skip_rest(); }) entry.values.skip_rest();
  return journal.get_replay_position();
}

}  // namespace joedb

#endif
