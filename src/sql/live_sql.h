#ifndef JOEDB_SRC_SQL_LIVE_SQL_H
#define JOEDB_SRC_SQL_LIVE_SQL_H

#include <memory>
#include <string>

#include "joedb/table/database.h"

struct sqlite3;

namespace joedb {

// Runs SELECT on a database in memory, which its owner may change between statements. Changes
// without a checkpoint are visible, too. SQL can neither write tables nor open other files, and
// there are no past states.
//
// Not thread-safe.
class Live_Sql {
 public:
  // `database` and `file` must outlive the object. Blobs are read from the file, which must have
  // them when a statement runs.
  Live_Sql(Database& database, Abstract_File& file) : database_(database), file_(file) {}
  Live_Sql(const Live_Sql&) = delete;
  Live_Sql& operator=(const Live_Sql&) = delete;

  // Returns a connection that has the current tables and fields of the database. It is valid until
  // the next call, before which all its statements must be finalized. Throws Exception,
  // std::bad_alloc.
  sqlite3* connection();

 private:
  struct Close {
    void operator()(sqlite3* connection) const;
  };

  Database& database_;
  Abstract_File& file_;
  std::unique_ptr<sqlite3, Close> connection_;
  std::string schema_;  // schema of connection_
};

}  // namespace joedb

#endif
