#ifndef JOEDB_HISTORY_VERSIONS_H
#define JOEDB_HISTORY_VERSIONS_H

#include <optional>
#include <utility>
#include <vector>

#include "joedb/history/changes.h"

namespace joedb::inline v1 {

// What a record was from one transaction to another one.
struct Record_Version {
  // One value for each field that the table had.
  std::vector<std::pair<Field_Id, Values>> fields;
  Transaction_Info from;                  // that has written it
  std::optional<Transaction_Info> until;  // that has changed or deleted it; nothing: it is as now
};

// All versions of a record up to the checkpoint, the first one first, at most one for each
// transaction. Where an id was used again, all records that had it are there. Versions before and
// after a change of fields differ in their fields.
//
// Of `options`, the tables and the record do not count. The journal is decoded twice, without
// values of other records: time is proportional to its size, memory to the result. Throws what
// Summaries throws.
std::vector<Record_Version> record_versions(Abstract_File& file, Table_Id table, Record_Id record,
                                            const Change_Options& options = {});

}  // namespace joedb::inline v1

#endif
