#ifndef JOEDB_SRC_EXCHANGE_SQLITE_EXPORT_H
#define JOEDB_SRC_EXCHANGE_SQLITE_EXPORT_H

#include <functional>
#include <string>
#include <vector>

#include "joedb/io/file.h"
#include "joedb/table/database.h"

namespace joedb {

// Writes a database as an SQLite database. Each table becomes a table with a column for each field,
// and with the record id as INTEGER PRIMARY KEY "__id".
//
// The declared types of columns are Sql_Types::exact, so that an import restores the fields;
// comments in the CREATE TABLE declare their logical types (kernel/table/declaration.h). A null
// reference or blob and a missing value is NULL, and so is nan, for which SQLite has no value; -0
// becomes 0. A string that is not UTF-8, or has zero bytes, where most functions of SQLite would
// end it, becomes a BLOB. Values of logical types are their texts; but decimals are numbers, or if
// SQLite would lose digits, BLOBs with their texts. Tables that are too_wide_for_sql (text/sql.h)
// are left out.
struct Sqlite_Export {
  const Database& database;
  const Abstract_File& file;  // has the bytes of blobs
  std::vector<Index_Definition> indexes = {};
  std::function<void(index_t)> progress = [](index_t) {};  // called with the number of rows

  // Writes the file, which must be absent or empty, without syncing it. `name` is its name for
  // messages. Throws Exception if SQLite does not allow a name, Sqlite_Error, and Io_Error if the
  // file cannot be opened. After an exception, the file is incomplete.
  void write(const std::string& path, const std::string& name) const;
};

}  // namespace joedb

#endif
