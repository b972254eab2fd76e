#include "tools/frame/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include <chrono>
#include <thread>

#include "support/temporary_directory.h"

namespace joedb::arguments_test {
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

TEST(File_Argument, KnowsWhetherItsModeWasGiven) {
  EXPECT_TRUE(file({"--write-or-new", "db"}).has_mode);
  EXPECT_FALSE(file({"db"}).has_mode);
}

TEST(File_Argument, MayLookLikeAnOptionBehindTwoDashes) {
  Words all({"--read", "--new"}, "tool FILE", 1);
  const File_Argument argument = take_file(all, grammar);
  EXPECT_EQ(argument.mode, Open_Mode::read_existing);
  EXPECT_EQ(argument.name, "--new");
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
}

TEST(File_Argument, MayBeASourceThatCanOnlyBeRead) {
  EXPECT_EQ(file({"brotli", "db"}).source.packing, Packing::brotli);
  EXPECT_EQ(file({"--read", "zstd", "db"}).source.packing, Packing::zstd);
  EXPECT_EQ(file({"zstd", "--read", "db"}).mode, Open_Mode::read_existing);
  EXPECT_EQ(file({"zstd"}).kind, Kind::file);
  EXPECT_EQ(file({"missing.zst"}).kind, Kind::source);
  EXPECT_EQ(file({"curl", "https://host/db"}).name, "https://host/db");
  EXPECT_EQ(file({"HTTPS://host/db"}).kind, Kind::source);
  EXPECT_EQ(file({"sftp", "--port", "22", "me@host", "/db"}).name, "sftp://me@host:22/db");
  EXPECT_EQ(file({"sftp", "--key", "id", "host", "db"}).name, "sftp://host/~/db");
  EXPECT_EQ(file({"sftp", "--key", "id", "host", "db"}).source.key_file, "id");
  EXPECT_EQ(file({"file", "zstd"}).name, "zstd");
  EXPECT_EQ(file({"interpreted", "https://host/db"}).kind, Kind::interpreted);
  EXPECT_THAT(
      [] {
        file({"--write", "zstd", "db"});
      },
      ThrowsMessage<Exception>(HasSubstr("can only be read")));
  EXPECT_THROW(file({"curl", "ftp://host/db"}), Usage_Error);
  EXPECT_THROW(file({"sftp", "host"}), Usage_Error);
  EXPECT_THROW(file({"sftp", "--port", "0", "host", "db"}), Usage_Error);
  EXPECT_THAT(
      [] { file({"db.zst"}, {.default_mode = Open_Mode::write_existing, .has_sources = false}); },
      ThrowsMessage<Exception>(HasSubstr("can only be read")));
}

TEST(Connection_Argument, MayBeAFileOrNothing) {
  const auto connection = [](std::vector<std::string> w) {
    Words all = words(std::move(w));
    return take_connection(all);
  };
  EXPECT_FALSE(connection({}).file);
  EXPECT_FALSE(connection({"dummy"}).file);
  EXPECT_EQ(connection({"file", "--read", "hub"}).file->mode, Open_Mode::read_existing);
  EXPECT_THROW(connection({"file"}), Usage_Error);
  EXPECT_THAT([&] { connection({"pigeon"}); },
              ThrowsMessage<Usage_Error>(HasSubstr("unknown connection type: pigeon")));
  EXPECT_EQ(connection({"local", "--keep-alive", "0.5", "sock"}).server->settings().keep_alive,
            std::chrono::milliseconds(500));
  EXPECT_EQ(connection({"local", "sock"}).server->name(), "sock");
  EXPECT_THROW(connection({"local"}), Usage_Error);
  EXPECT_THROW(connection({"local", "--keep-alive", "x", "sock"}), Usage_Error);
  EXPECT_THROW(connection({"dummy", "more"}), Usage_Error);
}

class File_To_Open : public ::testing::Test {
 protected:
  File_Argument argument(const std::string& name, Open_Mode mode, bool has_mode) const {
    return {Kind::file, mode, has_mode, directory.file(name), {}};
  }
  testing::Temporary_Directory directory;
};

TEST_F(File_To_Open, IsMadeAtOnceOnlyIfTheCommandLineSaysSo) {
  Tool_Log log(Log_Options{});
  for (const Open_Mode mode : {Open_Mode::write_existing_or_create_new, Open_Mode::shared_write}) {
    File_Argument late = argument("a", mode, false);
    EXPECT_FALSE(is_late(late));
    late.may_be_late = true;
    EXPECT_TRUE(is_late(late));
    open_file(late, log);
    EXPECT_FALSE(std::filesystem::exists(late.name));
    EXPECT_THAT([&] { require_made(late); },
                ThrowsMessage<Exception>(HasSubstr("does not exist, and no command has made it")));
    EXPECT_FALSE(is_late(argument("a", mode, true)));
    open_file(argument("a", mode, true), log);
    EXPECT_TRUE(std::filesystem::exists(late.name));
    EXPECT_FALSE(is_late(late));
    require_made(late);
    std::filesystem::remove(late.name);
  }
  EXPECT_FALSE(is_late(argument("a", Open_Mode::read_existing, false)));
}

TEST_F(File_To_Open, MustNotBeEmpty) {
  directory.write("a", "");
  for (const Open_Mode mode : {Open_Mode::write_existing, Open_Mode::shared_write})
    for (const bool has_mode : {false, true})
      EXPECT_THAT([&] { require_database(argument("a", mode, has_mode)); },
                  ThrowsMessage<Exception>(HasSubstr("the file is empty")));
}

TEST_F(File_To_Open, MayBeEmptyWhileAnotherProcessMakesIt) {
  directory.write("a", "");
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    directory.write("a", "content");
  });
  require_database(argument("a", Open_Mode::shared_write, true));
  other.join();
}

}  // namespace
}  // namespace joedb::arguments_test
