#ifndef JOEDB_SRC_EXCHANGE_SQLITE_ROWS_H
#define JOEDB_SRC_EXCHANGE_SQLITE_ROWS_H

#include <functional>
#include <span>
#include <string>

#include "exchange/cell.h"
#include "exchange/sqlite_schema.h"

namespace joedb {

// Limits the amount of data read from an SQLite file, because in a damaged file, a few pages may
// look like an endless table.
class Sqlite_Budget {
 public:
  // `progress` is called regularly with the number of bytes read so far.
  explicit Sqlite_Budget(
      const Sqlite& file, std::function<void(std::int64_t)> progress = [](std::int64_t) {});

  // Counts a row with `bytes` bytes of content. Throws Sqlite_Error if the rows exceed the limit
  // for the size of the file.
  void add(std::size_t bytes) {
    used_ += static_cast<std::int64_t>(bytes) + 1;
    if (used_ >= next_) [[unlikely]]
      report();
  }
  std::int64_t used() const { return used_; }
  // Returns the size of the file in bytes.
  std::int64_t file_size() const { return file_size_; }

 private:
  void report();

  const Sqlite& file_;
  const std::function<void(std::int64_t)> progress_;
  const std::int64_t file_size_;
  std::int64_t used_ = 0;
  std::int64_t next_ = 0;
};

// Returns the cell for a field that has JSON: a text is JSON.
inline Cell json_cell(const Cell& cell) {
  return cell.kind() == Cell::Kind::text ? Cell::of(Cell::Kind::json, cell.text()) : cell;
}

// Reads the rows of a table in the order in which they are stored.
class Sqlite_Rows {
 public:
  // All arguments must outlive this object. Throws Sqlite_Error.
  Sqlite_Rows(const Sqlite& file, const Sqlite_Table& table, Sqlite_Budget& budget);

  // Reads a row. Returns false at the end. Throws Sqlite_Error.
  bool next();
  // Returns the rowid. If the table has no rowids, returns the number of the row, from 1.
  std::int64_t place() const { return place_; }
  // Returns the place of a row as text: "rowid 7" or "row 3".
  static std::string place_text(const Sqlite_Table& table, std::int64_t place);

  // Columns of the table are numbered from 0. Texts are valid until next().
  void add_to(std::span<Sqlite_Values> values) const;
  Cell cell(std::size_t column) const;

 private:
  // Returns false if the value may be a default that is not stored in the row.
  bool is_stored(int column) const;

  const Sqlite_Table& table_;
  Sqlite_Budget& budget_;
  const std::string& file_name_;
  const int first_;  // number of the first table column in the statement
  Sqlite_Statement statement_;
  bool has_row_ = false;
  std::int64_t place_ = 0;
};

}  // namespace joedb

#endif
