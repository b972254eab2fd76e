#include "history/change_collector.h"

#include <algorithm>
#include <utility>

#include "kernel/table/live_fields.h"
#include "kernel/table/record_runs.h"

namespace joedb::inline v1 {

// True if a Pending_Value can hold a T.
template <Field_Value T>
static constexpr bool is_small =
    !std::is_same_v<T, std::string_view> && sizeof(T) <= sizeof(std::uint64_t);

// Returns the description, without fields, that schema changes have for a table.
static Description name_of(const Table& table) { return describe(table.id(), table.name()); }

// ---- saving -------------------------------------------------------------------------------------

Change_Collector::Touched_Table& Change_Collector::touched(Table_Id id) {
  if (last_ == nullptr || last_id_ != id) {
    last_ = &tables_[id];
    last_id_ = id;
  }
  return *last_;
}

void Change_Collector::note_insert(Table_Id id, index_t first, index_t size) {
  Touched_Table& table = touched(id);
  table.records.for_each_gap(first, first + size, [&](index_t begin, index_t end) {
    table.records.add(
        begin, end, next_order_++, [](Was_Used was) { return !was.value; },
        [] { return Was_Used{false}; });
  });
}

void Change_Collector::note_delete(Table_Id id, index_t first, index_t size) {
  save_records(*database_.find_table(id), touched(id), first, first + size);
}

void Change_Collector::save_records(const Table& table, Touched_Table& touched, index_t first,
                                    index_t end) {
  touched.records.for_each_gap(first, end, [&](index_t gap_first, index_t gap_end) {
    for_each_field(table, [&](Field_Id field, const Field&) {
      save_values(table, touched, field, gap_first, gap_end);
    });
    touched.records.add(
        gap_first, gap_end, next_order_++, [](Was_Used was) { return was.value; },
        [] { return Was_Used{true}; });
  });
}

void Change_Collector::note_update(Table_Id id, Field_Id field, index_t first, index_t size) {
  // Limits pending values to a few megabytes, even if the same records change very often.
  constexpr std::size_t max_pending = std::size_t{1} << 18;
  Touched_Table& touched = this->touched(id);
  const Table& table = *database_.find_table(id);
  if (size != 1) return save_values(table, touched, field, first, first + size);
  if (touched.records.has(first) || !table.is_used(Record_Id(first))) return;
  const Column_Base& column = *table.find_field(field)->column;
  visit_type(column.type().code, [&]<class T>(std::type_identity<T>) {
    if constexpr (!is_small<T>) {
      save_values(table, touched, field, first, first + 1);
    } else {
      Touched_Field& saved = touched.field(field);
      saved.type = column.type();
      if (saved.pending.size() == max_pending) save_pending(saved);
      Pending_Value& pending = saved.pending.emplace_back(Pending_Value{first, next_order_++, 0});
      const T value = static_cast<const Column<T>&>(column).get(first);
      std::memcpy(&pending.value, &value, sizeof value);
    }
  });
}

void Change_Collector::sort_pending(std::vector<Pending_Value>& pending) {
  const auto is_before = [](const Pending_Value& a, const Pending_Value& b) {
    return a.record != b.record ? a.record < b.record : a.order < b.order;
  };
  if (!std::is_sorted(pending.begin(), pending.end(), is_before))
    std::sort(pending.begin(), pending.end(), is_before);
  pending.erase(std::unique(pending.begin(), pending.end(),
                            [](const auto& a, const auto& b) { return a.record == b.record; }),
                pending.end());
}

void Change_Collector::append(Values& out, const Pending_Value* first, index_t size) {
  visit_type(out.type(), [&]<class T>(std::type_identity<T>) {
    if constexpr (is_small<T>)
      for (const Pending_Value* const end = first + size; first != end; ++first)
        out.append(Value(load<T>(reinterpret_cast<const char*>(&first->value))));
  });
}

void Change_Collector::save_pending(Touched_Field& field) const {
  std::vector<Pending_Value>& pending = field.pending;
  if (pending.empty()) return;
  sort_pending(pending);
  // Returns true if the values belong to the same range: the records are adjacent and, if order
  // matters, were updated in their order. The ranges become the same as if each value had been
  // added to the map when it was updated.
  const auto continues = [&](const Pending_Value& before, const Pending_Value& next) {
    return next.record == before.record + 1 && (!is_ordered_ || before.order < next.order);
  };
  for (std::size_t begin = 0, end = 0; begin < pending.size(); begin = end) {
    end = begin + 1;
    while (end < pending.size() && continues(pending[end - 1], pending[end])) ++end;
    const index_t run = pending[begin].record;
    const bool is_split = begin > 0 && pending[begin - 1].record + 1 == run;
    field.saved.for_each_gap(run, pending[end - 1].record + 1, [&](index_t first, index_t last) {
      const Pending_Value* const values = &pending[begin] + (first - run);
      field.saved.add(
          first, last, values->order,
          [&](Values& before) {
            if (is_split && first == run) return false;
            append(before, values, last - first);
            return true;
          },
          [&] {
            Values result(field.type.code);
            append(result, values, last - first);
            return result;
          });
    });
  }
  pending.clear();
}

void Change_Collector::save_pending(Touched_Table& touched) const {
  for (auto& [id, field] : touched.fields) save_pending(field);
}

void Change_Collector::save_values(const Table& table, Touched_Table& touched, Field_Id field,
                                   index_t first, index_t end) {
  const Column_Base& column = *table.find_field(field)->column;
  Touched_Field& saved = touched.field(field);
  saved.type = column.type();
  save_pending(saved);
  const Type_Code type = saved.type.code;
  const auto save = [&](index_t begin, index_t size) {
    const auto copy = [&](Values& values) {
      values.append(column, begin, size);
      return true;
    };
    saved.saved.add(begin, begin + size, next_order_++, copy, [&] {
      Values values(type);
      copy(values);
      return values;
    });
  };
  touched.records.for_each_gap(first, end, [&](index_t a, index_t b) {
    saved.saved.for_each_gap(a, b, [&](index_t gap_first, index_t gap_end) {
      for_each_run(table.records(), gap_first, gap_end, save);
    });
  });
}

bool Change_Collector::may_keep(const Table& table, std::size_t fields) {
  // Count unused ids too, because saving visits them.
  const index_t values =
      table.records().size() * static_cast<index_t>(std::max<std::size_t>(fields, 1));
  if (values > kept_values_) return false;
  kept_values_ -= values;
  return true;
}

Values Change_Collector::gather(Saved_Values::Iterator range, index_t first, index_t end) {
  Values values(range->second.payload.type());
  for (; first < end; ++range) {
    const index_t size = std::min(end, range->second.end) - first;
    values.append(range->second.payload, first - range->first, size);
    first += size;
  }
  return values;
}

// ---- changes of records -------------------------------------------------------------------------

// Omits fields whose values were not kept.
Change Change_Collector::deletion(Description table, const Touched_Table& touched, index_t first,
                                  index_t end) {
  Change result = change_of_records(Change::Kind::deleted, table, first, end - first);
  for (const Field_Description& field : table->fields) {
    const auto saved = touched.fields.find(field.id);
    if (saved == touched.fields.end()) continue;
    bool has_all = true;
    saved->second.saved.for_each_gap(first, end, [&](index_t, index_t) { has_all = false; });
    if (has_all)
      result.fields.push_back(
          {field.id, gather(saved->second.saved.find(first), first, end), Values(field.type.code)});
  }
  return result;
}

template <class F>
void Change_Collector::for_each_update(const Touched_Table& touched, Field_Id id,
                                       const Saved_Values& saved, F f) {
  Updated_Fields fields{{id, {}}};
  index_t first = 0, end = 0;  // a run of records
  std::uint64_t order = 0;
  for (auto range = saved.ranges().begin(); range != saved.ranges().end(); ++range)
    touched.records.for_each_gap(range->first, range->second.end,
                                 [&](index_t gap_first, index_t gap_end) {
                                   if (first < end && gap_first == end) {
                                     order = std::min(order, range->second.order);
                                   } else {
                                     if (first < end) f(first, end, order, std::as_const(fields));
                                     first = gap_first;
                                     order = range->second.order;
                                     fields.front().range = range;
                                   }
                                   end = gap_end;
                                 });
  if (first < end) f(first, end, order, std::as_const(fields));
}

template <class F>
void Change_Collector::for_each_update(const Touched_Table& touched, F f) {
  if (touched.fields.size() == 1) {
    const auto& [id, field] = *touched.fields.begin();
    return for_each_update(touched, id, field.saved, f);
  }
  struct Edge {
    index_t record;
    Updated_Field field;
    bool is_begin;
  };
  std::vector<Edge> edges;
  for (const auto& [id, field] : touched.fields)
    for (auto range = field.saved.ranges().begin(); range != field.saved.ranges().end(); ++range)
      touched.records.for_each_gap(range->first, range->second.end,
                                   [&, id = id](index_t begin, index_t end) {
                                     edges.push_back({begin, {id, range}, true});
                                     edges.push_back({end, {id, range}, false});
                                   });
  // For the same record, sort ends before beginnings, because a range of a field may begin where
  // another range of this field ends.
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return a.record != b.record ? a.record < b.record : a.is_begin < b.is_begin;
  });
  const auto has_same_ids = [](const Updated_Fields& a, const Updated_Fields& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Updated_Field& x, const Updated_Field& y) { return x.id == y.id; });
  };
  // `fields` are the fields touched in the records from `first` on, and `order` is their earliest
  // order. `open` are the fields touched in the records from the current edge on.
  Updated_Fields fields, open;
  index_t first = 0;
  std::uint64_t order = 0;
  for (auto edge = edges.begin(); edge != edges.end();) {
    const index_t record = edge->record;
    for (; edge != edges.end() && edge->record == record; ++edge) {
      const auto place =
          std::lower_bound(open.begin(), open.end(), edge->field.id,
                           [](const Updated_Field& field, Field_Id id) { return field.id < id; });
      if (edge->is_begin)
        open.insert(place, edge->field);
      else
        open.erase(place);
    }
    std::uint64_t open_order = ~std::uint64_t{0};
    for (const Updated_Field& field : open)
      open_order = std::min(open_order, field.range->second.order);
    if (has_same_ids(open, fields)) {  // the run continues
      order = std::min(order, open_order);
      continue;
    }
    if (!fields.empty()) f(first, record, order, std::as_const(fields));
    first = record;
    order = open_order;
    fields = open;
  }
}

// ---- transactions -------------------------------------------------------------------------------

std::vector<Change> Transaction_Collector::take() {
  flush();
  described_bytes_ = 0;
  return std::exchange(changes_, {});
}

void Transaction_Collector::flush() {
  std::vector<Change> changes;
  std::vector<Place> places;
  const auto add = [&](std::uint64_t order, Change change) {
    places.push_back({order, changes.size()});
    changes.push_back(std::move(change));
  };
  for (auto& item : tables_) {
    Touched_Table& touched = item.second;
    save_pending(touched);
    const Table& table = *database_.find_table(item.first);
    for (const auto& [first, range] : touched.records.ranges()) {
      const std::uint64_t order = range.order;
      if (range.payload.value) add(order, deletion(description(table), touched, first, range.end));
      for_each_run(table.records(), first, range.end, [&](index_t begin, index_t size) {
        add(order, inserted_records(description(table), table, begin, size));
      });
    }
    for_each_update(touched, [&](index_t first, index_t end, std::uint64_t order,
                                 const Updated_Fields& fields) {
      Change update = change_of_records(
          Change::Kind::updated, has_all_fields_ ? description(table) : description(table, fields),
          first, end - first);
      update.fields.reserve(has_all_fields_ ? update.table->fields.size() : fields.size());
      for (const Updated_Field& field : fields)
        update.fields.push_back({field.id, gather(field.range, first, end),
                                 read_values(table, field.id, first, end - first)});
      if (has_all_fields_) {
        for (const Field_Description& field : update.table->fields) {
          if (std::any_of(fields.begin(), fields.end(),
                          [&](const Updated_Field& updated) { return updated.id == field.id; }))
            continue;
          const Values values = read_values(table, field.id, first, end - first);
          update.fields.push_back({field.id, values, values});
        }
      }
      add(order, std::move(update));
    });
  }
  forget();
  const auto is_before = [](const Place& a, const Place& b) {
    return a.order != b.order ? a.order < b.order : a.index < b.index;
  };
  if (changes_.empty() && std::is_sorted(places.begin(), places.end(), is_before)) {
    changes_ = std::move(changes);
    return;
  }
  std::sort(places.begin(), places.end(), is_before);
  for (const Place& place : places) changes_.push_back(std::move(changes[place.index]));
}

Description Transaction_Collector::description(const Table& table) {
  Description& result = descriptions_[table.id()];
  if (result) return result;
  result = describe(database_, table);
  for (const Field_Description& field : result->fields) {
    described_bytes_ += sizeof field + field.name.size() + field.referenced.size();
    if (!field.referenced.empty()) references_.emplace(field.type.referenced, table.id());
  }
  return result;
}

Description Transaction_Collector::description(const Table& table, const Updated_Fields& fields) {
  constexpr std::size_t max_bytes = std::size_t{1} << 24;
  if (described_bytes_ < max_bytes || descriptions_.contains(table.id())) return description(table);
  std::vector<Field_Description> described;
  for (const Updated_Field& field : fields)
    described.push_back(describe(database_, field.id, *table.find_field(field.id)));
  return describe(table.id(), table.name(), std::move(described));
}

void Transaction_Collector::forget_descriptions(Table_Id id) {
  descriptions_.erase(id);
  const auto first = references_.lower_bound({id, Table_Id()});
  auto reference = first;
  for (; reference != references_.end() && reference->first == id; ++reference)
    descriptions_.erase(reference->second);
  references_.erase(first, reference);
}

void Transaction_Collector::add_schema_change(Change::Kind kind, Description table,
                                              Schema_Change schema) {
  if (table) forget_descriptions(table->id);
  changes_.push_back(change_of_schema(kind, std::move(table), std::move(schema)));
}

void Transaction_Collector::note_drop(const Table& table) {
  flush();
  Schema_Change schema{.rows = table.records().used_count()};
  const Description description = this->description(table);
  schema.has_lost = may_keep(table, description->fields.size());
  if (schema.has_lost && schema.rows > 0)
    for_each_run(table, [&](index_t first, index_t size) {
      schema.lost.push_back(deleted_records(description, table, first, size));
    });
  add_schema_change(Change::Kind::table_dropped, description, std::move(schema));
}

void Transaction_Collector::note_drop(const Table& table, const Field& field, Field_Id id) {
  flush();
  Schema_Change schema{.field = describe(database_, id, field),
                       .rows = table.records().used_count()};
  schema.has_lost = may_keep(table, 1);
  const Description description = describe(table.id(), table.name(), {schema.field});
  if (schema.has_lost && schema.rows > 0)
    for_each_run(table, [&](index_t first, index_t size) {
      schema.lost.push_back(lost_values(description, first, read_values(table, id, first, size)));
    });
  add_schema_change(Change::Kind::field_dropped, name_of(table), std::move(schema));
}

void Transaction_Collector::note_applied(const Create_Table&) {
  add_schema_change(Change::Kind::table_created, describe(database_, *database_.tables().back()),
                    {});
}

void Transaction_Collector::note_applied(const Rename_Table& e) {
  add_schema_change(Change::Kind::table_renamed, name_of(*database_.find_table(e.table)),
                    {.old_name = old_name_});
}

void Transaction_Collector::note_applied(const Add_Field& e) {
  const Table& table = *database_.find_table(e.table);
  const Field_Id id(static_cast<std::uint16_t>(table.fields().size()));
  add_schema_change(Change::Kind::field_added, name_of(table),
                    {.field = describe(database_, id, table.fields().back())});
}

void Transaction_Collector::note_applied(const Rename_Field& e) {
  const Table& table = *database_.find_table(e.table);
  add_schema_change(
      Change::Kind::field_renamed, name_of(table),
      {.field = describe(database_, e.field, *table.find_field(e.field)), .old_name = old_name_});
}

void Transaction_Collector::note_declaration(const Type_Declaration& declaration) {
  const Table* const table = database_.find_table(declaration.table);
  if (table == nullptr) return;
  const Field_Id field = table->find_field(declaration.field);
  if (field.is_null()) return;
  declared_table_ = table->id();
  declared_ = describe(database_, field, *table->find_field(field));
}

// The declaration of a field usually follows its addition, which then has the logical type, too.
void Transaction_Collector::note_applied(const Comment&) {
  const Field_Description before = std::exchange(declared_, {});
  if (before.id.is_null()) return;
  const Table& table = *database_.find_table(declared_table_);
  Field_Description after = describe(database_, before.id, *table.find_field(before.id));
  if (before.logical == after.logical) return;
  Change* const last = changes_.empty() ? nullptr : &changes_.back();
  if (last != nullptr && last->kind == Change::Kind::field_added && last->table->id == table.id() &&
      last->schema->field.id == before.id) {
    forget_descriptions(table.id());
    last->schema = std::make_shared<const Schema_Change>(Schema_Change{.field = std::move(after)});
    return;
  }
  flush();
  add_schema_change(Change::Kind::field_typed, name_of(table),
                    {.field = std::move(after), .old_type = before.logical});
}

void Transaction_Collector::note_applied(const Custom& e) {
  add_schema_change(Change::Kind::custom, nullptr, {.mark = std::string(e.name)});
}

// ---- from state to state ------------------------------------------------------------------------

Net_Collector::Net_Collector(Database& database, index_t kept_values)
    : Change_Collector(database, kept_values, false) {
  for (const auto& table : database.tables())
    if (table) before_.emplace(table->id(), describe(database_, *table));
}

bool Net_Collector::existed(Table_Id table, Field_Id field) const {
  const auto found = before_.find(table);
  return found != before_.end() && found->second->find_field(field) != nullptr;
}

void Net_Collector::note_drop(const Table& table) {
  const Table_Id id = table.id();
  if (!existed(id)) {
    forget(id);
    return;
  }
  Touched_Table& touched = this->touched(id);
  // Compute the number of records that existed before: the current records, minus the new ones,
  // plus the deleted ones.
  index_t rows = table.records().used_count();
  for (const auto& [first, range] : touched.records.ranges()) {
    for_each_run(table.records(), first, range.end, [&](index_t, index_t size) { rows -= size; });
    if (range.payload.value) rows += range.end - first;
  }
  const bool has_lost = may_keep(table, table.fields().size());
  if (has_lost)
    for_each_run(table, [&](index_t first, index_t size) {
      save_records(table, touched, first, first + size);
    });
  dropped_tables_.emplace(id, Dropped{rows, has_lost});
}

void Net_Collector::note_drop(const Table& table, const Field&, Field_Id field) {
  Touched_Table& touched = this->touched(table.id());
  if (!existed(table.id(), field)) {
    touched.forget(field);
    return;
  }
  const bool has_lost = may_keep(table, 1);
  if (has_lost) save_values(table, touched, field, 0, table.records().size());
  dropped_fields_.emplace(std::pair(table.id(), field),
                          Dropped{table.records().used_count(), has_lost});
}

void Net_Collector::add_schema(Net_Changes& net) const {
  for (const auto& table : database_.tables()) {
    if (!table) continue;
    const auto before = before_.find(table->id());
    const Description name = name_of(*table);
    if (before == before_.end()) {
      net.schema.push_back(change_of_schema(Change::Kind::table_created, name, {}));
    } else if (before->second->name != table->name()) {
      net.schema.push_back(
          change_of_schema(Change::Kind::table_renamed, name, {.old_name = before->second->name}));
    }
    const Description present = describe(database_, *table);
    for (const Field_Description& field : present->fields) {
      const Field_Description* const old =
          before == before_.end() ? nullptr : before->second->find_field(field.id);
      if (old == nullptr)
        net.schema.push_back(change_of_schema(Change::Kind::field_added, name, {.field = field}));
      if (old != nullptr && old->name != field.name)
        net.schema.push_back(change_of_schema(Change::Kind::field_renamed, name,
                                              {.field = field, .old_name = old->name}));
      if (old != nullptr && get(old->logical) != get(field.logical))
        net.schema.push_back(change_of_schema(Change::Kind::field_typed, name,
                                              {.field = field, .old_type = old->logical}));
    }
  }
}

// Adds updates for the records of a range whose values differ. Each update is for a run of records
// in which the same fields differ.
static void add_differing(std::vector<Change>& out, const Description& after, index_t first,
                          index_t size, std::vector<Field_Change> all) {
  if (size == 1) {
    std::erase_if(all,
                  [](const Field_Change& field) { return field.old_values == field.new_values; });
    if (all.empty()) return;
    out.push_back(change_of_records(Change::Kind::updated, after, first, 1));
    out.back().fields = std::move(all);
    return;
  }
  std::vector<std::size_t> differing, last;
  for (index_t i = 0; i < size; ++i) {
    differing.clear();
    for (std::size_t f = 0; f < all.size(); ++f)
      if (!is_same(all[f].old_values[i], all[f].new_values[i])) differing.push_back(f);
    if (!differing.empty() && (differing != last || i == 0)) {
      out.push_back(change_of_records(Change::Kind::updated, after, first + i, 0));
      for (const std::size_t f : differing) {
        const Type_Code type = all[f].new_values.type();
        out.back().fields.push_back({all[f].field, Values(type), Values(type)});
      }
    }
    for (std::size_t f = 0; f < differing.size(); ++f) {
      Field_Change& field = out.back().fields[f];
      field.old_values.append(all[differing[f]].old_values, i, 1);
      field.new_values.append(all[differing[f]].new_values, i, 1);
    }
    if (!differing.empty()) ++out.back().size;
    last = differing;
  }
}

void Net_Collector::add_replaced(std::vector<Change>& out, const Table& table,
                                 const Description& after, const Touched_Table& touched,
                                 index_t first, index_t end) const {
  std::vector<Field_Change> all;
  for (const Field_Description& field : after->fields) {
    const auto found = touched.fields.find(field.id);
    // An old field that was not saved was not touched. A new field had default values before, which
    // may not have been saved.
    const bool is_saved = found != touched.fields.end() && found->second.saved.has(first);
    if (!is_saved && existed(table.id(), field.id)) continue;
    Values old_values(field.type.code);
    const auto add = [&](index_t part_first, index_t part_end, const auto* range) {
      if (range != nullptr)
        old_values.append(range->payload, part_first - range->first, part_end - part_first);
      else
        old_values.append_defaults(part_end - part_first);
    };
    if (found != touched.fields.end())
      found->second.saved.for_each_part(first, end, add);
    else
      old_values.append_defaults(end - first);
    all.push_back(
        {field.id, std::move(old_values), read_values(table, field.id, first, end - first)});
  }
  add_differing(out, after, first, end - first, std::move(all));
}

// Returns the former fields of a table with their current names.
static std::shared_ptr<const Table_Description> with_current_names(const Table_Description& before,
                                                                   const Table_Description& after) {
  auto result = std::make_shared<Table_Description>(before);
  result->name = after.name;
  for (Field_Description& field : result->fields)
    if (const Field_Description* const present = after.find_field(field.id))
      field.name = present->name;
  return result;
}

void Net_Collector::add_records(Net_Changes& net, const Table& table,
                                const Touched_Table& touched) const {
  const Description after = describe(database_, table);
  const auto found = before_.find(table.id());
  const Description before =
      found == before_.end() ? after : with_current_names(*found->second, *after);
  const std::size_t start = net.records.size();
  for (const auto& [first, range] : touched.records.ranges()) {
    const bool was_used = range.payload.value;
    index_t deleted = first;  // start of a run of records that are now unused
    const auto add_deletion = [&](index_t end) {
      if (was_used && deleted < end) net.records.push_back(deletion(before, touched, deleted, end));
    };
    for_each_run(table.records(), first, range.end, [&](index_t begin, index_t size) {
      add_deletion(begin);
      if (was_used)
        add_replaced(net.records, table, after, touched, begin, begin + size);
      else
        net.records.push_back(inserted_records(after, table, begin, size));
      deleted = begin + size;
    });
    add_deletion(range.end);
  }
  std::size_t ranges = 0;
  for (const auto& [id, field] : touched.fields)
    ranges = std::max(ranges, field.saved.ranges().size());
  if (net.records.empty()) net.records.reserve(ranges);
  for_each_update(
      touched, [&](index_t first, index_t end, std::uint64_t, const Updated_Fields& fields) {
        std::vector<Field_Change> all;
        all.reserve(fields.size());
        for (const Updated_Field& field : fields)
          if (const Field* const present = table.find_field(field.id))  // skip dropped fields
            all.push_back({field.id, gather(field.range, first, end),
                           read_values(*present->column, first, end - first)});
        add_differing(net.records, after, first, end - first, std::move(all));
      });
  const auto is_before = [](const Change& a, const Change& b) { return a.record < b.record; };
  const auto begin = net.records.begin() + static_cast<std::ptrdiff_t>(start);
  if (!std::is_sorted(begin, net.records.end(), is_before))
    std::sort(begin, net.records.end(), is_before);
}

bool Net_Collector::add_pending(Net_Changes& net, const Table& table,
                                Touched_Table& touched) const {
  if (!touched.records.is_empty() || touched.fields.size() != 1) return false;
  auto& [id, field] = *touched.fields.begin();
  const Field* const present = table.find_field(id);
  if (present == nullptr || !field.saved.is_empty()) return false;
  std::vector<Pending_Value>& pending = field.pending;
  sort_pending(pending);
  const Description after = describe(database_, table);
  for (std::size_t begin = 0, end = 0; begin < pending.size(); begin = end) {
    end = begin + 1;
    while (end < pending.size() && pending[end].record == pending[end - 1].record + 1) ++end;
    const index_t first = pending[begin].record;
    const auto size = static_cast<index_t>(end - begin);
    Values old_values(field.type.code);
    append(old_values, &pending[begin], size);
    Values new_values = read_values(*present->column, first, size);
    std::vector<Field_Change> all;
    all.reserve(1);
    all.push_back({id, std::move(old_values), std::move(new_values)});
    add_differing(net.records, after, first, size, std::move(all));
  }
  return true;
}

void Net_Collector::add_drops(Net_Changes& net) const {
  for (const auto& [key, dropped] : dropped_fields_) {
    const Table_Id table_id = key.first;
    const Field_Id id = key.second;
    const Table* const table = database_.find_table(table_id);
    if (table == nullptr) continue;
    Schema_Change schema{.field = *before_.at(table_id)->find_field(id),
                         .rows = dropped.rows,
                         .has_lost = dropped.has_lost};
    const Description description = describe(table_id, table->name(), {schema.field});
    if (const auto touched = tables_.find(table_id); schema.has_lost && touched != tables_.end()) {
      const auto saved = touched->second.fields.find(id);
      if (saved != touched->second.fields.end())
        for (const auto& [first, range] : saved->second.saved.ranges())
          for_each_run(table->records(), first, range.end, [&](index_t begin, index_t size) {
            schema.lost.push_back(lost_values(
                description, begin, gather(saved->second.saved.find(begin), begin, begin + size)));
          });
    }
    net.drops.push_back(
        change_of_schema(Change::Kind::field_dropped, name_of(*table), std::move(schema)));
  }
  for (const auto& [id, dropped] : dropped_tables_) {
    const Description before = before_.at(id);
    Schema_Change schema{.rows = dropped.rows, .has_lost = dropped.has_lost};
    if (const auto touched = tables_.find(id); schema.has_lost && touched != tables_.end())
      for (const auto& [first, range] : touched->second.records.ranges())
        if (range.payload.value)
          schema.lost.push_back(deletion(before, touched->second, first, range.end));
    net.drops.push_back(change_of_schema(Change::Kind::table_dropped, before, std::move(schema)));
  }
}

Net_Collector::Net_Changes Net_Collector::take() {
  Net_Changes net;
  add_schema(net);
  for (auto& [id, touched] : tables_) {
    const Table* const table = database_.find_table(id);
    if (table != nullptr && add_pending(net, *table, touched)) continue;
    save_pending(touched);
    if (table != nullptr) add_records(net, *table, touched);
  }
  add_drops(net);
  return net;
}

}  // namespace joedb::inline v1
