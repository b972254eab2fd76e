#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include "joedb/io/posix_file.h"
#include "support/temporary_directory.h"

// Waiting for locks, between two open files of one process.

namespace joedb::file_lock_test {
namespace {

// Returns true if the system lists a waiter for a lock on the file; nullopt if it lists no locks.
std::optional<bool> has_waiter(const std::string& name) {
  struct stat status;
  std::ifstream locks("/proc/locks");
  if (!locks || ::stat(name.c_str(), &status) != 0) return std::nullopt;
  const std::string inode = ":" + std::to_string(status.st_ino) + " ";
  for (std::string line; std::getline(locks, line);)
    if (line.find("->") != line.npos && line.find(inode) != line.npos) return true;
  return false;
}

class Lock_Test : public ::testing::Test {
 protected:
  // Checks that f(), which needs a lock that is held now, returns only after the call of release().
  template <class F, class Release>
  void expect_waits(F f, Release release) {
    std::atomic<bool> is_released = false, was_released_first = false;
    std::thread waiter([&] {
      f();
      was_released_first = is_released.load();
    });
    for (int i = 0; i < 100'000 && !has_waiter(name).value_or(true); ++i) std::this_thread::yield();
    is_released = true;
    release();
    waiter.join();
    EXPECT_TRUE(was_released_first);
  }

  testing::Temporary_Directory directory;
  const std::string name = directory.write("a.joedb", "content");
};

TEST_F(Lock_Test, WritersThatWaitForTheOtherToLeave) {
  std::optional<File> first(std::in_place, name, Open_Mode::write_existing);
  expect_waits([&] { File(name, Open_Mode::write_lock); }, [&] { first.reset(); });
}

TEST_F(Lock_Test, ExclusiveLocksWaitForEachOther) {
  File a(name, Open_Mode::shared_write), b(name, Open_Mode::shared_write);
  for (const Lock_Range range : {head_lock, tail_lock}) {
    a.exclusive_lock(range.start, range.size);
    expect_waits([&] { b.exclusive_lock(range.start, range.size); },
                 [&] { a.unlock(range.start, range.size); });
    b.unlock(range.start, range.size);
  }
}

TEST_F(Lock_Test, ASharedLockWaitsForAnExclusiveOneAndTheOtherWayRound) {
  File writer(name, Open_Mode::shared_write), reader(name, Open_Mode::read_existing);
  writer.exclusive_lock(head_lock.start, head_lock.size);
  expect_waits([&] { reader.shared_lock(head_lock.start, head_lock.size); },
               [&] { writer.unlock(head_lock.start, head_lock.size); });
  expect_waits([&] { writer.exclusive_lock(head_lock.start, head_lock.size); },
               [&] { reader.unlock(head_lock.start, head_lock.size); });
}

// The file is too short to be mapped.
TEST_F(Lock_Test, WordsThatAreNotMappedAreWrittenWithTheHeadLocked) {
  File writer(name, Open_Mode::write_existing), reader(name, Open_Mode::read_existing);
  reader.shared_lock(head_lock.start, head_lock.size);
  const std::int64_t word = 1;
  expect_waits([&] { writer.store_words(std::span(&word, 1), 8); },
               [&] { reader.unlock(head_lock.start, head_lock.size); });
}

TEST_F(Lock_Test, HeadAndTailAreLockedApart) {
  File a(name, Open_Mode::shared_write), b(name, Open_Mode::shared_write);
  a.exclusive_lock(tail_lock.start, tail_lock.size);
  b.exclusive_lock(head_lock.start, head_lock.size);
  const File reader(name, Open_Mode::read_existing);
}

// Two threads increment a number in the file under the lock.
TEST_F(Lock_Test, ExcludesTheOther) {
  const auto add = [&] {
    File file(name, Open_Mode::shared_write);
    for (int i = 0; i < 2000; ++i) {
      const File_Lock lock(file, tail_lock, File_Lock::Kind::exclusive);
      int number;
      file.read_exactly(reinterpret_cast<char*>(&number), sizeof number, 0);
      ++number;
      file.pwrite(reinterpret_cast<const char*>(&number), sizeof number, 0);
    }
  };
  int number = 0;
  File file(name, Open_Mode::shared_write);
  file.pwrite(reinterpret_cast<const char*>(&number), sizeof number, 0);
  std::thread other(add);
  add();
  other.join();
  file.read_exactly(reinterpret_cast<char*>(&number), sizeof number, 0);
  EXPECT_EQ(number, 4000);
}

// As joedb_pack --in-place replaces files: writes to the old, unlinked file would be lost.
TEST_F(Lock_Test, FilesThatWereReplacedMeanwhileAreOpenedAgain) {
  for (const Open_Mode mode :
       {Open_Mode::read_existing, Open_Mode::shared_write, Open_Mode::write_lock}) {
    std::optional<File> old(std::in_place, name, Open_Mode::write_existing);
    ASSERT_TRUE(old->try_exclusive_lock(presence_lock.start, presence_lock.size));
    std::string read(3, ' ');
    expect_waits([&] { File(name, mode).read_exactly(read.data(), read.size(), 0); },
                 [&] {
                   std::filesystem::rename(directory.write("b.joedb", "new"), name);
                   old.reset();
                 });
    EXPECT_EQ(read, "new");
  }
}

}  // namespace
}  // namespace joedb::file_lock_test
