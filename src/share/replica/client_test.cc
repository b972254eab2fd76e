#include "joedb/replica/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "joedb/base/log.h"
#include "joedb/history/changes.h"
#include "joedb/io/memory_file.h"
#include "joedb/io/posix_file.h"
#include "joedb/journal/writable_journal.h"
#include "joedb/replica/clients.h"
#include "joedb/table/writable_database.h"
#include "support/temporary_directory.h"

namespace joedb {
namespace {

// The copy on the server's side. It counts locks, and can be made to fail.
class Hub : public Connection {
 public:
  bool can_push() const override { return !is_pull_only; }
  Offset get_checkpoint() const override { return connection_->get_checkpoint(); }
  void compare(const Abstract_File& local, Offset start, Offset end, Content_Check check) override {
    connection_->compare(local, start, end, check);
  }
  void pull(const Pull& pull, const Receive& receive) override {
    connection_->pull(pull, receive);
    if (pull.takes_lock) ++locks;
  }
  void push(const Abstract_File& local, Offset end, Checkpoint_Level level,
            After_Push after) override {
    if (is_failing) throw Exception("no network");
    connection_->push(local, end, level, after);
    locks = after == After_Push::keep_lock ? 1 : 0;
  }
  void unlock() noexcept override { locks = 0; }

  int locks = 0;
  bool is_failing = false;
  bool is_pull_only = false;

 private:
  Memory_File file_;
  const std::unique_ptr<Connection> connection_ = std::make_unique<File_Connection>(file_);
};

// A client with tables and its own file.
class Party {
 public:
  explicit Party(Connection& connection, Content_Check check = Content_Check::full)
      : client(copy_, connection, check) {
    client.settings().now = [] { return std::int64_t{1700000000}; };
  }
  ~Party() { database.rollback(); }

  void create(std::string_view table) { database.write(Create_Table{table}); }
  void transact(std::string_view table) {
    client.transaction([&] { create(table); });
  }
  void fail(std::string_view table) {
    EXPECT_THROW(client.transaction([&] {
      create(table);
      throw Exception("failed");
    }),
                 Exception);
  }
  void abort(std::string_view table) {
    Client_Lock lock(client);
    create(table);
    lock.abandon();
  }
  bool has(std::string_view table) const {
    return database.get_database().find_table(table) != nullptr;
  }

  Memory_File file;
  Writable_Database database{file};

 private:
  Writable_Copy<Writable_Database> copy_{database};

 public:
  Client client;
};

class Client_With_A_Hub : public ::testing::Test {
 protected:
  Hub hub_;
  Party ann_{hub_};
  Party bob_{hub_};
};

TEST_F(Client_With_A_Hub, GivesOthersWhatItHasWritten) {
  ann_.transact("city");
  EXPECT_EQ(bob_.client.get_checkpoint_difference(), 6);
  EXPECT_EQ(bob_.client.pull(), 6);
  EXPECT_TRUE(bob_.has("city"));
  EXPECT_EQ(bob_.client.pull(), 0);
  EXPECT_EQ(bob_.client.get_checkpoint_difference(), 0);
}

TEST_F(Client_With_A_Hub, BeginsATransactionWithWhatOthersHaveWritten) {
  ann_.transact("city");
  bob_.client.transaction([&] {
    EXPECT_TRUE(bob_.has("city"));
    EXPECT_EQ(hub_.locks, 1);
    bob_.create("street");
  });
  EXPECT_EQ(hub_.locks, 0);
  ann_.client.pull();
  EXPECT_TRUE(ann_.has("street"));
}

TEST_F(Client_With_A_Hub, TellsItsObserversWhatItHasPulledAlsoIfItsFileIsBusy) {
  struct Busy_Database : Writable_Database {
    using Writable_Database::Writable_Database;
    bool try_lock() { return false; }
    void notify_observers() { ++notifications; }
    int notifications = 0;
  };
  Memory_File file;
  Busy_Database database(file);
  Writable_Copy<Busy_Database> copy(database);
  Client client(copy, hub_, Content_Check::full);
  ann_.transact("city");
  EXPECT_FALSE(client.try_transaction([] { FAIL(); }));
  EXPECT_NE(database.get_database().find_table("city"), nullptr);
  EXPECT_EQ(database.notifications, 1);
  EXPECT_EQ(hub_.locks, 0);
}

TEST_F(Client_With_A_Hub, PushesNothingOfAnAbandonedTransaction) {
  ann_.abort("city");
  EXPECT_EQ(hub_.locks, 0);
  EXPECT_EQ(hub_.get_checkpoint(), 41);
  EXPECT_TRUE(ann_.client.has_tail());
}

TEST_F(Client_With_A_Hub, IsOfNoUseAfterAnAbandonedTransactionUntilItIsRolledBack) {
  ann_.abort("city");
  bob_.transact("street");
  EXPECT_THROW(ann_.client.pull(), Exception);
  EXPECT_THROW(ann_.transact("river"), Exception);
  EXPECT_EQ(hub_.locks, 0);
  ann_.client.rollback();
  EXPECT_FALSE(ann_.has("city"));
  ann_.transact("river");
  EXPECT_TRUE(ann_.has("street"));
  EXPECT_EQ(bob_.client.pull(), 7);
}

TEST_F(Client_With_A_Hub, RollsBackATransactionThatThrows) {
  ann_.client.settings().has_valid_data = true;
  bob_.transact("street");
  const std::vector<char> before = bob_.file.get_data();
  ann_.fail("city");
  EXPECT_EQ(hub_.locks, 0);
  EXPECT_FALSE(ann_.client.has_tail());
  EXPECT_FALSE(ann_.has("city"));
  EXPECT_TRUE(ann_.has("street"));
  EXPECT_EQ(hub_.get_checkpoint(), 49);
  EXPECT_EQ(ann_.file.get_data().size(), before.size());
  ann_.transact("river");
  bob_.client.pull();
  EXPECT_TRUE(bob_.has("river"));
}

TEST_F(Client_With_A_Hub, ReturnsWhatATransactionReturns) {
  EXPECT_EQ(ann_.client.transaction([] { return std::string("result"); }), "result");
}

TEST(A_Client, SaysWhyATransactionWasMadeAndByWhom) {
  Memory_File file;
  Writable_Database_Client client(file);
  client.set_author("Ann");
  client.transaction("the first city", [](const Database&, Writable_Database& db) {
    db.write(Create_Table{"city"});
  });
  client.transaction(
      [](const Database&, Writable_Database& db) { db.write(Create_Table{"street"}); });
  Summaries history(file);
  const Transaction_Summary* const first = history.next();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->comments, std::vector<std::string>{"the first city"});
  EXPECT_EQ(first->author, "Ann");
  EXPECT_TRUE(first->has_own_time && first->is_complete);
  const Transaction_Summary* const second = history.next();
  ASSERT_NE(second, nullptr);
  EXPECT_TRUE(second->comments.empty() && second->author.empty() && second->is_complete);
  EXPECT_EQ(history.next(), nullptr);
}

// Returns one word per entry of a file: "t" for a table, "v" for valid_data, the time for a
// timestamp.
std::string words_of(Memory_File& file) {
  struct Keeper : Ignore_Entries {
    using Ignore_Entries::operator();
    void operator()(const Create_Table&) { text += "t "; }
    void operator()(const Valid_Data&) { text += "v "; }
    void operator()(const Timestamp& e) { text += std::to_string(e.seconds) + ' '; }
    std::string text;
  } keeper;
  Readonly_Journal(file).replay(keeper);
  return keeper.text;
}

void leave_unfinished(Memory_File& file) {
  Writable_Database others(file);
  others.write(Create_Table{"a"});
  others.soft_checkpoint();
}

TEST(A_Client, EndsWhatItHasWrittenAndWhatOthersHaveLeft) {
  Memory_File file;
  leave_unfinished(file);
  Writable_Database_Client client(file);
  const auto create = [&](std::string_view table) {
    client.transaction(
        [&](const Database&, Writable_Database& db) { db.write(Create_Table{table}); });
  };
  client.transaction([](const Database&, Writable_Database&) {});
  EXPECT_EQ(words_of(file), "t ") << "nothing was written";
  create("b");
  EXPECT_EQ(words_of(file), "t v t v ");
  create("c");
  EXPECT_EQ(words_of(file), "t v t v t v ");
  client.settings().end = Transaction_Settings::End::timestamp;
  client.settings().now = [] { return std::int64_t{5}; };
  create("d");
  EXPECT_EQ(words_of(file), "t v t v t v t 5 ");
  client.transaction([](const Database&, Writable_Database& db) {
    db.write(Create_Table{"e"});
    db.write(Timestamp{6});
  });
  EXPECT_EQ(words_of(file), "t v t v t v t 5 t 6 ") << "it has an end already";
}

TEST(A_Client, EndsNothingWhereItIsToldSo) {
  Memory_File file;
  leave_unfinished(file);
  Writable_Database_Client client(file, Connection::dummy, Content_Check::fast,
                                  Journal_Options::without_marks());
  client.settings().end = Transaction_Settings::End::none;
  for (const std::string_view name : {"b", "c"})
    client.transaction(
        [&](const Database&, Writable_Database& db) { db.write(Create_Table{name}); });
  EXPECT_EQ(words_of(file), "t t t ");
}

TEST(A_Client, EndsWhatWasLeftAfterARollbackToo) {
  Memory_File file;
  leave_unfinished(file);
  Writable_Database_Client client(file);
  EXPECT_THROW(client.transaction([](const Database&, Writable_Database& db) {
    db.write(Create_Table{"b"});
    throw Exception("no");
  }),
               Exception);
  EXPECT_EQ(words_of(file), "t ");
  client.transaction([](const Database&, Writable_Database& db) { db.write(Create_Table{"b"}); });
  EXPECT_EQ(words_of(file), "t v t v ");
}

TEST_F(Client_With_A_Hub, EndsATransactionWhereALockSaysSo) {
  Client_Lock lock(ann_.client);
  ann_.create("city");
  lock.checkpoint_and_push();
  EXPECT_EQ(hub_.get_checkpoint(), 47);
  ann_.create("lost");
  EXPECT_EQ(hub_.locks, 1);
  lock.unlock();
  EXPECT_EQ(hub_.locks, 0);
  EXPECT_TRUE(ann_.has("city"));
  EXPECT_FALSE(ann_.has("lost"));
  EXPECT_THROW(lock.do_checkpoint(), Exception);
}

TEST_F(Client_With_A_Hub, RollsBackWithAWarningIfALockIsForgotten) {
  struct Warnings : Logger {
    Warnings() { Destructor_Logger::set_logger(this); }
    ~Warnings() override { Destructor_Logger::set_logger(nullptr); }
    void log(std::string_view line) override { text += line; }
    std::string text;
  } warnings;
  {
    Client_Lock lock(ann_.client);
    ann_.create("city");
  }
  EXPECT_THAT(warnings.text, ::testing::HasSubstr("Client_Lock: locked, cancelling transaction"));
  EXPECT_EQ(hub_.locks, 0);
  EXPECT_FALSE(ann_.has("city"));
  EXPECT_EQ(ann_.client.pull(), 0);
}

TEST_F(Client_With_A_Hub, EndsTransactionsAsItIsTold) {
  ann_.client.settings().has_valid_data = true;
  ann_.client.settings().has_timestamp = true;
  ann_.client.settings().is_hard = true;
  ann_.client.transaction([] {});
  struct Keeper : Ignore_Entries {
    using Ignore_Entries::operator();
    void operator()(const Valid_Data&) { text += "valid "; }
    void operator()(const Timestamp& e) { text += std::to_string(e.seconds); }
    std::string text;
  } keeper;
  Readonly_Journal journal(ann_.file);
  journal.replay(keeper);
  EXPECT_EQ(keeper.text, "valid 1700000000");
  EXPECT_EQ(journal.get_hard_checkpoint(), 51);
  EXPECT_EQ(hub_.get_checkpoint(), 51);
}

TEST_F(Client_With_A_Hub, RollsBackWhatItCouldNotPush) {
  hub_.is_failing = true;
  EXPECT_THROW(ann_.transact("city"), Exception);
  EXPECT_EQ(hub_.locks, 0);
  EXPECT_FALSE(ann_.has("city"));
  EXPECT_FALSE(ann_.client.has_tail());
  EXPECT_EQ(ann_.client.get_checkpoint_difference(), 0);
  hub_.is_failing = false;
  bob_.transact("street");
  ann_.transact("river");
  EXPECT_TRUE(ann_.has("street"));
  EXPECT_EQ(ann_.client.get_checkpoint_difference(), 0);
}

TEST_F(Client_With_A_Hub, PushesLaterWhatALockHasGivenACheckpoint) {
  Client_Lock lock(ann_.client);
  ann_.create("city");
  lock.do_checkpoint();
  hub_.is_failing = true;
  EXPECT_THROW(lock.push_unlock(), Exception);
  lock.unlock();
  hub_.is_failing = false;
  EXPECT_EQ(ann_.client.get_checkpoint_difference(), -6);
  ann_.client.push_if_ahead();
  EXPECT_EQ(bob_.client.pull(), 6);
}

TEST_F(Client_With_A_Hub, DoesNotMixTwoHistories) {
  {
    Client_Lock lock(ann_.client);
    ann_.create("city");
    lock.do_checkpoint();
    lock.unlock();
  }
  bob_.transact("street");
  EXPECT_THROW(ann_.client.pull(), Content_Mismatch);
  EXPECT_THROW(ann_.client.push_if_ahead(), Content_Mismatch);
  EXPECT_THROW(ann_.transact("river"), Content_Mismatch);
  EXPECT_EQ(ann_.client.get_journal_checkpoint(), 47);
  EXPECT_FALSE(ann_.client.has_tail());
  EXPECT_EQ(bob_.client.get_checkpoint_difference(), 0);
}

TEST_F(Client_With_A_Hub, IsNotMadeOfCopiesThatHaveParted) {
  Party carl(Connection::dummy);
  carl.transact("lake");
  ann_.transact("city");
  Writable_Copy<Writable_Database> copy(carl.database);
  EXPECT_THROW(Client(copy, hub_, Content_Check::fast), Content_Mismatch);
  EXPECT_NO_THROW(Client(copy, hub_, Content_Check::none));
}

TEST_F(Client_With_A_Hub, CannotWriteIfItCannotPush) {
  ann_.transact("city");
  hub_.is_pull_only = true;
  EXPECT_FALSE(bob_.client.can_write());
  EXPECT_EQ(bob_.client.pull(), 6);
  EXPECT_THROW(bob_.transact("street"), Exception);
}

TEST(Client, TakesNoBytesThatMakeNoSense) {
  Memory_File hub;
  {
    Writable_Journal journal(hub);
    journal.append(Create_Table{"city"});
    journal.append(Insert{Table_Id(9), Record_Id(0)});
    journal.soft_checkpoint();
  }
  File_Connection connection(hub);
  Party ann(connection);
  const std::vector<char> before = ann.file.get_data();
  EXPECT_THROW(ann.client.pull(), Corruption_Error);
  EXPECT_EQ(ann.file.get_data(), before);
  EXPECT_FALSE(ann.has("city"));
  EXPECT_EQ(ann.client.get_checkpoint_difference(), 9);
}

// ---- without the lock ---------------------------------------------------------------------------

// A connection to the hub that, like a network connection, caches the last checkpoint it received.
class Way : public Connection {
 public:
  explicit Way(Hub& hub) : hub_(hub), checkpoint_(hub.get_checkpoint()) {}
  bool can_push() const override { return true; }
  bool can_push_without_lock() const override { return true; }
  Offset get_checkpoint() const override { return checkpoint_; }
  void compare(const Abstract_File& local, Offset start, Offset end, Content_Check check) override {
    hub_.compare(local, start, end, check);
  }
  void pull(const Pull& pull, const Receive& receive) override {
    hub_.pull(pull, receive);
    has_lock_ = has_lock_ || pull.takes_lock;
    checkpoint_ = hub_.get_checkpoint();
    ++pulls;
  }
  void push(const Abstract_File& local, Offset end, Checkpoint_Level level,
            After_Push after) override {
    if (hub_.get_checkpoint() != checkpoint_ || (hub_.locks > 0 && !has_lock_)) refuse();
    hub_.push(local, end, level, after);
    has_lock_ = after == After_Push::keep_lock;
    checkpoint_ = hub_.get_checkpoint();
  }
  void unlock() noexcept override {
    if (has_lock_) hub_.unlock();
    has_lock_ = false;
  }

  int pulls = 0;
  std::function<void()> on_conflict = {};

 private:
  [[noreturn]] void refuse() {
    if (on_conflict) std::exchange(on_conflict, {})();
    throw Conflict(checkpoint_);
  }

  Hub& hub_;
  Offset checkpoint_;
  bool has_lock_ = false;
};

class Client_Without_The_Lock : public ::testing::Test {
 protected:
  Client_Without_The_Lock() {
    ann_.transact("first");
    ann_.transact("second");
    to_ann_.pulls = 0;
  }

  // Runs a transaction of Ann. Returns how often its function was called.
  int transact(std::string_view table, const std::function<void()>& meanwhile = {}) {
    int runs = 0;
    ann_.client.transaction([&] {
      if (++runs == 1 && meanwhile) meanwhile();
      ann_.create(table);
    });
    return runs;
  }
  static std::string content(const Party& party) {
    return {party.file.get_data().begin() + journal_start, party.file.get_data().end()};
  }
  void expect_equal_copies() {
    bob_.client.pull();
    EXPECT_EQ(content(ann_), content(bob_));
    EXPECT_EQ(hub_.get_checkpoint(), ann_.client.get_journal_checkpoint());
    EXPECT_EQ(hub_.locks, 0);
  }

  Hub hub_;
  Way to_ann_{hub_};
  Way to_bob_{hub_};
  Party ann_{to_ann_};
  Party bob_{to_bob_};
};

TEST_F(Client_Without_The_Lock, OnlyPushesWhereNobodyElseWrites) {
  EXPECT_EQ(transact("third"), 1);
  EXPECT_EQ(to_ann_.pulls, 0);
  expect_equal_copies();
}

TEST_F(Client_Without_The_Lock, DoesAsItIsTold) {
  ann_.client.set_optimistic(false);
  transact("third");
  EXPECT_EQ(to_ann_.pulls, 1);
}

TEST_F(Client_Without_The_Lock, RunsAgainIfSomebodyElseHasWritten) {
  EXPECT_EQ(transact("third", [this] { bob_.transact("of_bob"); }), 2);
  EXPECT_TRUE(ann_.has("third"));
  EXPECT_TRUE(ann_.has("of_bob"));
  expect_equal_copies();

  to_ann_.pulls = 0;
  for (const auto* const name : {"c", "d", "e", "f"}) transact(name);
  EXPECT_EQ(to_ann_.pulls, 4) << "it is more careful now";
  transact("g");
  EXPECT_EQ(to_ann_.pulls, 4);
}

TEST_F(Client_Without_The_Lock, RunsAgainIfSomebodyElseHasTheLock) {
  std::optional<Client_Lock> lock;
  to_ann_.on_conflict = [&] {
    lock->unlock();
    lock.reset();
  };
  EXPECT_EQ(transact("third", [&] { lock.emplace(bob_.client); }), 2);
  EXPECT_FALSE(lock);
  expect_equal_copies();
}

TEST_F(Client_Without_The_Lock, PushesWhatEndsATransaction) {
  ann_.client.settings().has_valid_data = true;
  ann_.client.settings().has_timestamp = true;
  EXPECT_EQ(transact("third"), 1);
  EXPECT_EQ(to_ann_.pulls, 0);
  expect_equal_copies();
}

TEST_F(Client_Without_The_Lock, PushesIntegrityEntries) {
  ann_.client.transaction([this] { ann_.database.enable_integrity(); });
  for (const auto* const name : {"third", "fourth", "fifth"}) transact(name);
  EXPECT_EQ(to_ann_.pulls, 0);
  expect_equal_copies();
}

TEST_F(Client_Without_The_Lock, ThrowsWhatThrowsIfNobodyElseHasWritten) {
  int runs = 0;
  EXPECT_THROW(ann_.client.transaction([&] {
    ++runs;
    ann_.create("third");
    throw Exception("failed");
  }),
               Exception);
  EXPECT_EQ(runs, 1);
  EXPECT_FALSE(ann_.has("third"));
  EXPECT_FALSE(ann_.client.has_tail());
  expect_equal_copies();
}

TEST_F(Client_Without_The_Lock, RunsAgainWhatHasThrownForWhatIsOld) {
  bob_.transact("of_bob");
  int runs = 0;
  ann_.client.transaction([&] {
    ++runs;
    ann_.create("third");
    if (!ann_.has("of_bob")) throw Exception("there is no table of bob");
  });
  EXPECT_EQ(runs, 2);
  expect_equal_copies();
}

TEST_F(Client_Without_The_Lock, LeavesNothingThatCouldNotBePushed) {
  hub_.is_failing = true;
  EXPECT_THROW(transact("third"), Exception);
  EXPECT_FALSE(ann_.has("third"));
  EXPECT_FALSE(ann_.client.has_tail());
  hub_.is_failing = false;
  transact("fourth");
  expect_equal_copies();
}

// During the transaction, the server is restarted, so the lock is lost.
TEST_F(Client_Without_The_Lock, RollsBackWhatConflictsAfterTheLockWasLostAndGoesOn) {
  for (const bool in_two_parts : {false, true}) {
    const std::string own = in_two_parts ? "lake" : "city";
    Client_Lock lock(ann_.client);
    ann_.create(own);
    hub_.locks = 0;
    bob_.transact(in_two_parts ? "road" : "street");
    if (in_two_parts)
      EXPECT_THROW(lock.checkpoint_and_push(), Conflict);
    else
      EXPECT_THROW(lock.checkpoint_and_push_unlock(), Conflict);
    lock.unlock();
    EXPECT_FALSE(ann_.has(own));
    ann_.transact(own);
    expect_equal_copies();
  }
}

TEST_F(Client_Without_The_Lock, CannotRunAgainBehindACheckpointOfItsOwn) {
  EXPECT_THROW(transact("third",
                        [this] {
                          bob_.transact("of_bob");
                          ann_.create("kept");
                          ann_.database.soft_checkpoint();
                        }),
               Conflict);
  EXPECT_TRUE(ann_.has("kept"));
  EXPECT_FALSE(ann_.has("third"));
  EXPECT_EQ(hub_.locks, 0);
}

// ---- other local copies -------------------------------------------------------------------------

TEST(Client, WorksWithoutAConnection) {
  Party ann(Connection::dummy);
  ann.transact("city");
  EXPECT_EQ(ann.client.get_journal_checkpoint(), 47);
  EXPECT_EQ(ann.client.pull(), 0);
  ann.client.push_if_ahead();
  EXPECT_EQ(ann.client.get_checkpoint_difference(), 0);
}

TEST(Client, SharesAFileWithOthers) {
  const testing::Temporary_Directory directory;
  File ann_file(directory.file("db.joedb"), Open_Mode::shared_write);
  File bob_file(directory.file("db.joedb"), Open_Mode::shared_write);
  Writable_Database ann_database(ann_file);
  Bare_Journal bob_journal(bob_file);
  Writable_Copy ann_copy(ann_database);
  Writable_Copy bob_copy(bob_journal);
  Client ann(ann_copy, Connection::dummy, Content_Check::fast);
  Client bob(bob_copy, Connection::dummy, Content_Check::fast);

  ann.transaction([&] {
    ann_database.write(Create_Table{"city"});
    ann_database.write(Insert{Table_Id(1), Record_Id(0)});
  });
  // Bob has no tables, but his journal has the context of Ann's record, so his entry is short.
  bob.transaction([&] { bob_journal.write(Insert{Table_Id(1), Record_Id(1)}); });
  EXPECT_EQ(bob.get_journal_checkpoint(), 51);
  EXPECT_EQ(ann.pull(), 1);
  EXPECT_EQ(ann_database.get_database().find_table("city")->records().size(), 2);

  {
    Client_Lock lock(bob);
    bob_journal.write(Comment{"lost"});
    bob_journal.flush();
    lock.abandon();
  }
  ann.transaction([&] { ann_database.write(Comment{"kept"}); });
  bob.rollback();
  bob.pull();
  EXPECT_EQ(bob.get_journal_checkpoint(), ann.get_journal_checkpoint());
}

TEST(Client, FollowsAFileThatItMayOnlyRead) {
  const testing::Temporary_Directory directory;
  File file(directory.file("db.joedb"), Open_Mode::create_new);
  Writable_Database writer(file);
  File readonly_file(directory.file("db.joedb"), Open_Mode::read_existing);
  Readonly_Journal journal(readonly_file);
  Database database;
  Readonly_Copy copy(journal, [&] { journal.replay(database); });
  Client client(copy, Connection::dummy, Content_Check::fast);

  writer.write(Create_Table{"city"});
  writer.soft_checkpoint();
  EXPECT_EQ(client.pull(), 6);
  EXPECT_NE(database.find_table("city"), nullptr);
  EXPECT_FALSE(client.can_write());
  EXPECT_THROW(client.transaction([] {}), Exception);
}

}  // namespace
}  // namespace joedb
