#include "joedb/table/column.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "joedb/base/error.h"
#include "sim/lab/random.h"

namespace joedb::record_ids_test {
namespace {

using testing::Random;

constexpr index_t none = Record_Ids::no_id;

// A simple model of Record_Ids.
class Model {
 public:
  index_t size() const { return static_cast<index_t>(is_used_.size()); }
  bool is_used(index_t id) const {
    return id >= 0 && id < size() && is_used_[static_cast<std::size_t>(id)];
  }
  const std::vector<index_t>& order() const { return order_; }
  index_t next_free() const { return free_.empty() ? size() : free_.back(); }
  // Returns true if there was never a hole.
  bool is_dense() const { return is_dense_; }

  void insert(index_t id) {
    if (id != size()) is_dense_ = false;
    while (size() < id) {
      free_.push_back(size());
      is_used_.push_back(false);
    }
    if (id == size())
      is_used_.push_back(true);
    else
      std::erase(free_, id);
    is_used_[static_cast<std::size_t>(id)] = true;
    order_.push_back(id);
  }
  void erase(index_t id) {
    is_dense_ = false;
    is_used_[static_cast<std::size_t>(id)] = false;
    std::erase(order_, id);
    free_.push_back(id);
  }

 private:
  bool is_dense_ = true;
  std::vector<bool> is_used_;
  std::vector<index_t> order_;  // order of insertion
  std::vector<index_t> free_;   // the last one is reused next
};

// Reserves memory before each change, as a table does.
class Reserving_Ids : public Record_Ids {
 public:
  void insert(index_t id) {
    if (!is_dense() || id != size()) reserve_lists(std::max(size(), id + 1));
    Record_Ids::insert(id);
  }
  void insert_vector(index_t id, index_t n) {
    if (!is_dense() || id != size()) reserve_lists(std::max(size(), id + n));
    Record_Ids::insert_vector(id, n);
  }
  void erase(index_t id) {
    reserve_lists(size());
    Record_Ids::erase(id);
  }
};

std::vector<index_t> forward(const Record_Ids& ids) {
  std::vector<index_t> order;
  for (index_t id = ids.first(); id != none; id = ids.next(id)) order.push_back(id);
  return order;
}
std::vector<index_t> backward(const Record_Ids& ids) {
  std::vector<index_t> order;
  for (index_t id = ids.last(); id != none; id = ids.previous(id)) order.push_back(id);
  return order;
}

void expect_like(const Record_Ids& ids, const Model& model) {
  ASSERT_EQ(ids.size(), model.size());
  ASSERT_EQ(ids.used_count(), static_cast<index_t>(model.order().size()));
  ASSERT_EQ(ids.next_free(), model.next_free());
  for (index_t id = -3; id < model.size() + 3; ++id) ASSERT_EQ(ids.is_used(id), model.is_used(id));
  ASSERT_EQ(forward(ids), model.order());
  ASSERT_EQ(backward(ids), std::vector<index_t>(model.order().rbegin(), model.order().rend()));
}

class Record_Ids_Test : public ::testing::Test {
 protected:
  void insert(std::initializer_list<index_t> all) {
    for (const index_t id : all) ids.insert(id);
  }
  Reserving_Ids ids;
};

TEST_F(Record_Ids_Test, AreDenseWithoutHoles) {
  EXPECT_EQ(ids.size(), 0);
  EXPECT_EQ(ids.first(), none);
  EXPECT_EQ(ids.last(), none);
  EXPECT_EQ(ids.next_free(), 0);
  insert({0, 1, 2});
  ids.insert_vector(3, 4);
  EXPECT_TRUE(ids.is_dense());
  EXPECT_EQ(ids.next_free(), 7);
  EXPECT_EQ(forward(ids), (std::vector<index_t>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(backward(ids), (std::vector<index_t>{6, 5, 4, 3, 2, 1, 0}));
}

// From the specification: after inserting id 20 in a table of size 5, the next new id is 19.
TEST_F(Record_Ids_Test, TakeTheLastSkippedIdFirst) {
  insert({0, 1, 2, 3, 4, 20});
  EXPECT_FALSE(ids.is_dense());
  EXPECT_EQ(ids.size(), 21);
  for (index_t id = 19; id >= 5; --id) {
    EXPECT_EQ(ids.next_free(), id);
    ids.insert(id);
  }
  EXPECT_EQ(ids.next_free(), 21);
}

TEST_F(Record_Ids_Test, TakeTheLastFreedIdFirst) {
  insert({0, 1, 2, 3, 4});
  for (const index_t id : {1, 4, 0}) ids.erase(id);
  EXPECT_EQ(forward(ids), (std::vector<index_t>{2, 3}));
  for (const index_t id : {0, 4, 1, 5}) {
    EXPECT_EQ(ids.next_free(), id);
    ids.insert(id);
  }
  EXPECT_EQ(forward(ids), (std::vector<index_t>{2, 3, 0, 4, 1, 5}));
}

TEST_F(Record_Ids_Test, AreInTheOrderOfInsertionOnceThereWasAHole) {
  insert({2, 0, 1, 3});
  EXPECT_EQ(forward(ids), (std::vector<index_t>{2, 0, 1, 3}));
  EXPECT_EQ(backward(ids), (std::vector<index_t>{3, 1, 0, 2}));
}

TEST_F(Record_Ids_Test, TheFirstIdMayBeAnyId) {
  insert({3});
  EXPECT_EQ(ids.size(), 4);
  EXPECT_EQ(ids.used_count(), 1);
  EXPECT_EQ(ids.next_free(), 2);
  EXPECT_EQ(forward(ids), std::vector<index_t>{3});
}

TEST_F(Record_Ids_Test, AllMayBeErased) {
  insert({0, 1});
  ids.erase(0);
  ids.erase(1);
  EXPECT_EQ(ids.used_count(), 0);
  EXPECT_EQ(ids.size(), 2);
  EXPECT_EQ(ids.first(), none);
  EXPECT_EQ(ids.last(), none);
  EXPECT_EQ(ids.next_free(), 1);
  ids.insert(1);
  ids.insert(0);
  EXPECT_EQ(forward(ids), (std::vector<index_t>{1, 0}));
}

TEST_F(Record_Ids_Test, AnEmptyVectorChangesNothing) {
  ids.insert_vector(7, 0);
  EXPECT_EQ(ids.size(), 0);
  EXPECT_TRUE(ids.is_dense());
}

TEST_F(Record_Ids_Test, KnowRangesThatAreFreeOrUsed) {
  const struct {
    index_t id, n;
    bool are_free, are_used;
  } dense[] = {
      {0, 5, false, true}, {0, 6, false, false}, {4, 1, false, true}, {5, 1, true, false},
      {5, 9, true, false}, {9, 9, true, false},  {5, 0, true, true},  {2, 0, true, true},
  };
  ids.insert_vector(0, 5);
  for (const auto& [id, n, are_free, are_used] : dense) {
    EXPECT_EQ(ids.are_free(id, n), are_free) << id << ' ' << n;
    EXPECT_EQ(ids.are_used(id, n), are_used) << id << ' ' << n;
  }
  const struct {
    index_t id, n;
    bool are_free, are_used;
  } with_holes[] = {
      {0, 1, false, true},  {1, 2, true, false},  {0, 2, false, false}, {3, 2, false, true},
      {3, 3, false, false}, {5, 99, true, false}, {1, 0, true, true},   {4, 9, false, false},
  };
  ids.erase(1);
  ids.erase(2);
  for (const auto& [id, n, are_free, are_used] : with_holes) {
    EXPECT_EQ(ids.are_free(id, n), are_free) << id << ' ' << n;
    EXPECT_EQ(ids.are_used(id, n), are_used) << id << ' ' << n;
  }
  EXPECT_FALSE(ids.are_used(-1, 1));
  EXPECT_FALSE(ids.are_used(0, -1));
  EXPECT_FALSE(ids.are_used(0, std::numeric_limits<index_t>::max()));
  EXPECT_FALSE(ids.are_used(std::numeric_limits<index_t>::max(), 1));
}

TEST_F(Record_Ids_Test, BehaveLikeTheModel) {
  for (std::uint64_t seed = testing::first_seed(); seed < testing::first_seed() + 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Reserving_Ids some;
    Model model;
    // On average, max_erased - 1 of four steps erase a record.
    const std::size_t max_erased = 1 + random.below(4);
    const std::size_t max_skip = 1 + random.below(20);
    for (int step = 0; step < 60; ++step) {
      const bool erases = random.below(4) < max_erased - 1;
      if (erases && !model.order().empty()) {
        const index_t id = model.order()[random.below(model.order().size())];
        some.erase(id);
        model.erase(id);
      } else if (random.below(3) == 0) {
        const index_t id = random.flip() ? model.size()
                                         : static_cast<index_t>(random.below(
                                               static_cast<std::size_t>(model.size()) + max_skip));
        index_t n = static_cast<index_t>(random.below(6));
        while (n > 0 && !some.are_free(id, n)) --n;
        some.insert_vector(id, n);
        for (index_t i = id; i < id + n; ++i) model.insert(i);
      } else {
        const index_t id = random.flip() ? model.next_free()
                                         : static_cast<index_t>(random.below(
                                               static_cast<std::size_t>(model.size()) + max_skip));
        if (model.is_used(id)) continue;
        some.insert(id);
        model.insert(id);
      }
      ASSERT_EQ(some.is_dense(), model.is_dense());
      expect_like(some, model);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(Record_Ids_Test, MillionsAreSkippedAtNoCost) {
  const index_t far = 50'000'000;
  ids.insert(0);
  ids.insert(far);
  EXPECT_EQ(ids.size(), far + 1);
  EXPECT_EQ(ids.used_count(), 2);
  for (index_t id = far - 1; id > far - 100; --id) {
    EXPECT_EQ(ids.next_free(), id);
    ids.insert(id);
  }
  ids.insert(1);
  EXPECT_EQ(ids.next_free(), far - 100);
  EXPECT_EQ(forward(ids).size(), 102);
}

// Inserts vectors of one record after a hole. The time of each insertion must not depend on the
// size.
TEST_F(Record_Ids_Test, ManyVectorsOfOneTakeNoTime) {
  insert({1});
  for (index_t id = 2; id < 300'000; ++id) ids.insert_vector(id, 1);
  EXPECT_EQ(ids.used_count(), 299'999);
}

// A loop over the ids. `id` is its current record, or the next record if the current record was
// erased.
struct Loop {
  index_t id = none;
  std::uint64_t erasures = 0;
  index_t at = none;
  bool was_erased = false;
  bool has_lost_previous = false;

  Loop(const Record_Ids& ids, index_t start) : id(start), erasures(ids.erasures()), at(start) {}
  void note_erasure(const Record_Ids& ids, index_t erased, bool is_forward) {
    if (!was_erased && ids.next(erased) == id) has_lost_previous = true;
    if (erased != at) return;
    at = is_forward ? ids.next(at) : ids.previous(at);
    was_erased = true;
  }
  index_t expected(const Record_Ids& ids, bool is_forward) const {
    return was_erased ? at : is_forward ? ids.next(id) : ids.previous(id);
  }
};

TEST(Record_Ids_Loop, GoesOnWhereItWasWhateverIsErasedAndInserted) {
  for (std::uint64_t seed = testing::first_seed(); seed < testing::first_seed() + 2000; ++seed) {
    SCOPED_TRACE("JOEDB_TEST_SEED=" + std::to_string(seed));
    Random random(seed);
    Reserving_Ids ids;
    for (index_t i = 0; i < 12; ++i) ids.insert(i);
    for (int step = 0; step < 20 && ids.used_count() > 0; ++step) {
      const std::vector<index_t> order = forward(ids);
      const index_t start = order[random.below(order.size())];
      Loop forwards(ids, start), backwards(ids, start);
      const bool erases_itself = random.flip();
      for (std::size_t n = random.below(8); n > 0; --n) {
        const auto any =
            static_cast<index_t>(random.below(static_cast<std::size_t>(ids.size()) + 1));
        const index_t id = erases_itself && n % 4 == 0 ? start : any;
        if (!ids.is_used(id)) {
          ids.insert(id);
          continue;
        }
        forwards.note_erasure(ids, id, true);
        backwards.note_erasure(ids, id, false);
        ids.erase(id);
      }
      ASSERT_EQ(ids.next(start, forwards.erasures), forwards.expected(ids, true));
      ASSERT_EQ(ids.previous(start, backwards.erasures), backwards.expected(ids, false));
      const auto go_back = [&] { ids.require_previous(start, forwards.erasures); };
      if (forwards.has_lost_previous && !forwards.was_erased)
        ASSERT_THROW(go_back(), Exception);
      else
        ASSERT_NO_THROW(go_back());
      ASSERT_EQ(ids.was_replaced_since(start, forwards.erasures),
                forwards.was_erased && ids.is_used(start));
    }
  }
}

TEST_F(Record_Ids_Test, ALoopThrowsWhereItMayHaveLostItsRecord) {
  for (index_t i = 0; i < 1000; ++i) ids.insert(i);
  const std::uint64_t erasures = ids.erasures();
  for (index_t i = 100; i < 300; ++i) ids.erase(i);
  EXPECT_EQ(ids.next(50, erasures), 51) << "it is still there";
  EXPECT_EQ(ids.next(99, erasures), 300);
  EXPECT_THROW(ids.next(100, erasures), Exception);
  ids.insert(299);
  EXPECT_THROW(ids.next(50, erasures), Exception) << "it could be another record";
}

TEST(Record_Ids_Loop, GoesToWhatAnUndoHasPutBack) {
  Reserving_Ids ids;
  for (index_t i = 0; i < 5; ++i) ids.insert(i);
  const std::uint64_t erasures = ids.erasures();
  const auto first = ids.before_erase(1);
  ids.erase(1);
  const auto second = ids.before_erase(2);
  ids.erase(2);
  EXPECT_EQ(ids.next(1, erasures), 3);
  ids.undo_erase(2, second);
  EXPECT_EQ(ids.next(1, erasures), 2);
  ids.undo_erase(1, first);
  EXPECT_EQ(ids.next(1, erasures), 2);
  EXPECT_EQ(ids.next(0, erasures), 1);
}

TEST(Record_Ids_Undo, RestoresBothListsInReverseOrder) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    Reserving_Ids ids;
    std::vector<Model> models(1);
    struct Step {
      bool is_insertion;
      index_t id;
      Record_Ids::Before before;
    };
    std::vector<Step> steps;
    for (int i = 0; i < 60; ++i) {
      if (!steps.empty() && random.below(3) == 0) {
        const Step step = steps.back();
        steps.pop_back();
        models.pop_back();
        if (step.is_insertion)
          ids.undo_insert(step.id, step.before);
        else
          ids.undo_erase(step.id, step.before);
      } else {
        const auto id =
            static_cast<index_t>(random.below(static_cast<std::uint64_t>(ids.size()) + 3));
        models.push_back(models.back());
        if (ids.is_used(id)) {
          steps.push_back({false, id, ids.before_erase(id)});
          ids.erase(id);
          models.back().erase(id);
        } else {
          steps.push_back({true, id, ids.before_insert(id)});
          ids.insert(id);
          models.back().insert(id);
        }
      }
      expect_like(ids, models.back());
    }
  }
}

}  // namespace
}  // namespace joedb::record_ids_test
