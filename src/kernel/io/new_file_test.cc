#include "kernel/io/new_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "support/temporary_directory.h"

namespace joedb::new_file_test {
namespace {

using Existing = New_File::Existing;

class New_File_Test : public ::testing::Test {
 protected:
  static void write(New_File& file, const std::string& text) {
    file.pwrite(text.data(), text.size(), 0);
  }
  std::string content() const {
    std::ifstream in(name);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void make_old() const { std::ofstream(name) << "old"; }
  std::size_t files() const {
    using Files = std::filesystem::directory_iterator;
    return static_cast<std::size_t>(std::distance(Files(directory.file("")), Files()));
  }

  testing::Temporary_Directory directory;
  const std::string name = directory.file("out");
};

TEST_F(New_File_Test, HasItsNameOnceItIsPublished) {
  {
    New_File file(name, Existing::refuse);
    write(file, "new");
    EXPECT_FALSE(std::filesystem::exists(name));
    EXPECT_EQ(file.get_name(), name);
    file.publish();
    EXPECT_EQ(content(), "new");
  }
  EXPECT_EQ(content(), "new");
  EXPECT_EQ(files(), 1u);
}

TEST_F(New_File_Test, LeavesNothingIfItIsNotPublished) {
  {
    New_File file(name, Existing::refuse);
    write(file, "new");
  }
  EXPECT_EQ(files(), 0u);
}

TEST_F(New_File_Test, RefusesAFileThatExists) {
  make_old();
  EXPECT_THROW(New_File(name, Existing::refuse), Io_Error);
  EXPECT_EQ(content(), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(New_File_Test, RefusesAFileThatCameMeanwhile) {
  {
    New_File file(name, Existing::refuse);
    make_old();
    EXPECT_THROW(file.publish(), Io_Error);
  }
  EXPECT_EQ(content(), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(New_File_Test, ReplacesAFileOnlyWhenItIsPublished) {
  make_old();
  New_File file(name, Existing::replace);
  write(file, "new");
  EXPECT_EQ(content(), "old");
  file.publish();
  EXPECT_EQ(content(), "new");
  EXPECT_EQ(files(), 1u);
}

// Returns the number of a process that has ended.
pid_t ended_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

TEST_F(New_File_Test, RemovesWhatKilledProcessesHaveLeft) {
  const std::string ended = std::to_string(ended_process());
  const std::string left = name + ".tmp-" + ended;
  const std::string own = name + ".tmp-" + std::to_string(::getpid());
  for (const std::string& path : {left, left + "-2", own, name + "x.tmp-" + ended, name + ".tmp-1"})
    std::ofstream(path) << "a part";
  const File locked(name + ".tmp-" + ended + "-3", Open_Mode::create_new);
  {
    New_File file(name, Existing::refuse);
    EXPECT_EQ(file.path(), own);
    write(file, "new");
    file.publish();
  }
  EXPECT_EQ(content(), "new");
  EXPECT_EQ(files(), 4u);  // also those of another file, of a process that runs, and a locked one
}

// Programs in two containers may have the same process number.
TEST_F(New_File_Test, LeavesAFileThatIsBeingWritten) {
  New_File first(name, Existing::refuse);
  write(first, "first");
  {
    New_File second(name, Existing::refuse);
    EXPECT_NE(second.path(), first.path());
    write(second, "second");
  }
  first.publish();
  EXPECT_EQ(content(), "first");
  EXPECT_EQ(files(), 1u);
}

TEST_F(New_File_Test, IsCreatedWhereALinkPoints) {
  std::filesystem::create_directory(directory.file("data"));
  std::filesystem::create_symlink("data/link", name);
  std::filesystem::create_symlink("target", directory.file("data/link"));
  write_new_file(name, Existing::refuse, "new");
  EXPECT_EQ(directory.read("data/target"), "new");
  EXPECT_THROW(write_new_file(name, Existing::refuse, "other"), Io_Error);
  std::filesystem::remove(directory.file("data/target"));
  write_new_file(name, Existing::replace, "newer");
  EXPECT_EQ(directory.read("data/target"), "newer");
  EXPECT_TRUE(std::filesystem::is_symlink(name));
}

class New_File_Signal_Test : public New_File_Test, public ::testing::WithParamInterface<int> {};

TEST_P(New_File_Signal_Test, RemovesTheFileAndEndsTheProcess) {
  EXPECT_EXIT(
      {
        New_File file(name, Existing::refuse);
        write(file, "new");
        if (files() != 1) ::_exit(1);
        ::raise(GetParam());
        ::_exit(2);
      },
      ::testing::KilledBySignal(GetParam()), "");
  EXPECT_EQ(files(), 0u);
}

INSTANTIATE_TEST_SUITE_P(All, New_File_Signal_Test, ::testing::Values(SIGINT, SIGTERM, SIGHUP));

TEST_F(New_File_Test, LeavesSignalsAsTheyWere) {
  struct sigaction before {
  }, after{};
  ::sigaction(SIGINT, nullptr, &before);
  {
    New_File file(name, Existing::refuse);
    file.publish();
    New_File(name, Existing::replace);
  }
  ::sigaction(SIGINT, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

TEST_F(New_File_Test, HasThePermissionsOfTheFileThatItReplaces) {
  make_old();
  const auto permissions = [](const std::string& path) {
    return static_cast<unsigned>(std::filesystem::status(path).permissions());
  };
  std::filesystem::permissions(name, std::filesystem::perms(0640));
  const File old(name, Open_Mode::write_existing);
  New_File file(old);
  write(file, "new");
  EXPECT_EQ(permissions(name + ".tmp-" + std::to_string(::getpid())), 0640u);
  EXPECT_EQ(content(), "old");
  file.publish();
  EXPECT_EQ(content(), "new");
  EXPECT_EQ(permissions(name), 0640u);
  EXPECT_EQ(files(), 1u);
}

TEST(Temporary_Text, IsForThisUserAloneAndDoesNotStay) {
  std::string path;
  {
    const Temporary_Text text(".txt", "one");
    path = text.path();
    EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms(0600));
    std::ofstream(path) << "two";
    EXPECT_EQ(text.read(), "two");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Temporary_Text, StaysIfItIsKeptUntilItIsRemoved) {
  std::string path;
  {
    Temporary_Text text(".txt", "one");
    text.keep();
    path = text.path();
  }
  EXPECT_TRUE(std::filesystem::remove(path));
  Temporary_Text text(".txt", "one");
  text.keep();
  text.remove();
  EXPECT_FALSE(std::filesystem::exists(text.path()));
}

}  // namespace
}  // namespace joedb::new_file_test
