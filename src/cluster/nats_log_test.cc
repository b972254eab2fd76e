#include "joedb/cluster/nats_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "testing/error_of.h"
#include "testing/nats_server.h"

namespace joedb {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using testing::Nats_Program;
using testing::Nats_Servers;
using ::testing::Optional;
using namespace std::chrono_literals;
using Number = Replicated_Log::Number;

// A test that needs a server program of some version.
class Nats_Log_Test : public ::testing::Test {
 protected:
  void SetUp() override {
    program_ = Nats_Program::find();
    if (!program_ || !program_->is_at_least(2, 12))
      GTEST_SKIP() << "needs nats-server 2.12 or later: in the PATH, or named by JOEDB_NATS_SERVER";
  }

  Nats_Servers& start(const Nats_Servers::Options& options) {
    servers_ = std::make_unique<Nats_Servers>(*program_, options);
    return *servers_;
  }
  Nats_Servers& servers() { return *servers_; }

  Nats_Settings settings() const {
    Nats_Settings result;
    result.monitor = servers_->monitor();
    return result;
  }
  Nats_Address address(std::string_view database = "city") const {
    return Nats_Address::parse(servers_->url(database));
  }
  std::unique_ptr<Nats_Log> open(std::string_view database = "city") const {
    return std::make_unique<Nats_Log>(address(database), settings());
  }
  // Makes the stream.
  std::unique_ptr<Nats_Log> create(const Nats_Stream_Plan& plan) const {
    Nats_Stream(address(), settings()).create(plan);
    return open();
  }
  std::unique_ptr<Nats_Log> start_one() {
    start({.size = 1});
    return create({.replicas = 1});
  }
  std::unique_ptr<Nats_Log> start_three() {
    start({.size = 3});
    return create({.replicas = 3});
  }

 private:
  std::optional<Nats_Program> program_;
  std::unique_ptr<Nats_Servers> servers_;
};

bool append(Replicated_Log& log, const std::string& text, Number last) {
  return log.append(std::vector{text}, last);
}

// As a caller must: nobody knows whether the first try has come through.
void append_at_last(Replicated_Log& log, const std::string& text, Number last) {
  while (true) {
    try {
      if (append(log, text, last)) return;
      const auto there = log.read(last + 1, 0s);
      if (there == text) return;
      FAIL() << "another message is there";
    } catch (const Connection_Lost&) {
    }
  }
}

TEST_F(Nats_Log_Test, what_is_appended_is_read) {
  const auto log = start_one();
  EXPECT_EQ(log->name(), servers().url("city"));
  EXPECT_TRUE(log->can_append());
  EXPECT_EQ(log->max_message_size(), 512u << 10);
  EXPECT_EQ(log->max_batch(), 500u);
  EXPECT_EQ(log->range().first, 1);
  EXPECT_EQ(log->range().last, 0);
  EXPECT_EQ(log->read(1, 0s), std::nullopt);

  EXPECT_TRUE(append(*log, "Tokyo", 0));
  const std::string binary("\0\r\n\xff", 4);
  EXPECT_TRUE(append(*log, binary, 1));
  EXPECT_TRUE(append(*log, "", 2));
  const std::string large(log->max_message_size(), 'x');
  EXPECT_TRUE(append(*log, large, 3));

  EXPECT_EQ(log->range().last, 4);
  EXPECT_THAT(log->read(1, 0s), Optional(std::string("Tokyo")));
  EXPECT_THAT(log->read(2, 0s), Optional(binary));
  EXPECT_THAT(log->read(3, 0s), Optional(std::string()));
  EXPECT_THAT(log->read(4, 0s), Optional(large));
  EXPECT_EQ(log->read(5, 0s), std::nullopt);
  for (int i = 0; i < 4; ++i) EXPECT_THAT(log->read_elsewhere(4), Optional(large));
  EXPECT_EQ(log->read_elsewhere(5), std::nullopt);
}

TEST_F(Nats_Log_Test, a_stale_append_changes_nothing) {
  const auto log = start_one();
  EXPECT_TRUE(append(*log, "a", 0));
  EXPECT_TRUE(append(*log, "b", 1));
  EXPECT_FALSE(append(*log, "c", 0));
  EXPECT_FALSE(append(*log, "c", 1));
  EXPECT_EQ(log->range().last, 2);
  EXPECT_THAT(error_of<Disconnection>([&] { append(*log, "c", 7); }),
              HasSubstr("ends with message 2, where 7 was there"));
}

TEST_F(Nats_Log_Test, a_batch_is_appended_whole_or_not_at_all) {
  const auto log = start_one();
  const std::vector<std::string> three = {"a", "b", "c"};
  EXPECT_TRUE(log->append(three, 0));
  EXPECT_FALSE(log->append(three, 0));
  EXPECT_FALSE(log->append(three, 2));
  EXPECT_EQ(log->range().last, 3);
  EXPECT_TRUE(log->append(std::vector<std::string>(log->max_batch(), "d"), 3));
  EXPECT_EQ(log->range().last, 503);
  EXPECT_THAT(log->read(3, 0s), Optional(std::string("c")));
  EXPECT_THAT(log->read(503, 0s), Optional(std::string("d")));
  EXPECT_TRUE(log->append(std::vector<std::string>(20, std::string(512 << 10, 'e')), 503));
  EXPECT_EQ(log->range().last, 523);
}

TEST_F(Nats_Log_Test, reading_in_order_does_not_leave_out_anything) {
  const auto log = start_one();
  constexpr Number size = 3000;
  for (Number last = 0; last < size; last += 500) {
    std::vector<std::string> messages;
    for (Number i = 1; i <= 500; ++i) messages.push_back(std::to_string(last + i));
    ASSERT_TRUE(log->append(messages, last));
  }
  for (Number i = 1; i <= size; ++i) ASSERT_THAT(log->read(i, 0s), Optional(std::to_string(i)));
  EXPECT_EQ(log->read(size + 1, 0s), std::nullopt);
  // From the middle, and back.
  for (Number i = 1000; i < 1100; ++i) ASSERT_THAT(log->read(i, 0s), Optional(std::to_string(i)));
  EXPECT_THAT(log->read(7, 0s), Optional(std::string("7")));
}

TEST_F(Nats_Log_Test, a_reader_waits_for_the_next_message) {
  const auto log = start_one();
  const auto writer = open();
  EXPECT_EQ(log->read(1, 20ms), std::nullopt);
  for (Number last = 0; last < 20; ++last) {
    std::thread thread([&] { append(*writer, std::to_string(last + 1), last); });
    EXPECT_THAT(log->read(last + 1, 30s), Optional(std::to_string(last + 1)));
    thread.join();
  }
  EXPECT_EQ(log->read(21, 20ms), std::nullopt);
}

TEST_F(Nats_Log_Test, without_a_stream_it_says_what_makes_one) {
  start({.size = 1});
  const std::string url = servers().url("city");
  EXPECT_THAT(error_of<Disconnection>([&] { open(); }),
              HasSubstr("`joedb nats create " + url + "`"));
  EXPECT_FALSE(Nats_Stream(address(), settings()).state().has_value());
}

TEST_F(Nats_Log_Test, three_servers_survive_the_loss_of_their_leader) {
  const auto log = start_three();
  for (Number last = 0; last < 20; ++last) append_at_last(*log, std::to_string(last + 1), last);
  const std::size_t leader = servers().index(log->state().leader);
  servers().kill(leader);
  for (Number last = 20; last < 40; ++last) append_at_last(*log, std::to_string(last + 1), last);
  servers().start(leader);
  EXPECT_EQ(log->range().last, 40);
  const auto reader = open();
  for (Number i = 1; i <= 40; ++i) EXPECT_THAT(reader->read(i, 0s), Optional(std::to_string(i)));
}

}  // namespace
}  // namespace joedb
