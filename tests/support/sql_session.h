#ifndef JOEDB_TESTS_SUPPORT_SQL_SESSION_H
#define JOEDB_TESTS_SUPPORT_SQL_SESSION_H

#include <string>
#include <string_view>
#include <vector>

#include "sql/register_joedb.h"
#include "sql/sqlite_api.h"

namespace joedb::testing {

// An in-memory connection of SQLite with the joedb module.
class Sql_Session {
 public:
  explicit Sql_Session(File_Opener opener = {});
  ~Sql_Session();
  Sql_Session(const Sql_Session&) = delete;
  Sql_Session& operator=(const Sql_Session&) = delete;

  sqlite3* connection() const { return connection_; }

  // Returns the rows of the last statement, each with its values by type:
  // `1|'text'|2.5|x'00'|NULL`. Throws Exception with the message of SQLite.
  std::vector<std::string> rows(std::string_view sql);
  // Returns the rows, one on each line, or "error: MESSAGE".
  std::string run(std::string_view sql);

  // Returns one value as rows() shows it.
  static std::string shown(sqlite3_stmt* statement, int column);

 private:
  sqlite3* connection_ = nullptr;
};

}  // namespace joedb::testing

#endif
