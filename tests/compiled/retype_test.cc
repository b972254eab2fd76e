// Upgrades by programs whose schema has retype_field.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "commands/interpreter.h"
#include "joedb/table/load.h"
#include "kernel/table/content_difference.h"
#include "plain.h"
#include "retyped.h"
#include "support/error_of.h"
#include "typed.h"

namespace retype_test {
namespace {

using namespace std::chrono;
using namespace joedb::literals;
using joedb::testing::error_of;
using test::retyped::Writable_Database;
using ::testing::HasSubstr;

constexpr const char* version_1 =
    "create_table person\n"
    "add_field person name string\n"
    "add_field person age int32\n"
    "add_field person born string\n"
    "add_field person state int8\n";
constexpr const char* version_2 =
    "retype_field person age int64\n"
    "retype_field person born date optional\n"
    "add_field person wage int32\n"
    "set_type person state enum(open, paid)\n";
constexpr const char* version_3 =
    "retype_field person wage decimal(2)\n"
    "retype_field person state string\n"
    "add_field person boss references person\n";
constexpr const char* people =
    "insert_into person 0 Ada 36 1815-12-10 1\n"
    "insert_into person 1 Gone 3 no 9\n"
    "insert_into person 2 Bob -5 2000-02-29 0\n"
    "delete_from person 1\n";

class Retyped : public ::testing::Test {
 protected:
  void run(const std::string& commands) {
    joedb::Writable_Database db(file);
    joedb::run_text(commands, db);
    db.soft_checkpoint();
  }
  joedb::Database read() {
    joedb::Database database;
    joedb::Readonly_Journal journal(file);
    joedb::load(database, journal);
    return database;
  }
  joedb::Memory_File file;
};

void expect_people(const auto& db) {
  const auto ada = db.find_person_by_name("Ada"), bob = db.find_person_by_name("Bob");
  EXPECT_EQ(db.get_age(ada), 36);
  EXPECT_EQ(db.get_born(ada), sys_days(1815y / 12 / 10));
  EXPECT_EQ(db.get_state(ada), "paid");
  EXPECT_EQ(db.get_state(bob), "open");
  EXPECT_EQ(db.get_age(bob), -5);
  EXPECT_EQ(*db.find_person_by_age(-5).begin(), bob);
}

TEST_F(Retyped, ValuesOfAnOldFileAreKept) {
  run(std::string(version_1) + people);
  const joedb::Offset old = file.get_size();
  {
    Writable_Database db(file);
    expect_people(db);
    EXPECT_EQ(db.get_wage(db.find_person_by_name("Ada")), 0);
    db.new_person({.name = "Eve", .age = 1L << 40});
    db.soft_checkpoint();
  }
  Writable_Database db(file);
  expect_people(db);
  EXPECT_EQ(db.get_born(db.find_person_by_name("Eve")), std::nullopt);
  expect_people(db.at(joedb::at(old)));
}

TEST_F(Retyped, AFileOfALaterVersionIsUpgradedFromThere) {
  run(std::string(version_1) + people + version_2 + "update person 0 wage 1200\n");
  const Writable_Database db(file);
  expect_people(db);
  EXPECT_EQ(db.get_wage(db.find_person_by_name("Ada")), 1200.00_decimal);
  EXPECT_EQ(db.get_untyped().declarations().size(), 2u);
}

TEST_F(Retyped, TheSameCommandsMakeTheSameFile) {
  run(std::string(version_1) + people + version_2 + version_3);
  const joedb::Offset size = file.get_size();
  {
    const Writable_Database db(file);
    expect_people(db);
  }
  EXPECT_EQ(file.get_size(), size);
}

TEST_F(Retyped, AValueThatDoesNotFitLeavesTheFileAsItWas) {
  run(std::string(version_1) + people + "insert_into person 1 Eve 1 yesterday 0\n");
  const joedb::Database before = read();
  EXPECT_EQ(error_of([&] { Writable_Database db(file); }),
            "person.born: 1 record does not fit date optional; the first is record 1, with "
            "\"yesterday\"");
  EXPECT_EQ(joedb::content_difference(read(), before), "");
  run("update person 1 born 1900-01-01\nupdate person 1 state 7\n");
  EXPECT_EQ(error_of([&] { Writable_Database db(file); }),
            "person.state: record 1 has the value 7, which is no open or paid");
}

TEST_F(Retyped, AFileWithAnotherDeclarationIsNotUpgraded) {
  run(std::string(version_1) + "set_type person state enum(bad,good)\n");
  EXPECT_THAT(error_of([&] { Writable_Database db(file); }),
              HasSubstr("person.state is enum(bad,good) in the file, enum(open,paid) in the "
                        "program"));
}

TEST(Declared_Type, IsRefusedIfValuesOfTheFileMeanNothing) {
  joedb::Memory_File file;
  {
    test::plain::Writable_Database old(file);
    old.new_visit({.id = "short"});
    old.soft_checkpoint();
  }
  EXPECT_THAT(error_of([&] { test::typed::Writable_Database db(file); }),
              HasSubstr("visit.id: record 0 has the value \"short\", which is no UUID"));
}

}  // namespace
}  // namespace retype_test
