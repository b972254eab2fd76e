#include "sql/live_sql.h"

#include "sql/module.h"
#include "sql/shared_file.h"
#include "sql/statement.h"
#include "text/sql.h"

namespace joedb {

void Live_Sql::Close::operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }

// Compared instead of schema_version(), because a database may be replaced by an equal one.
static std::string schema_of(const Database& database) {
  std::string schema = database.schema_entries();
  for (const std::string& declaration : database.declarations()) schema += declaration;
  return schema;
}

sqlite3* Live_Sql::connection() {
  if (connection_ != nullptr && schema_ == schema_of(database_)) return connection_.get();
  connection_.reset();
  sqlite3* opened = nullptr;
  const int code = sqlite3_open(":memory:", &opened);
  connection_.reset(opened);
  if (code != SQLITE_OK) throw std::bad_alloc();
  auto files = std::make_unique<Shared_Files>(opened, File_Opener());
  const std::string& name = file_.get_name();
  const auto file = std::make_shared<Shared_File>(database_, file_);
  files->add(name, file);
  if (register_files(opened, std::move(files)) != SQLITE_OK) throw std::bad_alloc();
  Statement(opened, "SELECT joedb_open(" + sql_text(name) + ")").step();
  Statement(opened, "SELECT joedb_seal()").step();
  schema_ = schema_of(database_);
  return opened;
}

}  // namespace joedb
