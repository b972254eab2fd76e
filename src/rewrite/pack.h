#ifndef JOEDB_SRC_REWRITE_PACK_H
#define JOEDB_SRC_REWRITE_PACK_H

#include "joedb/journal/writable_journal.h"
#include "joedb/table/database.h"

namespace joedb::inline v1 {

// Appends the content of a database to an empty journal in as few entries as possible: the schema
// entries unchanged, then the records of each table, run by run, with their ids. Omits overwritten
// and deleted values, comments and time stamps. Writes no checkpoint.
//
// Throws Data_Error if the result could not be read back, for example if millions of unused ids
// precede the last few records. The caller must not pack a journal that has blobs: they would be
// lost, because they are in no table.
void pack(const Database& database, Writable_Journal& journal);

// The parts of pack(), for content that is not in a database. require_readable() throws Data_Error
// if a reader would reject a journal of `position` bytes with these tables.
void pack_schema(const Database& database, Writable_Journal& journal);
void require_readable(const Database& database, Offset position);

}  // namespace joedb::inline v1

#endif
