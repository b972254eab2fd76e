#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "history/change_parts.h"
#include "joedb/history/undo.h"
#include "kernel/base/interrupts.h"
#include "kernel/table/declaration.h"
#include "kernel/table/record_runs.h"
#include "kernel/table/references.h"

namespace joedb::inline v1 {

namespace {

using Kind = Change::Kind;

using On_Delete = Logical_Type::On_Delete;

// A set of records, which takes the memory of their runs.
class Record_Set {
 public:
  void add(Record_Id record, index_t size) {
    const index_t first = record.value();
    if (!runs_.empty() && runs_.back().second == first)
      runs_.back().second += size;
    else if (size > 0)
      runs_.emplace_back(first, first + size);
  }
  // Must be called after add(), before the functions below.
  void sort() {
    std::sort(runs_.begin(), runs_.end());
    std::vector<std::pair<index_t, index_t>> joined;
    for (const auto& [first, end] : runs_)
      if (!joined.empty() && first <= joined.back().second)
        joined.back().second = std::max(joined.back().second, end);
      else
        joined.emplace_back(first, end);
    runs_ = std::move(joined);
  }
  bool has(Record_Id record) const {
    const auto next = std::upper_bound(
        runs_.begin(), runs_.end(), record.value(),
        [](index_t id, const std::pair<index_t, index_t>& run) { return id < run.first; });
    return next != runs_.begin() && record.value() < std::prev(next)->second;
  }
  std::vector<index_t> ids() const {
    std::vector<index_t> result;
    for (const auto& [first, end] : runs_)
      for (index_t id = first; id < end; ++id) result.push_back(id);
    return result;
  }

 private:
  std::vector<std::pair<index_t, index_t>> runs_;  // first and end
};

class Planner {
 public:
  Planner(const Database& database, const std::vector<Change>& wanted, Conflicts mode)
      : database_(database), wanted_(wanted), mode_(mode) {}

  Plan run() {
    do {
      begin();
      plan_schema();
      for (const Change& change : wanted_)
        if (change.is_of_records()) plan_records(change);
      check_keys();
      check_references();
      check_targets();
      // With Conflicts::ours, an unchanged record keeps its key. Repeat, because another record may
      // want this key.
    } while (must_repeat_);
    for (Change& change : plan_.changes) schema_.push_back(std::move(change));
    plan_.changes = std::move(schema_);
    if (!plan_.is_possible) plan_.changes.clear();
    return std::move(plan_);
  }

 private:
  // Number of records whose values are compared together.
  static constexpr index_t rows_of_block = 4096;
  using Field_Key = std::pair<Table_Id, Field_Id>;
  using Record_Key = std::pair<Table_Id, Record_Id>;

  void begin() {
    plan_ = {};
    schema_.clear();
    must_repeat_ = false;
    created_tables_.clear();
    created_fields_.clear();
    dropped_tables_.clear();
    dropped_fields_.clear();
    kept_fields_.clear();
    ignored_tables_.clear();
    missing_tables_.clear();
    missing_fields_.clear();
    descriptions_.clear();
  }

  // Adds the conflict to the plan. Returns true if the change is made despite the conflict.
  bool report_conflict(Change_Conflict conflict) {
    ++plan_.conflict_count;
    const bool result = mode_ == Conflicts::theirs && conflict.can_be_forced;
    if (!result && mode_ != Conflicts::ours) plan_.is_possible = false;
    if (plan_.conflicts.size() < Plan::max_conflicts)
      plan_.conflicts.push_back(std::move(conflict));
    return result;
  }

  // ---- tables and fields

  void plan_schema() {
    std::map<Table_Id, std::vector<const Change*>> dropped_table_fields;
    for (const Change& change : wanted_)
      if (change.kind == Kind::table_dropped) dropped_table_fields[change.table->id];
    for (const Change& change : wanted_) {
      if (change.kind != Kind::field_dropped) continue;
      const auto found = dropped_table_fields.find(change.table->id);
      if (found != dropped_table_fields.end()) found->second.push_back(&change);
    }
    for (const Change& change : wanted_)
      if (change.kind == Kind::table_dropped)
        drop_table(change, dropped_table_fields[change.table->id]);
    for (const Change& change : wanted_)
      if (change.kind == Kind::field_dropped) drop_field(change);
    plan_table_names();
    plan_field_names();
    plan_field_types();
  }

  static std::string error_of(const Database& database, const auto& entry) {
    try {
      database.prepare(entry);
      return "";
    } catch (const Data_Error& error) {
      return error.what();
    }
  }

  void drop_table(const Change& change, const std::vector<const Change*>& fields) {
    const Table_Id id = change.table->id;
    const Table* const table = database_.find_table(id);
    ignored_tables_.insert(id);
    if (table == nullptr) return;
    const std::string reason = error_of(database_, Drop_Table{id});
    if (!reason.empty()) {
      report_conflict(
          {.kind = Change_Conflict::Kind::needed, .table = table->name(), .name = reason});
      return;
    }
    if ((table->name() != change.table_name() || !has_expected_fields(*table, fields)) &&
        !report_conflict({.kind = Change_Conflict::Kind::table_changed,
                          .table = table->name(),
                          .can_be_forced = true}))
      return;
    dropped_tables_.insert(id);
    schema_.push_back(change_of_schema(Kind::table_dropped, describe(*table),
                                       {.rows = table->records().used_count(), .has_lost = false}));
  }

  // Returns true if the table has exactly these fields, and exactly the records that the changes
  // delete.
  bool has_expected_fields(const Table& table, const std::vector<const Change*>& fields) const {
    const Description present = describe(table);
    if (present->fields.size() != fields.size()) return false;
    for (const Change* const change : fields) {
      const Field_Description* const field = present->find_field(change->schema->field.id);
      if (field == nullptr || field->name != change->schema->field.name) return false;
    }
    index_t deleted = 0;
    for (const Change& change : wanted_) {
      if (!change.is_of_records() || change.table->id != table.id()) continue;
      deleted += change.size;
      if (!are_used(table, change)) return false;
      for (const Field_Change& field : change.fields) {
        const Flags equal = compare(table, change, field.field, field.old_values);
        for (std::size_t i = 0; !equal.are_all(true) && i < static_cast<std::size_t>(change.size);
             ++i)
          if (!equal[i]) return false;
      }
    }
    return deleted == table.records().used_count();
  }

  void drop_field(const Change& change) {
    const Table_Id id = change.table->id;
    const Table* const table = database_.find_table(id);
    if (ignored_tables_.contains(id) || table == nullptr) return;
    const Field_Id field_id = change.schema->field.id;
    const Field* const field = table->find_field(field_id);
    if (field == nullptr) return;
    const std::string reason = error_of(database_, Drop_Field{id, field_id});
    if (!reason.empty()) {
      report_conflict({.kind = Change_Conflict::Kind::needed,
                       .table = table->name(),
                       .field = field->name,
                       .name = reason});
      return;
    }
    if (!has_expected_values(*table, field_id) &&
        !report_conflict({.kind = Change_Conflict::Kind::field_changed,
                          .table = table->name(),
                          .field = field->name,
                          .can_be_forced = true})) {
      kept_fields_.insert({id, field_id});
      return;
    }
    dropped_fields_.insert({id, field_id});
    schema_.push_back(change_of_schema(Kind::field_dropped, joedb::describe(id, table->name()),
                                       {.field = joedb::describe(database_, field_id, *field),
                                        .rows = table->records().used_count(),
                                        .has_lost = false}));
  }

  // Returns true if all values of the field are as the changes expect. The changes list only the
  // values that are not default values.
  bool has_expected_values(const Table& table, Field_Id field) const {
    index_t known = 0;
    for (const Change& change : wanted_) {
      if (!change.is_of_records() || change.table->id != table.id() ||
          change.kind == Kind::inserted)
        continue;
      const Field_Change* const values = change.find_field(field);
      if (values == nullptr) continue;
      const Flags equal = compare(table, change, field, values->old_values);
      const Flags is_default =
          compare(table, change, field, Values(values->old_values.type(), change.size));
      if (is_default.are_all(true)) continue;
      for (index_t i = 0; i < change.size; ++i) {
        if (!table.is_used(change.record + i)) continue;
        if (!equal[static_cast<std::size_t>(i)] && !is_default[static_cast<std::size_t>(i)])
          return false;
        if (!is_default[static_cast<std::size_t>(i)]) ++known;
      }
    }
    index_t found = 0;
    const Column_Base& column = *table.find_field(field)->column;
    joedb::for_each_run(table, [&](index_t first, index_t size) {
      found += size - default_count(column, first, size);
    });
    return found == known;
  }

  // ---- names

  struct Renaming {
    const Change* change;
    std::string present;
    const std::string& wanted() const {
      return change->kind == Kind::table_renamed ? change->table_name()
                                                 : change->schema->field.name;
    }
  };

  // Returns the possible renamings, in order. On call, `names` has the names that do not change;
  // the other final names are added. If a wanted name is taken, the current name is kept, which may
  // make another renaming impossible. Calls report(renaming) for each impossible renaming.
  template <class F>
  static std::vector<Renaming> possible(const std::vector<Renaming>& renamings,
                                        std::set<std::string>& names, F report) {
    std::map<std::string_view, std::size_t> by_new_name;
    std::vector<std::size_t> failed;  // from `next` on: not reported yet
    std::vector<bool> is_possible(renamings.size(), true);
    const auto fail = [&](std::size_t i) {
      if (!is_possible[i]) return;
      is_possible[i] = false;
      failed.push_back(i);
    };
    for (std::size_t i = 0; i < renamings.size(); ++i)
      if (names.contains(renamings[i].wanted()) ||
          !by_new_name.emplace(renamings[i].wanted(), i).second)
        fail(i);
    for (std::size_t next = 0; next < failed.size(); ++next) {
      const Renaming& renaming = renamings[failed[next]];
      report(renaming);
      names.insert(renaming.present);
      const auto other = by_new_name.find(renaming.present);
      if (other != by_new_name.end()) fail(other->second);
    }
    std::vector<Renaming> result;
    for (std::size_t i = 0; i < renamings.size(); ++i) {
      if (!is_possible[i]) continue;
      names.insert(renamings[i].wanted());
      result.push_back(renamings[i]);
    }
    return result;
  }

  void plan_table_names() {
    std::vector<Renaming> renamings;
    std::set<Table_Id> renamed;
    for (const Change& change : wanted_) {
      if (change.kind != Kind::table_renamed) continue;
      const Table* const table = database_.find_table(change.table->id);
      if (table == nullptr) {
        report_missing(*change.table);
      } else if (table->name() != change.table_name() &&
                 (table->name() == change.schema->old_name ||
                  report_conflict({.kind = Change_Conflict::Kind::name_changed,
                                   .table = change.schema->old_name,
                                   .name = table->name(),
                                   .can_be_forced = true}))) {
        renamings.push_back({&change, table->name()});
        renamed.insert(table->id());
      }
    }
    std::set<std::string> names;
    for (const auto& table : database_.tables())
      if (table && !dropped_tables_.contains(table->id()) && !renamed.contains(table->id()))
        names.insert(table->name());
    const auto report = [&](const Renaming& renaming) {
      report_conflict({.kind = Change_Conflict::Kind::name_taken,
                       .table = renaming.present,
                       .name = renaming.wanted()});
    };
    for (const Renaming& renaming : possible(renamings, names, report)) {
      schema_.push_back(change_of_schema(Kind::table_renamed, renaming.change->table,
                                         {.old_name = renaming.present}));
    }
    for (const Change& change : wanted_) {
      const bool is_new =
          change.kind == Kind::table_created && database_.find_table(change.table->id) == nullptr;
      if (!is_new) continue;
      if (names.insert(change.table_name()).second) {
        created_tables_.insert(change.table->id);
        schema_.push_back(change);
      } else {
        report_conflict({.kind = Change_Conflict::Kind::name_taken,
                         .table = change.table_name(),
                         .name = change.table_name()});
        ignored_tables_.insert(change.table->id);
      }
    }
  }

  void plan_field_names() {
    std::map<Table_Id, std::vector<Renaming>> renamings;
    for (const Change& change : wanted_) {
      if (change.kind != Kind::field_renamed && change.kind != Kind::field_added) continue;
      const Table_Id id = change.table->id;
      if (ignored_tables_.contains(id)) continue;
      const Field_Description& field = change.schema->field;
      if (created_tables_.contains(id)) {
        if (has_reference_target(change, change.table_name())) add_field(change);
        continue;
      }
      const Table* const table = database_.find_table(id);
      if (table == nullptr) {
        report_missing(*change.table);
        continue;
      }
      renamings[id];
      if (change.kind == Kind::field_added) continue;
      const Field* const found = table->find_field(field.id);
      if (found == nullptr)
        report_conflict({.kind = Change_Conflict::Kind::field_missing,
                         .table = table->name(),
                         .field = field.name});
      else if (found->name != field.name &&
               (found->name == change.schema->old_name ||
                report_conflict({.kind = Change_Conflict::Kind::name_changed,
                                 .table = table->name(),
                                 .field = change.schema->old_name,
                                 .name = found->name,
                                 .can_be_forced = true})))
        renamings[id].push_back({&change, found->name});
    }
    for (const auto& [id, list] : renamings) plan_field_names(*database_.find_table(id), list);
  }

  // Returns which value would mean something else in the wanted type; empty if there is none, and
  // if the changes also write values of the field.
  std::string reason_to_keep(const Table& table, const Field& field,
                             const Field_Description& wanted) const {
    for (const Change& change : wanted_)
      if (change.is_of_records() && change.table->id == table.id() &&
          (change.kind != Kind::updated || change.find_field(wanted.id) != nullptr))
        return "";
    try {
      require_same_meaning(table, field, field.column->logical(), get(wanted.logical));
    } catch (const Data_Error& error) {
      const std::string_view text = error.what();
      return std::string(text.substr(text.find(": ") + 2));
    }
    return "";
  }

  void plan_field_types() {
    for (const Change& change : wanted_) {
      if (change.kind != Kind::field_typed || ignored_tables_.contains(change.table->id)) continue;
      const Field_Description& wanted = change.schema->field;
      const Table* const table = database_.find_table(change.table->id);
      if (table == nullptr) {
        report_missing(*change.table);
        continue;
      }
      const Field* const found = table->find_field(wanted.id);
      if (found == nullptr) {
        report_conflict({.kind = Change_Conflict::Kind::field_missing,
                         .table = table->name(),
                         .field = wanted.name});
        continue;
      }
      const Logical_Type& present = found->column->logical();
      if (present == get(wanted.logical) ||
          (present != get(change.schema->old_type) &&
           !report_conflict({.kind = Change_Conflict::Kind::type_changed,
                             .table = table->name(),
                             .field = found->name,
                             .name = declared_type_text(found->column->type().code, present),
                             .can_be_forced = true})))
        continue;
      if (const std::string reason = reason_to_keep(*table, *found, wanted);
          !reason.empty() && !report_conflict({.kind = Change_Conflict::Kind::type_needed,
                                               .table = table->name(),
                                               .field = found->name,
                                               .name = reason,
                                               .can_be_forced = true}))
        continue;
      schema_.push_back(
          change_of_schema(Kind::field_typed, joedb::describe(table->id(), table->name()),
                           {.field = wanted, .old_type = found->column->shared_logical()}));
    }
  }

  void plan_field_names(const Table& table, const std::vector<Renaming>& renamings) {
    std::set<Field_Id> renamed;
    for (const Renaming& renaming : renamings) renamed.insert(renaming.change->schema->field.id);
    const Description present = describe(table);
    std::set<std::string> names;
    for (const Field_Description& field : present->fields)
      if (!dropped_fields_.contains({table.id(), field.id}) && !renamed.contains(field.id))
        names.insert(field.name);
    const auto report = [&](const Renaming& renaming) {
      report_conflict({.kind = Change_Conflict::Kind::name_taken,
                       .table = table.name(),
                       .field = renaming.present,
                       .name = renaming.wanted()});
    };
    for (const Renaming& renaming : possible(renamings, names, report)) {
      schema_.push_back(change_of_schema(
          Kind::field_renamed, present,
          {.field = renaming.change->schema->field, .old_name = renaming.present}));
    }
    for (const Change& change : wanted_) {
      const bool is_new = change.kind == Kind::field_added && change.table->id == table.id() &&
                          table.find_field(change.schema->field.id) == nullptr;
      if (!is_new) continue;
      const Field_Description& field = change.schema->field;
      if (!has_reference_target(change, table.name())) continue;
      if (names.insert(field.name).second)
        add_field(change);
      else
        report_conflict({.kind = Change_Conflict::Kind::name_taken,
                         .table = table.name(),
                         .field = field.name,
                         .name = field.name});
    }
  }

  // Returns true if the table to which a recreated field refers exists. It need not exist if it was
  // dropped before the field.
  bool has_reference_target(const Change& change, const std::string& table) {
    const Field_Description& field = change.schema->field;
    if (field.type.code != Type_Code::reference || field.referenced.empty()) return true;
    const Table_Id id = field.type.referenced;
    if (created_tables_.contains(id) ||
        (database_.find_table(id) != nullptr && !dropped_tables_.contains(id)))
      return true;
    missing_fields_.insert({change.table->id, field.id});  // suppresses conflicts about its values
    report_conflict({.kind = Change_Conflict::Kind::table_missing,
                     .table = table,
                     .field = field.name,
                     .name = field.referenced});
    return false;
  }
  void add_field(const Change& change) {
    created_fields_.emplace(Field_Key(change.table->id, change.schema->field.id),
                            change.schema->field);
    descriptions_.erase(change.table->id);
    schema_.push_back(change);
  }

  void report_missing(const Table_Description& table) {
    if (missing_tables_.insert(table.id).second)
      report_conflict({.kind = Change_Conflict::Kind::table_missing, .table = table.name});
  }

  // ---- records

  // A flag for each record of a change. If all flags are equal, as in most changes, only one is
  // stored.
  class Flags {
   public:
    Flags(index_t size, bool value) : size_(size), value_(value) {}
    bool operator[](std::size_t i) const { return some_.empty() ? value_ : some_[i]; }
    // True if one flag is stored for all records and is equal to `value`.
    bool are_all(bool value) const { return some_.empty() && value_ == value; }
    void set(std::size_t i, bool value) {
      if (some_.empty()) {
        if (value == value_) return;
        some_.assign(static_cast<std::size_t>(size_), value_);
      }
      some_[i] = value;
    }

   private:
    index_t size_;
    bool value_;
    std::vector<bool> some_;
  };

  // The state of a field of a change.
  struct Field_State {
    const Field_Change* change;
    bool is_new;     // the field is recreated, with default values
    Flags expected;  // the current value is the expected one; valid for used records
    Flags wanted;    // the current value is the wanted one; valid for used records
    Flags write;
  };

  void plan_records(const Change& change) {
    const Table_Id id = change.table->id;
    if (ignored_tables_.contains(id)) return;
    if (created_tables_.contains(id)) {
      add_to_new_table(change);
      return;
    }
    const Table* const table = database_.find_table(id);
    if (table == nullptr) {
      if (change.kind != Kind::deleted) report_missing(*change.table);
      return;
    }
    const Flags none(change.size, false);
    std::vector<Field_State> fields;
    for (const Field_Change& field : change.fields) {
      const Field_Key key(id, field.field);
      if ((dropped_fields_.contains(key) || kept_fields_.contains(key)) &&
          change.kind != Kind::deleted)
        continue;
      if (created_fields_.contains(key)) {
        fields.push_back({&field, true, Flags(change.size, true), none, none});
      } else if (table->find_field(field.field) == nullptr) {
        if (change.kind != Kind::deleted && missing_fields_.insert(key).second)
          report_conflict({.kind = Change_Conflict::Kind::field_missing,
                           .table = table->name(),
                           .field = change.field_name(field)});
      } else {
        fields.push_back({&field, false, compare(*table, change, field.field, field.old_values),
                          compare(*table, change, field.field, field.new_values), none});
      }
    }
    if (change.kind == Kind::inserted)
      plan_insertions(*table, change, fields);
    else if (change.kind == Kind::deleted)
      plan_deletions(*table, change, fields);
    else
      plan_updates(*table, change, fields);
  }

  // Omits fields that are not created because the tables to which they refer are missing.
  void add_to_new_table(const Change& change) {
    Change insertion = change;
    std::erase_if(insertion.fields, [&](const Field_Change& field) {
      return !created_fields_.contains({change.table->id, field.field});
    });
    const auto is_kept = [&](index_t i) {
      return kept_.contains({change.table->id, change.record + i});
    };
    index_t i = 0;
    while (i < change.size && !is_kept(i)) ++i;
    if (i == change.size) return plan_.changes.push_back(std::move(insertion));
    for (index_t first = 0; first < change.size; first = i + 1) {
      for (i = first; i < change.size && !is_kept(i);) ++i;
      if (i == first) continue;
      Change part =
          change_of_records(change.kind, change.table, change.record.value() + first, i - first);
      for (const Field_Change& field : insertion.fields)
        part.fields.push_back({field.field, Values(), part_of(field.new_values, first, i - first)});
      plan_.changes.push_back(std::move(part));
    }
  }

  void plan_insertions(const Table& table, const Change& change, std::vector<Field_State>& fields) {
    std::vector<bool> insert(static_cast<std::size_t>(change.size));
    for (index_t i = 0; i < change.size; ++i) {
      const auto row = static_cast<std::size_t>(i);
      const Record_Id record = change.record + i;
      if (kept_.contains({table.id(), record})) continue;
      if (!table.is_used(record)) {
        insert[row] = true;
        continue;
      }
      bool is_same = true;
      for (const Field_State& field : fields) is_same = is_same && field.wanted[row];
      if (is_same || !report_conflict({.kind = Change_Conflict::Kind::record_present,
                                       .table = table.name(),
                                       .record = record,
                                       .can_be_forced = true}))
        continue;
      for (Field_State& field : fields) field.write.set(row, !field.wanted[row]);
    }
    for_each_run(insert, true, [&](index_t first, index_t size) {
      Change out = change_of(Kind::inserted, table, change.record + first, size);
      for (const Field_State& field : fields)
        out.fields.push_back(
            {field.change->field, Values(), part_of(field.change->new_values, first, size)});
      add_defaults(out, table);
      plan_.changes.push_back(std::move(out));
    });
    add_updates(table, change, fields);
  }

  // The values of records that were given no value of this field.
  static Values initial_values(const Field_Description& field, index_t size) {
    if (!get(field.logical).is_optional) return Values(field.type.code, size);
    Values values(field.type.code);
    visit_type(field.type.code, [&]<class T>(std::type_identity<T>) {
      const Value missing = missing_value<T>(get(field.logical));
      for (index_t i = 0; i < size; ++i) values.append(missing);
    });
    return values;
  }

  // Adds default values for the fields that were added to the table since then.
  void add_defaults(Change& insertion, const Table& table) const {
    for (const Field_Description& field : describe(table)->fields)
      if (insertion.find_field(field.id) == nullptr &&
          !dropped_fields_.contains({table.id(), field.id}))
        insertion.fields.push_back({field.id, Values(), initial_values(field, insertion.size)});
  }

  void plan_deletions(const Table& table, const Change& change,
                      const std::vector<Field_State>& fields) {
    // Fields with unexpected values.
    std::vector<const Field_State*> changed;
    for (const Field_State& field : fields)
      if (!field.is_new && !field.expected.are_all(true)) changed.push_back(&field);
    // Fields added since then, in which some values are not default values.
    std::vector<std::pair<Field_Id, Flags>> added;
    for (const Field_Description& field : describe(table)->fields)
      if (change.find_field(field.id) == nullptr && table.find_field(field.id) != nullptr) {
        Flags is_default = compare(table, change, field.id, initial_values(field, change.size));
        if (!is_default.are_all(true)) added.emplace_back(field.id, std::move(is_default));
      }
    std::vector<bool> erase(static_cast<std::size_t>(change.size));
    for (index_t i = 0; i < change.size; ++i) {
      const auto row = static_cast<std::size_t>(i);
      const Record_Id record = change.record + i;
      if (!table.is_used(record) || kept_.contains({table.id(), record})) continue;
      erase[row] = true;
      const auto conflict = [&](Field_Id field, Values expected) {
        if (!report_conflict(value_conflict(table, record, field, std::move(expected), Values())))
          erase[row] = false;
      };
      for (const Field_State* const field : changed)
        if (!field->expected[row])
          conflict(field->change->field, part_of(field->change->old_values, i, 1));
      for (const auto& [field, is_default] : added)
        if (!is_default[row]) conflict(field, Values(type_of(table, field), 1));
    }
    for_each_run(erase, true, [&](index_t first, index_t size) {
      Change out = change_of(Kind::deleted, table, change.record + first, size);
      for (const Field_Description& field : out.table->fields)
        if (table.find_field(field.id) != nullptr)
          out.fields.push_back({field.id, read(table, field.id, change.record + first, size), {}});
      plan_.changes.push_back(std::move(out));
    });
  }

  void plan_updates(const Table& table, const Change& change, std::vector<Field_State>& fields) {
    for (index_t i = 0; i < change.size; ++i) {
      const auto row = static_cast<std::size_t>(i);
      const Record_Id record = change.record + i;
      if (kept_.contains({table.id(), record}) || fields.empty()) continue;
      if (!table.is_used(record)) {
        report_conflict({.kind = Change_Conflict::Kind::record_missing,
                         .table = table.name(),
                         .record = record});
        continue;
      }
      for (Field_State& field : fields) {
        if (field.wanted[row]) continue;
        field.write.set(row, field.expected[row] || report_conflict(value_conflict(
                                                        table, record, field.change->field,
                                                        part_of(field.change->old_values, i, 1),
                                                        part_of(field.change->new_values, i, 1))));
      }
    }
    add_updates(table, change, fields);
  }

  void add_updates(const Table& table, const Change& change,
                   const std::vector<Field_State>& all_fields) {
    std::vector<const Field_State*> fields;
    for (const Field_State& field : all_fields)
      if (!field.write.are_all(false)) fields.push_back(&field);
    if (fields.empty()) return;
    const auto is_alike = [&](std::size_t a, std::size_t b) {
      return std::all_of(fields.begin(), fields.end(), [&](const Field_State* field) {
        return field->write[a] == field->write[b];
      });
    };
    for (index_t first = 0, end = 0; first < change.size; first = end) {
      const auto row = static_cast<std::size_t>(first);
      for (end = first + 1; end < change.size && is_alike(row, static_cast<std::size_t>(end));)
        ++end;
      Change out = change_of(Kind::updated, table, change.record + first, end - first);
      for (const Field_State* const field : fields) {
        if (!field->write[row]) continue;
        const Values& values = field->change->new_values;
        const Field_Id id = field->change->field;
        out.fields.push_back({id,
                              field->is_new ? Values(values.type(), out.size)
                                            : read(table, id, out.record, out.size),
                              part_of(values, first, out.size)});
      }
      if (!out.fields.empty()) plan_.changes.push_back(std::move(out));
    }
  }

  Change_Conflict value_conflict(const Table& table, Record_Id record, Field_Id field,
                                 Values expected, Values wanted) const {
    Values found = read(table, field, record, 1);
    return {.kind = Change_Conflict::Kind::value_changed,
            .table = table.name(),
            .record = record,
            .field = table.find_field(field)->name,
            .expected = std::move(expected),
            .found = std::move(found),
            .wanted = std::move(wanted),
            .logical = table.find_field(field)->column->shared_logical(),
            .can_be_forced = true};
  }

  // ---- unique keys

  // Compares the future keys of changed records with each other, and with the keys of unchanged
  // records.
  void check_keys() {
    for (const Index* const index : database_.indexes()) {
      const Index_Definition& definition = index->definition();
      if (!definition.is_unique || !index->is_complete()) continue;
      const Table& table = *database_.find_table(definition.table);
      std::map<Record_Id, const Change*> touched;
      for (const Change& change : plan_.changes) {
        if (change.table->id != table.id()) continue;
        if (change.kind == Kind::updated &&
            std::none_of(definition.fields.begin(), definition.fields.end(),
                         [&](Field_Id field) { return change.find_field(field) != nullptr; }))
          continue;
        for (index_t i = 0; i < change.size; ++i) touched[change.record + i] = &change;
      }
      std::map<std::string, Record_Id> keys;
      for (const auto& [record, change] : touched) {
        if (change->kind == Kind::deleted) continue;
        std::vector<Values> values;
        std::vector<Key_Part> key;
        for (const Field_Id field : definition.fields) {
          const Field_Change* const written = change->find_field(field);
          values.push_back(written != nullptr ? part_of(written->new_values,
                                                        record.value() - change->record.value(), 1)
                                              : read(table, field, record, 1));
        }
        std::string bytes;
        for (const Values& value : values)
          std::visit([&](const auto& typed) { key.push_back(key_part(typed)); }, value[0]);
        if (!index->counts(key)) continue;
        for (const Key_Part& part : key) {
          bytes.append(reinterpret_cast<const char*>(&part.number), sizeof(std::uint64_t));
          bytes += std::to_string(part.text.size()) + ':';
          bytes += part.text;
        }
        const auto [place, is_first] = keys.emplace(std::move(bytes), record);
        Record_Id other = is_first ? index->find(key) : place->second;
        if (is_first && other.is_not_null() && touched.contains(other)) other = Record_Id();
        if (other.is_null()) continue;
        report_conflict({.kind = Change_Conflict::Kind::key_taken,
                         .table = table.name(),
                         .record = record,
                         .name = definition.name,
                         .other = other});
        if (mode_ == Conflicts::ours && kept_.insert({table.id(), record}).second)
          must_repeat_ = true;
      }
    }
  }

  // ---- references with rules

  // A record cannot be deleted while others refer to it, because write_plan() does not do what the
  // rules say: these others were not part of the changes.
  void check_references() {
    std::map<Table_Id, Record_Set> deleted;
    for (const Change& change : plan_.changes)
      if (change.kind == Kind::deleted) deleted[change.table->id].add(change.record, change.size);
    if (std::none_of(deleted.begin(), deleted.end(),
                     [&](const auto& each) { return database_.has_rules(each.first); }))
      return;
    std::map<Field_Key, Record_Set> updated;
    for (const Change& change : plan_.changes)
      for (const Field_Change& field : change.fields)
        if (change.kind != Kind::deleted)
          updated[{change.table->id, field.field}].add(change.record, change.size);
    const auto has = [](const auto& sets, const auto& key, Record_Id record) {
      const auto found = sets.find(key);
      return found != sets.end() && found->second.has(record);
    };
    for (auto& [key, records] : deleted) records.sort();
    for (auto& [key, records] : updated) records.sort();
    for (const auto& [id, records] : deleted) {
      if (!database_.has_rules(id)) continue;
      for (const Reference& reference : references_with_rules(database_, id, records.ids())) {
        const Field_Key field{reference.table, reference.field};
        if (has(deleted, reference.table, reference.record) ||
            has(updated, field, reference.record) || dropped_fields_.contains(field) ||
            dropped_tables_.contains(reference.table))
          continue;
        const Table& table = *database_.find_table(reference.table);
        report_conflict({.kind = Change_Conflict::Kind::referenced,
                         .table = database_.find_table(id)->name(),
                         .record = reference.target,
                         .name = table.name() + "." + table.find_field(reference.field)->name,
                         .other = reference.record});
        if (mode_ == Conflicts::ours && kept_.insert({id, reference.target}).second)
          must_repeat_ = true;
      }
    }
  }

  // A written reference with a rule.
  struct Ruled_Field {
    const std::string& name;
    Table_Id referenced;
    const std::string& referenced_name;
  };

  // Returns nullopt if the field has no rule. The field, and the table to which it refers, may be
  // recreated by the plan.
  std::optional<Ruled_Field> find_rule(const Change& change, Field_Id id) const {
    const Table* const table = database_.find_table(change.table->id);
    const Field* const present = table == nullptr ? nullptr : table->find_field(id);
    const Field_Description* const planned = change.table->find_field(id);
    if (present == nullptr && planned == nullptr) return {};
    const Type& type = present != nullptr ? present->column->type() : planned->type;
    const Logical_Type& logical =
        present != nullptr ? present->column->logical() : get(planned->logical);
    if (type.code != Type_Code::reference || logical.on_delete == On_Delete::keep) return {};
    const std::string& name = present != nullptr ? present->name : planned->name;
    if (const Table* const referenced = database_.find_table(type.referenced))
      return Ruled_Field{name, referenced->id(), referenced->name()};
    if (present != nullptr || !created_tables_.contains(type.referenced)) return {};
    return Ruled_Field{name, type.referenced, planned->referenced};
  }

  // A written reference must find its record, unless it has no rule.
  void check_targets() {
    const auto has_rule = [&](const Change& change) {
      return change.kind != Kind::deleted &&
             std::any_of(change.fields.begin(), change.fields.end(),
                         [&](const Field_Change& field) { return find_rule(change, field.field); });
    };
    if (std::none_of(plan_.changes.begin(), plan_.changes.end(), has_rule)) return;
    std::map<Table_Id, Record_Set> inserted, deleted;
    for (const Change& change : plan_.changes)
      if (change.kind != Kind::updated)
        (change.kind == Kind::inserted ? inserted : deleted)[change.table->id].add(change.record,
                                                                                   change.size);
    for (auto& [id, records] : inserted) records.sort();
    for (auto& [id, records] : deleted) records.sort();
    for (const Change& change : plan_.changes) {
      if (change.kind == Kind::deleted) continue;
      for (const Field_Change& written : change.fields)
        if (const auto rule = find_rule(change, written.field))
          check_targets(change, written, *rule, inserted[rule->referenced],
                        deleted[rule->referenced]);
    }
  }

  void check_targets(const Change& change, const Field_Change& written, const Ruled_Field& field,
                     const Record_Set& inserted, const Record_Set& deleted) {
    const Table* const referenced = database_.find_table(field.referenced);
    for (index_t i = 0; i < change.size; ++i) {
      const Record_Id target = written.new_values.get<Record_Id>(i);
      if (target.is_null() || inserted.has(target) ||
          (referenced != nullptr && referenced->is_used(target) && !deleted.has(target)))
        continue;
      report_conflict({.kind = Change_Conflict::Kind::target_missing,
                       .table = change.table_name(),
                       .record = change.record + i,
                       .field = field.name,
                       .name = field.referenced_name,
                       .other = target,
                       .can_be_forced = true});
      if (mode_ == Conflicts::ours && kept_.insert({change.table->id, change.record + i}).second)
        must_repeat_ = true;
    }
  }

  // ---- help

  Change change_of(Kind kind, const Table& table, Record_Id record, index_t size) {
    return change_of_records(kind, describe(table), record.value(), size);
  }

  // Describes the table, including fields that will be recreated.
  Description describe(const Table& table) const {
    Description& result = descriptions_[table.id()];
    if (result) return result;
    auto planned = std::make_shared<Table_Description>(*joedb::describe(database_, table));
    const auto by_id = [](const auto& a, const auto& b) { return a.id < b.id; };
    for (auto created = created_fields_.lower_bound({table.id(), Field_Id()});
         created != created_fields_.end() && created->first.first == table.id(); ++created)
      planned->fields.push_back(created->second);
    std::sort(planned->fields.begin(), planned->fields.end(), by_id);
    return result = std::move(planned);
  }
  static Type_Code type_of(const Table& table, Field_Id field) {
    return table.find_field(field)->column->type().code;
  }

  static Values read(const Table& table, Field_Id field, Record_Id record, index_t size) {
    return read_values(table, field, record.value(), size);
  }
  static bool are_used(const Table& table, const Change& change) {
    return are_used(table, change.record, change.size);
  }
  static bool are_used(const Table& table, Record_Id first, index_t size) {
    if (table.records().is_dense())
      return first.value() >= 0 && first.value() + size <= table.records().size();
    for (index_t i = 0; i < size; ++i)
      if (!table.is_used(first + i)) return false;
    return true;
  }

  // Returns a flag for each record: true if the record is in use and has the given value. If
  // `values` is empty, all flags are false.
  static Flags compare(const Table& table, const Change& change, Field_Id field,
                       const Values& values) {
    const Field* const found = table.find_field(field);
    if (found == nullptr || values.is_empty() || found->column->type().code != values.type())
      return Flags(change.size, false);
    Flags result(change.size, true);
    for (index_t begin = 0; begin < change.size; begin += rows_of_block) {
      look_for_interrupt();
      const index_t size = std::min(rows_of_block, change.size - begin);
      const Record_Id record = change.record + begin;
      if (are_used(table, record, size) &&
          values.is_same(begin, size, *found->column, record.value()))
        continue;
      visit_type(values.type(), [&]<class T>(std::type_identity<T>) {
        const Column<T>& column = table.column<T>(field);
        for (index_t i = begin; i < begin + size; ++i) {
          const bool is_used = table.is_used(change.record + i);
          result.set(static_cast<std::size_t>(i),
                     is_used && is_same(Value(T(column.get(change.record.value() + i))),
                                        Value(values.get<T>(i))));
        }
      });
    }
    return result;
  }

  static index_t default_count(const Column_Base& base, index_t first, index_t size) {
    const Values defaults(base.type().code, std::min(size, rows_of_block));
    return visit_type(base.type().code, [&]<class T>(std::type_identity<T>) {
      const auto& column = static_cast<const Column<T>&>(base);
      index_t result = 0;
      for (index_t begin = first; begin < first + size; begin += rows_of_block) {
        const index_t end = std::min(first + size, begin + rows_of_block);
        if (defaults.is_same(0, end - begin, base, begin)) {
          result += end - begin;
          continue;
        }
        for (index_t id = begin; id < end; ++id)
          if (is_same(Value(T(column.get(id))), Value(T()))) ++result;
      }
      return result;
    });
  }

  // Calls f(first, size) for each run of flags that are equal to `value`.
  template <class F>
  static void for_each_run(const std::vector<bool>& flags, bool value, F f) {
    for (std::size_t first = 0, end = 0; first < flags.size(); first = end) {
      for (end = first + 1; end < flags.size() && flags[end] == flags[first];) ++end;
      if (flags[first] == value) f(static_cast<index_t>(first), static_cast<index_t>(end - first));
    }
  }

  const Database& database_;
  const std::vector<Change>& wanted_;
  const Conflicts mode_;
  Plan plan_;
  std::vector<Change> schema_;
  std::set<Table_Id> created_tables_;
  std::map<Field_Key, Field_Description> created_fields_;
  std::set<Table_Id> dropped_tables_;
  std::set<Field_Key> dropped_fields_;
  std::set<Field_Key> kept_fields_;  // not dropped, because their values are unexpected
  // Tables in which changes of records are ignored.
  std::set<Table_Id> ignored_tables_;
  std::set<Table_Id> missing_tables_;  // already reported
  std::set<Field_Key> missing_fields_;
  mutable std::map<Table_Id, Description> descriptions_;
  // Records that stay unchanged because their keys are taken.
  std::set<Record_Key> kept_;
  bool must_repeat_ = false;
};

}  // namespace

Plan plan_changes(const Database& database, const std::vector<Change>& changes,
                  Conflicts conflicts) {
  return Planner(database, changes, conflicts).run();
}

Plan apply_changes(Writable_Database& database, const std::vector<Change>& changes,
                   Conflicts conflicts) {
  Plan plan = plan_changes(std::as_const(database).get_database(), changes, conflicts);
  if (plan.is_possible) write_plan(database, plan);
  return plan;
}

}  // namespace joedb::inline v1
