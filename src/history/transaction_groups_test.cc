#include "history/transaction_groups.h"

#include <gtest/gtest.h>

namespace joedb::transaction_groups_test {
namespace {

using By = Transaction_Groups::By;

constexpr std::int64_t day = 86'400;
constexpr std::int64_t noon = 1'795'003'200;  // 2026-11-18 12:00

Transaction_Summary summary(std::optional<std::int64_t> time, const std::string& author,
                            Offset begin, Offset size) {
  Transaction_Summary result;
  result.time = time;
  result.author = author;
  result.begin = begin;
  result.end = begin + size;
  result.tables.push_back({Table_Id(1), "city", 2, 3, 4, 1});
  return result;
}

std::string text(By by, const std::vector<Transaction_Summary>& summaries) {
  Transaction_Groups groups(by);
  for (const Transaction_Summary& s : summaries) groups.add(s);
  std::string result;
  for (const Transaction_Groups::Group& group : groups.sorted())
    result += (group.is_nameless ? "-" : group.name) + ' ' + std::to_string(group.transactions) +
              ' ' + std::to_string(group.bytes) + ' ' + std::to_string(group.counts.inserted) +
              '\n';
  return result;
}

const std::vector<Transaction_Summary> some{
    summary({}, "", 41, 10), summary(noon, "Ben", 51, 5), summary(noon + 60, "Ann", 56, 7),
    summary(noon + 2 * day, "", 63, 1), summary(noon + 30 * day, "Ann", 64, 2)};

TEST(Transaction_Groups, AreHoursDaysAndMonths) {
  EXPECT_EQ(text(By::hour, some),
            "- 1 10 2\n2026-11-18 12:00 2 12 4\n2026-11-20 12:00 1 1 2\n2026-12-18 12:00 1 2 2\n");
  EXPECT_EQ(text(By::day, some),
            "- 1 10 2\n2026-11-18 2 12 4\n2026-11-20 1 1 2\n2026-12-18 1 2 2\n");
  EXPECT_EQ(text(By::month, some), "- 1 10 2\n2026-11 3 13 6\n2026-12 1 2 2\n");
}

TEST(Transaction_Groups, AreAuthorsByName) {
  EXPECT_EQ(text(By::author, some), "- 2 11 4\nAnn 2 9 4\nBen 1 5 2\n");
}

TEST(Transaction_Groups, AreInTheOrderOfTimeWhateverTheYear) {
  const std::int64_t far = 253'402'300'800;  // 10000-01-01
  EXPECT_EQ(text(By::day, {summary(far, "", 0, 1), summary(noon, "", 1, 1), summary(-day, "", 2, 1),
                           summary(INT64_MAX, "", 3, 1), summary(INT64_MIN, "", 4, 1)}),
            "-9223372036854775808 seconds since 1970 1 1 2\n1969-12-31 1 1 2\n2026-11-18 1 1 2\n"
            "10000-01-01 1 1 2\n9223372036854775807 seconds since 1970 1 1 2\n");
}

TEST(Transaction_Groups, HaveTheLastNameOfEachTable) {
  Transaction_Groups groups(By::day);
  groups.add(summary(noon, "", 0, 1));
  Transaction_Summary second = summary(noon, "", 1, 1);
  second.tables.front().name = "town";
  groups.add(second);
  const std::vector<Transaction_Groups::Group> sorted = groups.sorted();
  const auto& tables = sorted.front().tables;
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables.begin()->second.first, "town");
  EXPECT_EQ(tables.begin()->second.second.deleted, 8u);
}

}  // namespace
}  // namespace joedb::transaction_groups_test
