#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

#include "joedb/io/memory_file.h"
#include "joedb/wal/copies.h"
#include "joedb/wal/log.h"
#include "support/error_of.h"
#include "support/temporary_directory.h"

namespace joedb::wal {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// A disk whose calls can be blocked, and can fail. It outlives its file.
class Disk {
 public:
  void hold() {
    set([this] { is_held_ = true; });
  }
  void release() {
    set([this] { is_held_ = false; });
  }
  void fail() {
    set([this] { fails_ = true; });
  }
  // Waits until a call is blocked.
  void wait_until_held() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return held_ > 0; });
  }
  void wait_until_closed() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_closed_; });
  }
  int syncs() const {
    const std::lock_guard lock(mutex_);
    return syncs_;
  }
  std::string content() const {
    const std::lock_guard lock(mutex_);
    return content_;
  }
  std::vector<std::string> entries() const {
    const std::string bytes = content();
    const Readonly_Memory_File file(bytes);
    std::vector<std::string> result;
    Reader reader(file);
    while (const auto entry = reader.next()) result.emplace_back(entry->text());
    return result;
  }

  class Open_File : public Abstract_File {
   public:
    Open_File(Disk& disk, std::string name)
        : Abstract_File(std::move(name), Open_Mode::write_existing_or_create_new), disk_(disk) {}
    ~Open_File() override {
      disk_.set([this] { disk_.is_closed_ = true; });
    }
    Offset get_size() const override { return static_cast<Offset>(disk_.content().size()); }
    std::size_t pread(char* data, std::size_t size, Offset offset) const override {
      const std::string bytes = disk_.content();
      return Readonly_Memory_File(bytes).pread(data, size, offset);
    }
    void pwrite(const char* data, std::size_t size, Offset offset) override {
      disk_.call(*this, [&] {
        const auto start = static_cast<std::size_t>(offset);
        std::string& content = disk_.content_;
        if (content.size() < start + size) content.resize(start + size);
        content.replace(start, size, data, size);
      });
    }
    void sync() override { datasync(); }
    void datasync() override {
      disk_.call(*this, [this] { ++disk_.syncs_; });
    }
    void shared_lock(Offset, Offset) override {}
    void exclusive_lock(Offset, Offset) override {}
    void unlock(Offset, Offset) noexcept override {}

   private:
    Disk& disk_;
  };

 private:
  template <class F>
  void set(F f) {
    const std::lock_guard lock(mutex_);
    f();
    changed_.notify_all();
  }
  template <class F>
  void call(const Abstract_File& file, F f) {
    std::unique_lock lock(mutex_);
    ++held_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !is_held_; });
    --held_;
    if (fails_) throw_io_error("syncing", file.get_name(), -1, EIO);
    f();
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string content_;
  bool is_held_ = false;
  bool fails_ = false;
  bool is_closed_ = false;
  int held_ = 0;
  int syncs_ = 0;
};

class Wal_Copies_Threads : public ::testing::Test {
 protected:
  void open(Copies_Options options = {.needed = 2}) {
    options.on_report = [this](std::string_view text) { reports_.emplace_back(text); };
    std::vector<std::unique_ptr<Abstract_File>> files;
    for (std::size_t i = 0; i < 3; ++i)
      files.push_back(std::make_unique<Disk::Open_File>(disks_[i], std::string(1, "abc"[i])));
    auto copies = std::make_unique<Copies>(
        std::move(files), Open_Mode::write_existing_or_create_new, std::move(options));
    copies_ = copies.get();
    log_.emplace(std::move(copies));
  }
  void append(std::string_view entry) {
    log_->append(entry);
    log_->sync();
  }
  void close() { log_.reset(); }
  // Blocks a copy after all copies have caught up.
  void hold(std::size_t copy) {
    copies_->get_size();
    disks_[copy].hold();
  }
  Copies::Status status(std::size_t copy) const { return copies_->status()[copy]; }

  std::array<Disk, 3> disks_;
  std::vector<std::string> reports_;
  Copies* copies_ = nullptr;
  std::optional<Writer> log_;
};

TEST_F(Wal_Copies_Threads, AreAcknowledgedByTheFastest) {
  open();
  append("one");
  hold(2);
  append("two");
  append("three");
  for (const std::size_t i : {0U, 1U}) EXPECT_EQ(0U, status(i).lag_bytes);
  EXPECT_TRUE(status(2).is_used);
  EXPECT_GT(status(2).lag_bytes, 0U);
  EXPECT_EQ(2U, status(2).lag_syncs);
  EXPECT_THAT(disks_[0].entries(), ElementsAre("one", "two", "three"));
  EXPECT_THAT(disks_[2].entries(), ElementsAre("one"));
  disks_[2].release();
  close();
  EXPECT_THAT(disks_[2].entries(), ElementsAre("one", "two", "three"));
  EXPECT_THAT(reports_, IsEmpty());
}

// Any two of the three copies are enough.
TEST_F(Wal_Copies_Threads, AreWaitedForOnlyIfTheyAreNeeded) {
  open();
  for (std::size_t slow = 0; slow < 3; ++slow) {
    hold(slow);
    append("entry");
    disks_[slow].release();
  }
  hold(0);
  disks_[1].hold();
  std::atomic<bool> is_durable = false;
  std::thread syncing([&] {
    append("last");
    is_durable = true;
  });
  disks_[0].wait_until_held();
  disks_[1].wait_until_held();
  EXPECT_FALSE(is_durable);
  disks_[1].release();
  syncing.join();
  disks_[0].release();
}

TEST_F(Wal_Copies_Threads, CatchUpWithFewerSyncs) {
  open();
  append("one");
  hold(2);
  const int before = disks_[2].syncs();
  for (int i = 0; i < 100; ++i) append("more");
  disks_[2].release();
  close();
  EXPECT_EQ(101U, disks_[2].entries().size());
  EXPECT_LE(disks_[2].syncs() - before, 2);
}

// A header must be durable before entries of its epoch are written.
TEST_F(Wal_Copies_Threads, CatchUpWithAllSyncsOfHeaders) {
  open();
  append("one");
  hold(2);
  const int before = disks_[2].syncs();
  for (int i = 0; i < 10; ++i) {
    log_->rotate();
    append("more");
  }
  disks_[2].release();
  close();
  EXPECT_THAT(disks_[2].entries(), ElementsAre("more"));
  EXPECT_GE(disks_[2].syncs() - before, 10);
}

TEST_F(Wal_Copies_Threads, MakeWritersWaitIfTheyAreTooLate) {
  open({.needed = 2, .max_lag_bytes = 2200, .patience = std::chrono::hours(1)});
  append("one");
  hold(2);
  const std::string large(600, 'x');
  append(large);
  append(large);
  std::thread waiting([&] { append(large); });
  disks_[2].wait_until_held();
  disks_[2].release();
  waiting.join();
  close();
  EXPECT_EQ(4U, disks_[2].entries().size());
}

TEST_F(Wal_Copies_Threads, AreGivenUpIfTheyDoNothing) {
  open({.needed = 2, .max_lag_bytes = 1000, .patience = std::chrono::milliseconds(0)});
  append("one");
  hold(2);
  const std::string large(600, 'x');
  for (int i = 0; i < 3; ++i) append(large);
  EXPECT_FALSE(status(2).is_used);
  ASSERT_EQ(2U, reports_.size());
  EXPECT_THAT(reports_[0], StartsWith("the log waits for c, which is "));
  EXPECT_THAT(reports_[1], HasSubstr("c is not used any more: it is "));
  EXPECT_THAT(reports_[1], HasSubstr(" behind, and has done nothing for 0 ms"));
  close();  // does not wait for the blocked disk
  EXPECT_EQ(4U, disks_[0].entries().size());
  disks_[2].release();
  disks_[2].wait_until_closed();
}

TEST_F(Wal_Copies_Threads, AreLeftBehindOnClosingIfTheyDoNothing) {
  open({.needed = 2, .patience = std::chrono::milliseconds(0)});
  append("one");
  hold(2);
  append("two");
  disks_[2].wait_until_held();
  close();
  EXPECT_THAT(reports_, ElementsAre(StartsWith("c is not used any more: it is ")));
  disks_[2].release();
  disks_[2].wait_until_closed();
  EXPECT_THAT(disks_[0].entries(), ElementsAre("one", "two"));
}

TEST_F(Wal_Copies_Threads, ThatFailInTheBackgroundAreNamed) {
  open();
  append("one");
  hold(2);
  append("two");
  disks_[2].fail();
  disks_[2].release();
  close();
  EXPECT_THAT(reports_, ElementsAre("c is not used any more: syncing c: Input/output error"));
}

TEST_F(Wal_Copies_Threads, StopIfALateOneIsNeededAndFails) {
  open();
  append("one");
  hold(2);
  append("two");
  disks_[1].fail();
  log_->append("three");
  std::thread failing([&] {
    disks_[2].wait_until_held();
    disks_[2].fail();
    disks_[2].release();
  });
  EXPECT_THAT(error_of([&] { log_->sync(); }), HasSubstr("only 1 of 3 copies can be written; 2"));
  failing.join();
  EXPECT_EQ(2U, log_->durable_sequence());
}

TEST_F(Wal_Copies_Threads, CanBeAskedForTheirStatusByAllThreads) {
  open();
  std::jthread asking([this](const std::stop_token& token) {
    while (!token.stop_requested()) EXPECT_TRUE(status(2).is_used);
  });
  for (int i = 0; i < 100; ++i) append("entry");
  asking.request_stop();
  asking.join();
  {
    Async_Writer log(std::move(*log_));
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&log] {
        for (int n = 0; n < 50; ++n) log.append("entry");
      });
  }
  close();
  for (const Disk& disk : disks_) EXPECT_EQ(300U, disk.entries().size());
}

TEST(Wal_Copies_Files, AreSyncedTogether) {
  const testing::Temporary_Directory directory;
  const std::vector<std::string> names{directory.file("a"), directory.file("b"),
                                       directory.file("none/c")};
  std::vector<std::string> reports;
  const auto open = [&] {
    return Copies::open(
        names, Open_Mode::write_existing_or_create_new,
        {.needed = 2, .on_report = [&](std::string_view text) { reports.emplace_back(text); }});
  };
  EXPECT_THAT(error_of([&] { open(); }), HasSubstr("to make a new one, all copies must be there"));
  EXPECT_THAT(reports, ElementsAre("opening " + names[2] + ": No such file or directory"));
  std::filesystem::create_directory(directory.file("none"));
  {
    Writer log(open());
    EXPECT_THROW(open(), Io_Error) << "there is a writer";
    for (int i = 0; i < 10; ++i) {
      log.append("entry");
      log.sync();
    }
  }
  EXPECT_EQ(directory.read("a"), directory.read("b"));
  EXPECT_EQ(directory.read("a"), directory.read("none/c"));
}

}  // namespace
}  // namespace joedb::wal
