#include "joedb/table/database.h"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <limits>
#include <set>

#include "joedb/format/codec.h"
#include "kernel/base/utf8.h"
#include "kernel/format/run_decoder.h"
#include "kernel/io/unnamed_file.h"
#include "kernel/schema/value_text.h"
#include "kernel/table/declaration.h"
#include "kernel/table/live_fields.h"
#include "kernel/table/snapshot_file.h"
#include "kernel/table/snapshot_source.h"

namespace joedb::inline v1 {

// This limit is low enough to protect memory and time, and high enough for any legitimate use.
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
  require_indexable(journal_size_);
  std::exception_ptr first_error;
  for (Index* const index : indexes_) {
    try {
      index->insert_waiting();
    } catch (const std::exception&) {
      if (!first_error) first_error = std::current_exception();
    }
  }
  if (first_error) std::rethrow_exception(first_error);
}

// Declared indexes have the records without an entry of their own, too. So a limit is needed, which
// is a function of the content and the size of the journal. It allows 16 indexes of a table that
// has a byte for each record.
void Database::require_indexable(Offset size) const {
  constexpr index_t per_byte = 16;
  const index_t rows = declared_.empty() ? 0 : indexed_rows();
  if (rows <= free_rows_of_journal(0) || (rows - free_rows_of_journal(0)) / per_byte <= size)
    return;
  throw Data_Error("the declared indexes have " + std::to_string(rows) +
                   " records, too many for a journal of " + std::to_string(size) + " bytes");
}

index_t Database::indexed_rows() const {
  index_t rows = 0;
  for (const auto& [name, index] : declared_)
    rows += table(index->definition().table).records().size();
  return rows;
}

void Database::require_readable_from(Offset position) const {
  require_indexable(position);
  if (rows_beyond_limit_ <= free_rows_of_journal(position)) return;
  throw Data_Error("the tables have " + std::to_string(rows_beyond_limit_) +
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
  added_.push_back(definition);
  indexes_to_make_.push_back(std::move(definition));
  make_indexes();
}

void Database::make_indexes() {
  std::erase_if(indexes_to_make_, [&](const Index_Definition& definition) {
    Table* const t = find_table(definition.table);
    if (t == nullptr) return false;
    if (find_index(definition) == nullptr) indexes_.push_back(&t->add_index(definition));
    return true;
  });
}

static bool is_same(const Index_Definition& a, const Index_Definition& b) {
  return a.name == b.name && a.table == b.table && a.fields == b.fields &&
         a.is_unique == b.is_unique;
}

const Index* Database::find_index(std::string_view name) const {
  for (const Index_Definition& definition : added_)
    if (definition.name == name) return find_index(definition);
  return find_declared_index(name);
}

const Index* Database::find_index(const Index_Definition& definition) const {
  const auto found = std::find_if(indexes_.begin(), indexes_.end(), [&](const Index* index) {
    return is_same(index->definition(), definition);
  });
  return found == indexes_.end() ? nullptr : *found;
}

const Index* Database::find_declared_index(std::string_view name) const {
  const auto found = declared_.find(name);
  return found == declared_.end() ? nullptr : found->second;
}

bool Database::is_declared(const Index& index) const {
  return find_declared_index(index.definition().name) == &index;
}

void Database::set_observer(Change_Observer* observer) {
  observer_ = observer;
  for (const auto& table : tables_)
    if (table) table->set_observed(observer != nullptr && observer->observes(table->id()));
  if (observer != nullptr) observer->follow(*this);
}

// ---- checks -------------------------------------------------------------------------------------

// Returns `name` in a form that is safe on a terminal: quoted if it has control characters, because
// the name may come from a damaged or hostile file.
static std::string visible(std::string_view name) {
  if (std::none_of(name.begin(), name.end(), is_control)) return std::string(name);
  std::string text;
  append_quoted(text, name);
  return text;
}

void Database::prepare(const Create_Table& e) const {
  if (!is_identifier(e.name))
    throw Data_Error("create_table: invalid identifier: " + visible(e.name));
  if (table_ids_.contains(e.name))
    throw Data_Error("create_table: name already used: " + std::string(e.name));
  if (tables_.size() == std::numeric_limits<std::uint16_t>::max())
    throw Data_Error("create_table: a database can have at most 65535 tables");
}

void Database::prepare(const Drop_Table& e) const {
  const Table* const t = find_table(e.table);
  if (t == nullptr) throw Data_Error("drop_table: invalid table_id");
  for (const Index_Definition& added : added_)
    if (added.table == e.table)
      throw Data_Error("drop_table: table " + t->name() + " has the index " + added.name);
}

void Database::prepare(const Rename_Table& e) const {
  table(e.table);
  if (!is_identifier(e.name))
    throw Data_Error("rename_table: invalid identifier: " + visible(e.name));
  if (table_ids_.contains(e.name))
    throw Data_Error("rename_table: name already used: " + std::string(e.name));
}

void Database::prepare(const Add_Field& e) {
  Table& t = table(e.table);
  if (!is_identifier(e.name)) throw Data_Error("add_field: invalid identifier: " + visible(e.name));
  if (!t.find_field(e.name).is_null()) throw Data_Error("add_field: name already used");
  if (t.fields().size() == std::numeric_limits<std::uint16_t>::max())
    throw Data_Error("add_field: a table can have at most 65535 fields");
  t.prepare_add_field(e.type);
}

void Database::prepare(const Drop_Field& e) const {
  const Table& t = table(e.table);
  if (t.find_field(e.field) == nullptr) throw Data_Error("drop_field: invalid field_id");
  for (const Index_Definition& added : added_)
    if (added.table == e.table && std::count(added.fields.begin(), added.fields.end(), e.field) > 0)
      throw Data_Error("drop_field: index " + added.name + " needs the field");
}

void Database::prepare(const Rename_Field& e) const {
  const Table& t = table(e.table);
  if (t.find_field(e.field) == nullptr) throw Data_Error("rename_field: invalid field_id");
  if (!is_identifier(e.name))
    throw Data_Error("rename_field: invalid identifier: " + visible(e.name));
  if (!t.find_field(e.name).is_null())
    throw Data_Error("rename_field: name already used: " + std::string(e.name));
}

// ---- changes ------------------------------------------------------------------------------------

template <class Entry>
void Database::remember(const Entry& entry) {
  Context context;  // the encoding of schema entries does not depend on it
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
  while (!table(e.table).indexes().empty()) drop_index(*table(e.table).indexes().back());
  auto& dropped = tables_[e.table.value() - std::size_t{1}];
  table_ids_.erase(dropped->name());
  for_each_field(*dropped, [&](Field_Id id, const Field& field) {
    forget_referrer(e.table, id, *field.column);
  });
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
  Table& t = table(e.table);
  const Field_Id id = t.add_field(std::string(e.name));
  note_referrer(e.table, id, *t.find_field(id)->column);
  remember(e);
  if (!may_write_) return;
  for (const auto& index : t.indexes()) index->insert_waiting();
}

void Database::apply(const Drop_Field& e) {
  while (const Index* const index = table(e.table).find_index(e.field)) drop_index(*index);
  auto column = table(e.table).drop_field(e.field);
  forget_referrer(e.table, e.field, *column);
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
  rows_beyond_limit_ += e.size;
  t.insert_vector(e.record, e.size);
  t.enter_indexes(e.record, e.size);
}

void Database::apply(const Delete_Vector& e) { table(e.table).erase_vector(e.record, e.size); }

// ---- declarations -------------------------------------------------------------------------------

void Database::declare(std::string_view comment) {
  if (declare_type(comment) || declare_index(comment)) ++declaration_count_;
}

bool Database::declare_type(std::string_view comment) {
  const auto declaration = parse_declaration(comment);
  if (!declaration) return false;
  const auto table = table_ids_.find(declaration->table);
  if (table == table_ids_.end()) return false;
  const Field_Id field = find_table(table->second)->find_field(declaration->field);
  if (field.is_null()) return false;
  Column_Base& column = *tables_[table->second.value() - std::size_t{1}]->find_field(field)->column;
  const Logical_Type& logical = declaration->type.logical;
  if (declaration->type.stored != column.type().code || logical == column.logical()) return false;
  forget_referrer(table->second, field, column);
  column.set_logical(logical.is_plain() ? nullptr : std::make_shared<Logical_Type>(logical));
  note_referrer(table->second, field, column);
  return true;
}

bool Database::declare_index(std::string_view comment) {
  const auto declaration = parse_index_declaration(comment);
  if (!declaration) return false;
  if (declaration->is_drop) {
    const Index* const index = find_declared_index(declaration->name);
    if (index == nullptr) return false;
    const auto is_added = [&](const Index_Definition& d) {
      return is_same(d, index->definition());
    };
    if (std::none_of(added_.begin(), added_.end(), is_added))
      drop_index(*index);
    else
      declared_.erase(declared_.find(declaration->name));
    return true;
  }
  const auto definition = definition_of(*declaration, *this);
  if (!definition || !declaration_problem(*definition).empty()) return false;
  Index* index = const_cast<Index*>(find_index(*definition));
  if (index == nullptr) {
    index = &table(definition->table).add_index(*definition);
    indexes_.push_back(index);
  }
  declared_.emplace(definition->name, index);
  index->take_all();
  if (may_write_) index->insert_waiting();
  return true;
}

// An index that the program has added stays, because neither its table nor its fields can be
// dropped.
void Database::drop_index(const Index& index) {
  if (is_declared(index)) declared_.erase(declared_.find(index.definition().name));
  std::erase(indexes_, &index);
  table(index.definition().table).drop_index(index);
  ++declaration_count_;
}

// The limits bound the time of replay, which looks at each index of a table for each update.
std::string Database::declaration_problem(const Index_Definition& definition) const {
  constexpr std::size_t max_indexes = 1000, max_of_table = 64;
  if (!is_identifier(definition.name)) return "invalid identifier: " + visible(definition.name);
  if (find_declared_index(definition.name) != nullptr)
    return "there is an index " + definition.name + " already";
  const Table* const t = find_table(definition.table);
  if (t == nullptr) return "there is no such table";
  std::set<Field_Id> fields;
  for (const Field_Id field : definition.fields) {
    if (t->find_field(field) == nullptr) return "there is no such field";
    if (!fields.insert(field).second)
      return "field " + t->find_field(field)->name + " is there twice";
  }
  if (fields.empty()) return "an index needs a field";
  const auto is_of_table = [&](const auto& named) {
    return named.second->definition().table == definition.table;
  };
  if (declared_.size() >= max_indexes) return "a file can declare at most 1000 indexes";
  if (std::count_if(declared_.begin(), declared_.end(), is_of_table) >=
      std::ptrdiff_t{max_of_table})
    return "a table can have at most 64 declared indexes";
  return "";
}

std::vector<std::string> Database::declarations() const {
  std::vector<std::string> texts;
  for (const auto& table : tables_) {
    if (!table) continue;
    for (const Field& field : table->fields())
      if (field.column && !field.column->logical().is_plain())
        texts.push_back(type_declaration(table->name(), field.name, field.column->type().code,
                                         field.column->logical()));
    for (std::string& text : index_declarations(*this, *table)) texts.push_back(std::move(text));
  }
  return texts;
}

// Schema entries, and then the declarations as comments.
static std::string saved_schema(const Database& database) {
  std::string entries = database.schema_entries();
  Context context;
  for (const std::string& text : database.declarations())
    append_encoded(entries, context, Comment{text});
  return entries;
}

// Returns a schema of saved_schema() without the declarations.
static std::string without_declarations(std::string_view schema) {
  std::string entries;
  Context context;
  decode_entries(schema, [&]<class Entry>(const Entry& entry) {
    if constexpr (is_schema_entry<Entry>) append_encoded(entries, context, entry);
  });
  return entries;
}

// ---- references ---------------------------------------------------------------------------------

using On_Delete = Logical_Type::On_Delete;

void Database::note_referrer(Table_Id table, Field_Id field, const Column_Base& column) {
  if (column.type().code != Type_Code::reference) return;
  const On_Delete rule = column.logical().on_delete;
  Referrers& referrers = referrers_[column.type().referenced];
  referrers.fields.emplace(std::pair(table, field), rule);
  if (rule != On_Delete::keep) ++referrers.rule_count;
}

void Database::forget_referrer(Table_Id table, Field_Id field, const Column_Base& column) {
  if (column.type().code != Type_Code::reference) return;
  Referrers& referrers = referrers_[column.type().referenced];
  referrers.fields.erase({table, field});
  if (column.logical().on_delete != On_Delete::keep) --referrers.rule_count;
}

// ---- snapshots ----------------------------------------------------------------------------------

Database Database::make_new() const {
  Database result(deleted_values_);
  for (const Index_Definition& definition : added_) result.add_index(definition);
  result.keeps_dropped_ = keeps_dropped_;
  return result;
}

static std::string group_name(const Table& table) {
  return "table " + std::to_string(table.id().value());
}

static std::string group_name(const Index_Definition& definition, bool is_declared) {
  return (is_declared ? "declared index " : "index ") + definition.name + " of table " +
         std::to_string(definition.table.value());
}

void Database::save(Snapshot_Writer& out) const {
  out.begin_group("database");
  const auto is_reused = [](const auto& table) { return table && table->has_reused_ids(); };
  out.number(deleted_values_ == Deleted_Values::keep);
  out.number(std::any_of(tables_.begin(), tables_.end(), is_reused));
  out.number(rows_beyond_limit_);
  out.number(timestamps_.has_value());
  out.number(timestamps_ ? timestamps_->first : 0);
  out.number(timestamps_ ? timestamps_->last : 0);
  out.text(saved_schema(*this));
  for (const auto& table : tables_) {
    if (!table) continue;
    out.begin_group(group_name(*table));
    table->save(out);
  }
  for (const Index* const index : indexes_) {
    const Index_Definition& definition = index->definition();
    // Its declaration has ended, so another process has other records in it.
    if (index->has_all() && !is_declared(*index)) continue;
    out.begin_group(group_name(definition, is_declared(*index)));
    out.text(definition.name);
    out.text(definition.schema_name);
    out.number(definition.table.value());
    out.number(definition.is_unique);
    out.number(static_cast<std::int64_t>(definition.fields.size()));
    for (const Field_Id field : definition.fields) out.number(field.value());
    index->save(out);
  }
}

Index_Definition Database::read_definition(Section_Reader& in) {
  Index_Definition definition;
  definition.name = in.text();
  definition.schema_name = in.text();
  definition.table = Table_Id(static_cast<std::uint16_t>(in.number()));
  definition.is_unique = in.number() != 0;
  const std::int64_t fields = in.number();
  for (std::int64_t i = 0; i < fields; ++i)
    definition.fields.push_back(Field_Id(static_cast<std::uint16_t>(in.number())));
  return definition;
}

static std::unique_ptr<Section_Reader> open_group(const Snapshot_File& snapshot,
                                                  const std::string& name) {
  auto in = snapshot.open(name);
  if (!in) throw Corruption_Error("it does not have the " + name, 0);
  return in;
}

namespace {

// Applies the schema entries and declarations of a snapshot. Other entries are rejected, because
// the rows of a snapshot come only from its sections.
struct Schema_Only {
  template <class Entry>
  void operator()(const Entry& entry) const {
    if constexpr (is_schema_entry<Entry> || std::is_same_v<Entry, Comment>)
      database(entry);
    else
      throw Data_Error("its schema has other entries");
  }
  Database& database;
};

[[noreturn]] void throw_too_many_rows() {
  throw Corruption_Error("it has more records than its journal can have", 0);
}

}  // namespace

Deleted_Values Database::read_deleted_values(const Snapshot_File& snapshot) {
  return open_group(snapshot, "database")->number() != 0 ? Deleted_Values::keep
                                                         : Deleted_Values::reset;
}

bool Database::suits(const Snapshot_File& snapshot) const {
  const auto in = open_group(snapshot, "database");
  const bool is_alike = (in->number() != 0) == (deleted_values_ == Deleted_Values::keep);
  const bool has_reused_ids = in->number() != 0;
  return is_alike || !has_reused_ids;
}

void Database::restore(std::shared_ptr<const Snapshot_File> file) {
  const Snapshot_File& snapshot = *file;
  if (!suits(snapshot))
    throw Corruption_Error(
        deleted_values_ == Deleted_Values::reset
            ? "ids were used again, and in it new records begin with the values of deleted ones, "
              "as "
              "in joedb 10: a tool with --classic, or an older one, has written it"
            : "ids were used again, and in it new records do not begin with the values of deleted "
              "ones, as they do in joedb 10 and with --classic",
        0);
  const auto in = open_group(snapshot, "database");
  in->number();  // the first two numbers are for suits()
  in->number();
  const index_t rows_beyond_limit = in->number();
  if (rows_beyond_limit < 0 || rows_beyond_limit > free_rows_of_journal(snapshot.place().position))
    throw_too_many_rows();
  const bool has_timestamps = in->number() != 0;
  const Timestamps timestamps{in->number(), in->number()};
  const std::string_view schema = in->text();
  if (is_new()) {
    try {
      decode_entries(schema, Schema_Only{*this});
    } catch (const Data_Error& error) {
      throw Corruption_Error(error.what(), 0);
    }
  }
  if (saved_schema(*this) !=
      (are_declarations_ignored() ? without_declarations(schema) : std::string(schema)))
    throw Corruption_Error("its tables are not those of the schema", 0);
  // Room is made even after a failure, because a value of the next insertion into a table may be a
  // text of the same table: the insertion must not move the column.
  struct Make_Room {
    ~Make_Room() {
      for (const auto& table : tables)
        if (table) table->make_room_for_one();
    }
    const std::vector<std::unique_ptr<Table>>& tables;
  } const at_the_end{tables_};
  // Every other row has an entry of its own, of at least one byte. This limit is necessary because
  // a table without fields has no section whose size limits the number of rows.
  constexpr index_t largest = index_t{1} << 61;
  index_t left =
      std::min(snapshot.place().position, largest) + std::min(rows_beyond_limit, largest);
  for (const auto& table : tables_) {
    if (!table) continue;
    table->restore(*open_group(snapshot, group_name(*table)));
    left -= table->records().size();
    if (left < 0) throw_too_many_rows();
  }
  restore_indexes(snapshot);
  rows_beyond_limit_ = rows_beyond_limit;
  if (has_timestamps) timestamps_ = timestamps;
  snapshot_source_ = std::make_shared<Snapshot_Source>(std::move(file));
}

// A declared index that is not there is built after the replay.
void Database::restore_indexes(const Snapshot_File& snapshot) {
  for (Index* const index : indexes_) {
    const bool is_optional = is_declared(*index);
    const std::string name = group_name(index->definition(), is_optional);
    const auto group = is_optional ? snapshot.open(name) : open_group(snapshot, name);
    if (!group) continue;
    const Index_Definition saved = read_definition(*group);
    if (saved.fields != index->definition().fields ||
        saved.is_unique != index->definition().is_unique)
      throw Corruption_Error("index " + saved.name + " has another definition", 0);
    index->restore(*group);
  }
}

// Moves tables to spill_file_, and writes each index to a new file, as one sorted run that replaces
// the old run and tree.
void Database::spill() {
  require_intact();
  if (!spill_file_) spill_file_ = std::make_shared<Unnamed_File>("a temporary file");
  for (const auto& table : tables_)
    if (table) table->spill(*spill_file_);
  for (Index* const index : indexes_) {
    if (index->is_on_disk()) continue;
    auto file = std::make_unique<Unnamed_File>("a temporary file");
    Snapshot_Writer out(*file);
    out.begin_group("index");
    index->save(out);
    out.finish({}, {});
    require_intact();  // the tables that save() has read
    const Snapshot_File saved(std::move(file));
    index->restore(*open_group(saved, "index"));
  }
}

void Database::look_for_damage() const {
  if (snapshot_source_) snapshot_source_->require_good();
  for (const auto& table : tables_)
    if (table && table->was_cut())
      throw_io_error(
          "reading a snapshot (somebody has cut it; close the database and open it again)",
          "table " + table->name(), -1, EIO);
}

// ---- batches of entries -------------------------------------------------------------------------

namespace {

// Applies the entries of a run that need no preparation; the other entries are left to
// decode_entry.
template <class Find_Table>
class Run_Sink {
 public:
  explicit Run_Sink(Find_Table find_table) : find_table_(find_table) {}

  Table* table(Table_Id id) const { return find_table_(id); }

  bool insert(Table& table, Record_Id record) const {
    if (!table.has_room_for(record)) return false;
    table.insert(record);
    return true;
  }

  Column_Base* column(Table& table, Record_Id record, Field_Id field, Type_Code type) const {
    return table.is_used(record) ? table.find_plain_column(field, type) : nullptr;
  }

  template <Field_Value T>
  bool set(Column_Base& plain, Record_Id record, T value) const {
    auto& column = static_cast<Column<T>&>(plain);
    if constexpr (std::is_same_v<T, std::string_view>) {
      if (value.size() > Column<T>::max_size) return false;
      column.prepare(value);
    }
    column.set(record.value(), value);
    return true;
  }

 private:
  const Find_Table find_table_;
};

}  // namespace

void Database::replay_batch(Decoder_Input& in, Context& context, Offset end) {
  decode_run(in, context, end, Run_Sink([this](Table_Id id) { return find_table(id); }));
}

}  // namespace joedb::inline v1
