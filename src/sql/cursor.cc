#include "sql/cursor.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "kernel/base/interrupts.h"
#include "sql/statement.h"
#include "text/sql.h"

namespace joedb {

// ---- conditions ---------------------------------------------------------------------------------

Range& Cursor::range_of(int column) {
  for (auto& [number, range] : ranges_)
    if (number == column) return range;
  if (column == Plan::record_id) return ranges_.emplace_back(column, Range(Kind::integer)).second;
  const Column_Source& source = source_->columns[static_cast<std::size_t>(column)];
  return ranges_.emplace_back(column, Range(source.code, source.logical)).second;
}

const Range* Cursor::find_range(int column) const {
  for (const auto& [number, range] : ranges_)
    if (number == column) return &range;
  return nullptr;
}

bool Cursor::can_be_null(int column) const {
  if (column == Plan::record_id) return false;
  const Column_Source& found = source_->columns[static_cast<std::size_t>(column)];
  const Kind kind = kind_of(found.code);
  return found.column == nullptr || found.code == Type_Code::reference || kind == Kind::real ||
         kind == Kind::blob || get(found.logical).is_optional;
}

const Column_Source& Cursor::column(int number) const {
  const Column_Source& found = source_->columns[static_cast<std::size_t>(number)];
  if (found.column == nullptr && past_ == nullptr)
    throw Exception(table_.file().name() +
                    ": a field was dropped, and the file must be opened again");
  return found;
}

// Returns true if the connection may have functions for LIKE and GLOB other than SQLite's own: from
// a program, from ICU, or by PRAGMA case_sensitive_like.
static bool has_other_patterns(sqlite3* connection) {
  try {
    return Statement(connection,
                     "SELECT 1 FROM pragma_function_list WHERE name IN ('like', 'glob') AND NOT "
                     "builtin")
        .step();
  } catch (const Exception&) {  // unknown, so assume that it may
    return true;
  }
}

// Returns true if a running statement may have an outer join. Searches its text, and the texts of
// views and triggers.
static bool may_join_outer(sqlite3* connection) {
  for (sqlite3_stmt* statement = sqlite3_next_stmt(connection, nullptr); statement != nullptr;
       statement = sqlite3_next_stmt(connection, statement)) {
    if (sqlite3_stmt_busy(statement) == 0) continue;
    const char* const sql = sqlite3_sql(statement);
    if (sql == nullptr) return true;
    for (const char* const word : {"%left%", "%right%", "%full%"})
      if (sqlite3_strlike(word, sql, 0) == 0) return true;
  }
  try {
    Statement schemas(connection, "PRAGMA database_list");
    while (schemas.step()) {
      // Skip the views of joedb_open, whose conditions are only equalities.
      const std::string sql =
          "SELECT 1 FROM " + sql_name(schemas.text(1)) +
          ".sqlite_master WHERE type IN ('view', 'trigger') AND substr(name, -8) <> '__joined' AND "
          "(instr(upper(sql), 'LEFT') OR instr(upper(sql), 'RIGHT') OR instr(upper(sql), 'FULL'))";
      if (Statement(connection, sql).step()) return true;
    }
    return false;
  } catch (const Exception&) {  // unknown, so assume that it may
    return true;
  }
}

// Returns true if a condition may be used. SQLite checks LIKE, GLOB and IS NOT NULL again, so they
// need not be used. They must not be used if there may be an outer join: SQLite 3.40 passes such a
// condition on the left table of a LEFT JOIN to that table, even if the condition is in ON, where
// it must not filter the records of that table.
bool Cursor::may_use(unsigned char op) {
  const bool is_pattern = op == SQLITE_INDEX_CONSTRAINT_LIKE || op == SQLITE_INDEX_CONSTRAINT_GLOB;
  if (!is_pattern && op != SQLITE_INDEX_CONSTRAINT_ISNOTNULL) return true;
  sqlite3* const connection = table_.connection();
  if (!may_join_outer_) may_join_outer_ = may_join_outer(connection);
  if (*may_join_outer_) return false;
  if (!is_pattern) return true;
  if (!has_other_patterns_) has_other_patterns_ = has_other_patterns(connection);
  return !*has_other_patterns_;
}

// Returns all values of an IN operator. The caller must free them; they are in `copies`, even if
// this throws.
static std::vector<sqlite3_value*> values_of_list(sqlite3_value* list,
                                                  std::vector<sqlite3_value*>& copies) {
  sqlite3_value* value = nullptr;
  for (int result = sqlite3_vtab_in_first(list, &value); result == SQLITE_OK;
       result = sqlite3_vtab_in_next(list, &value)) {
    sqlite3_value* const copy = sqlite3_value_dup(value);
    if (copy == nullptr) throw std::bad_alloc();
    copies.push_back(copy);
  }
  return copies;
}

// ---- a new search -------------------------------------------------------------------------------

// Finds one record by its id. This is the most frequent search, used for joins along a reference.
// Returns false if the value is not an integer.
bool Cursor::find_one(sqlite3_value* id) {
  if (sqlite3_value_type(id) != SQLITE_INTEGER) return false;
  past_ = nullptr;
  use_state();
  from_ = Source::list;
  next_ = end_ = block_.data();
  block_[0] = static_cast<index_t>(sqlite3_value_int64(id));
  if (source_->table->records().is_used(block_[0])) ++end_;
  return true;
}

void Cursor::choose_state(sqlite3_value* moment) {
  sqlite3_value_free(moment_);
  moment_ = nullptr;
  past_ = moment ? table_.file().past(moment) : nullptr;
  if (past_ != nullptr) {
    moment_ = sqlite3_value_dup(moment);
    if (moment_ == nullptr) throw std::bad_alloc();
  }
  use_state();
}

void Cursor::use_state() {
  is_writing_ = false;
  if (is_present()) {
    is_writing_ = table_.file().writer() != nullptr;
    source_ = &table_.present_source();
  } else {
    past_source_ = table_.past_source(state());
    source_ = &past_source_;
  }
}

void Cursor::filter(int number, const char* text, sqlite3_value** values) {
  next_ = end_ = nullptr;
  if (number == 1 && find_one(values[0])) return;
  if (text != plan_text_) {
    plan_ = Plan::parse(text);
    plan_text_ = text;
  }
  begin(values);
}

void Cursor::read_conditions(sqlite3_value** values) {
  for (std::size_t i = 0; i < plan_.conditions.size(); ++i) {
    const Plan::Condition& condition = plan_.conditions[i];
    if (condition.column == table_.moment_column() || !may_use(condition.op)) continue;
    Range& range = range_of(condition.column);
    if (!condition.is_list) {
      range.restrict(condition.op, values[i]);
      continue;
    }
    std::vector<sqlite3_value*> copies;
    const auto free = [](std::vector<sqlite3_value*>* list) {
      for (sqlite3_value* const value : *list) sqlite3_value_free(value);
    };
    const std::unique_ptr<std::vector<sqlite3_value*>, decltype(free)> guard(&copies, free);
    range.restrict_to_list(values_of_list(values[i], copies));
  }
}

void Cursor::begin(sqlite3_value** values) {
  ranges_.clear();
  filters_.clear();
  sqlite3_value* moment = nullptr;
  for (std::size_t i = 0; i < plan_.conditions.size(); ++i)
    if (plan_.conditions[i].column == table_.moment_column()) moment = values[i];
  choose_state(moment);
  read_conditions(values);
  from_ = Source::list;
  if (source_->table == nullptr) return;
  for (const auto& [number, range] : ranges_)
    if (range.is_empty() || (range.is_null_only() && !can_be_null(number))) return;

  // At first, all conditions are filters. begin_index() removes the filters that the index makes
  // unnecessary.
  for (const auto& [number, range] : ranges_)
    if (number != Plan::record_id) filters_.emplace_back(&column(number), &range);

  is_descending_ = !plan_.order.empty() && plan_.order[0].is_descending;
  const Index* const index = plan_.access == Plan::Access::record_ids ? nullptr : usable_index();
  const bool is_found = index != nullptr && begin_index(*index, is_descending_);
  if (!is_found) {
    const Range* const ids = find_range(Plan::record_id);
    if (ids && ids->has_list())
      begin_list(ids->list_of_integers());
    else
      begin_scan(ids);
  } else if (find_range(Plan::record_id) != nullptr) {
    const Range& ids = *find_range(Plan::record_id);
    start();
    std::vector<index_t> kept = rest();
    const std::vector<std::int64_t> list = ids.list_of_integers();
    std::erase_if(kept, [&](index_t id) {
      return id < ids.low() || id > ids.high() ||
             (ids.has_list() && !std::binary_search(list.begin(), list.end(), id));
    });
    begin_list(std::move(kept));
  }
  start();

  if (plan_.order.empty() || is_at_end()) return;
  const bool is_sorted = is_found ? plan_.access == Plan::Access::own_index || has_order(*index)
                                  : plan_.order[0].column == Plan::record_id;
  if (!is_sorted) sort();
}

// ---- ways to find records -----------------------------------------------------------------------

void Cursor::begin_list(std::vector<index_t> ids) {
  const Record_Ids& records = source_->table->records();
  std::erase_if(ids, [&](index_t id) { return !records.is_used(id); });
  if (is_descending_ && !plan_.order.empty() && plan_.order[0].column == Plan::record_id)
    std::sort(ids.rbegin(), ids.rend());
  list_ = std::move(ids);
  from_ = Source::list;
  std::size_t count = list_.size();
  for (const auto& [source, range] : filters_) count = range->keep(*source, list_.data(), count);
  next_ = list_.data();
  end_ = next_ + count;
}

void Cursor::begin_scan(const Range* ids) {
  scan_begin_ = 0;
  scan_end_ = source_->table->records().size();
  if (ids) {
    if (ids->is_null_only()) {
      scan_end_ = 0;
    } else {
      scan_begin_ = std::max<index_t>(scan_begin_, ids->low());
      if (ids->high() < scan_end_) scan_end_ = ids->high() + 1;
    }
  } else {
    source_->table->expect_scan();
  }
  from_ = Source::scan;
}

std::size_t Cursor::fill_from_scan() {
  if (scan_begin_ >= scan_end_) return 0;
  look_for_interrupt();
  const auto count = std::min(static_cast<std::size_t>(scan_end_ - scan_begin_), block_size);
  const Record_Ids& records = source_->table->records();
  const bool is_descending = is_descending_;
  const index_t step = is_descending ? -1 : 1;
  index_t id = is_descending ? scan_end_ - 1 : scan_begin_;
  std::size_t kept = 0;
  if (records.is_dense()) {
    for (; kept < count; id += step) block_[kept++] = id;
  } else {
    for (std::size_t i = 0; i < count; ++i, id += step) {
      block_[kept] = id;
      kept += static_cast<std::size_t>(records.is_used(id));
    }
  }
  if (is_descending)
    scan_end_ -= static_cast<index_t>(count);
  else
    scan_begin_ += static_cast<index_t>(count);
  for (const auto& [source, range] : filters_) kept = range->keep(*source, block_.data(), kept);
  return kept;
}

// Returns the index in the plan, if this state has it and it contains all records. Otherwise,
// returns own_index(). An index may lack records, because a record enters it only when one of its
// fields is written.
const Index* Cursor::usable_index() const {
  const Table& table = *source_->table;
  if (plan_.access == Plan::Access::index) {
    const Index_Definition* const planned = table_.planned_index(plan_.index);
    const Index* const index = planned ? state().database().find_index(*planned) : nullptr;
    if (index && index->is_complete() &&
        index->size() == static_cast<std::size_t>(table.records().used_count()))
      return index;
  }
  return const_cast<Cursor*>(this)->own_index();
}

const Index* Cursor::own_index() {
  if (plan_.access == Plan::Access::own_index) {
    std::vector<Field_Id> fields;
    for (const Plan::Term& term : plan_.order) {
      if (column(term.column).column == nullptr) return nullptr;
      fields.push_back(table_.field(term.column));
    }
    return &state().own_index(*source_->table, fields);
  }
  if (find_range(Plan::record_id) != nullptr) return nullptr;
  for (const auto& [number, range] : ranges_)
    if (range.is_point() && !range.is_null_only() && column(number).column != nullptr)
      return state().note_search(*source_->table, table_.field(number));
  return nullptr;
}

// Prepares to visit the records whose keys begin with `prefix`, and which meet the range in the
// next field. Returns false if there are none.
bool Cursor::set_walk(const Index& index, const std::vector<Key_Part>& prefix, const Range* range,
                      bool is_descending) {
  std::vector<Key_Part> key = prefix;
  const auto lower = range ? range->lower_key() : std::nullopt;
  const auto upper = range ? range->upper_key() : std::nullopt;
  Index::Cursor first, behind;
  if (lower) {
    key.push_back(lower->part);
    first = lower->is_open ? index.upper_bound(key) : index.lower_bound(key);
    key.pop_back();
  } else {
    first = key.empty() ? index.begin() : index.lower_bound(key);
  }
  if (upper) {
    key.push_back(upper->part);
    behind = upper->is_open ? index.lower_bound(key) : index.upper_bound(key);
  } else {
    behind = key.empty() ? index.end() : index.upper_bound(key);
  }
  walk_is_done_ = first == behind;
  if (walk_is_done_) return false;
  walk_ = first;
  walk_end_ = behind;
  walk_is_descending_ = is_descending;
  if (is_descending) {
    behind.previous();
    walk_ = behind;
    walk_end_ = first;  // included
  }
  from_ = Source::index;
  return true;
}

// Returns true if SQL shows the next field in the order of the index, for the records whose keys
// begin with `prefix`.
bool Cursor::is_in_order(const Index& index, const std::vector<Key_Part>& prefix,
                         const Range& range) {
  const Interval ordered = range.ordered();
  if (range.has_order()) return true;
  if (ordered.is_empty()) return false;
  std::vector<Key_Part> key = prefix;
  const auto next_to = [&](std::int64_t value, bool is_behind) {
    key.push_back(key_part(value));
    const Index::Cursor place = is_behind ? index.upper_bound(key) : index.lower_bound(key);
    key.pop_back();
    return place;
  };
  Index::Cursor first = key.empty() ? index.begin() : index.lower_bound(key);
  if (const auto missing = range.missing()) first = next_to(*missing, true);
  const Index::Cursor end = key.empty() ? index.end() : index.upper_bound(key);
  return first == next_to(ordered.low, false) && next_to(ordered.high, true) == end;
}

// Returns false if the index is of no use for the conditions or the order.
bool Cursor::begin_index(const Index& index, bool is_descending) {
  const std::vector<Field_Id>& fields = index.definition().fields;
  std::vector<Key_Part> prefix;
  std::vector<const Range*> found;  // conditions that the index implies
  const Range* last = nullptr;
  for (const Field_Id field : fields) {
    const Range* range = nullptr;
    for (const auto& [number, candidate] : ranges_)
      if (number != Plan::record_id && table_.field(number) == field) range = &candidate;
    if (range == nullptr) break;
    if (!range->is_point()) {
      last = range;
      break;
    }
    const auto key = range->lower_key();
    if (!key) break;
    prefix.push_back(key->part);
    // An index cannot distinguish -1 from a null reference, so filter references.
    // Nor can it distinguish a missing value from that value.
    const Column_Base& values = *source_->table->find_field(field)->column;
    if (values.type().code != Type_Code::reference && !range->may_have_missing())
      found.push_back(range);
  }
  // Numbers whose texts are out of order may be anywhere in the index.
  if (last != nullptr && !last->has_list() && !is_in_order(index, prefix, *last)) last = nullptr;
  if (prefix.empty() && last == nullptr && plan_.order.empty()) return false;
  std::erase_if(filters_, [&](const auto& filter) {
    return std::find(found.begin(), found.end(), filter.second) != found.end();
  });
  if (last == nullptr || !last->has_list()) {
    // The range is also a filter, because the index does not handle NULL like SQL.
    set_walk(index, prefix, last, is_descending);
    if (walk_is_done_) from_ = Source::index;
    return true;
  }
  std::vector<index_t> ids;
  for (const Range& point : last->points()) {
    if (!set_walk(index, prefix, &point, false)) continue;
    for (std::size_t count = fill_from_index(); count > 0; count = fill_from_index())
      ids.insert(ids.end(), block_.begin(), block_.begin() + static_cast<std::ptrdiff_t>(count));
  }
  begin_list(std::move(ids));
  return true;
}

std::size_t Cursor::fill_from_index() {
  std::size_t count = 0;
  if (walk_is_descending_) {
    while (!walk_is_done_ && count < walk_size) {
      block_[count++] = walk_.record().value();
      walk_is_done_ = walk_ == walk_end_;
      if (!walk_is_done_) walk_.previous();
    }
  } else {
    while (!walk_is_done_ && count < walk_size) {
      block_[count++] = walk_.record().value();
      walk_.next();
      walk_is_done_ = walk_ == walk_end_ || walk_.record().is_null();
    }
  }
  for (const auto& [source, range] : filters_) count = range->keep(*source, block_.data(), count);
  return count;
}

// Prefetches the values of a block, because records in the order of an index are far apart in
// memory.
void Cursor::fetch(std::size_t count) const {
  const int columns = table_.column_count();
  for (int i = 0; i < columns; ++i)
    if ((plan_.used_columns >> std::min(i, 63) & 1) != 0)
      fetch_values(source_->columns[static_cast<std::size_t>(i)], block_.data(), count);
}

void Cursor::next_block() {
  if (from_ == Source::list) {
    next_ = end_;
    return;
  }
  const bool is_scan = from_ == Source::scan;
  std::size_t count = 0;
  while (count == 0 && (is_scan ? scan_begin_ < scan_end_ : !walk_is_done_))
    count = is_scan ? fill_from_scan() : fill_from_index();
  if (!is_scan && count > 1) fetch(count);
  next_ = block_.data();
  end_ = next_ + count;
  // If the mapped file was truncated, values may have been read as zeros. In this case, throw.
  if (count == 0) state().database().require_intact();
}

void Cursor::keep_state() {
  if (past_ != nullptr || source_ == nullptr || source_ == &past_source_) return;
  past_source_ = *source_;
  for (auto& [column, range] : filters_)
    column = past_source_.columns.data() + (column - source_->columns.data());
  source_ = &past_source_;
}

void Cursor::drop_deleted_records() noexcept {
  if (!is_present() || source_ == nullptr || source_->table == nullptr || is_at_end()) return;
  const Record_Ids& records = source_->table->records();
  scan_end_ = std::min(scan_end_, records.size());
  auto* const first = const_cast<index_t*>(next_) + 1;
  end_ = std::remove_if(first, const_cast<index_t*>(end_),
                        [&](index_t id) { return !records.is_used(id); });
}

// ---- order --------------------------------------------------------------------------------------

// Returns the ids from the current one on, and moves the cursor to the end.
std::vector<index_t> Cursor::rest() {
  std::vector<index_t> ids;
  while (!is_at_end()) {
    look_for_interrupt();
    ids.insert(ids.end(), next_, end_);
    next_ = end_;
    next_block();
  }
  return ids;
}

void Cursor::sort() {
  std::vector<index_t> ids = rest();
  std::vector<std::pair<const Column_Source*, bool>> terms;
  for (const Plan::Term& term : plan_.order)
    terms.emplace_back(term.column == Plan::record_id ? nullptr : &column(term.column),
                       term.is_descending);
  Interrupt_Counter look;
  std::sort(ids.begin(), ids.end(), [&](index_t a, index_t b) {
    look();
    for (const auto& [source, is_descending] : terms) {
      const int order = source ? compare_values(*source, a, b) : int{b < a} - int{a < b};
      if (order != 0) return (order < 0) != is_descending;
    }
    return a < b;
  });
  list_ = std::move(ids);
  from_ = Source::list;
  next_ = list_.data();
  end_ = next_ + list_.size();
}

// Returns true if the index has the records of this state in the order of the plan.
bool Cursor::has_order(const Index& index) const {
  const std::vector<Field_Id>& fields = index.definition().fields;
  const auto is_constant = [&](Field_Id field) {
    return std::any_of(ranges_.begin(), ranges_.end(), [&](const auto& entry) {
      return entry.first != Plan::record_id && table_.field(entry.first) == field &&
             entry.second.is_point();
    });
  };
  for (const auto& [number, range] : ranges_)
    if (range.has_list() && number != Plan::record_id) return false;
  std::size_t next = 0;
  while (next < fields.size() && is_constant(fields[next])) ++next;
  for (const Plan::Term& term : plan_.order) {
    if (term.is_descending != plan_.order[0].is_descending) return false;
    if (term.column == Plan::record_id) return next == fields.size();
    const Field_Id field = table_.field(term.column);
    if (is_constant(field)) continue;
    if (next == fields.size() || fields[next] != field || !sorts_like_sql(index, next))
      return false;
    ++next;
  }
  return true;
}

// Returns true if the index sorts this field as SQL does. In SQL, nan and the null reference (-1)
// are NULL, which comes before all other values. An index has nan last, and has references less
// than -1 before the null reference. Therefore a field of floats or references must be the first
// field of the index, and no such value must be stored.
bool Cursor::sorts_like_sql(const Index& index, std::size_t field) const {
  const Field_Id id = index.definition().fields[field];
  const Column_Base& values = *source_->table->find_field(id)->column;
  const Type_Code code = values.type().code;
  for (int i = 0; i < table_.column_count(); ++i)
    if (const auto& logical = source_->columns[static_cast<std::size_t>(i)].logical;
        logical && table_.field(i) == id)
      return sorts_like_sql(index, field, Range(code, logical));
  if (kind_of(code) != Kind::real && code != Type_Code::reference) return true;
  if (field > 0) return false;
  if (code == Type_Code::reference) {
    const Record_Id first = index.begin().record();
    return first.is_null() ||
           static_cast<const Column<Record_Id>&>(values).get(first.value()).value() >= -1;
  }
  Index::Cursor last = index.end();
  last.previous();
  if (last.record().is_null()) return true;
  const index_t record = last.record().value();
  return code == Type_Code::float32
             ? !std::isnan(static_cast<const Column<float>&>(values).get(record))
             : !std::isnan(static_cast<const Column<double>&>(values).get(record));
}

// The same for a logical type. A missing number is the smallest one; other missing values are not
// the first ones of the index.
bool Cursor::sorts_like_sql(const Index& index, std::size_t field, const Range& range) {
  if (range.may_have_missing() && !range.missing()) return false;
  return range.has_order() ? range.sorts_stored() : field == 0 && is_in_order(index, {}, range);
}

// ---- values -------------------------------------------------------------------------------------

void Cursor::give(sqlite3_context* context, int number) const {
  if (number < table_.column_count()) {
    const Column_Source& source = source_->columns[static_cast<std::size_t>(number)];
    if (source.column == nullptr) [[unlikely]]
      column(number);  // may throw
    if (is_writing_) [[unlikely]] {
      // An UPDATE that does not change this column does not need its value.
      if (sqlite3_vtab_nochange(context) != 0) return;
      Writer* const writer = table_.file().writer();  // null if the transaction has ended
      if (source.code == Type_Code::blob && writer != nullptr) writer->flush();
    }
    const bool is_lasting = past_ == nullptr && !is_writing_;
    return pass_value(context, source, id(), table_.file().file(), is_lasting);
  }
  if (number == table_.id_column()) return sqlite3_result_int64(context, id());
  if (moment_ != nullptr) sqlite3_result_value(context, moment_);
}

}  // namespace joedb
