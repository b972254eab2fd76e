#include <gtest/gtest.h>

#include "support/error_of.h"
#include "support/journal_process.h"

// Files that are preallocated with zeros.

namespace joedb {
namespace {

using testing::error_of;
using testing::Journal_Process;
using testing::Sim_Disk;
using testing::words_in;

class Preallocation_Test : public ::testing::Test {
 protected:
  static Journal_Options steps_of(Offset size) {
    Journal_Options options;
    options.preallocation = size;
    return options;
  }

  const Journal_Options steps = steps_of(4096);

  Sim_Disk disk;
  testing::Destructor_Warnings warnings;
};

TEST_F(Preallocation_Test, LetsTheFileGrowInSteps) {
  Journal_Process process(disk, steps);
  process.append("a");
  process.journal().hard_checkpoint();
  EXPECT_EQ(disk.content().size(), 4096);
  EXPECT_EQ(words_in(disk.content()), "a ");
  disk.take_calls();
  process.append("b");
  process.journal().hard_checkpoint();
  EXPECT_EQ(disk.take_calls(),
            "write 3@44\nread 32@0\nwrite 16@0\ndatasync\n"
            "write 8@8\n");
  process.append(std::string(5000, 'c'));
  process.journal().soft_checkpoint();
  EXPECT_EQ(disk.content().size(), 8192);
}

TEST_F(Preallocation_Test, BeginsByItselfWhereHardCheckpointsAreFrequent) {
  {
    Journal_Process process(disk);
    for (const Offset size : {44, 47, 50, 4096}) {
      process.append("a");
      process.journal().hard_checkpoint();
      EXPECT_EQ(disk.content().size(), size);
    }
    process.append(std::string(20'000, 'b'));
    process.journal().hard_checkpoint();
    // a step of preallocation is at most half of the file
    EXPECT_EQ(disk.content().size(), 24'576);
    process.append(std::string(100, 'c'));
    process.journal().soft_checkpoint();
    EXPECT_EQ(disk.content().size(), 24'576);
  }
  EXPECT_EQ(disk.content().size(), 20'160);
}

TEST_F(Preallocation_Test, DoesNotBeginByItselfAfterItWasRefused) {
  Journal_Process process(disk, steps_of(0));
  for (int i = 0; i < 10; ++i) {
    process.append("a");
    process.journal().hard_checkpoint();
  }
  EXPECT_EQ(disk.content().size(), 71);
}

TEST_F(Preallocation_Test, DoesNotBeginAgainWhereTheDiskIsFull) {
  Journal_Process process(disk);
  const auto commit = [&] {
    process.append("a");
    process.journal().hard_checkpoint();
  };
  for (int i = 0; i < 3; ++i) commit();
  disk.set_fault({.calls = testing::Sim_Fault::Calls::writes,
                  .number = disk.count(testing::Sim_Fault::Calls::writes) + 1,  // the zeros
                  .code = ENOSPC});
  for (int i = 0; i < 7; ++i) commit();
  EXPECT_TRUE(disk.has_failed());
  EXPECT_EQ(disk.content().size(), 71);
}

TEST_F(Preallocation_Test, IsCutWhenTheJournalIsClosed) {
  {
    Journal_Process process(disk, steps);
    process.append("a");
    process.journal().soft_checkpoint();
  }
  EXPECT_EQ(disk.content().size(), 44);
}

TEST_F(Preallocation_Test, IsDroppedSilentlyAfterACrash) {
  {
    Journal_Process process(disk, steps);
    process.append("a");
    process.journal().hard_checkpoint();
  }
  const std::string killed = disk.at(disk.io_count() - 1).content();
  EXPECT_EQ(killed.size(), 4096);
  for (const Recovery recovery :
       {Recovery::none, Recovery::ignore_header, Recovery::overwrite, Recovery::hard}) {
    EXPECT_EQ(words_in(killed, recovery), "a ");
    Sim_Disk after(killed);
    Journal_Process process(after, recovery);
    EXPECT_EQ(after.content().size(), 44);
    process.append("b");
    process.journal().soft_checkpoint();
    EXPECT_EQ(words_in(after.content()), "a b ");
  }
}

TEST_F(Preallocation_Test, AnUnfinishedTransactionBeforeTheZerosIsNotDropped) {
  {
    Journal_Process process(disk, steps);
    process.append("a");
    process.journal().soft_checkpoint();
    process.append("b");
    process.journal().flush();
  }
  const std::string killed = disk.at(disk.io_count() - 1).content();
  EXPECT_EQ(killed.size(), 4096);
  Sim_Disk after(killed);
  EXPECT_TRUE(
      error_of([&] { Journal_Process process(after); })
          .starts_with("sim ends with an unfinished transaction: its checkpoint is at 44, the "
                       "file has 4096 bytes"));
  EXPECT_EQ(words_in(killed, Recovery::ignore_header), "a b ");
}

// A text may end with zeros.
TEST_F(Preallocation_Test, ZerosThatBelongToAnEntryAreKept) {
  {
    Journal_Process process(disk, steps);
    process.append(std::string_view("a\0\0\0", 4));
    process.journal().flush();
  }
  const std::string killed = disk.at(disk.io_count() - 1).content();
  EXPECT_EQ(words_in(killed, Recovery::ignore_header), std::string_view("a\0\0\0 ", 5));
}

TEST_F(Preallocation_Test, EndsWhereTheDiskIsFull) {
  Journal_Process process(disk, steps);
  process.append("a");
  disk.set_fault({.number = 2, .code = ENOSPC, .part_written = 0.5});  // the zeros
  process.journal().hard_checkpoint();
  EXPECT_EQ(disk.content().size(), 44);
  process.append("b");
  process.journal().soft_checkpoint();
  EXPECT_EQ(disk.content().size(), 47);
}

// The zeros must not take the room of the content, and leave a hole that cannot be erased.
TEST_F(Preallocation_Test, AFullDiskLeavesNoTailBehindTheCheckpoint) {
  {
    Journal_Process process(disk, steps_of(64));
    process.append("a");
    process.journal().enable_integrity();
    disk.fill(1, 64);
    process.append(std::string(500, 'b'));
    EXPECT_THROW(process.journal().soft_checkpoint(), Disk_Full);
  }
  disk.end_fill();
  Journal_Process process(disk);
  process.append("c");
  process.journal().soft_checkpoint();
  EXPECT_EQ(words_in(disk.content()), "a c ");
}

TEST_F(Preallocation_Test, IsOnlyForFilesThatAreOpenedAlone) {
  EXPECT_EQ(error_of([&] { Journal_Process process(disk, steps, Open_Mode::shared_write); }),
            "sim: only a file that is opened alone can be preallocated");
  for (const Offset wrong : {Offset{-1}, Journal_Options::max_preallocation + 1})
    EXPECT_THROW(Journal_Process(disk, steps_of(wrong)), Exception);
}

TEST_F(Preallocation_Test, RollsBack) {
  Journal_Process process(disk, steps);
  process.append("a");
  process.journal().soft_checkpoint();
  process.append("b");
  process.journal().flush();
  process.journal().rollback();
  process.replay();
  process.append("c");
  process.journal().soft_checkpoint();
  EXPECT_EQ(words_in(disk.content()), "a c ");
  EXPECT_EQ(disk.content().size(), 4096);
}

}  // namespace
}  // namespace joedb
