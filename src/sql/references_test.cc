#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "joedb/io/posix_file.h"
#include "joedb/table/writable_database.h"
#include "kernel/table/declaration.h"
#include "kernel/table/references.h"
#include "sim/lab/random.h"
#include "support/sql_session.h"
#include "support/temporary_directory.h"

// Tests what the rules of references do when SQL deletes records.

namespace joedb {
namespace {

using ::testing::HasSubstr;
using On_Delete = Logical_Type::On_Delete;
using testing::Random;
using testing::Sql_Session;

const Table_Id city(1), person(2), note(3);

void add_reference(Writable_Database& db, Table_Id table, const char* name, Table_Id to,
                   On_Delete rule) {
  add_field(db, Add_Field{table, name, {Type_Code::reference, to}}, {.on_delete = rule});
}

class Sql_References_Test : public ::testing::Test {
 protected:
  Sql_References_Test() {
    {
      File file(path(), Open_Mode::create_new);
      Writable_Database db(file);
      for (const char* const name : {"city", "person", "note"}) db.write(Create_Table{name});
      for (const Table_Id table : {city, person, note})
        db.write(Add_Field{table, "name", {Type_Code::string, {}}});
      add_reference(db, person, "home", city, On_Delete::clear);
      add_reference(db, person, "boss", person, On_Delete::cascade);
      add_reference(db, note, "about", person, On_Delete::cascade);
      add_reference(db, note, "place", city, On_Delete::refuse);
      add_reference(db, note, "other", city, On_Delete::keep);
      db.soft_checkpoint();
    }
    open(session_);
    sql("INSERT INTO city(name) VALUES ('Oslo'), ('Rome'), ('Bern');"
        "INSERT INTO person(name, home, boss) VALUES ('Ada', 0, NULL), ('Bob', 1, 0), "
        "('Cy', 0, 1), ('Dora', 2, NULL);"
        "INSERT INTO note(name, about) VALUES ('a', 0), ('b', 1), ('c', 2), ('d', 3)");
  }

  std::string path() const { return directory_.file("a.joedb"); }
  void open(Sql_Session& session) {
    const std::string options = directory_.write("a.joedbc",
                                                 "create_unique_index city_by_name city name\n"
                                                 "create_unique_index person_by_name person name\n"
                                                 "create_index person_by_home person home\n");
    EXPECT_EQ(session.run("SELECT joedb_open('" + path() + "', '" + options + "')"), "3");
  }
  std::string sql(const std::string& text) { return session_.run(text); }
  // The content in this connection, which must be that of the file, too.
  std::string all() {
    const std::string text =
        "SELECT group_concat(n, ' ') FROM (SELECT 'city ' || name AS n FROM city UNION ALL SELECT "
        "name || ifnull(home, '-') || ifnull(boss, '-') FROM person UNION ALL SELECT name FROM "
        "note)";
    std::string here = sql(text);
    if (sqlite3_get_autocommit(session_.connection()) != 0) {
      Sql_Session other;
      open(other);
      EXPECT_EQ(other.run(text), here);
    }
    return here;
  }

  testing::Temporary_Directory directory_;
  Sql_Session session_;
};

TEST_F(Sql_References_Test, ADeletionClearsAndDeletes) {
  const std::string before = "'city Oslo city Rome city Bern Ada0- Bob10 Cy01 Dora2- a b c d'";
  EXPECT_EQ(all(), before);
  EXPECT_EQ(sql("BEGIN; DELETE FROM city WHERE name = 'Oslo'; SELECT changes()"), "1");
  EXPECT_EQ(all(), "'city Rome city Bern Ada-- Bob10 Cy-1 Dora2- a b c d'");
  EXPECT_EQ(sql("SAVEPOINT s; DELETE FROM person WHERE name = 'Ada'"), "");
  EXPECT_EQ(all(), "'city Rome city Bern Dora2- d'");
  EXPECT_EQ(sql("ROLLBACK TO s"), "");
  EXPECT_EQ(all(), "'city Rome city Bern Ada-- Bob10 Cy-1 Dora2- a b c d'");
  EXPECT_EQ(sql("ROLLBACK"), "");
  EXPECT_EQ(all(), before);
  EXPECT_EQ(sql("DELETE FROM person WHERE name = 'Bob'"), "");
  EXPECT_EQ(all(), "'city Oslo city Rome city Bern Ada0- Dora2- a d'");
}

TEST_F(Sql_References_Test, ARefusedDeletionIsAConstraint) {
  sql("UPDATE note SET place = 1 WHERE name = 'd'");
  EXPECT_EQ(sql("DELETE FROM city"),
            "error: city 1 cannot be deleted: note 3 refers to it (note.place has the rule "
            "on_delete refuse)");
  EXPECT_EQ(sqlite3_extended_errcode(session_.connection()), SQLITE_CONSTRAINT_FOREIGNKEY);
  // The statement leaves no trace, neither in the city before, nor in its people.
  EXPECT_EQ(all(), "'city Oslo city Rome city Bern Ada0- Bob10 Cy01 Dora2- a b c d'");
  EXPECT_EQ(sql("BEGIN; DELETE FROM note WHERE name = 'd'; DELETE FROM city; COMMIT"), "");
  EXPECT_EQ(all(), "'Ada-- Bob-0 Cy-1 Dora-- a b c'");
}

TEST_F(Sql_References_Test, OneStatementDeletesRecordsThatARuleHasDeletedAlready) {
  EXPECT_EQ(sql("DELETE FROM person WHERE __id >= 0"), "");
  EXPECT_EQ(all(), "'city Oslo city Rome city Bern'");
  sql("WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99) "
      "INSERT INTO person(__id, name, boss) SELECT i, 'p' || i, nullif(i - 1, -1) FROM n");
  EXPECT_EQ(sql("SELECT count(*) FROM person"), "100");
  EXPECT_EQ(sql("DELETE FROM person WHERE __id IN (SELECT p.__id FROM person p JOIN person b ON "
                "p.boss = b.__id WHERE b.__id >= 20)"),
            "");
  EXPECT_EQ(sql("SELECT count(*) FROM person"), "21");
  EXPECT_EQ(sql("DELETE FROM person"), "");
  EXPECT_EQ(sql("SELECT count(*) FROM person"), "0");
}

TEST_F(Sql_References_Test, AReaderSkipsWhatARuleHasDeleted) {
  EXPECT_EQ(sql("BEGIN; UPDATE city SET name = 'Paris' WHERE __id = 2"), "");
  sqlite3_stmt* statement = nullptr;
  ASSERT_EQ(
      sqlite3_prepare_v2(session_.connection(), "SELECT name FROM note", -1, &statement, nullptr),
      SQLITE_OK);
  ASSERT_EQ(sqlite3_step(statement), SQLITE_ROW);
  EXPECT_EQ(sql("DELETE FROM person WHERE name = 'Bob'"), "");  // deletes notes b and c
  ASSERT_EQ(sqlite3_step(statement), SQLITE_ROW);
  EXPECT_STREQ(reinterpret_cast<const char*>(sqlite3_column_text(statement, 0)), "d");
  EXPECT_EQ(sqlite3_step(statement), SQLITE_DONE);
  sqlite3_finalize(statement);
  EXPECT_EQ(sql("COMMIT"), "");
}

TEST_F(Sql_References_Test, TriggersSeeTheConsequences) {
  sql("CREATE TEMP TABLE log(text);"
      "CREATE TEMP TRIGGER t AFTER INSERT ON log BEGIN DELETE FROM person WHERE name = new.text; "
      "INSERT INTO log SELECT 'left: ' || count(*) FROM note; END");
  EXPECT_EQ(sql("INSERT INTO log VALUES ('Bob'); SELECT text FROM log"), "'Bob'\n'left: 2'");
}

TEST_F(Sql_References_Test, ReplaceDeletesByTheRules) {
  // By a key: the old Oslo is deleted.
  EXPECT_EQ(sql("INSERT OR REPLACE INTO city(name) VALUES ('Oslo')"), "");
  EXPECT_EQ(sql("SELECT name FROM person WHERE home IS NULL"), "'Ada'\n'Cy'");
  // By an id: so is the old record of the id, with those below it.
  EXPECT_EQ(sql("REPLACE INTO person(__id, name) VALUES (1, 'New')"), "");
  EXPECT_EQ(all(), "'city Rome city Bern city Oslo Ada-- New-- Dora2- a d'");
}

TEST_F(Sql_References_Test, AnUpdateThatReplacesItsOwnBossEndsBothRecords) {
  EXPECT_EQ(sql("UPDATE OR REPLACE person SET name = 'Ada' WHERE name = 'Bob'"), "");
  EXPECT_EQ(all(), "'city Oslo city Rome city Bern Dora2- d'");
}

TEST_F(Sql_References_Test, AFailedReplaceRestoresWhatTheRulesDid) {
  sql("UPDATE note SET place = 1 WHERE name = 'a'");
  EXPECT_THAT(sql("UPDATE OR REPLACE city SET name = 'Rome' WHERE name = 'Oslo'"),
              HasSubstr("note.place has the rule"));
  EXPECT_EQ(all(), "'city Oslo city Rome city Bern Ada0- Bob10 Cy01 Dora2- a b c d'");
}

TEST_F(Sql_References_Test, AnUpdateThatInsertsARecordAgainKeepsItsReferences) {
  {
    File file(path(), Open_Mode::write_existing);
    Writable_Database db(file);
    db.write(Add_Field{city, "x", {Type_Code::int64, {}}});
    db.soft_checkpoint();
  }
  Sql_Session other;
  const std::string options =
      directory_.write("b.joedbc", "create_unique_index city_by_name_and_x city name,x\n");
  ASSERT_EQ(other.run("SELECT joedb_open('" + path() + "', '" + options + "')"), "3");
  // With the name alone, the key would be that of the other city.
  EXPECT_EQ(other.run("UPDATE city SET name = 'Rome', x = 2 WHERE __id = 0"), "");
  EXPECT_EQ(other.run("SELECT name FROM person WHERE home = 0"), "'Ada'\n'Cy'");
}

TEST_F(Sql_References_Test, ForeignKeysAreATable) {
  EXPECT_EQ(sql("SELECT \"schema\", \"table\", \"column\", \"references\", on_delete FROM "
                "joedb_foreign_keys"),
            "'temp'|'person'|'home'|'city'|'SET NULL'\n"
            "'temp'|'person'|'boss'|'person'|'CASCADE'\n"
            "'temp'|'note'|'about'|'person'|'CASCADE'\n"
            "'temp'|'note'|'place'|'city'|'RESTRICT'\n"
            "'temp'|'note'|'other'|'city'|'NO ACTION'");
  EXPECT_EQ(sql("SELECT joedb_close('" + path() + "'); SELECT count(*) FROM joedb_foreign_keys"),
            "0");
}

// The same random statements give the same content in tables of SQLite, with foreign keys.
TEST(Sql_References, AreKeptAsSqliteKeepsForeignKeys) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    const testing::Temporary_Directory directory;
    const std::string path = directory.file("a.joedb");
    const char* const rules[] = {"", " ON DELETE SET NULL", " ON DELETE CASCADE",
                                 ""};  // checked at the end of the statement
    Sql_Session ours, theirs;
    theirs.run("PRAGMA foreign_keys = ON");
    {
      File file(path, Open_Mode::create_new);
      Writable_Database db(file);
      for (const char* const name : {"a", "b"}) db.write(Create_Table{name});
      for (std::uint16_t table = 1; table <= 2; ++table) {
        std::string columns;
        for (const char* const field : {"x", "y"}) {
          const auto to = static_cast<std::uint16_t>(1 + random.below(2));
          const std::size_t rule = 1 + random.below(3);
          add_reference(db, Table_Id(table), field, Table_Id(to), static_cast<On_Delete>(rule));
          columns += std::string(", ") + field + " REFERENCES " + (to == 1 ? "a" : "b") + "(id)" +
                     rules[rule];
        }
        theirs.run(std::string("CREATE TABLE ") + (table == 1 ? "a" : "b") +
                   "(id INTEGER PRIMARY KEY" + columns + ")");
      }
      db.soft_checkpoint();
    }
    ASSERT_EQ(ours.run("SELECT joedb_open('" + path + "')"), "2");
    const auto content = [](Sql_Session& session, const std::string& id) {
      return session.run("SELECT 'a', " + id + ", x, y FROM a UNION ALL SELECT 'b', " + id +
                         ", x, y FROM b ORDER BY 1, 2");
    };
    const auto is_error = [](const std::string& text) { return text.starts_with("error"); };
    theirs.run("BEGIN");
    ours.run("BEGIN");
    for (int step = 0; step < 60; ++step) {
      const auto id = [&] { return std::to_string(random.below(10)); };
      const auto reference = [&] { return random.below(3) == 0 ? std::string("NULL") : id(); };
      const std::string table = random.flip() ? "a" : "b";
      std::string change;
      switch (random.below(3)) {
        case 0:
          change = "DELETE FROM " + table + " WHERE ID = " + id();
          break;
        case 1:
          change = "UPDATE " + table + " SET x = " + reference() + " WHERE ID = " + id();
          break;
        default:
          change = "INSERT INTO " + table + "(ID, x, y) VALUES (" + id() + ", " + reference() +
                   ", " + reference() + ")";
      }
      const auto with_id = [&](const std::string& name) {
        std::string text = change;
        if (const std::size_t at = text.find("ID"); at != text.npos) text.replace(at, 2, name);
        return text;
      };
      const bool is_refused = is_error(theirs.run(with_id("id")));
      // joedb takes references to records that do not exist; SQLite does not.
      if (is_refused && !change.starts_with("DELETE")) continue;
      EXPECT_EQ(is_error(ours.run(with_id("__id"))), is_refused) << change << ", seed " << seed;
      ASSERT_EQ(content(ours, "__id"), content(theirs, "id")) << change << ", seed " << seed;
    }
    EXPECT_EQ(ours.run("COMMIT"), "");
    File file(path, Open_Mode::read_existing);
    Readonly_Journal journal(file);
    Database database;
    load(database, journal);
    EXPECT_TRUE(dangling_references(database).empty());
  }
}

}  // namespace
}  // namespace joedb
