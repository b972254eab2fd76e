#ifndef TESTING_SQL_SESSION_H
#define TESTING_SQL_SESSION_H

#include <string>
#include <string_view>
#include <vector>

#include "sql/register_joedb.h"
#include "sql/sqlite_api.h"

namespace joedb::testing {

// A connection of SQLite, in memory, that knows joedb.
class Sql_Session {
 public:
  explicit Sql_Session(File_Opener opener = {});
  ~Sql_Session();
  Sql_Session(const Sql_Session&) = delete;
  Sql_Session& operator=(const Sql_Session&) = delete;

  sqlite3* connection() const { return connection_; }

  // The rows of the last statement, each with its values by type: `1|'text'|2.5|x'00'|NULL`. Throws
  // Exception with the message of SQLite.
  std::vector<std::string> rows(std::string_view sql);
  // The rows, one on a line; or "error: MESSAGE".
  std::string run(std::string_view sql);

  // One value as rows() shows it.
  static std::string shown(sqlite3_stmt* statement, int column);

 private:
  sqlite3* connection_ = nullptr;
};

}  // namespace joedb::testing

#endif
