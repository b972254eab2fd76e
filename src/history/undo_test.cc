#include "joedb/history/undo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "joedb/base/log.h"
#include "kernel/table/declaration.h"
#include "sim/lab/sim_file.h"
#include "support/city_test.h"
#include "support/error_of.h"

namespace joedb::undo_test {
namespace {

using testing::error_of;

class Undo : public testing::City_Test {
 protected:
  std::int32_t size_of(index_t id) {
    return std::as_const(db).get_database().table(city).column<std::int32_t>(size).get(id);
  }
  void undo(Offset position = 0) {
    EXPECT_TRUE(undo_transaction(db, {.position = position}).is_possible);
  }
};

TEST_F(Undo, TakesTheLastTransactionOrAGivenOneBack) {
  db.write(Valid_Data{});
  const Offset first = checkpoint();
  set(0, 7);
  db.write(Valid_Data{});
  const Offset second = checkpoint();
  set(1, 8);
  db.write(Valid_Data{});
  checkpoint();
  undo();
  EXPECT_EQ(size_of(1), 2);
  undo(second);
  EXPECT_EQ(size_of(0), 1);
  db.write(Valid_Data{});
  checkpoint();
  undo();
  EXPECT_EQ(size_of(0), 7) << "an undo is a transaction, too";
  EXPECT_EQ(size_of(1), 8);
  EXPECT_FALSE(undo_transaction(db, {.position = first}).is_possible);
}

TEST_F(Undo, NeedsATransactionThatHasChangedSomething) {
  db.write(Valid_Data{});
  const Offset end = checkpoint();
  db.write(Comment{"nothing"});
  db.write(Valid_Data{});
  const Offset nothing = checkpoint();
  EXPECT_EQ(error_of([&] { undo(nothing); }), "the transaction at " + std::to_string(nothing) +
                                                  " has changed no records, tables or fields");
  EXPECT_EQ(error_of([&] { undo(nothing + 1); }),
            "no transaction has the position " + std::to_string(nothing + 1));
  EXPECT_EQ(
      error_of([&] { (void)undo_transaction(db, {.position = end, .may_change_schema = false}); }),
      "the transaction at " + std::to_string(end) +
          " has changed tables or fields, which this program needs: it cannot be undone");
  Memory_File empty;
  Writable_Database other(empty);
  other.soft_checkpoint();
  EXPECT_EQ(error_of([&] { (void)undo_transaction(other); }),
            "has no transactions that have changed anything");
}

TEST_F(Undo, DoesNotReachPastTheDeclarationOfAnIndex) {
  db.write(Valid_Data{});
  set(0, 7);
  db.write(Valid_Data{});
  const Offset data = checkpoint();
  const auto expect_refused = [&](std::uint64_t changes) {
    db.write(Valid_Data{});
    const Offset end = checkpoint();
    const auto found = find_transaction(file, end);
    ASSERT_TRUE(found && found->has_only_index_changes());
    EXPECT_TRUE(found->comments.empty());
    EXPECT_EQ(found->tables.at(0).table, city);
    EXPECT_EQ(found->tables.at(0).schema_changes, changes);
    const std::string error = "the transaction at " + std::to_string(end) +
                              " has only declared or dropped indexes, which undo does not take "
                              "back: drop_index or create_index does";
    EXPECT_EQ(error_of([&] { undo(); }), error);
    EXPECT_EQ(error_of([&] { undo(end); }), error);
    EXPECT_FALSE(can_undo(db, {}));
    EXPECT_EQ(error_of([&] { (void)joedb::undo(db, {}); }), error);
  };
  declare_index(db, {"by_size", city, {size}, false, ""});
  expect_refused(1);
  drop_index(db, "by_size");
  declare_index(db, {"by_size", city, {name, size}, false, ""});
  expect_refused(2);
  EXPECT_EQ(size_of(0), 7);
  undo(data);
  EXPECT_EQ(size_of(0), 1);
  // Other changes of the transaction are taken back.
  db.write(Valid_Data{});
  set(0, 9);
  drop_index(db, "by_size");
  db.write(Valid_Data{});
  checkpoint();
  undo();
  EXPECT_EQ(size_of(0), 1);
}

TEST_F(Undo, RefusesWhatMayBeSeveralTransactions) {
  checkpoint();
  set(0, 7);
  const Offset last = checkpoint();
  const auto is_refused = [&](Offset position) {
    return error_of([&] { undo(position); }).find("no end of a transaction") != std::string::npos;
  };
  EXPECT_TRUE(is_refused(0));
  EXPECT_TRUE(is_refused(last));
  EXPECT_EQ(size_of(0), 7);
}

// ---- the stack ----------------------------------------------------------------------------------

class Stack : public Undo {
 protected:
  Stack() {
    db.write(Valid_Data{});
    for (std::int32_t value = 10; value < 13; ++value) write(0, value);
  }
  void write(index_t id, std::int32_t value, std::string_view author = "") {
    if (!author.empty()) {
      const std::string text = "author: " + std::string(author);
      db.write(Comment{"why"});
      db.write(Comment{text});
    }
    set(id, value);
    db.write(Valid_Data{});
  }
  static Undo_Stack_Options of(const std::string& author) {
    return {.author = author, .may_change_schema = false};
  }
  std::int32_t undone(const std::string& author = "") {
    EXPECT_TRUE(joedb::undo(db, of(author)).is_possible);
    return size_of(0);
  }
  std::int32_t redone(const std::string& author = "") {
    EXPECT_TRUE(joedb::redo(db, of(author)).is_possible);
    return size_of(0);
  }
  bool can_undo(const std::string& author = "") { return joedb::can_undo(db, of(author)); }
  bool can_redo(const std::string& author = "") { return joedb::can_redo(db, of(author)); }
};

TEST_F(Stack, GoesBackAndForth) {
  EXPECT_FALSE(can_redo());
  EXPECT_EQ(undone(), 11);
  EXPECT_EQ(undone(), 10) << "not the undo, but what was before";
  checkpoint();
  EXPECT_TRUE(can_undo());
  EXPECT_EQ(redone(), 11);
  EXPECT_EQ(undone(), 10) << "what was redone can be undone again";
  EXPECT_EQ(redone(), 11);
  EXPECT_EQ(redone(), 12);
  EXPECT_FALSE(can_redo());
  EXPECT_EQ(error_of([&] { redone(); }), "there is nothing to redo");
  EXPECT_EQ(undone(), 11);
  EXPECT_EQ(undone(), 10);
  EXPECT_EQ(undone(), 1);
  EXPECT_FALSE(can_undo()) << "tables were made there";
  EXPECT_NE(error_of([&] { undone(); }).find("tables or fields"), std::string::npos);
  for (const std::int32_t value : {10, 11, 12}) EXPECT_EQ(redone(), value);
}

TEST_F(Stack, HoldsForWhoOpensTheFileAgain) {
  EXPECT_EQ(undone(), 11);
  checkpoint();
  Memory_File copy;
  file.copy_to(copy);
  Writable_Database again(copy);
  const auto value = [&] {
    return std::as_const(again).get_database().table(city).column<std::int32_t>(size).get(0);
  };
  EXPECT_TRUE(joedb::undo(again).is_possible);
  EXPECT_EQ(value(), 10);
  EXPECT_TRUE(joedb::redo(again).is_possible);
  EXPECT_TRUE(joedb::redo(again).is_possible);
  EXPECT_EQ(value(), 12);
  EXPECT_FALSE(joedb::can_redo(again));
  again.rollback();
}

TEST_F(Stack, EndsARedoWhereSomethingElseIsWritten) {
  EXPECT_EQ(undone(), 11);
  EXPECT_TRUE(can_redo());
  write(1, 5);
  EXPECT_FALSE(can_redo());
  EXPECT_EQ(undone(), 11) << "the other record";
  EXPECT_EQ(undone(), 10);
}

TEST_F(Stack, IsOneOfAnAuthor) {
  write(1, 100, "Ann");
  write(0, 20, "Bob");
  write(1, 101, "Ann");
  write(0, 21, "Bob");
  EXPECT_FALSE(can_undo("Cy"));
  EXPECT_EQ(undone("Ann"), 21);
  EXPECT_EQ(size_of(1), 100);
  undone("Ann");
  EXPECT_EQ(size_of(1), 2);
  EXPECT_FALSE(can_undo("Ann"));
  write(0, 22, "Bob");
  redone("Ann");
  EXPECT_EQ(size_of(1), 100) << "others do not end it";
  EXPECT_EQ(undone("Bob"), 21);
  EXPECT_EQ(undone("Bob"), 20);
}

TEST_F(Stack, LeavesConflictsToTheCaller) {
  write(0, 30, "Ann");
  write(0, 31, "Bob");
  const Offset before = db.place().position;
  EXPECT_FALSE(joedb::undo(db, {.author = "Ann"}).is_possible);
  EXPECT_EQ(db.place().position, before);
  EXPECT_TRUE(joedb::undo(db, {.author = "Ann", .conflicts = Conflicts::theirs}).is_possible);
  EXPECT_EQ(size_of(0), 12);
}

TEST_F(Stack, RefusesWhatHasNoEnd) {
  set(0, 40);
  EXPECT_FALSE(can_undo());
  EXPECT_NE(error_of([&] { undone(); }).find("there are changes after the last checkpoint"),
            std::string::npos);
  EXPECT_EQ(size_of(0), 40);
  db.write(Valid_Data{});
  EXPECT_EQ(undone(), 12);
}

// ---- crashes ------------------------------------------------------------------------------------

const Table_Id city(1);
const Field_Id name(1);
constexpr index_t rows = 600;

std::string initial_content() {
  testing::Sim_Disk disk;
  testing::Sim_File file(disk);
  Writable_Database db(file);
  db.write(Create_Table{"city"});
  db.write(Add_Field{city, "name", {Type_Code::string, {}}});
  for (index_t id = 0; id < rows; ++id) {
    db.write(Insert{city, Record_Id(id)});
    db.write(Update<std::string_view>{city, Record_Id(id), name, "a name of some length"});
  }
  db.write(Valid_Data{});
  db.hard_checkpoint();
  for (index_t id = 0; id < rows; id += 2) db.write(Delete{city, Record_Id(id)});
  for (index_t id = 1; id < rows; id += 2)
    db.write(Update<std::string_view>{city, Record_Id(id), name, "x"});
  db.write(Valid_Data{});
  db.hard_checkpoint();
  return disk.content();
}

// The number of records, and the number of records that have the first name.
using Counts = std::pair<index_t, index_t>;
Counts counts_of(Database& database) {
  const Table& table = database.table(city);
  index_t named = 0;
  for (index_t id = 0; id < rows; ++id)
    if (table.is_used(Record_Id(id)) && table.column<std::string_view>(name).get(id).size() > 1)
      ++named;
  return {table.records().used_count(), named};
}
Counts counts_in(const std::string& content) {
  testing::Sim_Disk disk(content);
  testing::Sim_File file(disk);
  Writable_Database db(file, Recovery::keep);
  return counts_of(db.get_database());
}

void undo_and_commit(Writable_Database& db) {
  ASSERT_TRUE(undo_transaction(db).is_possible);
  db.write(Valid_Data{});
  db.hard_checkpoint();
}

constexpr Counts before{rows / 2, 0};
constexpr Counts after{rows, rows};

TEST(Undo_Crashes, APowerCutLeavesTheTransactionOrItsUndo) {
  testing::Sim_Disk disk(initial_content());
  EXPECT_EQ(counts_in(disk.content()), before);
  {
    testing::Sim_File file(disk);
    Writable_Database db(file);
    undo_and_commit(db);
  }
  for (std::size_t count = 0; count <= disk.io_count(); ++count)
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const Counts found = counts_in(disk.at(count).power_cut(seed));
      ASSERT_TRUE(found == before || found == after) << found.first << ", " << found.second;
    }
  EXPECT_EQ(counts_in(disk.durable()), after);
}

TEST(Undo_Crashes, AfterAnErrorNothingIsTakenBackAndItCanBeTriedAgain) {
  const std::string start = initial_content();
  using Calls = testing::Sim_Fault::Calls;
  for (const Calls calls : {Calls::writes, Calls::syncs, Calls::reads, Calls::locks})
    for (std::size_t number = 0; number < 200; ++number) {
      SCOPED_TRACE(std::to_string(static_cast<int>(calls)) + ", " + std::to_string(number));
      testing::Sim_Disk disk(start);
      bool has_thrown = false;
      {
        testing::Sim_File file(disk);
        Writable_Database db(file);
        disk.set_fault({.calls = calls, .number = disk.count(calls) + number});
        try {
          undo_and_commit(db);
        } catch (const Exception&) {
          has_thrown = true;
          try {
            db.rollback();
          } catch (const Exception&) {  // expected: after a failed write, all writes fail
          }
        }
      }
      const bool has_failed = disk.has_failed();
      disk.remove_fault();
      ASSERT_TRUE(has_failed || !has_thrown);
      const Counts found = counts_in(disk.content());
      ASSERT_TRUE(found == before || found == after);
      if (!has_failed) {
        ASSERT_EQ(found, after);
        break;
      }
      testing::Sim_File file(disk);
      Writable_Database db(file, Recovery::keep);
      if (counts_of(db.get_database()) == before) undo_and_commit(db);
      ASSERT_EQ(counts_in(disk.content()), after);
    }
}

}  // namespace
}  // namespace joedb::undo_test
