#ifndef JOEDB_SRC_KERNEL_TABLE_REFERENCES_H
#define JOEDB_SRC_KERNEL_TABLE_REFERENCES_H

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "joedb/base/error.h"
#include "joedb/table/database.h"

// References between records: what their rules (Logical_Type::On_Delete) do when records are
// deleted, and which references refer to no record.

namespace joedb::inline v1 {

// A change that follows from a deletion.
struct Consequence {
  Table_Id table;
  Record_Id record;
  Field_Id field;  // the reference that becomes null; if this is null, the record is deleted
};

// A rule refuses a deletion. The text has the names of the records.
class Deletion_Refused : public Data_Error {
 public:
  using Data_Error::Data_Error;
};

// Returns what must happen before these records, all of which are in use, are deleted together:
// references become null, then records that refer to others are deleted before these. Throws
// Deletion_Refused.
//
// Looks for the references with an index whose first field is the reference; without one, reads
// the references of all records (about 1 ms for a million).
std::vector<Consequence> consequences_of_deletion(const Database& database, Table_Id table,
                                                  Record_Id first, index_t size);
std::vector<Consequence> consequences_of_deletion(const Database& database, Table_Id table,
                                                  std::span<const Record_Id> records);

// The same for records that are deleted already, but the references to them are not changed yet;
// in ascending order. Deletions of many records take one pass then. The function
// write_consequences of Writable_Database makes these changes.
using Deleted_Records = std::map<Table_Id, std::vector<index_t>>;
std::vector<Consequence> consequences_of_deletion(const Database& database,
                                                  const Deleted_Records& records);

// Returns the tables whose records a deletion in this table can change, with the table itself.
std::vector<Table_Id> tables_changed_by_deletion(const Database& database, Table_Id table);

// A reference of a record in use.
struct Reference {
  Table_Id table;
  Field_Id field;
  Record_Id record;
  Record_Id target;
};
// Returns the references with a rule to these records, which are all different. For code that
// deletes records without consequences (Writable_Database::write_alone).
std::vector<Reference> references_with_rules(const Database& database, Table_Id table,
                                             const std::vector<index_t>& records);

// Returns the free ids of a table to which no reference of a record in use refers: the field may
// have no rule, or joedb 10 may have deleted the record. The last one was freed or skipped last.
// Takes the time of reading cost_of_free_ids() references.
std::vector<index_t> unreferenced_ids(const Database& database, const Table& table);
index_t cost_of_free_ids(const Database& database, const Table& table);

// The references in a field of records in use that are not null and refer to no record in use.
struct Dangling {
  const Table* table;
  Field_Id field;
  std::vector<Record_Id> records;  // with such a reference, in ascending order
};
// Returns an item for each field that has such references.
std::vector<Dangling> dangling_references(const Database& database);

}  // namespace joedb::inline v1

#endif
