#include "text/dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "support/file_uses.h"
#include "support/journal_of.h"
#include "text/entry_text.h"

namespace joedb {
namespace {

using testing::Any_Entry;
using ::testing::ElementsAre;
using testing::Journal_Of;

constexpr Type int32_type{Type_Code::int32, {}};

std::string schema_of(const std::vector<Any_Entry>& entries) {
  std::ostringstream out;
  Command_Writer writer(out);
  dump_schema(Journal_Of(entries).database(), writer);
  writer.flush();
  return out.str();
}

std::string dump_of(const std::vector<Any_Entry>& entries) {
  return testing::commands_of(Journal_Of(entries).database());
}

TEST(Dump, PutsAllTablesBeforeTheFields) {
  EXPECT_EQ(
      schema_of({Create_Table{"a"}, Add_Field{Table_Id(1), "x", int32_type}, Create_Table{"b"},
                 Add_Field{Table_Id(1), "y", {Type_Code::reference, Table_Id(2)}}}),
      "create_table a\ncreate_table b\n"
      "add_field a x int32\nadd_field a y references b\n");
}

TEST(Dump, NumbersTablesAndFieldsAnew) {
  const Database database =
      Journal_Of({Create_Table{"gone"}, Create_Table{"kept"},
                  Add_Field{Table_Id(2), "gone", int32_type},
                  Add_Field{Table_Id(2), "kept", int32_type}, Drop_Table{Table_Id(1)},
                  Drop_Field{Table_Id(2), Field_Id(1)}, Insert{Table_Id(2), Record_Id(0)}})
          .database();
  testing::Entry_Keeper keeper;
  dump_schema(database, keeper);
  dump_data(database, keeper);
  EXPECT_THAT(keeper.entries(),
              ElementsAre(Create_Table{"kept"}, Add_Field{Table_Id(1), "kept", int32_type},
                          Insert_Vector{Table_Id(1), Record_Id(0), 1},
                          Update<std::int32_t>{Table_Id(1), Record_Id(0), Field_Id(1), 0}));
}

TEST(Dump, HasNoTableForAReferenceToADroppedOne) {
  EXPECT_EQ(schema_of({Create_Table{"a"}, Create_Table{"b"},
                       Add_Field{Table_Id(1), "x", {Type_Code::reference, Table_Id(2)}},
                       Add_Field{Table_Id(1), "y", {Type_Code::reference, Table_Id(9)}},
                       Drop_Table{Table_Id(2)}}),
            "create_table a\nadd_field a x references __unknown_table__\n"
            "add_field a y references __unknown_table__\n");
}

// Records the sizes of vectors, and of runs of updates.
struct Size_Keeper {
  void operator()(const Insert_Vector& e) {
    sizes.push_back(e.size);
    is_in_run = false;
  }
  void operator()(const Update<bool>&) {
    if (!is_in_run) sizes.push_back(0);
    is_in_run = true;
    ++sizes.back();
  }
  template <class Entry>
  void operator()(const Entry&) {
    FAIL();
  }
  std::vector<index_t> sizes;
  bool is_in_run = false;
};

TEST(Dump, GivesValuesToAPartOfALargeTableBeforeTheNextPart) {
  Size_Keeper keeper;
  dump_data(Journal_Of({Create_Table{"a"}, Add_Field{Table_Id(1), "x", {Type_Code::boolean, {}}},
                        Insert_Vector{Table_Id(1), Record_Id(0), rows_per_part + 5}})
                .database(),
            keeper);
  EXPECT_THAT(keeper.sizes, ElementsAre(rows_per_part, rows_per_part, 5, 5));
}

TEST(Dump, GoesFieldByFieldThroughTheRunsOfRecords) {
  EXPECT_EQ(dump_of({Create_Table{"a"}, Add_Field{Table_Id(1), "x", int32_type},
                     Add_Field{Table_Id(1), "y", int32_type},
                     Insert_Vector{Table_Id(1), Record_Id(0), 4}, Delete{Table_Id(1), Record_Id(1)},
                     Update<std::int32_t>{Table_Id(1), Record_Id(3), Field_Id(1), 7}}),
            "create_table a\nadd_field a x int32\nadd_field a y int32\n"
            "insert_vector a 0 1\ninsert_vector a 2 2\n"
            "update a 0 x 0\nupdate a 2 x 0\nupdate a 3 x 7\n"
            "update a 0 y 0\nupdate a 2 y 0\nupdate a 3 y 0\n");
}

TEST(Dump, FindsEveryRun) {
  const auto runs_of = [](std::vector<index_t> erased, index_t size) {
    Record_Ids records;
    records.insert_vector(0, size);
    records.reserve_lists(size);
    for (const index_t id : erased) records.erase(id);
    std::vector<std::pair<index_t, index_t>> runs;
    for_each_run(records, [&](index_t first, index_t n) { runs.emplace_back(first, n); });
    return runs;
  };
  EXPECT_TRUE(runs_of({}, 0).empty());
  EXPECT_THAT(runs_of({}, 3), ElementsAre(std::pair(0, 3)));
  EXPECT_THAT(runs_of({0}, 3), ElementsAre(std::pair(1, 2)));
  EXPECT_THAT(runs_of({2}, 3), ElementsAre(std::pair(0, 2)));
  EXPECT_THAT(runs_of({1, 3}, 5), ElementsAre(std::pair(0, 1), std::pair(2, 1), std::pair(4, 1)));
  EXPECT_TRUE(runs_of({0, 1}, 2).empty());
}

}  // namespace
}  // namespace joedb
