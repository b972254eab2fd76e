#ifndef JOEDB_HISTORY_VERSIONS_H
#define JOEDB_HISTORY_VERSIONS_H

#include <optional>
#include <utility>
#include <vector>

#include "joedb/history/changes.h"

namespace joedb::inline v1 {

// The values of a record from one transaction to another.
struct Record_Version {
  // One value for each field that the table had then.
  std::vector<std::pair<Field_Id, Values>> fields;
  Transaction_Info from;  // transaction that wrote this version
  // The transaction that changed or deleted the record; nullopt: the version is current.
  std::optional<Transaction_Info> until;
};

// Returns all versions of a record up to the checkpoint, the oldest one first, at most one for each
// transaction. If the id was used again, the versions of all records that had it are included.
// Versions before and after a change of fields have different fields.
//
// `options.tables` and `options.record` are ignored. The journal is decoded twice, without the
// values of other records: time is proportional to its size, memory to the result. Throws what
// Summaries throws.
std::vector<Record_Version> record_versions(Abstract_File& file, Table_Id table, Record_Id record,
                                            const Change_Options& options = {});

}  // namespace joedb::inline v1

#endif
