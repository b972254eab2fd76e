#include "rewrite/pack_in_parts.h"

#include <algorithm>
#include <optional>

#include "kernel/table/schema_text.h"
#include "rewrite/pack.h"
#include "text/dump.h"

namespace joedb::inline v1 {

namespace {

constexpr Table_Id past_last_table(0xffff);

std::size_t row_size(Type_Code code) {
  return visit_type(code, []<class T>(std::type_identity<T>) {
    return std::is_same_v<T, std::string_view> ? sizeof(String_Handle) : sizeof(T);
  });
}

template <class T>
T& at(std::vector<std::vector<T>>& all, Table_Id table, Field_Id field) {
  if (all.size() <= table.value()) all.resize(table.value() + std::size_t{1});
  auto& fields = all[table.value()];
  if (fields.size() <= field.value()) fields.resize(field.value() + std::size_t{1});
  return fields[field.value()];
}

}  // namespace

Part_Packer::~Part_Packer() = default;

// ---- which records there are --------------------------------------------------------------------

void Part_Packer::add(const std::string& name, Source source) {
  Value_Loader loader;
  source(loader);
  take_schema(name, loader);
  Added added{name, std::move(source), {}, {}};
  for (std::size_t i = 0; i < loader.tables().size(); ++i) {
    const Table* const table = loader.tables()[i].get();
    added.shifts.push_back(total_size(i));
    added.sizes.push_back(table == nullptr ? 0 : table->records().size());
  }
  add_records(loader, added);
  for (std::size_t t = 0; t < loader.text_sizes().size(); ++t)
    for (std::size_t f = 0; f < loader.text_sizes()[t].size(); ++f)
      at(text_sizes_, Table_Id(static_cast<std::uint16_t>(t)),
         Field_Id(static_cast<std::uint16_t>(f))) += loader.text_sizes()[t][f];
  added_.push_back(std::move(added));
}

void Part_Packer::take_schema(const std::string& name, const Database& added) {
  if (added_.empty()) {
    decode_entries(added.schema_entries(), shape_);
    first_name_ = name;
  } else if (added.schema_entries() != shape_.schema_entries()) {
    throw Exception(name + " does not have the same schema as " + first_name_ + ": " +
                    schema_difference(added.schema_entries(), "in " + name, shape_.schema_entries(),
                                      "in " + first_name_));
  }
}

void Part_Packer::add_records(const Database& from, const Added& added) {
  constexpr Table::Budget no_limit{index_t{1} << 48, index_t{1} << 48};
  for (const Table* const table : live_tables(from)) {
    Table& to = shape_.table(table->id());
    const index_t shift = added.shifts[table->id().value() - std::size_t{1}];
    for_each_run(table->records(), [&](index_t first, index_t size) {
      const Record_Id record(shift + first);
      to.prepare_insert_vector(record, size, no_limit);
      to.insert_vector(record, size);
    });
  }
}

// ---- writing ------------------------------------------------------------------------------------

void Part_Packer::write(Writable_Journal& journal) {
  estimate_sizes();
  pack_schema(shape_, journal);
  for (const Table* table : live_tables(shape_))
    for_each_run(table->records(),
                 [&](index_t first, index_t size) { pack_run(*table, first, size, journal); });
  require_readable(shape_, journal.get_position());
}

// Estimates the size of rows, as if all texts of a column had the same size.
void Part_Packer::estimate_sizes() {
  for (const Table* table : live_tables(shape_)) {
    const auto rows = static_cast<double>(std::max<index_t>(table->records().size(), 1));
    std::uint16_t number = 0;
    for (const Field& field : table->fields()) {
      const Field_Id id(++number);
      if (!field.column) continue;
      at(columns_, table->id(), id).row_size =
          static_cast<double>(row_size(field.column->type().code)) +
          static_cast<double>(at(text_sizes_, table->id(), id)) / rows;
    }
  }
}

void Part_Packer::pack_run(const Table& table, index_t first, index_t size,
                           Writable_Journal& journal) {
  const Record_Id record(first);
  if (size == 1)
    journal.append(Insert{table.id(), record});
  else
    journal.append(Insert_Vector{table.id(), record, size});
  std::uint16_t number = 0;
  for (const Field& field : table.fields()) {
    const Field_Id id(++number);
    if (!field.column) continue;
    visit_type(field.column->type().code, [&]<class T>(std::type_identity<T>) {
      Place place{table.id(), first, first + size, id, first};
      if (size == 1)
        journal.append(Update<T>{table.id(), record, id, value<T>(place)});
      else
        journal.append_vector<T>(table.id(), record, id, size, [&](index_t i) {
          place.row = first + i;
          return value<T>(place);
        });
    });
  }
}

template <Field_Value T>
T Part_Packer::value(const Place& place) {
  if (!is_before(place.table, place.field, place.row, end_)) [[unlikely]]
    load_from(place);
  return static_cast<Column<T>&>(column_of(place.table, place.field)).get(place.row);
}

// ---- parts --------------------------------------------------------------------------------------

bool Part_Packer::is_before(Table_Id table, Field_Id field, index_t row, const Place& place) {
  if (table != place.table) return table.value() < place.table.value();
  if (row < place.run_first || row >= place.run_end) return row < place.run_first;
  return field != place.field ? field.value() < place.field.value() : row < place.row;
}

void Part_Packer::load_from(const Place& begin) {
  begin_ = begin;
  for (auto& fields : columns_)
    for (Column_Part& column : fields) column.values.reset();
  end_ = end_of_part(begin);
  for (const Added& added : added_) {
    if (!is_included(added)) continue;
    Value_Loader loader(*this, added);
    added.source(loader);
    bool is_same = loader.schema_entries() == shape_.schema_entries();
    for (std::size_t i = 0; is_same && i < added.sizes.size(); ++i)
      is_same = (loader.tables()[i] ? loader.tables()[i]->records().size() : 0) == added.sizes[i];
    if (!is_same) throw Exception(added.name + " was changed while it was read");
  }
}

// Returns the end of the part that begins at `place`. A part has at least one value.
Part_Packer::Place Part_Packer::end_of_part(Place place) const {
  double room = memory_;
  bool is_first = true;
  for (const Table* const table : live_tables(shape_)) {
    if (table->id().value() < place.table.value()) continue;
    const bool is_first_table = table->id() == place.table;
    const index_t begin = is_first_table ? place.run_first : 0;
    std::optional<Place> end;
    for_each_run(table->records(), begin, table->records().size(), [&](index_t first, index_t n) {
      std::uint16_t number = 0;
      for (const Field& field : table->fields()) {
        const Field_Id id(++number);
        if (!field.column || end) continue;
        const bool is_in_first_run = is_first_table && first == place.run_first;
        if (is_in_first_run && id.value() < place.field.value()) continue;
        const index_t row = is_in_first_run && id == place.field ? place.row : first;
        const double size = columns_[table->id().value()][id.value()].row_size;
        const double rows = std::max(room / size, is_first ? 1.0 : 0.0);
        is_first = false;
        if (rows < static_cast<double>(first + n - row))
          end = Place{table->id(), first, first + n, id, row + static_cast<index_t>(rows)};
        room -= size * static_cast<double>(first + n - row);
      }
    });
    if (end) return *end;
  }
  return {past_last_table, 0, 0, {}, 0};
}

// Returns false if no record of this source is in the current part.
bool Part_Packer::is_included(const Added& added) const {
  if (begin_.table != end_.table) return true;
  const std::size_t index = begin_.table.value() - std::size_t{1};
  const bool is_one_column = begin_.run_first == end_.run_first && begin_.field == end_.field;
  const index_t first = is_one_column ? begin_.row : begin_.run_first;
  const index_t end = is_one_column ? end_.row : end_.run_end;
  return added.shifts[index] < end && added.shifts[index] + added.sizes[index] > first;
}

Column_Base& Part_Packer::column_of(Table_Id table, Field_Id field) {
  Column_Part& column = columns_[table.value()][field.value()];
  if (!column.values) [[unlikely]] {
    const Table& t = shape_.table(table);
    const Type& type = t.find_field(field)->column->type();
    visit_type(type.code, [&]<class T>(std::type_identity<T>) {
      column.values = std::make_unique<Column<T>>(type);
    });
    const index_t rows = total_size(table.value() - std::size_t{1});
    column.values->grow(static_cast<std::size_t>(rows), false);
  }
  return *column.values;
}

// ---- loading ------------------------------------------------------------------------------------

void Value_Loader::note_text(Table_Id table, Field_Id field, std::string_view text) {
  if (text.size() > String_Handle::max_inline_size)
    at(text_sizes_, table, field) += text.size() + 1;
}

void Value_Loader::start_again(Table_Id id, index_t first, index_t size) {
  if (packer_ == nullptr || packer_->deleted_values_ == Deleted_Values::keep) return;
  const Table& from = table(id);
  const index_t end = std::min(first + size, from.records().size());
  if (first >= end) return;
  for (std::size_t i = 1; i <= from.fields().size(); ++i) {
    const Field_Id field(static_cast<std::uint16_t>(i));
    for (index_t row = first; row < end; ++row)
      if (const auto packed = packed_row(id, field, row))
        packer_->column_of(id, field).reset(*packed);
  }
}

std::optional<index_t> Value_Loader::packed_row(Table_Id table, Field_Id field, index_t row) const {
  const Table* const to = packer_->shape_.find_table(table);
  if (to == nullptr || to->find_field(field) == nullptr) return {};  // dropped later in the journal
  const std::size_t index = table.value() - std::size_t{1};
  if (row >= from_->sizes[index]) return {};  // the source has changed: load_from() throws
  row += from_->shifts[index];
  if (Part_Packer::is_before(table, field, row, packer_->begin_) ||
      !Part_Packer::is_before(table, field, row, packer_->end_))
    return {};
  return row;
}

template <Field_Value T>
void Value_Loader::store(Table_Id table, Field_Id field, index_t from_row, T value) {
  const auto packed = packed_row(table, field, from_row);
  if (!packed) return;
  const index_t row = *packed;
  auto& column = static_cast<Column<T>&>(packer_->column_of(table, field));
  if constexpr (std::is_same_v<T, Record_Id>) {
    const Table_Id referenced = column.type().referenced;
    if (packer_->loose_ == Part_Packer::Loose_References::make_null && !value.is_null() &&
        packer_->shape_.find_table(referenced) != nullptr) {
      const std::size_t i = referenced.value() - std::size_t{1};
      const bool is_there = value.value() >= 0 && value.value() < from_->sizes[i];
      value = is_there ? value + from_->shifts[i] : Record_Id();
    }
  }
  if constexpr (std::is_same_v<T, std::string_view>) require_size(value);
  column.prepare(value);
  column.set(row, value);
}

template void Value_Loader::store(Table_Id, Field_Id, index_t, std::string_view);
template void Value_Loader::store(Table_Id, Field_Id, index_t, std::int8_t);
template void Value_Loader::store(Table_Id, Field_Id, index_t, std::int16_t);
template void Value_Loader::store(Table_Id, Field_Id, index_t, std::int32_t);
template void Value_Loader::store(Table_Id, Field_Id, index_t, std::int64_t);
template void Value_Loader::store(Table_Id, Field_Id, index_t, float);
template void Value_Loader::store(Table_Id, Field_Id, index_t, double);
template void Value_Loader::store(Table_Id, Field_Id, index_t, bool);
template void Value_Loader::store(Table_Id, Field_Id, index_t, Record_Id);
template void Value_Loader::store(Table_Id, Field_Id, index_t, Blob);

}  // namespace joedb::inline v1
