#include "joedb/replica/clients.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "joedb/io/memory_file.h"

namespace joedb {
namespace {

// A connection that counts its pushes, and calls before_push(), which may block.
class Slow_Connection : public Connection {
 public:
  bool can_push() const override { return true; }
  Offset get_checkpoint() const override { return connection_.get_checkpoint(); }
  void compare(const Abstract_File& local, Offset start, Offset end, Content_Check check) override {
    connection_.compare(local, start, end, check);
  }
  void pull(const Pull& pull, const Receive& receive) override { connection_.pull(pull, receive); }
  void push(const Abstract_File& local, Offset end, Checkpoint_Level level,
            After_Push after) override {
    ++pushes;
    if (before_push) before_push();
    connection_.push(local, end, level, after);
  }
  void unlock() noexcept override {}

  int pushes = 0;
  std::function<void()> before_push;

 private:
  Memory_File file_;
  File_Connection connection_{file_};
};

class Group_Client_Test : public ::testing::Test {
 protected:
  // Runs f(i) in `count` threads. The first push waits until the other threads have begun.
  template <class F>
  void run_in_threads(int count, F f) {
    std::latch first_is_pushing(1);
    std::atomic<int> begun = 0;
    bool is_first = true;
    connection_.before_push = [&] {
      if (!std::exchange(is_first, false)) return;
      first_is_pushing.count_down();
      while (begun < count - 1) std::this_thread::yield();
    };
    std::vector<std::thread> threads;
    threads.emplace_back([&] { f(0); });
    for (int i = 1; i < count; ++i)
      threads.emplace_back([&, i] {
        first_is_pushing.wait();
        ++begun;
        f(i);
      });
    for (std::thread& thread : threads) thread.join();
    connection_.before_push = {};
  }
  std::size_t tables() const { return client_.get_database().tables().size(); }

  Memory_File file_;
  Slow_Connection connection_;
  Writable_Database_Client client_{file_, connection_};
  Group_Client<Writable_Database_Client> group_{client_};
};

void create(Writable_Database& database, int i) {
  const std::string name = "t" + std::to_string(i);
  database.write(Create_Table{name});
}

TEST_F(Group_Client_Test, PushesTransactionsThatWaitTogether) {
  constexpr int threads = 8;
  constexpr int rounds = 20;
  run_in_threads(threads, [&](int i) {
    for (int round = 0; round < rounds; ++round)
      group_.transaction([&](const Database&, Writable_Database& database) {
        create(database, i * rounds + round);
      });
  });
  EXPECT_EQ(tables(), std::size_t{threads * rounds});
  EXPECT_LT(connection_.pushes, threads * rounds);
  Memory_File other;
  EXPECT_EQ(connection_.get_checkpoint(), client_.get_journal_checkpoint());
}

TEST_F(Group_Client_Test, ReturnsWhatTheFunctionReturns) {
  const std::string text =
      group_.transaction([](const Database&, Writable_Database& database) -> std::string {
        create(database, 1);
        return "made";
      });
  EXPECT_EQ(text, "made");
  EXPECT_EQ(group_.exclusively([&] { return tables(); }), 1U);
}

TEST_F(Group_Client_Test, RollsBackOnlyTheTransactionThatThrows) {
  std::atomic<int> thrown = 0;
  run_in_threads(6, [&](int i) {
    try {
      group_.transaction([&](const Database&, Writable_Database& database) {
        create(database, i);
        if (i % 2 == 1) throw Exception("no");
      });
    } catch (const Exception& error) {
      if (error.what() == std::string("no")) ++thrown;
    }
  });
  EXPECT_EQ(thrown, 3);
  EXPECT_EQ(tables(), 3U);
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(client_.get_database().find_table("t" + std::to_string(i)) != nullptr, i % 2 == 0);
}

TEST_F(Group_Client_Test, TellsAllThreadsOfABatchWhenThePushFails) {
  int failures = 0;
  connection_.before_push = [] { throw Exception("no network"); };
  try {
    group_.transaction([](const Database&, Writable_Database& database) { create(database, 1); });
  } catch (const Exception&) {
    ++failures;
  }
  EXPECT_EQ(failures, 1);
  connection_.before_push = {};
  group_.transaction([](const Database&, Writable_Database& database) { create(database, 2); });
  EXPECT_EQ(connection_.get_checkpoint(), client_.get_journal_checkpoint());
}

TEST_F(Group_Client_Test, RefusesATransactionInATransaction) {
  EXPECT_THROW(group_.transaction([&](const Database&, Writable_Database&) {
    group_.transaction([](const Database&, Writable_Database&) {});
  }),
               Exception);
}

}  // namespace
}  // namespace joedb
