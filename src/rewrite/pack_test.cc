#include "rewrite/pack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/journal_of.h"
#include "support/property.h"
#include "text/dump.h"

namespace joedb::pack_test {
namespace {

using testing::Any_Entry;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Journal_Of;
using testing::Vector_Update;

constexpr Table_Id table{1};

std::vector<Any_Entry> content(const Database& database) {
  testing::Entry_Keeper keeper;
  dump_schema(database, keeper);
  dump_data(database, keeper);
  return keeper.entries();
}

// Packs the database, and returns the entries of the packed journal.
std::vector<Any_Entry> packed(const Database& database, Memory_File& file) {
  {
    Writable_Journal journal(file);
    pack(database, journal);
    journal.soft_checkpoint();
  }
  Readonly_Journal journal(file);
  testing::Entry_Keeper keeper;
  journal.replay(keeper);
  return keeper.entries();
}

std::vector<Any_Entry> packed(const std::vector<Any_Entry>& entries) {
  Memory_File file;
  return packed(Journal_Of(entries).database(), file);
}

TEST(Pack, KeepsTheSchemaAsItWasMade) {
  const std::vector<Any_Entry> schema{Create_Table{"a"},
                                      Create_Table{"b"},
                                      Add_Field{table, "x", {Type_Code::int32, {}}},
                                      Custom{"up"},
                                      Add_Field{table, "y", {Type_Code::reference, Table_Id(2)}},
                                      Rename_Table{table, "c"},
                                      Rename_Field{table, Field_Id(2), "z"},
                                      Drop_Field{table, Field_Id(1)},
                                      Drop_Table{Table_Id(2)}};
  EXPECT_EQ(packed(schema), schema);
}

TEST(Pack, WritesOneRecordByFieldsAndMoreAsVectors) {
  const std::vector<Any_Entry> schema{Create_Table{"a"},
                                      Add_Field{table, "x", {Type_Code::int32, {}}},
                                      Add_Field{table, "s", {Type_Code::string, {}}}};
  std::vector<Any_Entry> entries = schema;
  entries.insert(entries.end(), {Comment{"left out"}, Timestamp{5}, Valid_Data{},
                                 Insert_Vector{table, Record_Id(0), 4},
                                 Update<std::int32_t>{table, Record_Id(0), Field_Id(1), 1},
                                 Update<std::int32_t>{table, Record_Id(2), Field_Id(1), 2},
                                 Update<std::string_view>{table, Record_Id(3), Field_Id(2), "s"},
                                 Delete{table, Record_Id(1)}});
  std::vector<Any_Entry> expected = schema;
  expected.insert(
      expected.end(),
      {Insert{table, Record_Id(0)}, Update<std::int32_t>{table, Record_Id(0), Field_Id(1), 1},
       Update<std::string_view>{table, Record_Id(0), Field_Id(2), ""},
       Insert_Vector{table, Record_Id(2), 2},
       Vector_Update<std::int32_t>{table, Record_Id(2), Field_Id(1), {2, 0}},
       Vector_Update<std::string_view>{table, Record_Id(2), Field_Id(2), {"", "s"}}});
  EXPECT_EQ(packed(entries), expected);
}

TEST(Pack, RefusesWhatNobodyCouldRead) {
  // The table is valid in a long journal, but has too many ids for a short one such as the packed
  // journal.
  Database database = Journal_Of({Create_Table{"a"}}).database();
  database.remove_limits();
  database.note_journal_size(30'000'000);
  database(Insert{table, Record_Id(20'000'000)});
  Memory_File file;
  Writable_Journal journal(file);
  try {
    pack(database, journal);
    FAIL() << "packed";
  } catch (const Data_Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("table a has records up to 20000000"));
  }
  journal.rollback();
}

// Applies random valid entries of all kinds that change records.
void change_at_random(Database& database) {
  const auto number = [](int limit) { return *rc::gen::inRange(0, limit); };
  const int changes = number(40);
  for (int i = 0; i < changes; ++i) {
    const Record_Id record(number(20));
    try {
      switch (number(6)) {
        case 0:
          database(Insert{table, record});
          break;
        case 1:
          database(Insert_Vector{table, record, number(8)});
          break;
        case 2:
          database(Delete{table, record});
          break;
        case 3:
          database(Update<std::string_view>{table, record, Field_Id(1),
                                            *rc::gen::arbitrary<std::string>()});
          break;
        case 4:
          database(Update<Record_Id>{table, record, Field_Id(2), Record_Id(number(30) - 1)});
          break;
        case 5:
          database(Update<double>{table, record, Field_Id(3), number(1000) / 8.0});
          break;
      }
    } catch (const Data_Error&) {  // the entry was invalid
    }
  }
}

TEST(Pack, KeepsEveryRecord) {
  testing::expect_property([] {
    Database database =
        Journal_Of({Create_Table{"a"}, Add_Field{table, "s", {Type_Code::string, {}}},
                    Add_Field{table, "r", {Type_Code::reference, table}},
                    Add_Field{table, "d", {Type_Code::float64, {}}},
                    Add_Field{table, "b", {Type_Code::boolean, {}}},
                    Add_Field{table, "p", {Type_Code::blob, {}}}})
            .database();
    change_at_random(database);
    Memory_File file;
    packed(database, file);
    Readonly_Journal journal(file);
    Database reopened;
    journal.replay(reopened);
    RC_ASSERT(content(reopened) == content(database));
  });
}

}  // namespace
}  // namespace joedb::pack_test
