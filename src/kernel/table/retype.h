#ifndef JOEDB_SRC_KERNEL_TABLE_RETYPE_H
#define JOEDB_SRC_KERNEL_TABLE_RETYPE_H

#include <string>
#include <string_view>
#include <vector>

#include "joedb/table/writable_database.h"

// A field gets another type by becoming another field, because format 5 has no entry for it: a
// field of the new type is added, gets the converted values, and takes the name of the old field,
// which is dropped. So the new field is the last one of its table, and the history has the old
// values.
//
// A value is converted if it stays the same: a number that the new type has; or a value whose text
// is also a text of the new type, as 12.50, 2026-01-31 and "paid" are. A value that is missing
// stays missing. Indexes of the field, blobs, and values that do not fit are errors, which change
// nothing.

namespace joedb::inline v1 {

// The name of the new field while the old one is there.
std::string retyped_name(std::string_view field);

// Writes the entries. Throws Data_Error as above, if the field does not exist, or if it has the
// type already; nothing has changed then. Throws the exceptions of Writable_Database::write.
void retype_field(Writable_Database& database, Table_Id table, Field_Id field, const Type& type,
                  const Logical_Type& logical);

// Throws Data_Error if values of the field cannot be converted, because they are blobs, or do not
// fit: "person.age: 3 records do not fit int8; the first is record 7, with 300". `meaning` is the
// logical type of the values.
void require_convertible(const Database& database, const Table& table, const Field& field,
                         const Logical_Type& meaning, const Type& type,
                         const Logical_Type& logical);

// Gives the field `to` the converted values of the field `from` in all records. They must be
// convertible. The second function writes no entries.
void convert_values(Writable_Database& database, const Table& table, Field_Id from,
                    const Logical_Type& meaning, Field_Id to);
void convert_values(Database& database, const Table& table, Field_Id from,
                    const Logical_Type& meaning, Field_Id to);

// A field that became another field by retype_field. The texts are the logical types, as in
// Retyped_Field (table/typed.h).
struct Retyping {
  Table_Id table;
  Field_Id from, to;
  std::string before, after;
};

// Returns the retypings in a journal, in their order.
std::vector<Retyping> find_retypings(Abstract_File& file);

// Returns the field that the field to drop becomes; null if it is only dropped. `schema` must have
// the tables and fields before the entry.
Field_Id retyped_field(const Database& schema, const Drop_Field& entry);

}  // namespace joedb::inline v1

#endif
