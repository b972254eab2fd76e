#include "interpreter/interpreter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "joedb/io/memory_file.h"

namespace joedb {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using End = Command_Loop::End;

// A session of joedbi on a file in memory.
class Interpreter : public ::testing::Test {
 protected:
  End run(std::string_view commands, Command_Loop::Settings settings = {}) {
    Command_Loop loop(settings, [] { return std::string("prompt"); });
    add_commands(loop, database_, options_);
    out_.str("");
    Text_Line_Source lines(commands, out_);
    return loop.run(lines, out_);
  }

  std::string output(std::string_view commands) {
    run(commands);
    return out_.str();
  }

  std::vector<std::string> completions(std::string_view line) {
    Command_Loop loop({}, [] { return std::string(); });
    add_commands(loop, database_, options_);
    return loop.complete(line);
  }

  void TearDown() override { database_.rollback(); }

  Memory_File file_;
  Writable_Database database_{file_};
  Command_Options options_{.now = [] { return std::int64_t{1700000000}; }};
  std::ostringstream out_;
};

TEST_F(Interpreter, AnswersEachLine) {
  EXPECT_EQ(output("create_table t  \n\n  # remark\ncreate_table t"),
            "OK: create_table t\n"
            "OK: \n"
            "OK:   # remark\n"
            "Exception caught: create_table: name already used: t\n"
            "Line 4: create_table t\n");
}

TEST_F(Interpreter, ShowsThePromptBeforeEachLine) {
  run("create_table t\nquit\ncreate_table u\n", {.is_prompting = true});
  EXPECT_EQ(out_.str(),
            "\x1b[36mprompt> \x1b[0mOK: create_table t\n"
            "\x1b[36mprompt> \x1b[0mOK: quit\n");
}

TEST_F(Interpreter, SaysWhyItEnded) {
  EXPECT_EQ(run("create_table t"), End::end_of_input);
  EXPECT_EQ(run("quit\n"), End::quit);
  EXPECT_EQ(run("abort\n"), End::abort);
  EXPECT_EQ(run("nonsense\nquit\n"), End::quit);
  EXPECT_EQ(run("nonsense\nquit\n", {.is_bailing = true}), End::error);
}

TEST_F(Interpreter, KeepsWhatAFailingInsertDidBefore) {
  EXPECT_EQ(output("create_table t\nadd_field t a int8\nadd_field t b int8\necho off\n"
                   "insert_into t 0 5 x\ntable t\n"),
            "OK: create_table t\nOK: add_field t a int8\nOK: add_field t b int8\n"
            "Exception caught: failed parsing value\nLine 5: insert_into t 0 5 x\n"
            "-----\n  a b\n-----\n0 5 0\n");
}

TEST_F(Interpreter, DeletesOnlyWhatIsNamed) {
  EXPECT_EQ(output("echo off\ncreate_table t\ninsert_into t 0\ndelete_from t x\ndelete_from t\n"
                   "delete_from t 7\nrecord t 0\n"),
            "Exception caught: failed parsing value\nLine 4: delete_from t x\n"
            "Exception caught: failed parsing value\nLine 5: delete_from t\n"
            "Exception caught: delete_from: table t has no record 7\nLine 6: delete_from t 7\n"
            "id = 0; next = -2; previous = -2\n");
}

TEST_F(Interpreter, GivesExistingRecordsTheValueOfANewField) {
  EXPECT_EQ(output("echo off\ncreate_table t\ninsert_vector t 0 3\ndelete_from t 1\n"
                   "add_field t s string = \"a\\x62c\"\nadd_field t n int8 default 5\ntable t\n"),
            "---------\n  s     n\n---------\n0 \"abc\" 0\n2 \"abc\" 0\n");
}

TEST_F(Interpreter, StoresOnlyReferencesAndBlobsThatAFileCanHold) {
  EXPECT_EQ(output("echo off\ncreate_table t\nadd_field t r references t\nadd_field t b blob\n"
                   "insert_into t 0 -5 0,0\nupdate t 0 r 9223372036854775807\n"
                   "update t 0 b -1,5\ntable t\n"),
            "Exception caught: a reference is too big: 9223372036854775807\n"
            "Line 6: update t 0 r 9223372036854775807\n"
            "Exception caught: the position and the size of a blob can be neither negative nor "
            "that big\nLine 7: update t 0 b -1,5\n"
            "--------\n   r   b\n--------\n0 -1 0,0\n");
}

TEST_F(Interpreter, UpdatesVectors) {
  EXPECT_EQ(output("echo off\ncreate_table t\nadd_field t s string\ninsert_vector t 0 3\n"
                   "update_vector t 0 s 2 \"a\\x62\" b c\nupdate_vector t 2 s 2 a b\n"
                   "update_vector t 0 s 0\ntable t\n"),
            "Exception caught: update: invalid record_id\nLine 6: update_vector t 2 s 2 a b\n"
            "Exception caught: update: invalid record_id\nLine 7: update_vector t 0 s 0\n"
            "------\n  s   \n------\n0 \"ab\"\n1 \"b\" \n2 \"\"  \n");
}

TEST_F(Interpreter, ForgetsEverythingSinceTheCheckpointOnRollback) {
  EXPECT_EQ(output("echo off\ncreate_table t\ncheckpoint\ninsert_into t 0\ndrop_table t\n"
                   "create_table u\nflush\nrollback\nschema\ninsert_into t\ntable t\n"),
            "create_table t\n-\n \n-\n0\n");
  EXPECT_EQ(database_.get_journal().get_checkpoint(), 44);
}

TEST_F(Interpreter, TakesTheTimeFromItsOwner) {
  run("timestamp\ntimestamp soon\ntimestamp 5\nsoft_checkpoint\n");
  std::ostringstream out;
  Readonly_Journal journal(file_);
  struct Keeper : Ignore_Entries {
    using Ignore_Entries::operator();
    void operator()(const Timestamp& e) { seconds.push_back(e.seconds); }
    std::vector<std::int64_t> seconds;
  } keeper;
  journal.replay(keeper);
  EXPECT_THAT(keeper.seconds, ElementsAre(1700000000, 1700000000, 5));
}

TEST_F(Interpreter, ReadsBlobsThatAreNotInTheFileYet) {
  EXPECT_EQ(output("echo off\nwrite_blob \"bytes\"\nread_blob 43,5\nread_blob 0,0\n"),
            "43,5\n\"bytes\"\n");
  EXPECT_THAT(output("read_blob 43,6\n"), HasSubstr("Trying to read past the end of file"));
}

TEST_F(Interpreter, LimitsIds) {
  options_.max_record_id = 5;
  EXPECT_EQ(output("echo off\ncreate_table t\ninsert_into t 5\ninsert_into t 6\n"
                   "insert_vector t 0 5\ninsert_vector t 0 4\n"),
            "Exception caught: insert_into: too big\nLine 4: insert_into t 6\n"
            "Exception caught: insert_vector: null record_id, or too big\n"
            "Line 5: insert_vector t 0 5\n");
}

TEST_F(Interpreter, CompletesCommandsAndNames) {
  run("create_table city\ncreate_table street\nadd_field city name string\n");
  EXPECT_THAT(completions("create"), ElementsAre("create_table"));
  EXPECT_THAT(completions("insert_"), ElementsAre("insert_into", "insert_vector"));
  EXPECT_THAT(completions("table "), ElementsAre("city", "street"));
  EXPECT_THAT(completions("update c"), ElementsAre("city"));
  EXPECT_THAT(completions("update city 0 n"), ElementsAre("name"));
  EXPECT_THAT(completions("update city 0 x"), ElementsAre());
}

TEST_F(Interpreter, RunsATextUpToTheFirstError) {
  EXPECT_TRUE(run_text("create_table a\n", database_));
  EXPECT_FALSE(run_text("quit\ncreate_table b\n", database_));
  try {
    run_text("create_table c\n\ncreate_table c\ncreate_table d\n", database_);
    FAIL();
  } catch (const Exception& error) {
    EXPECT_STREQ(error.what(), "create_table: name already used: c\nLine 3: create_table c");
  }
  EXPECT_NE(database_.get_database().find_table("c"), nullptr);
  EXPECT_EQ(database_.get_database().find_table("d"), nullptr);
}

TEST(Text_Line_Source, CutsTextsIntoLines) {
  std::ostringstream out;
  const std::string long_line(200'000, 'x');
  const std::string text = "one\n\n" + long_line + "\nlast";
  Text_Line_Source lines(text, out);
  const auto next = [&] { return lines.next("> ", {}); };
  EXPECT_EQ(next(), "one");
  EXPECT_EQ(next(), "");
  EXPECT_EQ(next(), long_line);
  EXPECT_EQ(next(), "last");
  EXPECT_EQ(next(), std::nullopt);
  EXPECT_EQ(out.str(), "> > > > > ");
}

}  // namespace
}  // namespace joedb
