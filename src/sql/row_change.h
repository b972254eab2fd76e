#ifndef SQL_ROW_CHANGE_H
#define SQL_ROW_CHANGE_H

#include "sql/virtual_table.h"

namespace joedb {

// xUpdate: the arguments of SQLite mean a deletion, an insertion or an update of one record, which
// is made in the transaction of the file. Returns the id of a new record, else 0.
//
// Values become those of the field as in a STRICT table of SQLite: numbers for texts that look like
// them, and nothing that would be lost. A NULL is nan in a field of floats, null in a reference or
// blob; in other fields it is the default value on insertion, and where the conflict is
// resolved by REPLACE, and else violates NOT NULL.
//
// With REPLACE, others that have its unique key are deleted. Throws Sql_Error with the code of the
// constraint that is violated, Exception, Io_Error, std::bad_alloc: nothing has changed then.
sqlite3_int64 change_row(Virtual_Table& table, int count, sqlite3_value** values);

}  // namespace joedb

#endif
