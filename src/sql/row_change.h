#ifndef JOEDB_SRC_SQL_ROW_CHANGE_H
#define JOEDB_SRC_SQL_ROW_CHANGE_H

#include "sql/virtual_table.h"

namespace joedb {

// Implements xUpdate: deletes, inserts or updates one record, according to the arguments of SQLite,
// in the transaction of the file. Returns the id of an inserted record, otherwise 0.
//
// Values are converted to the type of the field as in a STRICT table of SQLite: texts that look
// like numbers become numbers, and a conversion that would lose information fails. NULL becomes nan
// in a field of floats, and null in a reference or blob. In other fields, NULL becomes the default
// value on insertion, and if the conflict is resolved by REPLACE; otherwise it violates NOT NULL.
//
// With REPLACE, deletes other records that have the same unique key. Throws Sql_Error with the code
// of the violated constraint, Exception, Io_Error or std::bad_alloc; nothing has changed then.
sqlite3_int64 change_row(Virtual_Table& table, int count, sqlite3_value** values);

}  // namespace joedb

#endif
