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
            "Error: create_table: name already used: t\n"
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

TEST_F(Interpreter, ChangesNothingIfALineCannotBeReadCompletely) {
  run("create_table t\nadd_field t a int8\nadd_field t s string\ninsert_vector t 0 3\n"
      "update t 0 a 1\nupdate t 0 s \"text\"\nsoft_checkpoint\n");
  const struct {
    const char* line;
    const char* error;
  } cases[] = {
      {"insert_into t 3 5 x y", "column 21: end of line expected, got `y`"},
      {"insert_into t 3 5", "column 18: string expected, got the end of the line"},
      {"insert_into t 3 fourty x", "column 17: int8 expected, got `fourty`"},
      {"insert_into t 3 200 x", "column 17: int8 expected, and `200` is out of range"},
      {"insert_into t 3 5 \"x", "column 19: this string has no closing quote"},
      {"insert_into t x", "column 15: record id expected, got `x`"},
      {"insert_into u", "column 13: No such table: u"},
      {"insert_into", "column 12: table name expected, got the end of the line"},
      {"update t 0 a 12,000", "column 14: int8 expected, got `12,000`"},
      {"update t 0 a", "column 13: int8 expected, got the end of the line"},
      {"update t 0 a 1 2", "column 16: end of line expected, got `2`"},
      {"update t 0 s two words", "column 18: end of line expected, got `words`"},
      {"update t 0 b 1", "column 12: table t has no field b"},
      {"update t first a 1", "column 10: record id expected, got `first`"},
      {"update_vector t 0 a 2 1", "column 24: int8 expected, got the end of the line"},
      {"update_vector t 0 a 2 1 2 3", "column 27: end of line expected, got `3`"},
      {"update_vector t 0 a two 1 2", "column 21: number of values expected, got `two`"},
      {"insert_vector t 3", "column 18: number of records expected, got the end of the line"},
      {"insert_vector t 3 1e3", "column 19: number of records expected, got `1e3`"},
      {"insert_vector t 3 1 1", "column 21: end of line expected, got `1`"},
      {"delete_vector t 0 all", "column 19: number of records expected, got `all`"},
      {"delete_vector t 0 1 1", "column 21: end of line expected, got `1`"},
      {"delete_from t", "column 14: record id expected, got the end of the line"},
      {"delete_from t x", "column 15: record id expected, got `x`"},
      {"delete_from t 0 1", "column 17: end of line expected, got `1`"},
      {"add_field t n int8 = many", "column 22: int8 expected, got `many`"},
      {"add_field t n int8 = 5 6", "column 24: end of line expected, got `6`"},
      {"add_field t n int8 default 5", "column 20: = or end of line expected, got `default`"},
      {"add_field t n number", "column 15: unknown type"},
      {"add_field t n references u", "column 26: unknown type"},
      {"create_table u v", "column 16: end of line expected, got `v`"},
      {"create_table", "column 13: name expected, got the end of the line"},
      {"drop_table t t", "column 14: end of line expected, got `t`"},
      {"drop_field t a a", "column 16: end of line expected, got `a`"},
      {"drop_field t b", "column 14: table t has no field b"},
      {"rename_table t u v", "column 18: end of line expected, got `v`"},
      {"rename_field t a b c", "column 20: end of line expected, got `c`"},
      {"custom a b", "column 10: end of line expected, got `b`"},
      {"timestamp soon", "column 11: seconds expected, got `soon`"},
      {"timestamp 5 6", "column 13: end of line or 1970-01-01 00:00:05 GMT expected, got `6`"},
      {"comment two words", "column 13: end of line expected, got `words`"},
      {"comment", "column 8: string expected, got the end of the line"},
      {"valid_data x", "column 12: end of line expected, got `x`"},
      {"hard_checkpoint x", "column 17: end of line expected, got `x`"},
      {"rollback x", "column 10: end of line expected, got `x`"},
      {"write_blob", "column 11: string expected, got the end of the line"},
      {"write_blob a b", "column 14: end of line expected, got `b`"},
      {"read_blob 5", "column 11: blob (POSITION,SIZE) expected, got `5`"},
      {"read_blob 0,0 file x", "column 20: end of line expected, got `x`"},
      {"table t wide", "column 9: width expected, got `wide`"},
      {"table t -1", "column 9: width expected, and `-1` is out of range"},
      {"table t 0 0 0 0", "column 15: end of line expected, got `0`"},
      {"record t x", "column 10: record id expected, got `x`"},
      {"json yes", "column 6: 0 or 1 expected, got `yes`"},
      {"schema t", "column 8: end of line expected, got `t`"},
      {"dump t", "column 6: end of line expected, got `t`"},
      {"sql t", "column 5: end of line expected, got `t`"},
      {"quit now", "column 6: end of line expected, got `now`"},
      {"abort now", "column 7: end of line expected, got `now`"},
      {"echo loudly", "column 6: on or off expected, got `loudly`"},
      {"prompt", "column 7: on or off expected, got the end of the line"},
      {"about x", "column 7: end of line expected, got `x`"},
  };
  const Offset position = database_.get_journal().get_position();
  const std::string before = output("dump\n");
  for (const auto& c : cases) {
    const std::string line(c.line);
    EXPECT_EQ(output(line), std::string("Error: ") + c.error + "\nLine 1: " + line + '\n');
    EXPECT_EQ(database_.get_journal().get_position(), position) << line;
  }
  EXPECT_EQ(output("dump\n"), before);
}

TEST_F(Interpreter, ReadsAsTheOriginalIfItIsClassic) {
  run("echo off\ncreate_table t\nadd_field t a int8\nadd_field t b int8\n"
      "insert_into t 0 5 x\nupdate t 0 b fourty 3\ntable t\nquit now\n",
      {.is_classic = true});
  EXPECT_EQ(out_.str(),
            "Exception caught: failed parsing value\nLine 5: insert_into t 0 5 x\n"
            "-----\n  a b\n-----\n0 5 0\n");
}

TEST_F(Interpreter, CountsTheCommandsThatFail) {
  Command_Loop loop({}, [] { return std::string(); });
  add_commands(loop, database_, options_);
  Text_Line_Source lines("create_table t\nnonsense\ninsert_into t x\n", out_);
  loop.run(lines, out_);
  EXPECT_EQ(loop.failures().count, 2u);
  EXPECT_EQ(loop.failures().line_number, 3u);
  EXPECT_EQ(loop.failures().message(),
            "column 15: record id expected, got `x`\nLine 3: insert_into t x");
}

TEST_F(Interpreter, DeletesOnlyWhatIsThere) {
  EXPECT_EQ(output("echo off\ncreate_table t\ninsert_into t 0\ndelete_from t 7\nrecord t 0\n"),
            "Error: delete_from: table t has no record 7\nLine 4: delete_from t 7\n"
            "id = 0; next = -2; previous = -2\n");
}

TEST_F(Interpreter, GivesExistingRecordsTheValueOfANewField) {
  EXPECT_EQ(output("echo off\ncreate_table t\ninsert_vector t 0 3\ndelete_from t 1\n"
                   "add_field t s string = \"a\\x62c\"\nadd_field t n int8\ntable t\n"),
            "---------\n  s     n\n---------\n0 \"abc\" 0\n2 \"abc\" 0\n");
}

TEST_F(Interpreter, StoresOnlyReferencesAndBlobsThatAFileCanHold) {
  EXPECT_EQ(output("echo off\ncreate_table t\nadd_field t r references t\nadd_field t b blob\n"
                   "insert_into t 0 -1 0,0\nupdate t 0 r 9223372036854775807\n"
                   "update t 0 r -2\nupdate t 0 b -1,5\ntable t\n"),
            "Error: column 14: a reference is too big: 9223372036854775807\n"
            "Line 6: update t 0 r 9223372036854775807\n"
            "Error: column 14: record id or -1 expected, got `-2`\nLine 7: update t 0 r -2\n"
            "Error: column 14: the position and the size of a blob can be neither negative nor "
            "that big\nLine 8: update t 0 b -1,5\n"
            "--------\n   r   b\n--------\n0 -1 0,0\n");
}

TEST_F(Interpreter, UpdatesVectors) {
  EXPECT_EQ(output("echo off\ncreate_table t\nadd_field t s string\ninsert_vector t 0 3\n"
                   "update_vector t 0 s 2 \"a\\x62\" b\nupdate_vector t 2 s 2 a b\n"
                   "update_vector t 0 s 0\ntable t\n"),
            "Error: update: invalid record_id\nLine 6: update_vector t 2 s 2 a b\n"
            "Error: update: invalid record_id\nLine 7: update_vector t 0 s 0\n"
            "------\n  s   \n------\n0 \"ab\"\n1 \"b\" \n2 \"\"  \n");
}

TEST_F(Interpreter, ForgetsEverythingSinceTheCheckpointOnRollback) {
  EXPECT_EQ(output("echo off\ncreate_table t\ncheckpoint\ninsert_into t 0\ndrop_table t\n"
                   "create_table u\nflush\nrollback\nschema\ninsert_into t\ntable t\n"),
            "create_table t\n-\n \n-\n0\n");
  EXPECT_EQ(database_.get_journal().get_checkpoint(), 44);
}

TEST_F(Interpreter, TakesTheTimeFromItsOwner) {
  run("timestamp\ntimestamp 5 1970-01-01 00:00:05 GMT\nsoft_checkpoint\n");
  std::ostringstream out;
  Readonly_Journal journal(file_);
  struct Keeper : Ignore_Entries {
    using Ignore_Entries::operator();
    void operator()(const Timestamp& e) { seconds.push_back(e.seconds); }
    std::vector<std::int64_t> seconds;
  } keeper;
  journal.replay(keeper);
  EXPECT_THAT(keeper.seconds, ElementsAre(1700000000, 5));
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
            "Error: column 15: insert_into: too big\nLine 4: insert_into t 6\n"
            "Error: insert_vector: null record_id, or too big\n"
            "Line 5: insert_vector t 0 5\n");
}

// 16,777,216 rows without values, together.
TEST_F(Interpreter, MakesNoMoreRecordsThanCanBeReadBack) {
  run("create_table t\nadd_field t a int8\n");
  for (const char* line :
       {"insert_vector t 5 1000000000000", "insert_vector t 0 16777217",
        "insert_vector t 16777216 1", "insert_vector t 1000000000000 1",
        "insert_into t 1000000000000", "insert_vector t 9223372036854775807 9223372036854775807"})
    EXPECT_THAT(output(line), HasSubstr("too big")) << line;
  EXPECT_EQ(output("insert_vector t 0 16777216\nsoft_checkpoint\n"),
            "OK: insert_vector t 0 16777216\nOK: soft_checkpoint\n");
  EXPECT_THAT(output("insert_vector t 16777216 1\n"), HasSubstr("too big"));
  Writable_Database again(file_);
  EXPECT_EQ(again.get_database().find_table("t")->records().size(), 16777216);
}

TEST_F(Interpreter, MakesMoreRecordsForWhoPromisesValues) {
  options_.max_record_id = 20'000'000;
  EXPECT_EQ(output("create_table t\ninsert_vector t 0 19999999\n"),
            "OK: create_table t\nOK: insert_vector t 0 19999999\n");
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
