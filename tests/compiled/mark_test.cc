// Marks of the ends of transactions; and that an undo reverts only the requested changes.
#include <gtest/gtest.h>

#include "geo_1.h"
#include "joedb/history/changes.h"
#include "stamped.h"
#include "support/error_of.h"
#include "unmarked.h"

namespace mark_test {
namespace {

using joedb::testing::error_of;

// Lists entries of a file: v for a valid_data, t for a timestamp, and . for a new record.
std::string ends_in(joedb::Abstract_File& file) {
  struct Keeper : joedb::Ignore_Entries {
    using Ignore_Entries::operator();
    void operator()(const joedb::Valid_Data&) { text += 'v'; }
    void operator()(const joedb::Timestamp&) { text += 't'; }
    void operator()(const joedb::Insert&) { text += '.'; }
    std::string text;
  } keeper;
  joedb::Readonly_Journal(file).replay(keeper);
  return keeper.text;
}

template <class Client>
void write_three_times(joedb::Abstract_File& file) {
  Client client(file);
  client.transaction([](auto&) {});
  for (int i = 0; i < 3; ++i) client.transaction([](auto& db) { db.new_town("Oslo"); });
}

TEST(Marks, EndTransactionsWithoutAClientAsTheOptionsSay) {
  joedb::Memory_File marked, other_stamped, other_unmarked;
  {
    geo_1::Writable_Database db(marked);
    EXPECT_EQ(db.transaction([&] { return db.new_city("Oslo", 1); }).get_id(), 0);
    db.transaction([] {});
    const auto add = [&] {
      db.new_city("Bergen", 1);
      db.new_city("Paris", 2);
    };
    db.transaction(add);
    EXPECT_EQ(db.ahead_of_checkpoint(), 0);
    EXPECT_EQ(error_of<std::runtime_error>([&] {
                db.transaction([&] {
                  add();
                  throw std::runtime_error("too late");
                });
              }),
              "too late");
    EXPECT_EQ(db.get_city_table().get_size(), 3u);
    EXPECT_EQ(db.ahead_of_checkpoint(), 0);
    // Changes before it would be lost with it.
    db.new_city("Rome", 3);
    bool is_called = false;
    EXPECT_NE(error_of([&] { db.transaction([&] { is_called = true; }); }).find("checkpoint"),
              std::string::npos);
    EXPECT_FALSE(is_called);
    EXPECT_EQ(db.get_city_table().get_size(), 4u);
    db.soft_checkpoint();
    // So no transaction can be in another one.
    EXPECT_THROW(db.transaction([&] {
      add();
      db.transaction(add);
    }),
                 joedb::Exception);
    EXPECT_EQ(db.get_city_table().get_size(), 4u);
  }
  EXPECT_EQ(ends_in(marked), "v.v..v.");
  {
    stamped::Writable_Database db(other_stamped);
    db.transaction([&] { db.new_town("Oslo"); });
  }
  EXPECT_EQ(ends_in(other_stamped), "vt.t");
  {
    unmarked::Writable_Database db(other_unmarked);
    db.transaction([&] { db.new_town("Oslo"); });
  }
  EXPECT_EQ(ends_in(other_unmarked), "v.");
}

TEST(Marks, EndTransactionsOfClientsAsTheOptionsSay) {
  joedb::Memory_File marked, stamped, unmarked;
  {
    geo_1::Client client(marked);
    for (int i = 0; i < 3; ++i) client.transaction([](auto& db) { db.new_city("Oslo", 1); });
    client.transaction([](auto&) {});
  }
  EXPECT_EQ(ends_in(marked), "v.v.v.v");
  write_three_times<stamped::Client>(stamped);
  EXPECT_EQ(ends_in(stamped), "vt.t.t.t");
  write_three_times<unmarked::Client>(unmarked);
  EXPECT_EQ(ends_in(unmarked), "v...") << "that of the schema";
  write_three_times<unmarked::Client>(unmarked);
  EXPECT_EQ(ends_in(unmarked), "v......");
}

TEST(Marks, EndWhatOthersHaveLeft) {
  joedb::Memory_File file;
  const auto write = [&] {
    geo_1::Writable_Database db(file);
    for (int i = 0; i < 2; ++i) {
      db.new_city("Oslo", 1);
      db.soft_checkpoint();
    }
  };
  write();
  EXPECT_EQ(ends_in(file), "v..") << "a program without clients ends nothing of its own";
  write();
  EXPECT_EQ(ends_in(file), "v..v..");
  geo_1::Client client(file);
  client.transaction([](auto& db) { db.new_city("Rome", 1); });
  EXPECT_EQ(ends_in(file), "v..v..v.v");
}

TEST(Marks, AreNotInMemoryOrWhereNobodyElseWrites) {
  geo_1::Memory_Database db;
  for (int i = 0; i < 2; ++i) {
    db.new_city("Oslo", 1);
    db.soft_checkpoint();
    db.rollback();
  }
  joedb::Readonly_Memory_File file(db.get_data());
  EXPECT_EQ(ends_in(file), "v..");
}

TEST(An_Undo, RefusesWhatCannotBeToldApart) {
  geo_1::Memory_Database db;
  const auto oslo = db.new_city("Oslo", 1);
  db.soft_checkpoint();
  db.new_city("Rome", 2);
  db.soft_checkpoint();
  db.set_population(oslo, 5);
  db.soft_checkpoint();
  for (int i = 0; i < 2; ++i) {
    EXPECT_NE(error_of([&] { (void)db.undo_transaction(); }).find("no end of a transaction"),
              std::string::npos);
    EXPECT_NE(error_of([&] { (void)db.undo(); }).find("no end of a transaction"),
              std::string::npos);
    EXPECT_FALSE(db.can_undo());
  }
  EXPECT_EQ(db.get_city_table().get_size(), 2u);
  db.write_valid_data();
  db.set_population(oslo, 6);
  db.write_valid_data();
  db.soft_checkpoint();
  EXPECT_TRUE(db.undo_transaction().is_possible);
  EXPECT_EQ(db.get_population(oslo), 5);
}

TEST(An_Undo, TakesTheLastTransactionOfClients) {
  joedb::Memory_File file;
  geo_1::Client client(file);
  geo_1::id_of_city oslo;
  client.transaction([&](auto& db) { oslo = db.new_city("Oslo", 1); });
  client.transaction([](auto& db) { db.new_city("Rome", 2); });
  client.transaction([&](auto& db) { db.set_population(oslo, 9); });
  client.transaction([](auto& db) { EXPECT_TRUE(db.undo_transaction().is_possible); });
  EXPECT_EQ(client.get_database().get_population(oslo), 1);
  EXPECT_EQ(client.get_database().get_city_table().get_size(), 2u);
}

TEST(An_Undo, GoesOnAndBackAsAStack) {
  joedb::Memory_File file;
  geo_1::Client client(file);
  client.set_author("Ann");
  client.transaction("first", [](auto& db) { db.new_city("Oslo", 1); });
  client.transaction("second", [](auto& db) { db.new_city("Rome", 2); });
  client.transaction([](auto& db) { db.new_city("Lima", 3); });
  const auto names = [&] {
    std::string text;
    for (const auto city : client.get_database().get_city_table())
      text += client.get_database().get_name(city) + " ";
    return text;
  };
  const auto undo = [&](const std::string& author = "") {
    client.transaction([&](auto& db) {
      ASSERT_TRUE(db.can_undo(author));
      EXPECT_TRUE(db.undo(author).is_possible);
    });
  };
  undo("Ann");
  EXPECT_EQ(names(), "Oslo Lima ");
  undo();
  EXPECT_EQ(names(), "Oslo ");
  undo();
  EXPECT_EQ(names(), "");
  client.transaction([](auto& db) {
    EXPECT_FALSE(db.can_undo()) << "the tables were made there";
    EXPECT_TRUE(db.redo().is_possible);
    EXPECT_TRUE(db.redo().is_possible);
    EXPECT_TRUE(db.can_redo("Ann"));
  });
  EXPECT_EQ(names(), "Oslo Lima ");
  std::string comments;
  for (const auto& transaction : joedb::Summaries(file))
    if (!transaction.comments.empty()) comments += transaction.comments.front() + "; ";
  EXPECT_NE(comments.find("first; second; undo: second; undo: the transaction at "),
            std::string::npos)
      << comments;
}

}  // namespace
}  // namespace mark_test
