#ifndef JOEDB_SRC_TEXT_PATCH_TEXT_H
#define JOEDB_SRC_TEXT_PATCH_TEXT_H

#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "joedb/history/changes.h"
#include "joedb/table/database.h"

namespace joedb::inline v1 {

using Names = std::set<std::string, std::less<>>;

// Returns the names of all tables and fields.
Names names_of(const Database& database);

// Writes commands of joedbi that turn one state, the first, into another. `changes` must come from
// net_changes or differences, in either direction. The commands are in this order: drops, renames,
// new tables and fields, records. So a name is free before it is assigned again. If two names are
// swapped, one of them is temporarily replaced by "patch_N". This name must not be in `names`, the
// names of the first state.
//
// The records get the same ids and values, with two exceptions. A NaN keeps its sign, but not its
// other bits. A blob is a position in the file: if the blob does not end at or before `blobs_end`,
// the file to patch does not have it, and Exception is thrown before anything is written.
void write_patch(std::ostream& out, const std::vector<Change>& changes, Offset blobs_end,
                 Names names);

}  // namespace joedb::inline v1

#endif
