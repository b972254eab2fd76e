// The examples and statements of docs/reference/generated_code.md.

#include <gtest/gtest.h>

#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

#include "everything.h"
#include "joedb/base/log.h"
#include "support/temporary_directory.h"

namespace reference_test {
namespace {

using joedb::testing::Temporary_Directory;
using namespace test::everything;

static_assert(!std::is_convertible_v<id_of_country, id_of_city>);
static_assert(std::is_convertible_v<joedb::String, std::string>);

TEST(Reference, Reading) {
  Memory_Database db;
  const auto norway = db.new_country("Norway");
  db.new_city("Oslo", 3, norway, 700'000);
  db.new_city("Bergen", 12, norway, 290'000);

  std::int64_t sum = 0;
  for (const id_of_city city : db.get_city_table()) sum += db.get_population(city);
  EXPECT_EQ(sum, 990'000);

  std::string names;
  const auto cities = db.get_city_table();
  for (auto city = cities.last(); city != cities.get_end(); city = db.previous(city))
    names += db.get_name(city).str() + ";";
  EXPECT_EQ(names, "Bergen;Oslo;");
}

TEST(Reference, DeletingWhileWalking) {
  Memory_Database db;
  for (int i = 0; i < 10; ++i) db.new_city("x", 0, id_of_country(), i);

  const auto cities = db.get_city_table();
  for (auto city = cities.first(); city != cities.get_end();) {
    const auto next = db.next(city);
    if (db.get_population(city) % 2 == 0) db.delete_city(city);
    city = next;
  }
  EXPECT_EQ(cities.get_size(), 5u);
  EXPECT_EQ(db.new_city(), id_of_city(8)) << "the id that was freed last";
  EXPECT_EQ(cities.last(), id_of_city(8));
}

void add_cities(Memory_Database& db, int count) {
  for (int i = 0; i < count; ++i) db.new_city("x", 0, id_of_country(), i);
}

TEST(Loop, MayDeleteAllRecordsItVisits) {
  Memory_Database db;
  add_cities(db, 1000);
  for (const id_of_city city : db.get_city_table()) db.delete_city(city);
  EXPECT_TRUE(db.get_city_table().is_empty());

  add_cities(db, 10);  // reuses ids: the order is no longer that of ids
  const auto cities = db.get_city_table();
  for (auto i = cities.begin(); i != cities.end(); i++) db.delete_city(*i);
  EXPECT_TRUE(cities.is_empty());

  add_cities(db, 10);
  for (auto i = cities.rbegin(); i != cities.rend(); ++i) db.delete_city(*i);
  EXPECT_TRUE(cities.is_empty());

  add_cities(db, 10);
  std::size_t count = 0;
  for (auto i = cities.rbegin(); i != cities.rend(); i++) ++count;
  EXPECT_EQ(count, 10u);
  auto i = std::make_reverse_iterator(cities.end());
  db.delete_city(*i);
  EXPECT_THROW(++i, joedb::Exception) << "it would leave one out";
}

TEST(Loop, MayDeleteTheNextRecordsToo) {
  Memory_Database db;
  add_cities(db, 12);
  std::string visited;
  for (const auto city : db.get_city_table()) {
    visited += std::to_string(city.get_id()) + " ";
    db.delete_city(city);
    for (joedb::index_t next = city.get_id() + 1; next < city.get_id() + 3; ++next)
      db.delete_city(id_of_city(next));
  }
  EXPECT_EQ(visited, "0 3 6 9 ");
}

TEST(Loop, MayReplaceTheRecordsItVisits) {
  Memory_Database db;
  add_cities(db, 10);
  int rounds = 0;
  for (const auto city : db.get_city_table()) {
    db.delete_city(city);
    if (++rounds <= 10) {
      EXPECT_EQ(db.new_city(), city) << "the id that was freed last";
    }
  }
  EXPECT_EQ(rounds, 20) << "new ones come last";
  EXPECT_TRUE(db.get_city_table().is_empty());
}

TEST(Loop, ThrowsWhereItCannotGoOn) {
  Memory_Database db;
  add_cities(db, 1000);
  const auto cities = db.get_city_table();
  auto city = cities.begin();
  db.delete_vector_of_city(*city, 500);
  EXPECT_THROW(++city, joedb::Exception);
  EXPECT_THROW(--city, joedb::Exception);
  // An iterator whose record still exists can move on.
  auto last = --cities.end();
  db.delete_vector_of_city(id_of_city(500), 400);
  EXPECT_EQ(*--last, id_of_city(998));
}

TEST(Reference, ReferencesToDeletedRecordsStay) {
  Memory_Database db;
  const auto norway = db.new_country("Norway");
  const auto oslo = db.new_city("Oslo", 3, norway, 700'000);
  db.delete_country(norway);
  EXPECT_EQ(db.get_country(oslo), norway);
  EXPECT_FALSE(db.is_valid(db.get_country(oslo)));
  EXPECT_THROW(db.get_name(db.get_country(oslo)), joedb::Data_Error);
  EXPECT_FALSE(db.is_valid(db.null_country()));
}

TEST(Reference, Vectors) {
  Memory_Database db;
  const std::size_t n = 3;

  const auto first = db.new_vector_of_city(n);
  db.update_vector_of_population(first, n, [](joedb::Span<std::int32_t> population) {
    for (auto& p : population) p = 1000;
  });
  db.update_vector_of_name(first, n, [](joedb::Span<std::string> name) {
    for (std::size_t i = 0; i < name.size(); ++i) name[i] = "city " + std::to_string(i);
  });
  db.set_code(first[2], 7);
  EXPECT_EQ(db.get_population(first[1]), 1000);
  EXPECT_EQ(db.get_name(first[2]), "city 2");
  EXPECT_EQ(first[2], id_of_city(2));
}

TEST(Reference, Blobs) {
  Memory_Database db;
  const auto item = db.new_item();
  db.set_picture(item, db.write_blob("bytes of a picture"));
  EXPECT_EQ(db.read_blob(db.get_picture(item)), "bytes of a picture");
  EXPECT_EQ(db.read_blob(db.get_picture(item), 5), "bytes");
}

TEST(Reference, ViewsAndCopiesOfStrings) {
  Memory_Database db;
  const auto city = db.new_city("Kristiania", 0, id_of_country(), 0);
  const std::string copy = db.get_name(city);
  const std::string_view view = db.get_name(city);
  EXPECT_EQ(view, "Kristiania");
  db.set_name(city, "Oslo");
  EXPECT_EQ(copy, "Kristiania");
}

TEST(Reference, ATransactionThatFailsIsRolledBack) {
  Temporary_Directory directory;
  File_Database db(directory.file("db.joedb"));
  const auto load = [](Writable_Database& d) {
    d.new_country("Norway");
    throw std::runtime_error("the input ends too early");
  };

  const auto load_all = [&] {
    db.transaction([&] { load(db); });  // a checkpoint, or a rollback if it throws
  };
  EXPECT_THROW(load_all(), std::runtime_error);
  EXPECT_TRUE(db.get_country_table().is_empty());
  EXPECT_EQ(db.ahead_of_checkpoint(), 0);
}

class Collecting_Logger : public joedb::Logger {
 public:
  void log(std::string_view line) override { lines.emplace_back(line); }
  std::vector<std::string> lines;
};

TEST(Reference, ATailIsRefusedOrRecovered) {
  Temporary_Directory directory;
  const std::string name = directory.file("db.joedb");
  static Collecting_Logger warnings;
  joedb::Destructor_Logger::set_logger(&warnings);
  const auto leave_a_tail = [&](joedb::Recovery recovery) {
    File_Database db(name, joedb::Open_Mode::write_existing_or_create_new, recovery);
    db.new_country("behind the checkpoint");
  };
  leave_a_tail(joedb::Recovery::none);
  EXPECT_FALSE(warnings.lines.empty());
  EXPECT_THROW(File_Database{name}, joedb::Exception);
  EXPECT_TRUE(Readonly_Database(name).get_country_table().is_empty());

  {
    File_Database db(name, joedb::Open_Mode::write_existing, joedb::Recovery::overwrite);
    EXPECT_TRUE(db.get_country_table().is_empty());
  }
  leave_a_tail(joedb::Recovery::none);
  {
    File_Database db(name, joedb::Open_Mode::write_existing, joedb::Recovery::ignore_header);
    EXPECT_EQ(db.get_country_table().get_size(), 1u);
    db.write_comment("recovered");
    db.hard_checkpoint();
  }
  EXPECT_EQ(Readonly_Database(name).get_country_table().get_size(), 1u);
}

// A file whose writes and syncs fail after some moment.
class Failing_File : public joedb::Memory_File {
 public:
  void pwrite(const char* data, std::size_t size, joedb::Offset offset) override {
    if (is_full) throw joedb::Io_Error("writing", get_name(), offset, 28);
    Memory_File::pwrite(data, size, offset);
  }
  bool is_full = false;
};

TEST(Reference, AfterAFailedWriteNothingIsWritten) {
  Failing_File file;
  Writable_Database db(file);
  db.new_country("before");
  db.soft_checkpoint();
  const auto size = file.get_data().size();

  file.is_full = true;
  const auto after = db.new_country("after");
  EXPECT_THROW(db.soft_checkpoint(), joedb::Io_Error);
  file.is_full = false;
  EXPECT_THROW(db.new_country("never"), joedb::Exception);
  EXPECT_THROW(db.flush(), joedb::Exception);
  EXPECT_THROW(db.soft_checkpoint(), joedb::Exception);
  EXPECT_THROW(db.hard_checkpoint(), joedb::Exception);
  EXPECT_EQ(file.get_data().size(), size);
  EXPECT_EQ(db.get_name(after), "after") << "it can still be read";

  const Readonly_Database copy(file);
  EXPECT_EQ(copy.get_country_table().get_size(), 1u);
}

TEST(Reference, TheWholeContentIsThereWithoutTheSchemaOfTheProgram) {
  Memory_Database db;
  std::vector<std::string> names;
  for (const auto& table : db.get_untyped().tables())
    if (table) names.push_back(table->name());
  EXPECT_EQ(names, (std::vector<std::string>{"country", "city", "item", "nothing"}));
}

}  // namespace
}  // namespace reference_test
