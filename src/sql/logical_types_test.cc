#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "joedb/io/posix_file.h"
#include "joedb/table/writable_database.h"
#include "kernel/table/declaration.h"
#include "sql/live_sql.h"
#include "support/sql_session.h"
#include "support/temporary_directory.h"

// Tests what SQL shows and stores for fields of logical types. differential_test.cc compares
// conditions and orders with SQLite's own tables.

namespace joedb {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::Sql_Session;

const char* const uuid = "2f1acc6c-3d9a-4f5b-8b1e-0c2b1f1d9a77";

class Sql_Logical_Types_Test : public ::testing::Test {
 protected:
  Sql_Logical_Types_Test() {
    db().write(Create_Table{"invoice"});
    add("born", "date optional");
    add("at", "timestamp(ms)");
    add("took", "duration(s)");
    add("total", "decimal(2)");
    add("state", "enum(paid,open,late)");
    add("sent", "boolean optional");
    add("data", "bytes");
    add("key", "uuid optional");
    add("more", "json optional");
    add("age", "int32 optional");
    db().soft_checkpoint();
  }

  Writable_Database& db() { return *db_; }
  Field_Id declare(const std::string& name, const std::string& text) {
    std::string problem;
    const Field_Id field = std::as_const(db()).get_database().table(Table_Id(1)).find_field(name);
    declare_type(db(), Table_Id(1), field, parse_declared_type(text, problem)->logical);
    return field;
  }
  void add(const std::string& name, const std::string& text) {
    std::string problem;
    db().write(
        Add_Field{Table_Id(1), name, {parse_declared_type(text, problem)->stored, Table_Id()}});
    declare(name, text);
  }
  template <class T>
  void set(index_t id, const std::string& name, T value) {
    const Field_Id field = std::as_const(db()).get_database().table(Table_Id(1)).find_field(name);
    db().write(Update<T>{Table_Id(1), Record_Id(id), field, value});
  }
  void insert(index_t id) { db().write(Insert{Table_Id(1), Record_Id(id)}); }

  // Closes the writer, which SQL would wait for.
  void close() {
    if (db_) db_->soft_checkpoint();
    db_.reset();
    file_.reset();
  }
  std::string path() const { return directory_.file("a.joedb"); }
  void open() {
    close();
    const std::string options = directory_.write("a.joedbc",
                                                 "create_index by_born invoice born\n"
                                                 "create_index by_total invoice total\n"
                                                 "create_index by_state invoice state\n"
                                                 "create_index by_took invoice took\n"
                                                 "create_index by_key invoice key\n"
                                                 "create_index by_at invoice state,at\n");
    EXPECT_EQ(sql("SELECT joedb_open('" + path() + "', '" + options + "')"), "1");
  }
  std::string sql(const std::string& text) { return session_.run(text); }
  std::string plan(const std::string& text) { return sql("EXPLAIN QUERY PLAN " + text); }

  testing::Temporary_Directory directory_;
  std::unique_ptr<File> file_ =
      std::make_unique<File>(directory_.file("a.joedb"), Open_Mode::create_new);
  std::unique_ptr<Writable_Database> db_ = std::make_unique<Writable_Database>(*file_);
  Sql_Session session_;
};

TEST_F(Sql_Logical_Types_Test, ValuesAreWrittenAndShownAsTexts) {
  open();
  EXPECT_EQ(sql("INSERT INTO invoice VALUES('2026-01-31', '2026-01-31 13:00:00.5+01:00', 'PT90M', "
                "12.50, 'paid', 1, x'00ff', '2F1ACC6C-3D9A-4F5B-8B1E-0C2B1F1D9A77', "
                "'{\"a\": [1, 2]}', 7)"),
            "");
  EXPECT_EQ(sql("INSERT INTO invoice DEFAULT VALUES"), "");
  EXPECT_EQ(sql("SELECT * FROM invoice"),
            "'2026-01-31'|'2026-01-31T12:00:00.500Z'|'PT1H30M'|12.5|'paid'|1|x'00ff'|'" +
                std::string(uuid) +
                "'|'{\"a\": [1, 2]}'|7\n"
                "NULL|'1970-01-01T00:00:00.000Z'|'PT0S'|0.0|'paid'|NULL|x''|NULL|NULL|NULL");
  EXPECT_EQ(sql("SELECT unixepoch(at) - unixepoch(born), more ->> '$.a[1]' FROM invoice LIMIT 1"),
            "43200|2");
  EXPECT_EQ(sql("SELECT name, type FROM pragma_table_info('invoice')"),
            "'born'|'DATE TEXT'\n'at'|'DATETIME TEXT'\n'took'|'TEXT'\n'total'|'DECIMAL(18,2)'\n"
            "'state'|'TEXT'\n'sent'|'BOOLEAN'\n'data'|'BLOB'\n'key'|'TEXT'\n'more'|'TEXT'\n"
            "'age'|'INTEGER'");
}

TEST_F(Sql_Logical_Types_Test, NumbersBecomeDecimalsIfTheySayTheSame) {
  open();
  sql("INSERT INTO invoice(total) VALUES(0.1 + 0.2), (3), ('-12.5'), ('90071992547409.93'), "
      "(1234567890123.45)");
  EXPECT_EQ(sql("SELECT printf('%!.16g', total) FROM invoice"),
            "'0.3'\n'3.0'\n'-12.5'\n'90071992547409.94'\n'1234567890123.45'");
  EXPECT_EQ(sql("UPDATE invoice SET total = 1.005"),
            "error: cannot store '1.005' in invoice.total: number with at most 2 digits behind the "
            "point expected, like round(x, 2)");
  EXPECT_EQ(sql("UPDATE invoice SET total = round(-0.001, 2) WHERE total = 0.3; "
                "SELECT count(*) FROM invoice WHERE total = 0"),
            "1");
  EXPECT_THAT(sql("UPDATE invoice SET total = 1e17"), HasSubstr("cannot store '1.0e+17' in"));
  EXPECT_THAT(sql("UPDATE invoice SET total = 123456789012345.67"),
              HasSubstr("text expected for a number of more than 15 digits"));
  EXPECT_EQ(sql("UPDATE invoice SET total = round(total * 1.1, 2) WHERE total = 3; "
                "SELECT printf('%.2f', total) FROM invoice WHERE total BETWEEN 3 AND '3.30'"),
            "'3.30'");
}

TEST_F(Sql_Logical_Types_Test, ErrorsNameTheFieldAndWhatIsExpected) {
  open();
  sql("INSERT INTO invoice DEFAULT VALUES");
  EXPECT_EQ(sql("UPDATE invoice SET born = '2026-02-30'"),
            "error: cannot store '2026-02-30' in invoice.born: date like 2026-01-31 expected");
  EXPECT_EQ(sql("UPDATE invoice SET born = 2026-01-31"),
            "error: cannot store '1994' in invoice.born: date like 2026-01-31 expected");
  EXPECT_EQ(sql("UPDATE invoice SET at = 1769817600.0"),
            "error: cannot store '1769817600.0' in invoice.at: time like 2026-01-31T12:00:00Z "
            "expected");
  EXPECT_THAT(sql("UPDATE invoice SET took = 5"), HasSubstr("cannot store '5' in invoice.took"));
  EXPECT_EQ(sql("UPDATE invoice SET state = 1"),
            "error: cannot store '1' in invoice.state: paid, open or late expected");
  EXPECT_EQ(sql("INSERT INTO invoice(state) VALUES('gone')"),
            "error: cannot store 'gone' in invoice.state: paid, open or late expected");
  EXPECT_EQ(
      sql("UPDATE invoice SET at = x'00'"),
      "error: cannot store BLOB value in invoice.at: time like 2026-01-31T12:00:00Z expected");
  EXPECT_EQ(sql("UPDATE invoice SET key = 'abc'"),
            "error: cannot store 'abc' in invoice.key: UUID like "
            "2f1acc6c-3d9a-4f5b-8b1e-0c2b1f1d9a77 expected");
  EXPECT_THAT(sql("UPDATE invoice SET data = 'abc'"), HasSubstr("cannot store TEXT value in blob"));
  EXPECT_EQ(sql("UPDATE invoice SET sent = 2"),
            "error: cannot store '2' in invoice.sent: true or false expected");
  EXPECT_EQ(sql("UPDATE invoice SET age = -2147483648"),
            "error: cannot store this value in invoice.age, where it means NULL");
  EXPECT_EQ(sql("UPDATE invoice SET total = NULL"),
            "error: NOT NULL constraint failed: invoice.total");
  EXPECT_EQ(sql("UPDATE invoice SET age = 7, born = '1815-12-10'; UPDATE invoice SET age = NULL;"
                "SELECT born, age FROM invoice"),
            "'1815-12-10'|NULL");
}

TEST_F(Sql_Logical_Types_Test, IndexesFindAndSortWhatIsShown) {
  for (index_t id = 0; id < 3000; ++id) {
    insert(id);
    set<std::int32_t>(
        id, "born",
        id % 10 == 0 ? std::numeric_limits<std::int32_t>::min() : static_cast<std::int32_t>(id));
    set<std::int64_t>(id, "total", id);
    set<std::int64_t>(id, "took", id);
    set<std::int8_t>(id, "state", static_cast<std::int8_t>(id % 3));
    set<std::int64_t>(id, "at", id * 1000);
    const std::string bytes =
        std::string(14, 'k') + static_cast<char>(id / 100) + static_cast<char>(id % 100);
    set<std::string_view>(id, "key", bytes);
  }
  open();
  const char* const searches[][2] = {{"born = '1970-01-12'", "1"},
                                     {"born > '1978-03-15'", "4"},
                                     {"born IS NULL", "300"},
                                     {"born IN ('1970-01-12', '1970-01-11', 'x')", "1"},
                                     {"total = 12.34", "1"},
                                     {"total BETWEEN 10 AND '10.05'", "6"},
                                     {"took = 'PT10M'", "1"},
                                     {"state = 'late' AND at < '1970-01-01T00:01'", "20"},
                                     {"born BETWEEN '1970-02' AND '1970-02-04'", "4"},
                                     {"key = '6b6b6b6b-6b6b-6b6b-6b6b-6b6b6b6b0102'", "1"}};
  for (const auto& [condition, count] : searches) {
    const std::string from = " FROM invoice WHERE " + std::string(condition);
    EXPECT_EQ(sql("SELECT count(*)" + from), count) << condition;
    EXPECT_THAT(plan("SELECT *" + from), HasSubstr("INDEX 0:2 ")) << condition;
  }
  EXPECT_THAT(plan("SELECT born FROM invoice ORDER BY born"), Not(HasSubstr("TEMP B-TREE")));
  EXPECT_THAT(plan("SELECT total FROM invoice ORDER BY total DESC"), Not(HasSubstr("TEMP B-TREE")));
  EXPECT_EQ(sql("SELECT born FROM invoice ORDER BY born LIMIT 2 OFFSET 299"), "NULL\n'1970-01-02'");
  EXPECT_EQ(sql("SELECT DISTINCT state FROM invoice ORDER BY state"), "'late'\n'open'\n'paid'");
  EXPECT_EQ(sql("SELECT took FROM invoice ORDER BY took LIMIT 2"), "'PT0S'\n'PT10M'");
}

TEST_F(Sql_Logical_Types_Test, LiteralsInAnotherFormAreTheSameValues) {
  for (index_t id = 0; id < 3; ++id) {
    insert(id);
    set<std::int32_t>(id, "born", static_cast<std::int32_t>(19724 + id));  // 2024-01-02
    set<std::int64_t>(id, "at", (std::int64_t{19724} * 86400 + id) * 1000);
    set<std::int64_t>(id, "took", 5400 * id);
    set<std::int64_t>(id, "total", 1250 + id);
  }
  set<std::string_view>(1, "key",
                        "\x2f\x1a\xcc\x6c\x3d\x9a\x4f\x5b\x8b\x1e\x0c\x2b\x1f\x1d\x9a\x77");
  open();
  const char* const searches[][2] = {{"born = '2024-01-03T00:00Z'", "1"},
                                     {"born < '2024-01-03 12:00'", "2"},
                                     {"at = '2024-01-02'", "1"},
                                     {"at = '2024-01-02 01:00:01+01:00'", "1"},
                                     {"at <= '2024-01-02 00:00:01.0'", "2"},
                                     {"at < '2024-01-02 00:00:01.0001'", "2"},
                                     {"at BETWEEN '2024-01-02' AND '2024-01-02 00:00:01Z'", "2"},
                                     {"at IN ('2024-01-02', '2024-01-02 00:00:02', 'never')", "2"},
                                     {"at <> '2024-01-02'", "2"},
                                     {"at < '2024-01'", "0"},
                                     {"at < '2024-02'", "3"},
                                     {"(at = '2024-01-02' OR total = 12.52)", "2"},
                                     {"'2024-01-02' = at", "1"},
                                     {"born = at", "1"},
                                     {"took = 'PT90M'", "1"},
                                     {"(took) IN ('PT5400S', 'PT180M')", "2"},
                                     {"key = '2F1ACC6C3D9A4F5B8B1E0C2B1F1D9A77'", "1"},
                                     {"total = '12.5'", "1"},
                                     {"total <= '12.510'", "2"}};
  for (const auto& [condition, count] : searches) {
    const std::string where = " FROM invoice WHERE " + std::string(condition);
    EXPECT_EQ(sql("SELECT count(*)" + where), count) << condition;
    // Evaluated by SQLite.
    EXPECT_EQ(sql("SELECT count(*) FROM invoice WHERE CASE WHEN " + std::string(condition) +
                  " THEN 1 END"),
              count)
        << condition;
  }
}

TEST_F(Sql_Logical_Types_Test, DatesBeyondTheCalendarAreFoundByTheirTexts) {
  const std::int32_t days[] = {0, -719529, 2932897, 3000000};
  for (index_t id = 0; id < 4; ++id) {
    insert(id);
    set<std::int32_t>(id, "born", days[id]);
  }
  open();
  EXPECT_EQ(sql("SELECT born FROM invoice ORDER BY born"),
            "'-0001-12-31'\n'1970-01-01'\n'2932897'\n'3000000'");
  EXPECT_EQ(sql("SELECT born FROM invoice WHERE born >= '2' ORDER BY 1"), "'2932897'\n'3000000'");
  EXPECT_EQ(sql("SELECT born FROM invoice WHERE born < '1970-01-01'"), "'-0001-12-31'");
  EXPECT_EQ(sql("SELECT born FROM invoice WHERE born IN ('3000000', '-0001-12-31')"),
            "'-0001-12-31'\n'3000000'");
}

TEST_F(Sql_Logical_Types_Test, DecimalsOfManyDigitsAreComparedAsTheyAreShown) {
  // The last three are shown as the same number.
  const std::int64_t values[] = {4, 9007199254740993, 9007199254740992, 9007199254740991};
  for (index_t id = 0; id < 4; ++id) {
    insert(id);
    set<std::int64_t>(id, "total", values[id] * 100);
  }
  open();
  EXPECT_EQ(sql("SELECT count(*) FROM invoice WHERE total = 9007199254740992.0"), "2");
  EXPECT_EQ(sql("SELECT count(*) FROM invoice WHERE total IN (9007199254740992.0, 4)"), "3");
  EXPECT_EQ(sql("SELECT count(*) FROM invoice WHERE +total = 9007199254740992.0"), "2");
}

TEST_F(Sql_Logical_Types_Test, ValuesAreNotStoredWithATypeOtherThanTheyWereShown) {
  open();
  sql("INSERT INTO invoice(age) VALUES(7)");
  {
    File file(path(), Open_Mode::shared_write);
    Writable_Database other(file);
    other.lock_pull();
    std::string problem;
    const auto redeclare = [&](const char* name, const char* text) {
      const Field_Id field =
          std::as_const(other).get_database().table(Table_Id(1)).find_field(name);
      declare_type(other, Table_Id(1), field, parse_declared_type(text, problem)->logical);
    };
    redeclare("age", "int32");
    redeclare("state", "enum(paid,open,late,gone)");
    other.soft_checkpoint();
    const_cast<Writable_Journal&>(other.get_journal()).unlock();
  }
  EXPECT_THAT(sql("UPDATE invoice SET age = age + 1"),
              HasSubstr("the type of field invoice.age was changed, and the file must be opened "
                        "again"));
  EXPECT_THAT(sql("INSERT INTO invoice(total) VALUES(1)"), HasSubstr("must be opened again"));
  EXPECT_EQ(sql("UPDATE invoice SET state = 'gone'; SELECT state, age FROM invoice"), "'gone'|7");
}

TEST_F(Sql_Logical_Types_Test, APastStateHasItsNamesEvenIfItHadNoMissingValues) {
  insert(0);
  set<std::int8_t>(0, "state", 2);
  db().soft_checkpoint();
  const auto past = std::to_string(db().get_journal().get_checkpoint());
  set<std::int8_t>(0, "state", 0);
  db().write(Comment{"joedb: type invoice.state enum(paid,open,gone) optional"});
  open();
  EXPECT_EQ(sql("SELECT state FROM invoice(" + past + ")"), "'late'");
}

TEST_F(Sql_Logical_Types_Test, APastStateHasItsNamesAndTheTypesOfToday) {
  insert(0);
  set<std::int8_t>(0, "state", 2);
  set<std::int32_t>(0, "age", std::numeric_limits<std::int32_t>::min());
  db().soft_checkpoint();
  const auto past = std::to_string(db().get_journal().get_checkpoint());
  set<std::int8_t>(0, "state", 0);
  db().write(Comment{"joedb: type invoice.state enum(paid,open,gone)"});
  insert(1);
  set<std::int8_t>(1, "state", 2);
  open();
  EXPECT_EQ(sql("SELECT state, age FROM invoice(" + past + ") WHERE state > 'a'"), "'late'|NULL");
  EXPECT_EQ(sql("SELECT state FROM invoice(" + past + ") WHERE state = 'late'"), "'late'");
  EXPECT_EQ(sql("SELECT state FROM invoice"), "'paid'\n'gone'");
}

TEST_F(Sql_Logical_Types_Test, LiveSqlNoticesDeclarations) {
  insert(0);
  db().flush();
  Database& content = db().get_database();
  Live_Sql live(content, *file_);
  const auto total = [&] {
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(live.connection(), "SELECT typeof(total) FROM invoice", -1, &statement,
                       nullptr);
    sqlite3_step(statement);
    const std::string type = Sql_Session::shown(statement, 0);
    sqlite3_finalize(statement);
    return type;
  };
  EXPECT_EQ(total(), "'real'");
  declare("total", "decimal(0)");
  EXPECT_EQ(total(), "'integer'");
  db().soft_checkpoint();
}

}  // namespace
}  // namespace joedb
