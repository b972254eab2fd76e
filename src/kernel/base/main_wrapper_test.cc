#include "joedb/base/main_wrapper.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace joedb {
namespace {

struct Main_Wrapper : ::testing::Test {
  char name[8] = "program", word[6] = "hello";
  char* argv[3] = {name, word, nullptr};
  static const int argc = 2;
};

TEST_F(Main_Wrapper, PassesTheArguments) {
  std::string all;
  const auto function = [&](Arguments& arguments) {
    EXPECT_EQ(2, arguments.size());
    EXPECT_EQ("hello", arguments[1]);
    for (const auto argument : arguments) all.append(argument) += ' ';
  };
  EXPECT_EQ(0, main_wrapper(function, argc, argv));
  EXPECT_EQ("program hello ", all);
}

TEST_F(Main_Wrapper, ReturnsWhatTheFunctionReturns) {
  EXPECT_EQ(3, main_wrapper([](Arguments&) { return 3; }, argc, argv));
}

TEST_F(Main_Wrapper, ReportsAnException) {
  ::testing::internal::CaptureStderr();
  const auto function = [](Arguments&) { throw std::runtime_error("no such file"); };
  EXPECT_EQ(1, main_wrapper(function, argc, argv));
  EXPECT_EQ("Exception caught: no such file\n", ::testing::internal::GetCapturedStderr());
}

}  // namespace
}  // namespace joedb
