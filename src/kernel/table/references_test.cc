#include "kernel/table/references.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "joedb/io/memory_file.h"
#include "joedb/table/load.h"
#include "kernel/table/content_difference.h"
#include "kernel/table/declaration.h"
#include "kernel/table/undo_log.h"
#include "sim/lab/random.h"
#include "support/error_of.h"

namespace joedb::references_test {
namespace {

using On_Delete = Logical_Type::On_Delete;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::IsEmpty;
using testing::Random;
using ::testing::UnorderedElementsAre;

constexpr Table_Id city{1}, person{2}, pet{3};
constexpr Field_Id home{1}, boss{2}, owner{1};

// People live in cities, and may have a boss; pets have an owner.
class References : public ::testing::Test {
 protected:
  References() {
    for (const char* const name : {"city", "person", "pet"}) db.write(Create_Table{name});
    db.write(Add_Field{person, "home", {Type_Code::reference, city}});
    db.write(Add_Field{person, "boss", {Type_Code::reference, person}});
    db.write(Add_Field{pet, "owner", {Type_Code::reference, person}});
  }
  void declare(Table_Id table, Field_Id field, On_Delete rule) {
    declare_type(db, table, field, {.on_delete = rule});
  }
  Record_Id add(Table_Id table) {
    const Record_Id record = db.next_free(content().table(table));
    db.write(Insert{table, record});
    return record;
  }
  Record_Id add(Table_Id table, Field_Id field, Record_Id target) {
    const Record_Id record = add(table);
    set(table, field, record, target);
    return record;
  }
  void set(Table_Id table, Field_Id field, Record_Id record, Record_Id target) {
    db.write(Update<Record_Id>{table, record, field, target});
  }
  Record_Id get(Table_Id table, Field_Id field, Record_Id record) {
    return content().table(table).column<Record_Id>(field).get(record.value());
  }
  void erase(Table_Id table, Record_Id record) { db.write(Delete{table, record}); }
  bool exists(Table_Id table, Record_Id record) { return content().table(table).is_used(record); }
  const Database& content() const { return db.get_database(); }
  // The content that another program reads.
  Database read() {
    db.soft_checkpoint();
    Database database;
    Readonly_Journal journal(file);
    load(database, journal);
    return database;
  }

  Memory_File file;
  Writable_Database db{file};
};

TEST_F(References, StayWithoutARule) {
  const Record_Id tokyo = add(city), ada = add(person, home, tokyo);
  erase(city, tokyo);
  EXPECT_EQ(get(person, home, ada), tokyo);
}

TEST_F(References, BecomeNull) {
  declare(person, home, On_Delete::clear);
  const Record_Id tokyo = add(city), oslo = add(city);
  const Record_Id ada = add(person, home, tokyo), bob = add(person, home, oslo);
  erase(city, tokyo);
  EXPECT_TRUE(get(person, home, ada).is_null());
  EXPECT_EQ(get(person, home, bob), oslo);
  EXPECT_EQ(content_difference(read(), content()), "");
}

TEST_F(References, DeleteTheirRecords) {
  declare(person, home, On_Delete::cascade);
  declare(pet, owner, On_Delete::cascade);
  const Record_Id tokyo = add(city), ada = add(person, home, tokyo), bob = add(person);
  const Record_Id cat = add(pet, owner, ada), dog = add(pet, owner, bob);
  erase(city, tokyo);
  EXPECT_FALSE(exists(person, ada) || exists(pet, cat));
  EXPECT_TRUE(exists(person, bob) && exists(pet, dog));
  EXPECT_EQ(content_difference(read(), content()), "");
}

TEST_F(References, RefuseADeletion) {
  declare(person, home, On_Delete::refuse);
  const Record_Id tokyo = add(city), ada = add(person, home, tokyo);
  const Offset before = db.place().position;
  EXPECT_EQ(error_of<Data_Error>([&] { erase(city, tokyo); }),
            "city 0 cannot be deleted: person 0 refers to it (person.home has the rule on_delete "
            "refuse)");
  EXPECT_EQ(db.place().position, before);
  erase(person, ada);
  erase(city, tokyo);
}

TEST_F(References, OfRecordsThatAreAlsoDeletedDoNotRefuse) {
  declare(person, boss, On_Delete::refuse);
  declare(person, home, On_Delete::cascade);
  const Record_Id tokyo = add(city), ada = add(person, home, tokyo);
  set(person, boss, add(person, home, tokyo), ada);
  erase(city, tokyo);
  EXPECT_EQ(content().table(person).records().used_count(), 0);
}

TEST_F(References, AreRefusedBeforeAnythingIsWritten) {
  declare(person, home, On_Delete::clear);
  declare(person, boss, On_Delete::cascade);
  declare(pet, owner, On_Delete::refuse);
  const Record_Id ada = add(person), bob = add(person, boss, ada);
  add(pet, owner, bob);
  const Offset before = db.place().position;
  EXPECT_EQ(error_of<Data_Error>([&] { erase(person, ada); }),
            "person 1 cannot be deleted: pet 0 refers to it (pet.owner has the rule on_delete "
            "refuse)");
  EXPECT_EQ(db.place().position, before);
}

TEST_F(References, InACircleAreDeletedOnce) {
  declare(person, boss, On_Delete::cascade);
  const Record_Id ada = add(person), bob = add(person, boss, ada);
  set(person, boss, ada, bob);
  set(person, boss, add(person), add(person));
  erase(person, bob);
  EXPECT_EQ(content().table(person).records().used_count(), 2);
}

TEST_F(References, OfVectorsAreFound) {
  declare(person, home, On_Delete::clear);
  declare(person, boss, On_Delete::cascade);
  db.write(Insert_Vector{city, Record_Id(0), 3});
  db.write(Insert_Vector{person, Record_Id(0), 6});
  for (index_t i = 0; i < 6; ++i) set(person, home, Record_Id(i), Record_Id(i / 2));
  set(person, boss, Record_Id(5), Record_Id(1));
  db.write(Delete_Vector{city, Record_Id(1), 2});
  EXPECT_EQ(get(person, home, Record_Id(1)), Record_Id(0));
  for (index_t i = 2; i < 6; ++i) EXPECT_TRUE(get(person, home, Record_Id(i)).is_null());
  db.write(Delete_Vector{person, Record_Id(0), 3});
  EXPECT_FALSE(exists(person, Record_Id(5)));
  EXPECT_TRUE(exists(person, Record_Id(3)) && exists(person, Record_Id(4)));
}

TEST_F(References, InALongChainAreFoundInTime) {
  declare(person, boss, On_Delete::cascade);
  const Record_Id first = add(person);
  for (index_t i = 1; i < 100'000; ++i) add(person, boss, Record_Id(i - 1));
  erase(person, first);
  EXPECT_EQ(content().table(person).records().used_count(), 0);
}

TEST_F(References, HaveRulesThatFollowTheSchema) {
  declare(person, home, On_Delete::clear);
  EXPECT_THAT(content().declarations(),
              ElementsAre("joedb: type person.home references on_delete clear"));
  EXPECT_EQ(read().declarations(), content().declarations());
  EXPECT_TRUE(read().has_rules(city));
  declare(person, home, On_Delete::keep);
  EXPECT_THAT(content().declarations(), IsEmpty());
  EXPECT_FALSE(content().has_rules(city));
  declare(person, home, On_Delete::cascade);
  db.write(Drop_Field{person, home});
  EXPECT_FALSE(content().has_rules(city));
  declare(pet, owner, On_Delete::cascade);
  db.write(Drop_Table{pet});
  EXPECT_FALSE(content().has_rules(person));
  erase(person, add(person));
}

TEST_F(References, ToALaterTableHaveRules) {
  db.write(Add_Field{pet, "house", {Type_Code::reference, Table_Id(4)}});
  declare(pet, Field_Id(2), On_Delete::cascade);
  db.write(Create_Table{"house"});
  const Record_Id house = add(Table_Id(4)), cat = add(pet, Field_Id(2), house);
  erase(Table_Id(4), house);
  EXPECT_FALSE(exists(pet, cat));
}

TEST(References_With_An_Index, AreFoundThere) {
  Memory_File file;
  Writable_Database db(file, {}, Deleted_Values::reset,
                       {{"by_boss", Table_Id(1), {Field_Id(1)}, false}});
  const Table_Id table(1);
  db.write(Create_Table{"person"});
  db.write(Add_Field{table, "boss", {Type_Code::reference, table}});
  declare_type(db, table, Field_Id(1), {.on_delete = On_Delete::cascade});
  db.write(Insert_Vector{table, Record_Id(0), 100});
  for (index_t i = 1; i < 100; ++i)
    db.write(Update<Record_Id>{table, Record_Id(i), Field_Id(1), Record_Id(i / 2)});
  db.write(Delete{table, Record_Id(1)});
  EXPECT_EQ(std::as_const(db).get_database().table(table).records().used_count(), 1);
}

TEST(References_In_A_Unique_Index, AreRestoredIfTheyCannotBecomeNull) {
  Memory_File file;
  const Table_Id house(1), person(2);
  const Field_Id home(1);
  Writable_Database db(file, {}, Deleted_Values::reset, {{"by_home", person, {home}, true}});
  const Database& content = std::as_const(db).get_database();
  db.write(Create_Table{"house"});
  db.write(Create_Table{"person"});
  db.write(Add_Field{person, "home", {Type_Code::reference, house}});
  declare_type(db, person, home, {.on_delete = On_Delete::clear});
  db.write(Insert_Vector{house, Record_Id(0), 2});
  db.write(Insert_Vector{person, Record_Id(0), 2});
  for (index_t i = 0; i < 2; ++i)
    db.write(Update<Record_Id>{person, Record_Id(i), home, Record_Id(i)});
  EXPECT_THROW(db.write(Delete_Vector{house, Record_Id(0), 2}), Unique_Violation);
  for (index_t i = 0; i < 2; ++i)
    EXPECT_EQ(content.table(person).column<Record_Id>(home).get(i), Record_Id(i));
  EXPECT_EQ(content.table(house).records().used_count(), 2);
}

// ---- with savepoints

TEST_F(References, AreUndoneWithTheDeletion) {
  declare(person, home, On_Delete::clear);
  declare(pet, owner, On_Delete::cascade);
  const Record_Id tokyo = add(city), ada = add(person, home, tokyo), cat = add(pet, owner, ada);
  Undo_Log log(db);
  const Undo_Log::Savepoint start = log.savepoint();
  log.erase(db.get_database().table(city), tokyo);
  log.erase(db.get_database().table(person), ada);
  EXPECT_FALSE(exists(pet, cat));
  log.rollback_to(start);
  EXPECT_TRUE(exists(city, tokyo) && exists(person, ada) && exists(pet, cat));
  EXPECT_EQ(get(person, home, ada), tokyo);
  EXPECT_EQ(content_difference(read(), content()), "");
}

// ---- dangling references, and ids that are not used again

TEST_F(References, ThatDangleAreListed) {
  const Record_Id tokyo = add(city), ada = add(person, home, tokyo);
  add(person, home, add(city));
  EXPECT_THAT(dangling_references(content()), IsEmpty());
  erase(city, tokyo);
  const std::vector<Dangling> found = dangling_references(content());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].table->id(), person);
  EXPECT_EQ(found[0].field, home);
  EXPECT_THAT(found[0].records, ElementsAre(ada));
  erase(person, ada);
  EXPECT_THAT(dangling_references(content()), IsEmpty());
}

TEST_F(References, KeepTheirIdsFromNewRecords) {
  const Record_Id tokyo = add(city), oslo = add(city), ada = add(person, home, tokyo);
  erase(city, oslo);
  erase(city, tokyo);
  EXPECT_EQ(add(city), oslo);
  EXPECT_EQ(add(city), Record_Id(2));
  set(person, home, ada, Record_Id());
  EXPECT_EQ(add(city), tokyo);
}

TEST_F(References, ThatAreWrittenLaterKeepTheirIds) {
  for (int i = 0; i < 3; ++i) add(city);
  for (index_t i = 0; i < 3; ++i) erase(city, Record_Id(i));
  EXPECT_EQ(add(city), Record_Id(2));
  add(person, home, Record_Id(1));
  EXPECT_EQ(add(city), Record_Id(0));
  EXPECT_EQ(add(city), Record_Id(3));
  erase(city, Record_Id(0));
  db.write_vector<Record_Id>(person, Record_Id(0), home, std::array{Record_Id(0)});
  EXPECT_EQ(add(city), Record_Id(1));
}

TEST_F(References, ToARecordThatUsedAFreeIdKeepIt) {
  for (int i = 0; i < 3; ++i) add(city);
  for (index_t i = 0; i < 2; ++i) erase(city, Record_Id(i));
  const Record_Id oslo = add(city);
  add(person, home, oslo);
  erase(city, oslo);
  EXPECT_NE(add(city), oslo);
}

TEST_F(References, FromBeforeTheRuleKeepTheirIds) {
  const Record_Id tokyo = add(city);
  add(person, home, tokyo);
  erase(city, tokyo);
  declare(person, home, On_Delete::clear);
  EXPECT_NE(add(city), tokyo);
}

TEST_F(References, WithARuleLeaveIdsFree) {
  declare(person, home, On_Delete::clear);
  const Record_Id tokyo = add(city);
  add(person, home, tokyo);
  erase(city, tokyo);
  EXPECT_EQ(add(city), tokyo);
}

// ---- a model

struct Model {
  using Key = std::pair<Table_Id, index_t>;
  std::map<Key, std::map<std::uint16_t, std::optional<index_t>>> records;
  std::map<std::pair<Table_Id, std::uint16_t>, std::pair<Table_Id, On_Delete>> fields;

  // Deletes a record as the rules say; returns false if they refuse it.
  bool erase(Key key) {
    std::set<Key> gone{key};
    for (std::size_t before = 0; before != gone.size();) {
      before = gone.size();
      for_each([&](Key from, On_Delete rule, Key to) {
        if (rule == On_Delete::cascade && gone.contains(to)) gone.insert(from);
      });
    }
    bool is_refused = false;
    for_each([&](Key from, On_Delete rule, Key to) {
      if (rule == On_Delete::refuse && gone.contains(to) && !gone.contains(from)) is_refused = true;
    });
    if (is_refused) return false;
    for (auto& [from, values] : records)
      for (auto& [field, value] : values) {
        const auto& [target, rule] = fields.at({from.first, field});
        if (value && rule == On_Delete::clear && gone.contains({target, *value})) value.reset();
      }
    for (const Key& each : gone) records.erase(each);
    return true;
  }

  template <class F>
  void for_each(F f) const {
    for (const auto& [from, values] : records)
      for (const auto& [field, value] : values) {
        const auto& [target, rule] = fields.at({from.first, field});
        if (value) f(from, rule, Key(target, *value));
      }
  }
};

class Random_References : public References {
 protected:
  void declare_all(Random& random) {
    for (const auto& [table, field, target] :
         {std::tuple(person, home, city), {person, boss, person}, {pet, owner, person}}) {
      const auto rule = static_cast<On_Delete>(random.below(4));
      declare(table, field, rule);
      model.fields[{table, field.value()}] = {target, rule};
    }
  }
  void insert(Random& random) {
    const Table_Id table(static_cast<std::uint16_t>(1 + random.below(3)));
    auto& values = model.records[{table, add(table).value()}];
    for (const auto& [place, type] : model.fields)
      if (place.first == table) values[place.second];
  }
  void refer(Random& random) {
    for (auto& [key, values] : model.records)
      for (auto& [field, value] : values) {
        if (random.below(10) > 0) continue;
        const Table_Id target = model.fields[{key.first, field}].first;
        const index_t size = content().table(target).records().size();
        if (size == 0) continue;
        const auto id = static_cast<index_t>(random.below(static_cast<std::uint64_t>(size)));
        if (!exists(target, Record_Id(id))) continue;
        value = id;
        set(key.first, Field_Id(field), Record_Id(key.second), Record_Id(id));
      }
  }
  void erase_one(Random& random) {
    if (model.records.empty()) return;
    auto at = model.records.begin();
    std::advance(at, random.below(model.records.size()));
    const auto [table, id] = at->first;
    Model copy = model;
    const bool is_possible = copy.erase(at->first);
    const Offset before = db.place().position;
    if (is_possible)
      erase(table, Record_Id(id));
    else
      EXPECT_THROW(erase(table, Record_Id(id)), Data_Error);
    EXPECT_EQ(db.place().position == before, !is_possible);
    model = std::move(copy);
  }
  void require_same() {
    std::size_t count = 0;
    for (const Table_Id table : {city, person, pet})
      count += static_cast<std::size_t>(content().table(table).records().used_count());
    EXPECT_EQ(count, model.records.size());
    for (const auto& [key, values] : model.records) {
      ASSERT_TRUE(exists(key.first, Record_Id(key.second)));
      for (const auto& [field, value] : values)
        EXPECT_EQ(get(key.first, Field_Id(field), Record_Id(key.second)).value(),
                  value.value_or(-1));
    }
  }

  Model model;
};

TEST_F(Random_References, AreThoseOfTheModel) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    declare_all(random);
    for (int step = 0; step < 60 && !HasFailure(); ++step) {
      const auto choice = random.below(4);
      if (choice < 2)
        insert(random);
      else if (choice == 2)
        refer(random);
      else
        erase_one(random);
      require_same();
    }
    while (!model.records.empty()) {  // without rules, everything can be deleted
      for (auto& [place, type] : model.fields) {
        type.second = On_Delete::keep;
        declare(place.first, Field_Id(place.second), On_Delete::keep);
      }
      erase_one(random);
    }
    EXPECT_EQ(content_difference(read(), content()), "");
  }
}

}  // namespace
}  // namespace joedb::references_test
