#ifndef JOEDB_SRC_TEXT_COLUMNS_H
#define JOEDB_SRC_TEXT_COLUMNS_H

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace joedb::inline v1 {

// Lays out cells in columns for a terminal. Widths are in terminal columns.
struct Text_Columns {
  struct Column {
    std::size_t width = 0;
    bool is_left = true;  // align left; false: align right
  };

  std::vector<Column> columns;
  std::size_t gap = 2;  // blanks between columns

  // Widens the columns to fit `cells`, a row. A row may have fewer cells than there are columns.
  void fit(const std::vector<std::string>& cells);
  std::size_t width() const;
  // Returns a row as text, without trailing blanks. Cells wider than their column are not
  // truncated.
  std::string line(const std::vector<std::string>& cells) const;
};

// Append the text, padded with blanks to the width of the column. If the text is wider,
// append_padded appends all of it, and append_fitted truncates it, with an ellipsis.
void append_padded(std::string& out, std::string_view text, const Text_Columns::Column& column);
void append_fitted(std::string& out, std::string_view text, const Text_Columns::Column& column);

}  // namespace joedb::inline v1

#endif
