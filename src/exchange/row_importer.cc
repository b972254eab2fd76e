#include "exchange/row_importer.h"

#include <algorithm>
#include <iterator>

#include "text/dump.h"

namespace joedb {

namespace {

class Dangling_Reference : public Cell_Error {
 public:
  using Cell_Error::Cell_Error;
};

}  // namespace

Row_Error::Row_Error(const Data_Error& cause, std::optional<std::size_t> in_column, std::int64_t at)
    : Data_Error(cause),
      column(in_column),
      place(at),
      is_dangling(dynamic_cast<const Dangling_Reference*>(&cause) != nullptr) {}

// ---- lookups ------------------------------------------------------------------------------------

// Finds records of a referenced table by the value of a field. Inserts missing records.
class Row_Importer::Lookup {
 public:
  Lookup(Writable_Database& database, Table_Id table, Field_Id field)
      : writer_(database, table),
        field_(*writer_.table().find_field(field)),
        column_(writer_.column(field)),
        index_(writer_.table(), {field}) {
    writer_.reset();
  }

  // Throws Cell_Error or Dangling_Reference. `created` counts inserted records.
  Record_Id find(const Cell& cell, const Import_Column& target, std::int64_t& created) {
    column_.read(cell);
    const Key_Part key = column_.key();
    const Record_Id found = index_.find({&key, 1});
    if (!found.is_null()) return found;
    if (target.ignores_missing) return {};
    if (!target.creates_missing)
      throw Dangling_Reference("table " + writer_.table().name() + " has no record whose " +
                               field_.name + " is " + quoted_cell(cell));
    const Record_Id record = writer_.insert();
    index_.insert(record);
    ++created;
    return record;
  }

 private:
  Row_Writer writer_;
  const Field& field_;
  Column_Writer& column_;
  Record_Index index_;
};

struct Row_Importer::Column {
  Column_Writer* writer = nullptr;
  const Column_Base* stored = nullptr;
  bool hides_missing = false;  // a missing value is stored as 0, false or ""
  Lookup* lookup = nullptr;
  bool is_pending = false;  // finish() looks it up
  bool is_absent = false;   // in the current row: no cell
  bool is_empty = false;    // in the current row: no value, stored as 0, false or ""
  std::int64_t missing = 0;
  bool is_string = false;  // the field
  bool is_number = false;  // in this row: a number or boolean for a string
  std::int64_t texts = 0;
  std::int64_t dangling = 0;
  bool is_key = false;
};

struct Row_Importer::Pending {
  Record_Id record;
  std::size_t column;
  std::int64_t place;
  Cell::Kind kind;
  std::string text;  // also for a number

  Cell cell() const { return Cell::of(kind, text); }
};

// ---- construction -------------------------------------------------------------------------------

static const Field& require_field(const Table& table, Field_Id id) {
  const Field* const field = table.find_field(id);
  if (field == nullptr) throw Data_Error("table " + table.name() + " has no such field");
  return *field;
}

Row_Importer::Row_Importer(Writable_Database& database, Import_Target target)
    : database_(database), target_(std::move(target)), writer_(database, target_.table) {
  if (target_.has_ids && !target_.key.empty())
    throw Data_Error("records are identified by their ids or by a key, not by both");
  if (target_.deletes_missing && !target_.has_ids && target_.key.empty())
    throw Data_Error("without a key, no record is missing");
  for (const Import_Column& column : target_.columns) {
    const Column_Base& stored = *writer_.table().find_field(column.field)->column;
    columns_.push_back(
        {.writer = &writer_.column(column.field),
         .stored = &stored,
         .hides_missing = !missing_value_text(stored.type().code, stored.logical()).empty(),
         .is_string = stored.type().code == Type_Code::string &&
                      stored.logical().kind == Logical_Type::Kind::plain});
  }
  make_lookups();
  for (const Field_Id field : target_.key) {
    const auto is_field = [&](const Import_Column& column) { return column.field == field; };
    const auto found = std::find_if(target_.columns.begin(), target_.columns.end(), is_field);
    const std::string& name = require_field(writer_.table(), field).name;
    if (found == target_.columns.end())
      throw Data_Error("the key has the field " + name + ", which has no column");
    Column& column = columns_[static_cast<std::size_t>(found - target_.columns.begin())];
    column.is_key = true;
    if (column.is_pending)
      throw Data_Error("the key cannot have the field " + name +
                       ": it refers to the records that are imported");
    key_columns_.push_back(&writer_.column(field));
  }
  if (!target_.key.empty()) index_.emplace(writer_.table(), target_.key);
  defer_indexes();
}

// Defers empty indexes, because sorting all records at once is much faster than inserting each; and
// those in which a record may get a key that another one has until a later row, or the end, changes
// or deletes that one.
void Row_Importer::defer_indexes() {
  for (const auto& index : database_.get_database().table(target_.table).indexes()) {
    if (!index->is_complete() || index->is_deferred()) continue;
    const bool is_unique = index->has_all() && index->definition().is_unique;
    const bool is_empty = index->size() == 0;
    if (!is_empty && !(is_unique && (target_.has_ids || !target_.key.empty()))) continue;
    deferred_.push_back({index.get(), is_unique ? index->find_duplicates().count : 0, is_empty});
    index->defer();
    has_places_ = has_places_ || index->definition().is_unique;
  }
}

Row_Importer::~Row_Importer() = default;

void Row_Importer::make_lookups() {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Import_Column& column = target_.columns[i];
    if (column.lookup.is_null()) continue;
    const Field& field = require_field(writer_.table(), column.field);
    const Type type = field.column->type();
    if (type.code != Type_Code::reference)
      throw Data_Error("field " + field.name + " of table " + writer_.table().name() +
                       " is not a reference, so nothing can be looked up");
    require_field(database_.get_database().table(type.referenced), column.lookup);
    // Later rows may insert, or change, the records that are looked up.
    columns_[i].is_pending = type.referenced == target_.table;
    if (!columns_[i].is_pending) columns_[i].lookup = &find_lookup(type.referenced, column.lookup);
  }
}

// Returns the lookup of a field. There is only one, because it must know all records that it
// inserted.
Row_Importer::Lookup& Row_Importer::find_lookup(Table_Id table, Field_Id field) {
  auto& lookup = lookups_[{table, field}];
  if (!lookup) lookup = std::make_unique<Lookup>(database_, table, field);
  return *lookup;
}

// ---- rows ---------------------------------------------------------------------------------------

Row_Importer::State& Row_Importer::state(Record_Id record) {
  const auto id = static_cast<std::size_t>(record.value());
  if (id >= states_.size()) {
    const auto size = static_cast<std::size_t>(writer_.table().records().size());
    states_.resize(std::max({id + 1, size, states_.size() + states_.size() / 2}));
  }
  return states_[id];
}

// Returns null if the cell has no value.
Record_Id Row_Importer::look_up(std::size_t i, const Cell& cell) {
  if (cell.is_empty()) return {};
  const Record_Id found = columns_[i].lookup->find(cell, target_.columns[i], counts_.created);
  if (found.is_null()) ++columns_[i].dangling;
  return found;
}

// Returns true if a value is missing, and the field will not show it. A string field is different:
// a text without characters is a value.
bool Row_Importer::is_missing(const Column& column, const Cell& cell) {
  return cell.is_empty() && column.hides_missing &&
         is_empty_for(cell, column.stored->type().code, column.stored->logical());
}

bool Row_Importer::is_number(const Cell& cell) const {
  switch (cell.kind()) {
    case Cell::Kind::boolean:
    case Cell::Kind::integer:
    case Cell::Kind::real:
      return true;
    default:
      return cell.kind() == Cell::Kind::word && target_.has_number_words;
  }
}

void Row_Importer::read(std::size_t i, const Cell& cell) {
  Column& column = columns_[i];
  column.is_number = column.is_string && is_number(cell);
  column.is_absent = cell.kind() == Cell::Kind::absent;
  column.is_empty = is_missing(column, cell);
  if (column.is_empty && target_.columns[i].refuses_missing) {
    Row_Error error(Data_Error("a value expected, got nothing"), i, place_);
    error.is_about_missing = true;
    throw error;
  }
  try {
    if (column.is_pending) {
      column.writer->reset();
    } else if (column.lookup != nullptr) {
      column.writer->read(Cell::of(std::int64_t{look_up(i, cell).value()}));
    } else {
      column.writer->read(cell);
    }
  } catch (const Data_Error& error) {
    throw Row_Error(error, i, place_);
  }
}

void Row_Importer::read_row(std::span<const Cell> cells) {
  for (std::size_t i = 0; i < columns_.size(); ++i) read(i, i < cells.size() ? cells[i] : Cell());
}

Record_Id Row_Importer::find_by_id(const Cell& cell, bool& is_new) {
  std::string buffer;
  Record_Id record;
  try {
    record = read_cell<Record_Id>(cell, buffer);
  } catch (const Cell_Error& error) {
    Row_Error row_error(error, {}, place_);
    row_error.is_about_id = true;
    throw row_error;
  }
  is_new = !writer_.table().is_used(record);
  return record;
}

Record_Id Row_Importer::find_by_key(bool& is_new) {
  for (std::size_t i = 0; i < columns_.size(); ++i)
    if (columns_[i].is_key && columns_[i].is_absent)
      throw Row_Error("the row has no value of the key", {}, place_);
  key_.clear();
  for (const Column_Writer* column : key_columns_) key_.push_back(column->key());
  const Record_Id record = index_->find(key_);
  is_new = record.is_null();
  return record;
}

Record_Id Row_Importer::add(std::span<const Cell> cells, std::int64_t place) {
  place_ = place;
  constexpr std::int64_t interval = 1024;
  if (target_.memory > 0 && ++rows_ % interval == 0 && database_.is_memory_above(target_.memory))
    release_memory();
  const Cell id = target_.has_ids && !cells.empty() ? cells.front() : Cell();
  if (target_.has_ids && !cells.empty()) cells = cells.subspan(1);
  read_row(cells);
  bool is_new = true;
  Record_Id record;
  if (target_.has_ids)
    record = find_by_id(id, is_new);
  else if (index_)
    record = find_by_key(is_new);
  try {
    if (is_new) {
      record = writer_.insert(record);
      if (index_) index_->insert(record);
      if (index_ || target_.has_ids) state(record) = State::inserted;
      ++counts_.inserted;
    } else {
      update(record);
    }
  } catch (const Row_Error&) {
    throw;
  } catch (const Data_Error& error) {
    throw Row_Error(error, {}, place);
  }
  // An existing record keeps its value if the cell is absent.
  for (Column& column : columns_) {
    if (column.is_empty && (is_new || !column.is_absent)) ++column.missing;
    if (column.is_number) ++column.texts;
  }
  if (has_places_) {
    const auto index = static_cast<std::size_t>(record.value());
    if (places_.size() <= index) places_.resize(index + 1);
    places_[index] = place;
  }
  remember_pending(cells, record);
  return record;
}

void Row_Importer::update(Record_Id record) {
  if (state(record) != State::untouched)
    throw Row_Error(index_ ? "a row before has this key, too: " + index_->key_text(record)
                           : "a row before has this id, too: " + std::to_string(record.value()),
                    {}, place_);
  bool is_changed = false;
  for (const Column& column : columns_) {
    if (column.is_absent || column.is_pending || column.writer->is_stored(record)) continue;
    column.writer->write(record);
    is_changed = true;
  }
  state(record) = is_changed ? State::updated : State::unchanged;
  ++(is_changed ? counts_.updated : counts_.unchanged);
}

// ---- at the end ---------------------------------------------------------------------------------

void Row_Importer::remember_pending(std::span<const Cell> cells, Record_Id record) {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (!columns_[i].is_pending || columns_[i].is_absent) continue;
    const Cell& cell = cells[i];
    std::string buffer;
    const auto text = std::string(read_cell<std::string_view>(cell, buffer));
    const Cell::Kind kind = cell.has_text()   ? cell.kind()
                            : cell.is_empty() ? Cell::Kind::null
                                              : Cell::Kind::word;
    pending_.push_back({record, i, place_, kind, text});
  }
}

void Row_Importer::resolve_pending(bool creates_missing) {
  for (const Pending& pending : pending_) {
    if (target_.columns[pending.column].creates_missing != creates_missing) continue;
    Column& column = columns_[pending.column];
    column.lookup = &find_lookup(target_.table, target_.columns[pending.column].lookup);
    try {
      resolve(pending, *column.writer);
    } catch (const Data_Error& error) {
      throw Row_Error(error, pending.column, pending.place);
    }
  }
}

void Row_Importer::resolve(const Pending& pending, Column_Writer& writer) {
  const std::int64_t created = counts_.created;
  const Record_Id referenced = look_up(pending.column, pending.cell());
  // finish() must not delete the record that was inserted.
  if (counts_.created > created) state(referenced) = State::inserted;
  // finish() must not delete the record that was found: without it, a record would have been
  // inserted.
  if (target_.columns[pending.column].creates_missing && !referenced.is_null() &&
      state(referenced) == State::untouched)
    state(referenced) = State::unchanged;
  writer.read(Cell::of(std::int64_t{referenced.value()}));
  if (writer.is_stored(pending.record)) return;
  writer.write(pending.record);
  if (State& s = state(pending.record); s == State::unchanged) {
    s = State::updated;
    --counts_.unchanged;
    ++counts_.updated;
  }
}

// Deletes the last record first, so that new records will reuse these ids in ascending order.
void Row_Importer::delete_missing() {
  const Record_Ids& records = writer_.table().records();
  for (index_t id = records.size(); id-- > 0;) {
    if (!records.is_used(id) || state(Record_Id(id)) != State::untouched) continue;
    database_.write_alone(Delete{target_.table, Record_Id(id)});
    deleted_[target_.table].push_back(id);
    ++counts_.deleted;
  }
}

// All rows have their references now: a record that no longer refers to a deleted one stays.
void Row_Importer::follow_rules() {
  if (target_.deleted != nullptr)
    target_.deleted->merge(deleted_);
  else
    database_.write_consequences(consequences_of_deletion(database_.get_database(), deleted_));
}

void Row_Importer::build_indexes() {
  for (const auto& [index, duplicates, was_empty] : deferred_) {
    try {
      index->insert_waiting();
      if (!index->has_all() || !index->definition().is_unique) continue;
      // A declared index accepts every key of a journal, but not every imported one.
      auto found = index->find_duplicates();
      if (found.count <= duplicates) continue;
      // The row that has made the key equal.
      if (state(found.second) < State::updated && state(found.first) >= State::updated)
        std::swap(found.first, found.second);
      throw Unique_Violation(index->violation_text(found.second, found.first),
                             index->definition().name, found.second, found.first);
    } catch (const Unique_Violation& error) {
      const auto record = static_cast<std::size_t>(error.record.value());
      throw Row_Error(error, {}, record < places_.size() ? places_[record] : place_);
    }
  }
}

// Builds the indexes that were empty, so that tables can be moved to a file. Later rows enter these
// one by one, because sorting all rows again would need memory. The others are deferred again,
// because their keys need not be unique before the end.
void Row_Importer::release_memory() {
  std::vector<Deferred> kept;
  std::ranges::copy_if(deferred_, std::back_inserter(kept),
                       [](const Deferred& deferred) { return !deferred.was_empty; });
  std::erase_if(deferred_, [](const Deferred& deferred) { return !deferred.was_empty; });
  build_indexes();
  deferred_ = std::move(kept);
  has_places_ = !deferred_.empty();
  if (!has_places_) places_ = {};
  for (const Deferred& deferred : deferred_) deferred.index->insert_waiting();
  database_.limit_memory(target_.memory);
  for (const Deferred& deferred : deferred_) deferred.index->defer();
}

Import_Counts Row_Importer::finish() {
  // First resolve the references that may insert records, so that delete_missing() keeps these
  // records.
  resolve_pending(true);
  if (target_.deletes_missing) {
    delete_missing();
    lookups_.clear();  // a lookup must not find deleted records
  }
  resolve_pending(false);
  build_indexes();
  follow_rules();
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const std::string& name = writer_.table().find_field(target_.columns[i].field)->name;
    if (columns_[i].missing > 0) counts_.missing[name] = columns_[i].missing;
    if (columns_[i].texts > 0) counts_.texts[name] = columns_[i].texts;
    if (columns_[i].dangling > 0) counts_.dangling[name] = columns_[i].dangling;
  }
  return counts_;
}

}  // namespace joedb
