#include "kernel/base/parse_number.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace joedb::parse_number_test {
namespace {

TEST(Parse_Number, TakesWholeTextsOnly) {
  EXPECT_EQ(parse_number<int>("-12"), -12);
  EXPECT_EQ(parse_number<double>("1.5"), 1.5);
  EXPECT_EQ(parse_number<std::int64_t>("9223372036854775807"), INT64_MAX);
  for (const char* const text : {"", "-", "+1", " 1", "1 ", "1x", "9223372036854775808"})
    EXPECT_EQ(parse_number<std::int64_t>(text), std::nullopt) << text;
}

}  // namespace
}  // namespace joedb::parse_number_test
