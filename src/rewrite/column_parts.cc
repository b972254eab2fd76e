#include "rewrite/column_parts.h"

#include <algorithm>
#include <optional>

#include "kernel/table/record_runs.h"
#include "text/dump.h"

namespace joedb::inline v1 {

static constexpr Table_Id past_last_table(0xffff);

// Estimates the size of rows, assuming that all texts of a column have the same size.
void Column_Parts::estimate() {
  for (const Table* table : live_tables(shape_)) {
    const auto rows = static_cast<double>(std::max<index_t>(table->records().size(), 1));
    for_each_field(*table, [&](Field_Id id, const Field& field) {
      std::size_t text_size = 0;
      for (const Text_Sizes& sizes : text_sizes_) text_size += sizes.find(table->id(), id);
      const std::size_t size =
          visit_type(field.column->type().code, []<class T>(std::type_identity<T>) {
            return std::is_same_v<T, std::string_view> ? sizeof(String_Handle) : sizeof(T);
          });
      columns_[table->id().value()][id.value()].row_size =
          static_cast<double>(size) + static_cast<double>(text_size) / rows;
    });
  }
}

void Column_Parts::start_part(const Place& begin) {
  begin_ = begin;
  for (const Table* table : live_tables(shape_))
    for (std::size_t i = 1; i <= table->fields().size(); ++i)
      columns_[table->id().value()][i].values.reset();
  end_ = end_of_part(begin);
}

// Returns the end of the part that begins at `begin`. A part has at least one value.
Column_Parts::Place Column_Parts::end_of_part(const Place& begin) const {
  double room = memory_;
  bool is_first = true;
  for (const Table* const table : live_tables(shape_)) {
    if (table->id().value() < begin.table.value()) continue;
    const bool is_first_table = table->id() == begin.table;
    std::optional<Place> end;
    const auto add_run = [&](index_t first, index_t n) {
      for_each_field(*table, [&](Field_Id id, const Field&) {
        if (end) return;
        const bool is_in_first_run = is_first_table && first == begin.run_first;
        if (is_in_first_run && id.value() < begin.field.value()) return;
        const index_t row = is_in_first_run && id == begin.field ? begin.row : first;
        const double size = columns_.find(table->id().value())->find(id.value())->row_size;
        const double rows = std::max(room / size, is_first ? 1.0 : 0.0);
        is_first = false;
        if (rows < static_cast<double>(first + n - row))
          end = Place{table->id(), first, first + n, id, row + static_cast<index_t>(rows)};
        room -= size * static_cast<double>(first + n - row);
      });
    };
    const index_t size = table->records().size();
    if (order_ == Order::by_field)
      add_run(0, size);
    else
      for_each_run(table->records(), is_first_table ? begin.run_first : 0, size, add_run);
    if (end) return *end;
  }
  return {past_last_table, 0, 0, {}, 0};
}

Column_Base* Column_Parts::find(Table_Id table, Field_Id field, index_t row) {
  const Table* const found = shape_.find_table(table);
  const bool exists = found != nullptr && found->find_field(field) != nullptr && row >= 0 &&
                      row < found->records().size();
  return exists && is_loaded(table, field, row) ? &column(table, field) : nullptr;
}

Column_Base& Column_Parts::column(Table_Id table, Field_Id field) {
  Part& part = columns_[table.value()][field.value()];
  if (!part.values) [[unlikely]] {
    const Table& shape = *shape_.find_table(table);
    const Type& type = shape.find_field(field)->column->type();
    visit_type(type.code, [&]<class T>(std::type_identity<T>) {
      part.values = std::make_unique<Column<T>>(type);
    });
    part.values->grow(static_cast<std::size_t>(shape.records().size()), false);
  }
  return *part.values;
}

}  // namespace joedb::inline v1
