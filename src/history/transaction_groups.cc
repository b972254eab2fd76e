#include "history/transaction_groups.h"

#include <algorithm>

#include "kernel/base/time.h"

namespace joedb::inline v1 {

std::string Transaction_Groups::name_of(const Transaction_Info& info) const {
  if (by_ == By::author) return info.author;
  if (!info.time) return "";
  // The format is "YYYY-MM-DD HH:MM:SS GMT", but the year may have more digits.
  std::string text = time_text(*info.time);
  if (!text.ends_with(" GMT")) return text;
  constexpr std::size_t after_month = 16, after_day = 13, after_hour = 10;
  if (by_ == By::hour) return text.substr(0, text.size() - after_hour) + ":00";
  return text.substr(0, text.size() - (by_ == By::day ? after_day : after_month));
}

static void add(Transaction_Groups::Counts& counts, const Table_Summary& table) {
  counts.inserted += table.inserted;
  counts.updated += table.updated;
  counts.deleted += table.deleted;
  counts.schema_changes += table.schema_changes;
}

void Transaction_Groups::add(const Transaction_Summary& summary) {
  const std::string name = name_of(summary);
  Sum& sum = name.empty() ? nameless_ : groups_[name];
  Group& group = sum.group;
  const std::int64_t time = summary.time.value_or(0);
  sum.first_time = group.transactions == 0 ? time : std::min(sum.first_time, time);
  ++group.transactions;
  group.bytes += summary.end - summary.begin;
  for (const Table_Summary& table : summary.tables) {
    joedb::add(group.counts, table);
    auto& [table_name, counts] = group.tables[table.table];
    table_name = table.name;
    joedb::add(counts, table);
  }
}

std::vector<Transaction_Groups::Group> Transaction_Groups::sorted() const {
  std::vector<std::pair<std::int64_t, Group>> sums;
  for (const auto& [name, sum] : groups_) {
    sums.emplace_back(by_ == By::author ? 0 : sum.first_time, sum.group);
    sums.back().second.name = name;
  }
  std::stable_sort(sums.begin(), sums.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Group> result;
  if (nameless_.group.transactions > 0) {
    result.push_back(nameless_.group);
    result.back().is_nameless = true;
  }
  for (auto& [time, group] : sums) result.push_back(std::move(group));
  return result;
}

}  // namespace joedb::inline v1
