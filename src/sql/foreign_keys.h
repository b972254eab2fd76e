#ifndef JOEDB_SRC_SQL_FOREIGN_KEYS_H
#define JOEDB_SRC_SQL_FOREIGN_KEYS_H

#include "sql/shared_file.h"

namespace joedb {

// Registers the table joedb_foreign_keys, which has a row for each reference of the tables that
// joedb_open has made: PRAGMA foreign_key_list knows no keys of virtual tables. `files` must
// outlive the table. Returns an SQLite result code.
int register_foreign_keys(sqlite3* connection, Shared_Files& files);

}  // namespace joedb

#endif
