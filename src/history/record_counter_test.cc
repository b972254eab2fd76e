#include "history/record_counter.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "sim/lab/random.h"

namespace joedb::record_counter_test {
namespace {

using testing::Random;

TEST(Record_Counter, AgreesWithAModel) {
  for (std::uint64_t seed = testing::first_seed(); seed < testing::first_seed() + 300; ++seed) {
    SCOPED_TRACE("JOEDB_TEST_SEED=" + std::to_string(seed));
    Random random(seed);
    Record_Counter counter;
    std::map<index_t, bool> was_used, is_used;
    std::set<index_t> updated;
    for (std::size_t n = random.below(40); n > 0; --n) {
      const auto first = static_cast<index_t>(random.below(20));
      const auto size = static_cast<index_t>(random.below(6));
      const std::size_t kind = random.below(3);
      if (kind == 0) counter.insert(first, size);
      if (kind == 1) counter.erase(first, size);
      if (kind == 2) counter.update(first, size);
      for (index_t id = first; id < first + size; ++id) {
        if (kind == 2) {
          updated.insert(id);
        } else {
          was_used.emplace(id, kind == 1);
          is_used[id] = kind == 0;
        }
      }
    }
    Record_Counter::Counts expected{};
    for (const auto& [id, is] : was_used) expected.deleted += is;
    for (const auto& [id, is] : is_used) expected.inserted += is;
    for (const index_t id : updated) expected.updated += !is_used.contains(id);
    const Record_Counter::Counts counts = counter.count();
    EXPECT_EQ(counts.inserted, expected.inserted);
    EXPECT_EQ(counts.updated, expected.updated);
    EXPECT_EQ(counts.deleted, expected.deleted);
  }
}

// If each range were visited record by record, this would take hours.
TEST(Record_Counter, TakesAShortTimeForManyLargeRanges) {
  constexpr index_t records = 200'000;
  Record_Counter counter;
  for (index_t id = 0; id < records; id += 2) counter.insert(id, 1);
  for (int i = 0; i < 200'000; ++i) {
    counter.erase(0, records);
    counter.insert(0, records);
  }
  const Record_Counter::Counts counts = counter.count();
  EXPECT_EQ(counts.inserted, records);
  EXPECT_EQ(counts.deleted, records / 2);
}

TEST(Record_Counter, PassesOverIdsThatNoTableCanHave) {
  constexpr index_t last = std::numeric_limits<index_t>::max();
  constexpr index_t first = std::numeric_limits<index_t>::min();
  Record_Counter counter;
  counter.insert(last - 1, 100);
  counter.erase(first, -100);
  counter.update(last, 1);
  counter.insert(5, -1);
  const Record_Counter::Counts counts = counter.count();
  EXPECT_EQ(counts.inserted + counts.updated + counts.deleted, 0);
}

}  // namespace
}  // namespace joedb::record_counter_test
