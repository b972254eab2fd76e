#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <utility>

#include "joedb/base/log.h"
#include "joedb/io/memory_file.h"
#include "joedb/io/posix_file.h"
#include "joedb/network/server_connection.h"
#include "joedb/replica/clients.h"
#include "share/server/server_core.h"
#include "sim/lab/sim_file.h"
#include "support/error_of.h"
#include "support/simulated_system.h"
#include "support/temporary_directory.h"

// Clients and server run in one thread: the server replies to each write of a client immediately.

namespace joedb::server {
namespace {

using testing::Sim_Disk;
using testing::Sim_Fault;
using testing::Sim_File;

class Server final : public Server_Host {
 public:
  explicit Server(Abstract_File& file, bool is_hard = false)
      : journal_(file, Connection::dummy, Content_Check::none, is_hard, Recovery::keep),
        core_(journal_, *this, system_, Logger::none(), {}, "scratch-") {}

  void send(Session_Id session, std::string bytes) override {
    output_[session] += bytes;
    sent_.push_back(session);
  }
  void receive(Session_Id) override {}
  void close(Session_Id session) override { closed_.insert(session); }
  void run(Lane, std::function<void()> work, std::function<void()> done) override {
    work();
    done();
  }

  Session_Id connect() { return core_.connected().value(); }
  void disconnect(Session_Id session) {
    if (!is_closed(session)) core_.closed(session);
    closed_.insert(session);
  }
  void receive(Session_Id session, std::string_view bytes) {
    core_.received(session, bytes);
    while (!sent_.empty()) {
      const Session_Id id = sent_.front();
      sent_.erase(sent_.begin());
      core_.sent(id);
    }
  }
  bool is_closed(Session_Id session) const { return closed_.contains(session); }
  std::string& output(Session_Id session) { return output_[session]; }
  Offset checkpoint() const { return journal_.get_checkpoint(); }

 private:
  testing::Simulated_System system_;
  Written_Journal journal_;
  Server_Core core_;
  std::map<Session_Id, std::string> output_;
  std::vector<Session_Id> sent_;
  std::set<Session_Id> closed_;
};

// Makes channels to a server. A test can replace the server, and inject faults.
class Direct_Connector final : public Connector {
 public:
  explicit Direct_Connector(Server& s) : server(&s) {}
  std::unique_ptr<joedb::Channel> new_channel() override {
    return std::make_unique<Channel>(*this);
  }
  std::string name() const override { return "direct"; }

  Server* server;
  // Called before bytes reach the server. If it returns true, the connection is lost, and the bytes
  // do not arrive.
  std::function<bool(Session_Id, std::string_view)> on_write = {};
  bool loses_reply = false;  // loses the reply to the next push

 private:
  class Channel final : public joedb::Channel {
   public:
    explicit Channel(Direct_Connector& connector)
        : connector_(connector), server_(*connector.server), session_(server_.connect()) {}
    ~Channel() override {
      if (&server_ == connector_.server && !is_late_) server_.disconnect(session_);
    }
    std::size_t read_some(char* data, std::size_t size) override {
      std::string& output = server_.output(session_);
      if (output.empty() || &server_ != connector_.server) throw Connection_Lost("lost");
      const std::size_t n = output.copy(data, size);
      output.erase(0, n);
      return n;
    }
    void write(const char* data, std::size_t size) override {
      if (&server_ != connector_.server || is_late_) throw Connection_Lost("lost");
      const std::string_view bytes(data, size);
      if (connector_.on_write && connector_.on_write(session_, bytes)) {
        is_late_ = true;
        throw Connection_Lost("lost");
      }
      server_.receive(session_, bytes);
      const bool is_push = data[0] == 'N' || data[0] == 'O';
      if (!is_push || !std::exchange(connector_.loses_reply, false)) return;
      server_.disconnect(session_);
      throw Connection_Lost("lost");
    }

   private:
    Direct_Connector& connector_;
    Server& server_;
    const Session_Id session_;
    bool is_late_ = false;
  };
};

class Clients_Test : public ::testing::Test {
 protected:
  Clients_Test() : server_(file_), connector_(server_) {}

  // Pushes a comment from another client.
  void push(std::string_view text) {
    Direct_Connector connector(*connector_.server);
    Robust_Connection connection(connector);
    Memory_File copy;
    Writable_Journal_Client client(copy, connection);
    client.transaction([&](Writable_Journal& journal) { journal.append(Comment{text}); });
  }
  std::string content(const Memory_File& file) const {
    return std::string(file.get_data().begin() + journal_start, file.get_data().end());
  }

  testing::Simulated_System system_;
  String_Logger log_;
  Memory_File file_;
  Server server_;
  Direct_Connector connector_;
};

TEST_F(Clients_Test, AServerFileReadsWhatOthersHavePushedBehindItsFirstPush) {
  Server_File file(connector_, log_, system_);
  Writable_Journal_Client client(file, file);
  client.transaction([](Writable_Journal& journal) { journal.append(Comment{"mine"}); });
  push("of others");
  EXPECT_EQ(client.pull(), 12);
}

TEST_F(Clients_Test, ALostReplyDoesNotLoseTheNextPushOfTheTransaction) {
  Robust_Connection connection(connector_, log_, system_);
  Memory_File copy;
  Writable_Journal_Client client(copy, connection);
  {
    Writable_Journal_Client_Lock lock(client);
    lock.get_journal().append(Comment{"first"});
    connector_.loses_reply = true;
    system_.on_sleep = [this] { push("somebody else has the lock now"); };
    lock.checkpoint_and_push();
    system_.on_sleep = {};
    EXPECT_NE(log_.get_text().find("the push had arrived"), std::string::npos);
    lock.get_journal().append(Comment{"second"});
    EXPECT_THROW(lock.checkpoint_and_push_unlock(), Disconnection);
    lock.unlock();
  }
  EXPECT_EQ(client.pull(), 33) << "the conflict was rolled back";
  EXPECT_EQ(content(file_).find("second"), std::string::npos);
  EXPECT_EQ(content(copy).find("second"), std::string::npos);
}

TEST_F(Clients_Test, AServerThatIsStartedAgainDoesNotPartTheCopyOfABusyClient) {
  std::optional<Server> restarted;
  Robust_Connection connection(connector_, log_, system_);
  Memory_File copy;
  Writable_Journal_Client client(copy, connection);
  client.set_optimistic(false);
  int calls = 0;
  const auto transact = [&] {
    client.transaction([&](Writable_Journal& journal) {
      journal.append(Comment{"mine"});
      if (calls++ > 0) return;
      restarted.emplace(file_);
      connector_.server = &*restarted;
      push("somebody else has the lock now");
    });
  };
  EXPECT_THROW(transact(), Conflict);
  EXPECT_EQ(content(copy).find("mine"), std::string::npos);
  transact();
  EXPECT_EQ(content(copy), content(file_));
}

TEST_F(Clients_Test, AServerFileRollsBackAConflictAndGoesOn) {
  std::optional<Server> restarted;
  Server_File file(connector_, log_, system_);
  Writable_Journal_Client client(file, file);
  const auto transact = [&](const std::function<void()>& meanwhile) {
    client.transaction([&](Writable_Journal& journal) {
      journal.append(Comment{"mine"});
      journal.append(Comment{std::string(100'000, 'x')});  // larger than a buffer
      meanwhile();
    });
  };
  const auto restart = [&] {
    restarted.emplace(file_);
    connector_.server = &*restarted;
    push("somebody else has the lock now");
  };
  EXPECT_THROW(transact(restart), Conflict);
  transact([] {});
  EXPECT_EQ(client.get_journal_checkpoint(), restarted->checkpoint());
  EXPECT_EQ(content(file_).find("mine"), content(file_).rfind("mine")) << "it is there once";
}

TEST_F(Clients_Test, APushThatArrivesBetweenReconnectionAndRepetitionIsNoConflict) {
  Robust_Connection connection(connector_, log_, system_);
  Memory_File copy;
  Writable_Journal_Client client(copy, connection);
  Session_Id old_session = -1;
  std::string late;
  connector_.on_write = [&](Session_Id session, std::string_view bytes) {
    if (bytes.front() != 'O') return false;
    if (late.empty()) {
      old_session = session;
      late = bytes;
      server_.receive(session, "M");  // asks for the lock
      return true;
    }
    if (session != old_session) server_.receive(old_session, late);
    return false;
  };
  client.transaction([](Writable_Journal& journal) { journal.append(Comment{"late"}); });
  connector_.on_write = {};
  EXPECT_EQ(content(file_), content(copy));
}

TEST_F(Clients_Test, AfterALatePushOfAKilledProcessTheRestIsPushed) {
  Memory_File copy;
  {
    Writable_Journal journal(copy);
    journal.append(Comment{"of a killed process"});
    journal.soft_checkpoint();
  }
  Robust_Connection connection(connector_, log_, system_);
  Writable_Journal_Client client(copy, connection);
  bool is_late = true;
  connector_.on_write = [&](Session_Id session, std::string_view bytes) {
    if (bytes.front() != 'O' || !std::exchange(is_late, false)) return false;
    server_.receive(session, "M");  // asks for the lock
    push("of a killed process");
    server_.disconnect(session);
    return true;
  };
  client.transaction([](Writable_Journal& journal) { journal.append(Comment{"new"}); });
  connector_.on_write = {};
  EXPECT_NE(log_.get_text().find("a part of the push had arrived"), std::string::npos);
  EXPECT_EQ(content(file_), content(copy));
}

TEST_F(Clients_Test, AConflictBehindALatePushOfAKilledProcessSaysWhereTheCopiesPart) {
  Robust_Connection connection(connector_, log_, system_);
  Memory_File copy;
  Writable_Journal journal(copy);
  journal.append(Comment{"of a killed process"});
  journal.append(Valid_Data{});
  journal.append(Comment{"new"});
  journal.soft_checkpoint();
  push("of a killed process");
  const Offset arrived = server_.checkpoint();
  push("of others");
  try {
    connection.push(copy, journal.get_checkpoint(), Checkpoint_Level::soft,
                    Connection::After_Push::unlock);
    FAIL() << "no conflict";
  } catch (const Conflict& conflict) {
    // At the first difference, both copies have a comment. The lengths of the comments differ.
    EXPECT_EQ(conflict.position, arrived + 1);
    EXPECT_NE(std::string(conflict.what()).find("from position 41"), std::string::npos);
  }
}

TEST_F(Clients_Test, ALatePushIsNotRepeatedAsAnotherTransaction) {
  Robust_Connection connection(connector_, log_, system_);
  Memory_File copy;
  Writable_Journal_Client client(copy, connection);
  int runs = 0;
  const auto write = [&](Writable_Journal& journal) {
    journal.append(Comment{"run " + std::to_string(++runs)});
  };
  while (runs < 3) client.transaction(write);  // the later transactions take no lock
  // The connection is lost before the push arrives. Its session then gets the lock.
  Session_Id old_session = -1;
  std::string late;
  connector_.on_write = [&](Session_Id session, std::string_view bytes) {
    if (late.empty() && bytes.front() == 'O') {
      old_session = session;
      late = bytes;
      server_.receive(session, late.substr(0, 20));
      return true;
    }
    if (session != old_session && old_session >= 0) {
      server_.receive(old_session, late.substr(20));
      old_session = -1;
    }
    return false;
  };
  client.transaction(write);
  connector_.on_write = {};  // the destructor writes, when the locals of on_write are gone
  EXPECT_FALSE(late.empty());
  EXPECT_EQ(runs, 4);
  EXPECT_EQ(content(file_), content(copy));
}

TEST_F(Clients_Test, AServerFileFindsItsPushAgainOverAConnectionThatIsLostOnceMore) {
  push(std::string(10'000, 'x'));
  Server_File file(connector_, log_, system_);
  Writable_Journal_Client client(file, file);
  connector_.loses_reply = true;
  int lost = 0;
  connector_.on_write = [&](Session_Id session, std::string_view bytes) {
    if (bytes.front() != 'r' || ++lost > 1) return false;
    server_.disconnect(session);
    return true;
  };
  client.transaction([](Writable_Journal& journal) { journal.append(Comment{"mine"}); });
  EXPECT_EQ(lost, 2);
  EXPECT_NE(log_.get_text().find("the push had arrived"), std::string::npos);
  EXPECT_EQ(client.get_checkpoint_difference(), 0);
}

TEST_F(Clients_Test, AComparisonThatNeedsAnotherConnectionSeesItsCheckpoint) {
  push("common");
  Memory_File copy;
  copy.get_data() = file_.get_data();
  Robust_Connection connection(connector_, log_, system_);
  push("of others");
  connector_.on_write = [&](Session_Id, std::string_view bytes) {
    return bytes.front() == 'I' && std::exchange(connector_.on_write, {}) != nullptr;
  };
  connection.compare(copy, 41, 49, Content_Check::full);
  EXPECT_EQ(connection.get_checkpoint(), server_.checkpoint());
}

TEST_F(Clients_Test, AConflictOfAPushThatKeepsTheLockKeepsIt) {
  const auto channel = connector_.new_channel();
  Server_Connection connection(*channel);
  Memory_File copy;
  Writable_Journal journal(copy);
  journal.append(Comment{"mine"});
  journal.soft_checkpoint();
  push("of others");
  EXPECT_THROW(connection.push(copy, journal.get_checkpoint(), Checkpoint_Level::soft,
                               Connection::After_Push::keep_lock),
               Conflict);
  connection.unlock();
  push("the lock is free");
}

TEST_F(Clients_Test, AServerThatHasLostItsEndAndGoesOnDifferentlyIsNoticed) {
  push("common");
  Memory_File restarted_file;
  restarted_file.get_data() = file_.get_data();
  Server restarted(restarted_file);
  push("this will be lost");

  Robust_Connection connection(connector_, log_, system_);
  Memory_File copy;
  Writable_Journal_Client client(copy, connection);
  client.pull();
  connector_.server = &restarted;
  EXPECT_EQ(client.pull(), 0);
  push("it is longer than what was lost");
  EXPECT_THROW(client.pull(), Content_Mismatch);
}

TEST_F(Clients_Test, AnOptimisticTransactionWhosePushWasLostRunsAgainBehindThatOfAnotherClient) {
  Robust_Connection connection(connector_, log_, system_);
  Memory_File copy;
  Writable_Journal_Client client(copy, connection);
  int runs = 0;
  const auto write = [&](std::string_view text) {
    client.transaction([&](Writable_Journal& journal) {
      ++runs;
      journal.append(Comment{text});
    });
  };
  for (int i = 0; i < 4; ++i) write("first");
  connector_.on_write = [&](Session_Id, std::string_view bytes) {
    if (bytes.front() != 'O' || bytes.size() <= 17) return false;
    connector_.on_write = {};
    push("other");
    return true;
  };
  runs = 0;
  write("second");
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(content(file_), content(copy));
  EXPECT_TRUE(content(file_).ends_with("\n\5other\16\n\6second\16"));
}

TEST_F(Clients_Test, AnErrorOfATransactionIsNotReplacedByOneOfThePullAfterIt) {
  Robust_Connection connection(connector_, log_, system_);
  Memory_File copy;
  Writable_Journal_Client client(copy, connection);
  for (int i = 0; i < 4; ++i)
    client.transaction([&](Writable_Journal& journal) { journal.append(Comment{"first"}); });
  struct Test_Error {};
  EXPECT_THROW(client.transaction([&](Writable_Journal&) {
    connector_.on_write = [](Session_Id, std::string_view) -> bool {
      throw Disconnection("refused");
    };
    throw Test_Error();
  }),
               Test_Error);
}

TEST_F(Clients_Test, ALostServerIsGivenUpAfterTheRetryTime) {
  int notices = 0;
  connector_.settings().on_retry = [&](const std::string&) { ++notices; };
  Robust_Connection connection(connector_, log_, system_);
  Memory_File copy;
  Writable_Journal_Client client(copy, connection);
  connector_.on_write = [](Session_Id, std::string_view) { return true; };
  const System::Time start = system_.now();
  EXPECT_EQ(testing::error_of([&] { client.pull(); }),
            "direct: given up after 60 s without a connection: lost");
  EXPECT_EQ(system_.now() - start, std::chrono::seconds(60));
  EXPECT_EQ(notices, 1);
  connector_.set_retry_time(std::chrono::seconds(0));
  EXPECT_THROW(client.pull(), Connection_Lost);
  EXPECT_EQ(system_.now() - start, std::chrono::seconds(60));
  connector_.on_write = {};
  push("the server is back");
  EXPECT_GT(client.pull(), 0);
}

TEST_F(Clients_Test, APauseBeforeTheNextTryCanBeEnded) {
  struct Test_Error {};
  Robust_Connection connection(connector_, log_, system_);
  Memory_File copy;
  Writable_Journal_Client client(copy, connection);
  connector_.on_write = [](Session_Id, std::string_view) { return true; };
  const System::Time start = system_.now();
  connector_.settings().look = [&] {
    if (system_.now() - start > std::chrono::milliseconds(30)) throw Test_Error();
  };
  EXPECT_THROW(client.pull(), Test_Error);
  EXPECT_LT(system_.now() - start, std::chrono::milliseconds(60));
  connector_.on_write = {};
}

// Tests a relay: a server whose journal is a copy of the journal of another server, the hub.
class Relay_Test : public Clients_Test {
 protected:
  Relay_Test()
      : connection_(std::in_place, connector_, log_, system_),
        relay_(std::in_place, copy_, *connection_, Content_Check::fast, false, Journal_Options{}) {}
  void push_to_relay(std::string_view text) {
    Memory_File source;
    source.get_data() = copy_.get_data();
    Writable_Journal journal(source);
    journal.replay(Ignore_Entries());
    journal.append(Comment{text});
    journal.checkpoint(Checkpoint_Level::soft);
    relay_->push(source);
  }

  bool is_accepted(std::string_view text) {
    try {
      push_to_relay(text);
      return true;
    } catch (const Conflict&) {
      return false;
    } catch (const Content_Mismatch&) {
      return false;
    }
  }

  std::optional<Robust_Connection> connection_;
  Memory_File copy_;
  std::optional<Written_Journal> relay_;
};

TEST_F(Relay_Test, WhatIsPushedIsInBoth) {
  relay_->begin();
  push_to_relay("a");
  relay_->end();
  EXPECT_EQ(content(file_), "\n\1a");
  EXPECT_EQ(content(copy_), "\n\1a");
}

TEST_F(Relay_Test, WhatTheHubRefusesIsNotInTheCopyAndTheNextPushIsInBoth) {
  relay_->begin();
  // The hub revokes the lock of the relay. Then another client pushes.
  connector_.on_write = [this](Session_Id session, std::string_view bytes) {
    if (bytes.front() != 'O' && bytes.front() != 'N') return false;
    connector_.on_write = {};
    server_.disconnect(session);
    push("other");
    return true;
  };
  EXPECT_FALSE(is_accepted("a"));
  EXPECT_EQ(content(copy_), "");
  EXPECT_TRUE(relay_->can_push());
  relay_->end();
  relay_->begin();
  push_to_relay("b");
  relay_->end();
  EXPECT_EQ(content(file_), "\n\5other\16\n\1b");
  EXPECT_EQ(content(copy_), content(file_));
}

// At each request of the relay, the connection may be lost before or after the request arrives, the
// hub may revoke the lock, another client may push, or the relay may be killed.
TEST_F(Relay_Test, WhateverHappensTheRelayHasABeginningOfItsHub) {
  struct Killed : std::exception {};
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    const auto chance = [&](unsigned percent) { return random() % 100 < percent; };
    int pushes = 0;
    const auto next_text = [&] {
      return "(" + std::to_string(seed) + "." + std::to_string(++pushes) + ")";
    };
    bool is_faulty = true;
    bool is_nested = false;
    const auto fault = [&](Session_Id session, std::string_view bytes) {
      if (!is_faulty || is_nested || chance(85)) return false;
      is_nested = true;
      if (chance(30)) server_.receive(session, bytes);
      server_.disconnect(session);
      if (chance(40)) push(next_text());
      is_nested = false;
      if (chance(20)) throw Killed();
      return true;
    };
    for (int step = 0; step < 60; ++step) {
      is_faulty = step < 57;
      connector_.on_write = fault;
      const std::string text = next_text();
      bool is_acknowledged = false;
      bool is_refused = false;
      try {
        if (!relay_) {
          connection_.emplace(connector_, log_, system_);
          relay_.emplace(copy_, *connection_, Content_Check::fast, false, Journal_Options{});
        }
        if (chance(30)) {
          relay_->refresh();
        } else {
          relay_->begin();
          is_acknowledged = is_accepted(text);
          is_refused = !is_acknowledged;
          relay_->end();
        }
      } catch (const Killed&) {
        relay_.reset();
        connection_.reset();
      } catch (const Connection_Lost&) {  // the first connection failed
        relay_.reset();
        connection_.reset();
      }
      connector_.on_write = {};
      if (chance(20)) push(next_text());
      const std::string hub = content(file_);
      ASSERT_TRUE(hub.starts_with(content(copy_))) << seed << ' ' << step;
      if (is_acknowledged) {
        ASSERT_NE(hub.find(text), std::string::npos) << seed << ' ' << step;
      }
      if (is_refused) {
        ASSERT_EQ(hub.find(text), std::string::npos) << seed << ' ' << step;
      }
      ASSERT_EQ(hub.find(text), hub.rfind(text)) << seed << ' ' << step;
    }
    ASSERT_TRUE(relay_) << "works again without faults";
    relay_->refresh();
    ASSERT_EQ(content(copy_), content(file_)) << seed;
  }
}

TEST(Served_Journal_Test, WhatIsServedWithHardCheckpointsIsDurable) {
  Sim_Disk disk;
  {
    Sim_File file(disk);
    Writable_Database db(file);
    db.write(Comment{"soft"});
    db.soft_checkpoint();
  }
  ASSERT_FALSE(disk.is_synced());
  Sim_File file(disk);
  Server server(file, true);
  EXPECT_EQ(server.checkpoint(), 47);
  Sim_Disk after_power_cut(disk.durable());
  Sim_File found(after_power_cut);
  EXPECT_EQ(Readonly_Journal(found).get_hard_checkpoint(), 47);
}

TEST(Served_Journal_Test, WhatCouldNotBeMadeDurableIsNotServed) {
  Sim_Disk disk;
  Sim_File file(disk);
  Server server(file, true);
  disk.set_fault({.calls = Sim_Fault::Calls::syncs, .number = disk.count(Sim_Fault::Calls::syncs)});
  Direct_Connector connector(server);
  Robust_Connection connection(connector);
  Memory_File copy;
  Writable_Journal_Client client(copy, connection);
  const auto write = [](Writable_Journal& journal) { journal.append(Comment{"x"}); };
  EXPECT_THROW(client.transaction(write), Disconnection);
  EXPECT_EQ(server.checkpoint(), 41);
}

TEST(Served_Journal_Test, ABackupThatCannotBeWrittenStopsTheServerAndLosesNothing) {
  Sim_Disk disk;
  std::optional<Sim_File> backup(std::in_place, disk);
  Memory_File file, pushed;
  {
    Writable_Journal journal(pushed);
    journal.append(Comment{"pushed"});
    journal.flush();
  }
  {
    File_Connection connection(*backup);
    Written_Journal journal(file, connection, Content_Check::fast, false, {});
    journal.begin();
    disk.set_fault(
        {.calls = Sim_Fault::Calls::writes, .number = disk.count(Sim_Fault::Calls::writes)});
    EXPECT_THROW(journal.push(pushed), Io_Error);
    journal.end();
    EXPECT_FALSE(journal.can_push());
    EXPECT_EQ(journal.get_checkpoint(), 49);
    EXPECT_EQ(Readonly_Journal(file).get_checkpoint(), 49);
  }
  disk.remove_fault();
  backup.reset();
  backup.emplace(disk);
  File_Connection connection(*backup);
  const Written_Journal journal(file, connection, Content_Check::fast, false, {});
  EXPECT_TRUE(journal.can_push());
  EXPECT_EQ(connection.get_checkpoint(), 49);
}

TEST(Served_Journal_Test, AServerThatWasKilledInAPushStartsAgain) {
  const testing::Temporary_Directory directory;
  const std::string path = directory.file("db.joedb");
  {
    File file(path, Open_Mode::create_new);
    Writable_Journal journal(file);
    journal.append(Comment{"acknowledged"});
    journal.soft_checkpoint();
    file.pwrite("\x05", 1, journal.get_checkpoint());
  }
  File file(path, Open_Mode::write_existing);
  const Written_Journal journal(file, Connection::dummy, Content_Check::none, false, {});
  EXPECT_EQ(file.get_size(), journal.get_checkpoint());
  EXPECT_EQ(journal.get_saved_tail(), path + ".tail-55");
}

// The bytes that a journal serves from each position up to its checkpoint must be those of its
// file.
void expect_served_as_in(const Abstract_File& file, const Served_Journal& journal) {
  const Offset end = journal.get_checkpoint();
  const Offset step = end < 10'000 ? 1 : 997;
  for (Offset from = journal_start; from < end; from += step) {
    const auto size = static_cast<std::size_t>(end - from);
    std::string served(size, '#'), there(size, '-');
    if (!journal.read_cached(served.data(), size, from)) journal.read(served.data(), size, from);
    file.read_exactly(there.data(), size, from);
    ASSERT_EQ(served, there) << from;
  }
}

// Returns a file with the bytes of `file`, and a comment after them.
std::unique_ptr<Memory_File> with_comment(const Abstract_File& file, const std::string& text) {
  auto copy = std::make_unique<Memory_File>();
  file.copy_to(*copy);
  Bare_Journal journal(*copy, Recovery::keep);
  journal.write(Comment{text});
  journal.soft_checkpoint();
  return copy;
}

TEST(Served_Journal_Test, ServesWhatIsInTheFileFromEachPosition) {
  Memory_File file;
  Written_Journal journal(file, Connection::dummy, Content_Check::none, false, {});
  Memory_File broken;
  file.copy_to(broken);
  broken.pwrite("\x7f\x7f", 2, journal.get_checkpoint());
  journal.begin();
  EXPECT_THROW(journal.push(broken), Corruption_Error);
  journal.restore();
  journal.push(*with_comment(file, "after a refused push"));
  expect_served_as_in(file, journal);
  for (const std::size_t size : {0u, 1u, 100u, 200'000u, 100'000u, 300'000u, 10u, 200'000u, 9u}) {
    journal.push(*with_comment(file, std::string(size, 'x') + "end"));
    expect_served_as_in(file, journal);
  }
}

TEST(Served_Journal_Test, ServesOnlyWhatIsInTheFileAfterAFailedWrite) {
  Sim_Disk disk;
  Sim_File file(disk);
  Written_Journal journal(file, Connection::dummy, Content_Check::none, false, {});
  journal.begin();
  journal.push(*with_comment(file, "written"));
  const Offset end = journal.get_checkpoint();
  const auto next = with_comment(file, "not written");
  disk.set_fault({.calls = Sim_Fault::Calls::writes,
                  .number = disk.count(Sim_Fault::Calls::writes),
                  .code = ENOSPC,
                  .part_written = 0.5});
  EXPECT_THROW(journal.push(*next), Io_Error);
  EXPECT_EQ(journal.get_checkpoint(), end);
  expect_served_as_in(file, journal);
}

TEST(Served_Journal_Test, ServesWhatAnotherProgramHasWrittenToASharedFile) {
  const testing::Temporary_Directory directory;
  File file(directory.file("db.joedb"), Open_Mode::shared_write);
  Written_Journal journal(file, Connection::dummy, Content_Check::none, false, {});
  File other_file(directory.file("db.joedb"), Open_Mode::shared_write);
  Writable_Journal_Client other(other_file);
  for (int i = 0; i < 10; ++i) {
    journal.begin();
    journal.push(*with_comment(file, "of the server"));
    journal.end();
    expect_served_as_in(file, journal);
    other.transaction([](Writable_Journal& j) { j.append(Comment{"of another program"}); });
    expect_served_as_in(file, journal);
    journal.refresh();
    expect_served_as_in(file, journal);
    EXPECT_EQ(journal.get_checkpoint(), other.get_journal_checkpoint());
  }
}

TEST(Served_Journal_Test, WithoutTablesRefusesOnlyWhatIsNoEntry) {
  Memory_File pushed, broken;
  for (Memory_File* const file : {&pushed, &broken}) {
    Writable_Journal journal(*file);
    journal.append(Insert{Table_Id(1), Record_Id(0)});  // there is no such table
    journal.flush();
  }
  broken.pwrite("\x7f", 1, broken.get_size());
  Memory_File file;
  {
    Written_Journal journal(file, Connection::dummy, Content_Check::none, false, {});
    journal.begin();
    EXPECT_THROW(journal.push(pushed), Corruption_Error);
    EXPECT_EQ(journal.get_checkpoint(), 41);
  }
  Written_Bare_Journal journal(file, Connection::dummy, Content_Check::none, false, {});
  journal.begin();
  EXPECT_THROW(journal.push(broken), Corruption_Error);
  EXPECT_EQ(journal.get_checkpoint(), 41);
  journal.push(pushed);
  EXPECT_EQ(journal.get_checkpoint(), pushed.get_size());
}

TEST(Served_Journal_Test, WhatARefusedPushHasLeftIsRemovedAtTheEnd) {
  Memory_File pushed;
  {
    Writable_Journal journal(pushed);
    journal.append(Comment{"refused"});
    journal.append(Insert{Table_Id(1), Record_Id(0)});  // there is no such table
    journal.flush();
  }
  Memory_File file;
  for (const bool is_finished : {true, false}) {
    {
      Written_Journal journal(file, Connection::dummy, Content_Check::none, false, {});
      journal.begin();
      EXPECT_THROW(journal.push(pushed), Corruption_Error);
      EXPECT_TRUE(journal.must_restore());
      if (is_finished) journal.finish();
    }
    EXPECT_EQ(file.get_size(), journal_start);
  }
}

TEST(Served_Journal_Test, ARelayThatStartsOnADiskThatFailsServesWhatItHasPulled) {
  Memory_File hub;
  {
    Writable_Database db(hub);
    db.write(Comment{"pulled"});
    db.hard_checkpoint();
  }
  int starts = 0;
  for (std::size_t number = 0; number < 30; ++number) {
    Sim_Disk disk;
    Sim_File file(disk);
    disk.set_fault({.number = number});
    try {
      File_Connection connection(hub);
      const Written_Journal relay(file, connection, Content_Check::fast, true, Recovery::keep);
      ++starts;
      EXPECT_EQ(relay.get_checkpoint(), 49) << number;
    } catch (const std::exception&) {  // the relay did not start
    }
  }
  EXPECT_GT(starts, 0);
}

}  // namespace
}  // namespace joedb::server
