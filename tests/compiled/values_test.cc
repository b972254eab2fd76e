// Rows that are made from structs of values: new_x({.field = value}).

#include <gtest/gtest.h>

#include "everything.h"
#include "geo_2.h"
#include "hard_names.h"
#include "shop_1.h"
#include "town.h"

namespace {

TEST(Values, Are_Given_By_Name) {
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

TEST(Values, Are_Written_As_By_Position) {
  test::everything::Memory_Database a, b;
  a.new_city("Oslo", 0, a.null_country(), 5);
  b.new_city({.name = "Oslo", .population = 5});
  a.flush();
  b.flush();
  EXPECT_EQ(a.get_data(), b.get_data());
}

TEST(Values, That_Are_Left_Out_Are_The_Initial_Ones_Of_The_Schema) {
  geo_2::Memory_Database db;
  const auto city = db.new_city({.population = 3});
  EXPECT_EQ(db.get_name(city), "Nowhere");
  EXPECT_EQ(db.get_country(city), "nowhere");
  EXPECT_EQ(db.get_name(db.new_city()), "");
}

TEST(Values, Can_Be_Kept_And_Changed) {
  town::Memory_Database db;
  town::values_of_house house{.street = "Storgata"};
  for (house.number = 1; house.number < 4; ++house.number) db.new_house(house);
  EXPECT_EQ(db.get_house_table().get_size(), 3u);
  EXPECT_EQ(db.get_number(db.get_house_table().last()), 3);
  EXPECT_EQ(db.get_street(db.new_house({})), "");
  const town::Types::values_of_house other;
  EXPECT_EQ(other.number, 0);
}

TEST(Values, Are_Not_Ambiguous_In_A_Table_With_One_Field) {
  shop_1::Memory_Database db;
  EXPECT_EQ(db.get_label(db.new_item({.label = "a"})), "a");
  EXPECT_EQ(db.get_label(db.new_item("b")), "b");
  EXPECT_EQ(db.get_label(db.new_item({"c"})), "c");
  EXPECT_EQ(db.get_label(db.new_item({})), "");
  EXPECT_EQ(db.get_label(db.new_item(shop_1::values_of_item{"d"})), "d");
}

TEST(Values, Have_The_Names_Of_Parameters) {
  test::hard_names::Memory_Database db;
  const auto row = db.new_class({.default_ = "a", .int_ = 3});
  EXPECT_EQ(db.get_default(row), "a");
  EXPECT_EQ(db.get_int(row), 3);
}

}  // namespace
