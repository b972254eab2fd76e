#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "joedb/io/posix_file.h"
#include "joedb/table/writable_database.h"
#include "sim/lab/random.h"
#include "sim/lab/sim_file.h"
#include "support/sql_session.h"
#include "support/temporary_directory.h"

// Tests INSERT, UPDATE and DELETE on joedb files.

namespace joedb {
namespace {

using ::testing::HasSubstr;
using testing::Random;
using testing::Sql_Session;

const char* const person_fields[] = {"name", "age",    "small",  "is_here",
                                     "boss", "height", "weight", "photo"};
const Type_Code person_types[] = {Type_Code::string,  Type_Code::int64,     Type_Code::int8,
                                  Type_Code::boolean, Type_Code::reference, Type_Code::float64,
                                  Type_Code::float32, Type_Code::blob};

void make_tables(Writable_Database& db) {
  for (const char* const name : {"person", "city"}) db.write(Create_Table{name});
  for (std::uint16_t table = 1; table <= 2; ++table)
    for (std::size_t i = 0; i < std::size(person_fields); ++i)
      db.write(Add_Field{Table_Id(table), person_fields[i], {person_types[i], Table_Id(1)}});
  db.soft_checkpoint();
}

class Sql_Writing_Test : public ::testing::Test {
 protected:
  Sql_Writing_Test() {
    {
      File file(path(), Open_Mode::create_new);
      Writable_Database db(file);
      make_tables(db);
    }
    open(session_);
  }

  std::string path() const { return directory_.file("a.joedb"); }
  void open(Sql_Session& session, const std::string& tables = "2") {
    const std::string options =
        directory_.write("a.joedbc",
                         "create_unique_index person_by_name person name\n"
                         "create_index person_by_age person age\n"
                         "create_unique_index city_by_age_and_small city age,small\n");
    EXPECT_EQ(session.run("SELECT joedb_open('" + path() + "', '" + options + "')"), tables);
  }
  std::string sql(const std::string& text) { return session_.run(text); }
  // Runs a statement on another connection.
  std::string elsewhere(const std::string& text, const std::string& tables = "2") {
    Sql_Session other;
    open(other, tables);
    return other.run(text);
  }
  void add(const std::string& name, int age) {
    EXPECT_EQ(
        sql("INSERT INTO person(name, age) VALUES('" + name + "', " + std::to_string(age) + ")"),
        "");
  }

  testing::Temporary_Directory directory_;
  Sql_Session session_;
};

TEST_F(Sql_Writing_Test, ASealWaitsForTheEndOfATransaction) {
  sql("BEGIN; INSERT INTO person(name) VALUES ('New')");
  EXPECT_THAT(sql("SELECT joedb_seal()"), HasSubstr("COMMIT or ROLLBACK first"));
  EXPECT_EQ(sql("COMMIT; SELECT joedb_seal()"), "1");
  EXPECT_THAT(sql("INSERT INTO person(name) VALUES ('Other')"),
              HasSubstr("cannot be changed by SQL here"));
  EXPECT_EQ(sql("SELECT count(*) FROM person"), "1");
}

TEST_F(Sql_Writing_Test, ChangesAreSeenHereAndElsewhere) {
  add("Ada", 36);
  add("Bob", 20);
  add("Eve", 50);
  EXPECT_EQ(sql("SELECT last_insert_rowid()"), "2");
  EXPECT_EQ(sql("UPDATE person SET age = age + 1 WHERE age > 30; SELECT changes()"), "2");
  EXPECT_EQ(sql("DELETE FROM person WHERE name = 'Bob'"), "");
  const std::string all = "SELECT __id, name, age FROM person";
  EXPECT_EQ(sql(all), "0|'Ada'|37\n2|'Eve'|51");
  EXPECT_EQ(elsewhere(all), sql(all));
}

TEST_F(Sql_Writing_Test, ATransactionEndsWithATimeStampAndBelongsTogether) {
  sql("BEGIN; INSERT INTO person(name) VALUES('Ada'); INSERT INTO city(name) VALUES('Oslo')");
  EXPECT_EQ(sql("SELECT name FROM person"), "'Ada'");
  EXPECT_EQ(elsewhere("SELECT name FROM person"), "");
  sql("COMMIT");
  EXPECT_EQ(elsewhere("SELECT p.name, c.name FROM person p, city c"), "'Ada'|'Oslo'");
  File file(path(), Open_Mode::read_existing);
  Readonly_Journal journal(file);
  Database database;
  load(database, journal);
  EXPECT_TRUE(database.timestamps().has_value());
  EXPECT_EQ(journal.get_checkpoint(), journal.get_hard_checkpoint());
}

TEST_F(Sql_Writing_Test, RollbackTakesEverythingBack) {
  add("Ada", 36);
  sql("BEGIN; INSERT INTO person(name, photo) VALUES('Bob', x'0102'); UPDATE person SET age = 1; "
      "DELETE FROM person WHERE name = 'Ada'");
  EXPECT_EQ(sql("SELECT name, age, photo FROM person"), "'Bob'|1|x'0102'");
  sql("ROLLBACK");
  EXPECT_EQ(sql("SELECT name, age FROM person WHERE name >= 'A'"), "'Ada'|36");
  add("Bob", 20);
  EXPECT_EQ(sql("SELECT __id, name FROM person"), "0|'Ada'\n1|'Bob'");
  EXPECT_EQ(elsewhere("SELECT __id, name FROM person"), "0|'Ada'\n1|'Bob'");
}

TEST_F(Sql_Writing_Test, SavepointsTakePartsBack) {
  sql("BEGIN");
  add("Ada", 1);
  sql("SAVEPOINT a");
  add("Bob", 2);
  sql("INSERT INTO city(name) VALUES('Oslo')");
  sql("SAVEPOINT b");
  add("Eve", 3);
  sql("ROLLBACK TO a");
  add("Joe", 4);
  sql("RELEASE a; COMMIT");
  EXPECT_EQ(elsewhere("SELECT name FROM person"), "'Ada'\n'Joe'");
  EXPECT_EQ(elsewhere("SELECT name FROM city"), "");
}

TEST_F(Sql_Writing_Test, AStatementThatFailsChangesNothing) {
  add("Ada", 1);
  sql("BEGIN");
  add("Bob", 2);
  EXPECT_EQ(sql("INSERT INTO person(name) VALUES('Eve'), ('Ada'), ('Joe')"),
            "error: UNIQUE constraint failed: person.name");
  EXPECT_EQ(sql("SELECT name FROM person"), "'Ada'\n'Bob'");
  EXPECT_EQ(sql("INSERT OR IGNORE INTO person(name) VALUES('Eve'), ('Ada'), ('Joe')"), "");
  EXPECT_EQ(sql("INSERT OR REPLACE INTO person(name, age) VALUES('Eve', 9)"), "");
  EXPECT_EQ(sql("INSERT OR FAIL INTO person(name) VALUES('Zoe'), ('Ada'), ('Max')"),
            "error: UNIQUE constraint failed: person.name");
  sql("COMMIT");
  EXPECT_EQ(elsewhere("SELECT name, age FROM person ORDER BY name"),
            "'Ada'|1\n'Bob'|2\n'Eve'|9\n'Joe'|0\n'Zoe'|0");
  EXPECT_EQ(sql("INSERT INTO city(age, small) VALUES(1, 2), (1, 3), (1, 2)"),
            "error: UNIQUE constraint failed: city.age, city.small");
}

TEST_F(Sql_Writing_Test, ValuesAreThoseOfStrictTables) {
  const auto stored = [&](const std::string& field, const std::string& value) {
    const std::string result = sql("INSERT INTO city(" + field + ") VALUES(" + value +
                                   ") RETURNING " + field + "; DELETE FROM city");
    if (!result.empty()) return result;
    sql("INSERT INTO city(" + field + ") VALUES(" + value + ")");
    const std::string found = sql("SELECT " + field + " FROM city");
    sql("DELETE FROM city");
    return found;
  };
  const auto cannot = [](const std::string& what) { return "error: cannot store " + what; };
  EXPECT_EQ(stored("age", "'5'"), "5");
  EXPECT_EQ(stored("age", "3.0"), "3");
  EXPECT_EQ(stored("age", "NULL"), "0");
  EXPECT_EQ(stored("age", "3.5"), cannot("REAL value in int64 column city.age"));
  EXPECT_EQ(stored("age", "'x'"), cannot("TEXT value in int64 column city.age"));
  EXPECT_EQ(stored("age", "9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(stored("age", "9223372036854775808"), cannot("REAL value in int64 column city.age"));
  EXPECT_EQ(stored("small", "-128"), "-128");
  EXPECT_EQ(stored("small", "128"), cannot("128 in int8 column city.small"));
  EXPECT_EQ(stored("is_here", "1"), "1");
  EXPECT_EQ(stored("is_here", "2"), cannot("2 in boolean column city.is_here"));
  EXPECT_EQ(stored("boss", "NULL"), "NULL");
  EXPECT_EQ(stored("boss", "7"), "7");
  EXPECT_EQ(stored("boss", "-1"), cannot("-1 in references column city.boss"));
  EXPECT_EQ(stored("height", "NULL"), "NULL");
  EXPECT_EQ(stored("height", "2"), "2.0");
  EXPECT_EQ(stored("height", "9e999"), "inf");
  EXPECT_EQ(stored("weight", "1e300"), cannot("1.0e+300 in float32 column city.weight"));
  EXPECT_EQ(stored("weight", "'1.5'"), "1.5");
  EXPECT_EQ(stored("name", "12"), "'12'");
  EXPECT_EQ(stored("name", "CAST(x'610062' AS TEXT)"), std::string("'a\0b'", 5));
  EXPECT_EQ(stored("name", "x'61'"), cannot("BLOB value in string column city.name"));
  EXPECT_EQ(stored("photo", "x''"), "x''");
  EXPECT_EQ(stored("photo", "'a'"), cannot("TEXT value in blob column city.photo"));
  EXPECT_EQ(stored("__id", "1000000"), "1000000");
  EXPECT_THAT(stored("__id", "-1"), HasSubstr("error"));
  EXPECT_THAT(stored("__id", "1e18"), HasSubstr("too big"));
}

TEST_F(Sql_Writing_Test, AnUpdateToNullViolatesNotNull) {
  add("Ada", 1);
  EXPECT_EQ(sql("UPDATE person SET age = NULL"), "error: NOT NULL constraint failed: person.age");
  EXPECT_EQ(sql("UPDATE person SET height = NULL, boss = 0"), "");
  EXPECT_EQ(sql("SELECT height, boss FROM person"), "NULL|0");
}

TEST_F(Sql_Writing_Test, IdsAreChosenOnceAndStay) {
  sql("INSERT INTO person(__id, name) VALUES(5, 'Ada'); INSERT INTO person(rowid, name) "
      "VALUES(7, 'Bob')");
  EXPECT_EQ(sql("SELECT rowid, __id FROM person"), "5|5\n7|7");
  EXPECT_EQ(sql("INSERT INTO person(__id) VALUES(5)"),
            "error: UNIQUE constraint failed: person.__id");
  EXPECT_EQ(sql("INSERT OR REPLACE INTO person(__id, name) VALUES(5, 'Eve')"), "");
  EXPECT_EQ(sql("SELECT __id, name FROM person"), "5|'Eve'\n7|'Bob'");
  EXPECT_THAT(sql("UPDATE person SET rowid = 9"), HasSubstr("the id of a record cannot change"));
  EXPECT_THAT(sql("UPDATE person SET __id = 9"), HasSubstr("the id of a record cannot change"));
  EXPECT_EQ(sql("UPDATE person SET __id = __id, age = 3"), "");
}

TEST_F(Sql_Writing_Test, ThePastCannotBeChangedButCopied) {
  add("Ada", 36);
  const std::string then = std::to_string([&] {
    File file(path(), Open_Mode::read_existing);
    return Readonly_Journal(file).get_checkpoint();
  }());
  sql("DELETE FROM person");
  EXPECT_THAT(sql("DELETE FROM person WHERE __moment = " + then), HasSubstr("past of person"));
  EXPECT_THAT(sql("UPDATE person SET age = 0 WHERE __moment = " + then),
              HasSubstr("past of person"));
  EXPECT_THAT(sql("INSERT INTO person(name, __moment) VALUES('x', 41)"),
              HasSubstr("past of person"));
  EXPECT_EQ(
      sql("INSERT INTO person(__id, name, age) SELECT __id, name, age FROM person(" + then + ")"),
      "");
  EXPECT_EQ(sql("DELETE FROM city WHERE name IN (SELECT name FROM person(" + then + "))"), "");
  EXPECT_EQ(sql("SELECT __id, name, age FROM person"), "0|'Ada'|36");
}

TEST_F(Sql_Writing_Test, UpdatesWriteOnlyWhatChanges) {
  add("Ada", 36);
  sql("UPDATE person SET photo = x'000102030405060708090a0b0c0d0e0f'");
  const auto size = [&] {
    File file(path(), Open_Mode::read_existing);
    return Readonly_Journal(file).get_checkpoint();
  };
  const Offset before = size();
  sql("UPDATE person SET age = 36, photo = photo");
  EXPECT_EQ(size(), before);
  sql("UPDATE person SET age = 37");
  EXPECT_LE(size(), before + 24 + integrity_entry_size);
}

TEST_F(Sql_Writing_Test, TheSchemaIsChangedByCommandsOfJoedbi) {
  add("Ada", 36);
  const auto alter = [&](const std::string& commands) {
    return sql("SELECT joedb_alter('" + path() + "', '" + commands + "')");
  };
  EXPECT_EQ(alter("add_field person mail string\ncreate_table pet\nadd_field pet name string"),
            "3");
  EXPECT_EQ(sql("UPDATE person SET mail = 'ada@x'; INSERT INTO pet(name) VALUES('Tom')"), "");
  EXPECT_EQ(elsewhere("SELECT p.name, p.mail, pet.name FROM person p, pet", "3"),
            "'Ada'|'ada@x'|'Tom'");
  EXPECT_THAT(alter("add_field person size int8\nadd_field person mail string"),
              HasSubstr("add_field person mail string: "));
  EXPECT_THAT(sql("SELECT size FROM person"), HasSubstr("no such column"));
  EXPECT_EQ(elsewhere("SELECT mail FROM person", "3"), "'ada@x'");
  EXPECT_THAT(alter("insert_into person 7"), HasSubstr("insert_into person 7: Unknown command"));
  EXPECT_EQ(sql("SELECT count(*) FROM person"), "1");
  EXPECT_THAT(sql("ALTER TABLE person RENAME TO people"), HasSubstr("rename_table"));
  EXPECT_THAT(sql("ALTER TABLE person ADD COLUMN x"), HasSubstr("may not be altered"));
  sql("BEGIN; DELETE FROM person");
  EXPECT_THAT(alter("drop_table pet"), HasSubstr("COMMIT or ROLLBACK first"));
  sql("ROLLBACK; PRAGMA query_only = 1");
  EXPECT_THAT(alter("drop_table pet"), HasSubstr("readonly"));
}

// ---- several statements, connections, processes

class Statement_Of {
 public:
  Statement_Of(Sql_Session& session, const std::string& sql) {
    sqlite3_prepare_v2(session.connection(), sql.c_str(), -1, &statement_, nullptr);
  }
  ~Statement_Of() { sqlite3_finalize(statement_); }
  Statement_Of(const Statement_Of&) = delete;
  Statement_Of& operator=(const Statement_Of&) = delete;
  // Returns the first column of the next row, or "end".
  std::string next() {
    return sqlite3_step(statement_) == SQLITE_ROW ? Sql_Session::shown(statement_, 0) : "end";
  }

 private:
  sqlite3_stmt* statement_ = nullptr;
};

TEST_F(Sql_Writing_Test, AStatementThatReadsKeepsItsStateWhileOthersWrite) {
  const std::string longer(100, 'x');
  for (const char* const name : {"a", "b", "c"}) add(name + longer, 1);
  Statement_Of names(session_, "SELECT substr(name, 1, 1) FROM person ORDER BY name");
  EXPECT_EQ(names.next(), "'a'");
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(sql("UPDATE person SET name = 'y" + std::to_string(i) + longer +
                  "' WHERE __id = " + std::to_string(i)),
              "");
  EXPECT_EQ(sql("DELETE FROM person WHERE __id = 2"), "");
  EXPECT_EQ(names.next(), "'b'");
  EXPECT_EQ(names.next(), "'c'");
  EXPECT_EQ(names.next(), "end");
  EXPECT_EQ(sql("SELECT substr(name, 1, 2) FROM person"), "'y0'\n'y1'");
}

TEST_F(Sql_Writing_Test, AStatementInTheTransactionSeesChangesAndNoDeletedRecord) {
  for (int i = 0; i < 4; ++i) add("p" + std::to_string(i), i);
  sql("BEGIN; UPDATE person SET age = 10 WHERE __id = 0");
  Statement_Of scan(session_, "SELECT name FROM person");
  EXPECT_EQ(scan.next(), "'p0'");
  sql("DELETE FROM person WHERE __id = 1; UPDATE person SET name = 'new' WHERE __id = 2");
  EXPECT_EQ(scan.next(), "'new'");
  sql("SAVEPOINT s; INSERT INTO person(name) VALUES('x'); DELETE FROM person WHERE __id = 3; "
      "ROLLBACK TO s");
  EXPECT_EQ(scan.next(), "end");  // p3 was deleted temporarily
  EXPECT_EQ(sql("COMMIT; SELECT name FROM person ORDER BY __id"), "'p0'\n'new'\n'p3'");
}

TEST_F(Sql_Writing_Test, ConnectionsTakeTurns) {
  Sql_Session other;
  open(other);
  add("Ada", 1);
  EXPECT_EQ(other.run("INSERT INTO person(name, age) SELECT name || '!', age + 1 FROM person"), "");
  EXPECT_EQ(sql("UPDATE person SET age = age * 10"), "");
  EXPECT_EQ(other.run("SELECT name, age FROM person"), "'Ada'|10\n'Ada!'|20");

  sql("BEGIN; DELETE FROM person");
  other.run("PRAGMA busy_timeout = 1");
  EXPECT_THAT(other.run("DELETE FROM person WHERE __id = 0"),
              HasSubstr("is locked by this process: waited "));
  EXPECT_EQ(other.run("SELECT count(*) FROM person"), "2");
  sql("COMMIT");
  EXPECT_EQ(other.run("SELECT count(*) FROM person"), "0");
}

TEST_F(Sql_Writing_Test, AWriterThatIsAloneKeepsOthersOut) {
  File file(path(), Open_Mode::write_existing);
  Writable_Database db(file);
  sql("PRAGMA busy_timeout = 1");
  EXPECT_THAT(sql("INSERT INTO person(name) VALUES('x')"), HasSubstr("is locked by this process"));
  EXPECT_EQ(sql("SELECT count(*) FROM person"), "0");
}

TEST_F(Sql_Writing_Test, TablesAreNotTakenAwayInATransaction) {
  sql("BEGIN");
  add("Ada", 1);
  EXPECT_THAT(sql("SELECT joedb_close('" + path() + "')"), HasSubstr("COMMIT or ROLLBACK first"));
  EXPECT_THAT(sql("DROP TABLE person"), HasSubstr("locked"));
  sql("COMMIT");
  EXPECT_EQ(sql("SELECT joedb_close('" + path() + "')"), "1");
}

TEST_F(Sql_Writing_Test, AFileThatWasReplacedIsReadAnew) {
  add("Ada", 1);
  const std::string copy = directory_.file("b.joedb");
  {
    File file(copy, Open_Mode::create_new);
    Writable_Database db(file);
    make_tables(db);
    db.write(Insert{Table_Id(1), Record_Id(3)});
    db.soft_checkpoint();
  }
  ASSERT_EQ(std::rename(copy.c_str(), path().c_str()), 0);
  EXPECT_EQ(sql("SELECT __id FROM person"), "3");
  add("Bob", 2);
  EXPECT_EQ(elsewhere("SELECT name FROM person ORDER BY name"), "''\n'Bob'");
}

// The joedb file is written, then COMMIT fails because an SQLite file is busy.
TEST_F(Sql_Writing_Test, ACommitThatMustBeRepeatedLosesNothing) {
  const std::string native = directory_.file("native.db");
  Sql_Session reader;
  for (Sql_Session* const session : {&session_, &reader})
    session->rows("ATTACH '" + native + "' AS native; PRAGMA busy_timeout = 1");
  sql("CREATE TABLE native.t(x); INSERT INTO native.t VALUES(0)");
  for (const std::string between : {"", "ROLLBACK TO s; "}) {
    SCOPED_TRACE(between);
    sql("DELETE FROM person; BEGIN; INSERT INTO native.t VALUES(1)");
    add("Ada", 1);
    sql("SAVEPOINT s");
    add("Bob", 2);
    ASSERT_EQ(reader.run("BEGIN; SELECT count(*) > 0 FROM native.t"), "1");
    EXPECT_EQ(sql("COMMIT"), "error: database is locked");
    EXPECT_EQ(elsewhere("SELECT count(*) FROM person"), "2");
    EXPECT_EQ(sql(between + "INSERT INTO person(name) VALUES('Eve')"), "");
    reader.run("COMMIT");
    EXPECT_EQ(sql("COMMIT"), "");
    EXPECT_EQ(elsewhere("SELECT name FROM person ORDER BY name"), "'Ada'\n'Bob'\n'Eve'");
    add("Zoe", 3);
    EXPECT_EQ(elsewhere("SELECT count(*) FROM person"), "4");
  }
}

TEST_F(Sql_Writing_Test, AfterACommitThatFailedARollbackTakesLaterChangesBack) {
  const std::string native = directory_.file("native.db");
  Sql_Session reader;
  for (Sql_Session* const session : {&session_, &reader})
    session->rows("ATTACH '" + native + "' AS native; PRAGMA busy_timeout = 1");
  sql("CREATE TABLE native.t(x); INSERT INTO native.t VALUES(0)");
  sql("BEGIN; INSERT INTO native.t VALUES(1)");
  add("Ada", 1);
  ASSERT_EQ(reader.run("BEGIN; SELECT count(*) FROM native.t"), "1");
  EXPECT_EQ(sql("COMMIT"), "error: database is locked");
  add("Bob", 2);
  EXPECT_EQ(sql("ROLLBACK"), "");
  EXPECT_EQ(sql("SELECT name FROM person"), "'Ada'");
  EXPECT_EQ(elsewhere("SELECT name FROM person"), "'Ada'");
}

TEST_F(Sql_Writing_Test, AFileThatCouldNotBeReadIsReadAndWrittenWhenItCan) {
  add("Ada", 1);
  const std::string copy = directory_.file("b.joedb");
  std::filesystem::copy_file(path(), copy);
  ASSERT_EQ(std::rename(directory_.write("bad", "no joedb file").c_str(), path().c_str()), 0);
  EXPECT_THAT(sql("SELECT name FROM person"), HasSubstr("error"));
  EXPECT_THAT(sql("SELECT name FROM person"), HasSubstr("error"));
  ASSERT_EQ(std::rename(copy.c_str(), path().c_str()), 0);
  EXPECT_EQ(sql("SELECT name FROM person"), "'Ada'");
  add("Bob", 2);
  EXPECT_EQ(elsewhere("SELECT name FROM person"), "'Ada'\n'Bob'");
}

TEST_F(Sql_Writing_Test, AnUpdateOfAKeyOfTwoFieldsIsCheckedAsAWhole) {
  sql("INSERT INTO city(name, age, small, photo) VALUES('a', 1, 1, NULL), ('b', 2, 1, x'12'), "
      "('c', 2, 2, NULL)");
  EXPECT_EQ(sql("UPDATE city SET age = 1, small = 2 WHERE name = 'b'"), "");
  const std::string all = "SELECT __id, name, age, small, boss, hex(photo) FROM city";
  const std::string moved = "0|'a'|1|1|NULL|''\n1|'b'|1|2|NULL|'12'\n2|'c'|2|2|NULL|''";
  EXPECT_EQ(sql(all), moved);
  EXPECT_EQ(elsewhere(all), moved);
  EXPECT_EQ(sql("SELECT name FROM city WHERE age = 1 AND small = 2"), "'b'");
  EXPECT_EQ(sql("UPDATE city SET age = 2, small = 2, boss = 7 WHERE name = 'b'"),
            "error: UNIQUE constraint failed: city.age, city.small");
  EXPECT_EQ(sql(all), moved);
  EXPECT_EQ(sql("BEGIN; UPDATE city SET age = 2, small = 1 WHERE name = 'b'; ROLLBACK"), "");
  EXPECT_EQ(sql(all), moved);
  EXPECT_EQ(sql("UPDATE OR REPLACE city SET age = 2, small = 2 WHERE name = 'b'"), "");
  EXPECT_EQ(sql("SELECT name, age, small FROM city"), "'a'|1|1\n'b'|2|2");
}

TEST_F(Sql_Writing_Test, ReplaceMakesRoomInTwoIndexes) {
  Sql_Session session;
  const std::string options = directory_.write("b.joedbc",
                                               "create_unique_index by_name person name\n"
                                               "create_unique_index by_age person age\n");
  session.run("SELECT joedb_open('" + path() + "', '" + options + "')");
  const std::string all = "SELECT __id, name, age FROM person";
  session.run("INSERT INTO person(name, age) VALUES('a', 1), ('b', 2), ('c', 3)");
  EXPECT_EQ(session.run("UPDATE OR REPLACE person SET name = 'a', age = 2 WHERE __id = 2"), "");
  EXPECT_EQ(session.run(all), "2|'a'|2");
  session.run("INSERT INTO person(__id, name, age) VALUES(0, 'b', 1), (1, 'c', 3)");
  EXPECT_EQ(session.run("BEGIN; REPLACE INTO person(__id, name, age) VALUES(1, 'a', 1)"), "");
  EXPECT_EQ(session.run(all), "1|'a'|1");
  EXPECT_EQ(session.run("ROLLBACK; " + all), "0|'b'|1\n1|'c'|3\n2|'a'|2");
}

TEST_F(Sql_Writing_Test, ATableThatIsMadeInATransactionIsNotWrittenInIt) {
  Sql_Session session;
  session.run("BEGIN; SELECT joedb_open('" + path() + "')");
  EXPECT_THAT(session.run("INSERT INTO person(name) VALUES('Ada')"), HasSubstr("COMMIT before"));
  EXPECT_EQ(session.run("COMMIT; INSERT INTO person(name) VALUES('Ada')"), "");
  EXPECT_EQ(elsewhere("SELECT name FROM person"), "'Ada'");
}

// ---- power cuts and errors

// A simulated file that can be reopened, like a file that has a name.
class Named_Sim_File : public testing::Sim_File {
 public:
  Named_Sim_File(testing::Sim_Disk& disk, Open_Mode mode) : Sim_File(disk, mode), disk_(disk) {}
  std::unique_ptr<Abstract_File> reopen(Open_Mode mode) const override {
    return std::make_unique<Named_Sim_File>(disk_, mode);
  }

 private:
  testing::Sim_Disk& disk_;
};

// A connection to the only file of a simulated disk.
class Sim_Session {
 public:
  explicit Sim_Session(testing::Sim_Disk& disk)
      : session_([&disk](const std::string&) {
          return std::make_unique<Named_Sim_File>(disk, Open_Mode::read_existing);
        }) {
    run("SELECT joedb_open('a')");
  }
  std::string run(const std::string& sql) { return session_.run(sql); }

 private:
  Sql_Session session_;
};

std::string disk_with_tables() {
  testing::Sim_Disk disk;
  {
    testing::Sim_File file(disk);
    Writable_Database db(file);
    make_tables(db);
    db.hard_checkpoint();
  }
  return disk.content();
}

const std::vector<std::string>& transactions() {
  static const std::vector<std::string> all = {
      "INSERT INTO person(name, age, photo) VALUES('Ada', 1, x'0102'), ('Bob', 2, NULL)",
      "BEGIN; UPDATE person SET age = age + 1; INSERT INTO city(name) VALUES('Oslo'); SAVEPOINT s; "
      "DELETE FROM person; ROLLBACK TO s; DELETE FROM person WHERE name = 'Bob'; COMMIT",
      "INSERT INTO person(name) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
      "WHERE i < 2000) SELECT 'a name of some length ' || i FROM n"};
  return all;
}

std::string rows_on(const std::string& content) {
  testing::Sim_Disk disk(content);
  Sim_Session session(disk);
  return session.run("SELECT count(*), sum(age), max(name) FROM person") + '/' +
         session.run("SELECT name FROM city");
}

TEST(Sql_Writing_Crashes, APowerCutLeavesWholeTransactionsAndAllThatWereCommitted) {
  const std::string start = disk_with_tables();
  std::vector<std::string> states{rows_on(start)};
  testing::Sim_Disk disk(start);
  std::vector<std::size_t> ends;
  {
    Sim_Session session(disk);
    for (const std::string& sql : transactions()) {
      EXPECT_EQ(session.run(sql), "");
      ends.push_back(disk.io_count());
      states.push_back(rows_on(disk.content()));
    }
  }
  for (std::size_t count = 0; count <= disk.io_count(); ++count) {
    const testing::Sim_Disk then = disk.at(count);
    std::size_t committed = 0;
    while (committed < ends.size() && ends[committed] <= count) ++committed;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const std::string found = rows_on(then.power_cut(seed));
      const auto place = std::find(states.begin(), states.end(), found);
      ASSERT_NE(place, states.end()) << found;
      ASSERT_GE(static_cast<std::size_t>(place - states.begin()), committed);
    }
  }
}

TEST(Sql_Writing_Crashes, AfterAnErrorTheTransactionIsGoneAndTheNextOneWorks) {
  const std::string start = disk_with_tables();
  using Calls = testing::Sim_Fault::Calls;
  for (const Calls calls : {Calls::writes, Calls::syncs, Calls::opens, Calls::reads, Calls::locks})
    for (std::size_t number = 0; number < 40; ++number) {
      SCOPED_TRACE(std::to_string(static_cast<int>(calls)) + ", " + std::to_string(number));
      testing::Sim_Disk disk(start);
      Sim_Session session(disk);
      ASSERT_EQ(session.run(transactions()[0]), "");
      const std::string before = session.run("SELECT name, age FROM person");
      disk.set_fault({.calls = calls, .number = disk.count(calls) + number});
      const std::string result =
          session.run("UPDATE person SET age = 100; DELETE FROM person WHERE __id = 1");
      const bool has_failed = disk.has_failed();
      disk.remove_fault();
      const std::string after = session.run("SELECT name, age FROM person");
      if (!has_failed) {
        ASSERT_EQ(after, "'Ada'|100");
        break;
      }
      if (!result.empty()) {
        ASSERT_TRUE(after == before || after == "'Ada'|100\n'Bob'|100" || after == "'Ada'|100")
            << result << "\n"
            << after;
      }
      ASSERT_EQ(session.run("INSERT INTO person(name) VALUES('Eve')"), "") << result;
      ASSERT_THAT(session.run("SELECT name FROM person"), HasSubstr("'Eve'"));
      ASSERT_EQ(rows_on(disk.content()),
                session.run("SELECT count(*), sum(age), max(name) FROM person") + '/');
    }
}

// ---- against SQLite's own tables

// Two tables exist twice: as joedb tables and as SQLite's own tables. Random statements must have
// the same effect on both.
class Twin_Tables {
 public:
  Twin_Tables(std::uint64_t seed, bool has_indexes) : random_(seed) {
    {
      File file(path(), Open_Mode::create_new);
      Writable_Database db(file);
      make_tables(db);
    }
    directory_.write("a.joedbc", has_indexes ? "create_unique_index n person name\n"
                                               "create_index a person age,small\n"
                                               "create_index b city boss\n"
                                             : "create_unique_index n person name\n");
    ours_.rows("SELECT joedb_open('" + path() + "', '" + directory_.file("a.joedbc") + "')");
    for (const char* const table : {"person", "city"})
      native_.rows(std::string("CREATE TABLE ") + table +
                   "(__id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT '', age INTEGER NOT NULL "
                   "DEFAULT 0, small INTEGER NOT NULL DEFAULT 0 CHECK(small BETWEEN -128 AND 127), "
                   "is_here INTEGER NOT NULL DEFAULT 0 CHECK(is_here IN (0, 1)), boss INTEGER "
                   "CHECK(boss >= 0), height REAL, weight REAL, photo BLOB) STRICT");
    native_.rows("CREATE UNIQUE INDEX n ON person(name)");
  }

  void step() {
    const std::string sql = statement();
    const std::string ours = ours_.run(sql), native = native_.run(sql);
    ASSERT_EQ(ours.starts_with("error"), native.starts_with("error"))
        << sql << "\nours: " << ours << "\nSQLite: " << native << history_;
    history_ += "\n" + sql;
    errors_ += ours.starts_with("error");
    ASSERT_EQ(sqlite3_get_autocommit(ours_.connection()),
              sqlite3_get_autocommit(native_.connection()))
        << sql;
    compare();
  }
  void compare() {
    for (const std::string table : {"person", "city"}) {
      const std::string all = "SELECT __id, * FROM " + table + " ORDER BY __id";
      const std::string fields =
          "SELECT __id, name, age, small, is_here, boss, height, weight, "
          "photo FROM " +
          table + " ORDER BY __id";
      ASSERT_EQ(ours_.run(fields), native_.run(fields)) << history_;
      const std::string search = "SELECT __id FROM " + table +
                                 " WHERE name >= 'c' AND age > 1 "
                                 "ORDER BY name, __id";
      ASSERT_EQ(ours_.run(search), native_.run(search)) << history_;
    }
  }
  // Commits. Verifies that another connection to the file reads the same content.
  void finish() {
    ours_.run("COMMIT");
    native_.run("COMMIT");
    compare();
    Sql_Session other;
    other.rows("SELECT joedb_open('" + path() + "')");
    const std::string fields =
        "SELECT __id, name, age, small, is_here, boss, height, weight, photo "
        "FROM person ORDER BY __id";
    EXPECT_EQ(other.run(fields), native_.run(fields));
  }
  int errors() const { return errors_; }

 private:
  std::string path() const { return directory_.file("a.joedb"); }
  template <class T>
  T one_of(const std::vector<T>& list) {
    return list[random_.below(list.size())];
  }
  std::string table() { return one_of<std::string>({"person", "city"}); }
  std::string number() { return std::to_string(static_cast<int>(random_.below(12)) - 2); }
  std::string text() {
    return one_of<std::string>({"'a'", "'b'", "'c'", "'dd'", "'a long text that is far'", "''", "5",
                                "CAST(x'610062' AS TEXT)"});
  }
  std::string name() {
    return random_.below(3) == 0 ? text() : "'n" + std::to_string(random_.below(40)) + "'";
  }
  // Returns a field, and an expression whose value may not fit the field.
  std::pair<std::string, std::string> assignment(bool may_be_null) {
    switch (random_.below(9)) {
      case 0:
        return {"name", name()};
      case 1:
        return {"age", one_of<std::string>({number(), number(), "'7'", "'x'", "2.0", "2.5"})};
      case 2:
        return {"small", one_of<std::string>({number(), number(), "127", "128"})};
      case 3:
        return {"is_here", one_of<std::string>({"0", "1", "0", "1", "2"})};
      case 4:
        return {"boss", one_of<std::string>({"NULL", "3", "0", "5", "-1"})};
      case 5:
        return {"height", one_of<std::string>({"NULL", "1.5", "2", "9e999", "'x'", "'2.5'"})};
      case 6:
        return {"weight", one_of<std::string>({"NULL", "1.5", "0.25", "1024"})};
      case 7:
        return {"photo", one_of<std::string>({"NULL", "x''", "x'0102'", "zeroblob(300)", "'x'"})};
      default:
        if (may_be_null) return {"age", "NULL"};
        return {"age", number()};
    }
  }
  std::string condition() {
    return one_of<std::string>(
        {" WHERE __id = " + number(), " WHERE __id = " + number(), " WHERE age > " + number(),
         " WHERE name = " + name(), " WHERE boss IS NULL", " WHERE small < " + number(),
         " WHERE __id IN (SELECT boss FROM city)", " WHERE name LIKE 'n1%' AND age >= 0", ""});
  }
  std::string conflict() {
    return one_of<std::string>(
        {"", "", "", "", " OR IGNORE", " OR REPLACE", " OR FAIL", " OR ABORT", " OR ROLLBACK"});
  }
  std::string insertion() {
    const std::string start = "INSERT" + conflict() + " INTO " + table();
    if (random_.below(4) == 0)
      return start + "(__id, name, age, height, photo) SELECT __id + " +
             std::to_string(random_.below(30)) + ", name || 'x', age + 1, height, photo FROM " +
             table() + condition();
    // All rows set the same fields.
    std::vector<std::string> fields{"__id", "name"};
    std::vector<std::pair<std::string, std::string>> more;
    for (std::size_t i = random_.below(4); i > 0; --i) {
      auto one = assignment(false);
      if (std::find(fields.begin(), fields.end(), one.first) != fields.end()) continue;
      fields.push_back(one.first);
      more.push_back(std::move(one));
    }
    std::string result = start + "(";
    for (const std::string& field : fields) result += (&field == &fields[0] ? "" : ", ") + field;
    result += ") VALUES";
    for (std::size_t rows = 1 + random_.below(3); rows > 0; --rows) {
      result += "(" + std::to_string(random_.below(25)) + ", " + name();
      for (const auto& [field, value] : more) result += ", " + value;
      result += rows > 1 ? "), " : ")";
    }
    return result;
  }
  std::string update() {
    // Change the name of only one record, because names are unique: the order of records, and
    // therefore the first one that fails, is unspecified.
    if (random_.below(3) == 0)
      return "UPDATE" + conflict() + " person SET name = " + name() + ", age = " + number() +
             " WHERE __id = " + std::to_string(random_.below(25));
    auto [field, value] = assignment(true);
    if (field == "name") return "UPDATE city SET name = name || 'y'" + condition();
    if (random_.below(3) == 0) return "UPDATE " + table() + " SET age = age + small" + condition();
    return "UPDATE " + table() + " SET " + field + " = " + value + condition();
  }
  std::string statement() {
    switch (random_.below(16)) {
      case 0:
        return "BEGIN";
      case 1:
        return random_.flip() ? "COMMIT" : "ROLLBACK";
      case 2:
        return "SAVEPOINT " + one_of<std::string>({"a", "b"});
      case 3:
        return "ROLLBACK TO " + one_of<std::string>({"a", "b"});
      case 4:
        return "RELEASE " + one_of<std::string>({"a", "b"});
      case 5:
      case 6:
        return "DELETE FROM " + table() + condition();
      case 7:
      case 8:
      case 9:
      case 10:
        return update();
      default:
        return insertion();
    }
  }

  Random random_;
  testing::Temporary_Directory directory_;
  Sql_Session ours_, native_;
  std::string history_;
  int errors_ = 0;
};

TEST(Sql_Writing_Differential, DoesWhatSqlitesOwnTablesDo) {
  const std::uint64_t seed = testing::first_seed();
  int errors = 0;
  constexpr int worlds = 10, steps = 250;
  for (std::uint64_t i = 0; i < worlds; ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed + i));
    Twin_Tables tables(seed + i, i % 2 == 0);
    for (int k = 0; k < steps && !::testing::Test::HasFailure(); ++k) tables.step();
    if (!::testing::Test::HasFailure()) tables.finish();
    errors += tables.errors();
  }
  EXPECT_LT(errors, worlds * steps / 2);
}

}  // namespace
}  // namespace joedb
