// Programs written for joedb 10 compile with the generated code, and behave the same.

// Included first, to test that it includes <iostream>.
#include "geo_2/writable.h"
static std::ostream& output() { return std::cout; }

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "shop_1.h"
#include "support/error_of.h"

namespace {

using joedb::testing::error_of;
using namespace geo_2;

class Joedb_10 : public ::testing::Test {
 protected:
  Memory_Database db;
  const id_of_city oslo = db.new_city("Oslo", 709'000, "Norway");
  const id_of_city bergen = db.new_city("Bergen", 290'000, "Norway");
};

TEST_F(Joedb_10, TakesPartsOfAString) {
  const std::string initial = db.get_name(oslo).substr(0, 1);
  EXPECT_EQ(initial, "O");
  std::string rest;
  rest = db.get_name(oslo).substr(1);
  EXPECT_EQ(rest, "slo");
  EXPECT_EQ(db.get_name(oslo).substr(1, 2) + "!" + db.get_name(bergen).substr(5), "sl!n");
  EXPECT_THROW(db.get_name(oslo).substr(5), std::out_of_range);
}

TEST_F(Joedb_10, ChoosesBetweenAStringAndAnother) {
  const std::string text = "text";
  for (const bool has_name : {true, false}) {
    const std::string literal = has_name ? "Oslo" : "x", other = has_name ? "Oslo" : "text";
    EXPECT_EQ(has_name ? db.get_name(oslo) : "x", literal);
    EXPECT_EQ(!has_name ? "x" : db.get_name(oslo), literal);
    EXPECT_EQ(has_name ? db.get_name(oslo) : text, other);
    EXPECT_EQ(!has_name ? text : db.get_name(oslo), other);
    EXPECT_EQ(has_name ? db.get_name(oslo) : text.c_str(), other);
    EXPECT_EQ(has_name ? db.get_name(oslo) : std::string("x"), literal);
    EXPECT_EQ(has_name ? db.get_name(oslo) : std::string_view("x"), literal);
    EXPECT_EQ(has_name ? db.get_name(oslo).substr(0, 4) : std::string("x"), literal);
    const std::string& kept = has_name ? db.get_name(oslo) : "x";
    EXPECT_EQ(kept, literal);
  }
}

TEST_F(Joedb_10, PutsStringsTogether) {
  const std::string text = "text";
  EXPECT_EQ(db.get_name(oslo) + "x", "Oslox");
  EXPECT_EQ("x" + db.get_name(oslo), "xOslo");
  EXPECT_EQ(db.get_name(oslo) + '!', "Oslo!");
  EXPECT_EQ('!' + db.get_name(oslo), "!Oslo");
  EXPECT_EQ(db.get_name(oslo) + db.get_name(bergen), "OsloBergen");
  EXPECT_EQ(text + db.get_name(oslo) + text + std::to_string(1), "textOslotext1");
  std::string sum = db.get_name(oslo);
  sum += db.get_name(oslo);
  EXPECT_EQ(sum, "OsloOslo");
  std::ostringstream out;
  out << db.get_name(oslo) << ' ' << (text.empty() ? db.get_name(oslo) : "x");
  EXPECT_EQ(out.str(), "Oslo x");
}

TEST_F(Joedb_10, ComparesStrings) {
  const std::string text = "Oslo";
  EXPECT_TRUE(db.get_name(oslo) == text && text == db.get_name(oslo));
  EXPECT_TRUE(db.get_name(oslo) == "Oslo" && "Oslo" == db.get_name(oslo));
  EXPECT_TRUE(db.get_name(bergen) < text && text > db.get_name(bergen));
  EXPECT_TRUE(db.get_name(bergen) != db.get_name(oslo));
  EXPECT_EQ(db.get_name(oslo).compare(text), 0);
  EXPECT_EQ(std::hash<joedb::String>()(db.get_name(oslo)), std::hash<std::string>()(text));
}

TEST_F(Joedb_10, KeepsAndPassesStrings) {
  const std::string& reference = db.get_name(oslo);
  const auto& view = db.get_name(oslo);
  const std::string copy(db.get_name(oslo)), braces{db.get_name(oslo)};
  EXPECT_EQ(reference + copy + braces + view, "OsloOsloOsloOslo");
  EXPECT_STREQ(db.get_name(oslo).c_str(), "Oslo");

  const auto size = [](const std::string& text) { return text.size(); };
  EXPECT_EQ(size(db.get_name(oslo)), 4u);
  EXPECT_EQ(size(db.get_name(oslo).substr(1)), 3u);
  std::map<std::string, int> sizes{{db.get_name(oslo), 4}};
  sizes[db.get_name(bergen)] = 6;
  EXPECT_EQ(sizes.at(db.get_name(oslo)) + sizes.find(db.get_name(bergen))->second, 10);
  std::unordered_map<std::string, int>{}[db.get_name(oslo)] = 1;
  const std::unordered_set<joedb::String> set{db.get_name(oslo), db.get_name(bergen)};
  EXPECT_EQ(set.count(db.get_name(oslo)), 1u);
  std::vector<std::string> names{db.get_name(oslo), db.get_name(bergen)};
  names.push_back(db.get_name(oslo));
  const std::optional<std::string> perhaps = db.get_name(oslo);
  EXPECT_EQ(perhaps, names[2]);
  const std::pair<std::string, int> pair = std::make_pair(db.get_name(oslo), 1);
  EXPECT_EQ(pair.first, "Oslo");
  EXPECT_THROW(throw std::runtime_error(db.get_name(oslo)), std::runtime_error);
}

TEST_F(Joedb_10, HasFilesOfThatName) {
  const std::filesystem::path folder = "folder", path = db.get_name(oslo);
  EXPECT_EQ(folder / db.get_name(oslo), "folder/Oslo");
  EXPECT_EQ(path, "Oslo");
  EXPECT_FALSE(std::filesystem::exists(db.get_name(oslo)));
  EXPECT_FALSE(std::ifstream(db.get_name(oslo)));
}

TEST_F(Joedb_10, WalksAnIndexByReference) {
  std::string names;
  for (auto& entry : db.get_index_of_city_by_name()) names += entry.first + " ";
  for (auto& [name, city] : db.get_index_of_city_by_name()) names += name + " ";
  for (const std::pair<const std::string, id_of_city>& entry : db.get_index_of_city_by_name())
    names += entry.first;
  for (auto i = db.get_index_of_city_by_name().begin(); i->second != oslo; ++i) {
    auto& entry = *i;
    names += entry.first.substr(0, 1);
  }
  EXPECT_EQ(names, "Bergen Oslo Bergen Oslo BergenOsloB");
}

TEST_F(Joedb_10, AsksAContainerForRecordsByNumber) {
  EXPECT_EQ(container_of_city::get_at(1), bergen);
  EXPECT_EQ(db.get_city_table().get_at(0), oslo);
  EXPECT_TRUE(db.get_city_table().is_valid_at(1));
  EXPECT_FALSE(db.get_city_table().is_valid_at(2));
}

TEST_F(Joedb_10, LimitsRecordIds) {
  db.set_max_record_id(3);
  db.flush();
  const auto before = db.get_data();
  EXPECT_EQ(error_of([&] { db.insert_city(id_of_city(3)); }),
            "insert_into: too big: 3, set_max_record_id allows less than 3");
  EXPECT_EQ(error_of([&] { db.new_vector_of_city(3); }),
            "insert_vector: too big: 3, set_max_record_id allows less than 3");
  db.flush();
  EXPECT_EQ(db.get_data(), before);
  db.new_city();
  EXPECT_THROW(db.new_city(), joedb::Data_Error);
  EXPECT_THROW(db.new_city("Paris", 1, "France"), joedb::Data_Error);
  db.set_max_record_id(0);
  db.new_city();
}

TEST_F(Joedb_10, CopiesAFile) {
  joedb::Memory_File file, copy, part;
  shop_1::Writable_Database shop(file);
  shop.new_item("spoon");
  shop.soft_checkpoint();
  file.copy_to(copy);
  EXPECT_EQ(file.get_data(), copy.get_data());
  file.copy_to(part, 0, 41);
  file.copy_to(part, 41, file.get_size() - 41);
  EXPECT_EQ(file.get_data(), part.get_data());
}

TEST_F(Joedb_10, HasStreamsFromGeneratedHeaders) { EXPECT_TRUE(output().good()); }

}  // namespace
