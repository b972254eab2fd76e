// Observers, live queries and histories in generated code.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "everything.h"
#include "geo_1.h"
#include "geo_2.h"
#include "joedb/base/log.h"
#include "support/error_of.h"
#include "support/temporary_directory.h"

namespace observer_test {
namespace {

using joedb::Subscription;
using joedb::testing::error_of;
using joedb::testing::Temporary_Directory;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace geo_2;

std::string text_of(const values_of_city& city) {
  return std::string(city.name) + " " + std::to_string(city.population);
}

// Records the notifications about cities: "+0 Oslo 1", "~0 Oslo 1 > Oslo 2", "-0 Oslo 2".
class Notes {
 public:
  explicit Notes(const Database& db) {
    subscriptions_.push_back(db.on_city_inserted([this](id_of_city id, const values_of_city& row) {
      lines_.push_back("+" + std::to_string(id.get_id()) + " " + text_of(row));
    }));
    subscriptions_.push_back(db.on_city_updated([this](id_of_city id, const values_of_city& a,
                                                       const values_of_city& b) {
      lines_.push_back("~" + std::to_string(id.get_id()) + " " + text_of(a) + " > " + text_of(b));
    }));
    subscriptions_.push_back(db.on_city_deleted([this](id_of_city id, const values_of_city& row) {
      lines_.push_back("-" + std::to_string(id.get_id()) + " " + text_of(row));
    }));
  }
  std::vector<std::string> take() { return std::exchange(lines_, {}); }

 private:
  std::vector<std::string> lines_;
  std::vector<Subscription> subscriptions_;
};

template <class Query>
std::vector<int> ids_in(const Query& query) {
  std::vector<int> ids;
  for (const auto id : query) ids.push_back(static_cast<int>(id.get_id()));
  return ids;
}

// ---- a database with an exclusive writer --------------------------------------------------------

TEST(Observers_Of_A_Database, AreToldAtACheckpointWithOldAndNewValues) {
  Memory_Database db;
  Notes notes(db);
  const id_of_city oslo = db.new_city("Oslo", 1, "Norway");
  EXPECT_THAT(notes.take(), IsEmpty()) << "it is not committed yet";
  db.soft_checkpoint();
  EXPECT_THAT(notes.take(), ElementsAre("+0 Oslo 1"));
  db.set_population(oslo, 2);
  db.set_population(oslo, 3);
  db.hard_checkpoint();
  EXPECT_THAT(notes.take(), ElementsAre("~0 Oslo 1 > Oslo 3")) << "once for a commit";
  db.delete_city(oslo);
  db.soft_checkpoint();
  EXPECT_THAT(notes.take(), ElementsAre("-0 Oslo 3"));
  db.soft_checkpoint();
  EXPECT_THAT(notes.take(), IsEmpty());
}

TEST(Observers_Of_A_Database, MayKeepValues) {
  const std::string first = "a name that is too long for the string itself, ", second = first + "2";
  Memory_Database db;
  const id_of_city city = db.new_city(first + "1", 1, "Norway");
  db.soft_checkpoint();
  std::vector<values_of_city> seen;
  const Subscription updated = db.on_city_updated(
      [&](id_of_city, const values_of_city& before, const values_of_city& after) {
        seen.push_back(before);
        seen.push_back(after);
      });
  const Subscription deleted =
      db.on_city_deleted([&](id_of_city, const values_of_city& before) { seen.push_back(before); });
  db.set_name(city, second);
  db.soft_checkpoint();
  db.delete_city(city);
  db.soft_checkpoint();
  for (int i = 0; i < 100; ++i) db.new_city(std::to_string(i), i, std::string(second.size(), 'x'));
  db.soft_checkpoint();
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[0].name, first + "1");
  EXPECT_EQ(seen[1].name, second);
  EXPECT_EQ(seen[2].name, second);
}

TEST(Observers_Of_A_Database, AreNotToldWhatIsNothingInTheEnd) {
  Memory_Database db;
  const id_of_city oslo = db.new_city("Oslo", 1, "Norway");
  db.soft_checkpoint();
  Notes notes(db);
  db.set_population(oslo, 2);
  db.set_population(oslo, 1);
  db.delete_city(db.new_city("Rome", 2, "Italy"));
  db.soft_checkpoint();
  EXPECT_THAT(notes.take(), IsEmpty());
}

TEST(Observers_Of_A_Database, AreToldOfADeletionBeforeTheIdIsUsedAgain) {
  Memory_Database db;
  const id_of_city oslo = db.new_city("Oslo", 1, "Norway");
  db.soft_checkpoint();
  Notes notes(db);
  db.delete_city(oslo);
  EXPECT_EQ(db.new_city("Rome", 2, "Italy"), oslo);
  db.soft_checkpoint();
  EXPECT_THAT(notes.take(), ElementsAre("-0 Oslo 1", "+0 Rome 2"));
}

TEST(Observers_Of_A_Database, AreToldOfVectors) {
  Memory_Database db;
  Notes notes(db);
  const id_of_city first = db.new_vector_of_city(3);
  db.update_vector_of_population(first, 3, [](auto values) {
    for (std::size_t i = 0; i < 3; ++i) values[i] = static_cast<int>(i);
  });
  db.soft_checkpoint();
  EXPECT_THAT(notes.take(), ElementsAre("+0  0", "+1  1", "+2  2"));
  db.update_vector_of_population(first, 2, [](auto values) { values[1] = 7; });
  db.soft_checkpoint();
  EXPECT_THAT(notes.take(), ElementsAre("~1  1 >  7")) << "the other one is the same";
  db.delete_vector_of_city(first, 3);
  db.soft_checkpoint();
  EXPECT_THAT(notes.take(), ElementsAre("-0  0", "-1  7", "-2  2"));
}

TEST(Observers_Of_A_Database, NeverSeeWhatIsRolledBack) {
  Memory_Database db;
  const id_of_city oslo = db.new_city("Oslo", 1, "Norway");
  db.soft_checkpoint();
  Notes notes(db);
  db.set_population(oslo, 2);
  db.new_city("Rome", 2, "Italy");
  db.rollback();
  EXPECT_THAT(notes.take(), IsEmpty());
  db.set_population(oslo, 3);
  db.soft_checkpoint();
  EXPECT_THAT(notes.take(), ElementsAre("~0 Oslo 1 > Oslo 3"));
}

TEST(Observers_Of_A_Database, AreToldOfAGroupCommitWhenItIsOnTheDisk) {
  Temporary_Directory directory;
  File_Database db(directory.file("db.joedb"));
  Notes notes(db);
  const id_of_city oslo = db.new_city("Oslo", 1, "Norway");
  const joedb::Offset first = db.hard_checkpoint_async();
  db.set_population(oslo, 2);
  EXPECT_THAT(notes.take(), IsEmpty());
  db.wait(first);
  EXPECT_THAT(notes.take(), ElementsAre("+0 Oslo 1")) << "as it was at this checkpoint";
  db.soft_checkpoint();
  EXPECT_THAT(notes.take(), ElementsAre("~0 Oslo 1 > Oslo 2"));
}

TEST(Observers_Of_A_Database, MayWriteAndCommit) {
  Memory_Database db;
  std::vector<std::string> seen;
  const Subscription first = db.on_city_inserted([&](id_of_city id, const values_of_city& row) {
    seen.push_back("first " + std::string(row.name));
    if (row.name != "Oslo") return;
    db.set_population(id, 5);
    db.new_city("Bergen", 2, "Norway");
    db.soft_checkpoint();
  });
  const Subscription second = db.on_city_inserted([&](id_of_city, const values_of_city& row) {
    seen.push_back("second " + std::string(row.name));
  });
  db.new_city("Oslo", 1, "Norway");
  db.soft_checkpoint();
  EXPECT_THAT(seen, ElementsAre("first Oslo", "second Oslo", "first Bergen", "second Bergen"));
}

TEST(Observers_Of_A_Database, GoOnBehindOneThatHasThrown) {
  Memory_Database db;
  std::vector<std::string> seen;
  const Subscription first = db.on_city_inserted([&](id_of_city, const values_of_city& row) {
    if (row.name == "Oslo") throw std::runtime_error("not this one");
    seen.push_back("first " + std::string(row.name));
  });
  const Subscription second = db.on_city_inserted([&](id_of_city, const values_of_city& row) {
    seen.push_back("second " + std::string(row.name));
  });
  db.new_city("Oslo", 1, "Norway");
  EXPECT_THROW(db.soft_checkpoint(), std::runtime_error);
  EXPECT_EQ(db.ahead_of_checkpoint(), 0) << "the commit counts";
  EXPECT_THAT(seen, IsEmpty());
  db.new_city("Rome", 2, "Italy");
  db.soft_checkpoint();
  EXPECT_THAT(seen, ElementsAre("second Oslo", "first Rome", "second Rome"));
}

TEST(Observers_Of_A_Database, GoOnBehindTheRecordThatWasToldWhenOneThrew) {
  Memory_Database db;
  Notes notes(db);
  std::vector<int> seen;
  const Subscription throwing = db.on_city_inserted([&](id_of_city id, const values_of_city&) {
    seen.push_back(static_cast<int>(id.get_id()));
    if (seen.size() == 2) throw std::runtime_error("not this one");
  });
  auto all = db.live_city([](const values_of_city&) { return true; });
  db.new_vector_of_city(4);
  EXPECT_THROW(db.soft_checkpoint(), std::runtime_error);
  EXPECT_TRUE(all.empty());
  db.soft_checkpoint();
  EXPECT_THAT(seen, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(ids_in(all), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(notes.take().size(), 4u);
}

TEST(Observers_Of_A_Database, MaySubscribeAndEndInACall) {
  Memory_Database db;
  int once = 0, later = 0;
  Subscription first, second;
  first = db.on_city_inserted([&](id_of_city, const values_of_city&) {
    ++once;
    first.end();
    second = db.on_city_inserted([&](id_of_city, const values_of_city&) { ++later; });
  });
  db.new_city("Oslo", 1, "Norway");
  db.soft_checkpoint();
  EXPECT_EQ(once, 1);
  EXPECT_EQ(later, 0) << "what was committed before is not told";
  db.new_city("Rome", 2, "Italy");
  db.soft_checkpoint();
  EXPECT_EQ(once, 1);
  EXPECT_EQ(later, 1);
}

TEST(Observers_Of_A_Database, MayOutliveIt) {
  Subscription subscription;
  {
    Memory_Database db;
    subscription = db.on_city_inserted([](id_of_city, const values_of_city&) { FAIL(); });
    db.new_city("Oslo", 1, "Norway");  // no checkpoint follows: the destructor notifies nobody
  }
  subscription.end();
}

TEST(Observers_Of_A_Database, AreToldOfWhatACopyHasAppended) {
  Memory_Database a, b;
  Notes notes(b);
  a.new_city("Oslo", 1, "Norway");
  a.soft_checkpoint();
  const auto& bytes = a.get_data();
  const std::size_t size = b.get_data().size();
  b.append_from_copy(std::string_view(bytes.data() + size, bytes.size() - size));
  EXPECT_THAT(notes.take(), ElementsAre("+0 Oslo 1"));
}

// ---- hard cases

TEST(Observers_Of_A_Database, AreToldOfWhatAWaitedCheckpointHasBeside) {
  Temporary_Directory directory;
  File_Database db(directory.file("db.joedb"));
  Notes notes(db);
  db.new_city("Oslo", 1, "Norway");
  const joedb::Offset first = db.hard_checkpoint_async();
  const id_of_city rome = db.new_city("Rome", 2, "Italy");
  db.wait(first);
  db.new_city("Nice", 3, "France");
  db.rollback();
  db.soft_checkpoint();
  EXPECT_THAT(notes.take(), ElementsAre("+0 Oslo 1", "+1 Rome 2"));
  db.set_population(rome, 9);
  db.soft_checkpoint();
  EXPECT_THAT(notes.take(), ElementsAre("~1 Rome 2 > Rome 9"));
}

TEST(Observers_Of_A_Database, ForgetWhatNobodyObservesAnyMore) {
  Memory_Database db;
  const id_of_city oslo = db.new_city("Oslo", 1, "Norway");
  db.soft_checkpoint();
  {
    const Notes notes(db);
    db.set_population(oslo, 2);
  }
  db.delete_city(oslo);
  const auto all = db.live_city([](const values_of_city&) { return true; });
  Notes notes(db);
  db.soft_checkpoint();
  EXPECT_THAT(notes.take(), IsEmpty());
  EXPECT_TRUE(all.empty());
}

TEST(Observers_Of_A_Database, AreToldOfAVectorWhenItIsComplete) {
  Memory_Database db;
  const id_of_city first = db.new_vector_of_city(2);
  db.soft_checkpoint();
  Notes notes(db);
  db.update_vector_of_population(first, 2, [&](auto values) {
    values[0] = 1;
    db.soft_checkpoint();
    values[1] = 2;
  });
  db.soft_checkpoint();
  EXPECT_THAT(notes.take(), ElementsAre("~0  0 >  1", "~1  0 >  2"));
}

TEST(Observers_Of_A_Database, MakeNothingImpossibleThatWasPossible) {
  Memory_Database db;
  const id_of_city oslo = db.new_city("Oslo", 1, "Norway");
  const id_of_person ada = db.new_person("Ada", oslo, 36);
  const Subscription subscription =
      db.on_person_updated([](id_of_person, const values_of_person&, const values_of_person&) {});
  db.update_vector_of_home(ada, 1, [&](joedb::Span<id_of_city> values) {
    values[0] = oslo;
    db.set_age(ada, 37);  // age is in no index
  });
  EXPECT_EQ(db.get_age(ada), 37);
}

TEST(Observers_Of_A_Database, MayOwnEachOther) {
  Memory_Database db;
  auto inner =
      std::make_shared<Subscription>(db.on_city_inserted([](id_of_city, const values_of_city&) {}));
  Subscription outer;
  outer = db.on_city_inserted([inner, &outer](id_of_city, const values_of_city&) { outer.end(); });
  inner.reset();
  db.new_city("Oslo", 1, "Norway");
  db.soft_checkpoint();
  db.new_city("Rome", 1, "Italy");
  db.soft_checkpoint();
}

TEST(Observers_Of_A_Database, EndWhenAnotherSubscriptionIsAssigned) {
  Memory_Database db;
  int first = 0, second = 0;
  Subscription a = db.on_city_inserted([&](id_of_city, const values_of_city&) { ++first; });
  Subscription b = db.on_city_inserted([&](id_of_city, const values_of_city&) { ++second; });
  a = std::move(b);
  db.new_city("Oslo", 1, "Norway");
  db.soft_checkpoint();
  EXPECT_EQ(first, 0);
  EXPECT_EQ(second, 1);
}

// ---- clients ------------------------------------------------------------------------------------

class Observed_Clients : public ::testing::Test {
 protected:
  joedb::Memory_File hub_, ann_file_, bob_file_;
  joedb::File_Connection connection_{hub_};
  Client ann_{ann_file_, connection_};
  Client bob_{bob_file_, connection_};
};

TEST_F(Observed_Clients, AreToldOfOwnTransactionsAndOfPulledOnes) {
  Notes ann(ann_.get_database()), bob(bob_.get_database());
  const id_of_city oslo =
      ann_.transaction([](Writable_Database& db) { return db.new_city("Oslo", 1, "Norway"); });
  EXPECT_THAT(ann.take(), ElementsAre("+0 Oslo 1"));
  EXPECT_THAT(bob.take(), IsEmpty());
  bob_.pull();
  EXPECT_THAT(bob.take(), ElementsAre("+0 Oslo 1"));
  ann_.transaction([&](Writable_Database& db) { db.set_population(oslo, 2); });
  bob_.transaction([&](Writable_Database& db) { db.set_population(oslo, 3); });
  EXPECT_THAT(bob.take(), ElementsAre("~0 Oslo 1 > Oslo 2", "~0 Oslo 2 > Oslo 3"))
      << "what was pulled first";
}

TEST_F(Observed_Clients, AreToldWithoutALockSoThatTheyMayWrite) {
  const Subscription subscription =
      ann_.get_database().on_city_inserted([&](id_of_city id, const values_of_city& row) {
        if (row.population == 1)
          ann_.transaction([&](Writable_Database& db) { db.set_population(id, 10); });
      });
  Notes notes(ann_.get_database());
  ann_.transaction([](Writable_Database& db) { db.new_city("Oslo", 1, "Norway"); });
  EXPECT_THAT(notes.take(), ElementsAre("+0 Oslo 1", "~0 Oslo 1 > Oslo 10"));
}

TEST_F(Observed_Clients, AreToldLaterOfWhatAFailedTransactionHasPulled) {
  Notes bob(bob_.get_database());
  ann_.transaction([](Writable_Database& db) { db.new_city("Oslo", 1, "Norway"); });
  EXPECT_ANY_THROW(bob_.transaction([](Writable_Database& db) {
    db.new_city("Rome", 2, "Italy");
    throw std::runtime_error("no");
  }));
  bob_.pull();
  EXPECT_THAT(bob.take(), ElementsAre("+0 Oslo 1"));
}

TEST_F(Observed_Clients, AreToldAtTheEndOfAClientLock) {
  Notes notes(ann_.get_database());
  Client_Lock lock(ann_);
  lock.get_database().new_city("Oslo", 1, "Norway");
  EXPECT_THAT(notes.take(), IsEmpty());
  lock.checkpoint_and_push_unlock();
  EXPECT_THAT(notes.take(), ElementsAre("+0 Oslo 1"));
}

TEST(Observed_Files, AreSeenByWhoSharesOrReadsThem) {
  Temporary_Directory directory;
  const std::string name = directory.file("db.joedb");
  File_Client ann(name), bob(name);
  joedb::File file(name, joedb::Open_Mode::read_existing);
  Readonly_Client reader(file);
  Notes bob_notes(bob.get_database()), reader_notes(reader.get_database());
  const id_of_city oslo =
      ann.transaction([](Writable_Database& db) { return db.new_city("Oslo", 1, "Norway"); });
  ann.transaction([&](Writable_Database& db) { db.set_population(oslo, 2); });
  reader.pull();
  EXPECT_THAT(reader_notes.take(), ElementsAre("+0 Oslo 2")) << "one pull is one batch";
  bob.transaction([&](Writable_Database& db) { db.delete_city(oslo); });
  EXPECT_THAT(bob_notes.take(), ElementsAre("+0 Oslo 2", "-0 Oslo 2"));
  reader.pull();
  EXPECT_THAT(reader_notes.take(), ElementsAre("-0 Oslo 2"));
}

// ---- live queries -------------------------------------------------------------------------------

TEST(Live_Query, IsKeptUpToDate) {
  Memory_Database db;
  const id_of_city oslo = db.new_city("Oslo", 100, "Norway");
  const id_of_city rome = db.new_city("Rome", 900, "Italy");
  db.soft_checkpoint();
  auto large = db.live_city([](const values_of_city& city) { return city.population > 500; });
  std::vector<std::string> calls;
  large.on_added([&](id_of_city id) { calls.push_back("+" + std::to_string(id.get_id())); });
  large.on_changed([&](id_of_city id) { calls.push_back("~" + std::to_string(id.get_id())); });
  large.on_removed([&](id_of_city id) { calls.push_back("-" + std::to_string(id.get_id())); });
  EXPECT_THAT(ids_in(large), ElementsAre(1));

  db.set_population(oslo, 1000);
  db.set_population(rome, 800);
  db.new_city("Nice", 3, "France");
  EXPECT_THAT(ids_in(large), ElementsAre(1)) << "it is not committed yet";
  db.soft_checkpoint();
  EXPECT_THAT(ids_in(large), ElementsAre(0, 1));
  EXPECT_THAT(calls, ElementsAre("+0", "~1"));
  EXPECT_TRUE(large.contains(oslo));
  EXPECT_EQ(large.size(), 2u);

  calls.clear();
  db.set_population(oslo, 1);
  db.delete_city(rome);
  db.soft_checkpoint();
  EXPECT_THAT(calls, ElementsAre("-0", "-1"));
  EXPECT_TRUE(large.empty());
}

TEST(Live_Query, OfAnIndexHasTheKeysFromOneToAnother) {
  Memory_Database db;
  for (const char* name : {"Bern", "Oslo", "Paris", "Rome"}) db.new_city(name, 1, "");
  db.soft_checkpoint();
  const auto some = db.live_city_by_name("Oslo", "Quito");
  EXPECT_THAT(ids_in(some), ElementsAre(1, 2));
  db.set_name(id_of_city(0), "Porto");
  db.set_name(id_of_city(1), "Arles");
  db.soft_checkpoint();
  EXPECT_THAT(ids_in(some), ElementsAre(0, 2));
  EXPECT_TRUE(db.live_city_by_name("Z", "A").empty());
}

TEST(Live_Query, OfAnIndexMayHaveOpenEnds) {
  Memory_Database db;
  for (const char* name : {"Bern", "Oslo", "Paris", "Rome"}) db.new_city(name, 1, "");
  db.soft_checkpoint();
  EXPECT_THAT(ids_in(db.live_city_by_name("Oslo", {})), ElementsAre(1, 2, 3));
  EXPECT_THAT(ids_in(db.live_city_by_name({}, "Oslo")), ElementsAre(0, 1));
  EXPECT_THAT(ids_in(db.live_city_by_name({}, {})), ElementsAre(0, 1, 2, 3));
}

// What a list tells, in the form "+ID@POSITION", "~ID@POSITION", "ID:FROM>TO" and "-ID@POSITION".
template <class List>
struct List_Notes {
  explicit List_Notes(List& list) {
    const auto note = [this](char kind) {
      return [this, kind](id_of_city id, std::size_t at) {
        calls.push_back(kind + std::to_string(id.get_id()) + "@" + std::to_string(at));
      };
    };
    list.on_added(note('+'));
    list.on_changed(note('~'));
    list.on_removed(note('-'));
    list.on_moved([this](id_of_city id, std::size_t from, std::size_t to) {
      calls.push_back(std::to_string(id.get_id()) + ":" + std::to_string(from) + ">" +
                      std::to_string(to));
    });
  }
  std::vector<std::string> calls;
};

TEST(Live_List, KeepsTheOrderOfAnIndex) {
  Memory_Database db;
  for (const char* name : {"Rome", "Bern", "Oslo", "Zug"}) db.new_city(name, 1, "");
  db.soft_checkpoint();
  auto list = db.live_list_of_city_by_name({}, "S");
  List_Notes notes(list);
  EXPECT_THAT(ids_in(list), ElementsAre(1, 2, 0));
  EXPECT_EQ(list.position(id_of_city(2)), 1u);
  EXPECT_EQ(list.position(id_of_city(3)), list.size()) << "it is not in the list";
  EXPECT_EQ(list[2], id_of_city(0));

  db.set_name(id_of_city(1), "Paris");
  db.set_population(id_of_city(2), 5);
  db.new_city("Arles", 1, "");
  db.delete_city(id_of_city(0));
  db.set_name(id_of_city(3), "Madrid");
  EXPECT_THAT(ids_in(list), ElementsAre(1, 2, 0)) << "it is not committed yet";
  db.soft_checkpoint();
  EXPECT_THAT(ids_in(list), ElementsAre(4, 3, 2, 1));
  EXPECT_FALSE(list.contains(id_of_city(0)));
  EXPECT_EQ(notes.calls.size(), 5u);
  EXPECT_THAT(notes.calls, ::testing::IsSupersetOf({"~2@" + notes.calls[1].substr(3)}));
}

TEST(Live_List, KeepsTheOrderOfAKeyOfTheProgram) {
  Memory_Database db;
  for (const int population : {30, 10, 20, 0})
    db.new_city("city " + std::to_string(population), population, "");
  db.soft_checkpoint();
  auto list = db.live_list_of_city([](const values_of_city& c) { return c.population > 0; },
                                   [](const values_of_city& c) { return -c.population; });
  List_Notes notes(list);
  EXPECT_THAT(ids_in(list), ElementsAre(0, 2, 1));

  const auto commit = [&](auto id, int population) {
    notes.calls.clear();
    db.set_population(id_of_city(id), population);
    db.soft_checkpoint();
    return notes.calls;
  };
  EXPECT_THAT(commit(1, 40), ElementsAre("1:2>0"));
  EXPECT_THAT(commit(1, 50), ElementsAre("~1@0"));
  EXPECT_THAT(commit(3, 25), ElementsAre("+3@2"));
  EXPECT_THAT(commit(0, 0), ElementsAre("-0@1"));
  EXPECT_THAT(commit(2, 25), ElementsAre("2:2>1")) << "equal keys are ordered by id";
  EXPECT_THAT(ids_in(list), ElementsAre(1, 2, 3));
}

TEST(Live_List, HasNanLast) {
  Memory_Database db;
  for (const int population : {20, 0, 10, 0})
    db.new_city(std::to_string(db.get_city_table().get_size()), population, "");
  db.soft_checkpoint();
  auto list = db.live_list_of_city([](const values_of_city&) { return true; },
                                   [](const values_of_city& c) {
                                     return c.population == 0
                                                ? std::numeric_limits<double>::quiet_NaN()
                                                : static_cast<double>(c.population);
                                   });
  EXPECT_THAT(ids_in(list), ElementsAre(2, 0, 1, 3));
  db.delete_city(id_of_city(0));
  db.set_population(id_of_city(1), 5);
  db.soft_checkpoint();
  EXPECT_THAT(ids_in(list), ElementsAre(1, 2, 3));
}

TEST(Live_List, ThatBeganWithWhatIsRolledBackLosesIt) {
  Memory_Database db;
  db.new_city("Oslo", 1, "");
  db.new_city("Bern", 1, "");
  db.soft_checkpoint();
  db.new_city("Ca", 1, "");
  db.set_name(id_of_city(0), "A");
  db.delete_city(id_of_city(1));
  auto list = db.live_list_of_city_by_name({}, {});
  List_Notes notes(list);
  EXPECT_THAT(ids_in(list), ElementsAre(0, 2));
  db.rollback();
  EXPECT_THAT(ids_in(list), ElementsAre(1, 0));
  EXPECT_EQ(notes.calls.size(), 3u);
}

// Each call tells the truth: who follows the calls has the same list.
TEST(Live_List, CanBeFollowedByItsCalls) {
  Memory_Database db;
  auto list = db.live_list_of_city_by_name("c", "w");
  std::vector<id_of_city> copy;
  const auto at = [&](std::size_t i) { return copy.begin() + static_cast<std::ptrdiff_t>(i); };
  list.on_added([&](id_of_city id, std::size_t i) { copy.insert(at(i), id); });
  list.on_removed([&](id_of_city id, std::size_t i) {
    EXPECT_EQ(copy[i], id);
    copy.erase(at(i));
  });
  list.on_moved([&](id_of_city id, std::size_t from, std::size_t to) {
    EXPECT_EQ(copy[from], id);
    copy.erase(at(from));
    copy.insert(at(to), id);
  });
  std::uint32_t state = 1;
  const auto random = [&state](std::uint32_t n) {
    state = state * 1664525 + 1013904223;
    return (state >> 16) % n;
  };
  for (int commit = 0; commit < 300; ++commit) {
    for (int i = 0; i < 3; ++i) {
      const id_of_city city(random(20));
      const std::string name = {static_cast<char>('a' + random(26)),
                                static_cast<char>('a' + random(26)),
                                static_cast<char>('a' + city.get_id())};
      if (!db.is_valid(city)) {
        db.insert_city(city);
        db.set_name(city, name);
      } else if (random(4) == 0) {
        db.delete_city(city);
      } else {
        db.set_name(city, name);
      }
    }
    if (random(5) == 0)
      db.rollback();
    else
      db.soft_checkpoint();
    std::vector<id_of_city> expected;
    for (const id_of_city city : db.get_index_of_city_by_name().between("c", "w"))
      expected.push_back(city);
    EXPECT_EQ(std::vector<id_of_city>(list.begin(), list.end()), expected);
    EXPECT_EQ(copy, expected);
  }
}

TEST(Live_Query, ThatBeganWithWhatIsRolledBackLosesIt) {
  Memory_Database db;
  db.new_city("Oslo", 1, "Norway");
  db.soft_checkpoint();
  db.new_city("Rome", 1, "Italy");
  db.set_population(id_of_city(0), 0);
  auto one = db.live_city([](const values_of_city& city) { return city.population == 1; });
  EXPECT_THAT(ids_in(one), ElementsAre(1));
  std::vector<int> added, removed;
  one.on_added([&](id_of_city id) { added.push_back(static_cast<int>(id.get_id())); });
  one.on_removed([&](id_of_city id) { removed.push_back(static_cast<int>(id.get_id())); });
  db.rollback();
  EXPECT_THAT(ids_in(one), ElementsAre(0));
  EXPECT_THAT(added, ElementsAre(0));
  EXPECT_THAT(removed, ElementsAre(1));
}

TEST(Live_Query, ThatThrowsDoesNotDisturbARollback) {
  Memory_Database db;
  const id_of_city oslo = db.new_city("Oslo", 1, "Norway");
  db.soft_checkpoint();
  bool must_throw = false;
  const auto all = db.live_city([&](const values_of_city&) {
    if (must_throw) throw std::runtime_error("no");
    return true;
  });
  db.set_population(oslo, 2);
  must_throw = true;
  EXPECT_THROW(db.rollback(), std::runtime_error);
  EXPECT_EQ(db.get_population(oslo), 1) << "it was rolled back";
  must_throw = false;
  db.new_city("Rome", 2, "Italy");
  db.soft_checkpoint();
  EXPECT_THAT(ids_in(all), ElementsAre(0, 1));
}

TEST(Live_Query, AsksAgainWhenThePredicateHasThrown) {
  Memory_Database db;
  int calls = 0;
  const auto all = db.live_city([&](const values_of_city&) {
    if (++calls == 1) throw std::runtime_error("no");
    return true;
  });
  db.new_vector_of_city(2);
  EXPECT_THROW(db.soft_checkpoint(), std::runtime_error);
  db.soft_checkpoint();
  EXPECT_THAT(ids_in(all), ElementsAre(0, 1));
}

TEST(Live_Query, MayGetAnotherFunctionWhileOneRuns) {
  Memory_Database db;
  int later = 0;
  auto all = db.live_city([](const values_of_city&) { return true; });
  all.on_added([&all, &later, text = std::string(100, 'x')](id_of_city) {
    all.on_added([&later](id_of_city) { ++later; });
    EXPECT_EQ(text.size(), 100u);
  });
  db.new_vector_of_city(2);
  db.soft_checkpoint();
  EXPECT_EQ(later, 1);
}

// A model that applies the notifications equals the tables after each commit, whatever was written,
// rolled back, or pulled; so does a live query.
TEST(Observers_Property, ReplayToTheContentOfTheTables) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    joedb::Memory_File hub, ann_file, bob_file;
    joedb::File_Connection connection{hub};
    Client ann{ann_file, connection}, bob{bob_file, connection};
    std::map<int, std::string> model;
    std::vector<Subscription> subscriptions;
    const Database& seen = ann.get_database();
    const auto key = [](id_of_city id) { return static_cast<int>(id.get_id()); };
    subscriptions.push_back(seen.on_city_inserted([&](id_of_city id, const values_of_city& row) {
      EXPECT_TRUE(model.emplace(key(id), text_of(row)).second);
    }));
    subscriptions.push_back(seen.on_city_updated(
        [&](id_of_city id, const values_of_city& before, const values_of_city& after) {
          EXPECT_EQ(model[key(id)], text_of(before));
          EXPECT_NE(text_of(before), text_of(after));
          model[key(id)] = text_of(after);
        }));
    subscriptions.push_back(seen.on_city_deleted([&](id_of_city id, const values_of_city& before) {
      EXPECT_EQ(model[key(id)], text_of(before));
      model.erase(key(id));
    }));
    const auto odd =
        seen.live_city([](const values_of_city& city) { return city.population % 2 == 1; });
    const auto some = seen.live_city_by_name("c", "f");

    int names = 0;  // number of unique names so far; their first letters are random
    const auto name = [&] {
      return std::string(1, static_cast<char>('a' + below(8))) + std::to_string(names++);
    };
    const auto change = [&](Writable_Database& db) {
      for (int i = below(8); i >= 0; --i) {
        const auto table = db.get_city_table();
        const id_of_city any(below(12));
        const bool is_used = db.is_valid(any);
        switch (below(6)) {
          case 0:
            db.new_city(name(), below(5), "");
            break;
          case 1:
            if (is_used) db.delete_city(any);
            break;
          case 2:
            if (is_used) db.set_population(any, below(5));
            break;
          case 3:
            if (is_used) db.set_name(any, name());
            break;
          case 4:
            if (table.get_size() < 20) db.insert_city(id_of_city(db.new_vector_of_city(2)[2]));
            break;
          default: {
            const auto last = table.is_empty() ? id_of_city(0) : table.last();
            const auto size = std::min<std::size_t>(3, static_cast<std::size_t>(last.get_id()));
            db.update_vector_of_population(id_of_city(0), size, [&](auto values) {
              for (std::size_t j = 0; j < size; ++j) values[j] = below(5);
            });
          }
        }
      }
      if (below(4) == 0) throw std::runtime_error("rolled back");
    };
    for (int step = 0; step < 60; ++step) {
      Client& client = below(2) == 0 ? ann : bob;
      try {
        client.transaction(change);
      } catch (const std::exception&) {
      }
      if (below(3) == 0) ann.pull();
      if (below(8) == 0) ann.rollback();
      if (below(2) == 0) continue;
      ann.pull();
      std::map<int, std::string> content;
      std::vector<int> odd_ids, some_ids;
      for (int id = 0; id < 100; ++id) {
        const id_of_city city(id);
        if (!seen.is_valid(city)) continue;
        const std::string_view city_name = seen.get_name(city);
        content[id] = std::string(city_name) + " " + std::to_string(seen.get_population(city));
        if (seen.get_population(city) % 2 == 1) odd_ids.push_back(id);
        if ("c" <= city_name && city_name <= "f") some_ids.push_back(id);
      }
      ASSERT_EQ(model, content) << "seed " << seed << ", step " << step;
      ASSERT_EQ(ids_in(odd), odd_ids) << "seed " << seed << ", step " << step;
      ASSERT_EQ(ids_in(some), some_ids) << "seed " << seed << ", step " << step;
    }
  }
}

// The same for one database, with group commits, whose checkpoints come later.
TEST(Observers_Property, ReplayGroupCommitsAndRollbacks) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    Temporary_Directory directory;
    File_Database db(directory.file("db.joedb"));
    std::map<int, std::string> model;
    std::vector<Subscription> subscriptions;
    const auto key = [](id_of_city id) { return static_cast<int>(id.get_id()); };
    subscriptions.push_back(db.on_city_inserted([&](id_of_city id, const values_of_city& row) {
      EXPECT_TRUE(model.emplace(key(id), text_of(row)).second);
    }));
    subscriptions.push_back(db.on_city_updated(
        [&](id_of_city id, const values_of_city& before, const values_of_city& after) {
          EXPECT_EQ(model[key(id)], text_of(before));
          model[key(id)] = text_of(after);
        }));
    subscriptions.push_back(db.on_city_deleted([&](id_of_city id, const values_of_city& before) {
      EXPECT_EQ(model[key(id)], text_of(before));
      model.erase(key(id));
    }));
    const auto odd = db.live_city([](const values_of_city& c) { return c.population % 2 == 1; });
    joedb::Offset waiting = 0;
    int names = 0;
    for (int step = 0; step < 150; ++step) {
      const id_of_city any(below(6));
      switch (below(9)) {
        case 0:
        case 1:
          db.new_city("c" + std::to_string(names++), below(5), "");
          break;
        case 2:
          if (db.is_valid(any)) db.delete_city(any);
          break;
        case 3:
        case 4:
          if (db.is_valid(any)) db.set_population(any, below(5));
          break;
        case 5:
          waiting = db.hard_checkpoint_async();
          break;
        case 6:
          if (waiting > 0) db.wait(std::exchange(waiting, 0));
          break;
        case 7:
          db.rollback();
          waiting = 0;
          break;
        default: {
          db.soft_checkpoint();
          std::map<int, std::string> content;
          std::vector<int> odd_ids;
          for (int id = 0; id < 200; ++id) {
            const id_of_city city(id);
            if (!db.is_valid(city)) continue;
            content[id] = std::string(std::string_view(db.get_name(city))) + " " +
                          std::to_string(db.get_population(city));
            if (db.get_population(city) % 2 == 1) odd_ids.push_back(id);
          }
          ASSERT_EQ(model, content) << "seed " << seed << ", step " << step;
          ASSERT_EQ(ids_in(odd), odd_ids) << "seed " << seed << ", step " << step;
        }
      }
    }
    db.rollback();
  }
}

// ---- histories ----------------------------------------------------------------------------------

class Typed_History : public ::testing::Test {
 protected:
  Typed_History() {
    oslo_ = client_.transaction(
        "the first one", [](Writable_Database& db) { return db.new_city("Oslo", 1, "Norway"); });
    first_ = client_.get_journal_checkpoint();
    client_.transaction("it grows", [&](Writable_Database& db) {
      db.set_population(oslo_, 2);
      db.new_city("Rome", 5, "Italy");
    });
    client_.transaction("a mistake", [&](Writable_Database& db) { db.delete_city(oslo_); });
  }
  Temporary_Directory directory_;
  File_Client client_{directory_.file("db.joedb")};
  id_of_city oslo_;
  joedb::Offset first_ = 0;
};

TEST_F(Typed_History, HasEveryVersionOfARecord) {
  const auto versions = client_.get_database().history(oslo_);
  ASSERT_EQ(versions.size(), 2u);
  EXPECT_EQ(text_of(versions[0].values), "Oslo 1");
  EXPECT_EQ(versions[0].from->comments.front(), "the first one");
  EXPECT_EQ(versions[0].until->comments.front(), "it grows");
  EXPECT_EQ(text_of(versions[1].values), "Oslo 2");
  EXPECT_EQ(versions[1].until->comments.front(), "a mistake");
  const auto rome = client_.get_database().history(id_of_city(1));
  ASSERT_EQ(rome.size(), 1u);
  EXPECT_EQ(rome[0].until, nullptr) << "it is still so";
  EXPECT_TRUE(client_.get_database().history(id_of_city(7)).empty());
}

TEST_F(Typed_History, CanBeKeptInParts) {
  const auto version = client_.get_database().history(oslo_)[1];
  EXPECT_EQ(text_of(version.values), "Oslo 2");
  EXPECT_EQ(version.until->comments.front(), "a mistake");
  std::vector<values_of_city> before;
  for (const joedb::Transaction& transaction : client_.get_database().changes(first_))
    for (const auto& change : Database::changes_of_city(transaction))
      before.push_back(change.before);
  ASSERT_EQ(before.size(), 3u);
  EXPECT_EQ(text_of(before[2]), "Oslo 2");
}

TEST_F(Typed_History, HasTheChangesOfEachTransaction) {
  std::vector<std::string> lines;
  for (const joedb::Transaction& transaction : client_.get_database().changes(first_))
    for (const auto& change : Database::changes_of_city(transaction))
      lines.push_back((change.is_insertion() ? "+ " + text_of(change.after)
                       : change.is_deletion()
                           ? "- " + text_of(change.before)
                           : text_of(change.before) + " > " + text_of(change.after)));
  EXPECT_THAT(lines, ElementsAre("Oslo 1 > Oslo 2", "+ Rome 5", "- Oslo 2"));
}

TEST_F(Typed_History, HasPastStates) {
  const Readonly_Database past = client_.get_database().at(joedb::at(first_));
  EXPECT_EQ(past.get_population(oslo_), 1);
  EXPECT_EQ(past.get_city_table().get_size(), 1u);
  EXPECT_EQ(error_of([&] { past.history(oslo_); }),
            "a Readonly_Database reads its file once, and then does not know it any more; open it "
            "with a Readonly_Client to read its history");
}

TEST_F(Typed_History, TakesATransactionBack) {
  client_.transaction("no, keep it", [&](Writable_Database& db) {
    EXPECT_TRUE(db.undo_transaction().is_possible);
  });
  EXPECT_EQ(client_.get_database().get_population(oslo_), 2);
  EXPECT_EQ(client_.get_database().find_city_by_name("Oslo"), oslo_) << "indexes have it again";
}

TEST_F(Typed_History, ShowsConflictsAndWritesNothing) {
  client_.transaction([&](Writable_Database& db) { db.set_population(id_of_city(1), 6); });
  client_.transaction("refused", [&](Writable_Database& db) {
    const joedb::Offset before = db.get_journal().get_position();
    const joedb::Plan plan = db.undo_transaction(first_ + 1);
    EXPECT_FALSE(plan.is_possible);
    EXPECT_EQ(db.get_journal().get_position(), before);
    EXPECT_TRUE(db.undo_transaction(first_ + 1, joedb::Conflicts::ours).is_possible);
  });
}

TEST_F(Typed_History, KeepsTheSchemaThatTheProgramNeeds) {
  EXPECT_THAT(error_of([&] {
                client_.transaction([&](Writable_Database& db) {
                  (void)db.undo_transaction(joedb::journal_start + 1);
                });
              }),
              ::testing::HasSubstr("has changed tables or fields, which this program needs"));
}

TEST_F(Typed_History, UndoesNoChangesWithoutACheckpoint) {
  const auto undo_changes = [&](bool has_checkpoint) {
    Memory_Database db;
    db.new_city("Pisa", 1, "");
    if (has_checkpoint) db.soft_checkpoint();
    (void)db.undo();
  };
  EXPECT_EQ(error_of([&] { undo_changes(false); }),
            "there are changes after the last checkpoint: end them with write_timestamp() and "
            "soft_checkpoint(), or drop them with rollback()");
  EXPECT_EQ(error_of([&] { undo_changes(true); }),
            "the last changes have no end of a transaction, so that nobody knows how many "
            "transactions they are: end them with write_timestamp() or write_valid_data()");
}

}  // namespace
}  // namespace observer_test
