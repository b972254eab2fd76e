// The option timestamp_transactions: past states can be selected by time.

#include <gtest/gtest.h>

#include <ctime>
#include <vector>

#include "shop_1.h"
#include "stamped.h"
#include "support/error_of.h"

namespace timestamp_test {
namespace {

using joedb::Memory_File;
using joedb::testing::error_of;
using namespace stamped;

// Collects the timestamps of a journal, in order.
struct Find_Stamps : joedb::Ignore_Entries {
  using Ignore_Entries::operator();
  void operator()(const joedb::Timestamp& entry) { seconds.push_back(entry.seconds); }
  std::vector<std::int64_t> seconds;
};

std::vector<std::int64_t> stamps(joedb::Abstract_File& file) {
  joedb::Readonly_Journal journal(file);
  Find_Stamps find;
  journal.replay(find);
  return find.seconds;
}

class Time_Stamps : public ::testing::Test {
 protected:
  std::size_t count() { return stamps(file).size(); }
  const std::int64_t start = std::time(nullptr);
  Memory_File file;
};

TEST_F(Time_Stamps, EndEachTransactionOfAClient) {
  Client client(file);
  EXPECT_EQ(count(), 1u) << "the schema";
  for (std::size_t i = 0; i < 3; ++i) {
    client.transaction([](Writable_Database& db) { db.new_town("Oslo"); });
    EXPECT_EQ(count(), 2 + i);
  }
  for (const std::int64_t seconds : stamps(file)) EXPECT_GE(seconds, start);
  const Readonly_Database now(file, joedb::at_time(std::time(nullptr)));
  EXPECT_EQ(now.get_town_table().get_size(), 3u);
}

TEST_F(Time_Stamps, AreNotInTransactionsThatWriteNothing) {
  Client client(file);
  const auto before = file.get_data();
  client.transaction([](Writable_Database&) {});
  EXPECT_EQ(file.get_data(), before);
}

TEST_F(Time_Stamps, AreWrittenOnceWhereAClientHasItsOwn) {
  Client client(file);
  client.set_timestamp(true);
  client.settings().now = [] { return std::int64_t{1234}; };
  client.transaction([](Writable_Database& db) { db.new_town("Oslo"); });
  EXPECT_EQ(count(), 2u);
  EXPECT_EQ(stamps(file).back(), 1234);
}

TEST_F(Time_Stamps, ComeWithEachCheckpointOfSomethingNew) {
  Writable_Database db(file);
  EXPECT_EQ(count(), 1u);
  db.soft_checkpoint();
  db.hard_checkpoint();
  EXPECT_EQ(count(), 1u) << "nothing is new";
  db.new_town("Oslo");
  db.soft_checkpoint();
  EXPECT_EQ(count(), 2u);
  db.hard_checkpoint();
  EXPECT_EQ(count(), 2u) << "the same entries";
  db.new_town("Bergen");
  db.hard_checkpoint();
  EXPECT_EQ(count(), 3u);
  db.new_town("Bodø");
  db.wait(db.hard_checkpoint_async());
  EXPECT_EQ(count(), 4u);
  db.new_town("Voss");
  db.checkpoint();
  EXPECT_EQ(count(), 5u);
}

TEST_F(Time_Stamps, OfTheProgramAreEnough) {
  Writable_Database db(file);
  db.new_town("Oslo");
  db.write_timestamp(100);
  db.soft_checkpoint();
  EXPECT_EQ(stamps(file).back(), 100);
  EXPECT_EQ(count(), 2u);
}

TEST_F(Time_Stamps, ComeAfterARollback) {
  Writable_Database db(file);
  db.write_timestamp(100);
  db.rollback();
  db.write_comment("1234567");  // as long as a timestamp entry
  db.soft_checkpoint();
  EXPECT_EQ(count(), 2u);
  EXPECT_GE(stamps(file).back(), start);
}

TEST_F(Time_Stamps, AreAskedForByAnError) {
  shop_1::Writable_Database db(file);
  db.new_item("spoon");
  db.hard_checkpoint();
  EXPECT_EQ(count(), 0u) << "bytes are those of joedb 10";
  EXPECT_EQ(error_of([&] { shop_1::Readonly_Database(file, joedb::at_time(start)); }),
            "memory has no time stamps. For those of the future, add the line "
            "timestamp_transactions to the .joedbc file of the program that writes it, or call "
            "write_timestamp()");
}

}  // namespace
}  // namespace timestamp_test
