#include "history/requests.h"

#include <gtest/gtest.h>

#include "history/log_view.h"
#include "joedb/io/memory_file.h"
#include "joedb/table/writable_database.h"
#include "support/error_of.h"

namespace joedb::requests_test {
namespace {

constexpr std::int64_t now = 1'795'000'000;  // 2026-11-18
constexpr Table_Id city(1);
constexpr Field_Id name(1);

class Requests_Test : public ::testing::Test {
 protected:
  Requests_Test() {
    database_.write(Create_Table{"city"});
    database_.write(Add_Field{city, "name", {Type_Code::string, {}}});
    first_ = end(now);
    database_.write(Insert{city, Record_Id(0)});
    set("Oslo");
    second_ = end(now + 10);
    set("Lima");
    third_ = end(now + 20);
  }

  void set(std::string_view value) {
    database_.write(Update<std::string_view>{city, Record_Id(0), name, value});
  }
  Offset end(std::int64_t time) {
    database_.write(Timestamp{time});
    return checkpoint();
  }
  Offset checkpoint() {
    database_.soft_checkpoint();
    return std::as_const(database_).get_journal().get_checkpoint();
  }
  const Database& content() const { return std::as_const(database_).get_database(); }
  std::string value() const {
    return std::string(
        static_cast<const Column<std::string_view>&>(*content().table(city).fields()[0].column)
            .get(0));
  }
  When when(const std::string& text) const { return *parse_when(text, now); }
  Transaction_Info write(const Transaction_Content& wanted) {
    const Plan plan = plan_changes(content(), wanted.changes);
    EXPECT_TRUE(plan.is_possible);
    const Transaction_Info info = write_transaction(database_, wanted, plan, "Ann", now + 100);
    database_.soft_checkpoint();
    return info;
  }

  Memory_File file_;
  Writable_Database database_{file_};
  Offset first_, second_, third_;
};

TEST_F(Requests_Test, ShowFindsThePositionTheTimeOrTheLast) {
  EXPECT_EQ(find_transaction_at(file_, when(std::to_string(second_)), Recovery::none).end, second_);
  EXPECT_EQ(find_transaction_at(file_, when(std::to_string(second_ - 1)), Recovery::none).end,
            second_);
  EXPECT_EQ(find_transaction_at(file_, When{"", at_time(now + 15)}, Recovery::none).end, second_);
  EXPECT_EQ(find_transaction_at(file_, {}, Recovery::none).end, third_);
  EXPECT_NE(testing::error_of([&] {
              find_transaction_at(file_, when("41"), Recovery::none);
            }).find("no transaction has the position 41"),
            std::string::npos);
}

TEST_F(Requests_Test, AnUndoIsUndoneByAnother) {
  const Transaction_Content undo = undo_changes(file_, {}, {});
  EXPECT_EQ(undo.comment, "undo: the transaction at " + std::to_string(third_));
  const Transaction_Info info = write(undo);
  EXPECT_EQ(value(), "Oslo");
  const Transaction_Summary written = find_transaction_at(file_, {}, Recovery::none);
  EXPECT_EQ(written.begin, info.begin);
  EXPECT_EQ(written.end, info.end);
  EXPECT_EQ(written.author, "Ann");
  EXPECT_EQ(written.comments, info.comments);
  EXPECT_EQ(written.time, now + 100);
  const Transaction_Content redo = undo_changes(file_, {}, {});
  EXPECT_TRUE(redo.comment.starts_with("redo: ")) << redo.comment;
  write(redo);
  EXPECT_EQ(value(), "Lima");
}

TEST_F(Requests_Test, WhatHasNoEndIsNoPartOfTheNewTransaction) {
  set("Rome");
  const Offset unfinished = checkpoint();
  EXPECT_NE(
      testing::error_of([&] { undo_changes(file_, {}, {}); }).find("has no end of a transaction"),
      std::string::npos)
      << "others may have written several";
  const Transaction_Info info = write(undo_changes(file_, {}, {}, Unfinished::transaction));
  EXPECT_EQ(value(), "Lima");
  const Transaction_Summary before =
      find_transaction_at(file_, when(std::to_string(unfinished)), Recovery::none);
  EXPECT_TRUE(before.is_complete);
  EXPECT_EQ(before.end, info.begin);
}

TEST_F(Requests_Test, ARangeHasTwoOpenEnds) {
  const Moment_Range range = parse_range("..v1", now);
  EXPECT_FALSE(range.from);
  EXPECT_EQ(range.to->text, "v1");
  EXPECT_FALSE(parse_range("2026-01-01..", now).to);
  for (const char* const text : {"12", "a b..", "..-5", "", "1...2"})
    EXPECT_NE(testing::error_of([&] { parse_range(text, now); }), "no error") << text;
}

TEST_F(Requests_Test, RevertTakesAllBackUnlessATransactionIsDivided) {
  const std::string to_second = "" + std::to_string(first_) + "..";
  write(revert_changes(file_, parse_range(to_second, now), {}));
  EXPECT_FALSE(content().table(city).is_used(Record_Id(0)));
  const std::string inside = std::to_string(first_ - 9) + "..";
  EXPECT_NE(testing::error_of([&] {
              revert_changes(file_, parse_range(inside, now), {});
            }).find("is inside of the transaction"),
            std::string::npos);
}

TEST_F(Requests_Test, RestoreTakesTheValuesOfATag) {
  Transaction_Content tag;
  tag.comment = tag_comment(file_, "v1", when(std::to_string(second_)), false);
  write(tag);
  write(restore_changes(file_, content(), {"city", Record_Id(0), when("v1")}, {}));
  EXPECT_EQ(value(), "Oslo");
  EXPECT_NE(testing::error_of([&] {
              restore_changes(file_, content(), {"city", Record_Id(7), when("v1")}, {});
            }).find("there was no record 7 of city at v1"),
            std::string::npos);
}

TEST_F(Requests_Test, RestoreConflictsWithAnotherRecordThatHasGotTheId) {
  database_.write(Delete{city, Record_Id(0)});
  database_.write(Insert{city, Record_Id(0)});
  set("Rome");
  end(now + 30);
  const Transaction_Content wanted =
      restore_changes(file_, content(), {"city", Record_Id(0), when(std::to_string(second_))}, {});
  const Plan plan = plan_changes(content(), wanted.changes);
  EXPECT_FALSE(plan.is_possible);
  ASSERT_EQ(plan.conflicts.size(), 1u);
  EXPECT_EQ(plan.conflicts[0].kind, Change_Conflict::Kind::record_present);
  EXPECT_EQ(value(), "Rome");
  write_transaction(database_, wanted, plan_changes(content(), wanted.changes, Conflicts::theirs),
                    "Ann", now + 40);
  EXPECT_EQ(value(), "Oslo");
}

TEST_F(Requests_Test, ATagIsReplacedOnlyIfThatIsAllowed) {
  Transaction_Content tag;
  tag.comment = tag_comment(file_, "v1", {}, false);
  EXPECT_EQ(tag.comment, tag_text("v1", third_));
  write(tag);
  EXPECT_NE(testing::error_of([&] {
              tag_comment(file_, "v1", {}, false);
            }).find("there is a tag v1 of position " + std::to_string(third_)),
            std::string::npos);
  EXPECT_EQ(tag_comment(file_, "v1", when(std::to_string(first_)), true), tag_text("v1", first_));
  EXPECT_EQ(tag_removal_comment(file_, "v1"), "tag: v1");
  for (const char* const bad : {"", "12", "a b"})
    EXPECT_NE(testing::error_of([&] { tag_comment(file_, bad, {}, false); }), "no error");
  EXPECT_NE(testing::error_of([&] {
              tag_comment(file_, "v2", when(std::to_string(first_ + 1)), false);
            }).find("inside of an entry"),
            std::string::npos);
}

TEST_F(Requests_Test, ALogIsLimitedByPositionsAndTimes) {
  struct Ends : Transaction_Output {
    void print(const Transaction_Summary& summary) override { ends.push_back(summary.end); }
    void print(const Transaction& transaction) override { ends.push_back(transaction.end); }
    std::vector<Offset> ends;
  };
  const auto shown = [&](const Log_Request& request) {
    Ends ends;
    Log_View(file_, request).print(ends);
    return ends.ends;
  };
  using Offsets = std::vector<Offset>;
  const auto time = [](std::int64_t seconds) { return When{"", at_time(seconds)}; };
  EXPECT_EQ(shown({}), (Offsets{third_, second_, first_}));
  EXPECT_EQ(shown({.since = When{"", at(first_)}}), (Offsets{third_, second_}));
  EXPECT_EQ(shown({.until = When{"", at(second_)}}), (Offsets{second_, first_}));
  EXPECT_EQ(shown({.since = time(now + 10), .until = time(now + 10)}), Offsets{second_});
  EXPECT_EQ(shown({.max = 2, .has_changes = true, .is_reverse = true}), (Offsets{second_, third_}));
  end(now + 30);  // ends a transaction without content
  EXPECT_EQ(shown({}), (Offsets{third_, second_, first_}));
}

}  // namespace
}  // namespace joedb::requests_test
