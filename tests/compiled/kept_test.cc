// References with rules for deletions: on_delete clear, cascade, refuse.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "joedb/io/memory_file.h"
#include "kept.h"
#include "kept_other.h"
#include "kept_plain.h"
#include "support/error_of.h"

namespace kept_test {
namespace {

using joedb::testing::error_of;
using namespace test::kept;

template <class Range>
std::size_t count(const Range& range) {
  return static_cast<std::size_t>(std::distance(range.begin(), range.end()));
}

class Kept : public ::testing::Test {
 protected:
  Memory_Database db_;
  const id_of_city oslo_ = db_.new_city("Oslo"), lyon_ = db_.new_city("Lyon");
  const id_of_person ann_ = db_.new_person("Ann", oslo_, id_of_person());
  const id_of_person bob_ = db_.new_person("Bob", oslo_, ann_);
  const id_of_person eve_ = db_.new_person("Eve", lyon_, ann_);
};

TEST_F(Kept, ClearMakesReferencesNull) {
  db_.delete_city(oslo_);
  EXPECT_TRUE(db_.get_home(ann_).is_null());
  EXPECT_TRUE(db_.get_home(bob_).is_null());
  EXPECT_EQ(db_.get_home(eve_), lyon_);
}

TEST_F(Kept, RefuseKeepsTheRecord) {
  EXPECT_EQ(error_of([&] { db_.delete_person(ann_); }),
            "person 0 cannot be deleted: person 1 refers to it (person.boss has the rule on_delete "
            "refuse)");
  EXPECT_TRUE(db_.is_valid(ann_));
  db_.delete_vector_of_person(ann_, 3);  // those that refer to it, too
  EXPECT_TRUE(db_.get_person_table().is_empty());
}

TEST_F(Kept, CascadeDeletesRecordsThatRefer) {
  const auto root = db_.new_folder("root", id_of_folder());
  const auto inner = db_.new_folder("inner", root);
  const auto other = db_.new_folder("other", id_of_folder());
  db_.new_document("a", inner, ann_);
  const auto b = db_.new_document("b", other, ann_);
  db_.new_passport("1", eve_);
  db_.delete_folder(root);
  EXPECT_EQ(count(db_.get_folder_table()), 1u);
  ASSERT_EQ(count(db_.get_document_table()), 1u);
  db_.delete_person(eve_);
  EXPECT_TRUE(db_.get_passport_table().is_empty());
  EXPECT_EQ(db_.get_owner(b), ann_) << "no rule";
}

TEST_F(Kept, ClearingATableObeysRules) {
  db_.clear_city_table();
  EXPECT_TRUE(db_.get_home(eve_).is_null());
  db_.clear_person_table();
  EXPECT_TRUE(db_.get_person_table().is_empty());
  const auto first = db_.new_person("Ann", id_of_city(), id_of_person());
  const auto second = db_.new_person("Bob", id_of_city(), first);
  db_.set_boss(first, second);
  db_.clear_person_table();
  EXPECT_TRUE(db_.get_person_table().is_empty()) << "each refers to the other";
}

TEST_F(Kept, BackReferencesAreRangesOfIds) {
  std::string names;
  for (const id_of_person person : db_.get_person_by_home(oslo_))
    names += db_.get_name(person).str() + " ";
  EXPECT_EQ(names, "Ann Bob ");
  EXPECT_EQ(db_.find_person_by_home(lyon_).size(), 1u);
  EXPECT_EQ(db_.get_person_by_boss(ann_).size(), 2u);
  EXPECT_TRUE(db_.get_person_by_home(db_.new_city("Rome")).empty());
  EXPECT_EQ(db_.get_index_of_person_by_home().count(oslo_), 2u);
  db_.set_home(ann_, lyon_);
  EXPECT_EQ(db_.get_person_by_home(lyon_).size(), 2u);
}

TEST_F(Kept, BackReferencesUseIndexesOfTheOptions) {
  const auto folder = db_.new_folder("root", id_of_folder());
  const auto b = db_.new_document("b", folder, ann_), a = db_.new_document("a", folder, ann_);
  const auto found = db_.get_document_by_folder(folder);
  EXPECT_EQ(std::vector<id_of_document>(found.begin(), found.end()),
            (std::vector<id_of_document>{a, b}))
      << "in the order of the index: by name";
  const auto passport = db_.new_passport("1", ann_);
  const auto passports = db_.get_passport_by_holder(ann_);
  ASSERT_FALSE(passports.empty());
  EXPECT_EQ(*passports.begin(), passport);
  const auto definitions = Database::program_schema().indexes;
  EXPECT_EQ(definitions.size(), 5u) << "none for document.folder and passport.holder";
}

TEST(Kept_Ids, OfDeletedRecordsAreNotUsedWhileReferencesHaveThem) {
  Memory_Database db;
  for (int i = 0; i < 5000; ++i) {
    db.new_city("x");
    db.new_person("y", id_of_city(), id_of_person());
  }
  const id_of_document document = db.new_document("z", id_of_folder(), id_of_person(4000));
  for (int id : {3000, 4000, 4500}) db.delete_person(id_of_person(id));
  EXPECT_EQ(db.new_person(), id_of_person(4500));
  EXPECT_EQ(db.new_person(), id_of_person(3000));
  EXPECT_EQ(db.new_person(), id_of_person(5000)) << "not 4000, which the document has";
  db.set_owner(document, id_of_person());
  EXPECT_EQ(db.new_person(), id_of_person(4000));

  for (int id : {3000, 4000, 4500}) db.delete_city(id_of_city(id));
  db.set_home(id_of_person(7), id_of_city(4000));  // found by the index
  EXPECT_EQ(db.new_city(), id_of_city(4500));
  EXPECT_EQ(db.new_city(), id_of_city(3000));
  EXPECT_EQ(db.new_city(), id_of_city(5000));
}

// ---- loops that delete --------------------------------------------------------------------------

TEST(Kept_Loop, OverATableGoesOnWhenRecordsAreDeletedWithOthers) {
  Memory_Database db;
  std::vector<id_of_folder> roots;
  for (int i = 0; i < 10; ++i) {
    roots.push_back(db.new_folder("root", id_of_folder()));
    for (int j = 0; j < 5; ++j) db.new_folder("inner", roots.back());
  }
  int visited = 0;
  for (const id_of_folder folder : db.get_folder_table()) {
    db.delete_folder(folder);
    ++visited;
  }
  EXPECT_EQ(visited, 10) << "those that were deleted with their parents are not visited";
  EXPECT_TRUE(db.get_folder_table().is_empty());
}

TEST(Kept_Loop, OverATableThrowsIfTooManyWereDeletedWithItsRecord) {
  Memory_Database db;
  const auto root = db.new_folder("root", id_of_folder());
  for (int i = 0; i < 200; ++i) db.new_folder("inner", root);
  const auto folders = db.get_folder_table();
  auto i = folders.begin();
  db.delete_folder(*i);
  EXPECT_THROW(++i, joedb::Exception);
  EXPECT_TRUE(folders.is_empty());
}

TEST(Kept_Loop, OverBackReferencesMayDeleteTheirTarget) {
  Memory_Database db;
  const auto oslo = db.new_city("Oslo"), lyon = db.new_city("Lyon");
  for (int i = 0; i < 10; ++i) db.new_person("x", i % 2 == 0 ? oslo : lyon, id_of_person());
  int visited = 0;
  for (const id_of_person person : db.get_person_by_home(oslo)) {
    if (visited++ == 2) db.delete_city(oslo);
    EXPECT_TRUE(db.is_valid(person));
  }
  EXPECT_EQ(visited, 3) << "no other person refers to it any more";
  const auto folder = db.new_folder("root", id_of_folder());
  for (int i = 0; i < 10; ++i) db.new_document("x", folder, id_of_person());
  for (const id_of_document document : db.get_document_by_folder(folder)) {
    EXPECT_TRUE(db.is_valid(document));
    if (db.is_valid(folder)) db.delete_folder(folder);
  }
  EXPECT_TRUE(db.get_document_table().is_empty());
}

TEST(Kept_Loop, OverAnIndexGoesOnBehindDeletedRecords) {
  Memory_Database db;
  for (int i = 0; i < 5; ++i) {
    const auto folder = db.new_folder("x", id_of_folder());
    for (const char* name : {"a", "b", "c"}) db.new_document(name, folder, id_of_person());
  }
  int visited = 0;
  for (const auto& [key, document] : db.get_index_of_document_by_folder_and_name()) {
    db.delete_folder(std::get<0>(key));
    ++visited;
  }
  EXPECT_EQ(visited, 5);
  EXPECT_TRUE(db.get_document_table().is_empty());
}

// ---- the history --------------------------------------------------------------------------------

TEST_F(Kept, ObserversSeeTheConsequences) {
  db_.new_passport("1", bob_);
  db_.soft_checkpoint();
  const auto at_home = db_.live_person([](const values_of_person& p) { return !p.home.is_null(); });
  std::string text;
  const auto updated = db_.on_person_updated(
      [&](id_of_person, const values_of_person& before, const values_of_person& after) {
        text += before.name + (after.home.is_null() ? " has no home;" : " moved;");
      });
  const auto deleted =
      db_.on_passport_deleted([&](id_of_passport, const values_of_passport& passport) {
        text += "passport " + passport.number + ";";
      });
  db_.delete_city(oslo_);
  db_.delete_person(bob_);
  db_.soft_checkpoint();
  EXPECT_EQ(text, "Ann has no home;passport 1;");
  EXPECT_EQ(at_home.size(), 1u);
}

TEST_F(Kept, UndoTakesTheConsequencesBack) {
  db_.soft_checkpoint();
  const auto passport = db_.new_passport("1", bob_);
  db_.soft_checkpoint();
  db_.write_valid_data();
  db_.delete_city(oslo_);
  db_.delete_person(bob_);
  db_.write_valid_data();
  db_.soft_checkpoint();
  EXPECT_FALSE(db_.undo_transaction().changes.empty());
  EXPECT_EQ(db_.get_home(bob_), oslo_);
  EXPECT_EQ(db_.get_holder(passport), bob_);
  EXPECT_EQ(db_.get_person_by_home(oslo_).size(), 2u);
}

// ---- files --------------------------------------------------------------------------------------

TEST(Kept_File, OfAnOlderProgramGetsTheRules) {
  joedb::Memory_File file;
  {
    test::kept_plain::Writable_Database db(file);
    db.new_person("Ann", db.new_city("Oslo"), {});
    db.soft_checkpoint();
  }
  Writable_Database db(file);
  db.delete_city(id_of_city(0));
  EXPECT_TRUE(db.get_home(id_of_person(0)).is_null());
  EXPECT_EQ(db.get_untyped().declarations().size(), 5u);
  db.soft_checkpoint();
}

TEST(Kept_File, IsObeyedByProgramsWithoutItsRules) {
  joedb::Memory_File file;
  {
    Writable_Database db(file);
    const auto ann = db.new_person("Ann", db.new_city("Oslo"), id_of_person());
    db.new_person("Bob", id_of_city(), ann);
    db.soft_checkpoint();
  }
  test::kept_plain::Writable_Database db(file);
  db.delete_city(test::kept_plain::id_of_city(0));
  const test::kept_plain::id_of_person ann(0);
  EXPECT_TRUE(db.get_home(ann).is_null());
  EXPECT_THROW(db.delete_person(ann), joedb::Data_Error);
  db.soft_checkpoint();
}

TEST(Kept_File, IsRefusedByProgramsWithOtherRules) {
  joedb::Memory_File file;
  { Writable_Database(file).soft_checkpoint(); }
  const std::string error = error_of([&] { test::kept_other::Writable_Database other(file); });
  EXPECT_NE(
      error.find("person.home is references on_delete clear in the file, references on_delete "
                 "cascade in the program"),
      error.npos)
      << error;
}

}  // namespace
}  // namespace kept_test
