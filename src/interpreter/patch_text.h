#ifndef JOEDB_INTERPRETER_PATCH_TEXT_H
#define JOEDB_INTERPRETER_PATCH_TEXT_H

#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "joedb/history/transaction.h"
#include "joedb/table/database.h"

namespace joedb::inline v1 {

using Names = std::set<std::string, std::less<>>;

// Of all tables and fields.
Names names_of(const Database& database);

// Writes commands of joedbi that make the second state of the first one: `changes` are those of
// net_changes or differences, forwards or reversed. Drops come first, then renames, new tables and
// fields, and records, so that names are free when they are given again. Where two names change
// places, one of them is "patch_N" for a moment: a name that is not among `names`, those of the
// first state.
//
// The records of tables and fields get the same ids and values, with two exceptions. A NaN has the
// sign it had, and no other bits. A blob is a place in the file: for one that does not end at or
// before `blobs_end`, so that the file that gets the patch does not have it, Exception is thrown,
// and nothing has been written.
void write_patch(std::ostream& out, const std::vector<Change>& changes, Offset blobs_end,
                 Names names);

}  // namespace joedb::inline v1

#endif
