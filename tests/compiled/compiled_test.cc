// The code that joedbc generates for a schema, as seen by a program.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "bench.h"
#include "everything.h"
#include "hard_names.h"
#include "shop_1.h"
#include "shop_2.h"
#include "shop_other.h"
#include "support/error_of.h"
#include "support/golden.h"
#include "support/temporary_directory.h"

namespace test::hard_names {
void Writable_Database::update(Writable_Database& db) { db.new_class(); }
void Writable_Database::erase(Writable_Database& db) { db.delete_class(id_of_class(0)); }
void Writable_Database::add_row(Writable_Database&) {}
void Writable_Database::assign(Writable_Database&) {}
void Writable_Database::upgrade(Writable_Database&) {}
}  // namespace test::hard_names

namespace compiled_test {
namespace {

using namespace joedb;
using joedb::testing::error_of;
using joedb::testing::Temporary_Directory;
using test::everything::container_of_city;
using test::everything::File_Database;
using test::everything::id_of_city;
using test::everything::id_of_country;
using test::everything::id_of_nothing;
using test::everything::Memory_Database;
using test::everything::Readonly_Database;

// Returns the bytes that `action` appends to the journal of a database in memory.
template <class Action>
std::string appended_by(Memory_Database& db, Action action) {
  db.flush();
  const std::size_t start = db.get_data().size();
  action();
  db.flush();
  return std::string(db.get_data().begin() + static_cast<std::ptrdiff_t>(start),
                     db.get_data().end());
}

template <class Container>
std::vector<index_t> ids_of(const Container& container) {
  std::vector<index_t> ids;
  for (const auto id : container) ids.push_back(id.get_id());
  return ids;
}

// ---- rows and fields ----------------------------------------------------------------------------

TEST(Compiled_Row, IsWrittenInTheShortestForm) {
  Memory_Database db;
  db.new_city();
  EXPECT_EQ(appended_by(db,
                        [&] {
                          const auto city = db.new_city();
                          db.set_name(city, "Oslo");
                          db.set_code(city, 7);
                        }),
            std::string("\x08\x82\x01\x04Oslo\x9e\x02\x07"));
  EXPECT_EQ(appended_by(db, [&] { db.new_city("A", 1, db.null_country(), 2); }),
            std::string("\x08\x82\x01\x01"
                        "A\x9e\x02\x01\x8e\x03\0\x86\x04\x02\0\0\0",
                        17));
}

TEST(Compiled_Row, KeepsAValueOfEveryType) {
  Temporary_Directory directory;
  {
    File_Database db(directory.file("db.joedb"));
    const auto city = db.new_city("Paris", 33, db.null_country(), 2'000'000);
    const Blob blob = db.write_blob("blob bytes");
    db.new_item("a text that is longer than eleven bytes", -128, -32768,
                std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int64_t>::max(),
                1.5f, -0.0, true, city, blob);
    db.new_item();
    db.soft_checkpoint();
  }
  const Readonly_Database db(directory.file("db.joedb"));
  ASSERT_EQ(db.get_item_table().get_size(), 2u);
  const auto item = db.get_item_table().first();
  EXPECT_EQ(db.get_text(item), "a text that is longer than eleven bytes");
  EXPECT_EQ(db.get_i8(item), -128);
  EXPECT_EQ(db.get_i16(item), -32768);
  EXPECT_EQ(db.get_i32(item), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(db.get_i64(item), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(db.get_f32(item), 1.5f);
  EXPECT_TRUE(std::signbit(db.get_f64(item)));
  EXPECT_TRUE(db.get_flag(item));
  EXPECT_EQ(db.get_name(db.get_city(item)), "Paris");
  EXPECT_EQ(db.get_picture(item).get_size(), 10);

  const auto empty = db.next(item);
  EXPECT_EQ(db.get_text(empty), "");
  EXPECT_EQ(db.get_i64(empty), 0);
  EXPECT_TRUE(db.get_city(empty).is_null());
  EXPECT_TRUE(db.get_picture(empty).is_null());
}

TEST(Compiled_Row, AStringIsAViewThatBecomesACopy) {
  Memory_Database db;
  const auto country = db.new_country("Norway");
  const std::string& copy = db.get_name(country);
  db.set_name(country, "Sweden");
  EXPECT_EQ(copy, "Norway");
  EXPECT_STREQ(db.get_name(country).c_str(), "Sweden");
  EXPECT_EQ("In " + db.get_name(country) + "!", "In Sweden!");
}

TEST(Compiled_Row, TakesTextsOfItsOwnTableWhileItGrows) {
  Memory_Database db;
  auto last = db.new_country("short");
  for (int i = 0; i < 5000; ++i) last = db.new_country(db.get_name(last));
  EXPECT_EQ(db.get_name(last), "short");
  db.set_name(last, "a text that does not fit in the handle");
  for (int i = 0; i < 5000; ++i) last = db.new_country(db.get_name(last));
  EXPECT_EQ(db.get_name(last), "a text that does not fit in the handle");
}

TEST(Compiled_Row, ThatIsNotInUseThrowsBeforeAnythingIsWritten) {
  Memory_Database db;
  const auto city = db.new_city();
  db.delete_city(city);
  EXPECT_EQ(appended_by(db,
                        [&] {
                          EXPECT_THROW(db.set_name(city, "x"), Exception);
                          EXPECT_THROW(db.delete_city(city), Exception);
                          EXPECT_THROW(db.get_name(city), Exception);
                          EXPECT_THROW(db.get_name(id_of_city()), Exception);
                          EXPECT_THROW(db.set_name(id_of_city(77), "x"), Exception);
                          EXPECT_THROW(db.next(city), Exception);
                        }),
            "");
  EXPECT_EQ(error_of([&] { db.get_name(id_of_city(5)); }),
            "invalid record_id: table city has no record 5");
}

TEST(Compiled_Row, StartsWithDefaultValuesWhenAnIdIsUsedAgain) {
  Memory_Database db;
  const auto city = db.new_city("Rome", 1, db.null_country(), 3);
  db.delete_city(city);
  EXPECT_EQ(db.new_city(), city);
  EXPECT_EQ(db.get_name(city), "");
  EXPECT_EQ(db.get_population(city), 0);
}

TEST(Compiled_Row, StartsWithDefaultValuesAlthoughAVectorWasWrittenOverTheHole) {
  Memory_Database db;
  const auto v = db.new_vector_of_country(3);
  db.delete_country(v[1]);
  db.update_vector_of_name(v, 3, [](Span<std::string> name) {
    for (std::size_t i = 0; i < 3; ++i) name[i] = "a text that is in the arena of the column";
  });
  EXPECT_EQ(db.new_country(), v[1]);
  EXPECT_EQ(db.get_name(v[1]), "");
}

TEST(Compiled_Table, GivesTheIdThatWasFreedOrSkippedLast) {
  Memory_Database db;
  for (int i = 0; i < 5; ++i) db.new_nothing();
  db.insert_nothing(id_of_nothing(20));
  EXPECT_EQ(db.new_nothing(), id_of_nothing(19));
  db.delete_nothing(id_of_nothing(2));
  EXPECT_EQ(db.new_nothing(), id_of_nothing(2));
  EXPECT_EQ(ids_of(db.get_nothing_table()), (std::vector<index_t>{0, 1, 3, 4, 20, 19, 2}));
  EXPECT_THROW(db.insert_nothing(id_of_nothing(20)), Exception);
  EXPECT_THROW(db.insert_nothing(id_of_nothing()), Exception);
}

TEST(Compiled_Table, CanBeWalkedBothWays) {
  Memory_Database db;
  EXPECT_TRUE(db.get_city_table().is_empty());
  EXPECT_EQ(db.get_city_table().first(), container_of_city::get_end());
  const auto a = db.new_city(), b = db.new_city();
  EXPECT_EQ(ids_of(db.get_city_table()), (std::vector<index_t>{0, 1}));
  EXPECT_EQ(db.get_city_table().last(), b);
  EXPECT_EQ(db.next(a), b);
  EXPECT_EQ(db.previous(b), a);
  EXPECT_EQ(db.next(b), container_of_city::get_end());
  EXPECT_TRUE(db.is_valid(a));
  EXPECT_TRUE(db.get_city_table().is_valid_at(1));
  EXPECT_FALSE(db.is_valid(id_of_city(2)));
  EXPECT_EQ(*--db.get_city_table().end(), b);
}

TEST(Compiled_Table, CanBeCleared) {
  Memory_Database db;
  for (int i = 0; i < 3; ++i) db.new_city();
  db.delete_city(id_of_city(1));
  db.clear_city_table();
  EXPECT_TRUE(db.get_city_table().is_empty());
}

// ---- vectors ------------------------------------------------------------------------------------

TEST(Compiled_Vector, HoldsValuesOfEveryType) {
  Memory_Database db;
  constexpr std::size_t size = 100'000;  // more than the journal's buffer
  const auto v = db.new_vector_of_item(size);
  db.update_vector_of_text(v, size, [](Span<std::string> text) {
    for (std::size_t i = 0; i < text.get_size(); ++i) text[i] = "number " + std::to_string(i);
    text[1] = text[2];
  });
  db.update_vector_of_i16(v, size, [](Span<std::int16_t> n) {
    for (auto& x : n) x = 5;
  });
  db.update_vector_of_f64(v, size, [](Span<double> x) { x[7] = 0.25; });
  db.update_vector_of_flag(v, size, [](Span<bool> flag) { flag[1] = true; });
  db.update_vector_of_city(v, size, [](Span<id_of_city> city) { city[3] = id_of_city(9); });
  db.update_vector_of_city(v, size, [](auto cities) { cities[5] = id_of_city(3); });
  EXPECT_EQ(db.get_city(v[5]), id_of_city(3));
  db.update_vector_of_city(v, size, [](auto cities) { cities[5] = id_of_city(); });
  db.update_vector_of_picture(v, size, [](Span<Blob> picture) { picture[4] = Blob(50, 6); });
  db.soft_checkpoint();

  Readonly_Memory_File file(db.get_data());
  const Readonly_Database copy(file);
  for (const test::everything::Database* d :
       std::initializer_list<const test::everything::Database*>{&db, &copy}) {
    EXPECT_EQ(d->get_text(v[size - 1]), "number 99999");
    EXPECT_EQ(d->get_text(v[1]), "number 2");
    EXPECT_EQ(d->get_i16(v[50'000]), 5);
    EXPECT_EQ(d->get_f64(v[7]), 0.25);
    EXPECT_TRUE(d->get_flag(v[1]));
    EXPECT_EQ(d->get_city(v[3]), id_of_city(9));
    EXPECT_TRUE(d->get_city(v[2]).is_null());
    EXPECT_EQ(d->get_picture(v[4]), Blob(50, 6));
  }
}

TEST(Compiled_Vector, OfBooleansMayBeFilledAsChar) {
  Memory_Database db;
  const auto v = db.new_vector_of_item(2);
  db.update_vector_of_flag(v, 2, [](Span<char> flag) { flag[1] = 1; });
  EXPECT_FALSE(db.get_flag(v));
  EXPECT_TRUE(db.get_flag(v[1]));
}

TEST(Compiled_Vector, WhoseFunctionThrowsLeavesTablesAndJournalEqual) {
  Memory_Database db;
  const auto v = db.new_vector_of_country(3);
  EXPECT_THROW(db.update_vector_of_name(v, 3,
                                        [](Span<std::string> name) {
                                          name[0] = "done";
                                          throw std::runtime_error("no more");
                                        }),
               std::runtime_error);
  db.soft_checkpoint();
  Readonly_Memory_File file(db.get_data());
  const Readonly_Database copy(file);
  EXPECT_EQ(db.get_name(v), "done");
  EXPECT_EQ(copy.get_name(v), "done");
  EXPECT_EQ(copy.get_name(v[1]), "");
}

TEST(Compiled_Vector, OutsideTheTableIsRefused) {
  Memory_Database db;
  const auto v = db.new_vector_of_country(3);
  const auto nothing = [](Span<std::string>) { FAIL(); };
  EXPECT_EQ(appended_by(db,
                        [&] {
                          EXPECT_THROW(db.update_vector_of_name(v, 4, nothing), Exception);
                          EXPECT_THROW(db.update_vector_of_name(id_of_country(), 1, nothing),
                                       Exception);
                          EXPECT_THROW(db.delete_vector_of_country(v[1], 3), Exception);
                        }),
            "");
  db.delete_vector_of_country(v[1], 2);
  EXPECT_EQ(ids_of(db.get_country_table()), (std::vector<index_t>{0}));
}

// A checkpoint must be readable: it is refused if a few bytes claim more rows than a reader
// accepts.
TEST(Compiled_Vector, OfManyRowsWithoutValuesIsNotCheckpointed) {
  Memory_Database db;
  db.new_vector_of_country(20'000'000);
  EXPECT_THROW(db.soft_checkpoint(), Exception);
  EXPECT_THROW(db.hard_checkpoint(), Exception);
  EXPECT_GT(db.ahead_of_checkpoint(), 0);
  db.rollback();
  EXPECT_TRUE(db.get_country_table().is_empty());
}

// ---- journal ------------------------------------------------------------------------------------

TEST(Compiled_Journal, TakesCommentsTimesMarksAndBlobs) {
  Memory_Database db;
  EXPECT_EQ(appended_by(db, [&] { db.write_comment("hi"); }), "\x0a\x02hi");
  EXPECT_EQ(appended_by(db, [&] { db.write_timestamp(1); }),
            std::string("\x0b\1\0\0\0\0\0\0\0", 9));
  EXPECT_EQ(appended_by(db, [&] { db.write_timestamp(); }).size(), 9u);
  EXPECT_EQ(appended_by(db, [&] { db.write_valid_data(); }), "\x0e");
  const Blob blob = db.write_blob(std::string(1'000'000, 'x'));
  EXPECT_EQ(db.read_blob(blob), std::string(1'000'000, 'x'));
  EXPECT_EQ(db.read_blob(blob, 3), "xxx");
}

TEST(Compiled_Journal, SharesSyncsAndGrowsAheadAndProvesItsBytes) {
  Temporary_Directory directory;
  {
    joedb::Journal_Options options;
    options.preallocation = 4096;
    options.has_seals = false;
    File_Database db(directory.file("db.joedb"), joedb::Open_Mode::create_new, options);
    db.enable_integrity();
    std::mutex mutex;
    std::unique_lock lock(mutex);
    db.new_city();
    const joedb::Offset position = db.hard_checkpoint_async();
    db.new_city();
    db.wait(position, lock);
    EXPECT_TRUE(lock.owns_lock());
    EXPECT_GE(db.get_journal().get_hard_checkpoint(), position);
    EXPECT_EQ(directory.read("db.joedb").size(), 4096);
    db.new_city();
    db.wait(db.hard_checkpoint_async());
  }
  const Readonly_Database db(directory.file("db.joedb"));
  EXPECT_EQ(db.get_city_table().get_size(), 3u);
}

TEST(Compiled_Journal, HasAllCheckpointsByTheirNewAndOldNames) {
  Temporary_Directory directory;
  joedb::Journal_Options options;
  options.default_level = joedb::Checkpoint_Level::hard;
  File_Database db(directory.file("db.joedb"), Open_Mode::create_new, options);
  const auto is_done = [&] { return db.ahead_of_checkpoint() == 0; };
  const auto is_hard = [&] {
    return db.get_journal().get_hard_checkpoint() == db.get_journal().get_position();
  };
  db.new_city();
  EXPECT_FALSE(is_done());
  db.soft_checkpoint();
  EXPECT_TRUE(is_done() && !is_hard());
  db.hard_checkpoint();
  EXPECT_TRUE(is_hard());
  db.new_city();
  db.checkpoint_no_commit();
  EXPECT_TRUE(is_done() && !is_hard());
  db.new_city();
  db.checkpoint_half_commit();
  EXPECT_TRUE(is_done());
  db.new_city();
  db.checkpoint_full_commit();
  EXPECT_TRUE(is_hard());
  db.new_city();
  db.checkpoint();
  EXPECT_TRUE(is_hard());
  db.new_city();
  db.commit();
  EXPECT_FALSE(is_done());
  db.soft_checkpoint();
}

TEST(Compiled_Journal, RollsBackToTheCheckpointAndGoesOn) {
  Temporary_Directory directory;
  File_Database db(directory.file("db.joedb"));
  const auto city = db.new_city("kept", 1, db.null_country(), 1);
  db.soft_checkpoint();
  db.set_name(city, "forgotten");
  db.new_city("forgotten", 1, db.null_country(), 1);
  db.flush();
  db.rollback();
  EXPECT_EQ(db.get_name(city), "kept");
  EXPECT_EQ(db.get_city_table().get_size(), 1u);
  db.new_city("second", 2, db.null_country(), 2);
  db.soft_checkpoint();
  const Readonly_Database copy(directory.file("db.joedb"));
  EXPECT_EQ(copy.get_name(id_of_city(1)), "second");
  EXPECT_EQ(copy.get_city_table().get_size(), 2u);
}

// ---- opening ------------------------------------------------------------------------------------

TEST(Compiled_Opening, CreatesTheSchemaInANewFile) {
  Temporary_Directory directory;
  shop_1::File_Database{directory.file("db.joedb")};
  File file(directory.file("db.joedb"), Open_Mode::read_existing);
  Readonly_Journal journal(file);
  std::string order;
  struct Handler : Ignore_Entries {
    using Ignore_Entries::operator();
    explicit Handler(std::string& out) : order(out) {}
    void operator()(const Comment& e) { order += std::string(e.text) + ";"; }
    void operator()(const Create_Table& e) { order += std::string(e.name) + ";"; }
    void operator()(const Add_Field& e) { order += std::string(e.name) + ";"; }
    void operator()(const Valid_Data&) { order += "valid;"; }
    std::string& order;
  } handler(order);
  journal.replay(handler);
  EXPECT_EQ(order, "Automatic schema upgrade;item;label;valid;");
}

TEST(Compiled_Opening, WritesNothingIfTheSchemaIsThere) {
  Temporary_Directory directory;
  shop_1::File_Database{directory.file("db.joedb")};
  shop_1::File_Database db(directory.file("db.joedb"));
  EXPECT_EQ(db.ahead_of_checkpoint(), 0);
  EXPECT_THROW(shop_1::File_Database second(directory.file("db.joedb")), File_Locked);
}

TEST(Compiled_Opening, UpgradesAnOlderSchemaAndKeepsTheData) {
  Temporary_Directory directory;
  {
    shop_1::File_Database db(directory.file("db.joedb"));
    db.new_item("old");
    db.soft_checkpoint();
  }
  EXPECT_THROW(shop_2::Readonly_Database(directory.file("db.joedb")), Out_Of_Date);
  EXPECT_EQ(error_of([&] { shop_2::Readonly_Database db(directory.file("db.joedb")); }),
            directory.file("db.joedb") +
                ": its schema is older than the one of this program (shop_2): change 3 is missing "
                "in the file, \"add_field item code int32\" in the program. It was opened "
                "read-only: open it once for writing, which upgrades it (File_Database or "
                "File_Client)");
  {
    shop_2::File_Database db(directory.file("db.joedb"));
    EXPECT_EQ(db.get_label(shop_2::id_of_item(0)), "old");
    EXPECT_EQ(db.get_code(shop_2::id_of_item(0)), 0);
    db.new_item("new", 2);
    db.new_shelf();
    db.soft_checkpoint();
  }
  const shop_2::Readonly_Database db(directory.file("db.joedb"));
  EXPECT_EQ(db.get_code(shop_2::id_of_item(1)), 2);
  EXPECT_EQ(
      error_of([&] { shop_1::File_Database old(directory.file("db.joedb")); }),
      directory.file("db.joedb") +
          ": its schema is newer than the one of this program (shop_1): change 3 is "
          "\"add_field item code int32\" in the file, missing in the program. A newer version "
          "of the program has changed the file: use that");
}

TEST(Compiled_Opening, RefusesAnotherSchemaAndLeavesTheFileAlone) {
  Temporary_Directory directory;
  shop_1::File_Database{directory.file("db.joedb")};
  const std::string before = directory.read("db.joedb");
  const std::string error =
      directory.file("db.joedb") +
      ": its schema is not the one of this program (shop_other): change 2 is \"add_field item "
      "label "
      "string\" in the file, \"add_field item name string\" in the program. Is it the file of "
      "another program? If not, compile the program with the lines of the file, and append new "
      "lines at the end";
  EXPECT_EQ(error_of([&] { shop_other::File_Database db(directory.file("db.joedb")); }), error);
  EXPECT_EQ(error_of([&] { shop_other::Readonly_Database db(directory.file("db.joedb")); }), error);
  EXPECT_EQ(directory.read("db.joedb"), before);
}

TEST(Compiled_Opening, ReadsAFileHoweverItIsGiven) {
  Temporary_Directory directory;
  const std::string name = directory.file("db.joedb");
  {
    shop_1::File_Database db(name.c_str());
    db.new_item("x");
    db.soft_checkpoint();
  }
  File file(name, Open_Mode::read_existing);
  Readonly_Journal journal(file);
  EXPECT_EQ(shop_1::Readonly_Database(name).get_item_table().get_size(), 1u);
  EXPECT_EQ(shop_1::Readonly_Database(name.c_str()).get_item_table().get_size(), 1u);
  EXPECT_EQ(shop_1::Readonly_Database(file).get_item_table().get_size(), 1u);
  EXPECT_EQ(shop_1::Readonly_Database(journal).get_item_table().get_size(), 1u);
  EXPECT_EQ(
      shop_1::Readonly_Database(File(name, Open_Mode::read_existing)).get_item_table().get_size(),
      1u);
}

TEST(Compiled_Opening, TakesInTheTailOfADeadWriterForGood) {
  Temporary_Directory directory;
  const std::string name = directory.file("db.joedb");
  {
    Destructor_Logger::remove_logger();
    shop_1::File_Database db(name);
    db.new_item("not checkpointed");
  }
  EXPECT_THROW(shop_1::File_Database db(name), Exception);
  {
    shop_1::File_Database db(name, Open_Mode::write_existing, Recovery::ignore_header);
    db.soft_checkpoint();
  }
  const shop_1::File_Database db(name);
  EXPECT_EQ(db.get_item_table().get_size(), 1u);
}

TEST(Compiled_Opening, WorksOnASharedFile) {
  Temporary_Directory directory;
  File file(directory.file("db.joedb"), Open_Mode::shared_write);
  shop_1::Writable_Database db(file);
  EXPECT_THROW(db.new_item("outside of a transaction"), Exception);
  EXPECT_TRUE(db.get_item_table().is_empty());
}

// ---- ids and objects ----------------------------------------------------------------------------

TEST(Compiled_Ids, CanBeKeysAndArePrinted) {
  const std::unordered_map<id_of_city, int> numbers{{id_of_city(3), 4}};
  EXPECT_EQ(numbers.at(id_of_city(3)), 4);
  EXPECT_TRUE(std::unordered_set<Record_Id>{Record_Id()}.contains({}));
  EXPECT_TRUE(std::unordered_set<Table_Id>{Table_Id(1)}.contains(Table_Id(1)));
  std::ostringstream out;
  out << id_of_city(3) << ' ' << id_of_city() << ' ' << Record_Id(5) << ' ' << Table_Id(6);
  EXPECT_EQ(out.str(), "3 -1 5 6");
  std::wostringstream wide;
  wide << id_of_city(3);
  EXPECT_EQ(wide.str(), L"3");
}

TEST(Compiled_Database, IsDestroyedThroughItsBases) {
  namespace typed = test::everything;
  Temporary_Directory directory;
  const std::string name = directory.file("db.joedb");
  std::unique_ptr<typed::Writable_Database> db = std::make_unique<File_Database>(name);
  db->new_country();
  db->hard_checkpoint();
  EXPECT_THROW(File_Database{name}, Io_Error);
  db = std::make_unique<Memory_Database>();  // the file is closed
  std::unique_ptr<const typed::Database> reader = std::make_unique<Readonly_Database>(name);
  EXPECT_EQ(reader->get_country_table().get_size(), 1u);
  reader = std::make_unique<File_Database>(name);
  reader.reset();
  const std::unique_ptr<typed::Client> client = std::make_unique<typed::File_Client>(name);
  client->transaction([](typed::Writable_Database& writer) { writer.new_country(); });
  EXPECT_EQ(client->get_database().get_country_table().get_size(), 2u);
  static_assert(std::has_virtual_destructor_v<Client>);
  static_assert(std::has_virtual_destructor_v<Client_Lock>);
}

// ---- names and programs -------------------------------------------------------------------------

TEST(Compiled_Names, MayBeKeywordsAndNamesOfGeneratedCode) {
  test::hard_names::Memory_Database db;
  const auto c = db.new_class("a", "b", 1, 2, 3, 4, 5, 6, Blob(), "data", true, db.null_class(), 7,
                              8, 8, 9, 10, 11);
  db.set_id(c, 12);
  EXPECT_EQ(db.get_default(c), "a");
  EXPECT_EQ(db.get_id(c), 12);
  EXPECT_EQ(db.get_data(c), "data");
  EXPECT_TRUE(db.get_untyped(c));
  EXPECT_TRUE(db.get_journal(c).is_null());
  EXPECT_GT(db.get_journal().get_position(), 41);
  EXPECT_FALSE(db.get_data().empty());
  EXPECT_NE(db.get_untyped().find_table("class"), nullptr);
  db.new_std();
  db.new_joedb(1);
  db.new__(1);
  EXPECT_EQ(db.find__(1), test::hard_names::id_of__(0));
  EXPECT_EQ(db.find_by_class(db.null_class(), "a", 8).size(), 1u);
  db.set_conf_table(db.the_conf(), "text");
  EXPECT_EQ(db.get_conf_table(db.the_conf()), "text");
  EXPECT_EQ(db.get_index_of_by_class().size(), 1u);
}

TEST(Compiled_Header, IsWhatItWas) {
  for (const std::string name :
       {"everything.h", "hard_names.h", "kept.h", "shop_1.h", "shop_1/writable.h", "typed.h"}) {
    std::ifstream in(JOEDB_GENERATED_DIR "/" + name);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    joedb::testing::expect_golden("compiled/" + name, text);
  }
}

// Code from the documentation of joedb 10.
TEST(Compiled_Program, ForJoedb10CompilesAsWritten) {
  Temporary_Directory directory;
  constexpr int N = 1000;
  {
    bench::File_Database db(directory.file("db.joedb"));
    for (int i = 1; i <= N; i++) db.new_benchmark("TOTO", i);

    db.hard_checkpoint();

    {
      auto v = db.new_vector_of_benchmark(N);

      db.update_vector_of_name(v, N, [](joedb::Span<std::string> name) {
        for (size_t i = 0; i < N; i++) name[i] = "TOTO";
      });

      db.update_vector_of_value(v, N, [](joedb::Span<int64_t> value) {
        for (size_t i = 0; i < N; i++) value[i] = int64_t(i + 1);
      });
    }
    db.checkpoint_full_commit();
  }
  const bench::Readonly_Database db(directory.file("db.joedb"));
  std::int64_t sum = 0;
  for (const auto row : db.get_benchmark_table()) {
    EXPECT_EQ(db.get_name(row), "TOTO");
    sum += db.get_value(row);
  }
  EXPECT_EQ(sum, N * (N + 1));
}

}  // namespace
}  // namespace compiled_test
