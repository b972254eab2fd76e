#include "cli/sql_rows.h"

#include <absl/strings/escaping.h>
#include <sqlite3.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/json_text.h"
#include "interpreter/display_width.h"

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

// The shortest that is read as the same number; always with a point or an exponent.
std::string real_text(double value) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  std::string text(digits, end);
  if (text.find_first_not_of("-0123456789") == text.npos) text += ".0";
  return text;
}

std::string hex_text(std::string_view bytes) {
  std::string text = "x'";
  for (const char c : bytes) {
    constexpr const char* digits = "0123456789abcdef";
    text += digits[static_cast<unsigned char>(c) >> 4];
    text += digits[static_cast<unsigned char>(c) & 15];
  }
  return text + "'";
}

// What a terminal would obey, and what would break a line, is shown as ?.
std::string visible(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if ((c >= 0 && c < ' ') || c == 0x7f) c = '?';
  return result;
}

std::string base64(std::string_view bytes) {
  return absl::Base64Escape({bytes.data(), bytes.size()});
}

std::string name_of(sqlite3_stmt* statement, int column) {
  const char* const name = sqlite3_column_name(statement, column);
  return name == nullptr ? "" : name;
}

// ---- CSV and JSON -------------------------------------------------------------------------------

void append_csv(std::string& out, std::string_view text) {
  const bool is_plain = !text.empty() && text.find_first_of(",\"\r\n") == text.npos;
  if (is_plain) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  const std::size_t size = out.size();
  if (append_json_text(out, text)) {
    out += '"';
    return;
  }
  out.resize(size - 1);  // it is not UTF-8
  out += "{\"base64\": \"" + base64(text) + "\"}";
}

}  // namespace

Sql_Rows::Sql_Rows(sqlite3_stmt* statement, Row_Format format, std::ostream& out,
                   const Display& display)
    : statement_(statement),
      format_(format),
      out_(out),
      display_(display),
      columns_(sqlite3_column_count(statement)) {}

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

int Sql_Rows::run_csv() {
  std::string line;
  const auto write = [&](auto append_cell) {
    line.clear();
    for (int i = 0; i < columns_; ++i) {
      if (i > 0) line += ',';
      append_cell(i);
    }
    line += '\n';
    out_ << line;
    display_.check();
  };
  write([&](int i) { append_csv(line, name_of(statement_, i)); });
  int result;
  while ((result = sqlite3_step(statement_)) == SQLITE_ROW)
    write([&](int i) {
      switch (sqlite3_column_type(statement_, i)) {
        case SQLITE_NULL:
          return;
        case SQLITE_FLOAT:
          line += real_text(sqlite3_column_double(statement_, i));
          return;
        case SQLITE_BLOB:
          return append_csv(line, base64(bytes_of(statement_, i)));
        default:
          return append_csv(line, text_of(statement_, i));
      }
    });
  return result;
}

int Sql_Rows::run_json() {
  std::string line;
  const char* separator = "[";
  int result;
  while ((result = sqlite3_step(statement_)) == SQLITE_ROW) {
    line = separator;
    separator = ",\n ";
    for (int i = 0; i < columns_; ++i) {
      line += i == 0 ? "{" : ", ";
      append_json_string(line, name_of(statement_, i));
      line += ": ";
      switch (sqlite3_column_type(statement_, i)) {
        case SQLITE_NULL:
          line += "null";
          break;
        case SQLITE_INTEGER:
          line += std::to_string(sqlite3_column_int64(statement_, i));
          break;
        case SQLITE_FLOAT: {
          const double value = sqlite3_column_double(statement_, i);
          line += std::isfinite(value) ? real_text(value) : value > 0 ? "\"inf\"" : "\"-inf\"";
          break;
        }
        case SQLITE_BLOB:
          line += "{\"base64\": \"" + base64(bytes_of(statement_, i)) + "\"}";
          break;
        default:
          append_json_string(line, text_of(statement_, i));
      }
    }
    line += '}';
    out_ << line;
    display_.check();
  }
  if (result == SQLITE_DONE) out_ << (*separator == '[' ? "[]\n" : "]\n");
  return result;
}

// ---- tables -------------------------------------------------------------------------------------

Sql_Rows::Row Sql_Rows::read_table_row() {
  Row row;
  are_texts_.resize(static_cast<std::size_t>(columns_));
  for (int i = 0; i < columns_; ++i) {
    const int type = sqlite3_column_type(statement_, i);
    if (type == SQLITE_TEXT || type == SQLITE_BLOB) are_texts_[static_cast<std::size_t>(i)] = true;
    switch (type) {
      case SQLITE_NULL:
        row.emplace_back(format_ == Row_Format::table ? "NULL" : "");
        break;
      case SQLITE_FLOAT:
        row.push_back(real_text(sqlite3_column_double(statement_, i)));
        break;
      case SQLITE_BLOB:
        row.push_back(hex_text(bytes_of(statement_, i)));
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
  are_texts_.resize(names.size());
  if (format_ == Row_Format::markdown) {
    write_markdown_rows({names});
    out_ << '|';
    for (const bool is_text : are_texts_) out_ << (is_text ? "---|" : "--:|");
    out_ << '\n';
    return;
  }
  for (const std::string& name : names) widths_.push_back(display_width(name));
  for (const Row& row : first_rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths_[i] = std::max(widths_[i], display_width(row[i]));
  write_line();
  if (display_.has_colours) out_ << colour::heading;
  write_table_rows({names});
  if (display_.has_colours) out_ << colour::end;
  write_line();
}

void Sql_Rows::write_line() {
  std::size_t width = widths_.size() - 1;
  for (const std::size_t w : widths_) width += w;
  out_ << std::string(width, '-') << '\n';
}

void Sql_Rows::write_table_rows(const Rows& rows) {
  std::string line;
  for (const Row& row : rows) {
    line.clear();
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths_[i] - std::min(display_width(row[i]), widths_[i]), ' ');
      if (i > 0) line += ' ';
      line += are_texts_[i] ? row[i] + padding : padding + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out_ << line << '\n';
  }
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

}  // namespace joedb
