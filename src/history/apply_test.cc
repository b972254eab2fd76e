#include "joedb/history/undo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "joedb/history/changes.h"
#include "joedb/io/memory_file.h"
#include "kernel/table/declaration.h"
#include "kernel/table/record_runs.h"
#include "sim/lab/random.h"
#include "sim/lab/random_changes.h"
#include "support/city_test.h"

namespace joedb::apply_test {
namespace {

using testing::Random;
using testing::Random_Changes;

// ---- the content of a database ------------------------------------------------------------------

std::string text_of(const Value& value) {
  return std::visit(
      []<class T>(const T& typed) {
        if constexpr (std::is_same_v<T, std::string_view>)
          return '"' + std::string(typed) + '"';
        else if constexpr (std::is_same_v<T, Blob>)
          return std::to_string(typed.get_position()) + ',' + std::to_string(typed.get_size());
        else if constexpr (std::is_same_v<T, Record_Id>)
          return '#' + std::to_string(typed.value());
        else
          return std::to_string(typed);
      },
      value);
}

// The tables and fields are identified by name, because recreated ones have new ids.
using Content = std::map<std::string, std::map<std::string, std::string>>;

Content content_of(const Database& database) {
  Content content;
  for (const auto& table : database.tables()) {
    if (!table) continue;
    auto& values = content[table->name()];
    for_each_run(*table, [&](index_t first, index_t size) {
      for (index_t id = first; id < first + size; ++id) values[std::to_string(id)];
    });
    for (const Field& field : table->fields()) {
      if (!field.column) continue;
      const Type_Code type = field.column->type().code;
      values[field.name] = type_name(type);
      for_each_run(*table, [&](index_t first, index_t size) {
        Values column(type);
        column.append(*field.column, first, size);
        for (index_t i = 0; i < size; ++i)
          values[std::to_string(first + i) + '.' + field.name] = text_of(column[i]);
      });
    }
  }
  return content;
}

// Checks that all tables and fields of the changes have names.
void expect_names(const Plan& plan) {
  for (const Change& change : plan.changes)
    for (const Field_Change& field : change.fields)
      EXPECT_NE(change.table->find_field(field.field), nullptr) << change.table_name();
}

// ---- stories ------------------------------------------------------------------------------------

class Apply : public testing::City_Test {
 protected:
  Apply() : City_Test(Deleted_Values::reset, {{"by_name", city, {name}, true, ""}}) {
    insert(2, "Rome", 3);
    start_ = checkpoint();
    content_ = content();
  }
  ~Apply() override { checkpoint(); }
  Content content() const { return content_of(db.get_database()); }

  // Reverts the changes from start_ to `end`.
  Plan undo(Offset end, Conflicts conflicts = Conflicts::refuse) {
    checkpoint();
    Plan plan = apply_changes(db, net_changes(file, end, start_, {}), conflicts);
    expect_names(plan);
    return plan;
  }
  // Returns the conflicts of an undo that must be refused. Verifies that it wrote nothing.
  std::vector<Change_Conflict> refused(Offset end) {
    const Offset before = checkpoint();
    const Plan plan = undo(end);
    EXPECT_FALSE(plan.is_possible);
    EXPECT_TRUE(plan.changes.empty());
    EXPECT_EQ(plan.conflict_count, plan.conflicts.size());
    EXPECT_EQ(db.get_journal().get_position(), before);
    return plan.conflicts;
  }
  void expect_undone(Offset end, Conflicts conflicts = Conflicts::refuse) {
    EXPECT_TRUE(undo(end, conflicts).is_possible);
    EXPECT_EQ(content(), content_);
  }

  Offset start_ = 0;
  Content content_;
};

using Kind = Change_Conflict::Kind;

// ---- references with rules

class Apply_References : public ::testing::Test {
 protected:
  Apply_References() {
    for (const char* const name : {"city", "person"}) db.write(Create_Table{name});
    add_field(db, Add_Field{person, "home", {Type_Code::reference, city}},
              {.on_delete = Logical_Type::On_Delete::cascade});
    db.write(Insert{city, Record_Id(1)});
    base = checkpoint();
  }
  ~Apply_References() override { checkpoint(); }
  Offset checkpoint() {
    db.soft_checkpoint();
    return db.get_journal().get_position();
  }
  void add_person(index_t id) {
    db.write(Insert{person, Record_Id(id)});
    db.write(Update<Record_Id>{person, Record_Id(id), home, Record_Id(1)});
  }
  // Applies changes, and returns the kind of the only conflict.
  Change_Conflict conflict(const std::vector<Change>& changes, Conflicts conflicts) {
    Plan plan = apply_changes(db, changes, conflicts);
    EXPECT_EQ(plan.conflict_count, 1u);
    return plan.conflicts.at(0);
  }

  const Table_Id city{1}, person{2};
  const Field_Id home{1};
  Memory_File file;
  Writable_Database db{file};
  Offset base = 0;
};

// One branch deletes a city, the other adds a person who lives there.
TEST_F(Apply_References, ADeletionOfWhatOthersReferToIsAConflict) {
  db.write(Delete{city, Record_Id(1)});
  const Offset end = checkpoint();
  const std::vector<Change> deletion = net_changes(file, base, end, {});
  EXPECT_TRUE(apply_changes(db, net_changes(file, end, base, {})).is_possible);
  add_person(0);
  for (const Conflicts mode : {Conflicts::refuse, Conflicts::theirs}) {
    const Change_Conflict found = conflict(deletion, mode);
    EXPECT_EQ(found.kind, Change_Conflict::Kind::referenced);
    EXPECT_EQ(found.name, "person.home");
    EXPECT_TRUE(db.get_database().table(city).is_used(Record_Id(1)));
  }
  EXPECT_TRUE(apply_changes(db, deletion, Conflicts::ours).is_possible);
  EXPECT_TRUE(db.get_database().table(city).is_used(Record_Id(1)));
  // If the person is deleted, too, there is none.
  db.write(Delete{person, Record_Id(0)});
  EXPECT_TRUE(apply_changes(db, deletion).is_possible);
}

TEST_F(Apply_References, AReferenceToWhatIsDeletedIsAConflict) {
  add_person(0);
  const std::vector<Change> addition = net_changes(file, base, checkpoint(), {});
  db.write(Delete{city, Record_Id(1)});  // and the person
  const Database& content = db.get_database();
  EXPECT_EQ(content.table(person).records().used_count(), 0);
  const Change_Conflict found = conflict(addition, Conflicts::refuse);
  EXPECT_EQ(found.kind, Change_Conflict::Kind::target_missing);
  EXPECT_EQ(found.field, "home");
  EXPECT_EQ(found.name, "city");
  EXPECT_EQ(found.other, Record_Id(1));
  EXPECT_TRUE(apply_changes(db, addition, Conflicts::ours).is_possible);
  EXPECT_EQ(content.table(person).records().used_count(), 0);
  conflict(addition, Conflicts::theirs);
  EXPECT_EQ(content.table(person).records().used_count(), 1);
  // With the city, there is none.
  db.write(Delete{person, Record_Id(0)});
  db.write(Insert{city, Record_Id(1)});
  EXPECT_TRUE(apply_changes(db, addition).is_possible);
}

TEST_F(Apply_References, EachReferenceToADeletedRecordIsAConflict) {
  for (const index_t id : {3, 4, 6}) db.write(Insert{city, Record_Id(id)});
  const Offset before = checkpoint();
  for (const index_t id : {6, 3, 4}) db.write(Delete{city, Record_Id(id)});
  const std::vector<Change> deletion = net_changes(file, before, checkpoint(), {});
  for (const index_t id : {3, 4, 6}) db.write(Insert{city, Record_Id(id)});
  for (const index_t id : {1, 3, 4, 6, 3}) {
    const Record_Id record(db.get_database().table(person).records().size());
    db.write(Insert{person, record});
    db.write(Update<Record_Id>{person, record, home, Record_Id(id)});
  }
  const Plan plan = apply_changes(db, deletion);
  std::vector<std::pair<index_t, index_t>> found;
  for (const Change_Conflict& conflict : plan.conflicts) {
    EXPECT_EQ(conflict.kind, Change_Conflict::Kind::referenced);
    found.emplace_back(conflict.record.value(), conflict.other.value());
  }
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, (std::vector<std::pair<index_t, index_t>>{{3, 1}, {3, 4}, {4, 2}, {6, 3}}));
  EXPECT_TRUE(apply_changes(db, deletion, Conflicts::ours).is_possible);
  EXPECT_EQ(db.get_database().table(city).records().used_count(), 4);
}

TEST_F(Apply_References, ATableThatIsMadeAgainHasItsRules) {
  add_person(0);
  db.write(Insert{city, Record_Id(2)});
  db.write(Insert{person, Record_Id(1)});
  db.write(Update<Record_Id>{person, Record_Id(1), home, Record_Id(2)});
  const Offset before = checkpoint();
  db.write(Drop_Field{person, home});
  db.write(Drop_Table{person});
  const std::vector<Change> table = net_changes(file, checkpoint(), before, {});
  const Database& content = db.get_database();
  db.write(Delete{city, Record_Id(1)});
  const Change_Conflict found = conflict(table, Conflicts::refuse);
  EXPECT_EQ(found.kind, Change_Conflict::Kind::target_missing);
  EXPECT_EQ(found.table, "person");
  EXPECT_EQ(found.record, Record_Id(0));
  EXPECT_EQ(found.field, "home");
  EXPECT_EQ(found.name, "city");
  EXPECT_EQ(found.other, Record_Id(1));
  EXPECT_TRUE(apply_changes(db, table, Conflicts::ours).is_possible);
  const Table& again = *content.find_table(Table_Id(3));
  EXPECT_FALSE(again.is_used(Record_Id(0)));
  EXPECT_EQ(again.column<Record_Id>(home).get(1), Record_Id(2));
}

TEST_F(Apply_References, AFieldThatIsMadeAgainHasItsRule) {
  add_person(0);
  const Offset before = checkpoint();
  db.write(Drop_Field{person, home});
  const std::vector<Change> back = net_changes(file, checkpoint(), before, {});
  db.write(Delete{city, Record_Id(1)});
  EXPECT_EQ(conflict(back, Conflicts::refuse).kind, Change_Conflict::Kind::target_missing);
  EXPECT_TRUE(apply_changes(db, back, Conflicts::ours).is_possible);
  const Table& table = db.get_database().table(person);
  EXPECT_TRUE(table.column<Record_Id>(Field_Id(2)).get(0).is_null());
}

// ---- stories of cities

TEST_F(Apply, TakesBackInsertionsUpdatesAndDeletions) {
  insert(3, "Pisa", 4);
  set(0, 5);
  set(0, "Bergen");
  erase(1);
  expect_undone(checkpoint());
}

TEST_F(Apply, WhatIsTakenBackTwiceIsThereAgain) {
  insert(3, "Pisa", 4);
  set(0, 5);
  erase(1);
  const Offset end = checkpoint();
  const Content changed = content();
  expect_undone(end);
  const Offset undone = checkpoint();
  EXPECT_TRUE(apply_changes(db, net_changes(file, undone, end)).is_possible);
  EXPECT_EQ(content(), changed);
}

TEST_F(Apply, OtherRecordsAndFieldsMayHaveChangedSince) {
  set(0, 5);
  erase(1);
  const Offset end = checkpoint();
  set(0, "Bergen");
  set(2, 9);
  insert(7, "Pisa", 4);
  EXPECT_TRUE(undo(end).is_possible);
  content_["city"]["0.name"] = "\"Bergen\"";
  content_["city"]["2.size"] = "9";
  content_["city"]["7"] = "";
  content_["city"]["7.name"] = "\"Pisa\"";
  content_["city"]["7.size"] = "4";
  EXPECT_EQ(content(), content_);
}

TEST_F(Apply, AValueThatHasChangedSinceIsAConflict) {
  set(0, 5);
  set(1, 6);
  const Offset end = checkpoint();
  set(0, 7);
  const auto conflicts = refused(end);
  ASSERT_EQ(conflicts.size(), 1);
  EXPECT_EQ(conflicts[0].kind, Kind::value_changed);
  EXPECT_EQ(conflicts[0].table, "city");
  EXPECT_EQ(conflicts[0].record, Record_Id(0));
  EXPECT_EQ(conflicts[0].field, "size");
  EXPECT_EQ(text_of(conflicts[0].expected[0]), "5");
  EXPECT_EQ(text_of(conflicts[0].found[0]), "7");
  EXPECT_EQ(text_of(conflicts[0].wanted[0]), "1");
}

TEST_F(Apply, OursKeepsThePresentValueAndWritesTheRest) {
  set(0, 5);
  set(1, 6);
  const Offset end = checkpoint();
  set(0, 7);
  content_["city"]["0.size"] = "7";
  expect_undone(end, Conflicts::ours);
}

TEST_F(Apply, TheirsWritesTheOldValueAllTheSame) {
  set(0, 5);
  set(1, 6);
  const Offset end = checkpoint();
  set(0, 7);
  expect_undone(end, Conflicts::theirs);
}

TEST_F(Apply, WhatIsAsItShouldBeIsNoConflict) {
  set(0, 5);
  insert(3, "Pisa", 4);
  erase(1);
  const Offset end = checkpoint();
  set(0, 1);
  erase(3);
  insert(1, "Lima", 2);
  const Offset before = checkpoint();
  const Plan plan = undo(end);
  EXPECT_TRUE(plan.is_possible);
  EXPECT_TRUE(plan.changes.empty());
  EXPECT_EQ(db.get_journal().get_position(), before);
}

TEST_F(Apply, AnInsertedRecordIsDeletedOnlyAsItWas) {
  insert(3, "Pisa", 4);
  const Offset end = checkpoint();
  set(3, 5);
  EXPECT_EQ(refused(end).at(0).kind, Kind::value_changed);
  const Content changed = content();
  EXPECT_TRUE(undo(end, Conflicts::ours).is_possible);
  EXPECT_EQ(content(), changed);
  expect_undone(end, Conflicts::theirs);
}

TEST_F(Apply, AFieldThatWasAddedSinceMustHaveItsDefault) {
  insert(3, "Pisa", 4);
  const Offset end = checkpoint();
  db.write(Add_Field{city, "x", {Type_Code::int8, {}}});
  EXPECT_TRUE(plan_changes(db.get_database(), net_changes(file, end, start_)).is_possible);
  db.write(Update<std::int8_t>{city, Record_Id(3), Field_Id(3), std::int8_t{1}});
  EXPECT_EQ(refused(end).at(0).field, "x");
}

TEST_F(Apply, AnIdThatIsInUseAgainIsAConflict) {
  erase(1);
  const Offset end = checkpoint();
  insert(1, "Pisa", 4);
  EXPECT_EQ(refused(end).at(0).kind, Kind::record_present);
  expect_undone(end, Conflicts::theirs);
}

TEST_F(Apply, ARecordThatIsGoneCannotBeUpdated) {
  set(0, 5);
  set(1, 6);
  const Offset end = checkpoint();
  erase(0);
  EXPECT_EQ(refused(end).at(0).kind, Kind::record_missing);
  EXPECT_FALSE(undo(end, Conflicts::theirs).is_possible);
  EXPECT_TRUE(undo(end, Conflicts::ours).is_possible);
  EXPECT_EQ(content()["city"]["1.size"], "2");
  EXPECT_FALSE(content()["city"].contains("0"));
}

TEST_F(Apply, ATakenKeyIsAConflict) {
  erase(1);
  set(0, 9);
  const Offset end = checkpoint();
  insert(5, "Lima", 7);
  const auto conflicts = refused(end);
  ASSERT_EQ(conflicts.size(), 1);
  EXPECT_EQ(conflicts[0].kind, Kind::key_taken);
  EXPECT_EQ(conflicts[0].record, Record_Id(1));
  EXPECT_EQ(conflicts[0].other, Record_Id(5));
  EXPECT_EQ(conflicts[0].name, "by_name");
  EXPECT_FALSE(undo(end, Conflicts::theirs).is_possible);
  EXPECT_TRUE(undo(end, Conflicts::ours).is_possible);
  EXPECT_EQ(content()["city"]["0.size"], "1");
  EXPECT_FALSE(content()["city"].contains("1"));
}

TEST_F(Apply, KeysThatWereExchangedAreExchangedBack) {
  set(0, "x");
  set(1, "Oslo");
  set(2, "Lima");
  set(0, "Rome");
  expect_undone(checkpoint());
}

TEST_F(Apply, AKeyMovesFromADeletedRecordToANewOne) {
  erase(1);
  insert(4, "Lima", 8);
  set(0, "Bergen");
  insert(5, "Oslo", 9);
  expect_undone(checkpoint());
}

TEST_F(Apply, VectorsAreVectors) {
  db.write(Insert_Vector{city, Record_Id(3), 1000});
  const Offset end = checkpoint();
  const Plan plan = undo(end);
  ASSERT_EQ(plan.changes.size(), 1);
  EXPECT_EQ(plan.changes[0].size, 1000);
  EXPECT_LT(checkpoint() - end, 50);
  EXPECT_EQ(content(), content_);
}

TEST_F(Apply, OneOfManyRecordsThatHasChangedIsFound) {
  constexpr index_t first = 3, rows = 10'000;
  std::vector<std::int32_t> numbers(rows);
  for (std::size_t i = 4096; i < numbers.size(); ++i) numbers[i] = static_cast<std::int32_t>(i);
  db.write(Insert_Vector{city, Record_Id(first), rows});
  db.write_vector<std::int32_t>(city, Record_Id(first), size, numbers);
  set(first + 7000, "Pisa");
  const Offset end = checkpoint();
  for (const index_t record : {first, first + 4095, first + 4096, first + 7000, first + rows - 1}) {
    const std::int32_t number = numbers[static_cast<std::size_t>(record - first)];
    set(record, number + 1);
    const auto conflicts = refused(end);
    ASSERT_EQ(conflicts.size(), 1);
    EXPECT_EQ(conflicts[0].record, Record_Id(record));
    EXPECT_EQ(conflicts[0].field, "size");
    set(record, number);
  }
  set(first + 7000, "Bonn");
  EXPECT_EQ(refused(end).size(), 1);
  set(first + 7000, "Pisa");
  expect_undone(end);
}

// ---- tables and fields --------------------------------------------------------------------------

TEST_F(Apply, NewTablesAndFieldsAreDropped) {
  db.write(Add_Field{city, "x", {Type_Code::int8, {}}});
  db.write(Update<std::int8_t>{city, Record_Id(0), Field_Id(3), std::int8_t{1}});
  db.write(Create_Table{"person"});
  db.write(Add_Field{Table_Id(2), "home", {Type_Code::reference, city}});
  db.write(Insert{Table_Id(2), Record_Id(0)});
  db.write(Update<Record_Id>{Table_Id(2), Record_Id(0), Field_Id(1), Record_Id(1)});
  expect_undone(checkpoint());
}

TEST_F(Apply, NewTablesAndFieldsThatWereWrittenToSinceAreConflicts) {
  db.write(Add_Field{city, "x", {Type_Code::int8, {}}});
  db.write(Create_Table{"person"});
  const Offset end = checkpoint();
  db.write(Update<std::int8_t>{city, Record_Id(2), Field_Id(3), std::int8_t{1}});
  db.write(Insert{Table_Id(2), Record_Id(0)});
  const auto conflicts = refused(end);
  ASSERT_EQ(conflicts.size(), 2);
  EXPECT_EQ(conflicts[0].kind, Kind::table_changed);
  EXPECT_EQ(conflicts[1].kind, Kind::field_changed);
  expect_undone(end, Conflicts::theirs);
}

TEST_F(Apply, WhatAnIndexNeedsIsNotDropped) {
  Memory_File other;
  Writable_Database indexed(other, {}, Deleted_Values::reset, {{"i", city, {name}, false, ""}});
  indexed.write(Create_Table{"city"});
  indexed.hard_checkpoint();
  const Offset before = indexed.get_journal().get_position();
  indexed.write(Add_Field{city, "name", {Type_Code::string, {}}});
  indexed.hard_checkpoint();
  const auto changes = net_changes(other, indexed.get_journal().get_position(), before);
  const Plan plan = apply_changes(indexed, changes, Conflicts::theirs);
  EXPECT_FALSE(plan.is_possible);
  EXPECT_EQ(plan.conflicts.at(0).kind, Kind::needed);
}

TEST_F(Apply, DroppedTablesAndFieldsAreMadeAgain) {
  db.write(Create_Table{"person"});
  const Table_Id person(2);
  db.write(Add_Field{person, "name", {Type_Code::string, {}}});
  db.write(Add_Field{person, "boss", {Type_Code::reference, person}});
  db.write(Insert{person, Record_Id(4)});
  db.write(Update<std::string_view>{person, Record_Id(4), Field_Id(1), "Ada"});
  start_ = checkpoint();
  content_ = content();
  db.write(Drop_Table{person});
  db.write(Drop_Field{city, size});
  expect_undone(checkpoint());
  const Table* const again = std::as_const(db).get_database().find_table("person");
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->id(), Table_Id(3));
  EXPECT_EQ(again->find_field(Field_Id(2))->column->type().referenced, Table_Id(3));
}

TEST_F(Apply, ADroppedFieldIsMadeAgainWithItsRecords) {
  erase(1);
  db.write(Drop_Field{city, size});
  db.write(Add_Field{city, "country", {Type_Code::string, {}}});
  db.write(Insert{city, Record_Id(5)});
  const Plan plan = undo(checkpoint());
  EXPECT_TRUE(plan.is_possible);
  EXPECT_EQ(content(), content_);
  const auto updated =
      std::find_if(plan.changes.begin(), plan.changes.end(),
                   [](const Change& change) { return change.kind == Change::Kind::updated; });
  ASSERT_NE(updated, plan.changes.end());
  EXPECT_EQ(updated->field_name(updated->fields.front()), "size");
}

TEST_F(Apply, AFieldThatReferredToADroppedTableDoesSoAgain) {
  const Table_Id country(2), town(3);
  for (const char* table : {"country", "town"}) db.write(Create_Table{table});
  db.write(Add_Field{town, "in", {Type_Code::reference, country}});
  db.write(Insert{town, Record_Id(0)});
  db.write(Update<Record_Id>{town, Record_Id(0), Field_Id(1), Record_Id(7)});
  db.write(Drop_Table{country});
  start_ = checkpoint();
  content_ = content();
  db.write(Drop_Field{town, Field_Id(1)});
  expect_undone(checkpoint());
  start_ = checkpoint();
  db.write(Drop_Table{town});
  expect_undone(checkpoint());
}

TEST_F(Apply, AFieldWhoseTableIsGoneSinceIsOneConflict) {
  const Table_Id country(2), town(3);
  for (const char* table : {"country", "town"}) db.write(Create_Table{table});
  db.write(Add_Field{town, "in", {Type_Code::reference, country}});
  db.write(Insert{town, Record_Id(0)});
  db.write(Update<Record_Id>{town, Record_Id(0), Field_Id(1), Record_Id(7)});
  start_ = checkpoint();
  db.write(Drop_Field{town, Field_Id(1)});
  const Offset end = checkpoint();
  db.write(Drop_Table{country});
  const auto conflicts = refused(end);
  ASSERT_EQ(conflicts.size(), 1);
  EXPECT_EQ(conflicts[0].kind, Kind::table_missing);
  EXPECT_EQ(conflicts[0].table, "town");
  EXPECT_EQ(conflicts[0].field, "in");
  EXPECT_EQ(conflicts[0].name, "country");
}

TEST_F(Apply, NamesThatWereExchangedAreExchangedBack) {
  db.write(Create_Table{"town"});
  start_ = checkpoint();
  content_ = content();
  db.write(Rename_Table{city, "x"});
  db.write(Rename_Table{Table_Id(2), "city"});
  db.write(Rename_Table{city, "town"});
  db.write(Rename_Field{city, name, "x"});
  db.write(Rename_Field{city, size, "name"});
  db.write(Rename_Field{city, name, "size"});
  expect_undone(checkpoint());
}

TEST_F(Apply, ANameThatHasChangedSinceOrIsTakenIsAConflict) {
  db.write(Rename_Table{city, "town"});
  db.write(Rename_Field{city, size, "people"});
  const Offset end = checkpoint();
  db.write(Create_Table{"city"});
  db.write(Rename_Field{city, size, "souls"});
  const auto conflicts = refused(end);
  ASSERT_EQ(conflicts.size(), 2);
  EXPECT_EQ(conflicts[0].kind, Kind::name_taken);
  EXPECT_EQ(conflicts[1].kind, Kind::name_changed);
  EXPECT_EQ(conflicts[1].name, "souls");
  EXPECT_FALSE(undo(end, Conflicts::theirs).is_possible);
  const Content changed = content();
  EXPECT_TRUE(undo(end, Conflicts::ours).is_possible);
  EXPECT_EQ(content(), changed);
}

TEST_F(Apply, AFieldThatStaysKeepsItsName) {
  db.write(Rename_Field{city, size, "people"});
  db.write(Add_Field{city, "size", {Type_Code::int32, {}}});
  const Offset end = checkpoint();
  db.write(Update<std::int32_t>{city, Record_Id(0), Field_Id(3), 9});
  const Content changed = content();
  const auto conflicts = refused(end);
  ASSERT_EQ(conflicts.size(), 2);
  EXPECT_EQ(conflicts[0].kind, Kind::field_changed);
  EXPECT_EQ(conflicts[1].kind, Kind::name_taken);
  EXPECT_EQ(conflicts[1].field, "people");
  EXPECT_TRUE(undo(end, Conflicts::ours).is_possible);
  EXPECT_EQ(content(), changed);
}

TEST_F(Apply, ANameThatStaysIsInTheWayOfOthers) {
  db.write(Create_Table{"b"});
  db.write(Create_Table{"c"});
  for (const char* text : {"b", "c"}) db.write(Add_Field{Table_Id(2), text, {Type_Code::int8, {}}});
  start_ = checkpoint();
  db.write(Rename_Table{Table_Id(2), "a"});
  db.write(Rename_Table{Table_Id(3), "b"});
  db.write(Rename_Field{Table_Id(2), Field_Id(1), "a"});
  db.write(Rename_Field{Table_Id(2), Field_Id(2), "b"});
  const Offset end = checkpoint();
  db.write(Create_Table{"c"});
  db.write(Add_Field{Table_Id(2), "c", {Type_Code::int8, {}}});
  const Content changed = content();
  const auto conflicts = refused(end);
  ASSERT_EQ(conflicts.size(), 4);
  EXPECT_EQ(conflicts[0].table, "b");
  EXPECT_EQ(conflicts[0].name, "c");
  EXPECT_EQ(conflicts[1].table, "a");
  EXPECT_EQ(conflicts[1].name, "b");
  EXPECT_EQ(conflicts[2].field, "b");
  EXPECT_EQ(conflicts[3].field, "a");
  EXPECT_TRUE(undo(end, Conflicts::ours).is_possible);
  EXPECT_EQ(content(), changed);
}

TEST_F(Apply, WhatWasDroppedSinceIsAConflict) {
  set(0, 5);
  erase(1);
  const Offset end = checkpoint();
  db.write(Drop_Field{city, size});
  EXPECT_EQ(refused(end).at(0).kind, Kind::field_missing);
  EXPECT_TRUE(undo(end, Conflicts::ours).is_possible);
  EXPECT_EQ(content()["city"]["1.name"], "\"Lima\"");
}

// ---- random changes -----------------------------------------------------------------------------

TEST(Apply_To_Anything, UndoGivesTheStateBeforeAndRedoTheStateAfter) {
  for (std::uint64_t seed = testing::first_seed(); seed < testing::first_seed() + 60; ++seed) {
    SCOPED_TRACE("JOEDB_TEST_SEED=" + std::to_string(seed));
    Random random(seed);
    Memory_File file;
    const bool has_indexes = random.flip();
    Writable_Database db(
        file, {}, Deleted_Values::reset,
        has_indexes ? Random_Changes::indexes(random) : std::vector<Index_Definition>());
    Random_Changes changes(random);
    const Change_Options options;
    const auto position = [&] {
      db.hard_checkpoint();
      return db.get_journal().get_position();
    };
    const auto content = [&] { return content_of(std::as_const(db).get_database()); };
    for (int step = 0; step < 6; ++step) {
      for (std::size_t i = 0, n = random.below(40); i < n; ++i) changes.change(db);
      const Content before = content();
      const Offset start = position();
      for (std::size_t i = 0, n = random.below(20); i < n; ++i) changes.change(db);
      const Content after = content();
      const Offset end = position();

      // With indexes, an undo can conflict. An index may need an added field. Records that had no
      // values, and so were in no index, may get equal keys.
      const auto expect_possible = [&](const Plan& plan) {
        EXPECT_TRUE(plan.is_possible || has_indexes);
        expect_names(plan);
        for (const Change_Conflict& conflict : plan.conflicts)
          EXPECT_TRUE(conflict.kind == Kind::needed || conflict.kind == Kind::key_taken)
              << static_cast<int>(conflict.kind);
        return plan.is_possible;
      };
      if (!expect_possible(apply_changes(db, net_changes(file, end, start, options)))) continue;
      EXPECT_EQ(content(), before);
      const Offset undone = position();
      if (!expect_possible(apply_changes(db, net_changes(file, undone, end, options)))) continue;
      EXPECT_EQ(content(), after);
      ASSERT_FALSE(HasFailure());
    }
    position();
  }
}

// Undo after later changes: each value must be the current or the old one, and values that have
// changed since must not be overwritten.
TEST(Apply_To_Anything, NothingThatHasChangedSinceIsOverwritten) {
  for (std::uint64_t seed = testing::first_seed(); seed < testing::first_seed() + 60; ++seed) {
    SCOPED_TRACE("JOEDB_TEST_SEED=" + std::to_string(seed));
    Random random(seed);
    Memory_File file;
    Writable_Database db(file, {}, Deleted_Values::reset);
    Random_Changes changes(random);
    const Change_Options options;
    const auto position = [&] {
      db.hard_checkpoint();
      return db.get_journal().get_position();
    };
    const auto content = [&] { return content_of(std::as_const(db).get_database()); };
    for (std::size_t i = 0, n = random.below(60); i < n; ++i) changes.change(db);
    const std::string schema = std::as_const(db).get_database().schema_entries();
    Content states[3];  // before the changes, after them, and now
    Offset positions[3];
    for (int i = 0; i < 3; ++i) {
      for (std::size_t n = random.below(15); n > 0; --n) changes.change(db);
      states[i] = content();
      positions[i] = position();
    }
    const auto net = net_changes(file, positions[1], positions[0], options);
    const Conflicts mode = random.flip() ? Conflicts::refuse : Conflicts::ours;
    const Plan plan = apply_changes(db, net, mode);
    EXPECT_EQ(plan.is_possible, mode == Conflicts::ours || plan.conflict_count == 0);
    const Content result = content();
    position();
    if (!plan.is_possible) {
      EXPECT_EQ(result, states[2]);
      continue;
    }
    if (std::any_of(net.begin(), net.end(),
                    [](const Change& change) { return !change.is_of_records(); }))
      continue;  // names may have changed
    for (const auto& [table, values] : states[2])
      for (const auto& [key, value] : values) {
        if (!states[1].contains(table)) continue;
        const auto after = states[1].at(table).find(key);
        if (after != states[1].at(table).end() && after->second == value) continue;
        const auto found = result.at(table).find(key);
        // A value that was written since must be unchanged.
        if (std::as_const(db).get_database().schema_entries() == schema) {
          ASSERT_NE(found, result.at(table).end()) << table << ' ' << key;
          EXPECT_EQ(found->second, value) << table << ' ' << key;
        }
      }
    ASSERT_FALSE(HasFailure());
  }
}

}  // namespace
}  // namespace joedb::apply_test
