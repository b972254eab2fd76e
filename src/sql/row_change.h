#ifndef JOEDB_SRC_SQL_ROW_CHANGE_H
#define JOEDB_SRC_SQL_ROW_CHANGE_H

#include "sql/virtual_table.h"

namespace joedb {

// Implements xUpdate: deletes, inserts or updates one record in the transaction of the file.
// `count` and `values` are the arguments from SQLite. Returns the id of an inserted record,
// otherwise 0.
//
// Values are converted to the type of the field as in a STRICT table of SQLite. Texts that look
// like numbers become numbers; a conversion that would lose information fails. NULL becomes nan in
// a float field, and null in a reference or blob. In other fields, NULL becomes the default value
// in an insertion and with REPLACE; otherwise, it violates NOT NULL.
//
// A field of a logical type gets texts and numbers as SQL shows them, in any form that joedbi
// reads, too; NULL becomes the missing value of an optional field.
//
// A deletion does what the rules of references to the record say (Logical_Type::On_Delete).
//
// With REPLACE, other records that have the same unique key are deleted. Throws Sql_Error with the
// code of the violated constraint, Exception, Io_Error or std::bad_alloc. After an exception,
// nothing has changed.
sqlite3_int64 change_row(Virtual_Table& table, int count, sqlite3_value** values);

}  // namespace joedb

#endif
