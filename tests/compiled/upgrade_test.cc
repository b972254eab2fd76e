// Schema upgrades, initial values, custom functions, single rows, past states, introspection.

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "geo_1.h"
#include "geo_2/Interpreted_File_Database.h"
#include "geo_2/Readonly_Interpreted_File_Database.h"
#include "geo_2/print_table.h"
#include "geo_2/writable.h"
#include "joedb/io/file.h"
#include "support/error_of.h"
#include "support/temporary_directory.h"

namespace upgrade_test {
namespace {

using joedb::testing::error_of;
using joedb::testing::Temporary_Directory;
using namespace geo_2;

class Upgrade : public ::testing::Test {
 protected:
  Upgrade() {
    geo_1::Writable_Database db(file_);
    oslo_ = id_of_city(db.new_city("oslo", 700'000).get_id());
    db.new_city("lyon", 520'000);
    db.delete_city(db.new_city("gone", 1));
    db.new_person("Ann", geo_1::id_of_city(oslo_.get_id()));
    db.soft_checkpoint();
  }
  std::string journal() const {
    std::string text;
    struct Text : joedb::Ignore_Entries {
      using Ignore_Entries::operator();
      void operator()(const joedb::Comment& e) { text += std::string(e.text) + "|"; }
      void operator()(const joedb::Add_Field& e) { text += "add " + std::string(e.name) + "|"; }
      void operator()(const joedb::Create_Table& e) {
        text += "table " + std::string(e.name) + "|";
      }
      void operator()(const joedb::Custom& e) { text += "custom " + std::string(e.name) + "|"; }
      void operator()(const joedb::Insert&) { text += "insert|"; }
      void operator()(const joedb::Update<std::string_view>& e) {
        text += "\"" + std::string(e.value) + "\"|";
      }
      void operator()(const joedb::Update<std::int32_t>& e) {
        text += std::to_string(e.value) + "|";
      }
      void operator()(const joedb::Valid_Data&) { text += "valid"; }
      std::string& text;
      explicit Text(std::string& t) : text(t) {}
    } handler(text);
    joedb::Readonly_Memory_File copy(file_.get_data());
    joedb::Readonly_Journal(copy).replay(handler);
    return text.substr(text.rfind("Automatic"));
  }

  joedb::Memory_File file_;
  id_of_city oslo_;
};

TEST_F(Upgrade, GivesInitialValuesToExistingRecordsThenCallsTheCustomFunction) {
  const Writable_Database db(file_);
  EXPECT_EQ(db.get_country(oslo_), "nowhere");
  EXPECT_EQ(db.get_name(oslo_), "Oslo") << "by the custom function";
  EXPECT_EQ(db.get_age(id_of_person(0)), 0) << "there is no person in the schema file";
  EXPECT_EQ(
      journal(),
      "Automatic schema upgrade|add country|table settings|add language|add volume|add factor|"
      "add muted|add capital|custom capitalise|add age|insert|\"nowhere\"|\"nowhere\"|"
      "\"en\"\\\"|7|\"Oslo\"|\"Lyon\"|valid");
}

TEST_F(Upgrade, HappensOnce) {
  { Writable_Database db(file_); }
  const std::vector<char> upgraded = file_.get_data();
  Writable_Database db(file_);
  EXPECT_EQ(file_.get_data(), upgraded);
  EXPECT_EQ(db.ahead_of_checkpoint(), 0);
}

TEST_F(Upgrade, LeavesNewRecordsWithoutInitialValues) {
  Writable_Database db(file_);
  EXPECT_EQ(db.get_country(db.new_city()), "");
  db.soft_checkpoint();
}

TEST_F(Upgrade, ThatFailsChangesNothing) {
  {
    geo_1::Writable_Database db(file_);
    db.new_city("bad", 0);
    db.soft_checkpoint();
  }
  const std::vector<char> before = file_.get_data();
  EXPECT_EQ(error_of([&] { Writable_Database db(file_); }), "no name for a city");
  EXPECT_EQ(file_.get_data(), before);
  EXPECT_NO_THROW(geo_1::Writable_Database db(file_));
}

TEST_F(Upgrade, CannotBeCheckpointedHalfWay) {
  {
    geo_1::Writable_Database db(file_);
    db.new_city("checkpoint", 0);
    db.soft_checkpoint();
  }
  const std::vector<char> before = file_.get_data();
  EXPECT_EQ(error_of([&] { Writable_Database db(file_); }),
            "there is no checkpoint in a schema upgrade");
  EXPECT_EQ(file_.get_data(), before);
}

TEST_F(Upgrade, OfAFileThatIsOnlyReadHappensInMemory) {
  joedb::Readonly_Memory_File readonly(file_.get_data());
  EXPECT_EQ(error_of([&] { Readonly_Database db(readonly); }),
            "memory: its schema is older than the one of this program (geo_2): change 7 is missing "
            "in the file, \"add_field city country string\" in the program. It was opened "
            "read-only: open it once for writing, which upgrades it (File_Database or "
            "File_Client)");
  EXPECT_THROW(Readonly_Database db(readonly), joedb::Out_Of_Date);

  const std::vector<char> before = file_.get_data();
  joedb::Upgradable_File<joedb::Readonly_Memory_File> upgradable(file_.get_data());
  Writable_Database db(upgradable);
  EXPECT_EQ(db.get_name(oslo_), "Oslo");
  EXPECT_EQ(db.get_language(), "en\"\\");
  db.set_name(oslo_, "Christiania");
  db.hard_checkpoint();
  EXPECT_EQ(db.find_city_by_name("Christiania"), oslo_);
  EXPECT_EQ(file_.get_data(), before);
}

TEST_F(Upgrade, OfAFileOfTheSystemThatIsOnlyRead) {
  const Temporary_Directory directory;
  {
    joedb::File file(directory.file("db.joedb"), joedb::Open_Mode::create_new);
    file.pwrite(file_.get_data().data(), file_.get_data().size(), 0);
  }
  joedb::Upgradable_File<joedb::File> file(directory.file("db.joedb"),
                                           joedb::Open_Mode::read_existing);
  Writable_Database db(file);
  db.new_city("Bergen", 1, "Norway");
  db.hard_checkpoint();
  EXPECT_EQ(db.find_city_by_name("Oslo"), oslo_);
}

TEST_F(Upgrade, RefusesAFileWithAnotherSchema) {
  { Writable_Database db(file_); }
  EXPECT_EQ(
      error_of([&] { geo_1::Writable_Database db(file_); }),
      "memory: its schema is newer than the one of this program (geo_1): change 7 is "
      "\"add_field city country string\" in the file, missing in the program. A newer version "
      "of the program has changed the file: use that");
}

// ---- single rows --------------------------------------------------------------------------------

TEST(Single_Row, IsThereFromTheBeginningWithItsInitialValues) {
  Memory_Database db;
  EXPECT_EQ(db.the_settings(), id_of_settings(0));
  EXPECT_TRUE(db.is_valid(db.the_settings()));
  EXPECT_EQ(db.get_volume(), 7);
  EXPECT_EQ(db.get_language(), "en\"\\");
  EXPECT_TRUE(db.get_muted());
  db.set_volume(9);
  db.set_language(db.the_settings(), "fr");
  EXPECT_EQ(db.get_volume(db.the_settings()), 9);
  EXPECT_EQ(db.get_language(), "fr");
  EXPECT_EQ(db.get_settings_table().get_size(), 1u);
}

template <class Db>
concept Makes_Settings = requires(Db db) {
  db.new_settings();
};
template <class Db>
concept Deletes_Settings = requires(Db db) {
  db.delete_settings(db.the_settings());
};
template <class Db>
concept Clears_Settings = requires(Db db) {
  db.clear_settings_table();
};
static_assert(!Makes_Settings<Memory_Database> && !Deletes_Settings<Memory_Database> &&
              !Clears_Settings<Memory_Database>);

TEST(Single_Row, MustBeTheOnlyOne) {
  for (const bool is_missing : {true, false}) {
    joedb::Memory_File file;
    { Writable_Database db(file); }
    {
      joedb::Writable_Database untyped(file);
      const auto table = untyped.get_database().find_table("settings")->id();
      if (is_missing)
        untyped.write(joedb::Delete{table, joedb::Record_Id(0)});
      else
        untyped.write(joedb::Insert{table, joedb::Record_Id(1)});
      untyped.soft_checkpoint();
    }
    const std::string error =
        std::string("memory: Single-row constraint failure for table settings: it has ") +
        (is_missing ? "0" : "2") + " records, but must have only record 0";
    EXPECT_EQ(error_of([&] { Writable_Database db(file); }), error);
    EXPECT_EQ(error_of([&] { Readonly_Database db(file); }), error);
  }
}

// ---- past states --------------------------------------------------------------------------------

class Past : public ::testing::Test {
 protected:
  void transact(std::string_view name, std::int64_t seconds) {
    db_.new_city(name, 0, "");
    db_.write_timestamp(seconds);
    db_.soft_checkpoint();
  }
  std::string names(joedb::Moment moment) {
    joedb::Readonly_Memory_File file(db_.get_data());
    const Readonly_Database past(file, moment);
    std::string text;
    for (const auto& [name, city] : past.get_index_of_city_by_name()) text += name.str() + " ";
    return text;
  }
  Memory_Database db_;
};

TEST_F(Past, IsThereAtEachCheckpoint) {
  transact("A", 100);
  const joedb::Offset first = db_.get_journal().get_checkpoint();
  transact("B", 200);
  EXPECT_EQ(names(joedb::at(first)), "A ");
  EXPECT_EQ(names(joedb::at(db_.get_journal().get_checkpoint())), "A B ");
  EXPECT_THROW(names(joedb::at(first + 2)), joedb::Exception) << "inside of an entry";
  EXPECT_THROW(names(joedb::at(1'000'000)), joedb::Exception);
  EXPECT_THROW(names(joedb::at(0)), joedb::Exception);
}

TEST_F(Past, IsThereAtEachTime) {
  transact("A", 100);
  transact("B", 200);
  db_.new_city("C", 0, "");
  db_.soft_checkpoint();
  EXPECT_EQ(names(joedb::at_time(100)), "A ");
  EXPECT_EQ(names(joedb::at_time(199)), "A ");
  EXPECT_EQ(names(joedb::at_time(200)), "A B ");
  EXPECT_EQ(names(joedb::at_time(5000)), "A B ") << "C has no time";
  EXPECT_THROW(names(joedb::at_time(99)), joedb::Exception);
}

TEST_F(Upgrade, IsNotNeededToSeeThePast) {
  joedb::Offset before;
  {
    geo_1::Writable_Database db(file_);
    before = db.get_journal().get_checkpoint();
  }
  { Writable_Database db(file_); }
  const Readonly_Database past(file_, joedb::at(before));
  EXPECT_EQ(past.get_name(oslo_), "oslo");
  EXPECT_EQ(past.get_country(oslo_), "nowhere") << "the initial value of the new field";
  EXPECT_EQ(past.get_volume(), 7);
  EXPECT_EQ(past.find_city_by_name("lyon"), id_of_city(1));
}

// ---- introspection, printing, text files --------------------------------------------------------

TEST(Introspection, GoesThroughTheFieldsWithTheirInitialValues) {
  std::ostringstream text;
#define JOEDB_INTROSPECTION(type, name, initial_value) \
  const type name = initial_value;                     \
  text << #type " " #name " "
#include "geo_2/tables/settings_introspection.h"
  EXPECT_EQ(text.str(),
            "std::string language std::int32_t volume float factor bool muted ::geo_2::id_of_city "
            "capital ");
  EXPECT_EQ(language, "en\"\\");
  EXPECT_EQ(volume, 7);
  EXPECT_EQ(factor, 0.5f);
  EXPECT_TRUE(muted);
  EXPECT_EQ(capital, id_of_city(3));
}

TEST(Introspection, WithoutDataGivesTypesAndNames) {
  std::string text;
#define JOEDB_INTROSPECTION(type, name) text += #type " " #name " "
#include "geo_2/tables/person_introspection.h"
  EXPECT_EQ(text, "std::string name ::geo_2::id_of_city home std::int32_t age ");
}

TEST(Print_Table, LooksLikeTheCommand) {
  Memory_Database db;
  db.new_city("Oslo", 700'000, "Norway");
  db.new_city("Lyon", 520'000, "France");
  std::ostringstream all, one;
  print_city_table(all, db);
  EXPECT_EQ(all.str(),
            "----------------------------\n"
            "  name   population country \n"
            "----------------------------\n"
            "0 \"Oslo\"     700000 \"Norway\"\n"
            "1 \"Lyon\"     520000 \"France\"\n");
  print_city_table(one, db, 4, 1, 1);
  EXPECT_NE(one.str().find("1 \"Ly\u2026"), std::string::npos) << one.str();
}

TEST(Interpreted_File, IsADatabaseInATextFile) {
  const Temporary_Directory directory;
  const std::string name = directory.file("db.joedbi");
  {
    Interpreted_File_Database db(name);
    db.new_city("Oslo", 700'000, "Norway");
    db.soft_checkpoint();
  }
  const Readonly_Interpreted_File_Database db(name);
  EXPECT_EQ(db.find_city_by_name("Oslo"), id_of_city(0));
  EXPECT_EQ(db.get_volume(), 7);
}

TEST(Sorted, GivesTheIdsInAnOrderOfOurOwn) {
  Memory_Database db;
  const auto oslo = db.new_city("Oslo", 3, "");
  const auto lyon = db.new_city("Lyon", 1, "");
  const auto rome = db.new_city("Rome", 2, "");
  const std::vector<id_of_city> sorted = db.sorted_city(
      [&](id_of_city a, id_of_city b) { return db.get_population(a) < db.get_population(b); });
  EXPECT_EQ(sorted, (std::vector{lyon, rome, oslo}));
}

static_assert(std::is_same_v<Types::id_of_city, id_of_city>);
static_assert(std::is_same_v<Types::container_of_city, container_of_city>);
static_assert(std::is_same_v<Types::range_of_person_by_home, range_of_person_by_home>);

}  // namespace
}  // namespace upgrade_test
