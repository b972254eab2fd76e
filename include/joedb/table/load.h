#ifndef JOEDB_TABLE_LOAD_H
#define JOEDB_TABLE_LOAD_H

#include "joedb/journal/moment.h"
#include "joedb/journal/readonly_journal.h"
#include "joedb/journal/writable_journal.h"
#include "joedb/table/database.h"

// From journals to tables, under the limits for untrusted journals. What these
// functions throw is what replaying throws, and Data_Error if a unique index would hold a key
// twice.

namespace joedb::inline v1 {

// What the journal has, and the database has not, up to the checkpoint.
void load(Database& database, Readonly_Journal& journal);
void load(Database& database, Writable_Journal& journal);

// What was copied to the end of the journal (Writable_Journal::replay_copied).
void load_copied(Database& database, Writable_Journal& journal);

// A past state. Throws Exception if the file has no such moment, or its position is inside of an
// entry.
void load(Database& database, Abstract_File& file, Moment moment,
          Recovery recovery = Recovery::none);

}  // namespace joedb::inline v1

#endif
