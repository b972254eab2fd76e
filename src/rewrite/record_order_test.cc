#include "rewrite/record_order.h"

#include <gtest/gtest.h>

#include "joedb/io/memory_file.h"
#include "joedb/table/load.h"
#include "joedb/table/writable_database.h"
#include "support/exact_state.h"

namespace joedb::record_order_test {
namespace {

using testing::Random;

constexpr Table_Id table{1};

// Writes the ids to a new journal, and loads this journal into `written`. Returns its size.
Offset write_again(const Record_Ids& records, Database& written) {
  Memory_File file;
  {
    Writable_Journal journal(file);
    journal.append(Create_Table{"t"});
    Record_Order(table, records).write(journal);
    journal.soft_checkpoint();
  }
  Readonly_Journal journal(file);
  load(written, journal);
  return journal.get_checkpoint();
}

void change(Random& random, Writable_Database& db) {
  const Record_Ids& records = db.get_database().find_table(table)->records();
  const auto any = [&](index_t limit) {
    return static_cast<index_t>(random.below(static_cast<std::size_t>(limit)));
  };
  const Record_Id record(any(records.size() + 8));
  try {
    switch (random.below(6)) {
      case 0:
        return db.write(Insert{table, record});
      case 1:
        return db.write(Insert{table, Record_Id(records.next_free())});
      case 2:
        return db.write(Insert_Vector{table, record, any(6)});
      case 3:
        return db.write(Delete_Vector{table, record, any(6)});
      default:
        return db.write(Delete{table, record});
    }
  } catch (const Data_Error&) {
  }
}

TEST(Record_Order, MakesTheSameOrderOfUsedAndFreeIds) {
  for (std::uint64_t seed = testing::first_seed(); seed < testing::first_seed() + 2000; ++seed) {
    SCOPED_TRACE("JOEDB_TEST_SEED=" + std::to_string(seed));
    Random random(seed);
    Memory_File file;
    Writable_Database db(file);
    db.write(Create_Table{"t"});
    for (std::size_t n = random.below(30); n > 0; --n) change(random, db);
    const Record_Ids& records = db.get_database().find_table(table)->records();
    Database written;
    write_again(records, written);
    const std::string expected = testing::exact_state(db.get_database(), file);
    ASSERT_EQ(testing::exact_state(written, file), expected);
    db.soft_checkpoint();
  }
}

TEST(Record_Order, NeedsFewBytesForManySkippedIds) {
  Database database;
  database(Create_Table{"t"});
  database(Insert_Vector{table, Record_Id(0), 6});
  database(Delete{table, Record_Id(3)});
  database(Delete{table, Record_Id(1)});
  database(Insert{table, Record_Id(500'000)});
  database(Insert_Vector{table, Record_Id(500'001), 300'000});
  database(Delete_Vector{table, Record_Id(600'000), 10'000});
  Database written;
  EXPECT_LT(write_again(database.find_table(table)->records(), written), 150);
  Memory_File file;
  EXPECT_EQ(testing::exact_state(written, file), testing::exact_state(database, file));
}

TEST(Record_Order, NeedsOneByteForARecordThatIsInsertedLate) {
  Database database;
  database(Create_Table{"t"});
  database(Insert_Vector{table, Record_Id(0), 10});
  database(Delete{table, Record_Id(5)});
  database(Insert{table, Record_Id(5)});
  database(Insert_Vector{table, Record_Id(10), 1000});
  Database written;
  EXPECT_LT(write_again(database.find_table(table)->records(), written), 1100);
}

}  // namespace
}  // namespace joedb::record_order_test
