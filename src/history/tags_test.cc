#include "history/tags.h"

#include <gtest/gtest.h>

#include "joedb/history/changes.h"
#include "joedb/io/memory_file.h"
#include "joedb/table/writable_database.h"
#include "support/error_of.h"

namespace joedb::tags_test {
namespace {

constexpr std::int64_t now = 1'795'000'000;  // 2026-11-18

// A journal with some transactions. Each transaction ends with a time stamp.
class Tags_Test : public ::testing::Test {
 protected:
  Offset write(std::string_view comment, std::string_view author = "") {
    database_.write(Comment{comment});
    if (!author.empty()) {
      const std::string text = std::string(author_mark).append(author);
      database_.write(Comment{text});
    }
    database_.write(Timestamp{now});
    database_.soft_checkpoint();
    return std::as_const(database_).get_journal().get_checkpoint();
  }
  std::string problem(const std::string& tag) {
    return testing::error_of([&] { find_position(file_, *parse_when(tag, now)); });
  }

  Memory_File file_;
  Writable_Database database_{file_};
};

std::string problem_of_name(const std::string& name) {
  return testing::error_of([&] { require_tag_name(name); });
}

TEST_F(Tags_Test, ATagIsAPositionWhereverOneIsWritten) {
  const Offset first = write("one");
  const Offset second = write("two");
  const Offset end = write(tag_text("v1", first), "Ann");
  EXPECT_EQ(find_position(file_, *parse_when("v1", now)), first);
  EXPECT_EQ(find_position(file_, *parse_when(std::to_string(second), now)), second);
  EXPECT_EQ(find_position(file_, *parse_when("2026-12-01", now)), end);
  const Tags tags = read_tags(file_);
  const Tag& tag = tags.at("v1");
  EXPECT_EQ(tag.position, first);
  EXPECT_EQ(tag.written_at, end);
  EXPECT_EQ(tag.time, now);
  EXPECT_EQ(tag.author, "Ann");
}

TEST_F(Tags_Test, TheLastCommentOfANameCounts) {
  const Offset first = write("one");
  const Offset second = write("two");
  write(tag_text("v1", first));
  write(tag_text("v1", second));
  EXPECT_EQ(find_position(file_, *parse_when("v1", now)), second);
  write(tag_removal_text("v1"));
  EXPECT_TRUE(read_tags(file_).by_name().empty());
  write(tag_text("v1", first));
  EXPECT_EQ(find_position(file_, *parse_when("v1", now)), first);
}

TEST_F(Tags_Test, OneTransactionCanHaveSeveralTagsInSeveralComments) {
  const Offset first = write("one");
  database_.write(Comment{"two"});
  const std::string a = tag_text("a", first), b = tag_text("b", 41), c = tag_text("c", first);
  for (const std::string& text : {c, b, a}) database_.write(Comment{text});
  const Offset second = write("more");
  Tags tags;
  std::vector<std::vector<std::string>> names;
  for (const Transaction_Summary& summary : Summaries(file_)) tags.read(summary);
  for (const Transaction_Summary& summary : Summaries(file_))
    names.push_back(tags.names_of(summary));
  EXPECT_EQ(names, (std::vector<std::vector<std::string>>{{"a", "c"}, {}}));
  EXPECT_EQ(tags.at("b").written_at, second);
}

TEST_F(Tags_Test, ATagInsideOfATransactionIsOfThatTransaction) {
  database_.write(Comment{"one"});
  database_.soft_checkpoint();
  const Offset inside = std::as_const(database_).get_journal().get_checkpoint();
  const Offset end = write("two");
  write(tag_text("x", inside));
  const Tags tags = read_tags(file_);
  Transaction_Info info;
  info.begin = journal_start;
  info.end = end;
  EXPECT_EQ(tags.names_of(info), std::vector<std::string>{"x"});
  info.begin = inside;
  EXPECT_TRUE(tags.names_of(info).empty());
}

TEST_F(Tags_Test, CommentsThatAreNoTagsArePassedBy) {
  const Offset first = write("one");
  write(tag_text("v1", first));
  for (const char* const comment :
       {"tag: ", "tag:v1 = 41", "tag: v1 = ", "tag: v1 = x", "tag: v1 = -1", "tag: v1 = 41 ",
        "tag: v1 = 99999999999999999999", "tag: v1 = 41\n", "tag: v1 v2", "tag: what we do = 41",
        "tag:  v1", "Tag: v1", "tag: 12 = 41", "tag: yesterday = 41", "tag: a..b = 41",
        "tag: \x01 = 41", "tag: \xff = 41"})
    write(comment);
  const Tags tags = read_tags(file_);
  EXPECT_EQ(tags.by_name().size(), 1u);
  EXPECT_EQ(tags.at("v1").position, first);
}

TEST_F(Tags_Test, APositionThatTheJournalCannotHaveIsAnError) {
  const Offset first = write("one");
  for (const Offset position : {Offset{0}, Offset{40}, Offset{1'000'000}})
    write(tag_text("p" + std::to_string(position), position));
  write(tag_text("inside", first - 1));
  EXPECT_NE(problem("p0").find("the tag p0 is not valid: the journal had no position 0"),
            std::string::npos);
  EXPECT_NE(problem("p40").find("had no position 40"), std::string::npos);
  EXPECT_NE(problem("p1000000").find("had no position 1000000"), std::string::npos);
  EXPECT_NE(problem("inside").find("inside of an entry, which ends at " + std::to_string(first)),
            std::string::npos);
}

TEST_F(Tags_Test, ATagOfALaterPositionIsAnError) {
  const Offset first = write("one");
  const Offset second = write(tag_text("later", first + 100));
  while (write("more") < second + 200) {
  }
  EXPECT_NE(problem("later").find("when the tag was written, at " + std::to_string(second)),
            std::string::npos);
}

TEST_F(Tags_Test, AnUnknownNameIsAnErrorThatHelps) {
  const Offset first = write("one");
  EXPECT_EQ(
      problem("v1"),
      "v1 is neither a position nor a time like 2026-01-31 or \"2 hours ago\", and there is no "
      "tag v1, nor any other: joedb_tag FILE NAME makes one");
  write(tag_text("release", first));
  EXPECT_EQ(testing::error_of([&] { read_tags(file_).at("relaese"); }),
            "there is no tag relaese. Did you mean release?");
  for (int i = 0; i < 6; ++i) write(tag_text("name" + std::to_string(i), first));
  EXPECT_EQ(testing::error_of([&] { read_tags(file_).at("x"); }),
            "there is no tag x, but name0, name1, name2, name3, name4 and 2 more: joedb_tag FILE "
            "lists them");
}

TEST(Tag_Comment, IsReadAsItIsWritten) {
  const std::string text = tag_text("a=b", 137), removal = tag_removal_text("a=b");
  EXPECT_EQ(parse_tag(text)->name, "a=b");
  EXPECT_EQ(parse_tag(text)->position, 137);
  EXPECT_EQ(parse_tag(removal)->name, "a=b");
  EXPECT_FALSE(parse_tag(removal)->position);
  EXPECT_FALSE(parse_tag("tag: a = b = 12"));
  EXPECT_FALSE(parse_tag("author: Ann"));
}

TEST(Tag_Name, IsAWordThatIsNoMoment) {
  for (const char* const name :
       {"v1", "1.0", "v1.0-rc2", "été", "a=b", "2026-11-01-import", "a/b"}) {
    EXPECT_EQ(problem_of_name(name), "no error") << name;
    const auto when = parse_when(name, now);
    ASSERT_TRUE(when) << name;
    EXPECT_FALSE(when->moment) << name;
  }
  EXPECT_EQ(problem_of_name(std::string(max_tag_name_size, 'x')), "no error");
}

TEST(Tag_Name, IsRefusedWithTheReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "the name is empty"},
      {"12", "read as a position or a time"},
      {"-3", "read as a position or a time"},
      {"99999999999999999999", "read as a position or a time"},
      {"2026-11-01", "read as a position or a time"},
      {"2026-02-30", "read as a position or a time"},
      {"2026-11-01T12:00:00", "read as a position or a time"},
      {"now", "read as a position or a time"},
      {"today", "read as a position or a time"},
      {"yesterday", "read as a position or a time"},
      {"2 hours ago", "no blanks"},
      {"a b", "no blanks"},
      {"a\tb", "no control characters"},
      {"a\x7f", "no control characters"},
      {"a\xc2\x85", "no control characters"},
      {"a\xc2\xa0", "no blanks"},
      {"a..b", "\"..\""},
      {"a.", "no dot at its ends"},
      {".a", "no dot at its ends"},
      {"--force", "begin with -"},
      {"a\xff", "not UTF-8"}};
  for (const auto& [name, reason] : cases)
    EXPECT_NE(problem_of_name(name).find(reason), std::string::npos)
        << name << ": " << problem_of_name(name);
  EXPECT_NE(problem_of_name(std::string(max_tag_name_size + 1, 'x')).find("more than 100 bytes"),
            std::string::npos);
}

TEST(When_Text, ThatIsNeitherMomentNorNameIsNothing) {
  for (const char* const text : {"", "-5", "two words", "a..b", "2026-13-01"})
    EXPECT_FALSE(parse_when(text, now)) << text;
  EXPECT_EQ(parse_when("137", now)->moment->value, 137);
  EXPECT_EQ(parse_when("2 hours ago", now)->moment->value, now - 7200);
}

}  // namespace
}  // namespace joedb::tags_test
