#include "kernel/table/schema_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "joedb/table/database.h"

namespace joedb::schema_text_test {
namespace {

constexpr Table_Id first{1};
constexpr Table_Id second{2};

template <class... Entries>
std::string schema(const Entries&... entries) {
  Database database;
  (database(entries), ...);
  return database.schema_entries();
}

Add_Field add(std::string_view name, Type_Code type) { return {first, name, {type, Table_Id()}}; }

std::string difference(const std::string& a, const std::string& b) {
  return schema_difference(a, "here", b, "there");
}

TEST(Schema_Text, IsTheCommandsThatMakeTheSchema) {
  EXPECT_THAT(
      schema_lines(schema(Create_Table{"person"}, Create_Table{"old"}, add("age", Type_Code::int8),
                          Add_Field{first, "boss", {Type_Code::reference, first}},
                          Rename_Table{second, "older"}, Insert{first, Record_Id(0)},
                          Rename_Field{first, Field_Id(1), "years"}, Custom{"compute"},
                          Drop_Field{first, Field_Id(1)}, Drop_Table{second})),
      ::testing::ElementsAre("create_table person", "create_table old", "add_field person age int8",
                             "add_field person boss references person", "rename_table old older",
                             "rename_field person age years", "custom compute",
                             "drop_field person years", "drop_table older"));
}

TEST(Schema_Text, ShowsTheFirstChangeThatIsDifferent) {
  const Create_Table table{"t"};
  EXPECT_EQ(difference(schema(table, add("x", Type_Code::int8), add("y", Type_Code::int8)),
                       schema(table, add("x", Type_Code::int16), add("y", Type_Code::int16))),
            "change 2 is \"add_field t x int8\" here, \"add_field t x int16\" there");
}

TEST(Schema_Text, SaysWhatIsMissing) {
  const std::string one = schema(Create_Table{"t"});
  EXPECT_EQ(difference("", one), "change 1 is missing here, \"create_table t\" there");
  EXPECT_EQ(difference(one, ""), "change 1 is \"create_table t\" here, missing there");
}

}  // namespace
}  // namespace joedb::schema_text_test
