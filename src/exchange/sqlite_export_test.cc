#include "exchange/sqlite_export.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "commands/interpreter.h"
#include "exchange/sqlite.h"
#include "joedb/io/memory_file.h"
#include "support/error_of.h"
#include "support/temporary_directory.h"

namespace joedb {
namespace {

using testing::error_of;

class Sqlite_Export_Test : public ::testing::Test {
 protected:
  ~Sqlite_Export_Test() override { db.rollback(); }

  void run(std::string_view commands) { run_text(commands, db); }
  void write(std::vector<Index_Definition> indexes = {}) {
    db.flush();
    std::filesystem::remove(directory.file("out.sqlite"));
    Sqlite_Export{db.get_database(), file, std::move(indexes)}.write(directory.file("out.sqlite"),
                                                                     "out.sqlite");
  }
  // Returns the rows of a query, with | between values.
  std::string query(const std::string& sql) {
    const Sqlite in(directory.file("out.sqlite"), "out.sqlite", Sqlite::Use::read);
    Sqlite_Statement statement = in.prepare(sql);
    std::string result;
    while (statement.step()) {
      for (int i = 0; i < statement.column_count(); ++i)
        result += (i == 0 ? "" : "|") + std::string(statement.bytes(i));
      result += '\n';
    }
    return result;
  }

  testing::Temporary_Directory directory;
  Memory_File file;
  Writable_Database db{file};
};

TEST_F(Sqlite_Export_Test, RulesOfReferencesAreActions) {
  run("create_table city\nadd_field city a references city on_delete clear\n"
      "add_field city b references city on_delete cascade\n"
      "add_field city c references city on_delete refuse\nadd_field city d references city\n"
      "insert_into city 7 7 3 -1 7\n");
  write();
  EXPECT_EQ(
      query("SELECT \"from\", \"table\", on_delete FROM pragma_foreign_key_list('city') ORDER "
            "BY 1"),
      "a|city|SET NULL\nb|city|CASCADE\nc|city|RESTRICT\nd|city|NO ACTION\n");
  EXPECT_EQ(query("SELECT * FROM city"), "7|7|3||7\n");
}

TEST_F(Sqlite_Export_Test, DeclaresATypeOfItsOwnForEachTypeOfFields) {
  run("create_table city\ncreate_table all_types\n"
      "add_field all_types s string\nadd_field all_types a int8\nadd_field all_types b int16\n"
      "add_field all_types c int32\nadd_field all_types d int64\nadd_field all_types e boolean\n"
      "add_field all_types f float32\nadd_field all_types g float64\nadd_field all_types h blob\n"
      "add_field all_types i references city\n");
  write();
  EXPECT_EQ(query("SELECT sql FROM sqlite_schema"),
            "CREATE TABLE \"city\"(\"__id\" INTEGER PRIMARY KEY)\n"
            "CREATE TABLE \"all_types\"(\"__id\" INTEGER PRIMARY KEY, \"s\" TEXT NOT NULL, \"a\" "
            "TINYINT NOT NULL, "
            "\"b\" SMALLINT NOT NULL, \"c\" INTEGER NOT NULL, \"d\" BIGINT NOT NULL, \"e\" BOOLEAN "
            "NOT NULL, \"f\" FLOAT, \"g\" REAL, \"h\" BLOB, \"i\" INTEGER REFERENCES \"city\")\n");
  EXPECT_EQ(query("PRAGMA application_id"), std::to_string(sqlite_application_id) + '\n');
}

TEST_F(Sqlite_Export_Test, WritesLogicalTypes) {
  run("create_table t\nadd_field t d date\nadd_field t at timestamp(ms) optional\n"
      "add_field t price decimal(2)\nadd_field t state enum(open, paid)\n"
      "add_field t code bytes\nadd_field t is_new boolean optional\nadd_field t note json\n"
      "insert_into t 0 2026-01-31 \"2026-01-31T12:00:00.5Z\" 12.50 paid 00ff true \"[1]\"\n"
      "insert_into t 1 1969-12-31 null 1234567890123456.78 open \"\" null \"x\"\n");
  write();
  EXPECT_EQ(
      query("SELECT sql FROM sqlite_schema"),
      "CREATE TABLE \"t\"(\"__id\" INTEGER PRIMARY KEY, \"d\" DATE NOT NULL, \"at\" TIMESTAMP, "
      "\"price\" DECIMAL(18,2) NOT NULL, \"state\" TEXT NOT NULL, \"code\" BLOB NOT NULL, "
      "\"is_new\" BOOLEAN, \"note\" TEXT NOT NULL\n"
      "/* joedb: type t.d date */\n/* joedb: type t.at timestamp(ms) optional */\n"
      "/* joedb: type t.price decimal(2) */\n/* joedb: type t.state enum(open,paid) */\n"
      "/* joedb: type t.code bytes */\n/* joedb: type t.is_new boolean optional */\n"
      "/* joedb: type t.note json */)\n");
  EXPECT_EQ(query("SELECT d, at, price, typeof(price), state, hex(code), is_new, note FROM t"),
            "2026-01-31|2026-01-31T12:00:00.500Z|12.5|real|paid|00FF|1|[1]\n"
            "1969-12-31||1234567890123456.78|blob|open|||x\n");
}

TEST_F(Sqlite_Export_Test, KeepsRecordIdsAndLeavesOutWhatWasDeletedOrDropped) {
  run("create_table gone\ncreate_table city\nadd_field city name string\n"
      "add_field city x int8\nadd_field city lost references gone\n"
      "insert_into city 0 \"Lyon\" 1 3\ninsert_into city 1 \"Brest\" 2 -1\n"
      "insert_into city 5 \"Nice\" 3 -1\ndelete_from city 1\ndrop_field city x\n"
      "drop_table gone\n");
  write();
  EXPECT_EQ(query("SELECT * FROM city"), "0|Lyon|3\n5|Nice|\n");
  EXPECT_EQ(query("SELECT sql FROM sqlite_schema"),
            "CREATE TABLE \"city\"(\"__id\" INTEGER PRIMARY KEY, \"name\" TEXT NOT NULL, \"lost\" "
            "INTEGER)\n");
}

TEST_F(Sqlite_Export_Test, WritesNullForWhatIsNull) {
  run("create_table t\nadd_field t r references t\nadd_field t b blob\nadd_field t f float64\n"
      "add_field t s string\ninsert_into t 0 -1 0,0 nan \"\"\n");
  write();
  EXPECT_EQ(query("SELECT typeof(r), typeof(b), typeof(f), typeof(s) FROM t"),
            "null|null|null|text\n");
}

TEST_F(Sqlite_Export_Test, WritesTextsThatSqliteCannotHoldAsBlobs) {
  run("create_table t\nadd_field t s string\n"
      "insert_into t 0 \"h\xc3\xa9\"\ninsert_into t 1 \"\\377\"\ninsert_into t 2 \"a\\000b\"\n"
      "insert_into t 3 \"\xed\xa0\x80\"\ninsert_into t 4 \"\"\n");
  write();
  EXPECT_EQ(query("SELECT typeof(s), hex(s) FROM t"),
            "text|68C3A9\nblob|FF\nblob|610062\nblob|EDA080\ntext|\n");
}

TEST_F(Sqlite_Export_Test, WritesTheBytesOfBlobs) {
  run("create_table t\nadd_field t b blob\n");
  const auto insert = [&](index_t id, Blob blob) {
    db.write(Insert{Table_Id(1), Record_Id(id)});
    db.write(Update<Blob>{Table_Id(1), Record_Id(id), Field_Id(1), blob});
  };
  insert(0, db.write_blob(std::string_view("a\0b", 3)));
  insert(1, db.write_blob(""));
  insert(2, Blob());
  write();
  EXPECT_EQ(query("SELECT hex(b), typeof(b) FROM t"), "610062|blob\n|blob\n|null\n");
}

TEST_F(Sqlite_Export_Test, MakesTheIndexesThatItIsGiven) {
  run("create_table city\nadd_field city name string\nadd_field city size int32\n"
      "insert_into city 0 \"Lyon\" 5\ninsert_into city 1 \"Lyon\" 6\n");
  const Index_Definition by_both{"by_both", Table_Id(1), {Field_Id(1), Field_Id(2)}, true};
  const Index_Definition by_name{"by_name", Table_Id(1), {Field_Id(1)}, false};
  write({by_both, by_name});
  EXPECT_EQ(query("SELECT sql FROM sqlite_schema WHERE type = 'index'"),
            "CREATE UNIQUE INDEX \"by_both\" ON \"city\"(\"name\",\"size\")\n"
            "CREATE INDEX \"by_name\" ON \"city\"(\"name\")\n");
  EXPECT_EQ(error_of([&] {
              write({{"city", Table_Id(1), {Field_Id(1)}, false}});
            }),
            "out.sqlite: index city: there is already a table named city");
  EXPECT_EQ(error_of([&] {
              write({{"by_name", Table_Id(1), {Field_Id(1)}, true}});
            }),
            "out.sqlite: index by_name: UNIQUE constraint failed: city.name");
}

TEST_F(Sqlite_Export_Test, WritesTheIndexesThatTheFileDeclares) {
  run("create_table city\nadd_field city name string\nadd_field city size float64\n"
      "create_unique_index by_name city name\ncreate_unique_index by_size city size\n"
      "insert_into city 0 \"Lyon\" 0.0\ninsert_into city 1 \"Nice\" -0.0\n");
  write();
  EXPECT_EQ(query("SELECT sql FROM sqlite_schema WHERE type = 'index' ORDER BY name"),
            "CREATE UNIQUE INDEX \"by_name\" ON \"city\"(\"name\")\n"
            "CREATE INDEX \"by_size\" ON \"city\"(\"size\")\n");
}

TEST_F(Sqlite_Export_Test, KeepsTheExtremesOfNumbers) {
  run("create_table t\nadd_field t i int64\nadd_field t f float64\nadd_field t g float32\n"
      "insert_into t 0 -9223372036854775808 inf 0.1\n"
      "insert_into t 1 9223372036854775807 -inf 16777216\n");
  write();
  const Sqlite in(directory.file("out.sqlite"), "out.sqlite", Sqlite::Use::read);
  Sqlite_Statement rows = in.prepare("SELECT i, f, g FROM t");
  ASSERT_TRUE(rows.step());
  EXPECT_EQ(rows.integer(0), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(rows.real(1), std::numeric_limits<double>::infinity());
  EXPECT_EQ(static_cast<float>(rows.real(2)), 0.1f);
  ASSERT_TRUE(rows.step());
  EXPECT_EQ(rows.integer(0), std::numeric_limits<std::int64_t>::max());
}

TEST_F(Sqlite_Export_Test, NumbersNamesThatAreOneInSqlite) {
  run("create_table City\ncreate_table city\nadd_field city A int8\nadd_field city a int8\n"
      "insert_into city 0 1 2\n");
  write();
  const Sqlite in(directory.file("out.sqlite"), "out.sqlite", Sqlite::Use::read);
  EXPECT_EQ(in.number("SELECT A * 10 + a_2 FROM city_2"), 12);
}

}  // namespace
}  // namespace joedb
