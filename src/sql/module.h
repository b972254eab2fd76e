#ifndef JOEDB_SRC_SQL_MODULE_H
#define JOEDB_SRC_SQL_MODULE_H

#include <memory>

#include "sql/shared_file.h"

namespace joedb {

// Like register_joedb (sql/register_joedb.h), but with files that may already be open.
int register_files(sqlite3* connection, std::unique_ptr<Shared_Files> files);

}  // namespace joedb

#endif
