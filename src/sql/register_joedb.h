#ifndef SQL_REGISTER_JOEDB_H
#define SQL_REGISTER_JOEDB_H

#include <functional>
#include <memory>
#include <string>

#include "joedb/io/file.h"

struct sqlite3;

// SQL on joedb files, by SQLite: docs/sql.md.

namespace joedb {

inline constexpr int least_sqlite_version = 3'037'000;

// Opens what a name of a file means, to be read. Throws Exception.
using File_Opener = std::function<std::unique_ptr<Abstract_File>(const std::string& name)>;

// Whether there is a function joedb_alter(FILE, COMMANDS), which changes tables and fields by
// commands of joedbi. It is called in a SELECT: programs that let others write SELECTs, and nothing
// else, must not have it.
enum class Schema_Changes { refused, allowed };

// Makes the module `joedb` and the functions `joedb_open`, `joedb_close`, `joedb_seal` and
// `joedb_is_sealed` known to a connection. Returns a code of SQLite: SQLITE_AUTH if the connection
// has them and is sealed. Without an opener, names are those of files.
int register_joedb(sqlite3* connection, File_Opener opener = {},
                   Schema_Changes schema_changes = Schema_Changes::refused);

}  // namespace joedb

#endif
