#include "exchange/identifiers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "joedb/schema/type.h"
#include "support/property.h"

namespace joedb {
namespace {

using ::testing::ElementsAre;

TEST(Identifiers, StayOrResembleTheName) {
  EXPECT_THAT(to_identifiers({"city", "_x_", "full name", "__id", "2024", "caf\xc3\xa9"}),
              ElementsAre("city", "_x_", "full_name", "id", "_2024", "caf"));
  EXPECT_THAT(to_identifiers({"\xe5\x90\x8d", ""}), ElementsAre("column", "column_2"));
}

TEST(Identifiers, AreDifferentAndLeaveIdentifiersAsTheyAre) {
  EXPECT_THAT(to_identifiers({"a b", "a_b", "a-b", "a_b_2"}),
              ElementsAre("a_b_3", "a_b", "a_b_4", "a_b_2"));
  EXPECT_THAT(to_identifiers({"x", "x"}), ElementsAre("x", "x_2"));
}

TEST(Identifiers, AreAlwaysIdentifiers) {
  testing::expect_property([](const std::vector<std::string>& names) {
    const auto identifiers = to_identifiers(names);
    for (std::size_t i = 0; i < identifiers.size(); ++i) {
      RC_ASSERT(is_identifier(identifiers[i]));
      for (std::size_t j = 0; j < i; ++j) RC_ASSERT(identifiers[i] != identifiers[j]);
    }
  });
}

}  // namespace
}  // namespace joedb
