#include "cli/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace joedb {
namespace {

using Kind = File_Argument::Kind;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr File_Grammar grammar{Open_Mode::write_existing_or_create_new};

Words words(std::vector<std::string> w) { return {std::move(w), "tool FILE"}; }

File_Argument file(std::vector<std::string> w, const File_Grammar& g = grammar) {
  Words all = words(std::move(w));
  const File_Argument result = take_file(all, g);
  all.require_end();
  return result;
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

TEST(Options, MayStandAnywhereAndLeaveTheWords) {
  Options options({"tool FILE", "Does something.", "", "  tool x\n"});
  bool flag = false;
  std::int64_t number = 0;
  Recovery recovery = Recovery::none;
  options.add_flag("--flag", flag, "a flag");
  options.add("--number", number, "a number");
  options.add_choice("--recovery", recovery,
                     {{"none", Recovery::none}, {"overwrite", Recovery::overwrite}}, "a choice");
  auto rest = options.parse(
      {"a", "--flag", "--read", "b", "--number", "-5", "--recovery", "overwrite", "c"});
  ASSERT_TRUE(rest);
  EXPECT_TRUE(flag);
  EXPECT_EQ(number, -5);
  EXPECT_EQ(recovery, Recovery::overwrite);
  EXPECT_EQ(rest->take(), "a");
  EXPECT_EQ(rest->take(), "--read");
  EXPECT_EQ(rest->take(), "b");
  EXPECT_EQ(rest->take(), "c");
  rest->require_end();
}

TEST(Options, RefuseValuesThatMakeNoSense) {
  const auto parse = [](std::vector<std::string> arguments) {
    Options options({"tool FILE", "Does something.", "", "  tool x\n"});
    std::int64_t number = 0;
    Recovery recovery = Recovery::none;
    options.add("--number", number, "a number");
    options.add_choice("--recovery", recovery, {{"none", Recovery::none}}, "a choice");
    options.parse(std::move(arguments));
  };
  EXPECT_THAT(
      [&] {
        parse({"--recovery", "bogus"});
      },
      ThrowsMessage<Exception>("invalid value for option --recovery: bogus"));
  EXPECT_THAT(
      [&] {
        parse({"--number", "5x"});
      },
      ThrowsMessage<Exception>("invalid value for option --number: 5x"));
  EXPECT_THROW(parse({"--number"}), Usage_Error);
}

TEST(File_Argument, HasAKindAModeAndAName) {
  const struct {
    std::vector<std::string> words;
    Kind kind;
    Open_Mode mode;
    const char* name;
  } cases[] = {
      {{"db"}, Kind::file, Open_Mode::write_existing_or_create_new, "db"},
      {{"--read", "db"}, Kind::file, Open_Mode::read_existing, "db"},
      {{"file", "--shared", "db"}, Kind::file, Open_Mode::shared_write, "db"},
      {{"file", "memory"}, Kind::file, Open_Mode::write_existing_or_create_new, "memory"},
      {{"file"}, Kind::file, Open_Mode::write_existing_or_create_new, "file"},
      {{"interpreted", "db"}, Kind::interpreted, Open_Mode::write_existing_or_create_new, "db"},
      {{"interpreted", "file", "--new", "db"}, Kind::interpreted, Open_Mode::create_new, "db"},
      {{"device", "--write", "sda"}, Kind::device, Open_Mode::write_existing, "sda"},
      {{"memory"}, Kind::memory, Open_Mode::create_new, ""},
  };
  for (const auto& c : cases) {
    const File_Argument argument = file(c.words);
    EXPECT_EQ(argument.kind, c.kind) << c.words[0];
    EXPECT_EQ(argument.mode, c.mode) << c.words[0];
    EXPECT_EQ(argument.name, c.name) << c.words[0];
  }
}

TEST(File_Argument, IsRefusedIfItIsNotUnderstood) {
  EXPECT_THROW(file({}), Usage_Error);
  EXPECT_THROW(file({"--read"}), Usage_Error);
  EXPECT_THROW(file({"--bogus", "db"}), Usage_Error);
  EXPECT_THROW(file({"db", "--read"}), Usage_Error);
  EXPECT_THROW(file({"one", "two"}), Usage_Error);
  EXPECT_THROW(
      file({"--shared", "db"}, {.default_mode = Open_Mode::read_existing, .has_shared = false}),
      Usage_Error);
  EXPECT_THROW(
      file({"--read", "db"}, {.default_mode = Open_Mode::read_existing, .has_modes = false}),
      Usage_Error);
  EXPECT_THAT(
      [] {
        file({"brotli", "db"});
      },
      ThrowsMessage<Exception>(HasSubstr("not part of this version")));
}

TEST(Connection_Argument, MayBeAFileOrNothing) {
  const auto connection = [](std::vector<std::string> w) {
    Words all = words(std::move(w));
    return take_connection(all);
  };
  EXPECT_FALSE(connection({}).file);
  EXPECT_FALSE(connection({"dummy"}).file);
  EXPECT_EQ(connection({"file", "--read", "hub"}).file->mode, Open_Mode::read_existing);
  EXPECT_THAT([&] { connection({"file"}); },
              ThrowsMessage<Exception>("could not create connection"));
  EXPECT_THAT([&] { connection({"pigeon"}); },
              ThrowsMessage<Exception>(HasSubstr("Unknown connection type: pigeon")));
  EXPECT_THAT(
      [&] {
        connection({"local", "sock"});
      },
      ThrowsMessage<Exception>(HasSubstr("not part of this version")));
  EXPECT_THROW(connection({"dummy", "more"}), Usage_Error);
}

}  // namespace
}  // namespace joedb
