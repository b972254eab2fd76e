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

// SQLite with exceptions, and with protection against hostile files.

namespace joedb {

// An error that SQLite reports: "FILE: MESSAGE".
class Sqlite_Error : public Exception {
 public:
  using Exception::Exception;
};

// A prepared statement. The connection must outlive it.
class Sqlite_Statement {
 public:
  Sqlite_Statement(sqlite3* connection, const std::string& file, std::string_view sql);

  // Bind parameters, which count from 1. Texts must not change until the next step() or reset().
  void bind(int parameter, std::int64_t value);
  void bind(int parameter, double value);
  void bind_null(int parameter);
  void bind_text(int parameter, std::string_view text);
  void bind_bytes(int parameter, std::string_view bytes);

  // Returns true if there is a row. Throws Sqlite_Error.
  bool step();
  // Prepares for the next step(), which runs the statement again.
  void reset() { sqlite3_reset(statement_.get()); }

  int column_count() const { return sqlite3_column_count(statement_.get()); }
  // Values of the current row. Columns count from 0. Texts and bytes are valid until the next
  // step().
  int type(int column) const { return sqlite3_column_type(statement_.get(), column); }
  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
  double real(int column) const { return sqlite3_column_double(statement_.get(), column); }
  // Returns a text in UTF-8, or the bytes of a blob. Throws std::bad_alloc.
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
  // Returns the only number of the only row; 0 if there is no row. Throws Sqlite_Error.
  std::int64_t number(std::string_view sql) const;
  // Throws Sqlite_Error if the file has changed since it was opened, and SQLite cannot see this: a
  // file for `read` in a directory that cannot be written is read without locks.
  void require_unchanged() const;
  // Replaces the whole content by that of another file. Throws Sqlite_Error.
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

// Returns true if the file begins like a database of SQLite; false if there is no such file.
bool is_sqlite_file(const std::string& path);

// Returns the existing files that SQLite keeps beside a database and treats as a part of it: a
// rollback journal, a write-ahead log and its index.
std::vector<std::string> sqlite_sidecars(const std::string& path);

// Gives the file `to`, which must be an SQLite database or empty, the content of the file `from`,
// in one transaction that is on the disk when this returns. Programs that have `to` open see the
// new content next, and the files that a killed program left beside it are used up. `name` is the
// name of `to` for people. Throws Sqlite_Error, also if another program keeps `to` locked: then the
// content of `to` is unchanged.
void copy_sqlite(const std::string& from, const std::string& to, const std::string& name);

// "joed", in the header of the files that joedb writes. In these files, the declared types of
// columns are those of joedb fields.
inline constexpr std::int64_t sqlite_application_id = 0x6a6f6564;

// The column with the record id. No field can have this name.
inline constexpr std::string_view sqlite_id_column = "__id";

}  // namespace joedb

#endif
