#ifndef JOEDB_ARROW_IMPORT_H
#define JOEDB_ARROW_IMPORT_H

#include <string>

#include "joedb/arrow/abi.h"
#include "joedb/table/writable_database.h"

namespace joedb::inline v1 {

struct Arrow_Import_Options {
  // Null becomes the default value of the field: 0, false, the empty string. Otherwise it is an
  // error, except in references and blobs, which have a null of their own.
  bool null_is_default = false;
  // Columns without a field of this name are skipped. Otherwise they are an error.
  bool ignore_unknown = false;
  // A column `__id` has the ids of the new records. Otherwise it is skipped, and records are
  // appended behind the last id.
  bool use_ids = false;
  // Numbers are rounded to what a float32 or float64 field can hold. Otherwise a number that it
  // cannot hold exactly is an error; NaN is always possible.
  bool round = false;
  // Structs of position and size are written to blob fields as they are: for a stream that was
  // exported from this file. Otherwise they are an error.
  bool blob_positions = false;
};

struct Arrow_Imported {
  index_t rows = 0;
  // The id of the first row, if there are rows; the others follow, unless ids were given.
  Record_Id first;
};

// Adds a record for each row of a stream whose items are structs (record batches, tables, data
// frames), and releases the stream. Columns go to the fields of their name; a field without a
// column gets default values.
//
//     integers, float32, float64    all integers, half, float and double; bool: if no value is lost
//     boolean                       bool; integers that are 0 or 1
//     references                    integers that are not negative, -1 and null for null
//     string                        u, U, vu; z, Z, vz
//     blob                          the same, whose bytes go to the journal; see blob_positions
//
// Each can be encoded by a dictionary.
//
// All batches are read and every value is checked before the first is written: until then they
// stay in memory. Throws Data_Error for what does not fit (it names the column, the row counted
// from 0, and the value), Unique_Violation for a key that a unique index has already, or that comes
// twice, and Exception, with the text of the stream, if the stream fails. Nothing was written then.
// A stream that contradicts itself (a buffer that is missing, numbers of children, offsets that
// decrease) throws Data_Error; the sizes of its buffers cannot be checked, for they are not in the
// interface.
//
// The writing itself throws what Writable_Database::write_vector throws: Io_Error and
// Write_Disabled, after which nothing can be written any more, and std::bad_alloc. The new records
// may exist then, some values missing; rollback() takes them back.
//
// Callers with an Arrow_Pins call before_change(table) before. The stream may be an export of the
// same table.
Arrow_Imported import_stream(Writable_Database& database, Table_Id table, ArrowArrayStream* in,
                             const Arrow_Import_Options& options = {});

// A new table with a field for each column of a schema of structs, `__id` excepted. Integers become
// the smallest integer that has all their values (uint64: int64), half-floats float32, bytes
// blobs, unless `joedb.type` in the metadata says otherwise. The schema is not released. Throws
// Data_Error for a type without a field type (times, decimals, lists: the text names the column),
// for names that are no identifiers or come twice, and what Writable_Database::write throws for a
// table. Nothing was written then, except by Io_Error.
Table_Id create_table_for(Writable_Database& database, const std::string& name,
                          const ArrowSchema& schema);

}  // namespace joedb::inline v1

#endif
