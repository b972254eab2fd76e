#include "joedb/wal/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

#include "sim/lab/sim_file.h"
#include "support/error_of.h"
#include "support/simulated_system.h"

namespace joedb::wal {
namespace {

using ::testing::ElementsAre;
using testing::error_of;

// A disk whose syncs wait for release_syncs().
class Slow_File : public testing::Sim_File {
 public:
  using Sim_File::Sim_File;
  void datasync_content() override {
    if (is_slow) gate.wait(false);
    Sim_File::datasync_content();
  }
  void release_syncs() {
    gate = true;
    gate.notify_all();
  }
  std::atomic<bool> gate = false;
  bool is_slow = false;
};

class Wal_Async : public ::testing::Test {
 protected:
  ~Wal_Async() override { file_.release_syncs(); }

  void open(Async_Options options = {}) {
    Writer log(file_);
    log_.emplace(std::move(log), options);
  }
  std::vector<std::string> entries() const {
    std::vector<std::string> result;
    Reader reader(file_);
    while (const auto entry = reader.next()) result.emplace_back(entry->text());
    return result;
  }
  void fail_syncs() {
    disk_.set_fault(
        {testing::Sim_Fault::Calls::syncs, disk_.count(testing::Sim_Fault::Calls::syncs)});
  }

  testing::Sim_Disk disk_;
  Slow_File file_{disk_};
  std::optional<Async_Writer> log_;
};

TEST_F(Wal_Async, TellsWhereAnEntryIsWhenItIsDurable) {
  open();
  auto one = log_->append_async("one");
  auto two = log_->append_async("two");
  EXPECT_EQ(1U, one.get().sequence);
  EXPECT_EQ(2U, two.get().sequence);
  EXPECT_THAT(entries(), ElementsAre("one", "two"));
}

TEST_F(Wal_Async, CallsBackInOrder) {
  open();
  std::vector<std::uint64_t> told;
  for (int i = 0; i < 100; ++i)
    log_->append_async("entry", [&](Position position, const std::exception_ptr& error) {
      EXPECT_FALSE(error);
      told.push_back(position.sequence);
    });
  log_->wait();
  ASSERT_EQ(100U, told.size());
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
}

TEST_F(Wal_Async, SyncsOnceForAllThatWait) {
  file_.is_slow = false;
  open();
  file_.is_slow = true;
  std::vector<std::future<Position>> done;
  for (int i = 0; i < 20; ++i) done.push_back(log_->append_async("entry"));
  file_.release_syncs();
  for (auto& future : done) future.get();
  EXPECT_LE(log_->syncs(), 2U);
}

TEST_F(Wal_Async, KeepsTheOrderOfEachThread) {
  open();
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) log_->append(std::to_string(t) + " " + std::to_string(100 + i));
    });
  threads.clear();
  std::vector<std::string> all = entries();
  ASSERT_EQ(200U, all.size());
  for (char t = '0'; t < '4'; ++t) {
    std::vector<std::string> own;
    for (const std::string& entry : all)
      if (entry[0] == t) own.push_back(entry);
    EXPECT_EQ(50U, own.size());
    EXPECT_TRUE(std::is_sorted(own.begin(), own.end()));
  }
}

TEST_F(Wal_Async, LetsThoseWaitWhoAppendTooMuch) {
  open({.max_waiting_entries = 2});
  file_.is_slow = true;
  std::latch two(2);
  std::atomic<int> appended = 0;
  std::jthread thread([&] {
    for (int i = 0; i < 6; ++i) {
      log_->append_async("entry", [](Position, const std::exception_ptr&) {});
      if (++appended <= 2) two.count_down();
    }
  });
  two.wait();
  // At most two entries are being written, and two wait; the thread may be in the fifth call.
  EXPECT_LE(appended, 5);
  file_.release_syncs();
  thread.join();
  log_->wait();
  EXPECT_EQ(6U, entries().size());
}

TEST_F(Wal_Async, LetsACallbackAppend) {
  open({.max_waiting_entries = 1});
  std::promise<void> done;
  log_->append_async("one", [&](Position, const std::exception_ptr&) {
    for (int i = 0; i < 3; ++i)
      log_->append_async("more", [](Position, const std::exception_ptr&) {});
    log_->append_async("last", [&](Position, const std::exception_ptr&) { done.set_value(); });
  });
  done.get_future().get();
  EXPECT_THAT(entries(), ElementsAre("one", "more", "more", "more", "last"));
}

TEST_F(Wal_Async, LetsACallbackAppendWhileItIsClosed) {
  open();
  log_->append_async("one", [&](Position, const std::exception_ptr&) {
    log_->append_async("two",
                       [&](Position, const std::exception_ptr& error) { EXPECT_FALSE(error); });
    EXPECT_EQ("a callback of a log cannot wait for the log", error_of([&] { log_->wait(); }));
  });
  log_->close();
  EXPECT_THAT(entries(), ElementsAre("one", "two"));
}

TEST_F(Wal_Async, LetsACallbackAppendWhenItIsDestroyed) {
  open();
  const auto append = [this](int*) {
    log_->append_async("two", [](Position, std::exception_ptr) {});
  };
  int dummy = 0;
  log_->append_async(
      "one", [held = std::shared_ptr<int>(&dummy, append)](Position, const std::exception_ptr&) {});
  log_->close();
  EXPECT_THAT(entries(), ElementsAre("one", "two"));
}

TEST_F(Wal_Async, TellsAllThatWaitAboutAFailure) {
  open();
  log_->append("one");
  file_.is_slow = true;
  fail_syncs();
  std::vector<std::string> told;
  for (int i = 0; i < 5; ++i)
    log_->append_async("entry", [&, i](Position, std::exception_ptr error) {
      told.push_back(std::to_string(i) + ": " + error_of([&] {
                       if (error) std::rethrow_exception(error);
                     }));
    });
  file_.release_syncs();
  const std::string failure = "syncing sim: Input/output error";
  EXPECT_EQ(failure, error_of([&] { log_->wait(); }));
  EXPECT_EQ(failure, error_of([&] { log_->append("two"); }));
  EXPECT_EQ(failure, error_of([&] { log_->rotate(); }));
  EXPECT_EQ(failure, error_of([&] { log_->close(); }));
  EXPECT_THAT(told, ElementsAre("0: " + failure, "1: " + failure, "2: " + failure, "3: " + failure,
                                "4: " + failure));
}

TEST_F(Wal_Async, RotatesBehindWhatWasAppended) {
  open();
  const auto one = log_->append_async("one");
  log_->rotate();
  log_->append("two");
  EXPECT_THAT(entries(), ElementsAre("two"));
}

TEST_F(Wal_Async, WritesWhatWaitsWhenItIsClosed) {
  open();
  std::vector<std::future<Position>> done;
  for (int i = 0; i < 10; ++i) done.push_back(log_->append_async("entry"));
  log_->close();
  for (auto& future : done) EXPECT_NO_THROW(future.get());
  EXPECT_EQ(10U, entries().size());
  EXPECT_EQ("this log is closed", error_of([&] { log_->append("more"); }));
}

TEST_F(Wal_Async, RefusesAnEntryThatNoLogCanHaveAndGoesOn) {
  log_.emplace(Writer(file_, {.format = Format::cwal}));
  EXPECT_EQ("the format of CWal has no empty entries: they look like zeros",
            error_of([&] { log_->append(""); }));
  EXPECT_EQ(1U, log_->append("one").sequence);
}

// ---- the policy with a time ---------------------------------------------------------------------

TEST(Wal_Timer, SyncsWithoutACall) {
  testing::Sim_Disk disk;
  testing::Sim_File file(disk);
  testing::Simulated_System system;
  Writer log(file, {.sync = Sync_Policy::every(std::chrono::hours(1)), .system = &system});
  for (std::uint64_t i = 1; i <= 3; ++i) {
    log.append("entry");
    system.advance(std::chrono::minutes(59));
    EXPECT_EQ(i - 1, log.durable_sequence());
    system.advance(std::chrono::minutes(1));
    while (log.durable_sequence() < i) std::this_thread::yield();
  }
}

TEST(Wal_Timer, TellsTheNextCallAboutAFailure) {
  testing::Sim_Disk disk;
  testing::Sim_File file(disk);
  Writer log(file, {.sync = Sync_Policy::every(std::chrono::milliseconds(1))});
  disk.set_fault({testing::Sim_Fault::Calls::syncs, disk.count(testing::Sim_Fault::Calls::syncs)});
  log.append("one");
  std::string error;
  while ((error = error_of([&] { log.append("more"); })) == "no error") std::this_thread::yield();
  EXPECT_THAT(error, ::testing::StartsWith("sim is not written to any more"));
  EXPECT_EQ(0U, log.durable_sequence());
}

}  // namespace
}  // namespace joedb::wal
