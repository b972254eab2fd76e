#ifndef JOEDB_SRC_SQL_LIVE_SQL_H
#define JOEDB_SRC_SQL_LIVE_SQL_H

#include <memory>
#include <string>

#include "joedb/table/database.h"

struct sqlite3;

namespace joedb {

// Runs SELECT on a database in memory. Its owner may change the database between statements.
// Changes are visible even without a checkpoint. SQL can neither write tables nor open other files,
// and cannot read past states.
//
// Not thread-safe.
class Live_Sql {
 public:
  // `database` and `file` must outlive this object. Blobs are read from the file, so the file must
  // have them when a statement runs.
  Live_Sql(Database& database, Abstract_File& file) : database_(database), file_(file) {}
  Live_Sql(const Live_Sql&) = delete;
  Live_Sql& operator=(const Live_Sql&) = delete;

  // Returns a connection to the current tables and fields of the database. The connection is valid
  // until the next call. Before that call, all its statements must be finalized. Throws Exception
  // or std::bad_alloc.
  sqlite3* connection();

 private:
  struct Close {
    void operator()(sqlite3* connection) const;
  };

  Database& database_;
  Abstract_File& file_;
  std::unique_ptr<sqlite3, Close> connection_;
  std::string schema_;  // the schema for which connection_ was made
};

}  // namespace joedb

#endif
