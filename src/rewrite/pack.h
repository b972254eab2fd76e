#ifndef JOEDB_SRC_REWRITE_PACK_H
#define JOEDB_SRC_REWRITE_PACK_H

#include "joedb/journal/writable_journal.h"
#include "joedb/table/database.h"
#include "rewrite/blob_copies.h"
#include "text/dump.h"

namespace joedb::inline v1 {

// Appends the content of a database to an empty journal in as few entries as possible: the schema
// entries unchanged, then the records of each table, run by run, with their ids. Omits overwritten
// and deleted values, comments and time stamps. Makes no checkpoint.
//
// `file` has the blobs of the database, all of which were added to `blobs`: those to which values
// refer are copied between the schema and the records, and the values refer to the copies. Without
// `blobs`, blobs are lost, because they are in no table.
//
// Throws Data_Error if the result could not be read back, for example if millions of unused ids
// precede the last few records; Corruption_Error if a blob ends after its file.
void pack(const Database& database, Writable_Journal& journal);
void pack(const Database& database, const Abstract_File& file, Blob_Copies& blobs,
          Writable_Journal& journal);

// The parts of pack(), for callers whose content is not in a database. require_readable() throws
// Data_Error if a reader would reject a journal of `position` bytes with these tables.
void pack_schema(const Database& database, Writable_Journal& journal);
void require_readable(const Database& database, Offset position);

// append_insertion() appends the insertion of records [first, first + size). pack_run() does the
// same, and then, for each field of type T, calls append(std::type_identity<T>(), id, field), which
// must append the values.
void append_insertion(Table_Id table, index_t first, index_t size, Writable_Journal& journal);
template <class Append>
void pack_run(const Table& table, index_t first, index_t size, Writable_Journal& journal,
              Append append) {
  append_insertion(table.id(), first, size, journal);
  for_each_field(table, [&](Field_Id id, const Field& field) {
    visit_type(field.column->type().code,
               [&]<class T>(std::type_identity<T> type) { append(type, id, field); });
  });
}

// Appends the values of records [first, first + size) in a field. get(i) returns the value at index
// i.
template <Field_Value T, class Get>
void append_values(Table_Id table, index_t first, Field_Id field, index_t size,
                   Writable_Journal& journal, Get get) {
  if (size == 1)
    journal.append(Update<T>{table, Record_Id(first), field, get(0)});
  else
    journal.append_vector<T>(table, Record_Id(first), field, size, get);
}

}  // namespace joedb::inline v1

#endif
