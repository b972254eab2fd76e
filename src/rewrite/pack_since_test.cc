#include "rewrite/pack_since.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "joedb/history/changes.h"
#include "joedb/table/load.h"
#include "support/city_test.h"
#include "support/error_of.h"
#include "support/exact_state.h"

namespace joedb::pack_since_test {
namespace {

using ::testing::HasSubstr;
using testing::Random;
using testing::Stepping_Database;

void pack(Abstract_File& file, const Pack_Since& options, Memory_File& out) {
  Writable_Journal packed(out);
  try {
    pack_since(file, options, packed);
  } catch (...) {
    packed.rollback();
    throw;
  }
  packed.soft_checkpoint();
}

// ---- stories ------------------------------------------------------------------------------------

class Pack_Since_Test : public testing::City_Test {
 protected:
  Memory_File& pack(Moment since, Offset end) {
    pack_since_test::pack(file, {.since = since, .end = end}, out_);
    return out_;
  }
  static std::vector<std::string> comments(Abstract_File& file) {
    std::vector<std::string> result;
    for (const Transaction_Summary& transaction : Summaries(file)) {
      std::string text;
      for (const std::string& comment : transaction.comments) text += comment + ';';
      if (transaction.has_own_time) text += " at " + std::to_string(*transaction.time);
      result.push_back(text);
    }
    return result;
  }
  Memory_File out_;
};

TEST_F(Pack_Since_Test, SaysWhatItHasLeftOutAndWhenThatWas) {
  db.write(Timestamp{1000});
  db.write(Comment{"second"});
  set(0, "Bergen");
  db.write(Timestamp{2000});
  const Offset since = checkpoint();
  db.write(Comment{"third"});
  set(0, "Oslo again");
  db.write(Timestamp{3000});
  const Offset end = checkpoint();
  EXPECT_EQ(comments(pack(at_time(2500), end)),
            (std::vector<std::string>{"packed: 2 transactions before 1970-01-01 00:41:40Z "
                                      "(position " +
                                          std::to_string(since) + ") are one state; at 2000",
                                      "third; at 3000"}));
}

TEST_F(Pack_Since_Test, WhereNothingHasAnEndCommentsStillDivideTheRest) {
  const Offset since = checkpoint();
  db.write(Comment{"second"});
  set(0, "Bergen");
  db.write(Comment{"third"});
  set(0, "Oslo");
  const Offset end = checkpoint();
  EXPECT_EQ(comments(pack(at(since), end)),
            (std::vector<std::string>{
                "packed: 1 transaction before position " + std::to_string(since) + " is one state;",
                "second;", "third;"}));
}

TEST_F(Pack_Since_Test, OfNothingItIsACopy) {
  const Offset end = checkpoint();
  const auto entries = [](const Memory_File& f) {
    return std::string(f.get_data().begin() + journal_start, f.get_data().end());
  };
  EXPECT_EQ(entries(pack(at(journal_start), end)), entries(file));
}

TEST_F(Pack_Since_Test, LeavesOutBlobsThatNothingRefersTo) {
  const Field_Id picture(3);
  db.write(Add_Field{city, "picture", {Type_Code::blob, {}}});
  db.write_blob("nobody's blob");
  db.write(Update<Blob>{city, Record_Id(0), picture, db.write_blob("old picture")});
  db.write(Update<Blob>{city, Record_Id(0), picture, db.write_blob("new picture")});
  const Blob later = db.write_blob("later picture");
  const Offset since = checkpoint();
  db.write(Update<Blob>{city, Record_Id(1), picture, later});
  const std::vector<char>& data = pack(at(since), checkpoint()).get_data();
  const std::string_view bytes(data.data(), data.size());
  EXPECT_THAT(bytes, HasSubstr("new picture"));
  EXPECT_THAT(bytes, HasSubstr("later picture"));
  EXPECT_EQ(bytes.find("nobody"), std::string_view::npos);
  EXPECT_EQ(bytes.find("old picture"), std::string_view::npos);
}

TEST_F(Pack_Since_Test, LeavesOutDeletedValuesAlsoOfIdsThatAreUsedAgain) {
  insert(2, "a deleted city", 3);
  insert(3, "another city", 3);
  erase(2);
  erase(3);
  const Offset since = checkpoint();
  db.write(Insert{city, Record_Id(3)});
  const std::vector<char>& data = pack(at(since), checkpoint()).get_data();
  const std::string_view bytes(data.data(), data.size());
  EXPECT_EQ(bytes.find("a deleted city"), std::string_view::npos);
  EXPECT_EQ(bytes.find("another city"), std::string_view::npos);
}

TEST_F(Pack_Since_Test, RefusesPlacesThatAreNone) {
  const Offset end = checkpoint();
  EXPECT_THAT(testing::error_of([&] { pack(at(end + 1), end); }), HasSubstr("has no position"));
  EXPECT_THAT(testing::error_of([&] { pack(at(end - 1), end); }), HasSubstr("inside of an entry"));
  EXPECT_THAT(testing::error_of([&] { pack(at(end), end - 3); }), HasSubstr("is behind the end"));
}

TEST_F(Pack_Since_Test, RefusesWhatNobodyCouldRead) {
  // The journal is long enough for its many ids. Without the old values, it would be too short for
  // them.
  constexpr index_t rows = 17'000'000;
  db.write(Insert_Vector{city, Record_Id(2), rows});
  db.write_vector<std::int32_t>(city, Record_Id(2), size,
                                std::vector<std::int32_t>(static_cast<std::size_t>(rows)));
  db.write(Delete_Vector{city, Record_Id(2), rows - 1});
  const Offset since = checkpoint();
  EXPECT_THAT(testing::error_of([&] { pack(at(since), since); }),
              HasSubstr("the result could not be read"));
}

// ---- random histories ---------------------------------------------------------------------------

void expect_same_states(Memory_File& file, Offset since, Offset end, Memory_File& packed) {
  Stepping_Database before(file, Deleted_Values::reset), after(packed, Deleted_Values::reset);
  before.go_to(since);
  const std::size_t kept = testing::entry_count(file, since) - testing::entry_count(file, end);
  const std::size_t all = testing::entry_count(packed, journal_start);
  ASSERT_LE(kept, all);
  for (std::size_t i = kept; i < all; ++i) after.step();
  ASSERT_EQ(after.state(), before.state());
  for (std::size_t i = 0; i < kept; ++i) {
    ASSERT_TRUE(before.step());
    ASSERT_TRUE(after.step());
    ASSERT_EQ(after.state(), before.state()) << "at " << before.position();
  }
  ASSERT_EQ(before.position(), end);
  ASSERT_TRUE(after.is_at_end());
}

// Returns the state with its indexes, because their content depends on which values were written.
std::string indexed_state(Memory_File& file, Offset end) {
  Database database;
  const Table_Id table(1);
  const Field_Id i(1), s(2);
  database.add_index({"by_i", table, {i}});
  database.add_index({"by_s_i", table, {s, i}});
  Readonly_Journal journal(file);
  load(database, journal, end);
  return testing::exact_state(database, file);
}

void expect_same_transactions(Memory_File& file, Offset since, Offset end, Memory_File& packed) {
  std::vector<Transaction_Summary> before, after;
  for (const auto& transaction : Summaries(file, journal_start, end)) before.push_back(transaction);
  for (const auto& transaction : Summaries(packed)) after.push_back(transaction);
  // Keep the transactions that begin at or after `since`.
  std::erase_if(before, [&](const auto& transaction) { return transaction.begin < since; });
  ASSERT_LE(before.size(), after.size());
  for (std::size_t i = 1; i <= before.size(); ++i) {
    const Transaction_Summary &a = before[before.size() - i], &b = after[after.size() - i];
    ASSERT_EQ(a.comments, b.comments);
    ASSERT_EQ(a.author, b.author);
    ASSERT_EQ(a.time, b.time);
    ASSERT_EQ(a.is_complete, b.is_complete);
    ASSERT_EQ(a.blob_bytes, b.blob_bytes);
    ASSERT_EQ(a.tables.size(), b.tables.size());
  }
}

TEST(Pack_Since, KeepsEveryLaterState) {
  for (std::uint64_t seed = testing::first_seed(); seed < testing::first_seed() + 60; ++seed) {
    SCOPED_TRACE("JOEDB_TEST_SEED=" + std::to_string(seed));
    Random random(seed);
    Memory_File file, packed, in_parts;
    const std::vector<Offset> positions = testing::write_history(random, file);
    const std::size_t since = random.below(positions.size());
    const std::size_t end = since + random.below(positions.size() - since);
    const Pack_Since options{.since = at(positions[since]), .end = positions[end]};
    pack(file, options, packed);
    expect_same_states(file, positions[since], positions[end], packed);
    const auto packed_end = static_cast<Offset>(packed.get_data().size());
    ASSERT_EQ(indexed_state(packed, packed_end), indexed_state(file, positions[end]));
    expect_same_transactions(file, positions[since], positions[end], packed);
    if (::testing::Test::HasFatalFailure()) return;
    // The memory limit must not affect the result.
    pack(file, {.since = options.since, .end = options.end, .memory = random.below(2000)},
         in_parts);
    ASSERT_EQ(in_parts.get_data(), packed.get_data());
  }
}

}  // namespace
}  // namespace joedb::pack_since_test
