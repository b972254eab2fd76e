// Indexes that a schema declares in its files.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "declared_1.h"
#include "declared_2.h"
#include "joedb/io/memory_file.h"
#include "joedb/table/writable_database.h"
#include "kernel/table/declaration.h"

namespace declared_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> declarations_in(joedb::Memory_File& file) {
  return joedb::Writable_Database(file).get_database().declarations();
}

TEST(Declared, ANewFileGetsTheIndexesOfTheSchema) {
  joedb::Memory_File file;
  {
    declared_1::Writable_Database db(file);
    const auto ann = db.new_person("Ann", 7);
    EXPECT_EQ(db.find_person_by_name("Ann"), ann);
    EXPECT_THROW(db.new_person("Ann", 8), joedb::Unique_Violation);
    db.soft_checkpoint();
  }
  EXPECT_THAT(declarations_in(file),
              ElementsAre("joedb: create_index person_by_age person age",
                          "joedb: create_unique_index person_by_name person name"));
}

TEST(Declared, AFileThatLacksThemGetsThemOnce) {
  joedb::Memory_File file;
  {
    joedb::Writable_Database db(file);
    db.write(joedb::Create_Table{"person"});
    db.write(joedb::Add_Field{joedb::Table_Id(1), "name", {joedb::Type_Code::string, {}}});
    db.write(joedb::Add_Field{joedb::Table_Id(1), "age", {joedb::Type_Code::int32, {}}});
    db.soft_checkpoint();
  }
  declared_1::Writable_Database(file).soft_checkpoint();
  EXPECT_EQ(declarations_in(file).size(), 2U);
  const auto size = file.get_size();
  declared_1::Writable_Database(file).soft_checkpoint();
  EXPECT_EQ(file.get_size(), size);
}

TEST(Declared, AnUpgradeReplacesAndDropsThem) {
  joedb::Memory_File file;
  declared_1::Writable_Database(file).soft_checkpoint();
  {
    declared_2::Writable_Database db(file);
    db.new_person("Ann", 7, "Oslo");
    db.new_person("Ann", 7, "Lyon");
    EXPECT_THROW(db.new_person("Ann", 8, "Oslo"), joedb::Unique_Violation);
    db.soft_checkpoint();
  }
  EXPECT_THAT(declarations_in(file),
              ElementsAre("joedb: create_unique_index person_by_name person name,town"));
}

TEST(Declared, AReaderNeedsNoDeclaration) {
  joedb::Memory_File file;
  {
    declared_1::Writable_Database db(file);
    db.new_person("Ann", 7);
    db.soft_checkpoint();
  }
  {
    joedb::Writable_Database db(file);
    joedb::drop_index(db, "person_by_name");
    db.soft_checkpoint();
  }
  const declared_1::Readonly_Database db(file);
  EXPECT_TRUE(db.find_person_by_name("Ann").is_not_null());
}

TEST(Declared, ACommentOfAUserIsNoDeclaration) {
  joedb::Memory_File file;
  declared_1::Writable_Database db(file);
  db.write_comment("joedb: hello");
  EXPECT_THROW(db.write_comment("joedb: drop_index person_by_age"), joedb::Data_Error);
  EXPECT_THROW(db.write_comment("joedb: type person.age date"), joedb::Data_Error);
}

TEST(Declared, AUniqueIndexIsRefusedIfTheRecordsOfTheFileViolateIt) {
  joedb::Memory_File file;
  {
    joedb::Writable_Database db(file);
    db.write(joedb::Create_Table{"person"});
    db.write(joedb::Add_Field{joedb::Table_Id(1), "name", {joedb::Type_Code::string, {}}});
    db.write(joedb::Add_Field{joedb::Table_Id(1), "age", {joedb::Type_Code::int32, {}}});
    for (int i = 0; i < 2; ++i) {
      db.write(joedb::Insert{joedb::Table_Id(1), joedb::Record_Id(i)});
      db.write(joedb::Update<std::string_view>{joedb::Table_Id(1), joedb::Record_Id(i),
                                               joedb::Field_Id(1), "Ann"});
    }
    db.soft_checkpoint();
  }
  const auto size = file.get_size();
  EXPECT_THROW(declared_1::Writable_Database{file}, joedb::Unique_Violation);
  EXPECT_EQ(file.get_size(), size);
}

}  // namespace
}  // namespace declared_test
