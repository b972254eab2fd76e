#ifndef JOEDB_TABLE_LOAD_H
#define JOEDB_TABLE_LOAD_H

#include "joedb/journal/moment.h"
#include "joedb/journal/readonly_journal.h"
#include "joedb/journal/writable_journal.h"
#include "joedb/table/database.h"
#include "joedb/table/snapshot.h"

// From journals to tables, under the limits for untrusted journals. The observer of the database,
// if there is one, is told of the entries, and of where they end. All throw Corruption_Error if an
// entry is invalid or does not fit the tables, Io_Error, and Unique_Violation if a unique index
// would hold a key twice. The database has the entries before the invalid one then, all of them in
// the case of a Unique_Violation. A database whose snapshot was found to be damaged throws
// Corruption_Error when more is loaded into it.

namespace joedb::inline v1 {

// Replays from the replay position of the journal to its checkpoint: for a new database and a new
// journal everything, later only the new entries.
void load(Database& database, Readonly_Journal& journal);
void load(Database& database, Writable_Journal& journal);

// The same for a new database and a new journal, up to a position between two entries that is not
// behind the checkpoint. Throws Exception if it is inside of an entry.
void load(Database& database, Readonly_Journal& journal, Offset end);
void load(Database& database, Writable_Journal& journal, Offset end);

// The same, but a snapshot is only used after all of it was verified.
void load_verified(Database& database, Readonly_Journal& journal, Offset end);
void load_verified(Database& database, Writable_Journal& journal);

// A new database, and a new journal, begin with the newest snapshot that is not beyond `limit`
// (table/snapshot.h), if there is one. The functions above do that by themselves.
void begin_with_snapshot(Database& database, Readonly_Journal& journal, Offset limit,
                         Trust trust = Trust::fast);

// Replays the entries that were copied to the end of the journal (Writable_Journal::replay_copied).
void load_copied(Database& database, Writable_Journal& journal);

// A past state, for a new database. Throws Exception if the file has no such moment, or its
// position is inside of an entry.
void load(Database& database, Abstract_File& file, Moment moment,
          Recovery recovery = Recovery::none);

}  // namespace joedb::inline v1

#endif
