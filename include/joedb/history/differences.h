#ifndef JOEDB_HISTORY_DIFFERENCES_H
#define JOEDB_HISTORY_DIFFERENCES_H

#include <vector>

#include "joedb/history/transaction.h"
#include "joedb/io/file.h"
#include "joedb/table/database.h"

namespace joedb::inline v1 {

struct Difference_Options {
  // The files that hold the blobs. If both are set, blobs are equal if their bytes are equal;
  // otherwise, if they have the same position and size.
  const Abstract_File* blobs_of_a = nullptr;
  const Abstract_File* blobs_of_b = nullptr;
  // Maximum number of values saved from dropped tables and fields, for all drops together.
  index_t kept_values = index_t{1} << 24;
};

// Returns the changes that turn `a` into `b`; their histories do not matter. Tables are the same if
// they have the same name, fields if they have the same name and type, records if they have the
// same id. Two reference types are the same if the tables they refer to have the same name.
//
// The changes must be applied in order: first drops of fields that have another type in `b`; then
// new tables and fields; then records, sorted by table and record, each with only the fields whose
// values differ; then other drops. There are no renames. Ids of tables and fields are those of `a`;
// new tables and fields have the ids that they would get there.
//
// Columns are compared in blocks: comparing equal numbers takes as long as reading the memory.
// Throws std::bad_alloc; Io_Error and Corruption_Error for blobs that cannot be read.
std::vector<Change> differences(const Database& a, const Database& b,
                                const Difference_Options& options = {});

}  // namespace joedb::inline v1

#endif
