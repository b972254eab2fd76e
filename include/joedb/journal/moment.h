#ifndef JOEDB_JOURNAL_MOMENT_H
#define JOEDB_JOURNAL_MOMENT_H

#include <cstdint>

#include "joedb/journal/readonly_journal.h"

namespace joedb::inline v1 {

// A moment in the history of a journal: the entries before it make one past state. Made by at() or
// at_time(), for example to open a Readonly_Database.
struct Moment {
  enum class Kind { position, time };
  Kind kind;
  std::int64_t value;
};

// The moment when the journal had `checkpoint` bytes. Like every checkpoint, it must be between two
// entries.
inline Moment at(Offset checkpoint) { return {Moment::Kind::position, checkpoint}; }

// The moment of the last time stamp at or before `seconds` (since 1970, UTC).
inline Moment at_time(std::int64_t seconds) { return {Moment::Kind::time, seconds}; }

// Returns the position of a moment, for Readonly_Journal::replay. For a time, reads the journal
// from its start. Throws Exception if the journal ends before the position, or has no time stamp at
// or before the time. `recovery` determines where the journal ends.
Offset find_moment(Abstract_File& file, Moment moment, Recovery recovery = Recovery::none);

// Throws Exception if `position` is inside an entry. Requires that `journal` was replayed up to it.
void require_entry_end(const Readonly_Journal& journal, Offset position);

}  // namespace joedb::inline v1

#endif
