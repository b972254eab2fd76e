#ifndef JOEDB_SRC_REWRITE_PACK_SINCE_H
#define JOEDB_SRC_REWRITE_PACK_SINCE_H

#include <optional>

#include "joedb/journal/readonly_journal.h"
#include "joedb/journal/writable_journal.h"

namespace joedb::inline v1 {

struct Pack_Since {
  Moment since;  // everything before this moment becomes one transaction
  Offset end;    // later entries are omitted
  Recovery recovery = Recovery::none;
  // Approximate size in bytes of the values in memory at a time.
  std::size_t memory = std::size_t{1} << 30;
};

// Appends the content of a journal to an empty journal: the state at `since` as one transaction,
// and then the later entries. At `since` and after each later entry, the state is the same as in
// the original journal. The following are equal, too: ids, the order of records, the ids that new
// records will get, and the records in indexes.
//
// The transaction has a comment with the number of transactions that it replaces, and their last
// time stamp. Blobs are copied if the state or a later entry refers to them; the values that refer
// to them get the new positions. Values of deleted records are omitted. Makes no checkpoint.
//
// Takes the memory of Column_Parts, 24 bytes per blob, one bit per record and field, and, for
// tables whose ids were not always appended, up to 40 bytes per record.
//
// Passes on the exceptions of find_moment and of the replay. Throws Exception if `since` or `end`
// is inside an entry, or if `since` is after `end`. Throws Data_Error if the result would be
// unreadable, for example if a short journal has millions of unused ids.
void pack_since(Abstract_File& file, const Pack_Since& options, Writable_Journal& packed);

// Checks the entries of a journal up to `end` as a Database does, with the limits for a journal of
// this size. Does not store values. Throws Data_Error if the entries are inconsistent or exceed the
// limits.
void require_readable_file(Abstract_File& file, Offset end);

}  // namespace joedb::inline v1

#endif
