#ifndef JOEDB_HISTORY_DIFFERENCES_H
#define JOEDB_HISTORY_DIFFERENCES_H

#include <vector>

#include "joedb/history/transaction.h"
#include "joedb/io/file.h"
#include "joedb/table/database.h"

namespace joedb::inline v1 {

struct Difference_Options {
  // The files that hold the blobs: with both, blobs are the same if their bytes are. Without: if
  // they have the same position and size.
  const Abstract_File* blobs_of_a = nullptr;
  const Abstract_File* blobs_of_b = nullptr;
  // How many of the values are kept that drops of tables and fields make unreachable.
  index_t kept_values = index_t{1} << 24;
};

// What makes the content of b of the content of a, whatever the histories of the two: tables are
// the same if they have the same name, fields if they have the same name and type, records if they
// have the same id. A reference has the type of another one if the tables they refer to have the
// same name.
//
// The changes can be applied in their order: first drops of fields that have another type in b;
// tables and fields that are new; then records, sorted by table and record, with those fields alone
// whose values differ; then other drops. There are no renames. Ids of tables and fields are those
// of a; what is new gets the ids that it would get there.
//
// Columns are compared in blocks: equal numbers take as long as reading the memory. Throws
// std::bad_alloc; Io_Error and Corruption_Error for blobs that cannot be read.
std::vector<Change> differences(const Database& a, const Database& b,
                                const Difference_Options& options = {});

}  // namespace joedb::inline v1

#endif
