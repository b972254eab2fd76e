#ifndef SQL_LIVE_SQL_H
#define SQL_LIVE_SQL_H

#include <memory>
#include <string>

#include "joedb/table/database.h"

struct sqlite3;

namespace joedb {

// SELECT on a database in memory, which its owner changes between statements: what has no
// checkpoint yet is seen, too. Tables cannot be written by SQL, no other files can be opened, and
// there are no past states.
//
// Not thread-safe.
class Live_Sql {
 public:
  // Both must outlive it. Blobs are read from the file: it must have them when a statement runs.
  Live_Sql(Database& database, Abstract_File& file) : database_(database), file_(file) {}
  Live_Sql(const Live_Sql&) = delete;
  Live_Sql& operator=(const Live_Sql&) = delete;

  // A connection that has the tables and fields of the database as they are now. Valid until the
  // next call, at which no statement of it may be left. Throws Exception, std::bad_alloc.
  sqlite3* connection();

 private:
  struct Close {
    void operator()(sqlite3* connection) const;
  };

  Database& database_;
  Abstract_File& file_;
  std::unique_ptr<sqlite3, Close> connection_;
  std::string schema_;  // that the connection knows
};

}  // namespace joedb

#endif
