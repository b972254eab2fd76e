#ifndef JOEDB_SRC_SQL_REGISTER_JOEDB_H
#define JOEDB_SRC_SQL_REGISTER_JOEDB_H

#include <functional>
#include <memory>
#include <string>

#include "joedb/io/file.h"

struct sqlite3;

// Makes joedb files accessible to SQL in SQLite: docs/sql.md.

namespace joedb {

inline constexpr int min_sqlite_version = 3'037'000;

// Opens a file for reading. Throws Exception.
using File_Opener = std::function<std::unique_ptr<Abstract_File>(const std::string& name)>;

// Whether to register the function joedb_alter(FILE, COMMANDS), which changes tables and fields by
// commands of joedbi. This function is called in a SELECT. Therefore a program must not allow it if
// it executes SELECT statements, and only these, for others.
enum class Schema_Changes { refused, allowed };

// Registers the module `joedb`, and the functions `joedb_open`, `joedb_close`, `joedb_seal` and
// `joedb_is_sealed`, on a connection. Without an opener, names are paths of files. Returns an
// SQLite result code, which is SQLITE_AUTH if the connection is already sealed.
int register_joedb(sqlite3* connection, File_Opener opener = {},
                   Schema_Changes schema_changes = Schema_Changes::refused);

}  // namespace joedb

#endif
