#include "text/sql.h"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>

#include "commands/interpreter.h"
#include "joedb/io/memory_file.h"
#include "support/error_of.h"

namespace joedb {
namespace {

using testing::error_of;

std::string sql_of(std::string_view commands) {
  Memory_File file;
  Writable_Database database(file);
  run_text(commands, database);
  std::ostringstream out;
  write_sql(database.get_database(), out);
  database.rollback();
  return out.str();
}

TEST(Sql, WritesOneInsertForEachRecordInOneTransaction) {
  EXPECT_EQ(
      sql_of("create_table city\nadd_field city name string\nadd_field city size float64\n"
             "add_field city twin references city\nadd_field city map blob\n"
             "insert_into city 0 \"Lyon\" 1.5 2 0,0\ninsert_into city 2 \"L'Isle\" nan -1 5,6\n"
             "create_table empty\n"),
      "BEGIN TRANSACTION;\n"
      "CREATE TABLE \"city\"(\"__id\" INTEGER PRIMARY KEY, \"name\" TEXT, \"size\" REAL, "
      "\"twin\" INTEGER REFERENCES \"city\", \"map\" BLOB);\n"
      "INSERT INTO \"city\" VALUES(0,'Lyon',1.5,2,NULL);\n"
      "INSERT INTO \"city\" VALUES(2,'L''Isle',NULL,NULL,NULL);\n"
      "CREATE TABLE \"empty\"(\"__id\" INTEGER PRIMARY KEY);\n"
      "COMMIT;\n");
}

TEST(Sql, LeavesOutWhatWasDropped) {
  EXPECT_EQ(
      sql_of("create_table a\ncreate_table b\nadd_field b x int8\nadd_field b r references a\n"
             "insert_into b 0 1 -1\ndrop_field b x\ndrop_table a\n"),
      "BEGIN TRANSACTION;\n"
      "CREATE TABLE \"b\"(\"__id\" INTEGER PRIMARY KEY, \"r\" INTEGER);\n"
      "INSERT INTO \"b\" VALUES(0,NULL);\n"
      "COMMIT;\n");
}

TEST(Sql, NumbersNamesThatAreOneNameInSql) {
  EXPECT_EQ(
      sql_of("create_table Person\ncreate_table person\nadd_field person a references person\n"
             "add_field person A int8\nadd_field person a_2 int8\ncreate_table SQLite_stat\n"),
      "BEGIN TRANSACTION;\n"
      "CREATE TABLE \"Person\"(\"__id\" INTEGER PRIMARY KEY);\n"
      "CREATE TABLE \"person_2\"(\"__id\" INTEGER PRIMARY KEY, \"a\" INTEGER REFERENCES "
      "\"person_2\", \"A_3\" SMALLINT, \"a_2\" SMALLINT);\n"
      "CREATE TABLE \"_SQLite_stat\"(\"__id\" INTEGER PRIMARY KEY);\n"
      "COMMIT;\n");
}

TEST(Sql, RefusesNewNamesThatWouldChangeTheNumbersOfOthers) {
  Memory_File file;
  Writable_Database database(file);
  run_text("create_table a\ncreate_table A\nadd_field a x int8\nadd_field a X int8\n", database);
  const Database& content = database.get_database();
  const Table& a = *content.find_table("a");
  EXPECT_EQ(error_of([&] { require_new_table_name(content, {}, "a_2"); }),
            "a_2 is the name in SQL of A: choose another one");
  EXPECT_EQ(error_of([&] { require_new_field_name(a, {}, "x_2"); }),
            "a.x_2 is the name in SQL of a.X: choose another one");
  require_new_field_name(a, {}, "x_3");
  require_new_field_name(a, a.find_field("X"), "x_2");
  database.rollback();
}

TEST(Sql, WritesTextsThatCannotLeaveTheirLiteral) {
  EXPECT_EQ(sql_text("it's h\u00e9"), "'it''s h\u00e9'");
  EXPECT_EQ(sql_text("'"), "''''");
  EXPECT_EQ(sql_text(""), "''");
  EXPECT_EQ(sql_text("a\n.quit"), "CAST(X'610a2e71756974' AS TEXT)");
  EXPECT_EQ(sql_text(std::string_view("\0", 1)), "CAST(X'00' AS TEXT)");
  EXPECT_EQ(sql_text("\xff"), "CAST(X'ff' AS TEXT)");
}

TEST(Sql, WritesNumbersThatHaveNoLiteral) {
  std::string out;
  append_sql(out, std::numeric_limits<double>::infinity());
  append_sql(out, -std::numeric_limits<float>::infinity());
  append_sql(out, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(out, "9e999-9e999NULL");
}

}  // namespace
}  // namespace joedb
