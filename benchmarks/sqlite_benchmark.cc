// The same with SQLite: a prepared statement, default settings unless the case says otherwise.

#include <sqlite3.h>

#include <stdexcept>
#include <string>

#include "command_line.h"

class Sqlite {
 public:
  explicit Sqlite(const char* file) { require(sqlite3_open(file, &db_)); }
  ~Sqlite() {
    sqlite3_finalize(statement_);
    sqlite3_close(db_);
  }
  Sqlite(const Sqlite&) = delete;
  Sqlite& operator=(const Sqlite&) = delete;

  void execute(const char* sql) { require(sqlite3_exec(db_, sql, nullptr, nullptr, nullptr)); }
  void create_table() { execute("CREATE TABLE BENCHMARK(NAME TEXT, VALUE INTEGER)"); }

  void prepare(const char* sql) { require(sqlite3_prepare_v2(db_, sql, -1, &statement_, nullptr)); }
  void prepare_insert() { prepare("INSERT INTO BENCHMARK VALUES('TOTO', ?1)"); }
  void insert(std::int64_t value) {
    bind_number(1, value);
    step();
  }
  void bind_text(const std::string& text) {
    sqlite3_bind_text(statement_, 2, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
  }
  void bind_number(int parameter, std::int64_t number) {
    sqlite3_bind_int64(statement_, parameter, number);
  }
  void step() {
    sqlite3_step(statement_);
    require(sqlite3_reset(statement_));
  }
  void reset() { require(sqlite3_reset(statement_)); }
  std::int64_t number() {
    if (sqlite3_step(statement_) != SQLITE_ROW) require(SQLITE_ERROR);
    return sqlite3_column_int64(statement_, 0);
  }

 private:
  void require(int result) {
    if (result != SQLITE_OK)
      throw std::runtime_error(std::string("sqlite: ") + sqlite3_errmsg(db_));
  }

  sqlite3* db_ = nullptr;
  sqlite3_stmt* statement_ = nullptr;
};

static void insert_rows(std::int64_t rows, const char* file) {
  Sqlite db(file);
  db.create_table();
  db.execute("BEGIN TRANSACTION");
  db.prepare_insert();
  for (std::int64_t i = 1; i <= rows; i++) db.insert(i);
  db.execute("END TRANSACTION");
}

static void commit_per_row(std::int64_t rows, const char* file, const char* settings) {
  Sqlite db(file);
  db.execute(settings);
  db.create_table();
  db.prepare_insert();
  for (std::int64_t i = 1; i <= rows; i++) db.insert(i);
}

static void commit_per_row_wal_full(std::int64_t rows, const char* file) {
  commit_per_row(rows, file, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL");
}

static void commit_per_row_wal_normal(std::int64_t rows, const char* file) {
  commit_per_row(rows, file, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL");
}

static void open_and_sum(std::int64_t rows, const char* file) {
  Sqlite db(file);
  db.prepare("SELECT SUM(VALUE) FROM BENCHMARK");
  require_sum(rows, db.number());
}

static void insert_words(std::int64_t rows, const char* file) {
  Sqlite db(file);
  db.execute("CREATE TABLE WORD(TEXT TEXT UNIQUE, NUMBER INTEGER)");
  db.execute("BEGIN TRANSACTION");
  db.prepare("INSERT INTO WORD VALUES(?2, ?1)");
  for (std::int64_t i = 1; i <= rows; i++) {
    db.bind_text(text_of(i));
    db.insert(i);
  }
  db.execute("END TRANSACTION");
}

static void open_and_find(std::int64_t rows, const char* file) {
  Sqlite db(file);
  db.prepare("SELECT NUMBER FROM WORD WHERE TEXT = ?2");
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < rows; i++) {
    db.bind_text(text_of(jump(i, rows)));
    sum += db.number();
    db.reset();
  }
  require_sum(rows, sum);
}

static void open_and_walk(std::int64_t rows, const char* file) {
  Sqlite db(file);
  db.prepare("SELECT NUMBER FROM WORD ORDER BY TEXT");
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < rows; i++) sum += db.number();
  require_sum(rows, sum);
}

// ---- changes of a file that insert_rows made ---------------------------------------------------

static void update_rows(std::int64_t rows, const char* file) {
  Sqlite db(file);
  db.execute("BEGIN TRANSACTION");
  db.prepare("UPDATE BENCHMARK SET VALUE = ?1 WHERE ROWID = ?2");
  for (std::int64_t i = 0; i < rows / 10; i++) {
    db.bind_number(1, i);
    db.bind_number(2, random_row(i, rows));
    db.step();
  }
  db.execute("END TRANSACTION");
}

static void delete_rows(std::int64_t rows, const char* file) {
  Sqlite db(file);
  db.execute("BEGIN TRANSACTION");
  db.prepare("DELETE FROM BENCHMARK WHERE ROWID = ?1");
  for (std::int64_t i = 0; i < rows; i++) {
    db.bind_number(1, jump(i, rows));
    db.step();
  }
  db.execute("END TRANSACTION");
}

// ---- one file, several processes ----------------------------------------------------------------

static void share(std::int64_t rows, const char* file) {
  Sqlite db(file);
  db.execute("PRAGMA busy_timeout=100000; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL");
  db.execute("CREATE TABLE IF NOT EXISTS BENCHMARK(NAME TEXT, VALUE INTEGER)");
  db.prepare_insert();
  for (std::int64_t i = 1; i <= rows; i++) {
    db.execute("BEGIN IMMEDIATE");
    db.insert(i);
    db.execute("COMMIT");
  }
}

static void share_by_two(std::int64_t rows, const char* file) {
  in_two_processes(share, rows, file);
}

int main(int argc, char** argv) {
  constexpr Case cases[] = {
      {"insert_rows", insert_rows},
      {"commit_per_row_wal_full", commit_per_row_wal_full},
      {"commit_per_row_wal_normal", commit_per_row_wal_normal},
      {"open_and_sum", open_and_sum},
      {"insert_words", insert_words},
      {"open_and_find", open_and_find},
      {"open_and_walk", open_and_walk},
      {"update_rows", update_rows},
      {"delete_rows", delete_rows},
      {"share", share},
      {"share_by_two", share_by_two},
  };
  return run_case(cases, argc, argv);
}
