#include "joedb/cluster/nats_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "share/cluster/nats_client.h"
#include "support/error_of.h"
#include "support/nats_server.h"

namespace joedb {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using testing::Nats_Program;
using testing::Nats_Servers;
using ::testing::Optional;
using namespace std::chrono_literals;
using Number = Replicated_Log::Number;

// Tests that need nats-server 2.12 or later. Without it, they are skipped.
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
  // Creates the stream, and opens a log on it.
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

// Repeats an append, as callers must: after Connection_Lost, the message may or may not be in the
// log.
void append_after(Replicated_Log& log, const std::string& text, Number last) {
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

TEST_F(Nats_Log_Test, WhatIsAppendedIsRead) {
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

TEST_F(Nats_Log_Test, AStaleAppendChangesNothing) {
  const auto log = start_one();
  EXPECT_TRUE(append(*log, "a", 0));
  EXPECT_TRUE(append(*log, "b", 1));
  EXPECT_FALSE(append(*log, "c", 0));
  EXPECT_FALSE(append(*log, "c", 1));
  EXPECT_EQ(log->range().last, 2);
  EXPECT_THAT(error_of<Disconnection>([&] { append(*log, "c", 7); }),
              HasSubstr("ends with message 2, where 7 was there"));
}

TEST_F(Nats_Log_Test, ABatchIsAppendedWholeOrNotAtAll) {
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

TEST_F(Nats_Log_Test, ReadingInOrderDoesNotLeaveOutAnything) {
  const auto log = start_one();
  constexpr Number size = 3000;
  for (Number last = 0; last < size; last += 500) {
    std::vector<std::string> messages;
    for (Number i = 1; i <= 500; ++i) messages.push_back(std::to_string(last + i));
    ASSERT_TRUE(log->append(messages, last));
  }
  for (Number i = 1; i <= size; ++i) ASSERT_THAT(log->read(i, 0s), Optional(std::to_string(i)));
  EXPECT_EQ(log->read(size + 1, 0s), std::nullopt);
  // Reads from the middle, and then an earlier message.
  for (Number i = 1000; i < 1100; ++i) ASSERT_THAT(log->read(i, 0s), Optional(std::to_string(i)));
  EXPECT_THAT(log->read(7, 0s), Optional(std::string("7")));
}

TEST_F(Nats_Log_Test, AReaderWaitsForTheNextMessage) {
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

TEST_F(Nats_Log_Test, WithoutAStreamItSaysWhatMakesOne) {
  start({.size = 1});
  const std::string url = servers().url("city");
  EXPECT_THAT(error_of<Disconnection>([&] { open(); }),
              HasSubstr("`joedb nats create " + url + "`"));
  EXPECT_FALSE(Nats_Stream(address(), settings()).state().has_value());
}

TEST_F(Nats_Log_Test, ThreeServersSurviveTheLossOfTheirLeader) {
  const auto log = start_three();
  for (Number last = 0; last < 20; ++last) append_after(*log, std::to_string(last + 1), last);
  const std::size_t leader = servers().index(log->state().leader);
  servers().kill(leader);
  for (Number last = 20; last < 40; ++last) append_after(*log, std::to_string(last + 1), last);
  servers().start(leader);
  EXPECT_EQ(log->range().last, 40);
  // The deposed leader may lack the newest messages for a short time.
  const auto reader = open();
  for (Number i = 1; i <= 40; ++i) EXPECT_THAT(reader->read(i, 30s), Optional(std::to_string(i)));
}

TEST_F(Nats_Log_Test, ABatchOnThreeServersIsWhole) {
  const auto log = start_three();
  EXPECT_EQ(log->max_batch(), 500u);
  append_after(*log, "first", 0);
  const std::vector<std::string> batch(10, std::string(100'000, 'b'));
  EXPECT_FALSE(log->append(batch, 0));
  EXPECT_EQ(log->range().last, 1);
  EXPECT_TRUE(log->append(batch, 1));
  EXPECT_FALSE(log->append(batch, 1));
  EXPECT_EQ(log->range().last, 11);
}

TEST_F(Nats_Log_Test, OneOfEightWritersWins) {
  const auto log = start_three();
  constexpr int writers = 8;
  constexpr Number rounds = 20;
  std::vector<std::unique_ptr<Nats_Log>> logs;
  for (int i = 0; i < writers; ++i) logs.push_back(open());
  for (Number last = 0; last < rounds; ++last) {
    std::atomic<int> winners = 0;
    std::atomic<int> winner = -1;
    std::vector<std::thread> threads;
    for (int i = 0; i < writers; ++i)
      threads.emplace_back([&, i] {
        if (!append(*logs[static_cast<std::size_t>(i)], std::to_string(i), last)) return;
        ++winners;
        winner = i;
      });
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(winners, 1);
    EXPECT_EQ(log->range().last, last + 1);
    EXPECT_THAT(log->read(last + 1, 0s), Optional(std::to_string(winner)));
  }
}

TEST_F(Nats_Log_Test, NothingHangsWhileTheServersDo) {
  start({.size = 1});
  create({.replicas = 1});
  Nats_Settings quick = settings();
  quick.answer_time = 200ms;
  Nats_Log log(address(), quick);
  ASSERT_TRUE(append(log, "a", 0));
  servers().stop(0);
  EXPECT_THROW(append(log, "b", 1), Connection_Lost);
  EXPECT_THROW(log.range(), Connection_Lost);
  EXPECT_THROW(log.read(1, 0s), Connection_Lost);
  EXPECT_THROW(log.read(2, 1h), Connection_Lost);
  EXPECT_THROW(log.read_elsewhere(1), Connection_Lost);
  EXPECT_THROW(Nats_Log(address(), quick), Connection_Lost);
  servers().resume(0);
  append_after(log, "b", 1);
  servers().kill(0);
  EXPECT_THROW(append(log, "c", 2), Connection_Lost);
  EXPECT_THROW(Nats_Log(address(), quick), Connection_Lost);
  servers().start(0);
  append_after(log, "c", 2);
  EXPECT_EQ(log.range().last, 3);
}

// ---- damage -------------------------------------------------------------------------------------

// Flips a bit of a file at the position of `text`.
void damage(const std::string& file, const std::string& text) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(stream), {}};
  const std::size_t position = content.find(text);
  ASSERT_NE(position, std::string::npos) << file;
  stream.clear();
  stream.seekp(static_cast<std::streamoff>(position));
  stream.put(static_cast<char>(content[position] ^ 1));
}

class Damaged_Nats_Log_Test : public Nats_Log_Test {
 protected:
  static constexpr Number size = 300;
  static constexpr Number damaged_message = 100;

  static std::string message(Number number) {
    return "<" + std::to_string(number) + ">" + std::string(500, 'm');
  }
  // Stops a node, damages a byte of its message file, and restarts it.
  void damage_node(std::size_t node) {
    servers().end(node);
    damage(servers().blocks(node, "joedb_city") + "/1.blk", message(damaged_message));
    servers().start(node);
  }
  // Waits until f() returns true; throws after 60 seconds.
  template <class F>
  void wait_until(F f) {
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (true) {
      try {
        if (f()) return;
      } catch (const Connection_Lost&) {
      }
      if (std::chrono::steady_clock::now() > end) throw std::runtime_error("it takes too long");
      std::this_thread::sleep_for(20ms);
    }
  }
  void wait_for_peers(Nats_Log& log) {
    wait_until([&] {
      const Nats_Stream_State state = log.state();
      std::size_t current = 0;
      for (const auto& peer : state.peers)
        current += peer.is_current && !peer.is_offline && peer.lag == 0;
      return !state.leader.empty() && current == 2;
    });
  }
};

TEST_F(Damaged_Nats_Log_Test, WhatOneServerHasLostIsReadFromTheOthers) {
  const auto log = start_three();
  std::vector<std::string> messages;
  for (Number i = 1; i <= size; ++i) messages.push_back(message(i));
  ASSERT_TRUE(log->append(messages, 0));
  wait_for_peers(*log);
  const std::size_t damaged = (servers().index(log->state().leader) + 1) % 3;
  damage_node(damaged);
  wait_for_peers(*log);

  Nats_Address through = address();
  through.servers = Nats_Address::parse(servers().url("city", damaged)).servers;
  for (const bool as_leader : {false, true}) {
    if (as_leader)
      wait_until([&] {
        Nats_Client client(address(), settings(), Logger::none());
        client.request("$JS.API.STREAM.LEADER.STEPDOWN.joedb_city",
                       "{\"placement\":{\"preferred\":\"" + servers().name(damaged) + "\"}}");
        const std::string leader = log->state().leader;
        return leader == servers().name(damaged);
      });
    Nats_Log one_by_one(through, settings());
    for (Number i = size; i > 0; --i)
      ASSERT_THAT(one_by_one.read(i, 0s), Optional(message(i))) << as_leader;
    Nats_Log in_order(through, settings());
    for (Number i = 1; i <= size; ++i)
      ASSERT_THAT(in_order.read(i, 0s), Optional(message(i))) << as_leader;
    int found = 0;
    for (int i = 0; i < 3; ++i)
      found += in_order.read_elsewhere(damaged_message) == message(damaged_message);
    EXPECT_EQ(found, 2) << as_leader;
  }
}

TEST_F(Damaged_Nats_Log_Test, WhatNoServerHasIsMissing) {
  const auto log = start_one();
  for (Number i = 1; i <= 200; ++i) ASSERT_TRUE(append(*log, message(i), i - 1));
  damage_node(0);
  Nats_Settings quick = settings();
  quick.search_time = 300ms;
  Nats_Log reader(address(), quick);
  std::vector<Number> missing;
  for (Number i = 1; i <= 200; ++i) {
    try {
      ASSERT_THAT(reader.read(i, 20s), Optional(message(i)));
    } catch (const Missing_Message& error) {
      EXPECT_THAT(error.what(), HasSubstr("is missing on all servers"));
      missing.push_back(error.number);
    }
  }
  EXPECT_THAT(missing, ::testing::ElementsAre(damaged_message));
  EXPECT_EQ(reader.read_elsewhere(damaged_message), std::nullopt);
}

// ---- streams ------------------------------------------------------------------------------------

TEST_F(Nats_Log_Test, AStreamThatWasMadeAgainTakesNothingOfAnOldClient) {
  const auto log = start_one();
  EXPECT_TRUE(append(*log, "Tokyo", 0));
  Nats_Stream stream(address(), settings());
  stream.remove();
  const auto new_log = create({.replicas = 1});
  EXPECT_TRUE(append(*new_log, "Kyoto", 0));
  EXPECT_THAT(error_of([&] { append(*log, "Osaka", 1); }), HasSubstr("made again"));
  EXPECT_THAT(error_of([&] { log->range(); }), HasSubstr("made again"));
  EXPECT_EQ(new_log->range().last, 1);
}

TEST_F(Nats_Log_Test, AStreamDeniesWhatCouldLoseMessages) {
  start_three();
  Nats_Stream stream(address(), settings());
  const auto state = stream.state();
  ASSERT_TRUE(state.has_value());
  EXPECT_EQ(state->stream, "joedb_city");
  EXPECT_THAT(state->subjects, ::testing::ElementsAre(::testing::StartsWith("joedb.city.")));
  EXPECT_EQ(state->replicas, 3);
  EXPECT_EQ(state->peers.size(), 2u);
  EXPECT_TRUE(state->has_file_storage);
  EXPECT_TRUE(state->denies_delete);
  EXPECT_TRUE(state->allows_atomic);
  EXPECT_TRUE(state->allows_direct);
  EXPECT_FALSE(state->has_limits);
  EXPECT_FALSE(state->is_sealed);
  EXPECT_EQ(state->missing(), 0);
  EXPECT_FALSE(state->created.empty());
  EXPECT_THAT(error_of<Disconnection>([&] { stream.create(); }), HasSubstr("already"));
  stream.remove();
  EXPECT_FALSE(stream.state().has_value());
}

TEST_F(Nats_Log_Test, OneServerCannotHaveThreeReplicas) {
  start({.size = 1});
  EXPECT_THAT(error_of<Disconnection>([&] { create({.replicas = 3}); }), HasSubstr("replicas > 1"));
}

TEST_F(Nats_Log_Test, AShortenedLogEndsWhereItDid) {
  const auto log = start_three();
  for (Number last = 0; last < 20; ++last)
    ASSERT_TRUE(append(*log, std::to_string(last + 1), last));
  std::atomic<bool> is_done = false;
  std::thread writer([&, other = open()] {
    for (Number last = 20; !is_done; ++last) append_after(*other, std::to_string(last + 1), last);
  });
  Nats_Stream stream(address(), settings());
  stream.shorten(11);
  stream.shorten(5);
  is_done = true;
  writer.join();
  const auto range = log->range();
  EXPECT_EQ(range.first, 11);
  EXPECT_GE(range.last, 20);
  for (Number i = 11; i <= range.last; ++i)
    EXPECT_THAT(log->read(i, 0s), Optional(std::to_string(i)));
  EXPECT_THROW(log->read(10, 0s), Missing_Message);
  EXPECT_THAT(error_of<Disconnection>([&] { stream.shorten(range.last + 2); }),
              HasSubstr("ends with message"));
  stream.shorten(range.last + 1);
  EXPECT_EQ(log->range().first, range.last + 1);
  EXPECT_EQ(log->range().last, range.last);
  EXPECT_TRUE(append(*log, "next", range.last));
  EXPECT_THAT(log->read(range.last + 1, 0s), Optional(std::string("next")));
}

TEST_F(Nats_Log_Test, AStreamCanDenyToBeShortened) {
  start({.size = 1});
  const auto log = create({.replicas = 1, .denies_purge = true});
  EXPECT_TRUE(append(*log, "a", 0));
  Nats_Stream stream(address(), settings());
  EXPECT_THAT(error_of<Disconnection>([&] { stream.shorten(2); }), HasSubstr("deny_purge"));
}

TEST_F(Nats_Log_Test, AMirrorIsReadAndNotWritten) {
  const auto log = start_one();
  for (Number last = 0; last < 5; ++last) ASSERT_TRUE(append(*log, std::to_string(last + 1), last));
  const auto mirror_address = Nats_Address::parse(servers().url("city") + "?stream=copy");
  EXPECT_THAT(error_of<Disconnection>([&] { Nats_Log(mirror_address, settings()); }),
              HasSubstr("joedb nats mirror"));
  Nats_Stream(mirror_address, settings()).create_mirror();
  Nats_Log mirror(mirror_address, settings());
  EXPECT_FALSE(mirror.can_append());
  EXPECT_THAT(mirror.name(), HasSubstr("?stream=copy"));
  EXPECT_EQ(mirror.state().mirror_of, "joedb_city");
  EXPECT_THROW(append(mirror, "a", 5), Disconnection);
  for (Number i = 1; i <= 5; ++i) EXPECT_THAT(mirror.read(i, 30s), Optional(std::to_string(i)));
  EXPECT_EQ(mirror.read(6, 10ms), std::nullopt);
  EXPECT_TRUE(append(*log, "6", 5));
  EXPECT_THAT(mirror.read(6, 30s), Optional(std::string("6")));
  EXPECT_EQ(mirror.range().last, 6);
  // The mirror also answers reads of the stream, with messages that may be out of date. The log
  // must not report these answers as damage.
  for (Number last = 6; last < 100; ++last) {
    ASSERT_TRUE(append(*log, std::to_string(last + 1), last));
    ASSERT_THAT(open()->read(last + 1, 0s), Optional(std::to_string(last + 1)));
  }
  Nats_Stream(address(), settings()).shorten(4);
  EXPECT_EQ(log->range().first, 4);
  EXPECT_THAT(mirror.read(1, 0s), Optional(std::string("1")));
  const auto other = Nats_Address::parse(servers().url("town") + "?stream=copy");
  EXPECT_THAT(error_of<Disconnection>([&] { Nats_Log(other, settings()); }),
              HasSubstr("is a mirror of joedb_city"));
}

// ---- durability ---------------------------------------------------------------------------------

// Retries, because a server may answer late if it was just started, or if its peer was killed.
Replicated_Log::Promise promise_of(Replicated_Log& log, Durability expected) {
  constexpr int tries = 10;
  Replicated_Log::Promise promise;
  for (int i = 0; i < tries; ++i) {
    try {
      promise = log.promise();
      if (promise.durability == expected) break;
    } catch (const Connection_Lost& error) {
      promise.reason = error.what();
    }
  }
  return promise;
}

TEST_F(Nats_Log_Test, ServersThatSyncAlwaysSurviveAPowerCut) {
  const auto log = start_three();
  EXPECT_EQ(promise_of(*log, Durability::power).reason,
            "3 replicas; all servers sync before they acknowledge");
  Nats_Settings deaf = settings();
  deaf.monitor = "";
  Nats_Log unknown(address(), deaf);
  EXPECT_EQ(unknown.promise().durability, Durability::machine);
  EXPECT_THAT(unknown.promise().reason, HasSubstr("not known of node_"));
  const std::size_t other = (servers().index(log->state().leader) + 1) % 3;
  servers().kill(other);
  EXPECT_THAT(promise_of(*log, Durability::machine).reason,
              HasSubstr(servers().name(other) + " (no answer"));
}

TEST_F(Nats_Log_Test, ServersThatSyncSometimesSurviveLess) {
  start({.size = 3, .syncs_always = false});
  const auto log = create({.replicas = 3});
  EXPECT_EQ(log->promise().durability, Durability::machine);
  EXPECT_THAT(log->promise().reason, HasSubstr("3 replicas; without sync_interval: always on"));
}

TEST_F(Nats_Log_Test, OneServerPromisesLessThanThree) {
  EXPECT_EQ(start_one()->promise().durability, Durability::process);
  start({.size = 1, .syncs_always = false});
  EXPECT_EQ(create({.replicas = 1})->promise().durability, Durability::process);
  Nats_Settings deaf = settings();
  deaf.monitor = "1";  // no server listens on this port
  EXPECT_EQ(Nats_Log(address(), deaf).promise().durability, Durability::unknown);
}

}  // namespace
}  // namespace joedb
