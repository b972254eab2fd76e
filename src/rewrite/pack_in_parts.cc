#include "rewrite/pack_in_parts.h"

#include <algorithm>

#include "kernel/table/schema_text.h"
#include "rewrite/pack.h"

namespace joedb::inline v1 {

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
  values_.add_texts(loader.text_sizes());
  added_.push_back(std::move(added));
}

// Throws Exception if `a` declares what `b` does not.
static void require_declarations(const Database& a, const std::string& name_a, const Database& b,
                                 const std::string& name_b) {
  const std::vector<std::string> others = b.declarations();
  for (const std::string& text : a.declarations())
    if (std::find(others.begin(), others.end(), text) == others.end())
      throw Exception(name_a + " declares `" + text + "`, and " + name_b + " does not");
}

void Part_Packer::take_schema(const std::string& name, const Database& added) {
  if (added_.empty()) {
    decode_entries(added.schema_entries(), shape_);
    for (const std::string& declaration : added.declarations()) shape_(Comment{declaration});
    first_name_ = name;
  } else if (added.schema_entries() != shape_.schema_entries()) {
    throw Exception(name + " does not have the same schema as " + first_name_ + ": " +
                    schema_difference(added.schema_entries(), "in " + name, shape_.schema_entries(),
                                      "in " + first_name_));
  }
  require_declarations(added, name, shape_, first_name_);
  require_declarations(shape_, first_name_, added, name);
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
  values_.estimate();
  pack_schema(shape_, journal);
  write_records({}, journal);
}

void Part_Packer::write(const Abstract_File& file, Blob_Copies& blobs, Writable_Journal& journal) {
  values_.estimate();
  pack_schema(shape_, journal);
  need_blobs(blobs);
  blobs.copy(file, journal);
  write_records(blobs, journal);
}

void Part_Packer::need_blobs(Blob_Copies& blobs) {
  for (const Table* const table : live_tables(shape_))
    for_each_run(table->records(), [&](index_t first, index_t size) {
      for_each_field(*table, [&](Field_Id id, const Field& field) {
        if (field.column->type().code != Type_Code::blob) return;
        for (index_t row = first; row < first + size; ++row)
          blobs.need(value<Blob>(*table, first, size, id, row));
      });
    });
}

void Part_Packer::write_records(const Blob_Copies& blobs, Writable_Journal& journal) {
  for (const Table* table : live_tables(shape_))
    for_each_run(table->records(), [&](index_t first, index_t size) {
      pack_run(*table, first, size, journal,
               [&]<class T>(std::type_identity<T>, Field_Id id, const Field&) {
                 append_values<T>(table->id(), first, id, size, journal, [&](index_t i) {
                   const T found = value<T>(*table, first, size, id, first + i);
                   if constexpr (std::is_same_v<T, Blob>)
                     return blobs.moved(found);
                   else
                     return found;
                 });
               });
    });
  require_readable(shape_, journal.get_position());
}

// ---- parts --------------------------------------------------------------------------------------

void Part_Packer::load() {
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

// Returns true if a record of this journal is in the current part.
bool Part_Packer::is_included(const Added& added) const {
  const Column_Parts::Place& begin = values_.begin();
  const Column_Parts::Place& end = values_.end();
  if (begin.table != end.table) return true;
  const std::size_t index = begin.table.value() - std::size_t{1};
  const bool is_one_column = begin.run_first == end.run_first && begin.field == end.field;
  const index_t first_row = is_one_column ? begin.row : begin.run_first;
  const index_t end_row = is_one_column ? end.row : end.run_end;
  return added.shifts[index] < end_row && added.shifts[index] + added.sizes[index] > first_row;
}

// ---- loading ------------------------------------------------------------------------------------

void Value_Loader::start_again(Table_Id id, index_t first, index_t size) {
  if (packer_ == nullptr || packer_->deleted_values_ == Deleted_Values::keep) return;
  const Table& from = table(id);
  const index_t end = std::min(first + size, from.records().size());
  if (first >= end) return;
  for (std::size_t i = 1; i <= from.fields().size(); ++i) {
    const Field_Id field(static_cast<std::uint16_t>(i));
    for (index_t row = first; row < end; ++row)
      if (const index_t packed = packed_row(id, row);
          Column_Base* const column = packer_->values_.find(id, field, packed))
        column->reset(packed);
  }
}

// Returns -1 if the source did not have this row when it was added. load() will then throw.
index_t Value_Loader::packed_row(Table_Id table, index_t row) const {
  const std::size_t index = table.value() - std::size_t{1};
  return index < from_->sizes.size() && row < from_->sizes[index] ? row + from_->shifts[index] : -1;
}

template <Field_Value T>
void Value_Loader::store(Table_Id table, Field_Id field, index_t from_row, T value) {
  const index_t row = packed_row(table, from_row);
  Column_Base* const column = packer_->values_.find(table, field, row);
  if (column == nullptr) return;
  if constexpr (std::is_same_v<T, Record_Id>) {
    const Table_Id referenced = column->type().referenced;
    if (packer_->loose_ == Part_Packer::Loose_References::make_null && !value.is_null() &&
        packer_->shape_.find_table(referenced) != nullptr) {
      const std::size_t i = referenced.value() - std::size_t{1};
      const bool is_there = value.value() >= 0 && value.value() < from_->sizes[i];
      value = is_there ? value + from_->shifts[i] : Record_Id();
    }
  }
  if constexpr (std::is_same_v<T, std::string_view>) require_size(value);
  Column_Parts::set(*column, row, value);
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
