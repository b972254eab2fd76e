#include <gtest/gtest.h>

#include <sstream>

#include "commands/interpreter.h"
#include "history/tags.h"
#include "joedb/io/memory_file.h"

namespace joedb {
namespace {

constexpr std::int64_t now = 1'795'000'000;  // 2026-11-18 11:06:40

class History_Commands_Test : public ::testing::Test {
 protected:
  History_Commands_Test() {
    Command_Options options;
    options.now = [] { return now; };
    add_commands(loop_, database_, options);
    add_history_commands(loop_, database_, options);
    run("create_table city\nadd_field city name string\ntimestamp 1\n"
        "insert_into city 0 \"Oslo\"\ntimestamp 2\n");
  }
  ~History_Commands_Test() override { database_.rollback(); }

  std::string run(std::string_view text) {
    std::ostringstream out;
    Text_Line_Source lines(text, out);
    loop_.run(lines, out);
    return out.str();
  }
  Offset checkpoint() const { return std::as_const(database_).get_journal().get_checkpoint(); }

  Memory_File file_;
  Writable_Database database_{file_};
  Command_Loop loop_{{.is_echoing = false}, [] { return std::string(); }};
};

TEST_F(History_Commands_Test, SeeWhatHasNoCheckpoint) {
  EXPECT_EQ(checkpoint(), journal_start);
  EXPECT_EQ(run("log --table city -p --max 1\n"),
            "83  1970-01-01 00:00:02Z\n  + city 0 name \"Oslo\"\n");
  EXPECT_EQ(run("diff 64 --stat\n"), "+1 city\n");
  EXPECT_EQ(run("blame city 0\n"), "name \"Oslo\"  83  1970-01-01 00:00:02Z\n");
  EXPECT_EQ(checkpoint(), journal_start);
}

TEST_F(History_Commands_Test, WriteWithoutACheckpointSoThatARollbackTakesItBack) {
  run("checkpoint\n");
  const Offset before = checkpoint();
  EXPECT_EQ(run("undo --author Ann --message \"not that\"\n"),
            "118  2026-11-18 11:06:40Z  Ann  not that\n  - city 0 name \"Oslo\"\n");
  EXPECT_EQ(run("tag v1\ntag\n"), "tag: v1 = 118\nv1  118  2026-11-18 11:06:40Z\n");
  EXPECT_EQ(checkpoint(), before);
  EXPECT_EQ(run("rollback\ntag\nlog --max 1\n"), "83  1970-01-01 00:00:02Z  +1 city\n");
}

TEST_F(History_Commands_Test, ADryRunOrAnErrorWritesNothing) {
  const Offset before = std::as_const(database_).get_journal().get_position();
  EXPECT_EQ(run("undo --dry-run\n"), "- city 0 name \"Oslo\"\n");
  for (const char* const line : {"undo 7",
                                 "undo now",
                                 "undo --ours --theirs",
                                 "undo --at 3",
                                 "undo 64 83",
                                 "revert",
                                 "revert 70..",
                                 "revert 83..64",
                                 "revert a b..",
                                 "restore city",
                                 "restore city 0",
                                 "restore city x --at 83",
                                 "restore city 0 --at 64",
                                 "tag now",
                                 "tag \"a b\"",
                                 "tag x 70",
                                 "tag x 64 83",
                                 "tag --delete x",
                                 "tag --author",
                                 "tag \"\""})
    EXPECT_TRUE(run(line).starts_with("Error: ")) << line;
  EXPECT_EQ(std::as_const(database_).get_journal().get_position(), before);
}

TEST_F(History_Commands_Test, CommentsOfOthersThatLookLikeTagsAreErrorsOrNothing) {
  run("comment \"tag: far = 100000\"\ncomment \"tag: inside = 65\"\ncomment \"tag: x\\nlog = 64\"\n"
      "comment \"tag: \\x1b[1m = 64\"\ncomment \"author: \\x1b[1m\"\n");
  const std::string list = run("tag\n");
  EXPECT_EQ(list.find('\x1b'), std::string::npos);
  EXPECT_NE(run("diff far\n").find("the journal had no position 100000"), std::string::npos);
  EXPECT_NE(run("diff inside\n").find("inside of an entry"), std::string::npos);
  EXPECT_EQ(run("log\n").find('\x1b'), std::string::npos);
}

TEST_F(History_Commands_Test, AreCompleted) {
  const auto has = [&](std::string_view line, std::string_view word) {
    for (const auto& item : loop_.complete(line).candidates)
      if (item.word == word) return true;
    return false;
  };
  EXPECT_TRUE(has("un", "undo"));
  EXPECT_TRUE(has("blame c", "city"));
  EXPECT_TRUE(has("blame city 0 n", "name"));
  EXPECT_TRUE(has("log --s", "--since"));
  EXPECT_TRUE(has("restore --at 64 c", "city"));
}

TEST(History_Commands, OfAReadDatabaseEndWhereItsContentDoes) {
  Memory_File file;
  Writable_Database database(file);
  database.write(Create_Table{"a"});
  database.write(Timestamp{1});
  const Offset end = std::as_const(database).get_journal().get_position();
  database.write(Create_Table{"b"});
  database.write(Timestamp{2});
  database.soft_checkpoint();
  Command_Loop loop({.is_echoing = false}, [] { return std::string(); });
  Database past;
  add_history_commands(loop, past, file, end, {});
  std::ostringstream out;
  Text_Line_Source lines("log\ntag v1\nundo\n", out);
  loop.run(lines, out);
  const std::string text = out.str();
  EXPECT_TRUE(text.starts_with("53  1970-01-01 00:00:01Z  schema of a\nError: ")) << text;
  EXPECT_EQ(loop.failures().count, 2u);
}

}  // namespace
}  // namespace joedb
