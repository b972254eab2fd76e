// Indexes in generated code.

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "geo_1.h"
#include "geo_2.h"
#include "support/error_of.h"
#include "support/property.h"
#include "support/temporary_directory.h"

void geo_2::Writable_Database::capitalise(geo_2::Writable_Database& db) {
  for (const auto city : db.get_city_table()) {
    std::string name = db.get_name(city);
    if (name == "bad") throw joedb::Exception("no name for a city");
    if (name == "checkpoint") db.soft_checkpoint();
    if (!name.empty()) name[0] = static_cast<char>(std::toupper(name[0]));
    db.set_name(city, name);
  }
}

namespace index_test {
namespace {

using joedb::testing::error_of;
using joedb::testing::Temporary_Directory;
using namespace geo_2;

class Index_Of_Cities : public ::testing::Test {
 protected:
  Memory_Database db_;
  id_of_city oslo_ = db_.new_city("Oslo", 700'000, "Norway");
  id_of_city bergen_ = db_.new_city("Bergen", 290'000, "Norway");
  id_of_city lyon_ = db_.new_city("Lyon", 520'000, "France");
};

TEST_F(Index_Of_Cities, FindsByAUniqueKey) {
  EXPECT_EQ(db_.find_city_by_name("Bergen"), bergen_);
  EXPECT_TRUE(db_.find_city_by_name("Rome").is_null());
  EXPECT_TRUE(db_.find_city_by_name("").is_null());
}

TEST_F(Index_Of_Cities, FindsAllWithAKey) {
  db_.new_person("Ann", oslo_, 30);
  db_.new_person("Bob", lyon_, 40);
  db_.new_person("Carl", oslo_, 50);
  db_.new_person("Dora", db_.null_city(), 60);
  std::string names;
  range_of_person_by_home range = db_.find_person_by_home(oslo_);
  for (const id_of_person person : range) names += db_.get_name(person).str() + " ";
  EXPECT_EQ(names, "Ann Carl ");
  EXPECT_EQ(range.size(), 2u);
  EXPECT_FALSE(range.empty());
  EXPECT_TRUE(db_.find_person_by_home(bergen_).empty());
  EXPECT_EQ(db_.find_person_by_home(db_.null_city()).size(), 1u) << "null is a key";
}

template <class Range>
std::string names_in(const Database& db, const Range& range) {
  std::string names;
  for (const id_of_city city : range) names += db.get_name(city).str() + " ";
  return names;
}

TEST_F(Index_Of_Cities, FindsByTheFirstFieldsOfAKey) {
  EXPECT_EQ(names_in(db_, db_.find_city_by_country_population("Norway")), "Bergen Oslo ");
  EXPECT_TRUE(db_.find_city_by_country_population("Nor").empty());
  EXPECT_EQ(db_.find_person_by_name_home("Ann").size(), 0u);
  db_.new_person("Ann", oslo_, 30);
  db_.new_person("Ann", lyon_, 31);
  EXPECT_EQ(db_.find_person_by_name_home("Ann").size(), 2u) << "the index is unique";
}

TEST_F(Index_Of_Cities, HasRangesWithOpenEnds) {
  const auto& by_name = db_.get_index_of_city_by_name();
  EXPECT_EQ(names_in(db_, by_name.between({}, {})), "Bergen Lyon Oslo ");
  EXPECT_EQ(names_in(db_, by_name.between("C", {})), "Lyon Oslo ");
  EXPECT_EQ(names_in(db_, by_name.between({}, std::string("Lyon"))), "Bergen Lyon ");
  EXPECT_EQ(names_in(db_, by_name.between("Lyon", "Lyon")), "Lyon ");
  EXPECT_TRUE(by_name.between("Z", "A").empty());

  const auto& by_country = db_.get_index_of_city_by_country_population();
  EXPECT_EQ(names_in(db_, by_country.between({"Norway", 300'000}, {})), "Oslo ");
  EXPECT_EQ(names_in(db_, by_country.between({}, {"Norway", 300'000})), "Lyon Bergen ");
  EXPECT_EQ(names_in(db_, by_country.between({"G"}, {"Norway"})), "Bergen Oslo ");
  EXPECT_EQ(by_country.between({}, {"Norway"}).size(), 3u);
  EXPECT_THROW(by_country.between({"Norway", std::uint64_t{1} << 63}, {}), joedb::Data_Error);
}

TEST_F(Index_Of_Cities, MayChangeInALoopOverARange) {
  db_.new_city("Nice", 340'000, "France");
  const auto norway = db_.find_city_by_country_population("Norway");
  for (const id_of_city city : norway) db_.delete_city(city);
  EXPECT_TRUE(norway.empty());
  int visits = 0;
  for (const id_of_city city :
       db_.get_index_of_city_by_country_population().between({}, "France")) {
    ++visits;
    db_.set_country(city, "Italy");
  }
  EXPECT_EQ(visits, 2);
  EXPECT_EQ(db_.find_city_by_country_population("Italy").size(), 2u);
}

TEST_F(Index_Of_Cities, GoesThroughTheKeysInTheirOrder) {
  std::string text;
  for (const auto& [name, city] : db_.get_index_of_city_by_name())
    text += name.str() + "=" + std::to_string(city.get_id()) + " ";
  EXPECT_EQ(text, "Bergen=1 Lyon=2 Oslo=0 ");

  text.clear();
  for (const auto& [key, city] : db_.get_index_of_city_by_country_population()) {
    const auto& [country, population] = key;
    text += country.str() + std::to_string(population / 1000) + " ";
  }
  EXPECT_EQ(text, "France520 Norway290 Norway700 ");

  const auto& index = db_.get_index_of_city_by_name();
  EXPECT_EQ(index.size(), 3u);
  EXPECT_EQ(index.rbegin()->first, "Oslo");
  EXPECT_EQ(index.find("Lyon")->second, lyon_);
  EXPECT_EQ(index.find("Rome"), index.end());
  EXPECT_TRUE(index.contains("Oslo"));
  EXPECT_EQ(index.count("Oslo"), 1u);
}

TEST_F(Index_Of_Cities, SearchesRanges) {
  const auto& by_name = db_.get_index_of_city_by_name();
  EXPECT_EQ(by_name.lower_bound("C")->second, lyon_);
  EXPECT_EQ(by_name.lower_bound("Lyon")->second, lyon_);
  EXPECT_EQ(by_name.upper_bound("Lyon")->second, oslo_);
  EXPECT_EQ(by_name.upper_bound("Oslo"), by_name.end());

  const auto& by_country = db_.get_index_of_city_by_country_population();
  std::vector<id_of_city> large;
  for (auto i = by_country.lower_bound({"Norway", 300'000}); i != by_country.end(); ++i)
    large.push_back(i->second);
  EXPECT_EQ(large, std::vector{oslo_});
  EXPECT_EQ(db_.find_city_by_country_population("France", 520'000).size(), 1u);
  const auto [first, last] = by_country.equal_range({"France", 520'000});
  EXPECT_EQ(std::distance(first, last), 1);
}

TEST_F(Index_Of_Cities, KnowsTheNeighboursOfARecord) {
  EXPECT_EQ(db_.next_city_by_name(bergen_), lyon_);
  EXPECT_EQ(db_.previous_city_by_name(oslo_), lyon_);
  EXPECT_TRUE(db_.next_city_by_name(oslo_).is_null());
  EXPECT_TRUE(db_.previous_city_by_name(bergen_).is_null());
  EXPECT_TRUE(db_.next_city_by_name(db_.new_city()).is_null()) << "it has no name yet";
  EXPECT_TRUE(db_.next_city_by_name(db_.null_city()).is_null());
}

TEST_F(Index_Of_Cities, DoesNotHaveRecordsThatGotNoKey) {
  const auto a = db_.new_city(), b = db_.new_city();
  EXPECT_EQ(db_.get_index_of_city_by_name().size(), 3u);
  db_.set_population(a, 1);  // this index needs any of its fields; city_by_name needs the name
  db_.set_population(b, 1);
  EXPECT_EQ(db_.get_index_of_city_by_country_population().size(), 5u);
  EXPECT_EQ(db_.get_index_of_city_by_name().size(), 3u);
  db_.set_name(a, "");
  EXPECT_EQ(db_.find_city_by_name(""), a) << "an empty text is a key";
}

// In joedb 10, the old pair was still found until `home` changed.
TEST_F(Index_Of_Cities, IsRightWhicheverFieldChanges) {
  const auto ann = db_.new_person("Ann", oslo_, 30);
  db_.set_name(ann, "Anna");
  EXPECT_TRUE(db_.find_person_by_name_home("Ann", oslo_).is_null());
  EXPECT_EQ(db_.find_person_by_name_home("Anna", oslo_), ann);
  db_.set_home(ann, lyon_);
  EXPECT_EQ(db_.find_person_by_name_home("Anna", lyon_), ann);
  EXPECT_EQ(db_.get_index_of_person_by_name_home().size(), 1u);
}

TEST_F(Index_Of_Cities, AViolationChangesNothing) {
  db_.flush();
  const std::vector<char> before = db_.get_data();
  EXPECT_EQ(error_of([&] { db_.set_name(lyon_, "Oslo"); }),
            "geo_2: city_by_name unique index failure: (\"Oslo\") at id = 2 was already at id = 0");
  EXPECT_EQ(error_of([&] { db_.new_city("Bergen", 1, "Norway"); }),
            "geo_2: city_by_name unique index failure: (\"Bergen\") at id = 3 was already at id = "
            "1");
  db_.flush();
  EXPECT_EQ(db_.get_data(), before);
  EXPECT_EQ(db_.get_city_table().get_size(), 3u);
  EXPECT_EQ(db_.get_name(lyon_), "Lyon");
  EXPECT_EQ(db_.find_city_by_name("Lyon"), lyon_);
  EXPECT_EQ(db_.get_index_of_city_by_country_population().size(), 3u);

  db_.new_person("Ann", oslo_, 30);
  EXPECT_EQ(error_of([&] { db_.new_person("Ann", oslo_, 31); }),
            "geo_2: person_by_name_home unique index failure: (\"Ann\", 0) at id = 1 was already "
            "at id = 0");
}

TEST_F(Index_Of_Cities, FollowsUpdatesOfVectors) {
  const auto v = db_.new_vector_of_city(3);
  db_.update_vector_of_name(v, 3, [](joedb::Span<std::string> name) {
    name[0] = "Rome";
    name[1] = "Bonn";
    name[2] = "Kiel";
  });
  EXPECT_EQ(db_.find_city_by_name("Bonn"), v[1]);
  EXPECT_EQ(db_.get_index_of_city_by_name().size(), 6u);
  db_.update_vector_of_name(v, 3, [](joedb::Span<std::string> name) {
    name[0] = "Bonn";  // the two keys are swapped
    name[1] = "Rome";
  });
  EXPECT_EQ(db_.find_city_by_name("Bonn"), v[0]);

  db_.flush();
  const std::vector<char> before = db_.get_data();
  for (const char* const twice : {"Oslo", "Rome"})
    EXPECT_THROW(db_.update_vector_of_name(v, 3,
                                           [&](joedb::Span<std::string> name) {
                                             name[0] = "Turin";
                                             name[2] = twice;
                                           }),
                 joedb::Data_Error);
  db_.flush();
  EXPECT_EQ(db_.get_data(), before);
  EXPECT_EQ(db_.get_name(v[2]), "Kiel");
  EXPECT_EQ(db_.find_city_by_name("Bonn"), v[0]);
  EXPECT_EQ(db_.find_city_by_name("Kiel"), v[2]);
  EXPECT_TRUE(db_.find_city_by_name("Turin").is_null());
}

TEST_F(Index_Of_Cities, CannotBeChangedUnderAVectorThatIsUpdated) {
  const auto v = db_.new_vector_of_city(2);
  const auto update = [&](auto change) {
    db_.update_vector_of_name(v, 2, [&](joedb::Span<std::string> name) {
      name[0] = "Rome";
      EXPECT_THROW(change(), joedb::Exception);
      name[1] = "Bonn";
    });
    EXPECT_EQ(db_.find_city_by_name("Rome"), v);
  };
  update([&] { db_.set_name(v, "Kiel"); });
  update([&] { db_.new_city("Kiel", 1, ""); });
  update([&] { db_.rollback(); });
  update([&] { db_.update_vector_of_population(v, 2, [](joedb::Span<std::int64_t>) {}); });
  update([&] { db_.update_vector_of_name(v, 1, [](joedb::Span<std::string>) {}); });
  EXPECT_EQ(db_.find_city_by_name("Bonn"), v[1]);
}

TEST_F(Index_Of_Cities, ANewRecordMayGetTheTextOfTheDeletedOne) {
  const joedb::String name = db_.get_name(oslo_);
  db_.delete_city(oslo_);
  const auto city = db_.new_city(name, 1, "");
  EXPECT_EQ(city, oslo_);
  EXPECT_EQ(db_.get_name(city), "Oslo");
  EXPECT_EQ(db_.find_city_by_name("Oslo"), city);
}

TEST_F(Index_Of_Cities, ForgetsDeletedRecords) {
  db_.delete_city(oslo_);
  EXPECT_TRUE(db_.find_city_by_name("Oslo").is_null());
  EXPECT_EQ(db_.new_city("Oslo", 0, "Minnesota"), oslo_);
  db_.delete_vector_of_city(id_of_city(0), 2);
  EXPECT_EQ(db_.get_index_of_city_by_name().size(), 1u);
  db_.clear_city_table();
  EXPECT_TRUE(db_.get_index_of_city_by_name().empty());
}

TEST_F(Index_Of_Cities, CanBeChangedWhileItIsGoneThrough) {
  for (const auto& [name, city] : db_.get_index_of_city_by_name())
    if (db_.get_country(city) == "Norway") db_.delete_city(city);
  EXPECT_EQ(db_.get_city_table().get_size(), 1u);
  EXPECT_EQ(db_.find_city_by_name("Lyon"), lyon_);
}

TEST_F(Index_Of_Cities, ARangeHasWhatHadTheKeyWhateverIsDoneOnTheWay) {
  std::vector<id_of_person> people;
  for (int i = 0; i < 6; ++i)
    people.push_back(db_.new_person(std::to_string(i), i < 4 ? oslo_ : lyon_, 0));
  std::string names;
  for (const id_of_person person : db_.find_person_by_home(oslo_)) {
    names += db_.get_name(person).str();
    db_.set_home(person, lyon_);  // moves the record past the end of the range
  }
  EXPECT_EQ(names, "0123");
  EXPECT_TRUE(db_.find_person_by_home(oslo_).empty());
  for (const id_of_person person : db_.find_person_by_home(lyon_)) db_.delete_person(person);
  EXPECT_TRUE(db_.get_person_table().is_empty());

  // Reverse iteration ends at the bounds of the index, too.
  const auto& index = db_.get_index_of_city_by_name();
  std::string backwards;
  for (auto i = index.rbegin(); i != index.rend(); ++i) backwards += i->first.str() + ";";
  EXPECT_EQ(backwards, "Oslo;Lyon;Bergen;");
  EXPECT_EQ(index.rbegin().base(), index.end());
  EXPECT_EQ(index.rend().base(), index.begin());
  for (auto i = index.rbegin(); i != index.rend(); ++i) db_.delete_city(i->second);
  EXPECT_TRUE(db_.get_city_table().is_empty());
  auto i = index.begin();
  db_.clear_city_table();
  EXPECT_EQ(++i, index.end());
  EXPECT_EQ(++i, index.end());
}

TEST_F(Index_Of_Cities, ARangeKeepsItsKey) {
  db_.new_city("Paris", 2'000'000, "a country with a long name");
  db_.new_city("Lille", 2'000'000, "a country with a long name");
  range_of_city_by_country_population range = db_.find_city_by_country_population(
      std::string("a country with a") + " long name", 2'000'000);
  const auto copy = range;
  range = db_.find_city_by_country_population("Norway", 1);
  EXPECT_EQ(copy.size(), 2u);
  EXPECT_EQ(range.size(), 0u);
}

TEST_F(Index_Of_Cities, ComesBackAfterARollbackAndAtOpening) {
  db_.soft_checkpoint();
  db_.set_name(oslo_, "Christiania");
  db_.delete_city(lyon_);
  db_.rollback();
  EXPECT_EQ(db_.find_city_by_name("Oslo"), oslo_);
  EXPECT_EQ(db_.find_city_by_name("Lyon"), lyon_);
  EXPECT_TRUE(db_.find_city_by_name("Christiania").is_null());

  joedb::Readonly_Memory_File file(db_.get_data());
  const Readonly_Database readonly(file);
  EXPECT_EQ(readonly.find_city_by_name("Bergen"), bergen_);
  EXPECT_EQ(readonly.get_index_of_city_by_country_population().size(), 3u);
}

TEST(Compiled_Index, IsThereAfterASchemaUpgrade) {
  const Temporary_Directory directory;
  {
    geo_1::File_Database db(directory.file("db.joedb"));
    db.new_city("oslo", 700'000);
    db.new_city("lyon", 520'000);
    db.new_city();
    EXPECT_EQ(db.find_city_by_name("oslo").size(), 1u);
    db.soft_checkpoint();
  }
  const File_Database db(directory.file("db.joedb"));
  EXPECT_EQ(db.find_city_by_name("Lyon"), id_of_city(1)) << "of an old field";
  EXPECT_EQ(db.find_city_by_country_population("nowhere", 520'000).size(), 1u) << "of a new one";
}

// An upgrade that would violate a unique index leaves the file as it was.
TEST(Compiled_Index, RefusesOldDataThatViolateIt) {
  const Temporary_Directory directory;
  {
    geo_1::File_Database db(directory.file("db.joedb"));
    db.new_city("oslo", 1);
    db.new_city("oslo", 2);
    db.soft_checkpoint();
  }
  const auto before =
      joedb::File(directory.file("db.joedb"), joedb::Open_Mode::read_existing).get_size();
  EXPECT_EQ(
      error_of([&] { File_Database db(directory.file("db.joedb")); }),
      directory.file("db.joedb") +
          ": geo_2: city_by_name unique index failure: (\"oslo\") at id = 1 was already at id = 0");
  EXPECT_EQ(joedb::File(directory.file("db.joedb"), joedb::Open_Mode::read_existing).get_size(),
            before);
}

// ---- against a model ----------------------------------------------------------------------------

// Random operations through the generated functions, on a database whose schema is upgraded between
// them. A std::multimap is the model of the indexes before and after the upgrade.
template <class Db>
void expect_index_of(const Db& db, const std::map<joedb::index_t, std::string>& names) {
  std::multimap<std::string, joedb::index_t> model;
  for (const auto& [id, name] : names) model.emplace(name, id);
  auto expected = model.begin();
  for (const auto& [name, city] : db.get_index_of_city_by_name()) {
    ASSERT_NE(expected, model.end());
    ASSERT_EQ(name, expected->first);
    ASSERT_EQ(city.get_id(), expected->second);
    ++expected;
  }
  ASSERT_EQ(expected, model.end());
}

class Random_Cities {
 public:
  explicit Random_Cities(std::uint64_t seed) : random_(seed) {}

  template <class Db>
  void change(Db& db, bool is_unique) {
    using Id = decltype(Db::null_city());
    auto next = names_;
    const std::string name(1, static_cast<char>('a' + random_.below(26)));
    const auto attempt = [&](auto id, auto action) {
      const bool is_twice = std::any_of(names_.begin(), names_.end(), [&](const auto& other) {
        return other.second == name && other.first != id;
      });
      if (is_unique && is_twice) {
        ASSERT_THROW(action(), joedb::Data_Error);
      } else {
        next[id] = name;
        ASSERT_NO_THROW(action());
      }
    };
    const bool has_any = !names_.empty();
    auto some = names_.begin();
    if (has_any) std::advance(some, random_.below(names_.size()));
    switch (random_.below(has_any ? 6 : 1)) {
      case 0:
      case 1: {
        const auto id = db.new_city();
        attempt(id.get_id(), [&] { db.set_name(id, name); });
        if (!next.contains(id.get_id())) db.delete_city(id);
        break;
      }
      case 2:
      case 3:
        attempt(some->first, [&] { db.set_name(Id(some->first), name); });
        break;
      case 4:
        db.delete_city(Id(some->first));
        next.erase(some->first);
        break;
      default:
        if (random_.flip()) {
          db.soft_checkpoint();
          checkpointed_ = names_;
        } else {
          db.rollback();
          next = checkpointed_;
        }
    }
    names_ = next;
    expect_index_of(db, names_);
  }
  void capitalise() {
    for (auto& [id, name] : names_) name[0] = static_cast<char>(std::toupper(name[0]));
    checkpointed_ = names_;
  }
  // Removes duplicate names, so that an upgrade to a unique index is possible.
  template <class Db>
  void make_unique(Db& db) {
    std::set<std::string> seen;
    for (auto& [id, name] : names_)
      while (!seen.insert(name).second) {
        name += "x";
        db.set_name(decltype(Db::null_city())(id), name);
      }
    db.soft_checkpoint();
  }

 private:
  joedb::testing::Random random_;
  std::map<joedb::index_t, std::string> names_, checkpointed_;
};

TEST(Compiled_Index, AgreesWithAMultimapThroughAnUpgrade) {
  joedb::testing::expect_property(
      [](std::uint64_t seed) {
        joedb::Memory_File file;
        Random_Cities cities(seed);
        {
          geo_1::Writable_Database db(file);
          for (int i = 0; i < 40 && !::testing::Test::HasFailure(); ++i) cities.change(db, false);
          cities.make_unique(db);
        }
        cities.capitalise();
        geo_2::Writable_Database db(file);
        for (int i = 0; i < 40 && !::testing::Test::HasFailure(); ++i) cities.change(db, true);
        db.rollback();
      },
      60);
}

}  // namespace
}  // namespace index_test
