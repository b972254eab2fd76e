#ifndef JOEDB_SRC_EXCHANGE_SQLITE_H
#define JOEDB_SRC_EXCHANGE_SQLITE_H

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "joedb/base/error.h"

// A wrapper for SQLite that throws exceptions, and is safe for hostile files.

namespace joedb {

// An error that SQLite reports. Its text is "FILE: MESSAGE".
class Sqlite_Error : public Exception {
 public:
  using Exception::Exception;
};

// A prepared statement. The connection must outlive it.
class Sqlite_Statement {
 public:
  Sqlite_Statement(sqlite3* connection, const std::string& file, std::string_view sql);

  // Bind a value to a parameter. Parameters are numbered from 1. A text must not change until the
  // next step() or reset().
  void bind(int parameter, std::int64_t value);
  void bind(int parameter, double value);
  void bind_null(int parameter);
  void bind_text(int parameter, std::string_view text);
  void bind_bytes(int parameter, std::string_view bytes);

  // Returns true if there is a row. Throws Sqlite_Error.
  bool step();
  // Resets the statement. The next step() runs it again.
  void reset() { sqlite3_reset(statement_.get()); }

  int column_count() const { return sqlite3_column_count(statement_.get()); }
  // Return a value of the current row. Columns are numbered from 0. Texts and bytes are valid until
  // the next step().
  int type(int column) const { return sqlite3_column_type(statement_.get(), column); }
  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
  double real(int column) const { return sqlite3_column_double(statement_.get(), column); }
  // Returns a text as UTF-8, or the bytes of a blob. Throws std::bad_alloc.
  std::string_view bytes(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  void check(int result) const;

  sqlite3* connection_;
  const std::string& file_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// A database file of SQLite. Used by one thread.
class Sqlite {
 public:
  // `fill`: an empty or absent file that is written once, in one transaction, without syncs; the
  // caller removes it if that fails. `read`: an untrusted file, in one read transaction; its schema
  // cannot run anything. `read_alone`: the same, without the files that SQLite keeps beside it and
  // without locks. `replace`: a file that other programs may have open, whose content is
  // replaced by a backup (copy_sqlite).
  enum class Use { fill, read, read_alone, replace };
  // `name` is the name of the file for people. Throws Sqlite_Error, and Io_Error if the file cannot
  // be opened.
  Sqlite(const std::string& path, std::string name, Use use);

  const std::string& name() const { return name_; }
  // Runs statements without results. Throws Sqlite_Error: "FILE: WHAT: MESSAGE", or "FILE: MESSAGE"
  // if `what` is empty.
  void run(const std::string& sql, const std::string& what = "");
  Sqlite_Statement prepare(std::string_view sql) const { return {connection_.get(), name_, sql}; }
  // Returns the number in the single row of a query; 0 if there is no row. Throws Sqlite_Error.
  std::int64_t number(std::string_view sql) const;
  // A file for `read` in a read-only directory is read without locks, so SQLite cannot detect
  // changes of it. Throws Sqlite_Error if such a file has changed since it was opened.
  void require_unchanged() const;
  // Replaces the whole content by the content of `other`. Throws Sqlite_Error.
  void copy_from(const Sqlite& other);

 private:
  struct Close {
    void operator()(sqlite3* connection) const { sqlite3_close(connection); }
  };
  void read(const std::string& path);
  void read_alone(const std::string& path);
  void begin_reading(const std::string& path);
  void open(const std::string& path, int flags);
  void distrust();

  const std::string name_;
  std::string immutable_;  // path of the file, if it is read without locks
  // Its size and time, and the files beside it.
  struct Version {
    std::uintmax_t size;
    std::filesystem::file_time_type time;
    std::vector<std::string> sidecars;
    bool operator==(const Version&) const = default;
  };
  static Version version_of(const std::string& path);
  Version version_;
  std::unique_ptr<sqlite3, Close> connection_;
};

// Returns true if the file begins like an SQLite database; false also if there is no such file.
bool is_sqlite_file(const std::string& path);

// Returns the existing files beside a database that SQLite treats as a part of it: a rollback
// journal, a write-ahead log and its index.
std::vector<std::string> sqlite_sidecars(const std::string& path);

// Replaces the content of the file `to`, which must be an SQLite database or empty, by that of the
// file `from`. This is one transaction, and is durable when this returns. Programs that have `to`
// open then see the new content. Files that a killed program left beside `to` are recovered by
// SQLite first. `name` is the name of `to` for messages. Throws Sqlite_Error, for example if
// another program keeps `to` locked. The content of `to` is then unchanged.
void copy_sqlite(const std::string& from, const std::string& to, const std::string& name);

// The text "joed" in the header of files that joedb writes. In such a file, the declared type of a
// column is the type of the field.
inline constexpr std::int64_t sqlite_application_id = 0x6a6f6564;

// The name of the column with record ids. No field can have this name.
inline constexpr std::string_view sqlite_id_column = "__id";

}  // namespace joedb

#endif
