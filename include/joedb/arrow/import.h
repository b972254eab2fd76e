#ifndef JOEDB_ARROW_IMPORT_H
#define JOEDB_ARROW_IMPORT_H

#include <string>

#include "joedb/arrow/abi.h"
#include "joedb/table/writable_database.h"

namespace joedb::inline v1 {

struct Arrow_Import_Options {
  // True: null becomes the default value of the field: 0, false, the empty string. False: null is
  // an error, except in references and blobs, which have a null of their own.
  bool null_is_default = false;
  // True: columns without a field of the same name are skipped. False: they are an error.
  bool ignore_unknown = false;
  // True: the column `__id` holds the ids of the new records. False: it is skipped, and records are
  // appended after the last id.
  bool use_ids = false;
  // True: numbers are rounded to a value that a float32 or float64 field can hold. False: a number
  // that the field cannot hold exactly is an error; NaN is always allowed. A finite number beyond
  // the range of float32 is always an error there.
  bool round = false;
  // True: structs of position and size are written to blob fields unchanged, for a stream exported
  // from this file. False: they are an error.
  bool blob_positions = false;
};

struct Arrow_Imported {
  index_t rows = 0;
  // Id of the first row, if there are rows. The ids of the others follow, unless ids were given.
  Record_Id first;
};

// Adds a record for each row of a stream whose items are structs (record batches, tables, data
// frames), and releases the stream, also if it throws. Columns go to the fields of the same name; a
// field without a column gets default values.
//
//     integers, float32, float64    all integers, half, float and double; bool: if no value is lost
//     boolean                       bool; integers that are 0 or 1
//     references                    integers that are not negative; -1 and null for a null one
//     string                        u, U, vu; z, Z, vz
//     blob                          the same, whose bytes go to the journal; see blob_positions
//
// Each of these types may be dictionary-encoded.
//
// Reads all batches into memory and checks every value before it writes the first. Throws
// Data_Error for a value that does not fit (the text names the column, the row counted from 0, and
// the value), Unique_Violation for a key that a unique index already has or that occurs twice, and
// Exception, with the text of the stream, if the stream fails. Then nothing was written. A stream
// that contradicts itself (a missing buffer, wrong numbers of children, decreasing offsets) throws
// Data_Error; but the sizes of most buffers are not in the interface and cannot be checked.
//
// While it writes, it throws the errors of Writable_Database::write_vector: Io_Error and
// Write_Disabled, after which nothing more can be written, and std::bad_alloc. Then the new records
// may exist without some of their values; rollback() removes them.
//
// Callers with an Arrow_Pins must call before_change(table) first. The stream may be an export of
// the same table.
Arrow_Imported import_stream(Writable_Database& database, Table_Id table, ArrowArrayStream* in,
                             const Arrow_Import_Options& options = {});

// Creates a table with a field for each column of a schema of structs, except `__id`. Integers
// become the smallest integer type that holds all their values (but uint64 becomes int64),
// half-floats float32, and bytes blobs, unless `joedb.type` in the metadata says otherwise. Does
// not release the schema.
//
// Throws Data_Error for a type without a field type (times, decimals, lists: the text names the
// column), for names that are not identifiers or occur twice, and the errors of
// Writable_Database::write for a table. Then nothing was written, unless the error is an Io_Error.
Table_Id create_table_for(Writable_Database& database, const std::string& name,
                          const ArrowSchema& schema);

}  // namespace joedb::inline v1

#endif
