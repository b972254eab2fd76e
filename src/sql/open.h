#ifndef SQL_OPEN_H
#define SQL_OPEN_H

#include "sql/shared_file.h"

namespace joedb {

// How long a connection waits for the lock of a file: as long as for those of SQLite; where it does
// not, five seconds.
System::Duration patience_of(sqlite3* connection);

// Makes the functions joedb_open(FILE[, OPTIONS[, SCHEMA]]), joedb_close(FILE), joedb_seal() and
// joedb_is_sealed() known to the connection of these files, which they must not outlive. Returns a
// code of SQLite.
int register_open(sqlite3* connection, Shared_Files& files);
// Whether these functions are there, and joedb_seal() was called.
bool is_sealed(sqlite3* connection);
// The same for joedb_alter(FILE, COMMANDS).
int register_alter(sqlite3* connection, Shared_Files& files);

}  // namespace joedb

#endif
