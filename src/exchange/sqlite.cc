#include "exchange/sqlite.h"

#include <absl/strings/str_cat.h>

#include <climits>
#include <filesystem>
#include <fstream>
#include <new>

#include "kernel/base/standard_descriptors.h"

namespace joedb {

// ---- statements ---------------------------------------------------------------------------------

[[noreturn]] static void fail(sqlite3* connection, const std::string& file, int code) {
  if (code == SQLITE_NOMEM) throw std::bad_alloc();
  if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
    throw Sqlite_Error(file + ": another program is reading or writing the file: end it first");
  if (code == SQLITE_NOTADB) throw Sqlite_Error(file + ": is not an SQLite database");
  const bool has_message = connection != nullptr && sqlite3_errcode(connection) != SQLITE_OK;
  throw Sqlite_Error(file + ": " +
                     (has_message ? sqlite3_errmsg(connection) : sqlite3_errstr(code)));
}

Sqlite_Statement::Sqlite_Statement(sqlite3* connection, const std::string& file,
                                   std::string_view sql)
    : connection_(connection), file_(file) {
  sqlite3_stmt* statement = nullptr;
  const int result =
      sqlite3_prepare_v2(connection, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  statement_.reset(statement);
  check(result);
}

void Sqlite_Statement::check(int result) const {
  if (result != SQLITE_OK) [[unlikely]]
    fail(connection_, file_, result);
}

void Sqlite_Statement::bind(int parameter, std::int64_t value) {
  check(sqlite3_bind_int64(statement_.get(), parameter, value));
}
void Sqlite_Statement::bind(int parameter, double value) {
  check(sqlite3_bind_double(statement_.get(), parameter, value));
}
void Sqlite_Statement::bind_null(int parameter) {
  check(sqlite3_bind_null(statement_.get(), parameter));
}
// A null pointer would bind NULL.
void Sqlite_Statement::bind_text(int parameter, std::string_view text) {
  const char* const data = text.empty() ? "" : text.data();
  check(sqlite3_bind_text64(statement_.get(), parameter, data, text.size(), SQLITE_STATIC,
                            SQLITE_UTF8));
}
void Sqlite_Statement::bind_bytes(int parameter, std::string_view bytes) {
  const char* const data = bytes.empty() ? "" : bytes.data();
  check(sqlite3_bind_blob64(statement_.get(), parameter, data, bytes.size(), SQLITE_STATIC));
}

bool Sqlite_Statement::step() {
  const int result = sqlite3_step(statement_.get());
  if (result == SQLITE_ROW) return true;
  if (result != SQLITE_DONE) fail(connection_, file_, result);
  return false;
}

std::string_view Sqlite_Statement::bytes(int column) const {
  const bool is_text = type(column) == SQLITE_TEXT;
  const void* const data = is_text ? sqlite3_column_text(statement_.get(), column)
                                   : sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  if (data == nullptr && (size > 0 || sqlite3_errcode(connection_) == SQLITE_NOMEM))
    throw std::bad_alloc();
  return {static_cast<const char*>(data), static_cast<std::size_t>(size)};
}

// ---- connections --------------------------------------------------------------------------------

Sqlite::Sqlite(const std::string& path, std::string name, Use use) : name_(std::move(name)) {
  if (use == Use::read) {
    read(path);
  } else if (use == Use::read_alone) {
    read_alone(path);
  } else if (use == Use::replace) {
    open(path, SQLITE_OPEN_READWRITE);
    run("PRAGMA synchronous = FULL");
  } else {
    open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
        "PRAGMA cache_size = -65536; BEGIN");
  }
}

Sqlite::Version Sqlite::version_of(const std::string& path) {
  std::error_code ignored;
  return {std::filesystem::file_size(path, ignored),
          std::filesystem::last_write_time(path, ignored), sqlite_sidecars(path)};
}

// Begins a read transaction. Throws Sqlite_Error if the file is not a database.
void Sqlite::begin_reading(const std::string& path) {
  open(path, SQLITE_OPEN_READONLY);
  distrust();
  run("BEGIN");
  number("SELECT count(*) FROM sqlite_schema");
}

// SQLite must create files beside a database that has a write-ahead log, to read it. If that is
// impossible, opens the database as immutable.
void Sqlite::read(const std::string& path) {
  try {
    begin_reading(path);
  } catch (const Sqlite_Error&) {
    const int code = sqlite3_errcode(connection_.get());
    if (code != SQLITE_READONLY && code != SQLITE_CANTOPEN) throw;
    if (const std::vector<std::string> sidecars = sqlite_sidecars(path); !sidecars.empty())
      throw Sqlite_Error(name_ + ": the program that wrote it has not ended well, or is running: " +
                         sidecars.front() +
                         " belongs to it. SQLite must write to read both: open a copy of both with "
                         "sqlite3, and import that; or --immutable reads " +
                         name_ + " alone, as it is");
    read_alone(path);
  }
}

void Sqlite::read_alone(const std::string& path) {
  immutable_ = path;
  version_ = version_of(path);
  begin_reading(path);
}

void Sqlite::require_unchanged() const {
  if (!immutable_.empty() && version_of(immutable_) != version_)
    throw Sqlite_Error(name_ + ": another program has changed it meanwhile: try again");
}

// Time limit for waiting while another program commits.
static constexpr int patience_ms = 10'000;

static std::string uri_text(const std::string& path) {
  std::string result;
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#')
      absl::StrAppend(&result, "%", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
    else
      result += c;
  }
  return result;
}

// Prefixes a relative path with "./", because names like :memory: have a special meaning.
void Sqlite::open(const std::string& path, int flags) {
  std::string full_path = path.starts_with('/') ? path : "./" + path;
  if (!immutable_.empty()) {
    full_path = "file:" + uri_text(full_path) + "?immutable=1";
    flags |= SQLITE_OPEN_URI;
  }
  sqlite3* connection = nullptr;
  reserve_standard_descriptors();
  const int result = sqlite3_open_v2(full_path.c_str(), &connection, flags, nullptr);
  connection_.reset(connection);
  if (result == SQLITE_CANTOPEN && sqlite3_system_errno(connection) != 0)
    throw_io_error("opening", name_, -1, sqlite3_system_errno(connection));
  if (result != SQLITE_OK) fail(connection, name_, result);
  sqlite3_busy_timeout(connection, patience_ms);
}

// Rows of a table WITHOUT ROWID cannot be read if the collation of its key is not known. Rows are
// not compared here, so any order will do.
static void make_collation(void*, sqlite3* connection, int, const char* name) {
  const auto compare = [](void*, int a_size, const void* a, int b_size, const void* b) {
    const auto text = [](const void* bytes, int size) {
      return std::string_view(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
    };
    return text(a, a_size).compare(text(b, b_size));
  };
  sqlite3_create_collation(connection, name, SQLITE_UTF8, nullptr, compare);
}

// Follows https://www.sqlite.org/security.html. Views and triggers are not used, and tables are
// read without indexes. Therefore nothing in the schema is executed.
void Sqlite::distrust() {
  sqlite3* const c = connection_.get();
  sqlite3_db_config(c, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  for (const int off :
       {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW,
        SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, SQLITE_DBCONFIG_DQS_DDL, SQLITE_DBCONFIG_DQS_DML})
    sqlite3_db_config(c, off, 0, nullptr);
  sqlite3_collation_needed(c, nullptr, make_collation);
  sqlite3_limit(c, SQLITE_LIMIT_SQL_LENGTH, 1'000'000);
  sqlite3_limit(c, SQLITE_LIMIT_ATTACHED, 0);
  run("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA query_only = ON;"
      "PRAGMA cache_size = -16384");
}

void Sqlite::run(const std::string& sql, const std::string& what) {
  const int result = sqlite3_exec(connection_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (result != SQLITE_OK)
    fail(connection_.get(), what.empty() ? name_ : name_ + ": " + what, result);
}

std::int64_t Sqlite::number(std::string_view sql) const {
  Sqlite_Statement statement = prepare(sql);
  return statement.step() ? statement.integer(0) : 0;
}

// ---- replacing ----------------------------------------------------------------------------------

void Sqlite::copy_from(const Sqlite& other) {
  sqlite3* const connection = connection_.get();
  // Remove the write-ahead log, if there is one. Then no files remain beside the database, and its
  // page size can change. If other programs have the file open, SQLite refuses this, and the log
  // remains.
  sqlite3_busy_timeout(connection, 0);
  sqlite3_exec(connection, "PRAGMA journal_mode = DELETE", nullptr, nullptr, nullptr);
  sqlite3_busy_timeout(connection, patience_ms);
  sqlite3_backup* const backup =
      sqlite3_backup_init(connection, "main", other.connection_.get(), "main");
  if (backup == nullptr) fail(connection, name_, sqlite3_errcode(connection));
  constexpr int all_pages = -1;
  const int step = sqlite3_backup_step(backup, all_pages);
  const int end = sqlite3_backup_finish(backup);
  if (step == SQLITE_READONLY)
    throw Sqlite_Error(name_ +
                       ": cannot be written; where another program has it open, with a write-ahead "
                       "log and pages of another size, end that first");
  if (step != SQLITE_DONE) fail(connection, name_, step);
  if (end != SQLITE_OK) fail(connection, name_, end);
}

void copy_sqlite(const std::string& from, const std::string& to, const std::string& name) {
  const Sqlite source(from, name, Sqlite::Use::read);
  Sqlite(to, name, Sqlite::Use::replace).copy_from(source);
}

// ---- files --------------------------------------------------------------------------------------

bool is_sqlite_file(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  constexpr std::string_view magic("SQLite format 3", 16);  // including the zero byte
  std::string start(magic.size(), 0);
  std::ifstream(path, std::ios::binary)
      .read(start.data(), static_cast<std::streamsize>(start.size()));
  return start == magic;
}

std::vector<std::string> sqlite_sidecars(const std::string& path) {
  std::vector<std::string> found;
  std::error_code ignored;
  for (const char* suffix : {"-journal", "-wal", "-shm"})
    if (std::filesystem::exists(path + suffix, ignored)) found.push_back(path + suffix);
  return found;
}

}  // namespace joedb
