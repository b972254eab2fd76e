#include "joedb/journal/writable_journal.h"

#include <gtest/gtest.h>

#include <thread>

#include "sim/lab/sim_file.h"

namespace joedb {
namespace {

using testing::Sim_Disk;
using testing::Sim_Fault;
using testing::Sim_File;

class Sync_Group_Test : public ::testing::Test {
 protected:
  Sim_Disk disk_;
  Sim_File file_{disk_};
  Fail_Stop_File out_{file_};
  Sync_Group group_{out_};
};

TEST_F(Sync_Group_Test, HasNothingToFinishAtFirst) {
  EXPECT_FALSE(group_.is_pending());
  EXPECT_FALSE(group_.is_syncing());
  EXPECT_FALSE(group_.finish());
}

TEST_F(Sync_Group_Test, FinishWaitsForTheSyncOfAnotherThread) {
  group_.begin({.position = 44, .is_sealed = true});
  EXPECT_TRUE(group_.is_syncing());
  std::thread other([&] { group_.sync(); });
  const auto done = group_.finish();
  EXPECT_EQ(disk_.io_count(), 2u);  // syncs the file and its directory
  other.join();
  ASSERT_TRUE(done);
  EXPECT_EQ(done->position, 44);
  EXPECT_TRUE(done->is_sealed);
  EXPECT_FALSE(group_.is_pending());
}

TEST_F(Sync_Group_Test, FinishThrowsOnceWhatTheSyncHasThrown) {
  disk_.set_fault({.calls = Sim_Fault::Calls::syncs, .number = 0});
  group_.begin({.position = 44, .is_sealed = false});
  group_.sync();
  group_.wait(group_.number());
  EXPECT_THROW(group_.finish(), Io_Error);
  EXPECT_FALSE(group_.finish());
  EXPECT_TRUE(out_.has_failed());
}

}  // namespace
}  // namespace joedb
