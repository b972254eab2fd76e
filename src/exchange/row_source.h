#ifndef JOEDB_SRC_EXCHANGE_ROW_SOURCE_H
#define JOEDB_SRC_EXCHANGE_ROW_SOURCE_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "exchange/cell.h"
#include "exchange/input.h"

namespace joedb {

// The name of the column with record ids. No field can have this name.
inline constexpr std::string_view id_column_name = "__id";

// The only key of the first of JSON lines, if it has the types of the columns:
// {"__types": {"name": "string", "born": "date optional", "boss": null}}.
inline constexpr std::string_view types_key = "__types";

// Maximum number of fields of a table.
inline constexpr std::size_t max_columns = 65535;

// Reads the rows of a file. Errors in the file are reported as Data_Error "FILE:LINE:COLUMN: TEXT".
// COLUMN counts characters from 1.
class Row_Source {
 public:
  virtual ~Row_Source() = default;

  // Reads a row. Returns false at the end.
  virtual bool next() = 0;
  // Returns one cell for each column; cells missing at the end count as absent. The result is valid
  // until the next call of next().
  virtual std::span<const Cell> cells() const = 0;
  // Returns all columns. If has_more_columns(), later rows may have others.
  virtual const std::vector<std::string>& columns() const = 0;
  // Returns the name of a column in the file, where other columns may have the same; usually that
  // of columns().
  virtual const std::string& header(std::size_t column) const { return columns()[column]; }
  virtual bool has_more_columns() const { return false; }
  // Returns the types that the file gives its columns. A type may be none: it is not known.
  virtual std::span<const std::pair<std::string, Declared_Type>> declared_types() const {
    return {};
  }
  // Adds a column that later rows may have, if it is unknown. Requires has_more_columns().
  virtual void add_column(const std::string&) {}
  // Throws Data_Error about the current row, or about one of its cells.
  [[noreturn]] virtual void fail(std::optional<std::size_t> column, const std::string& text) = 0;
  // Returns to the first row.
  virtual void rewind() = 0;

  // Returns the number of the line in which the current row begins.
  virtual std::int64_t line() const = 0;
  virtual const Input& input() const = 0;
};

// Returns "FILE:LINE:COLUMN: " for the place of a byte in input.lines().
std::string place_in(const Input& input, std::size_t offset);

}  // namespace joedb

#endif
