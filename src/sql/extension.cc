// The entry points of the loadable extension.

#include <sqlite3ext.h>

#include "sql/register_joedb.h"

extern "C" {

SQLITE_EXTENSION_INIT1

// SQLite looks for the first name and, if it does not exist, for the second, which it derives from
// the name of the file.
[[gnu::visibility("default")]] int sqlite3_extension_init(sqlite3* connection, char** message,
                                                          const sqlite3_api_routines* api);
[[gnu::visibility("default")]] int sqlite3_joedbsqlite_init(sqlite3* connection, char** message,
                                                            const sqlite3_api_routines* api);

int sqlite3_extension_init(sqlite3* connection, char** message, const sqlite3_api_routines* api) {
  SQLITE_EXTENSION_INIT2(api)
  if (sqlite3_libversion_number() < joedb::min_sqlite_version) {
    *message =
        sqlite3_mprintf("joedb needs SQLite 3.37 or newer, and this is %s", sqlite3_libversion());
    return SQLITE_ERROR;
  }
  const int result = joedb::register_joedb(connection);
  if (result == SQLITE_AUTH) *message = sqlite3_mprintf("this connection is sealed");
  // The library must stay loaded, because the signal handler for mapped snapshots stays installed.
  return result == SQLITE_OK ? SQLITE_OK_LOAD_PERMANENTLY : result;
}

int sqlite3_joedbsqlite_init(sqlite3* connection, char** message, const sqlite3_api_routines* api) {
  return sqlite3_extension_init(connection, message, api);
}
}
