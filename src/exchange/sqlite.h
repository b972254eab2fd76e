#ifndef JOEDB_EXCHANGE_SQLITE_H
#define JOEDB_EXCHANGE_SQLITE_H

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/base/error.h"

// SQLite, with exceptions, and without what a hostile file could make it do.

namespace joedb {

// What SQLite says: "FILE: MESSAGE".
class Sqlite_Error : public Exception {
 public:
  using Exception::Exception;
};

// A prepared statement. The connection must outlive it.
class Sqlite_Statement {
 public:
  Sqlite_Statement(sqlite3* connection, const std::string& file, std::string_view sql);

  // Parameters count from 1; texts must stay as they are until the next step() or reset().
  void bind(int parameter, std::int64_t value);
  void bind(int parameter, double value);
  void bind_null(int parameter);
  void bind_text(int parameter, std::string_view text);
  void bind_bytes(int parameter, std::string_view bytes);

  // Whether there is a row. Throws Sqlite_Error.
  bool step();
  // For the next step(), which runs it again.
  void reset() { sqlite3_reset(statement_.get()); }

  int column_count() const { return sqlite3_column_count(statement_.get()); }
  // Values of the row; columns count from 0. Texts and bytes are valid until the next step().
  int type(int column) const { return sqlite3_column_type(statement_.get(), column); }
  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
  double real(int column) const { return sqlite3_column_double(statement_.get(), column); }
  // Of a text in UTF-8, of a blob as they are. Throws std::bad_alloc.
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
  // `fill`: an empty or absent file that is written once, by one transaction, and removed if that
  // fails: nothing is synced. `read`: a file that nobody trusts, in one read transaction: its
  // schema cannot run anything. `replace`: a file that others may have open, whose content a backup
  // replaces (copy_sqlite).
  enum class Use { fill, read, replace };
  // `name` is that of the file for people. Throws Sqlite_Error.
  Sqlite(const std::string& path, std::string name, Use use);

  const std::string& name() const { return name_; }
  // Statements without results. Throws Sqlite_Error: "FILE: WHAT: MESSAGE", without a `what` only
  // "FILE: MESSAGE".
  void run(const std::string& sql, const std::string& what = "");
  Sqlite_Statement prepare(std::string_view sql) const { return {connection_.get(), name_, sql}; }
  // The only number of the only row. Throws Sqlite_Error.
  std::int64_t number(std::string_view sql) const;
  // Replaces all of the content by that of another file. Throws Sqlite_Error.
  void copy_from(const Sqlite& other);

 private:
  struct Close {
    void operator()(sqlite3* connection) const { sqlite3_close(connection); }
  };
  void open(const std::string& path, int flags);
  void distrust();

  const std::string name_;
  std::unique_ptr<sqlite3, Close> connection_;
};

// Whether a file begins as those of SQLite do; false if there is no such file.
bool is_sqlite_file(const std::string& path);

// The files that SQLite keeps beside a database, and takes for a part of it: a rollback journal, a
// write-ahead log and its index. Those that are there.
std::vector<std::string> sqlite_sidecars(const std::string& path);

// Gives the file `to`, which is one of SQLite or empty, the content of the file `from`, in one
// transaction that is on the disk in the end: programs that have it open see the new content next,
// and what a killed program has left beside it is used up. `name` is that of `to` for people.
// Throws Sqlite_Error, also if another program keeps it locked: then its content has not changed.
void copy_sqlite(const std::string& from, const std::string& to, const std::string& name);

// "joed", in the header of the files that joedb writes: in them, the types of columns are those of
// joedb fields.
inline constexpr std::int64_t sqlite_application_id = 0x6a6f6564;

// The column that is the record id. No field can have this name.
inline constexpr std::string_view sqlite_id_column = "__id";

}  // namespace joedb

#endif
