#include "tools/exchange/sql_rows.h"

#include <sqlite3.h>

#include <algorithm>
#include <utility>

#include "exchange/value_formats.h"
#include "kernel/base/utf8.h"
#include "text/display_width.h"
#include "text/sql.h"
#include "tools/frame/stop_signal.h"

namespace joedb {

namespace {

constexpr std::size_t rows_for_widths = 1000;

// ---- values -------------------------------------------------------------------------------------

std::string_view text_of(sqlite3_stmt* statement, int column) {
  const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
  return {text == nullptr ? "" : text,
          static_cast<std::size_t>(sqlite3_column_bytes(statement, column))};
}

std::string_view bytes_of(sqlite3_stmt* statement, int column) {
  const auto* const bytes = static_cast<const char*>(sqlite3_column_blob(statement, column));
  return {bytes == nullptr ? "" : bytes,
          static_cast<std::size_t>(sqlite3_column_bytes(statement, column))};
}

// Replaces control characters by ?, because a terminal would obey them, or they would break the
// line.
std::string visible(std::string_view text) {
  std::string result(text);
  std::ranges::replace_if(result, is_control, '?');
  return result;
}

std::string name_of(sqlite3_stmt* statement, int column) {
  const char* const name = sqlite3_column_name(statement, column);
  return name == nullptr ? "" : name;
}

template <class Format>
void append_cell(std::string& out, const Format& format, sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
      return format.null(out);
    case SQLITE_INTEGER:
      return format.value(out, std::int64_t{sqlite3_column_int64(statement, column)});
    case SQLITE_FLOAT:
      return format.value(out, sqlite3_column_double(statement, column));
    case SQLITE_BLOB:
      return format.bytes(out, bytes_of(statement, column));
    default:
      return format.value(out, text_of(statement, column));
  }
}

}  // namespace

Sql_Rows::Sql_Rows(sqlite3_stmt* statement, Row_Format format, std::ostream& out,
                   const Display& display)
    : statement_(statement),
      format_(format),
      out_(out),
      display_(display),
      columns_(sqlite3_column_count(statement)),
      layout_{std::vector<Text_Columns::Column>(static_cast<std::size_t>(columns_), {0, false}),
              1} {}

int Sql_Rows::run() {
  if (columns_ == 0) {
    int result;
    do result = sqlite3_step(statement_);
    while (result == SQLITE_ROW);
    return result;
  }
  switch (format_) {
    case Row_Format::csv:
      return run_csv();
    case Row_Format::json:
      return run_json();
    default:
      return run_table();
  }
}

// Appends all columns of the current row.
template <class Format>
void Sql_Rows::append_row(std::string& line, const Format& format) const {
  format.begin_record(line);
  for (int i = 0; i < columns_; ++i) {
    line += format.prefix(name_of(statement_, i), i == 0);
    append_cell(line, format, statement_, i);
  }
  format.end_record(line);
}

int Sql_Rows::run_csv() {
  const Csv_Values format(',', {.quotes_null = false, .quotes_empty = true});
  std::string line;
  for (int i = 0; i < columns_; ++i) {
    line += format.prefix("", i == 0);
    format.value(line, std::string_view(name_of(statement_, i)));
  }
  out_ << line << '\n';
  int result;
  while ((result = sqlite3_step(statement_)) == SQLITE_ROW) {
    line.clear();
    append_row(line, format);
    out_ << line << '\n';
    display_.check();
  }
  return result;
}

int Sql_Rows::run_json() {
  std::string line;
  const char* separator = "[";
  int result;
  while ((result = sqlite3_step(statement_)) == SQLITE_ROW) {
    line = std::exchange(separator, ",\n ");
    append_row(line, Json_Values());
    out_ << line;
    display_.check();
  }
  if (result == SQLITE_DONE) out_ << (*separator == '[' ? "[]\n" : "]\n");
  return result;
}

// ---- tables -------------------------------------------------------------------------------------

Sql_Rows::Row Sql_Rows::read_table_row() {
  Row row;
  for (int i = 0; i < columns_; ++i) {
    const int type = sqlite3_column_type(statement_, i);
    if (type == SQLITE_TEXT || type == SQLITE_BLOB)
      layout_.columns[static_cast<std::size_t>(i)].is_left = true;
    switch (type) {
      case SQLITE_NULL:
        row.emplace_back(format_ == Row_Format::table ? "NULL" : "");
        break;
      case SQLITE_FLOAT:
        append_finite(row.emplace_back(), sqlite3_column_double(statement_, i));
        break;
      case SQLITE_BLOB:
        append_sql_bytes(row.emplace_back(), bytes_of(statement_, i));
        break;
      default:
        row.push_back(visible(text_of(statement_, i)));
    }
  }
  return row;
}

int Sql_Rows::run_table() {
  int result = SQLITE_ROW;
  for (bool is_first = true; result == SQLITE_ROW; is_first = false) {
    Rows rows;
    while (rows.size() < rows_for_widths && (result = sqlite3_step(statement_)) == SQLITE_ROW) {
      rows.push_back(read_table_row());
      display_.check();
    }
    if (is_first && rows.empty() && result != SQLITE_DONE) return result;
    if (is_first) write_heading(rows);
    format_ == Row_Format::table ? write_table_rows(rows) : write_markdown_rows(rows);
  }
  if (format_ == Row_Format::table) write_line();
  return result;
}

void Sql_Rows::write_heading(const Rows& first_rows) {
  Row names;
  for (int i = 0; i < columns_; ++i) names.push_back(visible(name_of(statement_, i)));
  if (format_ == Row_Format::markdown) {
    write_markdown_rows({names});
    out_ << '|';
    for (const auto& column : layout_.columns) out_ << (column.is_left ? "---|" : "--:|");
    out_ << '\n';
    return;
  }
  layout_.fit(names);
  for (const Row& row : first_rows) layout_.fit(row);
  write_line();
  if (display_.has_colours) out_ << colour::heading;
  write_table_rows({names});
  if (display_.has_colours) out_ << colour::end;
  write_line();
}

void Sql_Rows::write_line() { out_ << std::string(layout_.width(), '-') << '\n'; }

void Sql_Rows::write_table_rows(const Rows& rows) {
  for (const Row& row : rows) out_ << layout_.line(row) << '\n';
}

void Sql_Rows::write_markdown_rows(const Rows& rows) {
  std::string line;
  for (const Row& row : rows) {
    line = "|";
    for (const std::string& cell : row) {
      line += ' ';
      for (const char c : cell) {
        if (c == '|' || c == '\\') line += '\\';
        line += c;
      }
      line += " |";
    }
    out_ << line << '\n';
  }
}

void interrupt_when_stopped(sqlite3* connection, Display& display) {
  const auto is_stopped = [](void* checked) {
    try {
      static_cast<Display*>(checked)->check();
      return stop_signal_come() != 0 ? 1 : 0;
    } catch (const Display_Stopped&) {
      return 1;
    }
  };
  sqlite3_progress_handler(connection, 10'000, is_stopped, &display);
}

std::string sql_error_text(sqlite3* connection, std::string_view text, std::size_t start) {
  int offset = -1;
#if SQLITE_VERSION_NUMBER >= 3038000
  offset = sqlite3_error_offset(connection);
#endif
  const bool is_known = offset >= 0;
  std::size_t at = start + static_cast<std::size_t>(std::max(offset, 0));
  if (!is_known) at = text.find_first_not_of(" \t\r\n", at);
  at = std::min(at, text.size());
  const std::size_t line_break = at == 0 ? text.npos : text.rfind('\n', at - 1);
  const std::size_t line = line_break == text.npos ? 0 : line_break + 1;
  std::string result;
  const std::string_view trimmed = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  if (trimmed.find('\n') != trimmed.npos) {
    const auto breaks =
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(line), '\n');
    result = "line " + std::to_string(1 + breaks) + ": ";
  }
  result += sqlite3_errmsg(connection);
  if (is_known)
    result.append("\n  ")
        .append(text.substr(line, text.find('\n', line) - line))
        .append("\n  ")
        .append(display_width(text.substr(line, at - line)), ' ')
        .append("^");
  if (at < text.size() && text[at] == '.' && text.find_first_not_of(" \t\r\n", start) == at)
    result += "\n  A command like .mode needs a line of its own, and no space before its dot.";
  return result;
}

}  // namespace joedb
