#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <memory>
#include <optional>

#include "joedb/io/posix_file.h"
#include "joedb/journal/writable_journal.h"
#include "support/journal_process.h"
#include "support/temporary_directory.h"

// Journals on files of fixed size, such as devices: old bytes follow the checkpoint.

namespace joedb {
namespace {

// Returns the output of a command; nullopt if it fails.
std::optional<std::string> output_of(const std::string& command) {
  FILE* const pipe = ::popen((command + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  std::string text;
  for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  if (!text.empty() && text.back() == '\n') text.pop_back();
  const int status = ::pclose(pipe);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? std::optional(text) : std::nullopt;
}

class Device_Test : public ::testing::Test {
 protected:
  static void append(Writable_Journal& journal, std::string_view word) {
    journal.append(Comment{word});
  }
  std::string words(const std::string& name) {
    Device_File file(name, Open_Mode::read_existing);
    Readonly_Journal journal(file);
    testing::Entry_Keeper keeper;
    journal.replay(keeper);
    std::string text;
    for (const auto& entry : keeper.entries())
      text += std::string(std::get<Comment>(entry.value()).text) + " ";
    return text;
  }
  // Opens the journal, and writes words, with a checkpoint after each.
  void write(const std::string& name, std::initializer_list<std::string_view> all,
             Checkpoint_Level level = Checkpoint_Level::hard) {
    Device_File file(name, Open_Mode::write_existing);
    Writable_Journal journal(file);
    journal.replay(Ignore_Entries());
    for (const std::string_view word : all) {
      append(journal, word);
      journal.checkpoint(level);
    }
  }

  testing::Temporary_Directory directory;
  testing::Destructor_Warnings warnings;
};

// The bytes of the device after the first 41 bytes.
const std::string garbage = "\x01\x02garbage of an earlier life " + std::string(900, '\x08');

TEST_F(Device_Test, ANewJournalBeginsWhereTheFirstBytesAreZeros) {
  const std::string name = directory.write("device", std::string(41, '\0') + garbage);
  write(name, {"a", "b"});
  EXPECT_EQ(words(name), "a b ");
  write(name, {"c"}, Checkpoint_Level::soft);
  EXPECT_EQ(words(name), "a b c ");
  EXPECT_EQ(directory.read("device").size(), 41 + garbage.size());  // not truncated
}

TEST_F(Device_Test, AnythingElseIsRefusedAndStays) {
  for (const std::string& content :
       {garbage, std::string(40, '\0') + "x" + garbage, std::string("\x01", 1) + garbage}) {
    const std::string name = directory.write("device", content);
    EXPECT_THROW(write(name, {}), Corruption_Error);
    EXPECT_EQ(directory.read("device"), content);
  }
}

TEST_F(Device_Test, OneThatIsTooSmallForAHeaderIsRefused) {
  const std::string name = directory.write("device", std::string(40, '\0'));
  EXPECT_THROW(write(name, {}), Corruption_Error);
}

// The size of the file does not mark the end of the journal, so a tail is not detected, refused or
// adopted.
TEST_F(Device_Test, EveryRecoveryBelievesTheHeader) {
  for (const Recovery recovery : {Recovery::none, Recovery::ignore_header, Recovery::overwrite}) {
    const std::string name = directory.write("device", std::string(41, '\0') + garbage);
    write(name, {"a"});
    {
      Device_File file(name, Open_Mode::write_existing);
      Writable_Journal journal(file, recovery);
      EXPECT_EQ(journal.get_checkpoint(), 44);
      journal.replay(Ignore_Entries());
      append(journal, "b");
      journal.hard_checkpoint();
    }
    EXPECT_EQ(words(name), "a b ");
  }
}

TEST_F(Device_Test, RollsBackWithoutCutting) {
  const std::string name = directory.write("device", std::string(41, '\0') + garbage);
  {
    Device_File file(name, Open_Mode::write_existing);
    Writable_Journal journal(file);
    append(journal, "a");
    journal.hard_checkpoint();
    append(journal, "dropped, and longer than what follows");
    journal.flush();
    journal.rollback();
    journal.replay(Ignore_Entries());
    append(journal, "b");
    journal.soft_checkpoint();
  }
  EXPECT_EQ(words(name), "a b ");
}

TEST_F(Device_Test, AReaderFollowsAWriter) {
  const std::string name = directory.write("device", std::string(41, '\0') + garbage);
  write(name, {"a"});
  Device_File file(name, Open_Mode::read_existing);
  Readonly_Journal journal(file);
  EXPECT_EQ(journal.get_checkpoint(), 44);
  write(name, {"b"}, Checkpoint_Level::soft);
  EXPECT_EQ(journal.pull(), 3);
}

// ---- a real block device ------------------------------------------------------------------------

class Loop_Device_Test : public Device_Test {
 protected:
  void SetUp() override {
    directory.write("image", std::string(64 * 1024, '\0'));
    name = output_of("losetup --find --show " + directory.file("image")).value_or("");
    if (name.empty()) GTEST_SKIP() << "no loop device can be had here";
  }
  void TearDown() override {
    if (!name.empty()) output_of("losetup --detach " + name);
  }

  std::string name;
};

TEST_F(Loop_Device_Test, HoldsAJournal) {
  write(name, {"a", "b"});
  write(name, {"c"}, Checkpoint_Level::soft);
  EXPECT_EQ(words(name), "a b c ");
}

TEST_F(Loop_Device_Test, IsOneWritersAlone) {
  Device_File file(name, Open_Mode::write_existing);
  EXPECT_THROW(Device_File(name, Open_Mode::write_existing), Io_Error);
}

TEST_F(Loop_Device_Test, LosesNothingWhenItIsFull) {
  std::string expected;
  {
    Device_File file(name, Open_Mode::write_existing);
    Writable_Journal journal(file);
    const std::string word(1000, 'x');
    std::string error;
    while (error.empty()) {
      try {
        append(journal, word);
        journal.hard_checkpoint();
        expected += word + " ";
      } catch (const Io_Error& e) {
        EXPECT_EQ(e.code, ENOSPC);
        EXPECT_EQ(e.path, name);
        error = e.what();
      }
    }
    EXPECT_TRUE(error.starts_with("writing " + name + " at offset ")) << error;
    EXPECT_TRUE(error.ends_with(": No space left on device")) << error;
    EXPECT_EQ(journal.get_checkpoint(), journal_start + 1003 * 65);
  }
  EXPECT_EQ(expected.size(), 1001 * 65);
  EXPECT_EQ(words(name), expected);
}

}  // namespace
}  // namespace joedb
