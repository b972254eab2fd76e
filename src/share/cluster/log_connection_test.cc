#include "joedb/cluster/log_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "joedb/io/memory_file.h"
#include "joedb/journal/writable_journal.h"
#include "joedb/replica/clients.h"
#include "share/cluster/message.h"
#include "sim/lab/simulated_log.h"
#include "support/error_of.h"
#include "support/simulated_system.h"

namespace joedb {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using Number = Replicated_Log::Number;
using Call = testing::Simulated_Log::Call;

Log_Settings without_thread() {
  Log_Settings settings;
  settings.renews_lock = false;
  settings.owner = "ann's machine";
  return settings;
}

// A client with its own copy, and its own connection to the log.
struct Party {
  explicit Party(testing::Simulated_Messages& messages, System& system,
                 Content_Check check = Content_Check::full)
      : log(messages), system_(system), check_(check) {
    connect();
  }
  void connect() {
    client.reset();
    connection.reset();
    connection.emplace(log, Logger::none(), system_, without_thread());
    client.emplace(file, *connection, check_);
  }
  void write(const std::string& text) {
    client->transaction([&](Writable_Journal& journal) { journal.append(Comment{text}); });
  }
  void lock_and_write(const std::string& text) {
    client->set_optimistic(false);
    write(text);
    client->set_optimistic(true);
  }
  std::string text() const {
    std::string result;
    const auto& bytes = file.get_data();
    const auto end = static_cast<std::size_t>(client->get_journal_checkpoint());
    for (std::size_t i = journal_start; i < end; ++i)
      if (bytes[i] >= 'A') result += bytes[i];
    return result;
  }

  testing::Simulated_Log log;
  Memory_File file;
  std::optional<Log_Connection> connection;
  std::optional<Writable_Journal_Client> client;

 private:
  System& system_;
  const Content_Check check_;
};

class Log_Connection_Test : public ::testing::Test {
 protected:
  Log_Connection_Test() {
    testing::Simulated_Log log(messages_);
    Log_Connection::create(log, system_);
    ann_.emplace(messages_, system_);
    bob_.emplace(messages_, system_);
  }
  // Makes transactions of Ann until she appends without taking the lock and without pulling first.
  void begin_writing_without_lock() {
    ann_->write("A");
    ann_->write("A");
    ASSERT_EQ(messages_.last(), 1 + 2 + 2);
  }
  Message message(Number number) const { return decode_message(messages_.at(number)); }

  testing::Simulated_System system_;
  testing::Simulated_Messages messages_;
  std::optional<Party> ann_, bob_;
};

TEST_F(Log_Connection_Test, GivesOthersWhatWasPushed) {
  ann_->write("X");
  bob_->client->pull();
  EXPECT_EQ(bob_->text(), "X");
  bob_->write("Y");
  EXPECT_EQ(bob_->text(), "XY");
  ann_->client->pull();
  EXPECT_EQ(ann_->text(), "XY");
}

TEST_F(Log_Connection_Test, IsMadeOnlyOnce) {
  testing::Simulated_Log log(messages_);
  Log_Connection::create(log, system_);  // calls create() again, as after an interrupted call
  ann_->write("X");
  EXPECT_THAT(error_of([&] { Log_Connection::create(log, system_); }),
              HasSubstr("has a journal already"));
}

TEST_F(Log_Connection_Test, SaysHowToMakeAJournal) {
  testing::Simulated_Messages empty;
  EXPECT_THAT(error_of([&] { Party(empty, system_); }), HasSubstr("joedb nats create makes it"));
}

TEST_F(Log_Connection_Test, RequiresThePromiseThatIsAskedFor) {
  testing::Simulated_Log log(messages_);
  log.promised = Durability::machine;
  Log_Settings settings = without_thread();
  settings.required = Durability::power;
  EXPECT_THAT(error_of([&] { Log_Connection(log, Logger::none(), system_, settings); }),
              HasSubstr("survives the loss of a machine, not a power cut of all"));
  settings.required = Durability::machine;
  EXPECT_EQ(Log_Connection(log, Logger::none(), system_, settings).promise().durability,
            Durability::machine);
}

TEST_F(Log_Connection_Test, PushesASmallTransactionInOneMessageWhereItIsQuiet) {
  begin_writing_without_lock();
  const Number before = messages_.last();
  ann_->write("B");
  EXPECT_EQ(messages_.last(), before + 1);
}

TEST_F(Log_Connection_Test, RunsATransactionAgainWhereSomebodyElseWasFaster) {
  begin_writing_without_lock();
  bob_->write("B");
  ann_->write("C");
  EXPECT_EQ(ann_->text(), "AABC");
  bob_->client->pull();
  EXPECT_EQ(bob_->text(), "AABC");
}

TEST_F(Log_Connection_Test, LetsOneWriterWaitForTheOther) {
  Writable_Journal_Client_Lock lock(*ann_->client);
  lock.get_journal().append(Comment{"A"});
  bool has_waited = false;
  bob_->log.wait_for = [&](Number, System::Duration wait) {
    EXPECT_LE(wait, std::chrono::seconds(30));
    if (!std::exchange(has_waited, true)) lock.checkpoint_and_push_unlock();
  };
  bob_->write("B");
  EXPECT_TRUE(has_waited);
  EXPECT_EQ(bob_->text(), "AB");
}

TEST_F(Log_Connection_Test, TakesTheLockOfWhoDoesNotLiveAnyMore) {
  ann_->write("A");
  {
    Client_Lock lock(*ann_->client);
    ann_->log.before = [](Call) { throw Connection_Lost("killed"); };
  }
  bob_->log.wait_for = [&](Number, System::Duration wait) { system_.advance(wait); };
  bob_->write("B");
  EXPECT_GE(system_.passed(), std::chrono::seconds(30));
  EXPECT_EQ(bob_->text(), "AB");
}

TEST_F(Log_Connection_Test, RefusesThePushOfWhoHasLostTheLock) {
  Writable_Journal_Client_Lock lock(*ann_->client);
  lock.get_journal().append(Comment{"A"});
  bob_->log.wait_for = [&](Number, System::Duration wait) { system_.advance(wait); };
  bob_->write("B");
  EXPECT_THROW(lock.push_and_checkpoint(), Conflict);
  lock.unlock();
  ann_->client->pull();
  EXPECT_EQ(ann_->text(), "B");
}

TEST_F(Log_Connection_Test, PushesOnceWhereTheAnswerWasLost) {
  begin_writing_without_lock();
  int lost = 3;
  ann_->log.after = [&](Call call) {
    if (call == Call::append && lost-- > 0) throw Connection_Lost("the answer was lost");
  };
  ann_->write("B");
  bob_->client->pull();
  EXPECT_EQ(bob_->text(), "AAB");
}

TEST_F(Log_Connection_Test, AppendsWhatHasNotArrivedAgain) {
  begin_writing_without_lock();
  int lost = 3;
  ann_->log.before = [&](Call) {
    if (lost-- > 0) throw Connection_Lost("no answer");
  };
  ann_->write("B");
  bob_->client->pull();
  EXPECT_EQ(bob_->text(), "AAB");
}

TEST_F(Log_Connection_Test, DoesNotTakeEqualBytesOfAnotherClientForItsOwn) {
  begin_writing_without_lock();
  bob_->client->pull();
  bob_->write("B");
  ann_->write("B");
  bob_->client->pull();
  EXPECT_EQ(bob_->text(), "AABB");
}

// Carol's append is neither answered nor executed. Bob writes the same bytes, and these are
// archived.
TEST_F(Log_Connection_Test, DoesNotTakeEqualBytesOfAnArchiveForItsOwn) {
  begin_writing_without_lock();
  Memory_File archive;
  Log_Settings settings = without_thread();
  settings.open_archive = [&](const std::string&) {
    auto copy = std::make_unique<Memory_File>();
    copy->pwrite(archive.get_data().data(), archive.get_data().size(), 0);
    return copy;
  };
  testing::Simulated_Log log(messages_);
  Log_Connection connection(log, Logger::none(), system_, settings);
  Memory_File file;
  Writable_Journal_Client carol(file, connection, Content_Check::full);
  const auto write = [&] {
    carol.transaction([](Writable_Journal& journal) { journal.append(Comment{"B"}); });
  };
  write();
  write();
  write();
  const Offset start = carol.get_journal_checkpoint();
  bool is_lost = false;
  log.postpone = [&](std::span<const std::string>, Number) {
    if (std::exchange(is_lost, true)) return false;
    bob_->client->pull();
    bob_->write("B");
    bob_->write("C");
    archive.pwrite(bob_->file.get_data().data(), bob_->file.get_data().size(), 0);
    const Offset end = bob_->client->get_journal_checkpoint();
    messages_.remove_before(bob_->connection->append_archive(archive, end, "the archive"));
    return true;
  };
  EXPECT_THROW(write(), Connection_Lost);
  EXPECT_EQ(carol.get_journal_checkpoint(), start);
  carol.pull();
  EXPECT_EQ(carol.get_journal_checkpoint(), bob_->client->get_journal_checkpoint());
  write();
  bob_->client->pull();
  EXPECT_EQ(bob_->text(), "AABBBBCB");
}

TEST_F(Log_Connection_Test, DoesNotKeepALockThatARefusedPushHasTaken) {
  // Bob has written offline. He waits for the lock, while Ann holds it and writes something else.
  Memory_File file;
  {
    Bare_Journal journal(file, {});
    journal.get_journal().append(Comment{"B"});
    journal.checkpoint(Checkpoint_Level::soft);
  }
  testing::Simulated_Log log(messages_);
  Log_Connection connection(log, Logger::none(), system_, without_thread());
  Writable_Journal_Client client(file, connection);
  Writable_Journal_Client_Lock lock(*ann_->client);
  lock.get_journal().append(Comment{"A"});
  bool has_waited = false;
  log.wait_for = [&](Number, System::Duration) {
    if (!std::exchange(has_waited, true)) lock.checkpoint_and_push_unlock();
  };
  EXPECT_THROW(client.push_if_ahead(), Conflict);
  EXPECT_EQ(connection.status().lock_owner, "");
}

TEST_F(Log_Connection_Test, ComparesAllBytesOfAnArchive) {
  ann_->write(std::string(40'000, 'A'));
  Memory_File archive;
  archive.pwrite(ann_->file.get_data().data(), ann_->file.get_data().size(), 0);
  const Offset end = ann_->client->get_journal_checkpoint();
  messages_.remove_before(ann_->connection->append_archive(archive, end, "the archive"));
  archive.pwrite("B", 1, 1000);
  testing::Simulated_Log log(messages_);
  Log_Settings settings = without_thread();
  settings.open_archive = [&](const std::string&) {
    auto copy = std::make_unique<Memory_File>();
    copy->pwrite(archive.get_data().data(), archive.get_data().size(), 0);
    return copy;
  };
  Log_Connection connection(log, Logger::none(), system_, settings);
  Memory_File file;
  Writable_Journal_Client client(file, connection);
  EXPECT_THAT(error_of([&] { client.pull(); }),
              AllOf(HasSubstr("the archive of what is before position"), HasSubstr("is damaged")));
  archive.truncate(2000);
  EXPECT_THAT(error_of([&] { client.pull(); }), HasSubstr("is too short"));
  EXPECT_EQ(client.get_journal_checkpoint(), journal_start);
}

TEST_F(Log_Connection_Test, RefusesAnArchiveThatHasLessThanTheOneInForce) {
  ann_->write("A");
  const Offset first_end = ann_->client->get_journal_checkpoint();
  ann_->write("A");
  const Offset end = ann_->client->get_journal_checkpoint();
  ann_->connection->append_archive(ann_->file, end, "the archive");
  EXPECT_THAT(error_of([&] { bob_->connection->append_archive(ann_->file, first_end, "old"); }),
              HasSubstr("has more already"));
}

TEST_F(Log_Connection_Test, ShowsAPushOfManyPiecesAtOnceOrNotAtAll) {
  begin_writing_without_lock();
  bob_->client->pull();
  ann_->log.message_size = message_header_size + 10;
  int calls = 0;
  ann_->log.before = [&](Call call) {
    if (call == Call::append && ++calls == 3) throw Disconnection("killed");
  };
  EXPECT_THROW(ann_->write("BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"), Disconnection);
  EXPECT_EQ(bob_->client->pull(), 0);
  Party carol(messages_, system_);
  carol.client->pull();
  EXPECT_EQ(carol.text(), "AA");
  ann_->log.before = [](Call) {};
  ann_->write("CCCCCCCCCCCCCCCCCCCCCCCCCCCC");
  bob_->client->pull();
  EXPECT_EQ(bob_->text(), "AACCCCCCCCCCCCCCCCCCCCCCCCCCCC");
  carol.write("D");
  EXPECT_EQ(carol.text(), "AACCCCCCCCCCCCCCCCCCCCCCCCCCCCD");
}

TEST_F(Log_Connection_Test, DividesAPushAgainWhenTheLogTakesOnlySmallerMessages) {
  ann_->log.message_size = std::size_t{1} << 18;
  int appends = 0;
  ann_->log.after = [&](testing::Simulated_Log::Call call) {
    if (call == testing::Simulated_Log::Call::append && ++appends == 2)
      ann_->log.message_size = std::size_t{1} << 16;
  };
  ann_->write(std::string(1'000'000, 'A'));
  EXPECT_EQ(ann_->log.message_size, std::size_t{1} << 16);
  bob_->client->pull();
  EXPECT_TRUE(bob_->file.get_data() == ann_->file.get_data());
}

TEST_F(Log_Connection_Test, GivesUpALogThatIsLostForTooLong) {
  Log_Settings settings = without_thread();
  settings.retry_time = std::chrono::seconds(30);
  int notices = 0;
  settings.on_retry = [&](const std::string&) { ++notices; };
  testing::Simulated_Log log(messages_);
  Log_Connection connection(log, Logger::none(), system_, settings);
  log.before = [](testing::Simulated_Log::Call) { throw Connection_Lost("no leader"); };
  const System::Time start = system_.now();
  EXPECT_THAT(
      error_of([&] { connection.status(); }),
      AllOf(HasSubstr(log.name()), HasSubstr("given up after 30 s"), HasSubstr("no leader")));
  EXPECT_EQ(system_.now() - start, std::chrono::seconds(30));
  EXPECT_EQ(notices, 1);
  log.before = [](testing::Simulated_Log::Call) {};
  EXPECT_EQ(connection.status().messages, messages_.last());
}

TEST_F(Log_Connection_Test, OpensBehindAPushThatWasNotFinished) {
  ann_->log.message_size = message_header_size + 10;
  ann_->log.before = [&](Call) {
    if (messages_.last() == 4) throw Disconnection("killed");
  };
  EXPECT_THROW(ann_->write("BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"), Disconnection);
  ASSERT_EQ(messages_.last(), 4);
  bob_->connect();
  bob_->log.wait_for = [&](Number, System::Duration wait) { system_.advance(wait); };
  bob_->write("C");
  EXPECT_EQ(bob_->text(), "C");
}

TEST_F(Log_Connection_Test, ReadsADamagedMessageElsewhere) {
  ann_->write("A");
  std::string bytes = messages_.at(3);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  messages_.damaged[3] = bytes;
  bob_->client->pull();
  EXPECT_EQ(bob_->text(), "A");
}

TEST_F(Log_Connection_Test, StopsWhereAMessageIsDamagedEverywhere) {
  ann_->write("A");
  std::string bytes = messages_.at(3);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  messages_.damaged[3] = bytes;
  bob_->log.is_damaged_everywhere = true;
  EXPECT_THROW(bob_->client->pull(), Missing_Message);
  EXPECT_THROW(bob_->write("B"), Missing_Message);
  EXPECT_EQ(bob_->text(), "");
}

TEST_F(Log_Connection_Test, StopsWhereTheLogHasLostWhatItHad) {
  begin_writing_without_lock();
  messages_.messages.pop_back();
  EXPECT_THAT(error_of([&] { ann_->client->pull(); }), HasSubstr("is lost"));
  // Other clients continue the shortened log.
  bob_->log.wait_for = [&](Number, System::Duration wait) { system_.advance(wait); };
  bob_->write("B");
  ann_->log.reconnected = 1;
  EXPECT_THROW(ann_->write("C"), Missing_Message);
}

TEST_F(Log_Connection_Test, FindsALocalFileThatHasDiverged) {
  Memory_File other;
  {
    Bare_Journal journal(other, {});
    journal.get_journal().append(Comment{"Z"});
    journal.checkpoint(Checkpoint_Level::soft);
  }
  ann_->write("A");
  for (const Content_Check check : {Content_Check::fast, Content_Check::full}) {
    testing::Simulated_Log log(messages_);
    Log_Connection connection(log, Logger::none(), system_, without_thread());
    EXPECT_THROW(Writable_Journal_Client(other, connection, check), Content_Mismatch);
  }
}

TEST_F(Log_Connection_Test, PullsTheRestOfAPushOfWhichTheFileHasAPart) {
  ann_->write("A");
  ann_->client->transaction([](Writable_Journal& journal) {
    journal.append(Comment{"B"});
    journal.append(Comment{"C"});
  });
  Memory_File file;
  {
    Bare_Journal journal(file, {});
    journal.get_journal().append(Comment{"A"});
    journal.get_journal().append(Valid_Data{});
    journal.get_journal().append(Comment{"B"});
    journal.checkpoint(Checkpoint_Level::soft);
  }
  testing::Simulated_Log log(messages_);
  Log_Connection connection(log, Logger::none(), system_, without_thread());
  Writable_Journal_Client client(file, connection, Content_Check::full);
  EXPECT_EQ(client.pull(), 4);
  EXPECT_EQ(client.get_journal_checkpoint(), ann_->client->get_journal_checkpoint());
}

TEST_F(Log_Connection_Test, ReadsTheOldestPartFromTheArchive) {
  for (int i = 0; i < 10; ++i) ann_->write("A");
  Memory_File archive;
  {
    const auto& data = ann_->file.get_data();
    archive.pwrite(data.data(), data.size(), 0);
  }
  const Offset end = ann_->client->get_journal_checkpoint();
  const Number kept = messages_.last();
  Message message = this->message(kept);
  message.kind = Message::Kind::archive;
  message.archive = 0;
  message.argument = end;
  message.text = "the archive";
  message.is_first = message.is_last = message.unlocks = false;
  ASSERT_TRUE(messages_.append(std::vector{encode_message(message)}, kept));
  ann_->write("B");
  messages_.remove_before(kept);

  Memory_File file;
  testing::Simulated_Log log(messages_);
  Log_Settings settings = without_thread();
  settings.open_archive = [&](const std::string& place) {
    EXPECT_EQ(place, "the archive");
    auto copy = std::make_unique<Memory_File>();
    copy->pwrite(archive.get_data().data(), archive.get_data().size(), 0);
    return copy;
  };
  Log_Connection connection(log, Logger::none(), system_, settings);
  Writable_Journal_Client client(file, connection, Content_Check::full);
  client.pull();
  EXPECT_EQ(client.get_journal_checkpoint(), ann_->client->get_journal_checkpoint());
  EXPECT_TRUE(file.equal_to(ann_->file, journal_start, client.get_journal_checkpoint()));

  Party carol(messages_, system_);
  EXPECT_THAT(error_of([&] { carol.client->pull(); }), HasSubstr("the archive"));
}

TEST_F(Log_Connection_Test, CanOnlyPullFromAMirror) {
  ann_->write("A");
  testing::Simulated_Log log(messages_);
  log.is_mirror = true;
  Log_Connection connection(log, Logger::none(), system_, without_thread());
  Memory_File file;
  Writable_Journal_Client client(file, connection);
  EXPECT_TRUE(client.is_pullonly());
  EXPECT_EQ(client.pull(), 4);
  EXPECT_THROW(client.transaction([](Writable_Journal&) {}), Exception);
}

TEST_F(Log_Connection_Test, WaitsForNewBytes) {
  int waits = 0;
  bob_->log.wait_for = [&](Number, System::Duration) {
    if (++waits == 1) ann_->write("A");
  };
  EXPECT_EQ(bob_->client->pull(std::chrono::seconds(5), system_), 4);
}

}  // namespace
}  // namespace joedb
