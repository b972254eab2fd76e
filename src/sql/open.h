#ifndef SQL_OPEN_H
#define SQL_OPEN_H

#include "sql/shared_file.h"

namespace joedb {

// Makes the functions joedb_open(FILE[, OPTIONS[, SCHEMA]]) and joedb_close(FILE) known to the
// connection of these files, which they must not outlive. Returns a code of SQLite.
int register_open(sqlite3* connection, Shared_Files& files);

}  // namespace joedb

#endif
