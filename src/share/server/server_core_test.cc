#include "share/server/server_core.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <vector>

#include "joedb/base/log.h"
#include "joedb/io/memory_file.h"
#include "share/network/protocol.h"
#include "sim/lab/sim_file.h"
#include "support/simulated_system.h"
#include "support/temporary_directory.h"

namespace joedb::server {

using namespace network;

namespace {

using testing::Sim_Disk;
using testing::Sim_Fault;
using testing::Sim_File;

// Connections without sockets. Stores the bytes that the core sends. report() tells the core that
// they were sent.
class Host final : public Server_Host {
 public:
  void send(Session_Id session, std::string bytes) override {
    largest_ = std::max(largest_, bytes.size());
    output[session] += bytes;
    unreported.push_back(session);
  }
  void receive(Session_Id) override {}
  void close(Session_Id session) override { closed.push_back(session); }
  void run(Lane lane, std::function<void()> work, std::function<void()> done) override {
    work();
    if (is_slow)
      unfinished.push_back({lane, std::move(done)});
    else
      done();
  }

  bool is_slow = false;  // completion is deferred to Slow_Work_Test::finish_work()
  struct Work {
    Lane lane;
    std::function<void()> done;
  };
  std::deque<Work> unfinished;

  std::map<Session_Id, std::string> output;
  std::vector<Session_Id> unreported;
  std::vector<Session_Id> closed;
  std::size_t largest_ = 0;
};

class Server_Core_Test : public ::testing::Test {
 protected:
  void serve(Abstract_File& file) {
    journal_.emplace(file, Connection::dummy, Content_Check::none, false, Journal_Options());
    Server_Core::Limits limits;
    limits.lock_time = std::chrono::minutes(5);
    core_.emplace(*journal_, host_, system_, log_, limits, "scratch-");
  }
  void SetUp() override { serve(file_); }

  Session_Id connect() {
    const Session_Id id = core_->connected().value();
    ask(id, "joedb" + number(19));
    return id;
  }
  void report() {
    while (!host_.unreported.empty()) {
      const Session_Id id = host_.unreported.front();
      host_.unreported.erase(host_.unreported.begin());
      core_->sent(id);
    }
  }
  // Sends a request, and returns all bytes of the reply.
  std::string ask(Session_Id id, std::string_view request) {
    host_.output[id].clear();
    core_->received(id, request);
    report();
    return host_.output[id];
  }
  bool is_closed(Session_Id id) const {
    return std::find(host_.closed.begin(), host_.closed.end(), id) != host_.closed.end();
  }
  void wait(System::Duration duration) {
    system_.advance(duration);
    core_->tick();
    report();
  }

  static std::string number(std::int64_t value) {
    std::string text;
    append_number(text, value);
    return text;
  }
  static std::string comment(std::string_view text) {
    return "\x0a" + std::string(1, static_cast<char>(text.size())) + std::string(text);
  }
  static std::string push(char code, Offset from, std::string_view bytes) {
    return code + number(from) + number(from + static_cast<Offset>(bytes.size())) +
           std::string(bytes);
  }
  static std::string pull(char code, std::int64_t wait, Offset from) {
    return code + number(wait) + number(from);
  }

  Memory_File file_;
  testing::Simulated_System system_;
  String_Logger log_;
  Host host_;
  std::optional<Written_Journal> journal_;
  std::optional<Server_Core> core_;
};

TEST_F(Server_Core_Test, GivesToOneClientWhatAnotherHasPushed) {
  const Session_Id a = connect(), b = connect();
  EXPECT_EQ(ask(a, push('O', 41, comment("hello"))), "O");
  EXPECT_EQ(ask(b, pull('F', 0, 41)), "F" + number(48) + comment("hello"));
}

TEST_F(Server_Core_Test, APushThatIsCutOffLeavesNothing) {
  const std::string whole = push('O', 41, comment("hello"));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Session_Id a = connect();
    EXPECT_EQ(ask(a, whole.substr(0, size)), "");
    core_->closed(a);
    EXPECT_EQ(ask(connect(), pull('F', 0, 41)), "F" + number(41)) << size;
  }
  EXPECT_EQ(ask(connect(), whole), "O") << "the lock is free";
}

TEST_F(Server_Core_Test, RefusesWhatIsNoEntryOrDoesNotFit) {
  const Session_Id a = connect();
  const std::string half = comment("hello").substr(0, 4);
  const std::string unknown_table("\x01\x05\x01", 3);
  for (const std::string& bytes : {half, std::string("\x7f"), unknown_table}) {
    EXPECT_EQ(ask(a, push('O', 41, bytes)), "C");
    EXPECT_EQ(ask(a, pull('F', 0, 41)), "F" + number(41));
  }
  EXPECT_EQ(ask(a, push('O', 41, comment("x"))), "O");
}

TEST_F(Server_Core_Test, TheEntriesOfARefusedPushAreRemovedWhileOthersAreAnswered) {
  const Session_Id a = connect(), b = connect();
  EXPECT_EQ(ask(a, push('O', 41, comment("good"))), "O");
  host_.is_slow = true;
  const std::string unknown_table("\x01\x05\x01", 3);
  EXPECT_EQ(ask(a, push('O', 47, comment("bad") + unknown_table)), "C");
  EXPECT_EQ(ask(b, pull('F', 0, 41)), "F" + number(47) + comment("good"));
  EXPECT_EQ(ask(b, push('O', 47, comment("next"))), "") << "the tables are not ready";
  host_.is_slow = false;
  while (!host_.unfinished.empty()) {
    const Host::Work work = std::move(host_.unfinished.front());
    host_.unfinished.pop_front();
    EXPECT_EQ(work.lane, Server_Host::Lane::journal);
    work.done();
  }
  report();
  EXPECT_EQ(host_.output[b], "O");
  EXPECT_EQ(ask(a, pull('F', 0, 47)), "F" + number(53) + comment("next"));
}

TEST_F(Server_Core_Test, AClientThatIsSilentLosesItsLock) {
  const Session_Id a = connect(), b = connect();
  EXPECT_EQ(ask(a, pull('G', 0, 41)), "G" + number(41));
  EXPECT_EQ(ask(b, pull('G', 0, 41)), "");
  wait(std::chrono::minutes(4));
  EXPECT_EQ(host_.output[b], "");
  const std::string request = push('O', 41, comment("late"));
  EXPECT_EQ(ask(a, request.substr(0, 20)), "");
  wait(std::chrono::minutes(4));
  EXPECT_EQ(host_.output[b], "") << "some bytes are a sign of life";
  wait(std::chrono::minutes(1));
  EXPECT_EQ(host_.output[b], "G" + number(41));
  EXPECT_EQ(ask(a, request.substr(20)), "t");
  EXPECT_EQ(ask(b, push('O', 41, comment("mine"))), "O");
  EXPECT_EQ(ask(a, pull('F', 0, 41)), "F" + number(47) + comment("mine"));
}

TEST_F(Server_Core_Test, WhoPushesAByteNowAndThenLosesItsLock) {
  const Session_Id slow = connect(), other = connect();
  const std::string bytes(100'000, 'x');
  const std::string request = push('O', 41, bytes);
  ask(slow, pull('G', 0, 41));
  ask(other, pull('G', 0, 41));
  ask(slow, request.substr(0, 100));
  for (std::size_t second = 0; second < 300 && host_.output[other].empty(); ++second) {
    wait(std::chrono::seconds(1));
    ask(slow, request.substr(100 + second, 1));
  }
  EXPECT_EQ(host_.output[other], "G" + number(41));
  EXPECT_EQ(core_->status().locks_lost, 1u);
}

TEST_F(Server_Core_Test, WhoPushesSlowlyKeepsItsLock) {
  const Session_Id slow = connect();
  std::string bytes;
  while (bytes.size() < 1'000'000) bytes += comment("0123456789012345678901234567");
  const std::string request = push('O', 41, bytes);
  ask(slow, pull('G', 0, 41));
  std::string reply;
  for (std::size_t at = 0; at < request.size(); at += 1500) {
    wait(std::chrono::seconds(1));
    reply = ask(slow, request.substr(at, 1500));
  }
  EXPECT_EQ(reply, "O");
}

TEST_F(Server_Core_Test, WhoReadsAByteNowAndThenLosesItsLock) {
  std::string bytes;
  while (bytes.size() < 1'000'000) bytes += comment("0123456789012345678901234567");
  EXPECT_EQ(ask(connect(), push('O', 41, bytes)), "O");
  const Session_Id slow = connect(), other = connect();
  core_->received(slow, pull('G', 0, 41));
  core_->received(other, pull('E', 0, 41));
  for (int i = 0; i < 2; ++i) {  // 64 KiB each
    system_.advance(std::chrono::minutes(4));
    core_->tick();
    core_->sent(slow);
  }
  EXPECT_FALSE(host_.output[other].empty());
}

TEST_F(Server_Core_Test, AWaitingPullIsWokenByAPush) {
  const Session_Id a = connect(), b = connect();
  EXPECT_EQ(ask(b, pull('F', 60'000, 41)), "");
  EXPECT_EQ(ask(a, push('O', 41, comment("x"))), "O");
  EXPECT_EQ(host_.output[b], "F" + number(44) + comment("x"));
  EXPECT_EQ(ask(b, pull('F', 60'000, 44)), "");
  wait(std::chrono::minutes(1));
  EXPECT_EQ(host_.output[b], "F" + number(44)) << "the end of its time";
}

TEST_F(Server_Core_Test, AWaitOfAllTimeIsNone) {
  const Session_Id a = connect();
  EXPECT_EQ(ask(a, pull('F', std::numeric_limits<std::int64_t>::max(), 41)), "");
  wait(std::chrono::hours(24 * 365));
  EXPECT_EQ(host_.output[a], "");
}

TEST_F(Server_Core_Test, WhoDoesNotSayHelloIsSentAway) {
  const Session_Id silent = core_->connected().value();
  core_->received(silent, "joe");
  const Session_Id a = connect();
  wait(std::chrono::seconds(10));
  EXPECT_TRUE(is_closed(silent));
  wait(std::chrono::hours(10));
  EXPECT_FALSE(is_closed(a));
}

TEST_F(Server_Core_Test, SendsAndTakesAnySizeInBlocks) {
  const Session_Id a = connect();
  std::string bytes;
  for (int i = 0; i < 100'000; ++i) bytes += comment("0123456789012345678901234567");
  EXPECT_EQ(ask(a, push('O', 41, bytes)), "O");
  const std::string answer = ask(connect(), pull('F', 0, 41));
  EXPECT_TRUE(answer.substr(9) == bytes);
  EXPECT_LT(host_.largest_, 70'000);
}

TEST_F(Server_Core_Test, AfterAFailedWriteItGoesOnServingReaders) {
  Sim_Disk disk;
  Sim_File file(disk);
  core_.reset();
  serve(file);
  const Session_Id a = connect();
  EXPECT_EQ(ask(a, push('O', 41, comment("x"))), "O");
  disk.set_fault({.calls = Sim_Fault::Calls::writes,
                  .number = disk.count(Sim_Fault::Calls::writes),
                  .code = ENOSPC});
  EXPECT_EQ(ask(a, push('O', 44, comment("y"))), "R");
  EXPECT_EQ(ask(a, pull('F', 0, 41)), "F" + number(44) + comment("x"));
  EXPECT_EQ(ask(connect(), pull('F', 0, 41)), "F" + number(44) + comment("x"));
  EXPECT_NE(log_.get_text().find("the journal can only be read from now on"), std::string::npos);
  EXPECT_EQ(ask(a, pull('E', 0, 44)), "R" + number(44));
  EXPECT_EQ(ask(connect(), pull('E', 0, 44)), "R" + number(44)) << "nobody has the lock";
  core_.reset();
  journal_.reset();
}

TEST_F(Server_Core_Test, WhoIsIdleForTooLongIsSentAway) {
  core_.emplace(*journal_, host_, system_, log_,
                Server_Core::Limits{.idle_time = std::chrono::hours(4)}, "scratch-");
  const Session_Id idle = connect(), busy = connect(), waiting = connect();
  ask(waiting, pull('F', 1'000'000'000, 41));
  wait(std::chrono::hours(3));
  ask(busy, pull('D', 0, 41));
  EXPECT_EQ(core_->next_deadline(), system_.now() + std::chrono::hours(1));
  wait(std::chrono::hours(1));
  EXPECT_TRUE(is_closed(idle));
  wait(std::chrono::hours(2));
  EXPECT_FALSE(is_closed(busy));
  EXPECT_FALSE(is_closed(waiting));
  wait(std::chrono::hours(1));
  EXPECT_TRUE(is_closed(busy));
}

TEST_F(Server_Core_Test, WhoDoesNotGoOnWithAPushIsIdle) {
  core_.emplace(*journal_, host_, system_, log_,
                Server_Core::Limits{.idle_time = std::chrono::hours(4)}, "scratch-");
  const Session_Id slow = connect(), stuck = connect();
  const std::string request = push('O', 41, comment("x"));
  ask(slow, request.substr(0, 18));
  ask(stuck, push('N', 42, comment("y")).substr(0, 18));
  wait(std::chrono::hours(3));
  ask(slow, request.substr(18, 1));
  wait(std::chrono::hours(1));
  EXPECT_TRUE(is_closed(stuck));
  EXPECT_EQ(ask(slow, request.substr(19)), "O");
}

TEST_F(Server_Core_Test, RefusesMoreSessionsThanItsLimit) {
  Server_Core small(*journal_, host_, system_, log_, {.max_sessions = 2}, "scratch-");
  for (const Session_Id id : {0, 1}) {
    EXPECT_TRUE(small.connected());
    small.received(id, "joedb" + number(19));
  }
  EXPECT_FALSE(small.connected());
  small.closed(0);
  EXPECT_TRUE(small.connected());
}

TEST_F(Server_Core_Test, TheOldestStrangerMakesRoom) {
  Server_Core small(*journal_, host_, system_, log_, {.max_sessions = 10, .max_strangers = 3},
                    "scratch-");
  const auto guest = [&] {
    const auto id = small.connected();
    if (id) small.received(*id, "joedb" + number(19));
    return id;
  };
  EXPECT_TRUE(guest());
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(small.connected());
  EXPECT_EQ(small.status().sessions, 4u);
  EXPECT_EQ(host_.closed.front(), 1);
  for (char name = 'a'; name < 'g'; ++name) EXPECT_TRUE(small.connected({name}, Role::push));
  EXPECT_TRUE(guest()) << "a stranger makes room";
  EXPECT_TRUE(guest());
  EXPECT_TRUE(guest());
  EXPECT_FALSE(guest()) << "no stranger is left";
}

TEST_F(Server_Core_Test, AClientWithANameGetsHalfOfTheSessions) {
  Server_Core small(*journal_, host_, system_, log_, {.max_sessions = 10}, "scratch-");
  for (int i = 0; i < 20; ++i) EXPECT_EQ(small.connected("many").has_value(), i < 5) << i;
  EXPECT_TRUE(small.connected("one"));
  EXPECT_TRUE(small.connected());
}

TEST_F(Server_Core_Test, AnAdminTakesTheLock) {
  const Session_Id holder = connect(), next = connect();
  ask(holder, pull('G', 0, 41));
  ask(next, pull('G', 0, 41));
  const std::string request = push('O', 41, comment("late"));
  ask(holder, request.substr(0, 20));
  wait(std::chrono::seconds(12));
  const Session_Id pusher = core_->connected("bob", Role::push).value();
  EXPECT_EQ(ask(pusher, "break_lock\n"), "no the role admin is needed\n");
  EXPECT_EQ(host_.output[next], "");
  const Session_Id admin = core_->connected("ann", Role::admin).value();
  EXPECT_EQ(ask(admin, "break_"), "");
  EXPECT_EQ(ask(admin, "lock\n"), "ok session 0 had it for 12 s\n");
  EXPECT_TRUE(is_closed(admin));
  EXPECT_EQ(host_.output[next], "G" + number(41));
  EXPECT_EQ(ask(holder, request.substr(20)), "t");
  EXPECT_EQ(ask(next, push('O', 41, comment("mine"))), "O");
  EXPECT_EQ(ask(core_->connected().value(), "break_lock\n"), "ok nobody has the lock\n");
}

TEST_F(Server_Core_Test, ALargePushStopsNobodyElse) {
  const Session_Id a = connect(), b = connect();
  std::string large;
  while (large.size() < (1 << 17)) large += comment("hello");
  host_.is_slow = true;
  EXPECT_EQ(ask(a, push('O', 41, large)), "");
  ASSERT_EQ(host_.unfinished.size(), 1u);
  EXPECT_EQ(host_.unfinished.front().lane, Server_Host::Lane::journal);
  EXPECT_EQ(ask(b, pull('D', 0, 41)), "D" + number(41)) << "the push does not count yet";
  while (!host_.unfinished.empty()) {
    const auto done = std::move(host_.unfinished.front().done);
    host_.unfinished.pop_front();
    done();
  }
  EXPECT_EQ(host_.output[a], "O");
  EXPECT_EQ(ask(b, pull('D', 0, 41)).substr(0, 9), "D" + number(journal_->get_checkpoint()));
}

// A journal written by other processes. Its checkpoint is updated by refresh().
class Foreign_Journal final : public Served_Journal {
 public:
  explicit Foreign_Journal(const Memory_File& file) : file_(file) {}
  bool may_block() const override { return true; }
  bool has_other_writers() const override { return is_shared_relay; }
  bool has_other_copy() const override { return is_shared_relay; }
  bool can_push() const override { return true; }
  Offset get_checkpoint() const override { return checkpoint_; }
  const Abstract_File& file() const override { return file_; }
  void refresh() override {
    if (fails) throw Exception("reading has failed");
    checkpoint_ = written;
  }
  void begin() override { refresh(); }
  void end() noexcept override {}
  void push(const Abstract_File& source) override { pushed = source.get_size(); }

  Offset written = journal_start;
  Offset pushed = 0;
  bool fails = false;
  bool is_shared_relay = false;

 private:
  const Memory_File& file_;
  Offset checkpoint_ = journal_start;
};

class Slow_Work_Test : public Server_Core_Test {
 protected:
  Slow_Work_Test() { file_.get_data().resize(100); }
  void SetUp() override {
    host_.is_slow = true;
    core_.emplace(others_, host_, system_, log_, Server_Core::Limits{}, "scratch-");
    waiting_ = connect();
    ask(waiting_, pull('D', 1'000'000, journal_start));
  }
  void finish_one() {
    const Host::Work work = std::move(host_.unfinished.front());
    host_.unfinished.pop_front();
    work.done();
    report();
  }
  void finish_work() {
    while (!host_.unfinished.empty()) finish_one();
  }
  void write_something() {
    others_.written += 3;
    core_->refresh();
  }
  void expect_woken() {
    finish_work();
    EXPECT_EQ(host_.output[waiting_], "D" + number(others_.written));
  }

  Foreign_Journal others_{file_};
  Session_Id waiting_ = 0;
};

TEST_F(Slow_Work_Test, WhatIsWrittenWhileItLooksIsFound) {
  core_->refresh();
  write_something();
  expect_woken();
}

TEST_F(Slow_Work_Test, WhatCouldNotBeReadIsLookedForAgain) {
  others_.fails = true;
  write_something();
  finish_work();
  EXPECT_EQ(host_.output[waiting_], "");
  others_.fails = false;
  wait(std::chrono::seconds(1));
  expect_woken();
}

TEST_F(Slow_Work_Test, WhatIsWrittenWhileALockIsReleasedIsFound) {
  const Session_Id a = connect();
  ask(a, pull('E', 0, journal_start));
  finish_work();
  ask(a, "M");
  write_something();
  expect_woken();
}

TEST_F(Slow_Work_Test, ASharedRelayAnswersReadersWhileItWaitsForItsHub) {
  others_.is_shared_relay = true;
  const Session_Id a = connect(), reader = connect();
  EXPECT_EQ(ask(a, pull('E', 0, journal_start)), "");
  EXPECT_EQ(host_.unfinished.size(), 1u) << "a looks at the file first";
  finish_one();
  EXPECT_EQ(host_.unfinished.size(), 1u) << "the lock of the hub";
  EXPECT_EQ(ask(reader, pull('D', 0, journal_start)), "D" + number(journal_start));
  EXPECT_EQ(host_.output[a], "");
  others_.written += 3;
  finish_work();
  EXPECT_EQ(host_.output[a], "E" + number(others_.written - 3)) << "as it was when it was locked";
  ask(a, "M");
  finish_work();
  EXPECT_EQ(ask(reader, pull('D', 0, journal_start)), "");
  finish_work();
  EXPECT_EQ(host_.output[reader], "D" + number(others_.written));
}

// ---- hashes

class Hash_Test : public Slow_Work_Test {
 protected:
  static constexpr Offset size = 5 * Prefix_Hashes::step_size + 41;
  Hash_Test() {
    file_.get_data().assign(static_cast<std::size_t>(size), 'x');
    others_.written = size;
    others_.refresh();
  }
  Session_Id ask_for_hash(char code, Offset checkpoint, const std::string& name = "") {
    const Session_Id id = core_->connected(name).value();
    ask(id, "joedb" + number(19));
    ask(id, code + number(checkpoint) + std::string(32, '?'));
    return id;
  }
};

TEST_F(Hash_Test, ASampleDoesNotWaitForFullHashes) {
  for (Offset i = 0; i < 20; ++i) ask_for_hash('I', size - i);
  const Session_Id quick = ask_for_hash('H', size);
  EXPECT_EQ(host_.unfinished.size(), 2u);
  while (!host_.unfinished.empty() && host_.output[quick] != "h") finish_one();
  EXPECT_EQ(host_.output[quick], "h");
  finish_work();
}

TEST_F(Hash_Test, WhoLeavesTakesItsHashesAlong) {
  for (Offset i = 0; i < 150; ++i) core_->closed(ask_for_hash('I', size - i));
  finish_one();
  EXPECT_TRUE(host_.unfinished.empty());
}

TEST_F(Hash_Test, AClientWithManySessionsHasOneTurn) {
  for (Offset i = 0; i < 30; ++i) ask_for_hash('I', size - i, "many");
  const Session_Id one = ask_for_hash('I', size, "one");
  int turns = 0;
  while (host_.output[one] != "h") {
    finish_one();
    ++turns;
  }
  EXPECT_LT(turns, 15);
  finish_work();
}

TEST_F(Hash_Test, ManyHashesReadTheJournalOnce) {
  for (Offset i = 0; i < 10; ++i) ask_for_hash('I', size - i);
  int turns = 0;
  for (; !host_.unfinished.empty(); ++turns) finish_one();
  EXPECT_LE(turns, 5 + 10);
}

// A file whose bytes are not in the page cache.
class Cold_File final : public Memory_File {
 public:
  bool pread_cached(char*, std::size_t, Offset) const override { return false; }
};

class Slow_Disk_Test : public Slow_Work_Test {
 protected:
  Slow_Disk_Test() {
    cold_.get_data().assign(300'000, 'x');
    others_.written = 300'000;
    others_.refresh();
  }
  void SetUp() override {
    host_.is_slow = true;
    core_.emplace(others_, host_, system_, log_, Server_Core::Limits{}, "scratch-");
  }

  Cold_File cold_;
  Foreign_Journal others_{cold_};
};

TEST_F(Slow_Disk_Test, WhoReadsWhatIsNotInTheCacheBlocksNobody) {
  const Session_Id reader = connect(), other = connect();
  ask(reader, pull('F', 0, journal_start));
  EXPECT_EQ(host_.output[reader], "");
  EXPECT_EQ(ask(other, pull('D', 0, journal_start)), "D" + number(300'000));
  finish_work();
  EXPECT_EQ(host_.output[reader].size(), 1 + 8 + 300'000 - std::size_t{journal_start});
}

TEST_F(Slow_Disk_Test, WhoLeavesTakesItsReadsAlong) {
  for (int i = 0; i < 150; ++i) {
    const Session_Id reader = connect();
    ask(reader, pull('F', 0, journal_start));
    core_->closed(reader);
  }
  finish_one();
  EXPECT_TRUE(host_.unfinished.empty());
}

TEST_F(Slow_Disk_Test, WhoGoesWhileTheDiskReadsIsForgotten) {
  const Session_Id reader = connect();
  ask(reader, pull('F', 0, journal_start));
  core_->closed(reader);
  finish_work();
  EXPECT_EQ(host_.output[reader], "");
}

TEST_F(Slow_Disk_Test, WhoLosesItsLockWhileItsPushIsStagedPushesNothing) {
  const testing::Temporary_Directory directory;
  core_.emplace(others_, host_, system_, log_, Server_Core::Limits{}, directory.file("scratch-"));
  const Session_Id pusher = connect();
  const std::string request = push('O', 300'000, std::string(2'000'000, 'y'));
  ask(pusher, pull('G', 0, 300'000));
  finish_work();
  ask(pusher, std::string_view(request).substr(0, 1'500'000));
  EXPECT_FALSE(host_.unfinished.empty());
  EXPECT_EQ(ask(core_->connected().value(), "break_lock\n").substr(0, 3), "ok ");
  finish_work();
  EXPECT_EQ(ask(pusher, std::string_view(request).substr(1'500'000)), "t");
  EXPECT_EQ(others_.pushed, 0);
}

TEST_F(Slow_Disk_Test, LargePushesAreStagedElsewhere) {
  const testing::Temporary_Directory directory;
  core_.emplace(others_, host_, system_, log_,
                Server_Core::Limits{.lock_time = std::chrono::seconds(1)},
                directory.file("scratch-"));
  const Session_Id pusher = connect(), other = connect();
  const std::string bytes(3'000'000, 'y');
  const std::string request = push('O', 300'000, bytes);
  ask(pusher, pull('G', 0, 300'000));
  finish_work();
  std::size_t staged = 0;
  for (std::size_t at = 0; at < request.size(); at += 100'000) {
    ask(pusher, std::string_view(request).substr(at, 100'000));
    if (host_.unfinished.empty()) continue;
    ++staged;
    EXPECT_EQ(ask(other, pull('D', 0, journal_start)), "D" + number(300'000));
    wait(std::chrono::seconds(2));  // the server is working, so the client does not lose the lock
    finish_work();
  }
  EXPECT_GT(staged, 10u);
  EXPECT_EQ(host_.output[pusher], "O");
  EXPECT_EQ(others_.pushed, 3'300'000);
}

}  // namespace
}  // namespace joedb::server
