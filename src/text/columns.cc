#include "text/columns.h"

#include <algorithm>

#include "text/display_width.h"

namespace joedb::inline v1 {

static void append_aligned(std::string& out, std::string_view text, std::string_view end,
                           std::size_t width, const Text_Columns::Column& column) {
  const std::size_t padding = column.width > width ? column.width - width : 0;
  if (!column.is_left) out.append(padding, ' ');
  out.append(text).append(end);
  if (column.is_left) out.append(padding, ' ');
}

void append_padded(std::string& out, std::string_view text, const Text_Columns::Column& column) {
  append_aligned(out, text, "", display_width(text), column);
}

void append_fitted(std::string& out, std::string_view text, const Text_Columns::Column& column) {
  std::size_t used = 0;
  std::size_t kept = 0;
  bool is_cut = false;
  while (kept < text.size()) {
    const Character next = first_character(text.substr(kept));
    const std::size_t total = used + static_cast<std::size_t>(next.width);
    const bool is_last = kept + next.size == text.size();
    // Keep a column free for the ellipsis, unless the text ends here.
    if (total > column.width || (total == column.width && !is_last)) {
      is_cut = true;
      ++used;
      break;
    }
    used = total;
    kept += next.size;
  }
  append_aligned(out, text.substr(0, kept), is_cut ? "\u2026" : "", used, column);
}

void Text_Columns::fit(const std::vector<std::string>& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i)
    columns[i].width = std::max(columns[i].width, display_width(cells[i]));
}

std::size_t Text_Columns::width() const {
  std::size_t total = gap * (columns.size() - 1);
  for (const Column& column : columns) total += column.width;
  return total;
}

std::string Text_Columns::line(const std::vector<std::string>& cells) const {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) text.append(gap, ' ');
    append_padded(text, cells[i], columns[i]);
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

}  // namespace joedb::inline v1
