#ifndef JOEDB_TABLE_LOAD_H
#define JOEDB_TABLE_LOAD_H

#include "joedb/journal/readonly_journal.h"
#include "joedb/journal/writable_journal.h"
#include "joedb/table/database.h"
#include "joedb/table/snapshot.h"

// Loads journals into tables, under the limits for untrusted journals. The observer of the
// database, if there is one, is notified of the entries, and of the position where they end. All
// functions throw Corruption_Error if an entry is invalid or does not fit the tables, Io_Error, and
// Unique_Violation if a unique index would hold a key twice. The database then has the entries
// before the invalid one, or all entries in the case of a Unique_Violation. If the snapshot of a
// database was found to be damaged, loading more into it throws Corruption_Error.

namespace joedb::inline v1 {

// Replays the journal from its replay position to its checkpoint: everything for a new database and
// a new journal, later only the new entries.
void load(Database& database, Readonly_Journal& journal);
void load(Database& database, Writable_Journal& journal);

// The same for a new database and a new journal, up to position `end`, which must be between two
// entries and not after the checkpoint. The function for a Readonly_Journal throws Exception if it
// is not.
void load(Database& database, Readonly_Journal& journal, Offset end);
void load(Database& database, Writable_Journal& journal, Offset end);

// The same, but a snapshot is used only after all of it was verified.
void load_verified(Database& database, Readonly_Journal& journal, Offset end);
void load_verified(Database& database, Writable_Journal& journal);

// Gives the database the content of the newest snapshot that is not beyond `limit`
// (table/snapshot.h), if there is one, and moves the replay position of the journal to the position
// of the snapshot. No-op unless the database and the journal are new. The functions above do this
// themselves.
void begin_with_snapshot(Database& database, Readonly_Journal& journal, Offset limit,
                         Trust trust = Trust::fast);

// Replays the entries that were copied to the end of the journal (Writable_Journal::replay_copied).
void load_copied(Database& database, Writable_Journal& journal);

// Loads a past state into a new database. Throws Exception if the file has no such moment, or if
// its position is inside an entry.
void load(Database& database, Abstract_File& file, Moment moment,
          Recovery recovery = Recovery::none);

}  // namespace joedb::inline v1

#endif
