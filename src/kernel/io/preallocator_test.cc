#include "joedb/io/fail_stop_file.h"

#include <gtest/gtest.h>

#include "joedb/io/memory_file.h"
#include "support/error_of.h"

namespace joedb::preallocator_test {
namespace {

class Preallocator_Test : public ::testing::Test {
 protected:
  Memory_File file_;
  Fail_Stop_File guard_{file_};
  Preallocator preallocator_{file_, guard_};
};

TEST_F(Preallocator_Test, DoesNothingWithoutAStep) {
  EXPECT_TRUE(preallocator_.reserve(0, 10));
  EXPECT_EQ(file_.get_size(), 0);
}

TEST_F(Preallocator_Test, FillsToAMultipleOfTheStepBehindTheContent) {
  preallocator_.set_step(16);
  EXPECT_TRUE(preallocator_.reserve(10, 10));
  EXPECT_EQ(file_.get_size(), 16);
  EXPECT_TRUE(preallocator_.reserve(16, 16));  // already preallocated
  EXPECT_EQ(file_.get_size(), 16);
  EXPECT_TRUE(preallocator_.reserve(17, 17));
  EXPECT_EQ(file_.get_size(), 32);
  EXPECT_EQ(preallocator_.end(), 32);
}

TEST_F(Preallocator_Test, RefusesStepsThatMakeNoSense) {
  EXPECT_EQ(testing::error_of([&] { preallocator_.set_step(-1); }),
            "memory: a file is preallocated in steps of 0 to 1073741824 bytes, not -1");
  EXPECT_THROW(preallocator_.set_step(Preallocator::max_step + 1), Exception);
}

}  // namespace
}  // namespace joedb::preallocator_test
