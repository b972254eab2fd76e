#ifndef JOEDB_TABLE_LOAD_H
#define JOEDB_TABLE_LOAD_H

#include "joedb/journal/moment.h"
#include "joedb/journal/readonly_journal.h"
#include "joedb/table/database.h"

namespace joedb::inline v1 {

// Calls replay(), which replays a journal of `size` bytes into the database, under the limits for
// journals that nobody vouches for.
template <class Replay>
void load(Database& database, Offset size, Replay replay) {
  database.limit_to_journal_of(size);
  replay();
  database.remove_limits();
}

// Replays what the journal has, and the database has not, up to the checkpoint.
inline void load(Database& database, Readonly_Journal& journal) {
  load(database, journal.get_checkpoint(), [&] { journal.replay(database); });
}

// A past state. Throws Exception if the file has no such moment, or its position is inside of an
// entry.
void load(Database& database, Abstract_File& file, Moment moment);

}  // namespace joedb::inline v1

#endif
