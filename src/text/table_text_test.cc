#include "joedb/text/table_text.h"

#include <gtest/gtest.h>

#include <sstream>

#include "commands/interpreter.h"
#include "joedb/io/memory_file.h"
#include "text/display_width.h"

namespace joedb {
namespace {

TEST(Display_Width, CountsColumnsOfATerminal) {
  EXPECT_EQ(display_width(U'a'), 1);
  EXPECT_EQ(display_width(U'\0'), 0);
  EXPECT_EQ(display_width(U'\u00e9'), 1);
  EXPECT_EQ(display_width(U'\u0301'), 0);      // combining accent
  EXPECT_EQ(display_width(U'\u200b'), 0);      // zero-width space
  EXPECT_EQ(display_width(U'\u65e5'), 2);      // kanji
  EXPECT_EQ(display_width(U'\u300a'), 1);      // narrow, between wide characters
  EXPECT_EQ(display_width(U'\uac00'), 2);      // hangul
  EXPECT_EQ(display_width(U'\U0001F600'), 1);  // emoji are newer than the table
  EXPECT_EQ(display_width("e\u0301\u65e5"), 3u);
}

// The text of a table after some commands.
class Table_Text : public ::testing::Test {
 protected:
  void run(std::string_view commands) { run_text(commands, database_); }

  std::string table(const Table_View& view = {}) {
    std::ostringstream out;
    write_table(out, *database_.get_database().find_table("t"), view);
    return "\n" + out.str();
  }

  std::string record(index_t id) {
    std::ostringstream out;
    write_record(out, *database_.get_database().find_table("t"),
                 id < 0 ? Record_Id() : Record_Id(id));
    return "\n" + out.str();
  }

  Memory_File file_;
  Writable_Database database_{file_};

  void TearDown() override { database_.rollback(); }
};

TEST_F(Table_Text, PutsTextsLeftAndNumbersRight) {
  run("create_table t\nadd_field t name string\nadd_field t n int32\n"
      "insert_into t 0 \"Ann\" 5\ninsert_into t 12 \"\u65e5\u672c\" -100\n");
  EXPECT_EQ(table(), R"(
--------------
   name      n
--------------
 0 "Ann"     5
12 "日本" -100
)");
}

TEST_F(Table_Text, ShowsEmptyTables) {
  run("create_table t\n");
  EXPECT_EQ(table(), "\n--\n  \n--\n");
  run("add_field t x int8\n");
  EXPECT_EQ(table(), "\n----\n   x\n----\n");
}

TEST_F(Table_Text, CutsWhatIsTooWide) {
  run("create_table t\nadd_field t s string\nadd_field t number int64\n"
      "insert_into t 0 \"abc\" 12345\ninsert_into t 1 \"abcd\" 123456\n");
  EXPECT_EQ(table({.max_column_width = 5}), R"(
-------------
  s     numb…
-------------
0 "abc" 12345
1 "abc… 1234…
)");
}

TEST_F(Table_Text, CutsBeforeAWideCharacterThatDoesNotFit) {
  run("create_table t\nadd_field t s string\ninsert_into t 0 \"\u65e5\u672c\u8a9e\"\n");
  EXPECT_EQ(table({.max_column_width = 5}), R"(
-------
  s    
-------
0 "日… 
)");
}

TEST_F(Table_Text, ShowsAPartOfTheRecords) {
  run("create_table t\nadd_field t s string\ninsert_vector t 0 20\nupdate t 3 s \"long\"\n"
      "delete_from t 5\n");
  EXPECT_EQ(table({.start = 4, .length = 3}), R"(
-----
   s 
-----
 4 ""
 6 ""
)");
  EXPECT_EQ(table({.start = 19, .length = 1000}), "\n-----\n   s \n-----\n19 \"\"\n");
  EXPECT_EQ(table({.start = -5, .length = 3}), "\n----\n   s\n----\n");
}

TEST_F(Table_Text, ShowsARecord) {
  run("create_table t\nadd_field t x int8\nadd_field t name string\n"
      "insert_into t 0\ninsert_into t 2 5 \"two\"\n");
  EXPECT_EQ(record(2), R"(
id = 2; next = -2; previous = 0
   x: 5
name: "two"
)");
}

TEST_F(Table_Text, ShowsWhatThereIsToKnowInPlaceOfARecord) {
  run("create_table t\ninsert_into t 0\ninsert_into t 2\n");
  const std::string about = "first_used: 0\nlast_used: 2\nused_count: 2\nsize: 3\ndense: 0\n";
  EXPECT_EQ(record(1), "\n1 is not used.\n" + about);
  EXPECT_EQ(record(-1), "\n" + about);
}

}  // namespace
}  // namespace joedb
