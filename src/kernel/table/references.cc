#include "kernel/table/references.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

#include "kernel/base/counted.h"
#include "kernel/table/live_fields.h"
#include "kernel/table/record_runs.h"

namespace joedb::inline v1 {

namespace {

using On_Delete = Logical_Type::On_Delete;

// Finds the records with given references.
class Reference_Search {
 public:
  Reference_Search(const Table& table, Field_Id field)
      : table_(table), column_(table.column<Record_Id>(field)) {
    for (const auto& index : table.indexes()) {
      const Index_Definition& definition = index->definition();
      // A unique index of several fields that only the program has may lack records.
      const bool has_references =
          index->has_all() || !definition.is_unique || definition.fields.size() == 1;
      if (definition.fields.front() == field && has_references && index->is_complete() &&
          !index->is_deferred())
        index_ = index.get();
    }
  }

  // True if `count` searches in the index take less time than to read all references.
  bool is_fast_for(index_t count) const {
    return index_ != nullptr && count * search_cost < table_.records().size();
  }
  // The time of a search in the index, in that of reading a reference.
  static constexpr index_t search_cost = 16;

  // Removes the ids to which a record in use refers.
  void remove_targets(std::vector<index_t>& ids) const {
    if (is_fast_for(static_cast<index_t>(ids.size()))) {
      std::erase_if(ids, [&](index_t id) {
        const Key_Part key = key_part(Record_Id(id));
        const Record_Id first = index_->lower_bound({&key, 1}).record();
        return first.is_not_null() && column_.get(first.value()) == Record_Id(id);
      });
    } else if (!ids.empty() && table_.records().used_count() > 0) {
      if (are_few(ids)) {
        std::unordered_set<index_t> found;
        scan(ids, [&](index_t record) { found.insert(column_.get(record).value()); });
        std::erase_if(ids, [&](index_t id) { return found.contains(id); });
      } else {
        std::vector<bool> found(static_cast<std::size_t>(*std::ranges::max_element(ids)) + 1);
        scan(ids, [&](index_t record) {
          found[static_cast<std::size_t>(column_.get(record).value())] = true;
        });
        std::erase_if(ids, [&](index_t id) { return found[static_cast<std::size_t>(id)]; });
      }
    }
  }

  // Calls f(record) for each record in use that refers to one of `targets`, which are all
  // different.
  template <class F>
  void find(const std::vector<index_t>& targets, F f) {
    if (targets.empty()) return;
    if (index_ != nullptr)
      find_in_index(targets, f);
    else if (++searches_ <= max_scans)
      scan(targets, f);
    else
      find_sorted(targets, f);
  }

 private:
  // Sorting all references takes about as long as this number of scans.
  static constexpr int max_scans = 8;

  template <class F>
  void find_in_index(const std::vector<index_t>& targets, F f) const {
    for (const index_t target : targets) {
      const Key_Part key = key_part(Record_Id(target));
      for (Index::Cursor cursor = index_->lower_bound({&key, 1}); !cursor.record().is_null();
           cursor.next()) {
        if (column_.get(cursor.record().value()) != Record_Id(target)) break;
        f(cursor.record().value());
      }
    }
  }

  template <class F>
  void scan(const std::vector<index_t>& targets, F f) const {
    if (targets.size() == 1)
      return for_each([&](index_t record, index_t target) {
        if (target == targets.front()) f(record);
      });
    const index_t last = *std::max_element(targets.begin(), targets.end());
    if (are_few(targets)) return scan_for_few(targets, f);
    std::vector<bool> is_target(static_cast<std::size_t>(last) + 1);
    for (const index_t target : targets) is_target[static_cast<std::size_t>(target)] = true;
    for_each([&](index_t record, index_t target) {
      if (target >= 0 && target <= last && is_target[static_cast<std::size_t>(target)]) f(record);
    });
  }

  // True if a bit for each id of the table would take more time than searches in these ids.
  static bool are_few(const std::vector<index_t>& ids) {
    return static_cast<index_t>(ids.size()) < *std::ranges::max_element(ids) / 1024;
  }

  template <class F>
  void scan_for_few(std::vector<index_t> targets, F f) const {
    std::sort(targets.begin(), targets.end());
    for_each([&](index_t record, index_t target) {
      if (target >= targets.front() && target <= targets.back() &&
          std::binary_search(targets.begin(), targets.end(), target))
        f(record);
    });
  }

  template <class F>
  void find_sorted(const std::vector<index_t>& targets, F f) {
    if (!std::exchange(is_sorted_, true)) {
      for_each([&](index_t record, index_t target) {
        if (target >= 0) sorted_.emplace_back(target, record);
      });
      std::sort(sorted_.begin(), sorted_.end());
    }
    for (const index_t target : targets)
      for (auto found =
               std::lower_bound(sorted_.begin(), sorted_.end(), std::pair(target, index_t()));
           found != sorted_.end() && found->first == target; ++found)
        f(found->second);
  }

  // Calls f(record, target) for each record in use.
  template <class F>
  void for_each(F f) const {
    for_each_run(table_, [&](index_t first, index_t size) {
      for (index_t record = first; record < first + size; ++record)
        f(record, column_.get(record).value());
    });
  }

  const Table& table_;
  const Column<Record_Id>& column_;
  const Index* index_ = nullptr;
  int searches_ = 0;
  bool is_sorted_ = false;
  std::vector<std::pair<index_t, index_t>> sorted_;  // targets and records, after max_scans
};

// The records that are to be deleted, and what follows from their deletion.
class Deletion {
 public:
  explicit Deletion(const Database& database) : database_(database) {}

  void add(const Table& table, index_t record) {
    if (!deleted_[table.id()].insert(record).second) return;
    new_[table.id()].push_back(record);
    order_.emplace_back(table.id(), record);
  }

  // Returns what must happen before the records that were added are deleted.
  std::vector<Consequence> consequences() {
    const std::size_t first_records = order_.size();
    cascade();
    require_possible();
    std::vector<Consequence> result;
    for_each_reference(On_Delete::clear, [&](const Table& table, Field_Id field, index_t record) {
      result.push_back({table.id(), Record_Id(record), field});
    });
    for (std::size_t i = order_.size(); i > first_records;) {
      const auto& [table, record] = order_[--i];
      result.push_back({table, Record_Id(record), {}});
    }
    return result;
  }

 private:
  // Adds the records that are deleted with the added ones, and so on. Each pass visits the records
  // that the pass before has added.
  void cascade() {
    while (!new_.empty()) {
      const auto targets = std::exchange(new_, {});
      for (const auto& each : targets)
        for_each_referrer(each.first, On_Delete::cascade, [&](const Table& table, Field_Id field) {
          search(table, field).find(each.second, [&](index_t record) { add(table, record); });
        });
    }
  }

  void require_possible() {
    for_each_reference(On_Delete::refuse, [&](const Table& table, Field_Id field, index_t record) {
      refuse(table, field, record);
    });
  }

  bool is_deleted(const Table& table, index_t record) const {
    const auto found = deleted_.find(table.id());
    return found != deleted_.end() && found->second.contains(record);
  }

  Reference_Search& search(const Table& table, Field_Id field) {
    return searches_.try_emplace({table.id(), field}, table, field).first->second;
  }

  template <class F>
  void for_each_referrer(Table_Id table, On_Delete rule, F f) const {
    const Database::Referrers* const referrers = database_.find_referrers(table);
    if (referrers == nullptr || referrers->rule_count == 0) return;
    for (const auto& [field, field_rule] : referrers->fields)
      if (field_rule == rule) f(*database_.find_table(field.first), field.second);
  }

  // Calls f for each reference with this rule from a record that stays to one that does not.
  template <class F>
  void for_each_reference(On_Delete rule, F f) {
    for (const auto& [id, records] : deleted_) {
      std::vector<index_t> targets(records.begin(), records.end());
      std::sort(targets.begin(), targets.end());
      for_each_referrer(id, rule, [&](const Table& table, Field_Id field) {
        search(table, field).find(targets, [&](index_t record) {
          if (!is_deleted(table, record)) f(table, field, record);
        });
      });
    }
  }

  [[noreturn]] void refuse(const Table& table, Field_Id field, index_t record) const {
    const Record_Id target = table.column<Record_Id>(field).get(record);
    const Table& referenced =
        *database_.find_table(table.find_field(field)->column->type().referenced);
    throw Deletion_Refused(referenced.name() + " " + std::to_string(target.value()) +
                           " cannot be deleted: " + table.name() + " " + std::to_string(record) +
                           " refers to it (" + table.name() + "." + table.find_field(field)->name +
                           " has the rule on_delete refuse)");
  }

  const Database& database_;
  std::map<Table_Id, std::unordered_set<index_t>> deleted_;
  std::map<Table_Id, std::vector<index_t>> new_;
  std::vector<std::pair<Table_Id, index_t>> order_;
  std::map<std::pair<Table_Id, Field_Id>, Reference_Search> searches_;
};

}  // namespace

std::vector<Consequence> consequences_of_deletion(const Database& database, Table_Id table,
                                                  Record_Id first, index_t size) {
  if (!database.has_rules(table)) return {};
  Deletion deletion(database);
  for (index_t i = 0; i < size; ++i) deletion.add(database.table(table), first.value() + i);
  return deletion.consequences();
}

std::vector<Consequence> consequences_of_deletion(const Database& database, Table_Id table,
                                                  std::span<const Record_Id> records) {
  if (!database.has_rules(table)) return {};
  Deletion deletion(database);
  for (const Record_Id record : records) deletion.add(database.table(table), record.value());
  return deletion.consequences();
}

std::vector<Consequence> consequences_of_deletion(const Database& database,
                                                  const Deleted_Records& records) {
  Deletion deletion(database);
  for (const auto& [id, deleted] : records) {
    const Table* const table = database.find_table(id);
    if (table == nullptr || !database.has_rules(id)) continue;
    for (const index_t record : deleted) deletion.add(*table, record);
  }
  return deletion.consequences();
}

std::vector<Table_Id> tables_changed_by_deletion(const Database& database, Table_Id table) {
  std::vector<Table_Id> result{table};
  for (std::size_t i = 0; i < result.size(); ++i) {
    const Database::Referrers* const referrers = database.find_referrers(result[i]);
    if (referrers == nullptr || referrers->rule_count == 0) continue;
    for (const auto& [field, rule] : referrers->fields)
      if ((rule == On_Delete::clear || rule == On_Delete::cascade) &&
          std::find(result.begin(), result.end(), field.first) == result.end())
        result.push_back(field.first);
  }
  return result;
}

std::vector<Reference> references_with_rules(const Database& database, Table_Id table,
                                             const std::vector<index_t>& records) {
  std::vector<Reference> result;
  if (!database.has_rules(table)) return result;
  for (const auto& [place, rule] : database.find_referrers(table)->fields) {
    if (rule == On_Delete::keep) continue;
    const auto& [id, field] = place;
    const Table& referrer = database.table(id);
    const Column<Record_Id>& column = referrer.column<Record_Id>(field);
    Reference_Search(referrer, field)
        .find(records, [&, table_id = id, field_id = field](index_t record) {
          result.push_back({table_id, field_id, Record_Id(record), column.get(record)});
        });
  }
  return result;
}

index_t cost_of_free_ids(const Database& database, const Table& table) {
  index_t cost = table.records().size() - table.records().used_count();
  const Database::Referrers* const referrers = database.find_referrers(table.id());
  if (referrers == nullptr) return cost;
  const index_t free_count = cost;
  for (const auto& [place, rule] : referrers->fields) {
    const Table& referrer = database.table(place.first);
    cost += Reference_Search(referrer, place.second).is_fast_for(free_count)
                ? free_count * Reference_Search::search_cost
                : referrer.records().size();
  }
  return cost;
}

std::vector<index_t> unreferenced_ids(const Database& database, const Table& table) {
  const Record_Ids& records = table.records();
  std::vector<index_t> result;
  if (records.is_dense()) return result;
  index_t id = records.next_free();
  for (index_t left = records.size() - records.used_count(); left > 0 && id != Record_Ids::no_id;
       --left, id = records.before_insert(id).next)
    result.push_back(id);
  if (const Database::Referrers* const referrers = database.find_referrers(table.id()))
    for (const auto& [place, rule] : referrers->fields)
      Reference_Search(database.table(place.first), place.second).remove_targets(result);
  std::reverse(result.begin(), result.end());
  return result;
}

std::vector<Dangling> dangling_references(const Database& database) {
  std::vector<Dangling> result;
  for (const Table* const table : live_tables(database))
    for_each_field(*table, [&](Field_Id id, const Field& field) {
      if (field.column->type().code != Type_Code::reference) return;
      const Table* const referenced = database.find_table(field.column->type().referenced);
      const auto& column = static_cast<const Column<Record_Id>&>(*field.column);
      Dangling dangling{table, id, {}};
      for_each_run(*table, [&](index_t first, index_t size) {
        for (index_t record = first; record < first + size; ++record) {
          const Record_Id target = column.get(record);
          if (target.is_not_null() && (referenced == nullptr || !referenced->is_used(target)))
            dangling.records.push_back(Record_Id(record));
        }
      });
      if (!dangling.records.empty()) result.push_back(std::move(dangling));
    });
  return result;
}

}  // namespace joedb::inline v1
