#include "kernel/table/undo_log.h"

#include "kernel/base/interrupts.h"
#include "kernel/table/live_fields.h"
#include "kernel/table/references.h"

namespace joedb::inline v1 {

namespace {

template <class T>
void put_back(Table& table, Field_Id field, index_t record, const T& old) {
  using Value = std::conditional_t<std::is_same_v<T, std::string>, std::string_view, T>;
  Column<Value>& column = table.column<Value>(field);
  column.prepare(old);
  column.set(record, old);
}

}  // namespace

Undo_Log::Step Undo_Log::insertion(Table& table, Record_Id record) const {
  const index_t id = record.value();
  Step step{&table, id, Field_Id(), 0, {}, Appended{1}};
  const Record_Ids& records = table.records();
  if (id < 0 || records.is_used(id)) return step;  // prepare() will throw for this id
  step.before = records.before_insert(id);
  if (id < records.size()) {
    Inserted inserted;
    for_each_field(table, [&](Field_Id, const Field& field) {
      visit_type(field.column->type().code, [&]<class T>(std::type_identity<T>) {
        inserted.values.push_back(old_value(static_cast<const Column<T>&>(*field.column).get(id)));
      });
    });
    step.change = std::move(inserted);
  }
  return step;
}

void Undo_Log::remember_insertion(Step step) {
  if (std::holds_alternative<Appended>(step.change) && steps_.size() > barrier_) {
    Step& last = steps_.back();
    if (auto* const rows = std::get_if<Appended>(&last.change);
        rows != nullptr && last.table == step.table && step.record == last.record + rows->count &&
        step.before.size == step.record) {
      ++rows->count;
      return;
    }
  }
  steps_.push_back(std::move(step));
}

void Undo_Log::erase(Table& table, std::span<const Record_Id> records) {
  for (const Record_Id record : records) table.require_used(record);
  const std::vector<Consequence> consequences =
      consequences_of_deletion(database_.database_, table.id(), records);
  if (consequences.empty() && records.size() == 1) return erase_alone(table, records.front());
  const Savepoint start = savepoint();
  Interrupt_Counter look;
  try {
    for (const Consequence& change : consequences) {
      look();
      Table& changed = database_.database_.table(change.table);
      if (change.field.is_null())
        erase_alone(changed, change.record);
      else
        update(changed, change.field, change.record, Record_Id());
    }
    for (const Record_Id record : records) {
      look();
      erase_alone(table, record);
    }
  } catch (...) {
    try {
      rollback_to(start);
    } catch (const std::exception&) {  // is_broken() now; the first exception is rethrown
    }
    throw;
  }
}

void Undo_Log::erase_alone(Table& table, Record_Id record) {
  change({&table, record.value(), Field_Id(), table.index_bits(record),
          table.records().before_erase(record.value()), Erased()},
         [&] {
           database_.write_alone(Delete{table.id(), record});
         });
}

void Undo_Log::undo(const Step& step) {
  database_.forget_free_ids();
  Table& table = *step.table;
  const Record_Id record(step.record);
  if (const auto* const rows = std::get_if<Appended>(&step.change)) {
    for (index_t id = step.record + rows->count; --id >= step.record;) {
      const bool is_first = id == step.record;
      Record_Ids::Before before = step.before;
      if (!is_first) before.size = id;
      database_.database_.undo_insert(table, Record_Id(id), before);
      for_each_field(table, [&](Field_Id, const Field& field) { field.column->reset(id); });
    }
  } else if (const auto* const inserted = std::get_if<Inserted>(&step.change)) {
    database_.database_.undo_insert(table, record, step.before);
    std::size_t i = 0;
    for_each_field(table, [&](Field_Id field, const Field&) {
      std::visit([&](const auto& old) { put_back(table, field, step.record, old); },
                 inserted->values[i++]);
    });
  } else if (std::holds_alternative<Erased>(step.change)) {
    table.undo_erase(record, step.before, step.index_bits);
  } else {
    const bool has_index = table.find_index(step.field) != nullptr;
    if (has_index) table.erase_keys(record);
    std::visit([&](const auto& old) { put_back(table, step.field, step.record, old); },
               std::get<Old_Value>(step.change));
    if (has_index) table.undo_keys(record, step.index_bits);
  }
}

Undo_Log::Savepoint Undo_Log::savepoint() {
  barrier_ = steps_.size();
  return {database_.journal_.savepoint(), steps_.size()};
}

void Undo_Log::rollback_to(const Savepoint& savepoint) {
  undo_all(
      [&] {
        for (; steps_.size() > savepoint.steps; steps_.pop_back()) undo(steps_.back());
        barrier_ = steps_.size();
      },
      savepoint.journal);
}

void Undo_Log::clear() {
  steps_.clear();
  barrier_ = 0;
}

}  // namespace joedb::inline v1
