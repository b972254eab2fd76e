#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "history/tags.h"
#include "joedb/io/posix_file.h"
#include "joedb/table/writable_database.h"
#include "support/sql_session.h"
#include "support/temporary_directory.h"

namespace joedb {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::Sql_Session;

// Tables: city(name, population); person(name, home references city, friend references person,
// age).
class Sql_Test : public ::testing::Test {
 protected:
  Sql_Test() {
    db().write(Create_Table{"city"});
    db().write(Create_Table{"person"});
    add_field(city, "name", Type_Code::string);
    add_field(city, "population", Type_Code::int64);
    add_field(person, "name", Type_Code::string);
    add_field(person, "home", Type_Code::reference, city);
    add_field(person, "friend", Type_Code::reference, person);
    add_field(person, "age", Type_Code::int32);
    insert_city(0, "Paris", 2'100'000);
    insert_city(1, "Oslo", 700'000);
    insert_person(0, "Ada", 1, -1, 36);
    insert_person(1, "Bob", 0, 0, 20);
    insert_person(2, "Eve", -1, 1, 50);
    db().soft_checkpoint();
  }

  Writable_Database& db() { return *db_; }
  std::string path() const { return directory_.file("a.joedb"); }
  std::string options() const {
    return directory_.write("a.joedbc",
                            "create_index person_by_age person age\n"
                            "create_unique_index person_by_name person name\n"
                            "create_index person_by_home person home,age\n");
  }
  void open(const std::string& more = "") {
    EXPECT_EQ(sql("SELECT joedb_open('" + path() + "'" + more + ")"), "2");
  }
  std::string sql(const std::string& text) { return session_.run(text); }
  std::string plan(const std::string& text) { return sql("EXPLAIN QUERY PLAN " + text); }

  void add_field(Table_Id table, const char* name, Type_Code code, Table_Id referenced = {}) {
    db().write(Add_Field{table, name, {code, referenced}});
  }
  template <class T>
  void set(Table_Id table, index_t id, int field, T value) {
    db().write(Update<T>{table, Record_Id(id), Field_Id(static_cast<std::uint16_t>(field)), value});
  }
  void insert_city(index_t id, std::string_view name, std::int64_t population) {
    db().write(Insert{city, Record_Id(id)});
    set(city, id, 1, name);
    set(city, id, 2, population);
  }
  void insert_person(index_t id, std::string_view name, index_t home, index_t a_friend,
                     std::int32_t age) {
    db().write(Insert{person, Record_Id(id)});
    set(person, id, 1, name);
    set(person, id, 2, Record_Id(home));
    set(person, id, 3, Record_Id(a_friend));
    set(person, id, 4, age);
  }

  // Inserts enough records that searching an index is cheaper than a scan.
  void insert_many() {
    for (index_t id = 10; id < 110; ++id) insert_person(id, "P" + std::to_string(id), 5, 5, 60);
    db().soft_checkpoint();
  }

  const Table_Id city{1}, person{2};
  testing::Temporary_Directory directory_;
  std::unique_ptr<File> file_ = std::make_unique<File>(path(), Open_Mode::create_new);
  std::unique_ptr<Writable_Database> db_ = std::make_unique<Writable_Database>(*file_);
  Sql_Session session_;
};

// ---- opening

TEST_F(Sql_Test, OpeningMakesEachTableVisible) {
  open();
  EXPECT_EQ(sql("SELECT * FROM city"), "'Paris'|2100000\n'Oslo'|700000");
  EXPECT_EQ(sql("SELECT rowid, __id, name, home FROM person"),
            "0|0|'Ada'|1\n1|1|'Bob'|0\n2|2|'Eve'|NULL");
  EXPECT_EQ(sql("SELECT count(*) FROM main.sqlite_master"), "0");
}

TEST_F(Sql_Test, AViewHasTheTextsOfReferencedRecords) {
  open();
  EXPECT_EQ(sql("SELECT * FROM person__joined"),
            "0|'Ada'|'Oslo'|NULL|36\n1|'Bob'|'Paris'|'Ada'|20\n2|'Eve'|NULL|'Bob'|50");
  EXPECT_THAT(sql("SELECT * FROM city__joined"), HasSubstr("no such table"));
}

TEST_F(Sql_Test, ANameThatIsThereAlreadyIsAnErrorAndAnotherSchemaHelps) {
  sql("CREATE TABLE Person(x)");
  const std::string open = "SELECT joedb_open('" + path() + "'";
  EXPECT_THAT(sql(open + ")"), HasSubstr("there is already a table or view main.Person"));
  EXPECT_THAT(sql("SELECT * FROM city"), HasSubstr("no such table"));
  EXPECT_THAT(sql(open + ", NULL, 'other')"), HasSubstr("no such table: other."));
  sql("ATTACH ':memory:' AS other");
  EXPECT_EQ(sql(open + ", NULL, 'other')"), "2");
  EXPECT_EQ(sql("SELECT count(*) FROM other.person__joined"), "3");
  EXPECT_EQ(sql("SELECT joedb_close('" + path() + "')"), "1");
  EXPECT_THAT(sql("SELECT count(*) FROM other.person__joined"), HasSubstr("no such table"));
}

TEST_F(Sql_Test, ATableCanBeMadeUnderAnyName) {
  insert_many();
  sql("CREATE VIRTUAL TABLE temp.people USING joedb('" + path() + "', person, \"" + options() +
      "\")");
  EXPECT_EQ(sql("SELECT name FROM people WHERE age = 50"), "'Eve'");
  EXPECT_THAT(plan("SELECT name FROM people WHERE age = 50"), HasSubstr("INDEX 0:2 "));
  EXPECT_THAT(sql("CREATE VIRTUAL TABLE x USING joedb('" + path() + "', 'nobody')"),
              HasSubstr("no such table: nobody"));
  EXPECT_THAT(sql("CREATE VIRTUAL TABLE x USING joedb('" + path() + "')"),
              HasSubstr("expected joedb("));
}

// The user who writes SQL may not be permitted to read the file.
TEST_F(Sql_Test, ErrorsDoNotHaveTheContentOfFiles) {
  const std::string secret =
      directory_.write("secret", "root:x:0:0\nnamespace se:cret\ncreate_index 7se person cret\n");
  for (const std::string& text :
       {sql("SELECT joedb_open('" + path() + "', '" + secret + "')"),
        sql("SELECT joedb_open('" + secret + "')"),
        sql("CREATE VIRTUAL TABLE x USING joedb('" + path() + "', 'person', '" + secret + "')")}) {
    EXPECT_THAT(text, HasSubstr("error: "));
    for (const char* const part : {"root", "0:0", "se:cret", "7se", "cret\n"})
      EXPECT_THAT(text, Not(HasSubstr(part)));
  }
}

TEST_F(Sql_Test, ASealedConnectionHasItsFilesAndNoOthers) {
  open();
  EXPECT_EQ(sql("SELECT joedb_is_sealed()"), "0");
  EXPECT_EQ(sql("SELECT joedb_seal()"), "1");
  EXPECT_EQ(sql("SELECT joedb_is_sealed(), joedb_seal()"), "1|1");
  const std::string other = directory_.file("other.joedb");
  std::filesystem::copy_file(path(), other);
  for (const std::string& statement : std::vector<std::string>{
           "SELECT joedb_open('" + other + "')", "SELECT joedb_open('" + path() + "')",
           "SELECT joedb_open('/etc/passwd')", "SELECT joedb_close('" + path() + "')",
           "SELECT joedb_alter('" + path() + "', 'create_table x')",
           "CREATE VIRTUAL TABLE temp.x USING joedb('" + other + "', 'person')",
           "CREATE VIRTUAL TABLE temp.x USING joedb('" + path() + "', 'person')"})
    EXPECT_EQ(sql(statement), "error: this connection is sealed: its joedb files can only be read")
        << statement;
  for (const char* statement :
       {"WITH x AS (SELECT 1) DELETE FROM person", "UPDATE person SET name = 'x'"})
    EXPECT_THAT(sql(statement), HasSubstr("cannot be changed by SQL here")) << statement;
  EXPECT_EQ(sql("DROP TABLE person"), "error: authorization denied");
  EXPECT_EQ(sql("SELECT count(*) FROM person"), "3");
}

// SQLite reconnects to virtual tables after a schema change.
TEST_F(Sql_Test, ASealedConnectionReadsWhatOthersWrite) {
  sql("CREATE VIRTUAL TABLE temp.people USING joedb('" + path() + "', 'person')");
  const std::string before = sql("SELECT count(*) FROM people");
  EXPECT_EQ(sql("SELECT joedb_seal()"), "0");
  insert_person(3, "New", -1, -1, 1);
  db().soft_checkpoint();
  EXPECT_EQ(sql("CREATE TEMP TABLE y(z)"), "");
  EXPECT_EQ(sql("SELECT count(*) FROM people"), std::to_string(std::stoi(before) + 1));
}

TEST_F(Sql_Test, ASealIsNotLostByAnotherRegistration) {
  open();
  sql("SELECT joedb_seal()");
  EXPECT_EQ(register_joedb(session_.connection()), SQLITE_AUTH);
  EXPECT_EQ(sql("SELECT joedb_is_sealed()"), "1");
}

TEST_F(Sql_Test, ErrorsAreThoseOfTheEngine) {
  EXPECT_EQ(sql("SELECT joedb_open('nothing')"),
            "error: opening nothing: No such file or directory");
  directory_.write("b.joedb", std::string(100, 'x'));
  EXPECT_THAT(sql("SELECT joedb_open('" + directory_.file("b.joedb") + "')"), HasSubstr("b.joedb"));
  EXPECT_THAT(sql("SELECT joedb_open('" + path() + "', '" +
                  directory_.write("bad.joedbc", "create_index i person nothing\n") + "')"),
              HasSubstr("bad.joedbc:1: these options do not fit "));
  open();
  sql("PRAGMA busy_timeout = 1");
  EXPECT_THAT(sql("INSERT INTO city VALUES('x', 1)"),
              HasSubstr(path() + " is locked by this process: waited "));
}

TEST_F(Sql_Test, AReaderWaitsAsLongAsTheConnectionSays) {
  open();
  File other(path(), Open_Mode::shared_write);
  other.exclusive_lock(head_lock.start, head_lock.size);
  db().write(Create_Table{"new"});
  db().soft_checkpoint();
  sql("PRAGMA busy_timeout = 1");
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(sql("SELECT joedb_open('" + path() + "', '" + options() + "')"),
              HasSubstr(path() + " is locked by this process: waited "));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

TEST_F(Sql_Test, ClosingTakesTablesAndViewsAway) {
  open();
  EXPECT_EQ(sql("SELECT joedb_close('" + path() + "')"), "1");
  EXPECT_THAT(sql("SELECT * FROM city"), HasSubstr("no such table"));
  EXPECT_THAT(sql("SELECT joedb_close('" + path() + "')"), HasSubstr("was not opened"));
  open();
}

TEST_F(Sql_Test, ClosingLeavesTablesOfOthersWithTheSameNames) {
  sql("ATTACH ':memory:' AS other");
  sql("SELECT joedb_open('" + path() + "', NULL, 'other')");
  sql("DETACH other");
  sql("ATTACH ':memory:' AS other");
  sql("CREATE TABLE other.city(x)");
  EXPECT_EQ(sql("SELECT joedb_close('" + path() + "')"), "1");
  EXPECT_EQ(sql("SELECT count(*) FROM other.city"), "0");
}

TEST_F(Sql_Test, TextsThatLookLikeNumbersAreComparedAsSqliteDoes) {
  insert_city(2, "12", 1);
  db().soft_checkpoint();
  open();
  sql("CREATE TABLE main.n(x INTEGER)");
  sql("INSERT INTO n VALUES('-')");
  EXPECT_EQ(sql("SELECT name FROM city JOIN n ON name < x"), "'12'");
  EXPECT_EQ(sql("SELECT name FROM city JOIN n ON x >= name"), "'12'");
  EXPECT_EQ(sql("SELECT name FROM city WHERE name < '-'"), "");
  EXPECT_EQ(sql("SELECT name FROM city WHERE name <= '2'"), "'12'");
}

TEST_F(Sql_Test, OneTableHasOneMoment) {
  open();
  const std::string now = std::to_string(db().get_journal().get_checkpoint());
  EXPECT_EQ(sql("SELECT count(*) FROM city(" + now + ") WHERE __moment = " + now), "2");
  EXPECT_EQ(sql("SELECT count(*) FROM city(" + now + ") WHERE __moment = 41"), "0");
  EXPECT_EQ(sql("SELECT count(*) FROM city(41) WHERE __moment = " + now), "0");
}

TEST_F(Sql_Test, AnIndexWhoseFieldWasDroppedIsForgotten) {
  open(", '" + options() + "'");
  EXPECT_EQ(sql("SELECT name FROM person WHERE age = 50"), "'Eve'");
  db().write(Drop_Field{person, Field_Id(4)});
  db().soft_checkpoint();
  EXPECT_EQ(sql("SELECT count(*) FROM city"), "2");
  EXPECT_EQ(sql("SELECT name FROM person WHERE name = 'Eve'"), "'Eve'");
  EXPECT_THAT(sql("SELECT age FROM person"), HasSubstr("a field was dropped"));
}

TEST_F(Sql_Test, FieldsBehindADroppedOneHaveTheirValues) {
  db().write(Drop_Field{person, Field_Id(1)});
  db().soft_checkpoint();
  open();
  EXPECT_EQ(sql("SELECT * FROM person"), "1|NULL|36\n0|0|20\nNULL|1|50");
  EXPECT_EQ(sql("SELECT __id FROM person WHERE age = 20"), "1");
}

TEST_F(Sql_Test, SchemasOfOthersCannotReadFiles) {
  open();
  sql("CREATE VIRTUAL TABLE main.t USING joedb('" + path() + "', city)");
  sql("CREATE VIEW main.v AS SELECT * FROM t");
  EXPECT_THAT(sql("SELECT * FROM v"), HasSubstr("unsafe use of virtual table"));
}

TEST_F(Sql_Test, ATableWithoutFieldsHasItsIds) {
  db().write(Create_Table{"bare"});
  db().write(Insert_Vector{Table_Id(3), Record_Id(0), 2});
  db().soft_checkpoint();
  EXPECT_EQ(sql("SELECT joedb_open('" + path() + "')"), "3");
  EXPECT_EQ(sql("SELECT * FROM bare"), "0\n1");
}

// ---- following

TEST_F(Sql_Test, StatementsSeeWhatOthersHaveWritten) {
  open(", '" + options() + "'");
  EXPECT_EQ(sql("SELECT count(*) FROM person WHERE age > 30"), "2");
  insert_person(3, "Zoe", 1, 2, 40);
  // The insert has no checkpoint yet.
  EXPECT_EQ(sql("SELECT count(*) FROM person WHERE age > 30"), "2");
  db().soft_checkpoint();
  EXPECT_EQ(sql("SELECT count(*) FROM person WHERE age > 30"), "3");
  EXPECT_EQ(sql("SELECT name FROM person ORDER BY age DESC"), "'Eve'\n'Zoe'\n'Ada'\n'Bob'");
}

TEST_F(Sql_Test, NothingChangesUnderARunningStatement) {
  open();
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(session_.connection(), "SELECT name FROM person", -1, &statement, nullptr);
  EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW);
  const auto* const text = sqlite3_column_text(statement, 0);
  set(person, 0, 1, std::string_view("a name that is much longer"));
  insert_person(3, "Zoe", 1, 2, 40);
  db().soft_checkpoint();
  EXPECT_EQ(sql("SELECT count(*), min(name) FROM person"), "3|'Ada'");
  EXPECT_STREQ(reinterpret_cast<const char*>(text), "Ada");
  EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW);
  EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW);
  EXPECT_EQ(sqlite3_step(statement), SQLITE_DONE);
  sqlite3_finalize(statement);
  EXPECT_EQ(sql("SELECT count(*), max(name) FROM person"), "4|'a name that is much longer'");
}

TEST_F(Sql_Test, NewFieldsAreSeenWhenTheFileIsOpenedAgain) {
  open();
  add_field(city, "river", Type_Code::string);
  set(city, 0, 3, std::string_view("Seine"));
  db().soft_checkpoint();
  EXPECT_EQ(sql("SELECT * FROM city WHERE __id = 0"), "'Paris'|2100000");
  sql("SELECT joedb_close('" + path() + "')");
  open();
  EXPECT_EQ(sql("SELECT * FROM city WHERE __id = 0"), "'Paris'|2100000|'Seine'");
}

TEST_F(Sql_Test, NewNamesDoNotMatterButWhatWasDroppedIsAnError) {
  open();
  db().write(Rename_Table{city, "town"});
  db().write(Rename_Field{person, Field_Id(4), "years"});
  db().soft_checkpoint();
  EXPECT_EQ(sql("SELECT count(*), max(age) FROM person, city"), "6|50");
  db().write(Drop_Field{person, Field_Id(4)});
  db().soft_checkpoint();
  EXPECT_EQ(sql("SELECT count(name) FROM person"), "3");
  EXPECT_THAT(sql("SELECT count(age) FROM person"), HasSubstr("must be opened again"));
  db().write(Drop_Table{city});
  db().soft_checkpoint();
  EXPECT_EQ(sql("SELECT count(*) FROM person"), "3");
  EXPECT_THAT(sql("SELECT * FROM city"), HasSubstr("was dropped"));
}

// ---- values

TEST_F(Sql_Test, TextsKeepTheirZeroBytes) {
  using namespace std::string_view_literals;
  insert_city(2, "a\0b"sv, 1);
  insert_city(3, "a long one, with a\0zero"sv, 1);
  db().soft_checkpoint();
  open();
  EXPECT_EQ(sql("SELECT hex(name), length(CAST(name AS BLOB)) FROM city WHERE __id > 1"),
            "'610062'|3\n'61206C6F6E67206F6E652C20776974682061007A65726F'|23");
  EXPECT_EQ(sql("SELECT __id FROM city WHERE name = CAST(x'610062' AS TEXT)"), "2");
}

TEST_F(Sql_Test, BlobsAreReadFromTheFile) {
  add_field(city, "photo", Type_Code::blob);
  set(city, 1, 3, db().write_blob("bytes"));
  db().soft_checkpoint();
  open();
  EXPECT_EQ(sql("SELECT photo FROM city"), "NULL\nx'6279746573'");
  EXPECT_EQ(sql("SELECT name FROM city WHERE photo IS NOT NULL"), "'Oslo'");
}

// ---- finding

TEST_F(Sql_Test, IndexesServeEqualityRangesAndOrder) {
  insert_many();
  open(", '" + options() + "'");
  for (const char* text :
       {"SELECT * FROM person WHERE name = 'Bob'", "SELECT * FROM person WHERE name = ?",
        "SELECT * FROM person WHERE name GLOB 'B*'"})
    EXPECT_THAT(plan(text), HasSubstr("INDEX 0:2 1 ")) << text;
  EXPECT_THAT(plan("SELECT * FROM person ORDER BY age"), Not(HasSubstr("TEMP B-TREE")));
  EXPECT_THAT(plan("SELECT * FROM person ORDER BY name DESC"), Not(HasSubstr("TEMP B-TREE")));
  EXPECT_THAT(plan("SELECT * FROM person WHERE home = 1 ORDER BY age DESC"),
              Not(HasSubstr("TEMP B-TREE")));
  EXPECT_THAT(plan("SELECT * FROM person ORDER BY rowid DESC"), Not(HasSubstr("TEMP B-TREE")));
  EXPECT_EQ(sql("SELECT name FROM person WHERE name GLOB 'B*'"), "'Bob'");
  EXPECT_EQ(sql("SELECT name FROM person WHERE age BETWEEN 20 AND 36 ORDER BY age DESC"),
            "'Ada'\n'Bob'");
  EXPECT_EQ(sql("SELECT name FROM person WHERE home IS NULL"), "'Eve'");
}

TEST_F(Sql_Test, IndexesOfASnapshotAreUsed) {
  insert_many();
  db_.reset();
  db_ = std::make_unique<Writable_Database>(
      *file_, Journal_Options{}, Deleted_Values::reset,
      std::vector<Index_Definition>{{"by_age", person, {Field_Id(4)}}});
  db().hard_checkpoint();
  db().write_snapshot();
  open();
  EXPECT_THAT(plan("SELECT * FROM person WHERE age = 20"), HasSubstr("INDEX 0:2 0 "));
  EXPECT_EQ(sql("SELECT name FROM person WHERE age = 20"), "'Bob'");
}

// The plan was made before a record without a key was inserted.
TEST_F(Sql_Test, OrderStaysWhereAnIndexHasLostARecord) {
  open(", '" + options() + "'");
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(session_.connection(), "SELECT name FROM person ORDER BY age DESC", -1,
                     &statement, nullptr);
  db().write(Insert{person, Record_Id(3)});  // has no values, so it is in no index
  insert_person(4, "Zoe", 1, 2, 40);
  db().soft_checkpoint();
  std::string names;
  while (sqlite3_step(statement) == SQLITE_ROW) names += testing::Sql_Session::shown(statement, 0);
  sqlite3_finalize(statement);
  EXPECT_EQ(names, "'Eve''Zoe''Ada''Bob'''");
}

TEST_F(Sql_Test, NotANumberComesFirstAlsoByAnIndex) {
  add_field(person, "score", Type_Code::float64);
  set(person, 0, 5, 1.5);
  set(person, 1, 5, std::numeric_limits<double>::quiet_NaN());
  set(person, 2, 5, -std::numeric_limits<double>::infinity());
  db().soft_checkpoint();
  open(", '" + directory_.write("s.joedbc", "create_index s person score\n") + "'");
  EXPECT_EQ(sql("SELECT name, score FROM person ORDER BY score"),
            "'Bob'|NULL\n'Eve'|-inf\n'Ada'|1.5");
  EXPECT_EQ(sql("SELECT name FROM person WHERE score > -1e300"), "'Ada'");
  EXPECT_EQ(sql("SELECT name FROM person WHERE score IS NULL"), "'Bob'");
}

TEST_F(Sql_Test, AnotherLikeIsAskedForEachRecord) {
  open();
  EXPECT_EQ(sql("SELECT name FROM person WHERE name LIKE 'a%'"), "'Ada'");
  EXPECT_EQ(sql("SELECT name FROM person WHERE name LIKE '%B'"), "'Bob'");
  sql("PRAGMA case_sensitive_like = ON");
  EXPECT_EQ(sql("SELECT name FROM person WHERE name LIKE 'a%'"), "");
  sqlite3_create_function_v2(
      session_.connection(), "like", 2, SQLITE_UTF8, nullptr,
      [](sqlite3_context* context, int, sqlite3_value**) { sqlite3_result_int(context, 1); },
      nullptr, nullptr, nullptr);
  EXPECT_EQ(sql("SELECT count(*) FROM person WHERE name LIKE 'x%'"), "3");
}

TEST_F(Sql_Test, ConditionsOfAnOuterJoinKeepRecordsOfItsLeftTable) {
  open();
  for (const char* on : {"p.name LIKE 'A%'", "p.name GLOB 'A*'", "p.home IS NOT NULL"}) {
    const std::string join = std::string("person p LEFT JOIN city c ON ") + on;
    EXPECT_THAT(sql("SELECT DISTINCT p.name FROM " + join), HasSubstr("Eve")) << on;
    sql("CREATE TEMP VIEW v AS SELECT p.name AS n FROM " + join);
    EXPECT_THAT(sql("SELECT DISTINCT n FROM v"), HasSubstr("Eve")) << on;
    sql("DROP VIEW v");
  }
}

// ---- past states

TEST_F(Sql_Test, AMomentIsAnArgument) {
  db().write(Timestamp{1'700'000'000});
  db().soft_checkpoint();
  const Offset position = db().get_journal().get_checkpoint();
  set(person, 0, 4, std::int32_t{37});
  db().write(Delete{person, Record_Id(1)});
  db().write(Timestamp{1'800'000'000});
  db().soft_checkpoint();
  open(", '" + options() + "'");
  const std::string old = "'Ada'|36\n'Bob'|20\n'Eve'|50";
  EXPECT_EQ(sql("SELECT name, age FROM person('2024-01-01')"), old);
  EXPECT_EQ(sql("SELECT name, age FROM person(" + std::to_string(position) + ")"), old);
  EXPECT_EQ(sql("SELECT name, age FROM person"), "'Ada'|37\n'Eve'|50");
  EXPECT_EQ(sql("SELECT name, age FROM person(NULL)"), "'Ada'|37\n'Eve'|50");
  EXPECT_EQ(sql("SELECT old.name, old.age, new.age FROM person('2024-01-01') AS old "
                "LEFT JOIN person AS new ON new.__id = old.__id WHERE new.age IS NOT old.age"),
            "'Ada'|36|37\n'Bob'|20|NULL");
  EXPECT_EQ(sql("SELECT column1, count(__id) FROM (VALUES('2024-01-01'), ('2029-01-01')), "
                "person(column1) GROUP BY column1"),
            "'2024-01-01'|3\n'2029-01-01'|2");
  EXPECT_EQ(sql("SELECT max(name) FROM (VALUES('2024-01-01'), ('2029-01-01')) AS m "
                "JOIN person ON person.__moment = m.column1"),
            "'Eve'");
  EXPECT_THAT(sql("SELECT * FROM person('1999-01-01')"), HasSubstr("no time stamp at or before"));
  EXPECT_THAT(sql("SELECT * FROM person('12:00')"), HasSubstr("expected a time"));
  EXPECT_THAT(sql("SELECT * FROM person('soon')"), HasSubstr("there is no tag soon"));
  EXPECT_THAT(sql("SELECT * FROM person(1)"), HasSubstr("has no position 1"));
}

TEST_F(Sql_Test, AMomentCanBeATagOrATimeAsPeopleSayIt) {
  db().write(Timestamp{1'700'000'000});
  db().soft_checkpoint();
  const Offset position = db().get_journal().get_checkpoint();
  set(person, 0, 4, std::int32_t{37});
  const std::string tag = tag_text("before", position);
  db().write(Comment{tag});
  db().soft_checkpoint();
  open();
  EXPECT_EQ(sql("SELECT age FROM person('before') WHERE name = 'Ada'"), "36");
  EXPECT_EQ(sql("SELECT age FROM person('yesterday') WHERE name = 'Ada'"), "36");
  EXPECT_EQ(sql("SELECT age FROM person WHERE name = 'Ada'"), "37");
}

// If the moment is an argument of the table instead, SQLite 3.40 loses matches.
TEST_F(Sql_Test, AMomentInTheConditionOfARightJoinKeepsMatches) {
  const std::string now = std::to_string(db().get_journal().get_checkpoint());
  open();
  EXPECT_EQ(sql("SELECT p.name, c.name FROM person p RIGHT JOIN city c ON c.__id = p.home AND "
                "c.__moment = " +
                now + " AND p.__id = 0"),
            "'Ada'|'Oslo'\nNULL|'Paris'");
}

TEST_F(Sql_Test, WhatWasNotThereYetIsNullOrEmpty) {
  const Offset before = db().get_journal().get_checkpoint();
  add_field(city, "river", Type_Code::string);
  db().write(Create_Table{"club"});
  db().write(Add_Field{Table_Id(3), "name", {Type_Code::string, {}}});
  db().write(Insert{Table_Id(3), Record_Id(0)});
  db().soft_checkpoint();
  EXPECT_EQ(sql("SELECT joedb_open('" + path() + "')"), "3");
  const std::string moment = "(" + std::to_string(before) + ")";
  EXPECT_EQ(sql("SELECT name, river FROM city" + moment), "'Paris'|NULL\n'Oslo'|NULL");
  EXPECT_EQ(sql("SELECT count(*) FROM city" + moment + " WHERE river = ''"), "0");
  EXPECT_EQ(sql("SELECT count(*) FROM city" + moment + " WHERE river IS NULL"), "2");
  EXPECT_EQ(sql("SELECT count(*) FROM city WHERE river = ''"), "2");
  EXPECT_EQ(sql("SELECT count(*) FROM club" + moment), "0");
  EXPECT_EQ(sql("SELECT count(*) FROM club"), "1");
}

TEST_F(Sql_Test, WorksInADatabaseOfUtf16) {
  insert_city(2, "Ærø", 6'000);
  db().soft_checkpoint();
  Sql_Session other;
  other.rows("PRAGMA encoding = 'UTF-16'");
  other.rows("CREATE TABLE x(y)");
  EXPECT_EQ(other.run("SELECT joedb_open('" + path() + "')"), "2");
  EXPECT_EQ(other.run("SELECT population FROM city WHERE name = 'Ærø'"), "6000");
  EXPECT_EQ(other.run("SELECT count(*) FROM city WHERE name >= 'P' AND population > 1"), "2");
}

}  // namespace
}  // namespace joedb
