#ifndef JOEDB_INTERPRETER_PACK_SINCE_H
#define JOEDB_INTERPRETER_PACK_SINCE_H

#include <optional>

#include "joedb/journal/moment.h"
#include "joedb/journal/writable_journal.h"

namespace joedb::inline v1 {

struct Pack_Since {
  Moment since;  // what is older becomes one state
  Offset end;    // what is behind it is left out
  Recovery recovery = Recovery::none;
  std::size_t memory = std::size_t{1} << 30;  // values of about so many bytes are in memory at once
};

// Appends the content of a journal to an empty one: the state at a moment, as one transaction, then
// the later entries. The state at that moment, and after each later entry, is the same as before:
// with the same ids of tables, fields and records, the same order of records, the same ids for new
// ones, and the same records in indexes.
//
// The transaction has a comment that says how many it stands for, and their last time stamp. Blobs
// that no later value refers to are left out; values say where the others are now. What only
// deleted records had is left out. No checkpoint is written.
//
// Takes the memory of Past_Values, 24 bytes for each blob, a bit for each record and field, and up
// to 40 bytes for each record in tables whose ids were not only appended.
//
// Throws what find_moment and a replay throw, Exception if the moment or the end is inside of an
// entry, or the moment is behind the end, and Data_Error if the result could not be read again:
// where millions of unused ids stand in a short journal, say.
void pack_since(Abstract_File& file, const Pack_Since& options, Writable_Journal& packed);

// Throws Corruption_Error unless all entries of the journal in this file fit each other, as a
// Database checks it, with the limits for journals of this size. Values are not kept.
void require_readable_file(Abstract_File& file, Offset end);

}  // namespace joedb::inline v1

#endif
