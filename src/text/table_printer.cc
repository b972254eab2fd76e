#include "text/table_printer.h"

#include <algorithm>

#include "kernel/schema/logical_type.h"
#include "text/display_width.h"

namespace joedb::inline v1 {

namespace {

// Minimum width of columns that are shrunk to fit the screen.
constexpr std::size_t min_width = 8;

void append_cell(std::string& out, const Column_Base& column, index_t id) {
  visit_type(column.type().code, [&]<class T>(std::type_identity<T>) {
    append_value<T>(out, column.logical(), static_cast<const Column<T>&>(column).get(id));
  });
}

Record_Id reference_in(const Field& field, index_t id) {
  return static_cast<const Column<Record_Id>&>(*field.column).get(id);
}

// Makes the text in `out` dim, from `begin` on.
void make_dim(std::string& out, std::size_t begin) {
  if (begin >= out.size()) return;
  out.insert(begin, colour::dim);
  out.append(colour::end);
}

}  // namespace

Row_Style::Row_Style(const Display& d, const Database& database,
                     std::optional<std::size_t> requested_width)
    : has_colours(d.has_colours), names(d.has_reference_names ? &database : nullptr), display(&d) {
  if (requested_width)
    max_column_width = *requested_width;
  else if (d.screen != nullptr)
    screen_width = d.screen->size().width;
}

Table_Printer::Table_Printer(const Table& table, const Table_View& view, const Row_Style& style)
    : table_(table), style_(style) {
  const index_t size = table.records().size();
  end_ = size;
  if (view.length > 0) {
    begin_ = std::clamp<index_t>(view.start, 0, size);
    const index_t length = std::min(view.length, size - begin_);
    end_ =
        view.start >= 0 ? begin_ + length : std::clamp<index_t>(view.start + view.length, 0, size);
  }
  if (style_.names != nullptr) names_.emplace(*style_.names);
  if (style_.limit > 0) apply_limit();
  add_columns();
}

Table_Printer::Table_Printer(const Table& table, std::vector<index_t> records,
                             const Row_Style& style)
    : table_(table), style_(style), records_(std::move(records)) {
  if (style_.names != nullptr) names_.emplace(*style_.names);
  const auto limit = static_cast<std::size_t>(style_.limit);
  if (limit > 0 && records_->size() > limit) {
    rest_ = {static_cast<index_t>(records_->size() - limit), (*records_)[limit]};
    records_->resize(limit);
  }
  add_columns();
}

// Ends the range after the first `limit` used records.
void Table_Printer::apply_limit() {
  index_t counter = 0;
  index_t count = 0;
  for (index_t id = begin_; id < end_; ++id) {
    check(counter);
    if (!table_.records().is_used(id) || ++count <= style_.limit) continue;
    const bool is_whole = begin_ == 0 && end_ == table_.records().size();
    rest_ = {is_whole ? table_.records().used_count() - style_.limit : end_ - id, id};
    end_ = id;
  }
}

void Table_Printer::print(std::ostream& stream) {
  Text_Buffer out(stream);
  const std::string line(total_width(), '-');
  out.add(line, '\n');
  add_heading(out);
  out.add('\n', line);
  out.end_line();
  index_t counter = 0;
  for_each_record([&](index_t id) {
    check(counter);
    append_fitted(out.text(), std::to_string(id), {id_width_, false});
    for (const Shown_Column& column : columns_) add_cell(out, column, id);
    out.end_line();
  });
  add_left_out(out);
  out.flush();
}

// ---- columns

void Table_Printer::add_columns() {
  id_width_ = std::to_string(table_.records().size() - 1).size();
  for (const Field& field : table_.fields()) {
    if (!field.column) continue;
    const bool is_text = field.column->type().code == Type_Code::string;
    const bool is_left = is_text || is_named(field);
    columns_.push_back({{width_of(field), is_left}, &field});
  }
  if (style_.screen_width > 0) fit();
}

std::size_t Table_Printer::total_width() const {
  std::size_t width = id_width_;
  for (const Shown_Column& column : columns_) width += 1 + column.width;
  return width;
}

// Shrinks the widest text columns first. Then omits the last columns, but never the first one.
void Table_Printer::fit() {
  std::size_t cap = 0;
  for (const Shown_Column& column : columns_) cap = std::max(cap, column.width);
  for (; cap > min_width && total_width() > style_.screen_width; --cap)
    for (Shown_Column& column : columns_)
      if (column.is_left) column.width = std::min(column.width, cap - 1);
  std::size_t width = total_width();
  while (columns_.size() > 1 && width > style_.screen_width) {
    width -= 1 + columns_.back().width;
    left_out_.push_back(columns_.back().field);
    columns_.pop_back();
  }
  std::reverse(left_out_.begin(), left_out_.end());
}

template <class F>
void Table_Printer::for_each_record(F f) const {
  if (records_) {
    for (const index_t id : *records_) f(id);
    return;
  }
  for (index_t id = begin_; id < end_; ++id)
    if (table_.records().is_used(id)) f(id);
}

void Table_Printer::check(index_t& counter) const {
  constexpr index_t interval = 4096;
  if (style_.display != nullptr && ++counter % interval == 0) style_.display->check();
}

std::string_view Table_Printer::text_of(const Field& field, index_t id) {
  text_.clear();
  if (is_named(field))
    names_->append(text_, field.column->type().referenced, reference_in(field, id));
  else
    append_cell(text_, *field.column, id);
  return text_;
}

std::size_t Table_Printer::width_of(const Field& field) {
  std::size_t width = field.name.size();
  index_t counter = 0;
  for_each_record([&](index_t id) {
    check(counter);
    width = std::max(width, display_width(text_of(field, id)));
  });
  using Kind = Logical_Type::Kind;
  const Kind kind = field.column->logical().kind;
  const bool may_be_cut = kind == Kind::plain || kind == Kind::json || kind == Kind::bytes;
  return style_.max_column_width > 0 && may_be_cut ? std::min(width, style_.max_column_width)
                                                   : width;
}

// ---- text

void Table_Printer::add_heading(Text_Buffer& out) const {
  if (style_.has_colours) out.add(colour::heading);
  out.text().append(id_width_, ' ');
  for (const Shown_Column& column : columns_) {
    out.add(' ');
    append_fitted(out.text(), column.field->name, column);
  }
  if (style_.has_colours) out.add(colour::end);
}

// Null references, and the names of references, are dim.
void Table_Printer::add_cell(Text_Buffer& out, const Shown_Column& column, index_t id) {
  out.add(' ');
  const std::size_t begin = out.text().size();
  const std::string_view text = text_of(*column.field, id);
  append_fitted(out.text(), text, column);
  if (!style_.has_colours || column.field->column->type().code != Type_Code::reference) return;
  if (reference_in(*column.field, id).is_null()) return make_dim(out.text(), begin);
  const std::size_t name = text.find(' ');
  if (name != text.npos) make_dim(out.text(), begin + name);
}

void Table_Printer::add_left_out(Text_Buffer& out) const {
  constexpr std::size_t most = 5;
  if (left_out_.empty()) return;
  out.add("not shown, for lack of room:");
  for (std::size_t i = 0; i < std::min(most, left_out_.size()); ++i)
    out.add(i > 0 ? ", " : " ", left_out_[i]->name);
  if (left_out_.size() > most) out.add(" and ", left_out_.size() - most, " more");
  out.end_line();
}

// ---- one record ---------------------------------------------------------------------------------

void print_record(std::ostream& out, const Table& table, Record_Id record, const Row_Style& style) {
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
    text.assign(width - field.name.size(), ' ');
    const std::size_t begin = text.size();
    text += field.name;
    if (style.has_colours) text.insert(begin, colour::heading).append(colour::end);
    text += ": ";
    if (style.names != nullptr && field.column->type().code == Type_Code::reference)
      Reference_Names(*style.names)
          .append(text, field.column->type().referenced, reference_in(field, id));
    else
      append_cell(text, *field.column, id);
    out << text << '\n';
  }
}

}  // namespace joedb::inline v1
