#ifndef JOEDB_CLI_SQLITE_OUTPUT_H
#define JOEDB_CLI_SQLITE_OUTPUT_H

#include <string>

#include "cli/database_options.h"
#include "cli/source.h"

namespace joedb {

// A database, and what of it is wanted.
struct Sqlite_Source {
  std::string name;
  std::string options_file = {};  // a .joedbc file, whose indexes are made; empty: none
  Reading_Options reading = {};
  Source_Options source = {};
};

// Makes a file of SQLite at `path`, where no file is; `name` is its name for people. Shows
// progress. Throws Exception.
void write_sqlite(const Sqlite_Source& source, const std::string& path, const std::string& name);

}  // namespace joedb

#endif
