#ifndef JOEDB_SRC_SQL_OPEN_H
#define JOEDB_SRC_SQL_OPEN_H

#include "sql/shared_file.h"

namespace joedb {

// Returns how long a connection waits for the lock of a file. This is its busy timeout in SQLite
// or, without one, default_busy_timeout.
System::Duration patience_of(sqlite3* connection);

// Registers joedb_open(FILE[, OPTIONS[, SCHEMA]]), joedb_close(FILE), joedb_hidden(), joedb_seal()
// and joedb_is_sealed() on the connection of `files`, which must outlive these functions. Returns
// an SQLite result code.
int register_open(sqlite3* connection, Shared_Files& files);
// Returns true if the functions are registered and joedb_seal() was called.
bool is_sealed(sqlite3* connection);
// Registers joedb_alter(FILE, COMMANDS), and the functions for CREATE TABLE and ADD COLUMN, in the
// same way.
int register_alter(sqlite3* connection, Shared_Files& files);

}  // namespace joedb

#endif
