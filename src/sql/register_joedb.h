#ifndef JOEDB_SRC_SQL_REGISTER_JOEDB_H
#define JOEDB_SRC_SQL_REGISTER_JOEDB_H

#include <functional>
#include <memory>
#include <string>

#include "joedb/io/file.h"

struct sqlite3;

// SQL on joedb files, by SQLite: docs/sql.md.

namespace joedb {

inline constexpr int min_sqlite_version = 3'037'000;

// Opens the file with this name, for reading. Throws Exception.
using File_Opener = std::function<std::unique_ptr<Abstract_File>(const std::string& name)>;

// Controls whether there is a function joedb_alter(FILE, COMMANDS), which changes tables and fields
// by commands of joedbi. It is called in a SELECT: programs that let others write SELECTs, and
// nothing else, must refuse it.
enum class Schema_Changes { refused, allowed };

// Registers the module `joedb` and the functions `joedb_open`, `joedb_close`, `joedb_seal` and
// `joedb_is_sealed` on a connection. Returns an SQLite result code: SQLITE_AUTH if the connection
// already has them and is sealed. Without an opener, names are paths of files.
int register_joedb(sqlite3* connection, File_Opener opener = {},
                   Schema_Changes schema_changes = Schema_Changes::refused);

}  // namespace joedb

#endif
