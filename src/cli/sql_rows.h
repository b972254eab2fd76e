#ifndef JOEDB_CLI_SQL_ROWS_H
#define JOEDB_CLI_SQL_ROWS_H

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "interpreter/display.h"

struct sqlite3;
struct sqlite3_stmt;

namespace joedb {

// How rows of an SQL statement are written.
enum class Row_Format : std::uint8_t { table, csv, json, markdown };

// Runs a statement, and writes its rows.
//
// table: columns that are as wide as their values; the first 1000 rows say how wide. csv: a header,
// then as RFC 4180 says, with LF; NULL is nothing, a text without characters "". json: an array of
// objects, one in a line; a blob is {"base64": "…"}. markdown: a table. In tables, a character that
// a terminal would obey is shown as ?, and a blob as X'…'.
class Sql_Rows {
 public:
  Sql_Rows(sqlite3_stmt* statement, Row_Format format, std::ostream& out, const Display& display);

  // Returns a code of SQLite: SQLITE_DONE if all is well. Writes nothing for a statement that has
  // no columns. Throws Display_Stopped.
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
  std::vector<std::size_t> widths_;
  std::vector<bool> are_texts_;  // stand on the left
};

// From now on, statements of the connection end with SQLITE_INTERRUPT when the display is stopped.
// It must outlive them.
void interrupt_when_stopped(sqlite3* connection, Display& display);

// The last error of a connection, in the statement that begins at `start` of this text: with the
// number of the line if there are several, and a ^ under the place if it is known.
std::string sql_error_text(sqlite3* connection, std::string_view text, std::size_t start);

}  // namespace joedb

#endif
