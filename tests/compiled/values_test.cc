// New rows from structs of values: new_x({.field = value}).

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "everything.h"
#include "geo_2.h"
#include "hard_names.h"
#include "shop_1.h"
#include "town.h"

namespace values_test {
namespace {

TEST(Values, AreGivenByName) {
  test::everything::Memory_Database db;
  const auto norway = db.new_country({.name = "Norway"});
  const auto oslo = db.new_city({.name = "Oslo", .country = norway, .population = 709'000});
  EXPECT_EQ(db.get_name(oslo), "Oslo");
  EXPECT_EQ(db.get_country(oslo), norway);
  EXPECT_EQ(db.get_population(oslo), 709'000);
  EXPECT_EQ(db.get_code(oslo), 0);
  const auto item = db.new_item({.flag = true, .city = oslo});
  EXPECT_TRUE(db.get_flag(item));
  EXPECT_EQ(db.get_text(item), "");
  EXPECT_TRUE(db.get_picture(item).is_null());
}

TEST(Values, AreWrittenAsByPosition) {
  test::everything::Memory_Database a, b;
  a.new_city("Oslo", 0, a.null_country(), 5);
  b.new_city({.name = "Oslo", .population = 5});
  a.flush();
  b.flush();
  EXPECT_EQ(a.get_data(), b.get_data());
}

TEST(Values, ThatAreLeftOutAreTheInitialOnesOfTheSchema) {
  geo_2::Memory_Database db;
  const auto city = db.new_city({.population = 3});
  EXPECT_EQ(db.get_name(city), "Nowhere");
  EXPECT_EQ(db.get_country(city), "nowhere");
  EXPECT_EQ(db.get_name(db.new_city()), "");
}

TEST(Values, CanBeKeptAndChanged) {
  town::Memory_Database db;
  town::values_of_house house{.street = "Storgata"};
  for (house.number = 1; house.number < 4; ++house.number) db.new_house(house);
  EXPECT_EQ(db.get_house_table().get_size(), 3u);
  EXPECT_EQ(db.get_number(db.get_house_table().last()), 3);
  EXPECT_EQ(db.get_street(db.new_house({})), "");
  const town::Types::values_of_house other;
  EXPECT_EQ(other.number, 0);
}

TEST(Values, OwnTheirStrings) {
  const std::string text = "a text that is too long for the string itself";
  town::values_of_house kept{.street = text + "!"};
  const std::string other(text.size() + 1, '#');
  town::Memory_Database db;
  EXPECT_EQ(db.get_street(db.new_house(kept)), text + "!");
  EXPECT_EQ(db.get_street(db.new_house({.street = text + "?"})), text + "?");
  struct Mine : town::values_of_house {};
  EXPECT_EQ(db.get_street(db.new_house(Mine{kept})), text + "!");
}

TEST(Values, AreNotAmbiguousInATableWithOneField) {
  shop_1::Memory_Database db;
  EXPECT_EQ(db.get_label(db.new_item({.label = "a"})), "a");
  EXPECT_EQ(db.get_label(db.new_item("b")), "b");
  EXPECT_EQ(db.get_label(db.new_item({"c"})), "c");
  EXPECT_EQ(db.get_label(db.new_item({})), "");
  EXPECT_EQ(db.get_label(db.new_item(shop_1::values_of_item{"d"})), "d");
}

TEST(Values, HaveTheNamesOfParameters) {
  test::hard_names::Memory_Database db;
  const auto row = db.new_class({.default_ = "a", .int_ = 3});
  EXPECT_EQ(db.get_default(row), "a");
  EXPECT_EQ(db.get_int(row), 3);
}

// tests/consumers/run.py tests that other conversions do not compile.
class Narrowing : public ::testing::Test {
 protected:
  test::everything::Memory_Database db;
  const test::everything::id_of_item id = db.new_item();
};

TEST_F(Narrowing, ConstantsThatFitAreTaken) {
  db.set_i8(id, -128);
  EXPECT_EQ(db.get_i8(id), -128);
  constexpr int largest = 32'767;
  db.set_i16(id, largest);
  EXPECT_EQ(db.get_i16(id), largest);
  const long million = 1'000'000;
  db.set_i32(id, million);
  EXPECT_EQ(db.get_i32(id), million);
  db.set_i32(id, 1e6);
  db.set_i64(id, 5u);
  db.set_f32(id, 0.1);
  EXPECT_EQ(db.get_f32(id), 0.1f);
  db.set_f32(id, std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isinf(db.get_f32(id)));
  db.set_f64(id, 1L << 60);
  db.set_flag(id, 1);
  EXPECT_TRUE(db.get_flag(id));
  db.set_i8(id, {});
  db.set_i8(id, {7});
  db.set_i8(id, 'a');
  EXPECT_EQ(db.get_i8(id), 'a');
  EXPECT_EQ(db.get_i16(db.new_item({.i16 = 5})), 5);
  EXPECT_EQ(db.get_code(db.new_city("Oslo", 5, {}, 709'000)), 5);
  const auto in_a_function = [this](auto number) {
    db.set_i16(id, 9);
    db.set_i64(id, number);
  };
  in_a_function(3);
  EXPECT_EQ(db.get_i16(id), 9);
}

TEST_F(Narrowing, ValuesOfSmallerTypesAreTaken) {
  std::int8_t i8 = 1;
  std::int16_t i16 = 2;
  int i32 = 3;
  long long i64 = 4;
  unsigned u32 = 5;
  float f32 = 6;
  bool flag = true;
  db.set_i16(id, i8);
  db.set_i32(id, i16);
  db.set_i64(id, i32);
  db.set_i64(id, i64);
  db.set_i64(id, u32);
  EXPECT_EQ(db.get_i64(id), 5);
  db.set_f64(id, i32);
  db.set_f64(id, u32);
  db.set_f32(id, i16);
  db.set_f64(id, f32);
  EXPECT_EQ(db.get_f64(id), 6);
  db.set_i8(id, flag);
  EXPECT_EQ(db.get_i8(id), 1);
  enum Small : std::int8_t { a };
  enum Plain { b, c } plain = c;
  Small small = a;
  db.set_i8(id, small);
  db.set_i32(id, plain);
  EXPECT_EQ(db.get_i32(id), 1);
  db.set_i32(id, db.get_i32(id) + 1);
  EXPECT_EQ(db.get_i32(id), 2);
}

TEST_F(Narrowing, ObjectsConvertThemselves) {
  const std::vector<bool> flags{true, false};
  std::vector<bool> others{true};
  db.set_flag(id, flags[0]);
  db.set_flag(id, others[0]);
  EXPECT_TRUE(db.get_flag(id));
  struct Number {
    operator std::int16_t() const { return 7; }
  };
  db.set_i16(id, Number());
  const Number number;
  db.set_i32(id, number);
  EXPECT_EQ(db.get_i32(id), 7);
}

// The range of a size_t is checked at run time.
TEST_F(Narrowing, SizesAreTaken) {
  const std::vector<int> three(3);
  db.set_i64(id, three.size());
  EXPECT_EQ(db.get_i64(id), 3);
  db.flush();
  const auto before = db.get_data();
  const std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
  EXPECT_THROW(db.set_i64(id, largest), joedb::Data_Error);
  EXPECT_EQ(db.get_i64(id), 3);
  db.flush();
  EXPECT_EQ(db.get_data(), before);
}

}  // namespace
}  // namespace values_test
