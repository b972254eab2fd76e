#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "joedb/io/posix_file.h"
#include "support/simulated_system.h"
#include "support/temporary_directory.h"

// Tests of waiting for locks, between two open files of one process.

namespace joedb::file_lock_test {
namespace {

// Counts the pauses of waits.
class Counting_System : public System {
 public:
  void sleep(Duration duration) override {
    ++sleeps;
    System::sleep(duration);
  }
  std::atomic<int> sleeps = 0;
};

class Lock_Test : public ::testing::Test {
 protected:
  File open(Open_Mode mode) { return File(name, mode, System::Duration::max(), system); }

  // Checks that f(), which needs a lock that is held now, returns only after the call of release().
  // Files that wait must have been opened by open().
  template <class F, class Release>
  void expect_waits(F f, Release release) {
    std::atomic<bool> is_released = false, was_released_first = false;
    std::thread waiter([&] {
      f();
      was_released_first = is_released.load();
    });
    for (const int before = system.sleeps; system.sleeps == before;) std::this_thread::yield();
    is_released = true;
    release();
    waiter.join();
    EXPECT_TRUE(was_released_first);
  }

  Counting_System system;
  testing::Temporary_Directory directory;
  const std::string name = directory.write("a.joedb", "content");
};

TEST_F(Lock_Test, WritersThatWaitForTheOtherToLeave) {
  std::optional<File> first(std::in_place, name, Open_Mode::write_existing);
  expect_waits([&] { open(Open_Mode::write_lock); }, [&] { first.reset(); });
}

TEST_F(Lock_Test, ExclusiveLocksWaitForEachOther) {
  File a(name, Open_Mode::shared_write), b = open(Open_Mode::shared_write);
  for (const Lock_Range range : {head_lock, tail_lock}) {
    a.exclusive_lock(range.start, range.size);
    expect_waits([&] { b.exclusive_lock(range.start, range.size); },
                 [&] { a.unlock(range.start, range.size); });
    b.unlock(range.start, range.size);
  }
}

TEST_F(Lock_Test, ASharedLockWaitsForAnExclusiveOneAndTheOtherWayRound) {
  File writer = open(Open_Mode::shared_write), reader = open(Open_Mode::read_existing);
  writer.exclusive_lock(head_lock.start, head_lock.size);
  expect_waits([&] { reader.shared_lock(head_lock.start, head_lock.size); },
               [&] { writer.unlock(head_lock.start, head_lock.size); });
  expect_waits([&] { writer.exclusive_lock(head_lock.start, head_lock.size); },
               [&] { reader.unlock(head_lock.start, head_lock.size); });
}

// The file is too short to be mapped.
TEST_F(Lock_Test, WordsThatAreNotMappedAreWrittenWithTheHeadLocked) {
  File writer = open(Open_Mode::write_existing), reader(name, Open_Mode::read_existing);
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

// joedb_pack --in-place replaces a file in this way; writes to the old, unlinked file would be
// lost.
TEST_F(Lock_Test, FilesThatWereReplacedMeanwhileAreOpenedAgain) {
  for (const Open_Mode mode :
       {Open_Mode::read_existing, Open_Mode::shared_write, Open_Mode::write_lock}) {
    std::optional<File> old(std::in_place, name, Open_Mode::write_existing);
    ASSERT_TRUE(old->try_exclusive_lock(presence_lock.start, presence_lock.size));
    std::string read(3, ' ');
    expect_waits([&] { open(mode).read_exactly(read.data(), read.size(), 0); },
                 [&] {
                   std::filesystem::rename(directory.write("b.joedb", "new"), name);
                   old.reset();
                 });
    EXPECT_EQ(read, "new");
  }
}

// ---- the end of a wait --------------------------------------------------------------------------

// Takes the lock of a file in another process until it is destroyed.
class Other_Process {
 public:
  Other_Process(const std::string& name, Lock_Range range) {
    int ready[2], end[2];
    if (::pipe(ready) != 0 || ::pipe(end) != 0) throw std::runtime_error("no pipe");
    process_ = ::fork();
    if (process_ == 0) {
      ::close(end[1]);
      File file(name, Open_Mode::shared_write);
      file.exclusive_lock(range.start, range.size);
      char byte = 0;
      const bool is_ready = ::write(ready[1], &byte, 1) == 1;
      ::_exit(is_ready && ::read(end[0], &byte, 1) == 0 ? 0 : 1);
    }
    ::close(ready[1]);
    ::close(end[0]);
    end_ = end[1];
    char byte;
    if (::read(ready[0], &byte, 1) != 1) throw std::runtime_error("no child");
    ::close(ready[0]);
  }
  ~Other_Process() {
    ::close(end_);
    ::waitpid(process_, nullptr, 0);
  }
  Other_Process(const Other_Process&) = delete;
  Other_Process& operator=(const Other_Process&) = delete;
  pid_t process() const { return process_; }

 private:
  pid_t process_;
  int end_;
};

class Lock_Timeout_Test : public ::testing::Test {
 protected:
  // Returns the error that f() must throw.
  template <class Error, class F>
  Error expect_error(F f) {
    try {
      f();
    } catch (const Error& error) {
      return error;
    }
    throw std::runtime_error("no error");
  }

  testing::Simulated_System system;
  testing::Temporary_Directory directory;
  const std::string name = directory.write("a.joedb", "content");
};

TEST_F(Lock_Timeout_Test, AWaitEndsAndNamesTheProcessThatHoldsTheLock) {
  File file(name, Open_Mode::shared_write, std::chrono::seconds(3), system);
  {
    const Other_Process other(name, tail_lock);
    const auto error =
        expect_error<Lock_Timeout>([&] { file.exclusive_lock(tail_lock.start, tail_lock.size); });
    EXPECT_EQ(error.process, other.process());
    EXPECT_GE(error.waited, std::chrono::seconds(3));
    EXPECT_EQ(error.waited, system.passed());
    EXPECT_EQ(error.path, name);
    EXPECT_EQ(error.code, EAGAIN);
    const std::string holder = "process " + std::to_string(other.process()) + " (joedb_kernel_co)";
    EXPECT_EQ(error.holder, holder);
    EXPECT_EQ(std::string(error.what()),
              name + " is locked by " + holder + ": waited 3 seconds (busy timeout)");
  }
  file.exclusive_lock(tail_lock.start, tail_lock.size);
}

TEST_F(Lock_Timeout_Test, EveryWaitOfOpeningEndsToo) {
  for (const Lock_Range range : {tail_lock, presence_lock}) {
    File holder(name, Open_Mode::shared_write);
    ASSERT_TRUE(holder.try_exclusive_lock(range.start, range.size));
    const auto error = expect_error<Lock_Timeout>(
        [&] { File(name, Open_Mode::write_lock, default_busy_timeout, system); });
    EXPECT_EQ(error.process, ::getpid());
    EXPECT_EQ(std::string(error.what()),
              name + " is locked by this process: waited 5 seconds (busy timeout)");
    if (range.start == presence_lock.start)
      expect_error<Lock_Timeout>(
          [&] { File(name, Open_Mode::read_existing, default_busy_timeout, system); });
  }
}

TEST_F(Lock_Timeout_Test, WithoutPatienceThereIsNoWait) {
  File a(name, Open_Mode::shared_write);
  File b(name, Open_Mode::shared_write, System::Duration(0), system);
  a.exclusive_lock(tail_lock.start, tail_lock.size);
  expect_error<Lock_Timeout>([&] { b.exclusive_lock(tail_lock.start, tail_lock.size); });
  EXPECT_EQ(system.passed(), System::Duration(0));
  b.set_busy_timeout(std::chrono::milliseconds(250));
  const auto error =
      expect_error<Lock_Timeout>([&] { b.exclusive_lock(tail_lock.start, tail_lock.size); });
  EXPECT_EQ(error.waited, std::chrono::milliseconds(250));
}

TEST_F(Lock_Timeout_Test, AnExceptionOfSleepEndsTheWait) {
  File a(name, Open_Mode::shared_write);
  File b(name, Open_Mode::shared_write, System::Duration::max(), system);
  a.exclusive_lock(tail_lock.start, tail_lock.size);
  system.on_sleep = [&] {
    if (system.passed() > std::chrono::hours(1)) throw std::domain_error("enough");
  };
  EXPECT_THROW(b.exclusive_lock(tail_lock.start, tail_lock.size), std::domain_error);
  a.unlock(tail_lock.start, tail_lock.size);
  b.exclusive_lock(tail_lock.start, tail_lock.size);
}

// A checkpoint of the writer must not fail because others read the header at the same time.
TEST_F(Lock_Timeout_Test, WordsAreWrittenWithPatience) {
  File writer(name, Open_Mode::write_existing, System::Duration(0), system);
  File reader(name, Open_Mode::read_existing);
  reader.shared_lock(head_lock.start, head_lock.size);
  system.on_sleep = [&] { reader.unlock(head_lock.start, head_lock.size); };
  const std::int64_t word = 1;
  writer.store_words(std::span(&word, 1), 8);
  EXPECT_GT(system.passed(), System::Duration(0));
}

TEST_F(Lock_Timeout_Test, AFileThatAnotherProcessWritesIsNotOpenedAlone) {
  const Other_Process other(name, tail_lock);
  const auto error = expect_error<File_Locked>([&] { File(name, Open_Mode::write_existing); });
  EXPECT_EQ(error.process, other.process());
  EXPECT_EQ(error.reason, "another program writes it: " + error.holder);
  EXPECT_NE(std::string(error.what()).find("File_Client"), std::string::npos);
}

// A writer that has waited for a long time gets the lock, although a busy writer takes the lock
// again at once.
TEST_F(Lock_Timeout_Test, ABusyWriterGivesWayToOthers) {
  File busy(name, Open_Mode::shared_write);
  File other(name, Open_Mode::shared_write, System::Duration::max(), system);
  std::atomic<bool> has_other = false;
  std::thread waiter([&] {
    other.exclusive_lock(tail_lock.start, tail_lock.size);
    has_other = true;
    other.unlock(tail_lock.start, tail_lock.size);
  });
  while (!has_other) const File_Lock lock(busy, tail_lock, File_Lock::Kind::exclusive);
  waiter.join();
}

}  // namespace
}  // namespace joedb::file_lock_test
