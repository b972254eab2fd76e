#ifndef JOEDB_CLI_SQL_COMMAND_H
#define JOEDB_CLI_SQL_COMMAND_H

#include <functional>

#include "interpreter/command_loop.h"
#include "joedb/table/database.h"

namespace joedb {

// Adds the commands select and with: statements of SQL on the tables as they are, also before a
// checkpoint. Blobs are read from the file; `flush` writes those to it that are not there yet. All
// must outlive the loop. Not with --classic, and not where
// the tools were built without SQLite.
void add_sql_commands(Command_Loop& loop, Database& database, Abstract_File& file,
                      std::function<void()> flush = {});

}  // namespace joedb

#endif
