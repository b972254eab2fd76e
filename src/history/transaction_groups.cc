#include "history/transaction_groups.h"

#include <algorithm>

namespace joedb::inline v1 {

std::string Transaction_Groups::name_of(const Transaction_Info& info) const {
  if (by_ == By::author) return info.author;
  if (!info.time) return "";
  // The format is "YYYY-MM-DD HH:MM:SS" and a zone, but the year may have more digits.
  const std::string text = time_text(*info.time, zone_);
  const std::size_t clock = text.find(':');
  if (clock == text.npos) return text;
  constexpr std::size_t hour_size = 3, day_size = 3;
  if (by_ == By::hour) return text.substr(0, clock) + ":00";
  return text.substr(0, clock - hour_size - (by_ == By::day ? 0 : day_size));
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
