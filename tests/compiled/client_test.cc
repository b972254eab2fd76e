// Clients in generated code.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "geo_1.h"
#include "geo_2.h"
#include "joedb/base/log.h"
#include "joedb/history/changes.h"
#include "support/error_of.h"
#include "support/simulated_system.h"
#include "support/temporary_directory.h"

namespace client_test {
namespace {

using joedb::testing::error_of;
using joedb::testing::Temporary_Directory;
using namespace geo_2;

// Two clients, each with its own file, and the hub file that they share.
class Two_Clients : public ::testing::Test {
 protected:
  joedb::Memory_File hub_, ann_file_, bob_file_;
  joedb::File_Connection connection_{hub_};
  Client ann_{ann_file_, connection_};
  Client bob_{bob_file_, connection_};
};

TEST_F(Two_Clients, SeeEachOthersTransactions) {
  const id_of_city oslo =
      ann_.transaction([](Writable_Database& db) { return db.new_city("Oslo", 1, "Norway"); });
  EXPECT_GT(bob_.get_checkpoint_difference(), 0);
  EXPECT_GT(bob_.pull(), 0);
  EXPECT_EQ(bob_.get_database().find_city_by_name("Oslo"), oslo);
  bob_.transaction([&](Writable_Database& db) { db.set_population(oslo, 2); });
  ann_.transaction([&](Writable_Database& db) {
    EXPECT_EQ(db.get_population(oslo), 2) << "a transaction begins with a pull";
  });
  EXPECT_EQ(ann_.get_checkpoint_difference(), 0);
  EXPECT_EQ(ann_.get_journal_checkpoint(), ann_.get_connection_checkpoint());
  EXPECT_EQ(bob_.pull(std::chrono::milliseconds(1)), 0);
}

TEST_F(Two_Clients, SayWhyATransactionIsMade) {
  ann_.set_author("Ann");
  const id_of_city oslo = ann_.transaction("the capital of Norway", [](Writable_Database& db) {
    return db.new_city("Oslo", 1, "Norway");
  });
  bob_.pull();
  EXPECT_EQ(bob_.get_database().find_city_by_name("Oslo"), oslo);
  joedb::Reversed<joedb::Summaries> log(bob_file_);
  const joedb::Transaction_Summary* const last = log.next();
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->comments, std::vector<std::string>{"the capital of Norway"});
  EXPECT_EQ(last->author, "Ann");
}

TEST_F(Two_Clients, WaitForATransaction) {
  joedb::testing::Simulated_System system;
  EXPECT_EQ(bob_.pull(std::chrono::hours(1), system), 0);
  EXPECT_EQ(system.passed(), std::chrono::hours(1));
  system.on_sleep = [&] {
    system.on_sleep = nullptr;
    ann_.transaction([](Writable_Database& db) { db.new_city("Oslo", 1, "Norway"); });
  };
  EXPECT_GT(bob_.pull(std::chrono::hours(1), system), 0);
  EXPECT_LT(system.passed(), std::chrono::minutes(61));
}

TEST_F(Two_Clients, TakeBackATransactionThatThrows) {
  const auto oslo =
      ann_.transaction([](Writable_Database& db) { return db.new_city("Oslo", 1, "Norway"); });
  const auto before = ann_file_.get_data();
  EXPECT_EQ(error_of([&] {
              ann_.transaction([&](Writable_Database& db) {
                db.set_name(oslo, "Christiania");
                db.new_city("Bergen", 1, "Norway");
                db.flush();
                throw joedb::Exception("no");
              });
            }),
            "no");
  EXPECT_EQ(ann_file_.get_data().size(), before.size());
  EXPECT_EQ(ann_.get_database().find_city_by_name("Oslo"), oslo);
  EXPECT_EQ(ann_.get_database().get_city_table().get_size(), 1u);
  ann_.transaction([](Writable_Database& db) { db.new_city("Bergen", 1, "Norway"); });
  bob_.pull();
  EXPECT_EQ(bob_.get_database().get_city_table().get_size(), 2u);
}

TEST_F(Two_Clients, TakeBackAViolationOfAUniqueIndex) {
  ann_.transaction([](Writable_Database& db) { db.new_city("Oslo", 1, "Norway"); });
  EXPECT_THROW(bob_.transaction([](Writable_Database& db) {
    db.new_city("Bergen", 1, "Norway");
    db.new_city("Oslo", 1, "Minnesota");
  }),
               joedb::Data_Error);
  EXPECT_EQ(bob_.get_database().get_city_table().get_size(), 1u) << "Ann's";
}

TEST_F(Two_Clients, WriteWhatTheirSettingsSay) {
  ann_.set_valid_data(true);
  ann_.set_timestamp(true);
  ann_.set_hard_checkpoint(true);
  ann_.settings().now = [] { return std::int64_t{1234}; };
  ann_.transaction([](Writable_Database& db) { db.new_city("Oslo", 1, "Norway"); });
  bob_.pull();
  joedb::Readonly_Journal journal(bob_file_);
  const Readonly_Database past(bob_file_, joedb::at_time(1234));
  EXPECT_EQ(past.get_city_table().get_size(), 1u);
  EXPECT_EQ(joedb::Readonly_Journal(hub_).get_hard_checkpoint(), ann_.get_journal_checkpoint());
}

TEST_F(Two_Clients, ReadBlobs) {
  const joedb::Blob blob =
      ann_.transaction([](Writable_Database& db) { return db.write_blob("bytes of a picture"); });
  bob_.pull();
  EXPECT_EQ(bob_.read_blob(blob), "bytes of a picture");
  EXPECT_EQ(bob_.read_blob(blob, 5), "bytes");
}

TEST_F(Two_Clients, EndATransactionWhereALockSaysSo) {
  {
    Client_Lock lock(ann_);
    lock.get_database().new_city("Oslo", 1, "Norway");
    lock.checkpoint_and_push();
    EXPECT_GT(bob_.pull(), 0) << "the hub has it already";
    lock.get_database().new_city("Bergen", 1, "Norway");
    lock.checkpoint_and_push_unlock();
  }
  bob_.pull();
  EXPECT_EQ(bob_.get_database().get_city_table().get_size(), 2u);
  {
    Client_Lock lock(ann_);
    lock.get_database().new_city("Lost", 1, "");
    lock.unlock();
  }
  EXPECT_EQ(ann_.get_database().get_city_table().get_size(), 2u);
}

TEST_F(Two_Clients, HaveOneTransactionAtATime) {
  EXPECT_EQ(error_of([&] {
              ann_.transaction([&](Writable_Database& db) {
                db.new_city("Oslo", 1, "Norway");
                ann_.transaction([](Writable_Database&) {});
              });
            }),
            "this client is in a transaction");
  ann_.transaction([&](Writable_Database&) {
    EXPECT_THROW(ann_.pull(), joedb::Exception);
    EXPECT_THROW(ann_.push_if_ahead(), joedb::Exception);
  });
  EXPECT_TRUE(ann_.get_database().get_city_table().is_empty());
}

TEST_F(Two_Clients, WarnWhenALockIsForgotten) {
  struct Warnings : joedb::Logger {
    void log(std::string_view line) override { text += line; }
    std::string text;
  } warnings;
  joedb::Destructor_Logger::set_logger(&warnings);
  {
    Client_Lock lock(ann_);
    lock.get_database().new_city("Lost", 1, "");
  }
  joedb::Destructor_Logger::set_logger(nullptr);
  EXPECT_EQ(warnings.text, "Client_Lock: locked, cancelling transaction");
  EXPECT_TRUE(ann_.get_database().get_city_table().is_empty());
  ann_.transaction([](Writable_Database& db) { db.new_city("Oslo", 1, "Norway"); });
}

// Both clients have the new schema, and would upgrade: the second one finds the upgrade of the
// first.
TEST(Client, UpgradesAfterItHasPulled) {
  joedb::Memory_File hub, ann_file, bob_file;
  joedb::File_Connection connection(hub);
  {
    geo_1::Client ann(ann_file, connection), bob(bob_file, connection);
    ann.transaction([](geo_1::Writable_Database& db) { db.new_city("oslo", 1); });
  }
  Client ann(ann_file, connection), bob(bob_file, connection);
  bob.pull_push();
  ann.pull();
  EXPECT_EQ(ann.get_journal_checkpoint(), bob.get_journal_checkpoint());
  EXPECT_TRUE(ann_file.equal_to(bob_file, 41, ann.get_journal_checkpoint()));
  EXPECT_TRUE(bob.get_database().find_city_by_name("Oslo").is_not_null());
}

TEST(Client, RefusesASchemaChangeThatItPulls) {
  joedb::Memory_File hub, old_file, new_file;
  joedb::File_Connection connection(hub);
  geo_1::Client old_client(old_file, connection);
  Client new_client(new_file, connection);
  const auto before = old_file.get_data();
  const std::string error =
      "memory: another program has changed its schema while this one (geo_1) had it open: change 7 "
      "is \"add_field city country string\" in the file, missing in the program. Nothing is "
      "damaged: start the new version of this program";
  for (int i = 0; i < 2; ++i) EXPECT_EQ(error_of([&] { old_client.pull(); }), error);
  EXPECT_EQ(error_of([&] { old_client.transaction([](geo_1::Writable_Database&) {}); }), error);
  EXPECT_THROW(old_client.pull(), joedb::Schema_Mismatch);
  EXPECT_EQ(old_file.get_data(), before);
  EXPECT_TRUE(old_client.get_database().get_city_table().is_empty());
}

// A dropped table stays readable through its generated class.
TEST(File_Client, CanBeReadAfterAPullThatDropsATable) {
  const Temporary_Directory directory;
  File_Client ann(directory.file("db.joedb"));
  ann.transaction(
      [](Writable_Database& db) { db.new_person("Ann", db.new_city("Oslo", 1, "Norway"), 30); });
  joedb::File file(directory.file("db.joedb"), joedb::Open_Mode::read_existing);
  Readonly_Client reader(file);
  {
    joedb::File shared(directory.file("db.joedb"), joedb::Open_Mode::shared_write);
    joedb::Writable_Database_Client other(shared);
    other.transaction([](const joedb::Database& db, joedb::Writable_Database& writer) {
      const joedb::Table& settings = *db.find_table("settings");
      writer.write(joedb::Drop_Field{settings.id(), settings.find_field("language")});
      writer.write(joedb::Drop_Table{settings.id()});
    });
  }
  EXPECT_THROW(ann.pull(), joedb::Schema_Mismatch);
  EXPECT_EQ(error_of([&] { reader.pull(); }), error_of([&] { ann.pull(); }));
  EXPECT_EQ(ann.get_database().get_volume(), 7);
  EXPECT_EQ(ann.get_database().get_language(), "en\"\\");
  EXPECT_EQ(reader.get_database().get_volume(), 7);
}

TEST(Readonly_Client, HasUpdatedRecordsInItsIndexes) {
  const Temporary_Directory directory;
  File_Client writer(directory.file("db.joedb")), other(directory.file("db.joedb"));
  writer.transaction([](Writable_Database& db) {
    for (const char* const name : {"a", "b", "c"}) db.new_city(name, 1, "");
  });
  joedb::File file(directory.file("db.joedb"), joedb::Open_Mode::read_existing);
  Readonly_Client reader(file);
  other.pull();
  writer.transaction([](Writable_Database& db) {
    db.set_name(db.find_city_by_name("b"), "z");
    db.delete_city(db.find_city_by_name("c"));
  });
  reader.pull();
  EXPECT_EQ(reader.get_database().find_city_by_name("z"), id_of_city(1));
  EXPECT_EQ(reader.get_database().get_index_of_city_by_name().size(), 2u);
  EXPECT_THROW(other.transaction([](Writable_Database& db) { db.new_city("z", 1, ""); }),
               joedb::Data_Error);
}

TEST(Client, ThatCanOnlyPullRequiresTheSchema) {
  joedb::Memory_File hub, file;
  {
    joedb::File_Connection connection(hub);
    geo_1::Client client(file, connection);
  }
  joedb::Readonly_Memory_File readonly_hub(hub.get_data());
  joedb::File_Connection connection(readonly_hub);
  geo_1::Client client(file, connection);
  EXPECT_TRUE(client.is_pullonly());
  EXPECT_THROW(client.transaction([](geo_1::Writable_Database&) {}), joedb::Exception);
  EXPECT_THROW(Client(file, connection), joedb::Out_Of_Date);
}

TEST(File_Client, SharesAFileWithOthers) {
  const Temporary_Directory directory;
  File_Client ann(directory.file("db.joedb")), bob(directory.file("db.joedb"));
  EXPECT_TRUE(ann.is_shared());
  for (int i = 0; i < 3; ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    (i % 2 == 0 ? ann : bob).transaction([&](Writable_Database& db) { db.new_city(name, i, ""); });
  }
  EXPECT_GT(bob.pull(), 0);
  EXPECT_EQ(bob.get_database().get_index_of_city_by_name().size(), 3u);
  EXPECT_THROW(ann.transaction([](Writable_Database& db) {
    db.new_city("d", 1, "");
    db.new_city("a", 1, "");
  }),
               joedb::Data_Error);
  bob.transaction([](Writable_Database& db) { db.new_city("e", 1, ""); });
  ann.pull();
  EXPECT_EQ(ann.get_database().get_index_of_city_by_name().size(), 4u);
}

// Ann is in a transaction of the same thread, so Bob would otherwise wait for ever.
TEST(File_Client, WaitsForAnotherOnlyForItsBusyTimeout) {
  const Temporary_Directory directory;
  const std::string name = directory.file("db.joedb");
  constexpr std::chrono::milliseconds short_time(20);
  File_Client ann(name), bob(name, {}, short_time);
  const auto add = [](Writable_Database& db) { return db.new_city("Oslo", 1, ""); };
  {
    Client_Lock lock(ann);
    add(lock.get_database());
    const std::string error = error_of<joedb::Lock_Timeout>([&] { bob.transaction(add); });
    EXPECT_EQ(error.find(name + " is locked by this process: waited "), 0u) << error;
    EXPECT_THROW(File_Client(name, {}, short_time), joedb::Lock_Timeout);
    EXPECT_EQ(bob.pull(), 0);
    lock.push_and_checkpoint();
    EXPECT_GT(bob.pull(), 0);
    EXPECT_EQ(bob.get_database().get_index_of_city_by_name().size(), 1u);
    lock.unlock();
  }
  bob.transaction([](Writable_Database& db) { db.new_city("Bergen", 1, ""); });
  ann.pull();
  EXPECT_EQ(ann.get_database().get_index_of_city_by_name().size(), 2u);
}

TEST(File_Client, TriesATransaction) {
  const Temporary_Directory directory;
  File_Client ann(directory.file("db.joedb")), bob(directory.file("db.joedb"));
  const auto add = [](Writable_Database& db) { return db.new_city("Oslo", 1, ""); };
  {
    Client_Lock lock(ann);
    EXPECT_EQ(bob.try_transaction(add), std::nullopt);
    EXPECT_FALSE(bob.try_transaction([](Writable_Database&) { FAIL(); }));
    lock.unlock();
  }
  const std::optional<id_of_city> oslo = bob.try_transaction(add);
  ASSERT_TRUE(oslo);
  EXPECT_THROW(bob.try_transaction([](Writable_Database&) { throw joedb::Data_Error("no"); }),
               joedb::Data_Error);
  EXPECT_TRUE(ann.try_transaction([&](Writable_Database& db) { db.delete_city(*oslo); }));
}

TEST_F(Two_Clients, TryATransactionOverAConnection) {
  EXPECT_TRUE(ann_.try_transaction([](Writable_Database& db) { db.new_city("Oslo", 1, ""); }));
  EXPECT_TRUE(bob_.try_transaction([](Writable_Database& db) { db.new_city("Rome", 1, ""); }));
  EXPECT_EQ(bob_.get_database().get_index_of_city_by_name().size(), 2u);
}

// Writes through a client without the unique index.
void name_city_1(joedb::Writable_Database_Client& client, std::string_view name) {
  client.transaction([&](const joedb::Database& db, joedb::Writable_Database& writer) {
    const joedb::Table& city = *db.find_table("city");
    const joedb::Record_Id id(1);
    if (!city.is_used(id)) writer.write(joedb::Insert{city.id(), id});
    writer.write(joedb::Update<std::string_view>{city.id(), id, city.find_field("name"), name});
  });
}

TEST(File_Client, RefusesToGoOnWhereAUniqueIndexIsViolated) {
  const Temporary_Directory directory;
  File_Client ann(directory.file("db.joedb"));
  ann.transaction([](Writable_Database& db) { db.new_city("Oslo", 1, ""); });
  joedb::File other_file(directory.file("db.joedb"), joedb::Open_Mode::shared_write);
  joedb::Writable_Database_Client other(other_file);
  name_city_1(other, "Oslo");
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(error_of([&] { ann.pull(); }), directory.file("db.joedb") +
                                                 ": geo_2: city_by_name unique index failure: "
                                                 "(\"Oslo\") at id = 1 was already at id = 0");
  name_city_1(other, "Bergen");
  EXPECT_GT(ann.pull(), 0);
  EXPECT_EQ(ann.get_database().find_city_by_name("Bergen"), id_of_city(1));
}

// A failed rollback leaves the old tables; the next transaction builds new ones.
TEST(File_Client, ComesBackAfterARollbackThatFailed) {
  const Temporary_Directory directory;
  File_Client ann(directory.file("db.joedb"));
  ann.transaction([](Writable_Database& db) { db.new_city("Oslo", 1, ""); });
  joedb::File other_file(directory.file("db.joedb"), joedb::Open_Mode::shared_write);
  joedb::Writable_Database_Client other(other_file);
  {
    Client_Lock lock(ann);
    lock.get_database().new_city("Lost", 1, "");
    lock.get_database().flush();
    lock.abandon();
  }
  name_city_1(other, "Oslo");
  EXPECT_THROW(ann.rollback(), joedb::Data_Error);
  name_city_1(other, "Bergen");
  const id_of_city rome =
      ann.transaction([](Writable_Database& db) { return db.new_city("Rome", 1, ""); });
  EXPECT_EQ(ann.get_database().find_city_by_name("Bergen"), id_of_city(1));
  EXPECT_EQ(ann.get_database().get_name(rome), "Rome");
  EXPECT_TRUE(ann.get_database().find_city_by_name("Lost").is_null());
}

TEST(Readonly_Client, FollowsAFileThatOthersWrite) {
  const Temporary_Directory directory;
  File_Client writer(directory.file("db.joedb"));
  joedb::File file(directory.file("db.joedb"), joedb::Open_Mode::read_existing);
  Readonly_Client reader(file);
  EXPECT_EQ(reader.pull(), 0);
  writer.transaction([](Writable_Database& db) { db.new_city("Oslo", 1, "Norway"); });
  EXPECT_GT(reader.pull(), 0);
  EXPECT_EQ(reader.get_database().find_city_by_name("Oslo"), id_of_city(0));
}

TEST(Readonly_Client, RefusesASchemaChangeThatItPulls) {
  const Temporary_Directory directory;
  { geo_1::File_Client old_writer(directory.file("db.joedb")); }
  joedb::File file(directory.file("db.joedb"), joedb::Open_Mode::read_existing);
  geo_1::Readonly_Client reader(file);
  { File_Client new_writer(directory.file("db.joedb")); }
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(error_of([&] { reader.pull(); }),
              directory.file("db.joedb") +
                  ": another program has changed its schema while this one (geo_1) had it open: "
                  "change 7 is \"add_field city country string\" in the file, missing in the "
                  "program. Nothing is damaged: start the new version of this program");
}

TEST(Readonly_Client, OpensAFileByItsName) {
  const Temporary_Directory directory;
  File_Client writer(directory.file("db.joedb"));
  Readonly_Client reader(directory.file("db.joedb"));
  writer.transaction([](Writable_Database& db) { db.new_city("Oslo", 1, "Norway"); });
  EXPECT_GT(reader.pull(), 0);
  EXPECT_EQ(reader.get_database().history(id_of_city(0)).size(), 1u);
  EXPECT_THROW(Readonly_Client(directory.file("none.joedb")), joedb::Io_Error);
}

// ---- without a compiled schema ------------------------------------------------------------------

TEST(Untyped_Client, WorksOnTablesOrOnTheJournalAlone) {
  joedb::Memory_File hub, tables, journal;
  joedb::File_Connection connection(hub);
  joedb::Writable_Database_Client database_client(tables, connection);
  joedb::Writable_Journal_Client journal_client(journal, connection);
  database_client.transaction([](const joedb::Database&, joedb::Writable_Database& db) {
    db.write(joedb::Create_Table{"city"});
  });
  const joedb::Blob blob = journal_client.transaction(
      [](joedb::Writable_Journal& j) { return j.append_blob("a blob"); });
  EXPECT_GT(database_client.pull(), 0);
  EXPECT_EQ(database_client.read_blob(blob), "a blob");
  {
    joedb::Writable_Journal_Client_Lock lock(journal_client);
    lock.get_journal().append(joedb::Create_Table{"street"});
    lock.checkpoint_and_push_unlock();
  }
  {
    joedb::Writable_Database_Client_Lock lock(database_client);
    EXPECT_NE(lock.get_database().get_database().find_table("street"), nullptr);
    lock.unlock();
  }
  joedb::Readonly_Database_Client reader(hub);
  EXPECT_NE(reader.get_database().find_table("street"), nullptr);
  EXPECT_EQ(reader.pull(), 0);
  joedb::Readonly_Client journal_reader(hub);
  EXPECT_EQ(journal_reader.get_journal().get_checkpoint(),
            database_client.get_journal_checkpoint());
}

}  // namespace
}  // namespace client_test
