#include "joedb/table/database.h"

#include <algorithm>
#include <exception>
#include <limits>

#include "joedb/format/encoder.h"

namespace joedb::inline v1 {

// Small enough for memory and time, large enough for any honest use.
static constexpr index_t rows_for_free = index_t{1} << 24;

index_t Database::free_rows_of_journal(Offset size) {
  return std::max<index_t>(size, rows_for_free);
}

void Database::limit_to_journal_of(Offset size) {
  note_journal_size(size);
  may_write_ = false;
  for (Index* const index : indexes_) index->defer();
}

void Database::remove_limits() {
  may_write_ = true;
  std::exception_ptr first_error;
  for (Index* const index : indexes_) {
    try {
      index->settle();
    } catch (const std::exception&) {
      if (!first_error) first_error = std::current_exception();
    }
  }
  if (first_error) std::rethrow_exception(first_error);
}

void Database::require_readable_from(Offset position) const {
  if (unpaid_rows_ <= free_rows_of_journal(position)) return;
  throw Data_Error("the tables have " + std::to_string(unpaid_rows_) +
                   " records without values, too many for a journal of " +
                   std::to_string(position) + " bytes: give them values before the checkpoint");
}

const Table* Database::find_table(std::string_view name) const {
  const auto found = table_ids_.find(name);
  return found == table_ids_.end() ? nullptr : find_table(found->second);
}

void Database::throw_invalid_table(Table_Id id) {
  throw Data_Error("get_table: invalid table_id: " + std::to_string(id.value()));
}

void Database::throw_invalid_update() { throw Data_Error("update: invalid record_id"); }

// ---- indexes ------------------------------------------------------------------------------------

void Database::add_index(Index_Definition definition) {
  indexes_to_make_.push_back(std::move(definition));
  make_indexes();
}

void Database::make_indexes() {
  std::erase_if(indexes_to_make_, [&](const Index_Definition& definition) {
    Table* const t = find_table(definition.table);
    if (t == nullptr) return false;
    indexes_.push_back(&t->add_index(definition));
    return true;
  });
}

const Index* Database::find_index(std::string_view name) const {
  const auto found = std::find_if(indexes_.begin(), indexes_.end(), [&](const Index* index) {
    return index->definition().name == name;
  });
  return found == indexes_.end() ? nullptr : *found;
}

// ---- checks -------------------------------------------------------------------------------------

void Database::prepare(const Create_Table& e) const {
  if (!is_identifier(e.name))
    throw Data_Error("create_table: invalid identifier: " + std::string(e.name));
  if (table_ids_.contains(e.name))
    throw Data_Error("create_table: name already used: " + std::string(e.name));
  if (tables_.size() == std::numeric_limits<std::uint16_t>::max())
    throw Data_Error("create_table: a database can have at most 65535 tables");
}

void Database::prepare(const Drop_Table& e) const {
  const Table* const t = find_table(e.table);
  if (t == nullptr) throw Data_Error("drop_table: invalid table_id");
  if (!t->indexes().empty())
    throw Data_Error("drop_table: table " + t->name() + " has the index " +
                     t->indexes()[0]->definition().name);
}

void Database::prepare(const Rename_Table& e) const {
  table(e.table);
  if (!is_identifier(e.name))
    throw Data_Error("rename_table: invalid identifier: " + std::string(e.name));
  if (table_ids_.contains(e.name))
    throw Data_Error("rename_table: name already used: " + std::string(e.name));
}

void Database::prepare(const Add_Field& e) const {
  const Table& t = table(e.table);
  if (!is_identifier(e.name))
    throw Data_Error("add_field: invalid identifier: " + std::string(e.name));
  if (!t.find_field(e.name).is_null()) throw Data_Error("add_field: name already used");
  if (t.fields().size() == std::numeric_limits<std::uint16_t>::max())
    throw Data_Error("add_field: a table can have at most 65535 fields");
}

void Database::prepare(const Drop_Field& e) const {
  const Table& t = table(e.table);
  if (t.find_field(e.field) == nullptr) throw Data_Error("drop_field: invalid field_id");
  if (const Index* const index = t.find_index(e.field); index != nullptr)
    throw Data_Error("drop_field: index " + index->definition().name + " needs the field");
}

void Database::prepare(const Rename_Field& e) const {
  const Table& t = table(e.table);
  if (t.find_field(e.field) == nullptr) throw Data_Error("rename_field: invalid field_id");
  if (!is_identifier(e.name))
    throw Data_Error("rename_field: invalid identifier: " + std::string(e.name));
  if (!t.find_field(e.name).is_null())
    throw Data_Error("rename_field: name already used: " + std::string(e.name));
}

// ---- changes ------------------------------------------------------------------------------------

template <class Entry>
void Database::remember(const Entry& entry) {
  Context context;  // schema entries do not depend on it
  append_encoded(schema_entries_, context, entry);
}

void Database::apply(const Create_Table& e) {
  const Table_Id id(static_cast<std::uint16_t>(tables_.size() + 1));
  tables_.push_back(std::make_unique<Table>(id, std::string(e.name), deleted_values_));
  table_ids_.emplace(e.name, id);
  remember(e);
  make_indexes();
}

void Database::apply(const Drop_Table& e) {
  auto& dropped = tables_[e.table.value() - std::size_t{1}];
  table_ids_.erase(dropped->name());
  if (keeps_dropped_) dropped_tables_.push_back(std::move(dropped));
  dropped.reset();
  remember(e);
}

void Database::apply(const Rename_Table& e) {
  Table& t = table(e.table);
  table_ids_.erase(t.name());
  table_ids_.emplace(e.name, e.table);
  t.set_name(std::string(e.name));
  remember(e);
}

void Database::apply(const Add_Field& e) {
  table(e.table).add_field(std::string(e.name), e.type);
  remember(e);
  if (!may_write_) return;
  for (const auto& index : table(e.table).indexes()) index->settle();
}

void Database::apply(const Drop_Field& e) {
  auto column = table(e.table).drop_field(e.field);
  if (keeps_dropped_) dropped_columns_.push_back(std::move(column));
  remember(e);
}

void Database::apply(const Rename_Field& e) {
  table(e.table).rename_field(e.field, std::string(e.name));
  remember(e);
}

void Database::apply(const Custom& e) { remember(e); }

void Database::apply(const Insert_Vector& e) {
  Table& t = table(e.table);
  note_insert(e.record.value(), t.records().size());
  unpaid_rows_ += e.size;
  t.insert_vector(e.record, e.size);
}

void Database::apply(const Delete_Vector& e) { table(e.table).erase_vector(e.record, e.size); }

// ---- runs of entries ----------------------------------------------------------------------------

// The longest entry but for texts: opcode, table, record, field, and the two numbers of a blob.
static constexpr std::ptrdiff_t longest_entry = 1 + 1 + 8 + 1 + 8 + 8;

static std::uint64_t take_compact(const char*& in) {
  const std::size_t size = compact_size_from_first_byte(*in);
  in += size;
  return read_compact(in - size, size);
}

// False for an id that has a second byte.
static bool take_small_id(const char*& in, std::uint16_t& id) {
  id = static_cast<unsigned char>(*in++);
  return id < 32;
}

// Sets a row of a column to the value at `in`, and moves past it; false if it does not end before
// `end`.
template <Field_Value T>
static bool take_value(Column<T>& column, index_t id, const char*& in, const char* end) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    const std::uint64_t size = take_compact(in);
    if (size > std::min(static_cast<std::size_t>(end - in), Column<T>::max_size)) return false;
    const std::string_view text(in, size);
    column.prepare(text);
    column.set(id, text);
    in += size;
  } else if constexpr (std::is_same_v<T, Record_Id>) {
    column.set(id, Record_Id(static_cast<index_t>(take_compact(in)) - 1));
  } else if constexpr (std::is_same_v<T, Blob>) {
    const auto position = static_cast<std::int64_t>(take_compact(in));
    column.set(id, Blob(position, static_cast<std::int64_t>(take_compact(in))));
  } else {
    if constexpr (std::is_same_v<T, bool>)
      column.set(id, *in != 0);
    else
      column.set(id, load<T>(in));
    in += sizeof(T);
  }
  return true;
}

// What is unusual is left for decode_entry, which also knows what is wrong with it. Until its value
// is there, an entry changes nothing.
void Database::take_run(Decoder_Input& in, Context& context, Offset end) {
  const std::string_view window = in.window(end);
  const char* const window_end = window.data() + window.size();
  const char* entry = window.data();
  Table* table = find_table(context.table);
  while (window_end - entry >= longest_entry) {
    const auto opcode = static_cast<std::uint8_t>(*entry);
    if (opcode == static_cast<std::uint8_t>(Opcode::append)) {
      const Record_Id record = context.record + 1;
      if (table == nullptr || !table->has_room_for(record)) break;
      table->insert(record);
      context.record = record;
      ++entry;
      continue;
    }

    if (opcode < first_update_opcode || opcode > last_update_opcode) break;
    const auto form = static_cast<Update_Form>((opcode - first_update_opcode) & 3);
    const auto type = static_cast<Type_Code>((opcode - first_update_opcode) / 4 + 1);
    const char* current = entry + 1;
    std::uint16_t table_id = context.table.value();
    std::uint16_t field_id = context.field.value();
    Record_Id record = context.record;
    if (form == Update_Form::last) {
      if (!take_small_id(current, field_id)) break;
    } else if (form == Update_Form::next) {
      record = record + 1;
    } else if (form == Update_Form::full) {
      if (!take_small_id(current, table_id)) break;
      record = Record_Id(static_cast<index_t>(take_compact(current)) - 1);
      if (!take_small_id(current, field_id)) break;
    } else {
      break;
    }
    Table* const updated = form == Update_Form::full ? find_table(Table_Id(table_id)) : table;
    if (updated == nullptr || !updated->is_used(record)) break;
    Column_Base* const column = updated->find_plain_column(Field_Id(field_id), type);
    if (column == nullptr) break;
    const bool is_set = visit_type(type, [&]<class T>(std::type_identity<T>) {
      return take_value(static_cast<Column<T>&>(*column), record.value(), current, window_end);
    });
    if (!is_set) break;
    table = updated;
    context = {Table_Id(table_id), record, Field_Id(field_id)};
    entry = current;
  }
  in.move_to(entry);
}

}  // namespace joedb::inline v1
