#ifndef JOEDB_JOURNAL_MOMENT_H
#define JOEDB_JOURNAL_MOMENT_H

#include <cstdint>

#include "joedb/journal/readonly_journal.h"

namespace joedb::inline v1 {

// A moment in the history of a journal: the entries before it make one past state. Made by at() or
// at_time(), for a Readonly_Database, for example.
struct Moment {
  enum class Kind { position, time };
  Kind kind;
  std::int64_t value;
};

// When the journal had this many bytes; as checkpoints are, between two entries.
inline Moment at(Offset checkpoint) { return {Moment::Kind::position, checkpoint}; }

// Seconds since 1970: when the last time stamp was written that is not after this.
inline Moment at_time(std::int64_t seconds) { return {Moment::Kind::time, seconds}; }

// The position of a moment, for Readonly_Journal::replay. Reads the journal, from its start, for a
// time. Throws Exception if the journal has no time stamp so early, or none at all, or ends before
// the position. Where it ends depends on `recovery`.
Offset find_moment(Abstract_File& file, Moment moment, Recovery recovery = Recovery::none);

// Throws Exception unless a replay up to `position` has ended there: then it is inside of an entry.
void require_entry_end(const Readonly_Journal& journal, Offset position);

}  // namespace joedb::inline v1

#endif
