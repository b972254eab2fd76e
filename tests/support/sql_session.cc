#include "support/sql_session.h"

#include <cstdio>
#include <utility>

namespace joedb::testing {

Sql_Session::Sql_Session(File_Opener opener) {
  sqlite3_open(":memory:", &connection_);
  register_joedb(connection_, std::move(opener), Schema_Changes::allowed);
}

Sql_Session::~Sql_Session() { sqlite3_close(connection_); }

std::string Sql_Session::shown(sqlite3_stmt* statement, int column) {
  const auto bytes = [&] {
    const void* const data = sqlite3_column_blob(statement, column);
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
    return std::string_view(static_cast<const char*>(data), size);
  };
  char buffer[64];
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return std::to_string(sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT:
      std::snprintf(buffer, sizeof buffer, "%.17g", sqlite3_column_double(statement, column));
      return std::string_view(buffer).find_first_of(".en") == std::string_view::npos
                 ? std::string(buffer) + ".0"
                 : buffer;
    case SQLITE_TEXT:
      return "'" + std::string(bytes()) + "'";
    case SQLITE_BLOB: {
      std::string text = "x'";
      for (const char c : bytes()) {
        std::snprintf(buffer, sizeof buffer, "%02x", static_cast<unsigned char>(c));
        text += buffer;
      }
      return text + "'";
    }
    default:
      return "NULL";
  }
}

std::vector<std::string> Sql_Session::rows(std::string_view sql) {
  std::vector<std::string> result;
  const char* rest = sql.data();
  const char* const end = rest + sql.size();
  while (rest < end) {
    sqlite3_stmt* statement = nullptr;
    int code =
        sqlite3_prepare_v2(connection_, rest, static_cast<int>(end - rest), &statement, &rest);
    if (code == SQLITE_OK && statement == nullptr) break;  // only spaces are left
    result.clear();
    while (code == SQLITE_OK || code == SQLITE_ROW) {
      code = sqlite3_step(statement);
      if (code != SQLITE_ROW) break;
      std::string row;
      for (int i = 0; i < sqlite3_column_count(statement); ++i)
        row += (i > 0 ? "|" : "") + shown(statement, i);
      result.push_back(std::move(row));
    }
    const std::string message = sqlite3_errmsg(connection_);
    sqlite3_finalize(statement);
    if (code != SQLITE_DONE) throw Exception(message);
  }
  return result;
}

std::string Sql_Session::run(std::string_view sql) {
  try {
    std::string text;
    for (const std::string& row : rows(sql)) text += (text.empty() ? "" : "\n") + row;
    return text;
  } catch (const Exception& error) {
    return std::string("error: ") + error.what();
  }
}

}  // namespace joedb::testing
