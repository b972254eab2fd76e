#include "joedb/history/undo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "joedb/base/log.h"
#include "lab/sim_file.h"
#include "testing/city_test.h"
#include "testing/error_of.h"

namespace joedb {
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
      "the transaction has changed tables or fields, which this program needs");
  Memory_File empty;
  Writable_Database other(empty);
  other.soft_checkpoint();
  EXPECT_EQ(error_of([&] { (void)undo_transaction(other); }),
            "has no transactions that have changed anything");
}

// ---- crashes ------------------------------------------------------------------------------------

const Table_Id city(1);
const Field_Id name(1);
constexpr index_t rows = 600;

std::string start_of_the_story() {
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

// How many records there are, and how many have the first name.
using Counts = std::pair<index_t, index_t>;
Counts counts_of(Database& database) {
  const Table& table = database.table(city);
  index_t named = 0;
  for (index_t id = 0; id < rows; ++id)
    if (table.is_used(Record_Id(id)) && table.column<std::string_view>(name).get(id).size() > 1)
      ++named;
  return {table.records().used_count(), named};
}
Counts counts_on(const std::string& content) {
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
  testing::Sim_Disk disk(start_of_the_story());
  EXPECT_EQ(counts_on(disk.content()), before);
  {
    testing::Sim_File file(disk);
    Writable_Database db(file);
    undo_and_commit(db);
  }
  for (std::size_t count = 0; count <= disk.io_count(); ++count)
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const Counts found = counts_on(disk.at(count).power_cut(seed));
      ASSERT_TRUE(found == before || found == after) << found.first << ", " << found.second;
    }
  EXPECT_EQ(counts_on(disk.durable()), after);
}

TEST(Undo_Crashes, AfterAnErrorNothingIsTakenBackAndItCanBeTriedAgain) {
  const std::string start = start_of_the_story();
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
          } catch (const Exception&) {  // after a failed write nothing can be written
          }
        }
      }
      const bool has_failed = disk.has_failed();
      disk.remove_fault();
      ASSERT_TRUE(has_failed || !has_thrown);
      const Counts found = counts_on(disk.content());
      ASSERT_TRUE(found == before || found == after);
      if (!has_failed) {
        ASSERT_EQ(found, after);
        break;
      }
      testing::Sim_File file(disk);
      Writable_Database db(file, Recovery::keep);
      if (counts_of(db.get_database()) == before) undo_and_commit(db);
      ASSERT_EQ(counts_on(disk.content()), after);
    }
}

}  // namespace
}  // namespace joedb
