#include "rewrite/past_values.h"

#include <algorithm>

#include "text/dump.h"

namespace joedb::inline v1 {

// Handler that stores the values of the current part. The entries have been checked.
class Past_Values::Loader : public Ignore_Entries {
 public:
  explicit Loader(Past_Values& values) : values_(values) {}

  using Ignore_Entries::operator();
  template <Field_Value T>
  void operator()(const Update<T>& e) {
    if (Part* const part = find(e.table, e.field)) set(*part, e.record.value(), e.value);
  }
  template <Field_Value T>
  void operator()(const Update_Vector<T>& e) {
    Part* const part = find(e.table, e.field);
    if (part == nullptr) return;
    for (index_t row = e.record.value(); e.values.remaining() > 0; ++row)
      set(*part, row, e.values.next());
  }

 private:
  Part* find(Table_Id table, Field_Id field) {
    if (table.value() >= values_.columns_.size()) return nullptr;
    auto& fields = values_.columns_[table.value()];
    if (field.value() >= fields.size()) return nullptr;
    Part& part = fields[field.value()];
    return part.values == nullptr ? nullptr : &part;
  }
  template <Field_Value T>
  static void set(Part& part, index_t row, T value) {
    if (row < part.begin || row >= part.end || part.values->type().code != code_of<T>) return;
    auto& column = static_cast<Column<T>&>(*part.values);
    column.prepare(value);
    column.set(row, value);
  }

  Past_Values& values_;
};

Past_Values::Part& Past_Values::at(Table_Id table, Field_Id field) {
  if (columns_.size() <= table.value()) columns_.resize(table.value() + std::size_t{1});
  auto& fields = columns_[table.value()];
  if (fields.size() <= field.value()) fields.resize(field.value() + std::size_t{1});
  return fields[field.value()];
}

// Estimates the size of rows, as if all texts of a column had the same size.
void Past_Values::estimate() {
  for (const Table* table : live_tables(shape_)) {
    const auto rows = static_cast<double>(std::max<index_t>(table->records().size(), 1));
    std::uint16_t number = 0;
    for (const Field& field : table->fields()) {
      Part& part = at(table->id(), Field_Id(++number));
      if (!field.column) continue;
      const double size = visit_type(field.column->type().code, []<class T>(std::type_identity<T>) {
        return static_cast<double>(std::is_same_v<T, std::string_view> ? sizeof(String_Handle)
                                                                       : sizeof(T));
      });
      part.row_size = size + part.text_bytes / rows;
    }
  }
}

// Loads the values from this one on, as many as fit, and at least this one.
Past_Values::Part& Past_Values::load(Table_Id table, Field_Id field, index_t row) {
  for (auto& fields : columns_)
    for (Part& part : fields) {
      part.values.reset();
      part.begin = part.end = 0;
    }
  double room = memory_;
  bool is_full = false;
  for (const Table* const t : live_tables(shape_)) {
    const index_t rows = t->records().size();
    std::uint16_t number = 0;
    for (const Field& f : t->fields()) {
      const Field_Id id(++number);
      const bool is_first = t->id() == table && id == field;
      const bool is_before =
          t->id().value() < table.value() || (t->id() == table && id.value() < field.value());
      if (!f.column || is_before || is_full) continue;
      Part& part = at(t->id(), id);
      part.begin = is_first ? row : 0;
      const double wanted = static_cast<double>(rows - part.begin);
      const double possible = std::max(room / part.row_size, is_first ? 1.0 : 0.0);
      is_full = possible < wanted;
      part.end = is_full ? part.begin + static_cast<index_t>(possible) : rows;
      room -= wanted * part.row_size;
      if (part.begin == part.end) continue;
      const Type& type = f.column->type();
      visit_type(type.code, [&]<class T>(std::type_identity<T>) {
        part.values = std::make_unique<Column<T>>(type);
      });
      part.values->grow(static_cast<std::size_t>(rows), false);
    }
  }
  // Integrity entries were checked when the file was first read.
  Readonly_Journal journal(source_.file, source_.recovery, false);
  Loader loader(*this);
  journal.replay(loader, source_.end);
  return at(table, field);
}

}  // namespace joedb::inline v1
