#include "tools/frame/parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace joedb::parser_test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Words words(std::vector<std::string> w) { return {std::move(w), "tool FILE"}; }

enum class Colour { red, green };

// A tool that has an option of each kind.
struct Tool {
  std::optional<Words> parse(std::vector<std::string> arguments) {
    options.add_flag("--flag", flag, "a flag");
    options.add("--number", number, "a number", {-10, 10});
    options.add("--until", until, "a position");
    options.add_choice("--colour", colour, {{"red", Colour::red}, {"green", Colour::green}},
                       "a choice");
    options.add_flag("--no-limit", has_no_limit, "no limit");
    options.accept("--end", "--until");
    options.add("--secret", secret, "not shown");
    options.hide("--secret");
    options.allow_word("--read");
    options.allow_word("--write-or-new");
    return options.parse(std::move(arguments));
  }
  Options options{{"tool FILE", "Does something.", "", "  tool x\n"}};
  bool flag = false;
  bool has_no_limit = false;
  std::int64_t number = 0;
  std::int64_t until = 0;
  std::int64_t secret = 0;
  Colour colour = Colour::red;
};

// Returns the first line of the usage error for a command line; empty if there is no error.
std::string complaint(std::vector<std::string> arguments) {
  try {
    Tool().parse(std::move(arguments));
  } catch (const Usage_Error& error) {
    const std::string text = error.what();
    return text.substr(0, text.find('\n'));
  }
  return "";
}

// A command that must return immediately after its call of parse().
int run_described(std::vector<std::string> arguments) {
  Options options({"tool [options] csv|json FILE", "Does something.", "", "  tool x\n"});
  std::string output;
  Colour colour = Colour::red;
  options.add("-o,--output", output, "where to", kinds::directory);
  options.add_choice("--colour", colour, {{"red", Colour::red}, {"green", Colour::green}}, "which");
  options.offer(1, {{"memory", "no file"}});
  options.offer(1, {{"memory", "the same"}});
  if (!options.parse(std::move(arguments))) return 0;
  ADD_FAILURE() << "the command was run";
  return 1;
}

TEST(Options, AreDescribedWithoutRunningTheCommand) {
  const auto tool = describe(run_described);
  ASSERT_TRUE(tool);
  EXPECT_EQ(tool->help.summary, "Does something.");
  ASSERT_EQ(tool->options.size(), 3u);  // including --help
  EXPECT_EQ(tool->options[1].names, (std::vector<std::string>{"-o", "--output"}));
  EXPECT_EQ(tool->options[1].value.pattern, "/");
  EXPECT_EQ(tool->options[2].choices, (std::vector<std::string>{"red", "green"}));
  ASSERT_EQ(tool->offered.size(), 2u);
  EXPECT_EQ(tool->offered[0].size(), 2u) << "csv and json, which the line of usage has";
  EXPECT_EQ(tool->offered[1].size(), 1u);
}

TEST(Options, OfACommandThatHasNoneAreNotDescribed) {
  EXPECT_FALSE(describe([](std::vector<std::string>) -> int { throw Usage_Error("usage: x"); }));
  EXPECT_TRUE(Tool().parse({"x"})) << "and the next one is parsed again";
}

TEST(Words, AreTakenFromLeftToRight) {
  Words w = words({"a", "b"});
  EXPECT_EQ(w.count(), 2u);
  EXPECT_FALSE(w.take_if("b"));
  EXPECT_TRUE(w.take_if("a"));
  EXPECT_THROW(w.require_end(), Usage_Error);
  EXPECT_EQ(w.take(), "b");
  w.require_end();
  EXPECT_EQ(w.peek(), "");
  EXPECT_THROW(w.take(), Usage_Error);
}

TEST(Words, AreNoNamesIfTheyLookLikeOptions) {
  EXPECT_THROW(words({"--read"}).take_name(), Usage_Error);
  EXPECT_THROW(words({"a", "--read"}).take_last_name(), Usage_Error);
  EXPECT_EQ(words({"-"}).take_name(), "-");
  EXPECT_EQ(Words({"--read"}, "tool FILE", 0).take_name(), "--read");
}

TEST(Options, MayStandAnywhereAndLeaveTheWords) {
  Tool tool;
  auto rest = tool.parse(
      {"a", "--flag", "--read", "b", "--number", "-5", "--colour", "green", "c", "--until=7"});
  ASSERT_TRUE(rest);
  EXPECT_TRUE(tool.flag);
  EXPECT_EQ(tool.number, -5);
  EXPECT_EQ(tool.until, 7);
  EXPECT_EQ(tool.colour, Colour::green);
  EXPECT_EQ(rest->take(), "a");
  EXPECT_EQ(rest->take(), "--read");
  EXPECT_EQ(rest->take(), "b");
  EXPECT_EQ(rest->take(), "c");
  rest->require_end();
}

TEST(Options, HaveHyphensOrUnderscoresInTheirNames) {
  Tool tool;
  auto rest = tool.parse({"--no_limit", "--write_or_new", "a_b", "--", "--c_d"});
  ASSERT_TRUE(rest);
  EXPECT_TRUE(tool.has_no_limit);
  EXPECT_EQ(rest->take(), "--write-or-new");
  EXPECT_EQ(rest->take(), "a_b");
  EXPECT_EQ(rest->take(), "--c_d");
}

TEST(Options, KnowTheirOlderNamesAndDoNotShowThem) {
  Tool tool;
  ASSERT_TRUE(tool.parse({"--end", "5"}));
  EXPECT_EQ(tool.until, 5);
  EXPECT_EQ(complaint({"--end=x"}), "--until: x is not a whole number");
  EXPECT_EQ(complaint({"--sekret", "5"}), "unknown option: --sekret");
  ::testing::internal::CaptureStdout();
  EXPECT_FALSE(Tool().parse({"--help"}));
  const std::string help = ::testing::internal::GetCapturedStdout();
  EXPECT_THAT(help, HasSubstr("--no-limit"));
  EXPECT_THAT(help, ::testing::Not(::testing::AnyOf(HasSubstr("--end"), HasSubstr("--secret"))));
}

// A pipe.
TEST(Options, AreExplainedInLinesOf80Characters) {
  Options options({"tool FILE", "Does something.",
                   "A paragraph whose lines are as long as those of the explanations of the tools "
                   "are, up to 100.\nThe second line belongs to it.\nSHORT LINE\n"
                   "  word FILE                   the second column of a table, which is too long "
                   "for one line\n",
                   "  tool x\n"});
  ::testing::internal::CaptureStdout();
  EXPECT_FALSE(options.parse({"--help"}));
  const std::string help = ::testing::internal::GetCapturedStdout();
  EXPECT_THAT(help,
              HasSubstr("A paragraph whose lines are as long as those of the explanations of "
                        "the tools\nare, up to 100. The second line belongs to it.\n"
                        "SHORT LINE\n"
                        "  word FILE                   the second column of a table, which is "
                        "too long\n                              for one line\n"));
}

TEST(Options, EndAtTwoDashes) {
  Tool tool;
  auto rest = tool.parse({"--flag", "a", "--", "--number", "--", "-x"});
  ASSERT_TRUE(rest);
  EXPECT_TRUE(tool.flag);
  for (const char* const word : {"a", "--number", "--", "-x"}) EXPECT_EQ(rest->take_name(), word);
  rest->require_end();
}

TEST(Options, ThatAreUnknownAreRefusedWithASuggestion) {
  EXPECT_EQ(complaint({"--falg"}), "unknown option: --falg. Did you mean --flag?");
  EXPECT_EQ(complaint({"--untill=5"}), "unknown option: --untill=5. Did you mean --until?");
  EXPECT_EQ(complaint({"a", "--reed", "b"}), "unknown option: --reed. Did you mean --read?");
  EXPECT_EQ(complaint({"--something-else"}), "unknown option: --something-else");
  EXPECT_EQ(complaint({"-x"}), "unknown option: -x");
}

TEST(Options, NameTheValueThatTheyRefuse) {
  EXPECT_EQ(complaint({"--colour", "blue"}), "--colour: blue; expected red or green");
  EXPECT_EQ(complaint({"--number", "5x"}), "--number: 5x is not a whole number");
  EXPECT_EQ(complaint({"--number", ""}), "--number:  is not a whole number");
  EXPECT_EQ(complaint({"--number", "11"}), "--number: 11 is out of range: -10 to 10");
  EXPECT_EQ(complaint({"--until", "-1"}), "--until: -1 is out of range: at least 0");
  EXPECT_EQ(complaint({"--until", "9223372036854775808"}),
            "--until: 9223372036854775808 has too many digits");
  EXPECT_EQ(complaint({"--number"}), "--number: the value is missing");
  EXPECT_EQ(complaint({"--number", "1", "--number", "2"}), "--number: given more than once");
}

TEST(Options, ShowInAComplaintHowItShouldLook) {
  EXPECT_THAT([] { Tool().parse({"--fog"}); },
              ThrowsMessage<Usage_Error>(HasSubstr("\nusage: tool FILE\n")));
}

}  // namespace
}  // namespace joedb::parser_test
