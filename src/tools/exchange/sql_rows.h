#ifndef JOEDB_SRC_TOOLS_EXCHANGE_SQL_ROWS_H
#define JOEDB_SRC_TOOLS_EXCHANGE_SQL_ROWS_H

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "text/columns.h"
#include "text/display.h"

struct sqlite3;
struct sqlite3_stmt;

namespace joedb {

// The output formats for rows of an SQL statement.
enum class Row_Format : std::uint8_t { table, csv, json, markdown };

// Runs a statement, and writes its rows.
//
// table: columns as wide as their values in the first 1000 rows. csv: a header, then rows as in RFC
// 4180, with LF; NULL is empty, an empty text is "". json: an array of objects, one per line; a
// blob is {"base64": "…"}. markdown: a table. In the formats table and markdown, control characters
// become ?, and a blob becomes X'…'.
class Sql_Rows {
 public:
  Sql_Rows(sqlite3_stmt* statement, Row_Format format, std::ostream& out, const Display& display);

  // Returns an SQLite result code: SQLITE_DONE on success. Writes nothing if the statement has no
  // columns. Throws Display_Stopped if the user stops the output.
  int run();

 private:
  using Row = std::vector<std::string>;
  using Rows = std::vector<Row>;

  template <class Format>
  void append_row(std::string& line, const Format& format) const;
  Row read_table_row();
  int run_table();
  int run_csv();
  int run_json();
  void write_table_rows(const Rows& rows);
  void write_markdown_rows(const Rows& rows);
  void write_heading(const Rows& first_rows);
  void write_line();

  sqlite3_stmt* const statement_;
  const Row_Format format_;
  std::ostream& out_;
  const Display& display_;
  const int columns_;
  Text_Columns layout_;  // texts are left-aligned
};

// Makes statements of the connection end with SQLITE_INTERRUPT, from now on, when the display is
// stopped. `display` must outlive the statements.
void interrupt_when_stopped(sqlite3* connection, Display& display);

// Returns the last error of a connection, for the statement at offset `start` of `text`. If `text`
// has several lines, includes the line number. If SQLite reports the position, marks it with ^.
std::string sql_error_text(sqlite3* connection, std::string_view text, std::size_t start);

}  // namespace joedb

#endif
