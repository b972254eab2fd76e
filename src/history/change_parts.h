#ifndef JOEDB_SRC_HISTORY_CHANGE_PARTS_H
#define JOEDB_SRC_HISTORY_CHANGE_PARTS_H

#include <memory>
#include <string>

#include "joedb/history/changes.h"
#include "joedb/table/database.h"

// Functions that build the parts of changes (joedb/history/changes.h) from the current content
// of a database. All throw std::bad_alloc.

namespace joedb::inline v1 {

using Description = std::shared_ptr<const Table_Description>;

// Return a description. The field or table must not have been dropped.
Field_Description describe(const Database& database, Field_Id id, const Field& field);
Description describe(const Database& database, const Table& table);
// Describes a table that has only `fields`.
Description describe(Table_Id id, std::string name, std::vector<Field_Description> fields = {});

// Returns the values of records [first, first + size), including unused ids. The table must have
// the field.
Values read_values(const Column_Base& column, index_t first, index_t size);
inline Values read_values(const Table& table, Field_Id field, index_t first, index_t size) {
  return read_values(*table.find_field(field)->column, first, size);
}

// Returns the values [first, first + size).
Values part_of(const Values& values, index_t first, index_t size);

// Return a change with an empty list of fields.
Change change_of_records(Change::Kind kind, Description table, index_t first, index_t size);
Change change_of_schema(Change::Kind kind, Description table, Schema_Change schema);

// Return the insertion or deletion of records [first, first + size). The change has the current
// values of the described fields.
Change inserted_records(Description table, const Table& rows, index_t first, index_t size);
Change deleted_records(Description table, const Table& rows, index_t first, index_t size);
// Returns an element of Schema_Change::lost for a dropped field. `table` must describe only this
// field.
Change lost_values(Description table, index_t first, Values values);

}  // namespace joedb::inline v1

#endif
