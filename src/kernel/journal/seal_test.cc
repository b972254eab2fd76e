#include "kernel/format/seal.h"

#include <gtest/gtest.h>

#include "support/journal_process.h"

// Sealed hard checkpoints: the words in the header, and the recovery of a seal that was not
// replaced because its writer was killed, or the power failed.

namespace joedb {
namespace {

using testing::hard_checkpoint_in;
using testing::Journal_Process;
using testing::Sim_Disk;
using testing::words_in;
using testing::words_text;

TEST(Seal, DescribesTheBytesBeforeAPosition) {
  const std::int64_t seal = make_seal("abc", 44);
  EXPECT_EQ(seal, 0x4000034010974ef8);  // part of the file format: must never change
  EXPECT_EQ(sealed_size(seal), 3);
  EXPECT_NE(make_seal("abd", 44), seal);
  EXPECT_NE(make_seal("abc", 45), seal);
  EXPECT_EQ(sealed_size(make_seal(std::string(seal_limit - 1, 'x'), seal_limit + 40)),
            seal_limit - 1);
}

TEST(Seal, IsNoPosition) {
  for (const std::int64_t word :
       {std::int64_t{0}, std::int64_t{41}, std::int64_t{-41}, std::int64_t{1} << 61,
        std::numeric_limits<std::int64_t>::min(), std::int64_t{-1}})
    EXPECT_EQ(sealed_size(word), 0) << word;
  EXPECT_GT(make_seal("abc", 44), std::int64_t{1} << 62);
}

class Seal_Test : public ::testing::Test {
 protected:
  // Returns the disk as it is before the last seal is replaced.
  Sim_Disk crash_before_last_write(const std::string& words) {
    Sim_Disk disk;
    Journal_Process process(disk);
    for (const char word : words) {
      process.append(std::string_view(&word, 1));
      process.journal().hard_checkpoint();
    }
    return disk.at(disk.io_count() - 1);
  }

  testing::Destructor_Warnings warnings;
};

TEST_F(Seal_Test, IsBelievedByReaders) {
  const std::string file = crash_before_last_write("ab").content();
  EXPECT_EQ(words_in(file), "a b ");
  EXPECT_EQ(words_in(file, Recovery::hard), "a b ");
  EXPECT_EQ(hard_checkpoint_in(file), 47);
}

// Programs without seals, which compare the two copies of a word, see the previous checkpoint.
TEST_F(Seal_Test, IsNoCheckpointForOthers) {
  const std::string file = crash_before_last_write("ab").content();
  std::array<char, checkpoint_words_size> bytes;
  file.copy(bytes.data(), bytes.size());
  Checkpoints others;
  others.read(decode_checkpoints(bytes), static_cast<Offset>(file.size()));
  EXPECT_EQ(others.checkpoint, 44);
  EXPECT_EQ(others.hard_checkpoint, 44);
}

TEST_F(Seal_Test, IsReplacedByTheNextWriterAfterASync) {
  for (const Open_Mode mode : {Open_Mode::write_existing, Open_Mode::shared_write}) {
    Sim_Disk disk = crash_before_last_write("a");
    disk.take_calls();
    {
      Journal_Process process(disk, Recovery::none, mode);
      process.begin();
    }
    EXPECT_EQ(words_text(disk.content()), "41 41 44 44");
    const std::string calls = disk.take_calls();
    EXPECT_LT(calls.find("datasync"), calls.rfind("write 8@24")) << calls;
  }
}

TEST_F(Seal_Test, IsReplacedByAWriterThatSharesTheFile) {
  Sim_Disk disk;
  Journal_Process ann(disk, Recovery::none, Open_Mode::shared_write);
  {
    Journal_Process bob(disk, Recovery::none, Open_Mode::shared_write);
    bob.begin();
    bob.append("a");
    bob.journal().hard_checkpoint();
  }
  // Restores the state in which Bob was killed before he replaced the seal.
  const std::int64_t seal = make_seal(std::string_view("\x0a\x01"
                                                       "a",
                                                       3),
                                      44);
  {
    testing::Sim_File file(disk, Open_Mode::shared_write);
    const File_Lock lock(file, tail_lock, File_Lock::Kind::exclusive);
    file.pwrite(reinterpret_cast<const char*>(&seal), sizeof seal, 8);
  }
  ann.begin();
  EXPECT_EQ(ann.journal().get_hard_checkpoint(), 44);
  EXPECT_EQ(words_text(disk.content()), "44 44 41 41");
}

TEST_F(Seal_Test, OverOtherBytesIsNotBelieved) {
  std::string file = crash_before_last_write("ab").content();
  file[46] = 'x';
  EXPECT_EQ(words_in(file), "a ");
  Sim_Disk disk(file);
  Journal_Process process(disk, Recovery::overwrite);
  EXPECT_EQ(process.journal().get_checkpoint(), 44);
  EXPECT_EQ(words_text(disk.content()).find(std::to_string(make_seal("x", 44)).substr(0, 4)),
            std::string::npos)
      << "the seal is invalidated: " << words_text(disk.content());
  file.pop_back();
  EXPECT_EQ(words_in(file), "a ");
}

// The seal has overwritten a soft checkpoint, and is the only checkpoint of the file.
TEST_F(Seal_Test, WhatFailsAfterTheSyncIsNotRolledBack) {
  for (std::size_t number = 0; number < 8; ++number) {
    Sim_Disk disk;
    try {
      Journal_Process process(disk);
      process.append("a");
      process.journal().soft_checkpoint();
      process.append("b");
      disk.set_fault({.calls = testing::Sim_Fault::Calls::locks, .number = number});
      try {
        process.journal().hard_checkpoint();
      } catch (const Io_Error&) {
        process.journal().rollback();
      }
    } catch (const Io_Error&) {  // the rollback needs locks, too
    }
    EXPECT_TRUE(words_in(disk.content()).starts_with("a ")) << number;
  }
}

// Only the seal holds the hard checkpoint of its slot: Recovery::ignore_header must not lose it.
TEST_F(Seal_Test, SurvivesIgnoringTheHeader) {
  Sim_Disk disk = crash_before_last_write("ab");
  const std::size_t before = disk.io_count();
  Journal_Process process(disk, Recovery::ignore_header);
  process.append("c");
  process.journal().hard_checkpoint();
  for (std::size_t io = before; io <= disk.io_count(); ++io)
    EXPECT_GE(hard_checkpoint_in(disk.at(io).content()), 47) << io;
}

}  // namespace
}  // namespace joedb
