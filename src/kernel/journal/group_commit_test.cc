#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "joedb/io/memory_file.h"
#include "support/journal_process.h"

// Threads that share syncs.

namespace joedb {
namespace {

// Counts syncs. Sync N blocks until allow(N).
class Slow_File : public Memory_File {
 public:
  explicit Slow_File(Open_Mode mode = Open_Mode::create_new) : Memory_File(mode) {}
  void datasync() override {
    std::unique_lock lock(mutex_);
    ++syncs_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return syncs_ <= allowed_; });
    if (is_failing_) throw_io_error("syncing", get_name(), -1, EIO);
  }
  void wait_for_sync(int number) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return syncs_ >= number; });
  }
  void allow(int number) {
    const std::lock_guard lock(mutex_);
    allowed_ = number;
    changed_.notify_all();
  }
  void fail() {
    const std::lock_guard lock(mutex_);
    is_failing_ = true;
  }
  int syncs() {
    const std::lock_guard lock(mutex_);
    return syncs_;
  }
  void unlock(Offset start, Offset size) noexcept override {
    const std::lock_guard lock(mutex_);
    if (start == tail_lock.start) syncs_before_unlock_ = std::min(syncs_, allowed_);
    Memory_File::unlock(start, size);
  }
  // Number of syncs that had ended when the tail was unlocked.
  int syncs_before_unlock() {
    const std::lock_guard lock(mutex_);
    return syncs_before_unlock_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int syncs_ = 0;
  int allowed_ = 0;
  int syncs_before_unlock_ = 0;
  bool is_failing_ = false;
};

class Group_Commit : public ::testing::Test {
 protected:
  Group_Commit() { journal.replay(Ignore_Entries()); }

  // Starts a thread that appends a word and waits until it is durable.
  std::thread commit(std::string word) {
    return std::thread([this, word] {
      std::unique_lock lock(mutex);
      journal.append(Comment{word});
      const Offset position = journal.hard_checkpoint_async();
      ++appended;
      appended_one.notify_all();
      try {
        journal.wait(position, lock);
        EXPECT_GE(journal.get_hard_checkpoint(), position);
      } catch (const Exception&) {
        ++failed;
      }
    });
  }
  void wait_for_appends(int number) {
    std::unique_lock lock(mutex);
    appended_one.wait(lock, [&] { return appended >= number; });
  }
  std::string content() const {
    return testing::words_in({file.get_data().data(), file.get_data().size()});
  }

  Slow_File file;
  Writable_Journal journal{file};
  std::mutex mutex;
  std::condition_variable appended_one;
  int appended = 0;
  int failed = 0;
  testing::Destructor_Warnings warnings;
};

TEST_F(Group_Commit, OneSyncIsForAllThatWaitedMeanwhile) {
  std::thread first = commit("a");
  file.wait_for_sync(1);
  std::vector<std::thread> others;
  for (int i = 0; i < 7; ++i) others.push_back(commit("b"));
  wait_for_appends(8);  // all append while the first sync is running
  file.allow(2);
  first.join();
  for (std::thread& thread : others) thread.join();
  EXPECT_EQ(file.syncs(), 2);
  EXPECT_EQ(content(), "a b b b b b b b ");
}

// The words of the checkpoint are in the file, but may not be on the disk.
TEST_F(Group_Commit, AHardCheckpointThatWasFoundIsMadeDurable) {
  file.allow(9);
  journal.append(Comment{"a"});
  journal.checkpoint_half_commit();
  std::unique_lock lock(mutex);
  const int syncs = file.syncs();
  journal.wait(journal.hard_checkpoint_async(), lock);
  EXPECT_EQ(file.syncs(), syncs + 1);
  journal.wait(journal.hard_checkpoint_async(), lock);
  EXPECT_EQ(file.syncs(), syncs + 1);
  EXPECT_TRUE(lock.owns_lock());
  EXPECT_EQ(content(), "a ");
}

TEST_F(Group_Commit, ASoftCheckpointWaitsForASyncThatIsRunning) {
  std::thread first = commit("a");
  file.wait_for_sync(1);
  std::thread second([&] {
    const std::lock_guard lock(mutex);
    journal.append(Comment{"b"});
    journal.soft_checkpoint();
    EXPECT_EQ(journal.get_hard_checkpoint(), 44);
    EXPECT_EQ(journal.get_checkpoint(), 47);
  });
  file.allow(1);
  first.join();
  second.join();
  EXPECT_EQ(content(), "a b ");
}

// Otherwise the next process could write the words of a checkpoint to the same slot before this one
// is durable.
TEST(Group_Commit_Shared, UnlockWaitsForASyncThatIsRunning) {
  Slow_File file(Open_Mode::shared_write);
  file.allow(1);
  Writable_Journal journal{file};
  std::mutex mutex;
  const int before = file.syncs();
  file.allow(before);
  journal.lock_pull();
  journal.replay(Ignore_Entries());
  journal.append(Comment{"a"});
  std::thread committing([&] {
    std::unique_lock lock(mutex);
    const Offset position = journal.hard_checkpoint_async();
    journal.wait(position, lock);
  });
  file.wait_for_sync(before + 1);
  std::atomic<bool> is_unlocking = false;
  std::thread unlocking([&] {
    const std::lock_guard lock(mutex);
    is_unlocking = true;
    journal.unlock();
  });
  while (!is_unlocking) std::this_thread::yield();
  for (int i = 0; i < 1000; ++i)
    std::this_thread::yield();  // time for an unlock() that would not wait
  file.allow(before + 1);
  committing.join();
  unlocking.join();
  EXPECT_EQ(file.syncs_before_unlock(), before + 1);
  EXPECT_EQ(journal.get_hard_checkpoint(), 44);
}

TEST_F(Group_Commit, AFailureIsToldToAllThatWait) {
  std::thread first = commit("a");
  file.wait_for_sync(1);
  std::thread second = commit("b");
  wait_for_appends(2);
  file.fail();
  file.allow(9);
  first.join();
  second.join();
  EXPECT_EQ(failed, 2);
  EXPECT_EQ(journal.get_checkpoint(), 41);
  EXPECT_THROW(journal.append(Comment{"c"}), Exception);
}

TEST_F(Group_Commit, OfOneThreadIsForAllItsClients) {
  file.allow(9);
  journal.append(Comment{"a"});
  const Offset a = journal.hard_checkpoint_async();
  journal.append(Comment{"b"});
  const Offset b = journal.hard_checkpoint_async();
  EXPECT_EQ(file.syncs(), 0);
  journal.wait(b);
  journal.wait(a);
  EXPECT_EQ(file.syncs(), 1);
}

TEST_F(Group_Commit, WhatWasRolledBackIsNeverDurable) {
  journal.append(Comment{"a"});
  const Offset position = journal.hard_checkpoint_async();
  journal.rollback();
  EXPECT_THROW(journal.wait(position), Exception);
}

TEST_F(Group_Commit, OfManyThreadsLosesNothing) {
  file.allow(1'000'000);
  constexpr int threads = 8, rounds = 50;
  std::vector<std::thread> writers;
  for (int t = 0; t < threads; ++t)
    writers.emplace_back([&] {
      for (int i = 0; i < rounds; ++i) {
        std::unique_lock lock(mutex);
        journal.append(Comment{"x"});
        const Offset position = journal.hard_checkpoint_async();
        journal.wait(position, lock);
        EXPECT_GE(journal.get_hard_checkpoint(), position);
        if (i % 10 == 0) {
          journal.append(Comment{"y"});
          journal.soft_checkpoint();
        }
      }
    });
  for (std::thread& writer : writers) writer.join();
  journal.soft_checkpoint();
  EXPECT_EQ(content().size(), 2u * threads * (rounds + rounds / 10));
}

}  // namespace
}  // namespace joedb
