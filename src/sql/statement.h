#ifndef JOEDB_SRC_SQL_STATEMENT_H
#define JOEDB_SRC_SQL_STATEMENT_H

#include <new>
#include <string>

#include "sql/sqlite_api.h"

namespace joedb {

// A statement that this module executes on the connection of the user.
class Statement {
 public:
  // Throws std::bad_alloc, or Exception with the message of SQLite.
  Statement(sqlite3* connection, const std::string& sql) : connection_(connection) {
    check(sqlite3_prepare_v2(connection, sql.c_str(), static_cast<int>(sql.size()), &statement_,
                             nullptr));
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Returns true if there is a row. Throws the same exceptions as the constructor.
  bool step() {
    const int code = sqlite3_step(statement_);
    if (code != SQLITE_ROW && code != SQLITE_DONE) check(code);
    return code == SQLITE_ROW;
  }
  std::string text(int column) const {
    const auto* const bytes = sqlite3_column_text(statement_, column);
    return bytes ? reinterpret_cast<const char*>(bytes) : "";
  }

 private:
  void check(int code) const {
    if (code == SQLITE_NOMEM) throw std::bad_alloc();
    if (code != SQLITE_OK) throw Exception(sqlite3_errmsg(connection_));
  }
  sqlite3* const connection_;
  sqlite3_stmt* statement_ = nullptr;
};

}  // namespace joedb

#endif
