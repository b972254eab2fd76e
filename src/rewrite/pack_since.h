#ifndef JOEDB_SRC_REWRITE_PACK_SINCE_H
#define JOEDB_SRC_REWRITE_PACK_SINCE_H

#include <optional>

#include "joedb/journal/readonly_journal.h"
#include "joedb/journal/writable_journal.h"

namespace joedb::inline v1 {

struct Pack_Since {
  Moment since;  // the state here becomes one transaction
  Offset end;    // entries after it are left out
  Recovery recovery = Recovery::none;
  // Approximate number of bytes of the values in memory at a time.
  std::size_t memory = std::size_t{1} << 30;
};

// Appends the content of a journal to an empty journal: the state at `since` as one transaction,
// then the later entries. The state at `since`, and after each later entry, is the same as in the
// original journal: the same ids of tables, fields and records, the same order of records, the same
// ids for new records, and the same records in indexes.
//
// The transaction has a comment with the number of transactions that it replaces, and their last
// time stamp. Blobs to which neither the state nor a later entry refers are left out; values that
// refer to the other blobs are changed to the new positions. Values that only deleted records had
// are left out. Writes no checkpoint.
//
// Takes the memory of Column_Parts, 24 bytes per blob, one bit per record and field, and up to 40
// bytes per record of tables whose ids were not only appended.
//
// Throws the exceptions of find_moment and of a replay, Exception if `since` or `end` is inside an
// entry, or `since` is after `end`, and Data_Error if the result could not be read back, for
// example if a short journal has millions of unused ids.
void pack_since(Abstract_File& file, const Pack_Since& options, Writable_Journal& packed);

// Checks the entries of the journal in this file up to `end`, as a Database does, with the limits
// for a journal of this size. Keeps no values. Throws Data_Error if the entries are inconsistent or
// exceed the limits.
void require_readable_file(Abstract_File& file, Offset end);

}  // namespace joedb::inline v1

#endif
