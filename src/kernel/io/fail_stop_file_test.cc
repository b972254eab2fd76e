#include "joedb/io/fail_stop_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <random>

#include "sim/lab/sim_file.h"

namespace joedb::fail_stop_file_test {
namespace {

using testing::Sim_Disk;
using testing::Sim_Fault;
using testing::Sim_File;

class Fail_Stop_File_Test : public ::testing::Test {
 protected:
  std::string read(std::size_t size) {
    std::string bytes(size, '#');
    bytes.resize(file.pread(bytes.data(), size, 0));
    return bytes;
  }

  Sim_Disk disk{"0123456789"};
  Sim_File sim{disk};
  Fail_Stop_File file{sim};

  const std::vector<std::pair<std::string, std::function<void()>>> changes{
      {"write", [this] { file.pwrite("ab", 2, 0); }},
      {"sync", [this] { file.sync(); }},
      {"datasync", [this] { file.datasync(); }},
      {"truncate", [this] { file.truncate(5); }},
  };
};

TEST_F(Fail_Stop_File_Test, PassesEverythingOn) {
  disk.take_calls();
  for (const auto& [name, change] : changes) change();
  file.shared_lock(0, 1);
  file.exclusive_lock(0, 1);
  file.unlock(0, 1);
  EXPECT_EQ(file.get_size(), 5);
  EXPECT_EQ(read(3), "ab2");
  EXPECT_EQ(disk.take_calls(),
            "write 2@0\nsync\nsync directory\ndatasync\ntruncate 5\nshare head\nlock head\nunlock "
            "head\nsize\n"
            "read 3@0\n");
  EXPECT_FALSE(file.has_failed());
  EXPECT_EQ(file.get_name(), "sim");
}

TEST_F(Fail_Stop_File_Test, WritesNothingAfterTheFirstFailure) {
  for (const auto& [failing, fail] : changes) {
    Sim_Disk other_disk("0123456789");
    Sim_File other(other_disk);
    Fail_Stop_File stopping(other);
    const std::vector<std::function<void()>> all{
        [&] { stopping.pwrite("ab", 2, 0); }, [&] { stopping.sync(); },
        [&] { stopping.datasync(); }, [&] { stopping.truncate(5); }};
    other_disk.set_fault({.number = 0, .code = EIO});
    const auto index = static_cast<std::size_t>(
        std::find_if(changes.begin(), changes.end(),
                     [&name = failing](const auto& c) { return c.first == name; }) -
        changes.begin());
    EXPECT_THROW(all[index](), Io_Error) << failing;
    EXPECT_TRUE(stopping.has_failed());
    other_disk.remove_fault();
    other_disk.take_calls();
    for (const auto& change : all) EXPECT_THROW(change(), Exception) << failing;
    EXPECT_EQ(other_disk.take_calls(), "") << failing;
  }
}

TEST_F(Fail_Stop_File_Test, GoesOnReadingAndLocking) {
  disk.set_fault({.number = 0, .code = EIO, .part_written = 0.5});
  EXPECT_THROW(file.pwrite("abcdefgh", 8, 2), Io_Error);
  file.shared_lock(0, 1);
  file.unlock(0, 1);
  EXPECT_EQ(file.get_size(), 10);
  EXPECT_EQ(read(100), "0123456789");
}

TEST_F(Fail_Stop_File_Test, SaysWhatFailedFirst) {
  disk.set_fault({.number = 0, .code = ENOSPC});
  EXPECT_THROW(file.pwrite("ab", 2, 7), Io_Error);
  try {
    file.sync();
    FAIL();
  } catch (const Exception& error) {
    EXPECT_STREQ(error.what(),
                 "sim is not written to any more, after an earlier failure: writing sim at offset "
                 "7: No space left on device. Close it and open it again.");
  }
}

TEST_F(Fail_Stop_File_Test, KeepsTheLastBytesAsTheyAreInTheFile) {
  file.keep_recent(16);
  std::mt19937 random(1);
  const auto below = [&](std::size_t end) { return static_cast<Offset>(random() % end); };
  for (int i = 0; i < 5000; ++i) {
    const Offset end = sim.get_size();
    if (random() % 8 == 0) {
      file.truncate(below(static_cast<std::size_t>(end) + 3));
    } else if (random() % 8 == 0) {
      file.store_words(std::array<std::int64_t, 1>{i}, 8 * below(4));
    } else {
      const std::string bytes(random() % 40, static_cast<char>('a' + i % 26));
      const Offset at = random() % 4 == 0 ? below(static_cast<std::size_t>(end) + 3) : end;
      file.pwrite(bytes.data(), bytes.size(), at);
    }
    for (Offset from = 0; from < sim.get_size(); ++from) {
      const std::size_t size = 1 + random() % 32;
      std::string kept(size, '#'), there(size, '-');
      if (!file.read_recent(kept.data(), size, from)) continue;
      ASSERT_EQ(sim.pread(there.data(), size, from), size) << i;
      ASSERT_EQ(kept, there) << i;
    }
    if (sim.get_size() > 300) file.truncate(10);
  }
}

TEST_F(Fail_Stop_File_Test, KeepsNothingAfterAFailure) {
  file.keep_recent(16);
  file.pwrite("abcd", 4, 10);
  char bytes[4];
  EXPECT_TRUE(file.read_recent(bytes, 4, 10));
  EXPECT_FALSE(file.read_recent(bytes, 4, 9)) << "it was not written through this object";
  EXPECT_FALSE(file.read_recent(bytes, 4, 11)) << "the file ends before";
  disk.set_fault({.calls = Sim_Fault::Calls::writes,
                  .number = disk.count(Sim_Fault::Calls::writes),
                  .code = EIO,
                  .part_written = 0.5});
  EXPECT_THROW(file.pwrite("ef", 2, 14), Io_Error);
  EXPECT_FALSE(file.read_recent(bytes, 4, 10));
  EXPECT_FALSE(file.read_recent(bytes, 1, 14));
  EXPECT_EQ(read(100).substr(0, 14), "0123456789abcd");
}

TEST_F(Fail_Stop_File_Test, IsNotStoppedByAFailingRead) {
  disk.set_fault({.calls = Sim_Fault::Calls::reads, .number = 0});
  EXPECT_THROW(read(1), Io_Error);
  EXPECT_FALSE(file.has_failed());
  file.pwrite("ab", 2, 0);
  EXPECT_EQ(read(2), "ab");
}

}  // namespace
}  // namespace joedb::fail_stop_file_test
