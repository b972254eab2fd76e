#include "exchange/sqlite_import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "joedb/io/memory_file.h"
#include "kernel/table/declaration.h"
#include "support/error_of.h"
#include "support/temporary_directory.h"
#include "text/dump.h"
#include "text/json.h"

namespace joedb {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;

class Sqlite_Import_Test : public ::testing::Test {
 protected:
  ~Sqlite_Import_Test() override { db.rollback(); }

  std::string path() const { return directory.file("in.db"); }

  // Executes statements on the SQLite file.
  void sql(const std::string& statements) {
    file.reset();
    sqlite3* connection = nullptr;
    ASSERT_EQ(sqlite3_open(path().c_str(), &connection), SQLITE_OK);
    char* error = nullptr;
    sqlite3_exec(connection, statements.c_str(), nullptr, nullptr, &error);
    EXPECT_STREQ(error, nullptr);
    sqlite3_free(error);
    sqlite3_close(connection);
  }

  Sqlite_Plan plan(const std::vector<std::string>& tables = {}) {
    file = std::make_unique<Sqlite>(path(), "in.db", Sqlite::Use::read);
    return {*file, tables, [](std::int64_t) {}};
  }

  // Imports the file. Returns "TABLE inserted updated unchanged deleted" for each table.
  std::vector<std::string> import(Sqlite_Import_Options options = {},
                                  const std::vector<std::string>& tables = {}) {
    const Sqlite_Plan all = plan(tables);
    std::vector<std::string> result;
    Sqlite_Import importer(*file, all, options);
    for (const auto& [table, c] : importer.run(db, [](std::int64_t) {})) {
      std::ostringstream line;
      line << table << ' ' << c.inserted << ' ' << c.updated << ' ' << c.unchanged << ' '
           << c.deleted;
      result.push_back(line.str());
    }
    db.soft_checkpoint();
    notes = importer.notes();
    indexes = sqlite_indexes(all, db.get_database(), "in.db");
    return result;
  }
  std::string import_error(Sqlite_Import_Options options = {}) {
    const std::string error = error_of([&] { import(options); });
    db.rollback();
    return error;
  }

  // Returns "TABLE FIELD TYPE" for each field.
  std::vector<std::string> fields() {
    std::vector<std::string> result;
    const Database& content = db.get_database();
    for (const Table* table : live_tables(content))
      for_each_field(*table, [&](Field_Id, const Field& field) {
        result.push_back(table->name() + ' ' + field.name + ' ' +
                         type_text(content, *field.column, "none"));
      });
    return result;
  }
  // Returns the tables as JSON, without white space.
  std::string json() {
    std::ostringstream out;
    write_json(db.get_database(), out, false);
    std::string text;
    for (const char c : out.str())
      if (c != '\n' && c != ' ') text += c;
    return text;
  }

  testing::Temporary_Directory directory;
  Memory_File journal;
  Writable_Database db{journal};
  std::unique_ptr<Sqlite> file;
  std::string indexes;
  std::vector<std::string> notes;  // of the last import
};

// ---- types --------------------------------------------------------------------------------------

TEST_F(Sqlite_Import_Test, TypesAreThoseOfTheDeclarations) {
  sql("CREATE TABLE t(a INTEGER, b INT, c BIGINT, d SMALLINT, e TINYINT, f BOOLEAN, g TEXT,"
      " h VARCHAR(20), i REAL, j DOUBLE PRECISION, k FLOAT, l DECIMAL(10,2), m BLOB, n DATE, o)");
  import();
  EXPECT_THAT(fields(),
              ElementsAre("t a int64", "t b int64", "t c int64", "t d int16", "t e int8",
                          "t f boolean", "t g string", "t h string", "t i float64", "t j float64",
                          "t k float64", "t l decimal(2)", "t m blob", "t n date", "t o string"));
}

TEST_F(Sqlite_Import_Test, ValuesMakeTypesLarger) {
  sql("CREATE TABLE t(a TINYINT, b SMALLINT, c BOOLEAN, d INTEGER, e INTEGER, f, g, h, i,"
      " j DATETIME, k NUMERIC, l BLOB);"
      "INSERT INTO t VALUES(200, 40000, 2, 1.5, 'x', 7, 1.5, x'00', 'a', 1700000000, 1, 'text');"
      "INSERT INTO t VALUES(1, 1, 0, 2, 3, NULL, 2, NULL, 1, 1700000001, 9223372036854775807,"
      " x'41')");
  import();
  EXPECT_THAT(fields(), ElementsAre("t a int16", "t b int32", "t c int64", "t d float64",
                                    "t e string", "t f int64 optional", "t g float64", "t h blob",
                                    "t i string", "t j int64", "t k int64", "t l string"));
  EXPECT_THAT(json(), HasSubstr("\"e\":[\"x\",\"3\"]"));
  EXPECT_THAT(json(), HasSubstr("\"k\":[1,9223372036854775807]"));
  EXPECT_THAT(json(), HasSubstr("\"l\":[\"text\",\"A\"]"));
}

TEST_F(Sqlite_Import_Test, NumbersThatNoFloatHoldsBecomeText) {
  sql("CREATE TABLE t(a);INSERT INTO t VALUES(9007199254740993);INSERT INTO t VALUES(0.5)");
  import();
  EXPECT_THAT(json(), HasSubstr("\"a\":[\"9007199254740993\",\"0.5\"]"));
}

TEST_F(Sqlite_Import_Test, MentionsWhatBecomesText) {
  sql("CREATE TABLE t(code INTEGER_OR_TEXT, n INT, b, s TEXT);"
      "INSERT INTO t VALUES(1, 5, x'41', 'a'), ('A', 'x', 'b', 'b'), (2.5, 7, 'c', 'c')");
  EXPECT_THAT(plan().notes, ElementsAre("numbers become texts: t.code, in 2 rows",
                                        "numbers become texts: t.n, in 2 rows",
                                        "bytes become texts: t.b, in 1 row"));
}

TEST_F(Sqlite_Import_Test, NullStaysMissing) {
  sql("CREATE TABLE t(a INT, b TEXT, c BOOL, d REAL, e BLOB, f TINYINT, g DATE, h DECIMAL(9,2));"
      "INSERT INTO t VALUES(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),"
      "(1, '', 1, 0.5, x'00', -128, '2026-01-31', 12.5)");
  EXPECT_THAT(plan().notes, ElementsAre());
  import();
  EXPECT_THAT(fields(),
              ElementsAre("t a int64 optional", "t b string optional", "t c boolean optional",
                          "t d float64", "t e blob", "t f int16 optional", "t g date optional",
                          "t h decimal(2) optional"));
  EXPECT_THAT(json(), HasSubstr("\"a\":[null,1],\"b\":[null,\"\"],\"c\":[null,true]"));
  EXPECT_THAT(json(),
              HasSubstr("\"f\":[null,-128],\"g\":[null,\"2026-01-31\"],\"h\":[null,12.50]"));
}

TEST_F(Sqlite_Import_Test, MentionsNullThatHasNoValueOfItsOwn) {
  sql("CREATE TABLE t(a INT, b TEXT);"
      "INSERT INTO t VALUES(NULL, NULL), (-9223372036854775808, x'ff')");
  EXPECT_THAT(plan().notes, ElementsAre("bytes become texts: t.b, in 1 row"));
  import();
  EXPECT_THAT(notes,
              ElementsAre("NULL becomes 0: t.a, in 1 row", "NULL becomes \"\": t.b, in 1 row"));
}

TEST_F(Sqlite_Import_Test, MentionsNullForFieldsThatAreThere) {
  sql("CREATE TABLE t(id INTEGER PRIMARY KEY, a INT, b TEXT, c REAL);"
      "INSERT INTO t VALUES(1, 5, 'x', 0.5)");
  import();
  EXPECT_THAT(notes, ElementsAre());
  sql("UPDATE t SET a = NULL, b = NULL, c = NULL");
  EXPECT_THAT(import({.updates = true}), ElementsAre("t 0 1 0 0"));
  EXPECT_THAT(notes,
              ElementsAre("NULL becomes 0: t.a, in 1 row", "NULL becomes \"\": t.b, in 1 row"));
}

TEST_F(Sqlite_Import_Test, ATextMayBeTheOneThatMeansMissing) {
  sql("CREATE TABLE t(a TEXT); INSERT INTO t VALUES(NULL), (CAST(x'ff' AS TEXT))");
  EXPECT_THAT(import(), ElementsAre("t 2 0 0 0"));
  EXPECT_THAT(fields(), ElementsAre("t a string"));
  EXPECT_THAT(notes, ElementsAre("NULL becomes \"\": t.a, in 1 row"));
}

TEST_F(Sqlite_Import_Test, RecordsThatAreThereHaveNoValueInNewFields) {
  sql("CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES(1), (2)");
  import();
  sql("DELETE FROM t; ALTER TABLE t ADD COLUMN d DATE; ALTER TABLE t ADD COLUMN p DECIMAL(9,2);"
      "INSERT INTO t VALUES(2, '2026-01-31', 1.5)");
  import({.updates = true});
  EXPECT_THAT(fields(), ElementsAre("t id int64", "t d date optional", "t p decimal(2) optional"));
  EXPECT_THAT(json(), HasSubstr("\"d\":[null,\"2026-01-31\"],\"p\":[null,1.50]"));
}

TEST_F(Sqlite_Import_Test, AnEmptyTextIsNoDecimal) {
  sql("CREATE TABLE t(a DECIMAL(10,2)); INSERT INTO t VALUES(12.5), ('')");
  EXPECT_THAT(plan().notes, ElementsAre("not all values are of the type DECIMAL(10,2): t.a",
                                        "numbers become texts: t.a, in 1 row"));
  import();
  EXPECT_THAT(json(), HasSubstr("\"a\":[\"12.5\",\"\"]"));
}

TEST_F(Sqlite_Import_Test, TimesAreRewrittenOnlyIfNothingIsLost) {
  sql("CREATE TABLE t(a TIMESTAMP, b TIMESTAMP, c DATETIME, d DATE, e DATETIME);"
      "INSERT INTO t VALUES('2026-01-31T12:00:00Z', '2026-01-31', '2026-01-31 12:00:00+02:00',"
      " ' 026-01-31', '2026-01-31 12:00:00.5')");
  EXPECT_THAT(plan().notes,
              ElementsAre("not all values are of the type DATETIME: t.c",
                          "not all values are of the type DATE: t.d",
                          "times will be written like 2026-01-31T12:00:00.500Z: t.e"));
  import();
  EXPECT_THAT(fields(), ElementsAre("t a timestamp(s)", "t b date", "t c string", "t d string",
                                    "t e timestamp(ms)"));
}

TEST_F(Sqlite_Import_Test, DeclaredTypesBecomeLogicalIfAllValuesFit) {
  sql("CREATE TABLE t(a DATE, b DATETIME, c TIMESTAMP WITH TIME ZONE, d DECIMAL(10,2),"
      " e NUMERIC(10, 3), f DATE, g DATETIME, h DECIMAL(10,2));"
      "INSERT INTO t VALUES('2026-01-31', '2026-01-31 12:00:00', '2026-01-31T11:00:00Z', 12.5,"
      " 1, 20484, 1769817600, 1.005);"
      "INSERT INTO t VALUES('1969-12-31', '2026-01-31T12:00:00.123456Z', '2026-01-31T00:00:00Z', "
      "'7.10', "
      "2.125,"
      " '2026-01-31', 'now', 2)");
  EXPECT_THAT(
      plan().notes,
      ElementsAre("times will be written like 2026-01-31T12:00:00.000000Z: t.b",
                  "not all values are of the type DATE: t.f",
                  "not all values are of the type DATETIME: t.g",
                  "not all values are of the type DECIMAL(10,2): t.h",
                  "numbers become texts: t.f, in 1 row", "numbers become texts: t.g, in 1 row"));
  import();
  EXPECT_THAT(fields(),
              ElementsAre("t a date", "t b timestamp", "t c timestamp(s)", "t d decimal(2)",
                          "t e decimal(3)", "t f string", "t g string", "t h float64"));
  EXPECT_THAT(json(), HasSubstr("\"c\":[\"2026-01-31T11:00:00Z\",\"2026-01-31T00:00:00Z\"],"
                                "\"d\":[12.50,7.10],\"e\":[1.000,2.125]"));
}

TEST_F(Sqlite_Import_Test, OtherDeclaredTypesBecomeLogicalIfTheTextsStayTheSame) {
  sql("CREATE TABLE t(a DECIMAL(10), b UUID, c UUID, d JSON, e DATETIME, f JSON);"
      "INSERT INTO t VALUES(12, '2f1acc6c-3d9a-4f5b-8b1e-0c2b1f1d9a77',"
      " '2F1ACC6C-3D9A-4F5B-8B1E-0C2B1F1D9A77', '{}', '2026-01-31', x'00'),"
      " (-3, NULL, NULL, '[1]', NULL, NULL)");
  EXPECT_THAT(plan().notes, ElementsAre("not all values are of the type UUID: t.c",
                                        "not all values are of the type JSON: t.f"));
  import();
  EXPECT_THAT(fields(), ElementsAre("t a decimal(0)", "t b uuid optional", "t c string optional",
                                    "t d json", "t e date optional", "t f blob"));
}

TEST_F(Sqlite_Import_Test, TextsInUtf16AreRead) {
  sql("PRAGMA encoding = 'UTF-16'; CREATE TABLE t(a TEXT); INSERT INTO t "
      "VALUES('h\xc3\xa9\xe2\x82\xac')");
  import();
  EXPECT_THAT(json(), HasSubstr("h\xc3\xa9\xe2\x82\xac"));
}

// ---- names --------------------------------------------------------------------------------------

// SQLite takes the default from the schema, so there are more values than fit in the file.
TEST_F(Sqlite_Import_Test, AColumnMayHaveBeenAddedWithADefaultValue) {
  sql("CREATE TABLE t(a INTEGER); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
      "WHERE i < 1000) INSERT INTO t SELECT i FROM n;"
      "ALTER TABLE t ADD COLUMN note TEXT DEFAULT '" +
      std::string(500, 'x') + "'");
  EXPECT_THAT(import(), ElementsAre("t 1000 0 0 0"));
}

// References to later records need a second pass.
TEST_F(Sqlite_Import_Test, TextsInUtf16MayBeReadTwice) {
  sql("PRAGMA encoding = 'UTF-16';"
      "CREATE TABLE person(name TEXT PRIMARY KEY, boss TEXT REFERENCES person(name), note TEXT);"
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)"
      "INSERT INTO person SELECT 'p' || i, 'p' || (301 - i), replace(hex(zeroblob(6500)), '00', "
      "char(28450)) FROM n");
  EXPECT_THAT(import(), ElementsAre("person 300 0 0 0"));
}

TEST_F(Sqlite_Import_Test, NamesBecomeIdentifiers) {
  sql("CREATE TABLE \"my \"\"table\"\"\"(\"full name\" TEXT, \"a__b\", \"select\");"
      "INSERT INTO \"my \"\"table\"\"\" VALUES('x', 1, 2)");
  EXPECT_THAT(plan().notes, ElementsAre("renamed: table my \"table\" is now my_table",
                                        "renamed: column my \"table\".full name is now full_name",
                                        "renamed: column my \"table\".a__b is now a_b"));
  import();
  EXPECT_THAT(fields(), ElementsAre("my_table full_name string", "my_table a_b int64",
                                    "my_table select int64"));
}

TEST_F(Sqlite_Import_Test, AColumnMayBeCalledRowid) {
  sql("CREATE TABLE t(rowid TEXT, oid TEXT);INSERT INTO t VALUES('a','b');"
      "CREATE TABLE u(rowid, _rowid_, oid);INSERT INTO u VALUES(1,2,3),(0,0,0)");
  import();
  EXPECT_EQ(json(),
            "{\"t\":{\"__size\":1,\"rowid\":[\"a\"],\"oid\":[\"b\"]},"
            "\"u\":{\"__size\":2,\"rowid\":[1,0],\"_rowid_\":[2,0],\"oid\":[3,0]}}");
}

// ---- content that is not imported ---------------------------------------------------------------

TEST_F(Sqlite_Import_Test, NamesWhatItSkips) {
  sql("CREATE TABLE t(a INT, b AS (a + 1), c AS (a + 2) STORED); CREATE VIEW v AS SELECT * FROM t;"
      "CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END;"
      "CREATE INDEX e ON t(a + 1); CREATE INDEX p ON t(a) WHERE a > 0;"
      "CREATE VIRTUAL TABLE f USING fts5(x); INSERT INTO t VALUES(1)");
  EXPECT_THAT(plan().notes,
              ElementsAre("skipped: generated column t.b", "skipped: generated column t.c",
                          "skipped: index on an expression e", "skipped: partial index p",
                          "skipped: view v", "skipped: virtual table f", "skipped: trigger r"));
  EXPECT_THAT(import(), ElementsAre("t 1 0 0 0"));
  EXPECT_THAT(fields(), ElementsAre("t a int64"));
}

TEST_F(Sqlite_Import_Test, ImportsOnlyTheTablesThatAreWanted) {
  sql("CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(a REFERENCES a);"
      "INSERT INTO a VALUES(7),(8); INSERT INTO b VALUES(8)");
  EXPECT_THAT(plan({"B"}).notes, ElementsAre("not imported: table a, to which b.a refers"));
  EXPECT_EQ(error_of([&] { plan({"c"}); }), "in.db: there is no table c");
  EXPECT_THAT(import({}, {"b"}), ElementsAre("b 1 0 0 0"));
  EXPECT_EQ(json(), "{\"b\":{\"__size\":1,\"a\":[8]}}");
}

TEST_F(Sqlite_Import_Test, LooksUpRecordsThatWereImportedBefore) {
  sql("CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(a REFERENCES a);"
      "INSERT INTO a VALUES(7),(8); INSERT INTO b VALUES(8)");
  import({}, {"a"});
  EXPECT_THAT(import({}, {"b"}), ElementsAre("b 1 0 0 0"));
  EXPECT_EQ(json(), "{\"a\":{\"__size\":2,\"id\":[7,8]},\"b\":{\"__size\":1,\"a\":[1]}}");
}

// ---- references ---------------------------------------------------------------------------------

TEST_F(Sqlite_Import_Test, ForeignKeysBecomeReferencesWhateverTheirOrder) {
  sql("CREATE TABLE city(name TEXT, country TEXT REFERENCES country);"
      "CREATE TABLE country(code TEXT PRIMARY KEY) WITHOUT ROWID;"
      "INSERT INTO city VALUES('Lyon','FR'),('Oslo','NO'),('Atlantis',NULL);"
      "INSERT INTO country VALUES('NO'),('FR')");
  import();
  EXPECT_THAT(fields(), Contains("city country references country"));
  EXPECT_THAT(json(), HasSubstr("\"code\":[\"FR\",\"NO\"]"));
  EXPECT_THAT(json(), HasSubstr("\"country\":[0,1,-1]"));
}

TEST_F(Sqlite_Import_Test, TablesMayReferToThemselvesAndToEachOther) {
  sql("CREATE TABLE person(id INTEGER PRIMARY KEY, boss INT REFERENCES person, home INT REFERENCES "
      "house(number)); CREATE TABLE house(number INT UNIQUE, owner INT REFERENCES person(id));"
      "INSERT INTO person VALUES(10, 30, 7),(20, NULL, NULL),(30, 30, 8);"
      "INSERT INTO house VALUES(8, 10),(7, 20)");
  EXPECT_THAT(import(), ElementsAre("person 3 0 0 0", "house 2 0 0 0"));
  EXPECT_THAT(json(), HasSubstr("\"boss\":[2,-1,2],\"home\":[1,-1,0]"));
  EXPECT_THAT(json(), HasSubstr("\"owner\":[0,1]"));
}

TEST_F(Sqlite_Import_Test, ActionsOfForeignKeysBecomeRules) {
  sql("CREATE TABLE city(k TEXT PRIMARY KEY, l INT, capital_of INT REFERENCES land ON DELETE SET "
      "NULL, UNIQUE(k, l));"
      "CREATE TABLE land(id INTEGER PRIMARY KEY, capital TEXT REFERENCES city ON DELETE RESTRICT);"
      "CREATE TABLE person(id INTEGER PRIMARY KEY, home TEXT REFERENCES city(k) ON DELETE CASCADE,"
      " boss INT REFERENCES person ON DELETE CASCADE, a TEXT REFERENCES city ON DELETE NO ACTION,"
      " b TEXT REFERENCES city ON DELETE SET DEFAULT, c TEXT, d INT,"
      " FOREIGN KEY(c, d) REFERENCES city(k, l) ON DELETE CASCADE);"
      "INSERT INTO city VALUES('x', 1, NULL); INSERT INTO land VALUES(5, 'x');"
      "UPDATE city SET capital_of = 5; INSERT INTO person VALUES(7, 'x', 7, 'x', 'x', 'x', 1)");
  EXPECT_THAT(plan().notes,
              ElementsAre("no rule: person.b, ON DELETE SET DEFAULT",
                          "no reference: person.c, d, because it is a key of several columns"));
  import();
  EXPECT_THAT(
      fields(),
      ElementsAre("city k string", "city l int64",
                  "city capital_of references land on_delete clear", "land id int64",
                  "land capital references city on_delete refuse", "person id int64",
                  "person home references city on_delete cascade",
                  "person boss references person on_delete cascade", "person a references city",
                  "person b references city", "person c string", "person d int64"));
}

// Otherwise the import would depend on the order of the tables.
TEST_F(Sqlite_Import_Test, RulesCountWhenAllTablesAreImported) {
  sql("CREATE TABLE city(__id INTEGER PRIMARY KEY);"
      "CREATE TABLE person(__id INTEGER PRIMARY KEY, home INT REFERENCES city ON DELETE RESTRICT,"
      " boss INT REFERENCES person ON DELETE CASCADE);"
      "INSERT INTO city VALUES(0),(1),(2);"
      "INSERT INTO person VALUES(0, 0, NULL),(1, 0, 0),(2, 1, 0)");
  import();
  // One person moves, and one is gone, with the city; the boss of the others is gone, too.
  sql("PRAGMA foreign_keys = OFF; DELETE FROM city WHERE __id IN (0, 2);"
      "DELETE FROM person WHERE __id = 0; UPDATE person SET home = 1, boss = NULL");
  EXPECT_THAT(import({.deletes_missing = true}), ElementsAre("city 0 0 1 2", "person 0 2 0 1"));
  EXPECT_THAT(json(), HasSubstr("\"home\":[0,0]"));

  // A table that is not imported keeps its references by their rules.
  sql("DELETE FROM city; INSERT INTO city VALUES(5)");
  EXPECT_EQ(error_of([&] { import({.deletes_missing = true}, {"city"}); }),
            "city 1 cannot be deleted: person 1 refers to it (person.home has the rule on_delete "
            "refuse)");
  db.rollback();
  declare_type(db, Table_Id(2), Field_Id(1), {.on_delete = Logical_Type::On_Delete::clear});
  db.soft_checkpoint();
  import({.deletes_missing = true}, {"city"});
  EXPECT_THAT(json(), HasSubstr("\"home\":[-1,-1]"));
}

TEST_F(Sqlite_Import_Test, AKeyThatIsAForeignKeyStaysAValue) {
  sql("CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(id INT PRIMARY KEY REFERENCES a);"
      "CREATE TABLE c(b INT REFERENCES b); INSERT INTO a VALUES(5),(6);"
      "INSERT INTO b VALUES(6); INSERT INTO c VALUES(6)");
  EXPECT_THAT(plan().notes, ElementsAre("no reference: b.id, because others refer to it"));
  import();
  EXPECT_THAT(fields(), ElementsAre("a id int64", "b id int64", "c b references b"));
  EXPECT_THAT(json(), HasSubstr("\"b\":[0]"));
}

TEST_F(Sqlite_Import_Test, ADanglingReferenceIsAnErrorOrNull) {
  sql("CREATE TABLE a(id INTEGER PRIMARY KEY); CREATE TABLE b(x INT, a INT REFERENCES a);"
      "INSERT INTO b VALUES(0, 7)");
  EXPECT_EQ(import_error(),
            "in.db: table b, rowid 1, column a: table a has no record whose id is `7`; "
            "--null-dangling makes such references null");
  EXPECT_TRUE(db.get_database().tables().empty());
  import({.ignores_dangling = true});
  EXPECT_THAT(json(), HasSubstr("\"a\":[-1]"));
}

// ---- updates ------------------------------------------------------------------------------------

TEST_F(Sqlite_Import_Test, WithKeysOnlyDifferencesAreWritten) {
  sql("CREATE TABLE country(code TEXT PRIMARY KEY, name TEXT);"
      "CREATE TABLE city(id INTEGER PRIMARY KEY, country TEXT REFERENCES country);"
      "INSERT INTO country VALUES('FR','France'),('NO','Norway');"
      "INSERT INTO city VALUES(1,'FR'),(2,'NO')");
  import();
  const Offset position = db.get_journal().get_position();
  EXPECT_THAT(import({.updates = true}), ElementsAre("country 0 0 2 0", "city 0 0 2 0"));
  EXPECT_EQ(db.get_journal().get_position(), position);

  sql("UPDATE country SET name = 'Norge' WHERE code = 'NO'; DELETE FROM city WHERE id = 1;"
      "INSERT INTO city VALUES(3,'FR')");
  EXPECT_THAT(import({.updates = true, .deletes_missing = true}),
              ElementsAre("country 0 1 1 0", "city 1 0 1 1"));
  EXPECT_THAT(json(), HasSubstr("\"name\":[\"France\",\"Norge\"]"));
}

TEST_F(Sqlite_Import_Test, AKeyMustBeThere) {
  sql("CREATE TABLE t(a INT); INSERT INTO t VALUES(1),(1)");
  EXPECT_EQ(import_error({.deletes_missing = true}),
            "in.db: table t has no record ids: --update or --key says what identifies its records");
  EXPECT_EQ(import_error({.updates = true}),
            "in.db: table t has no primary key: --key says which columns identify its records, and "
            "--table which tables to import");
  EXPECT_EQ(import_error({.updates = true, .key = {"b"}}),
            "in.db: table t has no column b for the key");
  EXPECT_THAT(import_error({.updates = true, .key = {"A"}}),
              HasSubstr("in.db: table t, rowid 2: a row before has this key, too: a = 1"));
}

TEST_F(Sqlite_Import_Test, RecordIdsIdentifyRecords) {
  sql("CREATE TABLE t(__id INTEGER PRIMARY KEY, a INT, t INT REFERENCES t);"
      "INSERT INTO t VALUES(2, 5, 7),(0, 6, NULL)");
  import();
  EXPECT_THAT(fields(), ElementsAre("t a int64", "t t references t"));
  EXPECT_EQ(db.get_database().tables()[0]->records().size(), 3);
  EXPECT_THAT(import(), ElementsAre("t 0 0 2 0"));
  sql("DELETE FROM t WHERE __id = 2; UPDATE t SET a = 7");
  EXPECT_THAT(import({.deletes_missing = true}), ElementsAre("t 0 1 0 1"));
}

TEST_F(Sqlite_Import_Test, RecordIdsMustBePossible) {
  sql("CREATE TABLE t(__id INTEGER PRIMARY KEY); INSERT INTO t VALUES(-1)");
  EXPECT_EQ(import_error(),
            "in.db: table t, rowid -1: a record id cannot be negative; --no-ids imports __id as a "
            "field");
  sql("UPDATE t SET __id = 9000000000000000000");
  EXPECT_THAT(import_error(), HasSubstr("in.db: table t, rowid 9000000000000000000: "));
}

TEST_F(Sqlite_Import_Test, RecordIdsMayBeFields) {
  sql("CREATE TABLE t(__id INTEGER PRIMARY KEY, id TEXT, t INT REFERENCES t);"
      "INSERT INTO t VALUES(-1, 'a', NULL),(7, 'b', -1)");
  Sqlite file(path(), "in.db", Sqlite::Use::read);
  const Sqlite_Plan all(
      file, {}, [](std::int64_t) {}, false);
  Sqlite_Import(file, all, {}).run(db, [](std::int64_t) {});
  EXPECT_THAT(all.notes, Contains("renamed: column t.__id is now id"));
  EXPECT_THAT(fields(), ElementsAre("t id int64", "t id_2 string", "t t references t"));
  EXPECT_THAT(json(), HasSubstr("\"id\":[-1,7]"));
  EXPECT_THAT(json(), HasSubstr("\"t\":[-1,0]"));
}

TEST_F(Sqlite_Import_Test, ValuesMustFitTheFieldsThatAreThere) {
  db.write(Create_Table{"t"});
  db.write(Add_Field{Table_Id(1), "a", {Type_Code::int8, {}}});
  db.soft_checkpoint();
  sql("CREATE TABLE t(a INT, b TEXT); INSERT INTO t VALUES(1,'x'); INSERT INTO t VALUES(300,'y')");
  EXPECT_EQ(import_error(), "in.db: table t, rowid 2, column a: int8 expected, got `300`");
  sql("DELETE FROM t WHERE a = 300");
  import();
  EXPECT_THAT(fields(), ElementsAre("t a int8", "t b string"));
}

// ---- indexes ------------------------------------------------------------------------------------

TEST_F(Sqlite_Import_Test, IndexesBecomeLinesOfAnOptionsFile) {
  sql("CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b TEXT, c BLOB, UNIQUE(a, b));"
      "CREATE INDEX \"by b\" ON t(b DESC); CREATE UNIQUE INDEX u ON t(b);"
      "CREATE INDEX by_c ON t(c);"
      "INSERT INTO t VALUES(1,'x',NULL,NULL),(2,'y',NULL,NULL)");
  import();
  EXPECT_EQ(indexes,
            "# The indexes of in.db\n"
            "create_unique_index t_by_id t id\n"
            "create_unique_index t_by_a_b t a,b\n"
            "create_index by_b t b\n"
            "# not unique here, for records 0 and 1 of table t have both b = null\n"
            "create_index u t b\n"
            "# no index, because it has a blob: by_c t c\n");
}

// ---- hostile files ------------------------------------------------------------------------------

TEST_F(Sqlite_Import_Test, WhatIsNoDatabaseIsRefused) {
  directory.write("in.db", std::string(4096, 'x'));
  EXPECT_EQ(import_error(), "in.db: is not an SQLite database");
  std::filesystem::remove(path());
  EXPECT_EQ(import_error(), "opening in.db: No such file or directory");
  directory.write("in.db", "");
  EXPECT_THAT(import(), ElementsAre());
}

TEST_F(Sqlite_Import_Test, NothingOfTheSchemaIsRun) {
  sql("CREATE TABLE t(a INT CHECK (a <> load_extension('x')), b DEFAULT (random()));"
      "CREATE VIEW v0 AS SELECT * FROM t;");
  for (int i = 1; i < 40; ++i) {
    const std::string previous = "v" + std::to_string(i - 1);
    sql("PRAGMA writable_schema = 1; INSERT INTO sqlite_schema VALUES('view','v" +
        std::to_string(i) + "','v" + std::to_string(i) + "',0,'CREATE VIEW v" + std::to_string(i) +
        " AS SELECT * FROM " + previous + ", " + previous + " AS x')");
  }
  import();
  EXPECT_THAT(fields(), ElementsAre("t a int64", "t b string"));
}

TEST_F(Sqlite_Import_Test, ASchemaThatCannotBeParsedIsAnError) {
  sql("CREATE TABLE t(a); PRAGMA writable_schema = 1;"
      "UPDATE sqlite_schema SET sql = 'CREATE TABLE t(a, a)'");
  EXPECT_THAT(import_error(), HasSubstr("in.db: malformed database schema"));
}

// An interior page that refers to the same leaf repeatedly might yield a huge number of rows.
TEST_F(Sqlite_Import_Test, ATableThatRepeatsItsPagesIsAnError) {
  sql("PRAGMA page_size = 512; CREATE TABLE t(a TEXT);"
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)"
      " INSERT INTO t SELECT printf('%020d', i) FROM n");
  std::string bytes = directory.read("in.db");
  const auto be16 = [&](std::size_t at) {
    return static_cast<std::size_t>(static_cast<unsigned char>(bytes[at])) * 256 +
           static_cast<unsigned char>(bytes[at + 1]);
  };
  const std::size_t root = 512;  // page 2, an interior page: its first two cells get the same child
  ASSERT_EQ(bytes[root], 5);
  const std::size_t first = root + be16(root + 12);
  const std::size_t second = root + be16(root + 14);
  bytes.replace(second, 4, bytes.substr(first, 4));
  directory.write("in.db", bytes);
  EXPECT_THAT(import_error(), HasSubstr("the file is damaged"));
}

TEST_F(Sqlite_Import_Test, DamageAnywhereIsAnErrorOrChangesValuesOnly) {
  sql("PRAGMA page_size = 512; CREATE TABLE a(id INTEGER PRIMARY KEY, s TEXT, b BLOB);"
      "CREATE TABLE b(a INT REFERENCES a, k TEXT PRIMARY KEY) WITHOUT ROWID;"
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30)"
      " INSERT INTO a SELECT i, printf('%0200d', i), zeroblob(i * 40) FROM n;"
      "INSERT INTO b SELECT id, s FROM a");
  const std::string good = directory.read("in.db");
  for (std::size_t i = 0; i < good.size(); i += i < 1500 ? 7 : 211) {
    for (const char c : {'\0', '\xff', '\x7f'}) {
      std::string bad = good;
      bad[i] = c;
      directory.write("in.db", bad);
      import_error({.updates = true});
    }
  }
  SUCCEED();  // passes if nothing has crashed
}

}  // namespace
}  // namespace joedb
