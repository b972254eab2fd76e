#ifndef JOEDB_EXCHANGE_ROW_SOURCE_H
#define JOEDB_EXCHANGE_ROW_SOURCE_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exchange/cell.h"
#include "exchange/input.h"

namespace joedb {

// The column with the ids of records, in files that have them. No field can have this name.
inline constexpr std::string_view id_column_name = "__id";

// So many fields a table can have.
inline constexpr std::size_t max_columns = 65535;

// Rows of a file. What is wrong in it is thrown as Data_Error "FILE:LINE:COLUMN: TEXT", with
// columns in characters, from 1.
class Row_Source {
 public:
  virtual ~Row_Source() = default;

  // Reads a row; false at the end.
  virtual bool next() = 0;
  // A cell for each column, valid until the next call of next(). Missing ones at the end are
  // absent.
  virtual std::span<const Cell> cells() const = 0;
  // All of them; but if has_more_columns(), rows may have others.
  virtual const std::vector<std::string>& columns() const = 0;
  virtual bool has_more_columns() const { return false; }
  // Only if has_more_columns(): a column that rows may have. Does nothing if it is known.
  virtual void add_column(const std::string&) {}
  // Throws an error about this row, or one of its cells.
  [[noreturn]] virtual void fail(std::optional<std::size_t> column, const std::string& text) = 0;
  // To the first row again.
  virtual void rewind() = 0;

  // Where the row begins.
  virtual std::int64_t line() const = 0;
  virtual const Input& input() const = 0;
};

// "FILE:LINE:COLUMN: " for a byte of input.lines().
std::string place_in(const Input& input, std::size_t offset);

}  // namespace joedb

#endif
