#ifndef JOEDB_INTERPRETER_PACK_H
#define JOEDB_INTERPRETER_PACK_H

#include "joedb/journal/writable_journal.h"
#include "joedb/table/database.h"

namespace joedb::inline v1 {

// Appends the content of a database to an empty journal, in as few entries as possible: its schema
// entries as they were, then the records of each table, run by run, which keep their ids. What was
// overwritten or deleted, comments and time stamps are left behind. No checkpoint is written.
//
// Throws Data_Error if the result could not be read again: where millions of unused ids stand
// between the last few records, say. Blobs would be lost, as they are in no table: the caller must
// not pack a journal that has any.
void pack(const Database& database, Writable_Journal& journal);

// Its parts, for content that is in no database.
void pack_schema(const Database& database, Writable_Journal& journal);
void require_readable(const Database& database, Offset position);

}  // namespace joedb::inline v1

#endif
