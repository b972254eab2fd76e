#include "commands/interpreter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "joedb/io/memory_file.h"

namespace joedb {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using End = Command_Loop::End;

// The fixture: a session of joedbi on a file in memory.
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
    std::vector<std::string> words;
    for (const auto& [word, note] : loop.complete(line).candidates)
      words.push_back(note.empty() ? word : word + " (" + note + ")");
    return words;
  }

  // Creates two tables, and inserts two cities and two people.
  void make_people() {
    run("create_table city\nadd_field city name string\nadd_field city size int32\n"
        "create_table person\nadd_field person age int8\nadd_field person name string\n"
        "add_field person home references city\nadd_field person is_member boolean\n"
        "insert_into city 0 Lyon 500\ninsert_into city 1 Lisbon 545\n"
        "insert_into person 0 36 \"Ada\" 1 true\ninsert_into person 1 44 \"Bob\" -1 false\n"
        "insert_into person 2 85 \"Cleo\" 7 false\n");
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
      {"delete_vector t 0 1 1", "column 21: end of line or alone expected, got `1`"},
      {"delete_from t", "column 14: record id expected, got the end of the line"},
      {"delete_from t x", "column 15: record id expected, got `x`"},
      {"delete_from t 0 1", "column 17: end of line or alone expected, got `1`"},
      {"add_field t n int8 = many", "column 22: int8 expected, got `many`"},
      {"add_field t n int8 = 5 6", "column 24: end of line expected, got `6`"},
      {"add_field t n int8 default 5", "column 20: = or end of line expected, got `default`"},
      {"add_field t n number",
       "column 15: unknown type: number; string, boolean, int8, int16, int32, int64, float32, "
       "float64, blob, date, timestamp, duration, decimal, enum, bytes, uuid, json, or references "
       "TABLE expected"},
      {"add_field t n TEXT", "column 15: unknown type: TEXT. Did you mean string?"},
      {"add_field t n strung", "column 15: unknown type: strung. Did you mean string?"},
      {"add_field t n references u", "column 26: No such table: u"},
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

TEST_F(Interpreter, DeletesAloneWithoutWhatFollows) {
  EXPECT_EQ(output("echo off\ncreate_table c\ncreate_table p\n"
                   "add_field p home references c on_delete cascade\ninsert_vector c 0 3\n"
                   "insert_into p 0 0\ninsert_into p 1 2\ndelete_from c 0 alone\n"
                   "delete_vector c 1 2 alone\ntable p\ntable c\n"),
            "------\n  home\n------\n0    0\n1    2\n-\n \n-\n");
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

// The limit is 16,777,216 records without values in total.
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

TEST_F(Interpreter, CompletesWhatTheArgumentMayBe) {
  make_people();
  const struct {
    const char* line;
    std::vector<std::string> words;
  } cases[] = {
      {"record city ", {"0 (Lyon)", "1 (Lisbon)"}},
      {"record person 2", {"2 (Cleo)"}},
      {"update person 0 home ", {"-1 (none)", "0 (Lyon)", "1 (Lisbon)"}},
      {"update person 0 home 1", {"1 (Lisbon)"}},
      {"update person 0 home Li", {"1 (Lisbon)"}},
      {"update person 0 home L", {"0 (Lyon)", "1 (Lisbon)"}},
      {"record person Cl", {"2 (Cleo)"}},
      {"record person -", {}},
      {"update person 0 is_member ", {"true", "false"}},
      {"update person 0 age ", {}},
      {"insert_into person ", {"3"}},
      {"insert_into person 3 36 \"A B\" ", {"-1 (none)", "0 (Lyon)", "1 (Lisbon)"}},
      {"insert_into person 3 36 \"A ", {}},
      {"update_vector person 0 is_member 2 true f", {"false"}},
      {"add_field person x re", {"references"}},
      {"add_field person x references ", {"city", "person"}},
      {"add_field person x references city ", {"="}},
      {"add_field person x references city = 1", {"1 (Lisbon)"}},
      {"add_field person x boolean = t", {"true"}},
      {"create_table ", {}},
      {"help rec", {"record"}},
      {"set ", {"references", "limit", "pager"}},
      {"set references ", {"names", "ids"}},
      {"find person na", {"name"}},
      {"find person name b", {"begins"}},
      {"find person home = ", {"-1 (none)", "0 (Lyon)", "1 (Lisbon)"}},
      {"find person age > 5 name begins x i", {"is_member"}},
      {".schema ", {}},
      {"nonsense ", {}},
      {"update nonsense ", {}},
      {"find nonsense a ", {}},
  };
  for (const auto& c : cases) EXPECT_EQ(completions(c.line), c.words) << c.line;
}

TEST_F(Interpreter, CompletesNotTooManyIds) {
  run("create_table t\ninsert_vector t 0 1000000\ndelete_vector t 0 900000\n");
  Command_Loop loop({}, [] { return std::string(); });
  add_commands(loop, database_, options_);
  EXPECT_TRUE(loop.complete("record t ").is_cut);
  const Completions some = loop.complete("record t 99999");
  EXPECT_FALSE(some.is_cut);
  EXPECT_EQ(some.candidates.size(), 10u);
  EXPECT_EQ(loop.complete("record t 9").candidates.size(), Completions::most);
}

TEST_F(Interpreter, SuggestsWhatWasMeant) {
  make_people();
  EXPECT_EQ(output("tabel city\n"),
            "Error: Unknown command. For a list of available commands, try \"help\". Did you mean "
            "table?\nLine 1: tabel city\n");
  EXPECT_THAT(output("table ctiy\n"), HasSubstr("No such table: ctiy. Did you mean city?"));
  EXPECT_THAT(output("insert_into ctiy\n"), HasSubstr("Did you mean city?"));
  EXPECT_THAT(output("update city 0 nmae x\n"), HasSubstr("no field nmae. Did you mean name?"));
  run("tabel city\ntable ctiy\nfind city name x\nexit\n", {.is_classic = true});
  EXPECT_EQ(out_.str(),
            "Exception caught: Unknown command. For a list of available commands, try \"help\".\n"
            "Line 1: tabel city\nException caught: No such table: ctiy\nLine 2: table ctiy\n"
            "Exception caught: Unknown command. For a list of available commands, try \"help\".\n"
            "Line 3: find city name x\n"
            "Exception caught: Unknown command. For a list of available commands, try \"help\".\n"
            "Line 4: exit\n");
}

TEST_F(Interpreter, ExplainsEachCommandWithExamplesThatWork) {
  for (const Command_Help& help : interpreter_help()) {
    if (help.name == "read_blob") continue;  // it writes a file
    Memory_File file;
    Writable_Database database(file);
    Command_Loop loop({}, [] { return std::string(); });
    add_commands(loop, database, options_);
    const std::string prepare =
        "create_table person\nadd_field person name string\nadd_field person age int32\n"
        "add_field person boss references person\ninsert_into person 0 \"Ada\" 36 -1\n"
        "insert_into person 1 \"Charles\" 44 0\ninsert_into person 2 \"Grace\" 85 0\n";
    const std::string commands =
        prepare + std::string(help.examples) + "help " + std::string(help.name) + '\n';
    Text_Line_Source lines(commands, out_);
    loop.run(lines, out_);
    EXPECT_FALSE(help.examples.empty());
    EXPECT_EQ(loop.failures().count, 0u) << help.name << ": " << loop.failures().message();
    database.rollback();
  }
}

TEST_F(Interpreter, FindsRecordsByConditions) {
  make_people();
  run("create_table n\nadd_field n x float64\ninsert_into n 0 -1\ninsert_into n 1 2\n");
  const auto found = [&](const std::string& conditions) {
    std::istringstream shown(output("echo off\nfind " + conditions + "\n"));
    std::string ids;
    for (std::string line; std::getline(shown, line);)
      if (line.find_first_of("0123456789") < 2) ids += line.substr(0, line.find(' ')) + ' ';
    return ids;
  };
  EXPECT_EQ(found("person name Ada"), "0 ");
  EXPECT_EQ(found("person age > 36"), "1 2 ");
  EXPECT_EQ(found("person age >= 36 age < 85"), "0 1 ");
  EXPECT_EQ(found("person age <= 44 name begins \"B\""), "1 ");
  EXPECT_EQ(found("person name contains o"), "1 2 ");
  EXPECT_EQ(found("person name != Bob"), "0 2 ");
  EXPECT_EQ(found("person home -1"), "1 ");
  EXPECT_EQ(found("person is_member true"), "0 ");
  EXPECT_EQ(found("n x < 0"), "0 ");
  EXPECT_EQ(found("n x = 7"), "");
  EXPECT_THAT(output("find person name\n"), HasSubstr("column 17: string expected"));
  EXPECT_THAT(output("find person\n"), HasSubstr("column 12: field name expected"));
  EXPECT_THAT(output("find person age contains 3\n"), HasSubstr("contains is for strings"));
  EXPECT_THAT(output("find persn age 3\n"), HasSubstr("Did you mean person?"));
}

TEST_F(Interpreter, FindsTheSameWithAnIndex) {
  Memory_File file;
  Writable_Database database(file, Recovery::none, Deleted_Values::keep,
                             {{"by_age", Table_Id(1), {Field_Id(1)}}});
  Command_Loop loop({.is_echoing = false}, [] { return std::string(); });
  add_commands(loop, database, options_);
  const auto shown_by = [&](const std::string& commands) {
    out_.str("");
    Text_Line_Source lines(commands, out_);
    loop.run(lines, out_);
    return out_.str();
  };
  shown_by("create_table t\nadd_field t age int32\nadd_field t copy int32\n");
  for (int i = 0; i < 50; ++i) {
    const std::string value = std::to_string(i * 7 % 20);
    shown_by("insert_into t -1 " + value + " " + value + "\n");
  }
  for (const char* condition : {"= 5", "< 5", "<= 5", "> 5", ">= 5", "!= 5", "= 99", "> 99"})
    EXPECT_EQ(shown_by("find t age " + std::string(condition) + "\n"),
              shown_by("find t copy " + std::string(condition) + "\n"))
        << condition;
  database.rollback();
}

TEST_F(Interpreter, DescribesWhatThereIs) {
  EXPECT_EQ(output("echo off\ndescribe\n"), "no tables\n");
  make_people();
  EXPECT_EQ(
      output("echo off\ntimestamp 5\ntimestamp 7\ndescribe\ndelete_from city 0\ndescribe city\n"),
      "table   records  fields\n"
      "city    2        name, size\n"
      "person  3        age, name, home, is_member\n"
      "time stamps: from 1970-01-01 00:00:05Z to 1970-01-01 00:00:07Z\n"
      "city: 1 record, ids below 2\n"
      "field  type\n"
      "name   string\n"
      "size   int32\n"
      "referenced by: person home\n");
}

TEST_F(Interpreter, ShowsNamesOfReferencesIfAsked) {
  make_people();
  EXPECT_EQ(output("echo off\nset references names\ntable person\nrecord person 0\n"),
            "---------------------------------\n"
            "  age name   home       is_member\n"
            "---------------------------------\n"
            "0  36 \"Ada\"  1 (Lisbon)      true\n"
            "1  44 \"Bob\"  -1             false\n"
            "2  85 \"Cleo\" 7              false\n"
            "id = 0; next = 1; previous = -2\n"
            "      age: 36\n     name: \"Ada\"\n     home: 1 (Lisbon)\nis_member: true\n");
}

TEST_F(Interpreter, LimitsTablesIfAsked) {
  EXPECT_EQ(output("echo off\ncreate_table t\ninsert_vector t 0 5\nset limit 2\ntable t\n"
                   "table t 25 2 2\n"),
            "-\n \n-\n0\n1\n… 3 more: table t 25 2 2 shows the next, set limit 0 all\n"
            "-\n \n-\n2\n3\n");
}

TEST_F(Interpreter, RemembersSettings) {
  EXPECT_EQ(
      output("echo off\nset limit 7\nset references names\nset\nset limit -1\nset colour on\n"),
      "references names\nlimit 7\npager off\n"
      "Error: column 11: number of records expected, and `-1` is out of range\n"
      "Line 5: set limit -1\n"
      "Error: column 5: references, limit or pager expected, got `colour`\n"
      "Line 6: set colour on\n");
}

// A screen whose user stops the output after a certain amount of text.
class Impatient_Screen : public Screen {
 public:
  Size size() const override { return {30, 10}; }
  void check() override {
    if (out_.str().size() > 1000) throw Display_Stopped("enough");
  }
  std::ostream& begin_page(bool) override {
    out_.str("");
    return out_;
  }
  void end_page() override { shown_ += out_.str(); }
  std::string shown_;

 private:
  std::ostringstream out_;
};

TEST_F(Interpreter, StopsADisplayAndGoesOn) {
  run("create_table t\ninsert_vector t 0 500000\n");
  Impatient_Screen screen;
  Command_Loop::Settings settings;
  settings.display->screen = &screen;
  EXPECT_EQ(run("table t\ninsert_into t\n", settings), End::end_of_input);
  EXPECT_EQ(out_.str(), "\nenough\nOK: insert_into t\n");
  EXPECT_EQ(database_.get_database().find_table("t")->records().size(), 500001);
}

TEST_F(Interpreter, FitsTablesToTheScreen) {
  run("create_table t\nadd_field t a string\nadd_field t b string\nadd_field t n int64\n"
      "add_field t c int64\n"
      "insert_into t 0 \"a long text\" \"another long text\" 1234567890 5\n");
  Impatient_Screen screen;
  Command_Loop::Settings settings;
  settings.display->screen = &screen;
  run("table t\n", settings);
  EXPECT_EQ(screen.shown_,
            "------------------------------\n"
            "  a        b                 n\n"
            "------------------------------\n"
            "0 \"a long… \"anothe… 1234567890\n"
            "not shown, for lack of room: c\n");
}

TEST_F(Interpreter, CompletesCommandsAndNames) {
  run("create_table city\ncreate_table street\nadd_field city name string\n");
  EXPECT_THAT(completions("create"),
              ElementsAre("create_index", "create_table", "create_unique_index"));
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
