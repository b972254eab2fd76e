#ifndef JOEDB_SRC_TOOLS_EXCHANGE_SQL_COMMAND_H
#define JOEDB_SRC_TOOLS_EXCHANGE_SQL_COMMAND_H

#include <functional>

#include "commands/command_loop.h"
#include "joedb/table/database.h"

namespace joedb {

// Adds the commands `select` and `with`: SQL statements on the current tables, including changes
// without a checkpoint. Blobs are read from the file. `flush` is called before each statement, to
// write buffered blobs to the file. All arguments must outlive the loop. Does nothing with
// --classic, and if the tools were built without SQLite.
void add_sql_commands(Command_Loop& loop, Database& database, Abstract_File& file,
                      std::function<void()> flush = {});

}  // namespace joedb

#endif
