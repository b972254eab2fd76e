#ifndef JOEDB_SRC_TOOLS_EXCHANGE_SQLITE_OUTPUT_H
#define JOEDB_SRC_TOOLS_EXCHANGE_SQLITE_OUTPUT_H

#include <string>

#include "tools/frame/database_options.h"
#include "tools/frame/source.h"

namespace joedb {

// A database, and the state of it to export.
struct Sqlite_Source {
  std::string name;
  std::string options_file = {};  // a .joedbc file with the indexes to create; empty: no indexes
  Reading_Options reading = {};
  Source_Options source = {};
};

// Creates an SQLite file at `path`, which must not exist. `name` is its name for messages. Shows
// progress, and prints on standard error which names differ in SQL. Throws Exception.
void write_sqlite(const Sqlite_Source& source, const std::string& path, const std::string& name);

}  // namespace joedb

#endif
