#include "joedb/interpreter/table_text.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "interpreter/display_width.h"
#include "interpreter/text_buffer.h"
#include "schema/value_text.h"

namespace joedb::inline v1 {

namespace {

constexpr std::string_view ellipsis = "\u2026";

void append_cell(std::string& out, const Column_Base& column, index_t id) {
  visit_type(column.type().code, [&]<class T>(std::type_identity<T>) {
    append_value(out, static_cast<const Column<T>&>(column).get(id));
  });
}

struct Shown_Column {
  const Field* field;
  std::size_t width;
  bool is_text() const { return field->column->type().code == Type_Code::string; }
};

// Appends as much of a text as fits, and spaces up to the width, on its left or right side.
void append_padded(std::string& out, std::string_view text, std::size_t width, bool is_left) {
  std::size_t used = 0;
  std::size_t kept = 0;
  bool is_cut = false;
  while (kept < text.size()) {
    const Character next = first_character(text.substr(kept));
    const std::size_t total = used + static_cast<std::size_t>(next.width);
    const bool is_last = kept + next.size == text.size();
    if (total > width || (total == width && !is_last)) {
      is_cut = true;
      ++used;
      break;
    }
    used = total;
    kept += next.size;
  }
  const std::size_t padding = width > used ? width - used : 0;
  if (!is_left) out.append(padding, ' ');
  out.append(text.substr(0, kept));
  if (is_cut) out.append(ellipsis);
  if (is_left) out.append(padding, ' ');
}

class Table_Printer {
 public:
  Table_Printer(const Table& table, const Table_View& view) : table_(table) {
    const index_t size = table.records().size();
    end_ = size;
    if (view.length > 0) {
      begin_ = std::clamp<index_t>(view.start, 0, size);
      const index_t length = std::min(view.length, size - begin_);
      end_ = view.start >= 0 ? begin_ + length
                             : std::clamp<index_t>(view.start + view.length, 0, size);
    }
    add_columns(view.max_column_width);
  }

  Table_Printer(const Table& table, std::vector<index_t> records)
      : table_(table), records_(std::move(records)) {
    add_columns(Table_View().max_column_width);
  }

  void print(std::ostream& stream) const {
    Text_Buffer out(stream);
    std::size_t line_width = id_width_;
    for (const Shown_Column& column : columns_) line_width += 1 + column.width;
    const std::string line(line_width, '-');

    out.add(line, '\n', std::string(id_width_, ' '));
    for (const Shown_Column& column : columns_) add(out, column, column.field->name);
    out.add('\n', line);
    out.end_line();
    for_each_record([&](index_t id) {
      append_padded(out.text(), std::to_string(id), id_width_, false);
      for (const Shown_Column& column : columns_) add(out, column, text_of(*column.field, id));
      out.end_line();
    });
  }

 private:
  void add_columns(std::size_t max_width) {
    id_width_ = std::to_string(table_.records().size() - 1).size();
    for (const Field& field : table_.fields())
      if (field.column) columns_.push_back({&field, width_of(field, max_width)});
  }

  template <class F>
  void for_each_record(F f) const {
    if (records_) {
      for (const index_t id : *records_) f(id);
      return;
    }
    for (index_t id = begin_; id < end_; ++id)
      if (table_.records().is_used(id)) f(id);
  }

  std::string_view text_of(const Field& field, index_t id) const {
    text_.clear();
    append_cell(text_, *field.column, id);
    return text_;
  }

  std::size_t width_of(const Field& field, std::size_t max_width) const {
    std::size_t width = field.name.size();
    for_each_record(
        [&](index_t id) { width = std::max(width, display_width(text_of(field, id))); });
    return max_width > 0 ? std::min(width, max_width) : width;
  }

  static void add(Text_Buffer& out, const Shown_Column& column, std::string_view text) {
    out.add(' ');
    append_padded(out.text(), text, column.width, column.is_text());
  }

  const Table& table_;
  std::optional<std::vector<index_t>> records_;  // or a range:
  index_t begin_ = 0;
  index_t end_ = 0;
  std::size_t id_width_ = 0;
  std::vector<Shown_Column> columns_;
  mutable std::string text_;
};

}  // namespace

void write_table(std::ostream& out, const Table& table, const Table_View& view) {
  Table_Printer(table, view).print(out);
}

void write_records(std::ostream& out, const Table& table, std::vector<index_t> records) {
  Table_Printer(table, std::move(records)).print(out);
}

void write_record(std::ostream& out, const Table& table, Record_Id record) {
  const Record_Ids& records = table.records();
  const index_t id = record.value();
  if (!records.is_used(id)) {
    if (id >= 0) out << id << " is not used.\n";
    out << "first_used: " << records.first() << "\nlast_used: " << records.last()
        << "\nused_count: " << records.used_count() << "\nsize: " << records.size()
        << "\ndense: " << records.is_dense() << '\n';
    return;
  }
  out << "id = " << id << "; next = " << records.next(id) << "; previous = " << records.previous(id)
      << '\n';
  std::size_t width = 0;
  for (const Field& field : table.fields())
    if (field.column) width = std::max(width, field.name.size());
  std::string text;
  for (const Field& field : table.fields()) {
    if (!field.column) continue;
    text.assign(width - field.name.size(), ' ').append(field.name).append(": ");
    append_cell(text, *field.column, id);
    out << text << '\n';
  }
}

}  // namespace joedb::inline v1
