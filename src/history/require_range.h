#ifndef JOEDB_SRC_HISTORY_REQUIRE_RANGE_H
#define JOEDB_SRC_HISTORY_REQUIRE_RANGE_H

#include "joedb/journal/readonly_journal.h"

namespace joedb::inline v1 {

// Throws Exception if a position is outside the journal, or if from > to.
inline void require_range(const Readonly_Journal& journal, Offset from, Offset to) {
  const std::string& name = journal.get_file().get_name();
  for (const Offset position : {from, to})
    if (position < journal_start || position > journal.get_checkpoint())
      throw Exception(name + " has no position " + std::to_string(position) +
                      ": its journal goes from " + std::to_string(journal_start) + " to " +
                      std::to_string(journal.get_checkpoint()));
  if (from > to)
    throw Exception(name + ": the range begins at " + std::to_string(from) +
                    ", behind its end at " + std::to_string(to));
}

}  // namespace joedb::inline v1

#endif
