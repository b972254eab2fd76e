#include "joedb/table/table.h"

#include <algorithm>
#include <new>

namespace joedb::inline v1 {

static constexpr index_t first_capacity = 16;
static constexpr index_t max_capacity = index_t{1} << 48;

// ---- fields -------------------------------------------------------------------------------------

const Field* Table::find_field(Field_Id field) const {
  const std::size_t index = field.value() - std::size_t{1};
  return index < fields_.size() && fields_[index].column ? &fields_[index] : nullptr;
}

Field_Id Table::find_field(std::string_view name) const {
  const auto found = field_ids_.find(name);
  return found == field_ids_.end() ? Field_Id() : found->second;
}

static std::unique_ptr<Column_Base> make_column(Type type) {
  return visit_type(type.code, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Column_Base> {
    return std::make_unique<Column<T>>(type);
  });
}

void Table::prepare_add_field(Type type) {
  next_column_ = make_column(type);
  try {
    if (capacity_ > 0) next_column_->grow(capacity_, false);
  } catch (const std::bad_alloc&) {
    next_column_.reset();
    throw Exception("not enough memory for another field of " + std::to_string(records_.size()) +
                    " records in table " + name_);
  }
}

Field_Id Table::add_field(std::string name) {
  const Field_Id id(static_cast<std::uint16_t>(fields_.size() + 1));
  if (find_index(id) != nullptr) next_column_->set_indexed(true, is_observed_);
  if (is_observed_) next_column_->set_observed(true);
  fields_.push_back({name, std::move(next_column_)});
  field_count_ = fields_.size();
  field_ids_.emplace(std::move(name), id);
  for (const auto& index : indexes_) index->find_columns();
  return id;
}

std::unique_ptr<Column_Base> Table::drop_field(Field_Id field) {
  Field& dropped = fields_[field.value() - std::size_t{1}];
  field_ids_.erase(dropped.name);
  return std::move(dropped.column);
}

void Table::rename_field(Field_Id field, std::string name) {
  Field& renamed = fields_[field.value() - std::size_t{1}];
  field_ids_.erase(renamed.name);
  field_ids_.emplace(name, field);
  renamed.name = std::move(name);
}

Column_Base& Table::find_column(Field_Id field, Type_Code type) {
  const Field* const found = find_field(field);
  if (found == nullptr || found->column->type().code != type) throw_bad_field(field, type);
  return *found->column;
}

void Table::throw_bad_field(Field_Id field, Type_Code type) const {
  if (find_field(field) == nullptr) throw Data_Error("invalid field_id");
  throw Data_Error("invalid field_id: field " + find_field(field)->name + " of table " + name_ +
                   " is not of type " + std::string(type_name(type)));
}

// ---- indexes ------------------------------------------------------------------------------------

Index& Table::add_index(Index_Definition definition) {
  auto index = std::make_unique<Index>(std::move(definition), *this);
  for (const Field_Id field : index->definition().fields)
    if (find_field(field) != nullptr)
      fields_[field.value() - std::size_t{1}].column->set_indexed(true, is_observed_);
  is_followed_ = true;
  return *indexes_.emplace_back(std::move(index));
}

void Table::drop_index(const Index& index) {
  const auto found = std::find_if(indexes_.begin(), indexes_.end(),
                                  [&](const auto& other) { return other.get() == &index; });
  (*found)->drop();
  dropped_indexes_.push_back(std::move(*found));
  indexes_.erase(found);
  for (const Field_Id field : index.definition().fields)
    if (find_field(field) != nullptr)
      fields_[field.value() - std::size_t{1}].column->set_indexed(find_index(field) != nullptr,
                                                                  is_observed_);
  is_followed_ = is_observed_ || !indexes_.empty();
}

void Table::set_observed(bool value) {
  is_observed_ = value;
  is_followed_ = value || !indexes_.empty();
  for (const Field& field : fields_)
    if (field.column) field.column->set_observed(value);
}

void Table::prepare_keys(Record_Id record, std::span<const New_Value> values) {
  require_no_lock();
  const auto is_key = [](const Index& index) {
    return [&index](const New_Value& value) { return index.has_field(value.field); };
  };
  for (const auto& index : indexes_)
    if (std::any_of(values.begin(), values.end(), is_key(*index))) index->prepare(record, values);
}

void Table::require_no_lock() const {
  if (growth_locks_ > 0)
    throw Exception("table " + name_ + " has an index, and a vector of it is being updated");
}

const Index* Table::find_index(Field_Id field) const {
  const auto found = std::find_if(indexes_.begin(), indexes_.end(),
                                  [&](const auto& index) { return index->has_field(field); });
  return found == indexes_.end() ? nullptr : found->get();
}

// ---- rows ---------------------------------------------------------------------------------------

// If a column cannot grow, the columns that have grown before are only larger than necessary.
void Table::reserve(index_t rows, bool will_be_filled) {
  if (rows > max_capacity) throw Data_Error("too many records: " + std::to_string(rows));
  if (growth_locks_ > 0)
    throw Exception("table " + name_ + " cannot grow while a vector of it is updated");
  const auto wanted = static_cast<std::size_t>(
      std::max({rows, 2 * static_cast<index_t>(capacity_), first_capacity}));
  try {
    for (const Field& field : fields_)
      if (field.column) field.column->grow(wanted, will_be_filled);
  } catch (const std::bad_alloc&) {
    throw Exception("not enough memory for " + std::to_string(rows) + " records in table " + name_);
  }
  capacity_ = wanted;
}

void Table::try_to_reserve(index_t rows) noexcept {
  try {
    reserve(rows, true);
  } catch (const std::exception&) {  // the next insertion needs the memory, and will throw
  }
}

static std::string range_text(index_t id, index_t size) {
  return std::to_string(size) + " records from " + std::to_string(id);
}

void Table::prepare_unusual_insert(index_t id, const Budget& budget) {
  if (id < 0) throw Data_Error("insert_into: too big");
  if (id - records_.size() > budget.skip)
    throw Data_Error("insert_into: too big: record " + std::to_string(id) + " in table " + name_ +
                     ", which has a size of " + std::to_string(records_.size()));
  if (records_.is_used(id)) throw Data_Error("insert: record_id already in use");
  if (!indexes_.empty()) require_no_lock();
  records_.reserve_lists(std::max(records_.size(), id + 1));
  if (static_cast<std::size_t>(id) >= capacity_) reserve(id + 1, id == records_.size());
}

void Table::prepare_insert_vector(Record_Id record, index_t size, const Budget& budget) {
  const index_t id = record.value();
  if (id < 0 || size < 0) throw Data_Error("insert_vector: null record_id, or too big");
  if (id - records_.size() > budget.skip || size > budget.vector ||
      std::max<index_t>(id - records_.size(), 0) > budget.vector - size)
    throw Data_Error("insert_vector: null record_id, or too big: " + range_text(id, size) +
                     " in table " + name_ + ", which has a size of " +
                     std::to_string(records_.size()));
  if (!records_.are_free(id, size))
    throw Data_Error("insert_vector: some of " + range_text(id, size) + " are already in use");
  if (!records_.is_dense() || id != records_.size())
    records_.reserve_lists(std::max(records_.size(), id + size));
  // A writer will fill the vector. When a journal is replayed, it is not known yet whether values
  // follow.
  const bool will_be_filled = budget.vector > budget.skip;
  if (static_cast<std::size_t>(id + size) > capacity_) reserve(id + size, will_be_filled);
}

void Table::prepare_delete_vector(Record_Id record, index_t size) {
  if (!records_.are_used(record.value(), size))
    throw Data_Error("delete_vector: some of " + range_text(record.value(), size) +
                     " are not in use");
  records_.reserve_lists(records_.size());
}

void Table::erase_vector(Record_Id record, index_t size) {
  for (index_t id = record.value() + size; --id >= record.value();) {
    for (const auto& index : indexes_) index->forget(Record_Id(id));
    records_.erase(id);
  }
}

// Values are reset when an id is reused, and not on deletion, because an update of a vector may
// write to records that are not in use.
void Table::start_again(Record_Id record, index_t size) {
  has_reused_ids_ = true;
  if (deleted_values_ == Deleted_Values::keep) return;
  const index_t end = std::min(record.value() + size, records_.size());
  for (index_t id = record.value(); id < end; ++id)
    for (const Field& field : fields_)
      if (field.column) field.column->reset(id);
}

std::uint64_t Table::index_bits(Record_Id record) const {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < indexes_.size(); ++i)
    if (indexes_[i]->contains(record)) bits |= std::uint64_t{1} << std::min<std::size_t>(i, 63);
  return bits;
}

void Table::undo_keys(Record_Id record, std::uint64_t index_bits) {
  for (std::size_t i = 0; i < indexes_.size(); ++i) {
    Index& index = *indexes_[i];
    if ((index_bits >> std::min<std::size_t>(i, 63) & 1) == 0) continue;
    const std::vector<Field_Id>& fields = index.definition().fields;
    index.reserve(records_.size());
    index.insert(record, *std::max_element(fields.begin(), fields.end()));
  }
}

void Table::prepare_update_vector(Record_Id record, index_t size) const {
  const index_t id = record.value();
  if (id < 0 || size < 0 || id > records_.size() || size > records_.size() - id)
    throw Data_Error("update_vector out of range");
}

// ---- snapshots ----------------------------------------------------------------------------------

void Table::save(Section_Writer& out) const {
  expect_scan();
  out.number(has_reused_ids_);
  records_.save(out);
  for (const Field& field : fields_)
    if (field.column) field.column->save(out, static_cast<std::size_t>(records_.size()));
}

void Table::restore(Section_Reader& in) {
  const bool has_reused_ids = in.number() != 0;
  Record_Ids records;
  records.restore(in);
  const auto rows = static_cast<std::size_t>(records.size());
  // capacity_ is set first, so that it is correct after a failure, too: restored columns have room
  // for `rows` rows, and the other columns have room for at least as many.
  capacity_ = rows;
  for (const Field& field : fields_)
    if (field.column) field.column->restore(in, rows);
  records.take_loops(records_);
  records_ = std::move(records);
  has_reused_ids_ = has_reused_ids;
  is_read_randomly_ = true;
}

void Table::spill(File& file) {
  records_.spill(file);
  for (const Field& field : fields_)
    if (field.column) field.column->spill(file, static_cast<std::size_t>(records_.size()));
}

void Table::begin_scan() const noexcept {
  is_read_randomly_ = false;
  for (const Field& field : fields_)
    if (field.column) field.column->expect_scan();
}

bool Table::was_cut() const {
  if (std::any_of(indexes_.begin(), indexes_.end(), [](const auto& i) { return i->was_cut(); }))
    return true;
  return std::any_of(fields_.begin(), fields_.end(),
                     [](const Field& field) { return field.column && field.column->was_cut(); });
}

void Table::throw_not_used(Record_Id record) const {
  if (record.is_null()) throw Data_Error("invalid record_id: null is no record of table " + name_);
  if (record.value() == Record_Ids::no_id)
    throw Data_Error("invalid record_id: the end of table " + name_ + " is no record");
  throw Data_Error("invalid record_id: table " + name_ + " has no record " +
                   std::to_string(record.value()));
}

}  // namespace joedb::inline v1
