#include "kernel/journal/late_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>

#include "joedb/journal/readonly_journal.h"
#include "joedb/journal/writable_journal.h"
#include "support/child_process.h"
#include "support/entries.h"
#include "support/error_of.h"
#include "support/journal_process.h"
#include "support/temporary_directory.h"

namespace joedb {
namespace {

using testing::error_of;
using testing::in_child;
using testing::words_in;

// A process that writes comments to the file.
class Late_Process {
 public:
  Late_Process(const std::string& name, Open_Mode mode) : file_(name, mode), journal_(file_) {
    journal_.replay(Ignore_Entries());
  }

  Late_File& file() { return file_; }
  Writable_Journal& journal() { return journal_; }
  void write(std::string_view word) {
    journal_.lock_pull();
    journal_.replay(Ignore_Entries());
    journal_.append(Comment{word});
    journal_.hard_checkpoint();
    journal_.unlock();
  }

 private:
  Late_File file_;
  Writable_Journal journal_;
};

class Late_File_Test : public ::testing::Test {
 protected:
  static constexpr Open_Mode alone = Open_Mode::write_existing_or_create_new;
  static constexpr Open_Mode shared = Open_Mode::shared_write;

  bool is_there() const { return std::filesystem::exists(name); }
  bool is_empty_folder() const { return std::filesystem::is_empty(directory.path()); }
  std::string words() const { return words_in(directory.read("db.joedb")); }

  testing::Temporary_Directory directory;
  const std::string name = directory.file("db.joedb");
  testing::Destructor_Warnings warnings;
};

TEST_F(Late_File_Test, IsMadeByTheFirstEntryOrTheFirstTransaction) {
  {
    Late_Process process(name, alone);
    EXPECT_FALSE(is_there());
    process.journal().append(Comment{"one"});
    EXPECT_EQ(std::filesystem::file_size(name), 41u);
    process.journal().hard_checkpoint();
  }
  EXPECT_EQ(words(), "one ");
  std::filesystem::remove(name);
  {
    Late_Process process(name, shared);
    process.journal().pull();
    EXPECT_FALSE(is_there());
    process.journal().lock_pull();
    EXPECT_TRUE(is_there());
    process.journal().unlock();
    process.write("two");
  }
  EXPECT_EQ(words(), "two ");
}

TEST_F(Late_File_Test, IsNotMadeByOneWhoOnlyLooks) {
  for (const Open_Mode mode : {alone, shared}) {
    Late_Process process(name, mode);
    process.journal().pull();
    process.journal().hard_checkpoint();
    Readonly_Journal journal(process.file());
    EXPECT_EQ(journal.get_checkpoint(), 41);
    EXPECT_EQ(process.file().reopen(Open_Mode::read_existing), nullptr);
  }
  {
    Late_File file(name, Open_Mode::read_existing);
    Readonly_Journal journal(file);
    EXPECT_EQ(journal.pull(), 0);
  }
  EXPECT_TRUE(is_empty_folder());
}

TEST_F(Late_File_Test, ProcessesThatShareItMakeItOnce) {
  Late_Process a(name, shared), b(name, shared);
  Late_File file(name, Open_Mode::read_existing);
  Readonly_Journal reader(file);
  a.write("a");
  b.write("b");
  a.write("A");
  EXPECT_EQ(words(), "a b A ");
  EXPECT_GT(reader.pull(), 0);
  EXPECT_EQ(reader.get_checkpoint(), a.journal().get_checkpoint());
  EXPECT_TRUE(warnings.lines().empty());
}

TEST_F(Late_File_Test, OneWhoWantsItAloneIsRefusedIfAnotherHasMadeIt) {
  for (const Open_Mode mode : {alone, shared}) {
    Late_Process slow(name, alone);
    { Late_Process(name, mode).write("quick"); }
    EXPECT_EQ(error_of([&] { slow.journal().append(Comment{"slow"}); }),
              name + ": another program has made it meanwhile; open it again");
    EXPECT_EQ(error_of([&] { slow.journal().append(Comment{"slow"}); }),
              name + ": another program has made it meanwhile; open it again");
    EXPECT_EQ(words(), "quick ");
    std::filesystem::remove(name);
  }
}

TEST_F(Late_File_Test, IsLockedByTheOneWhoMadeItForItselfAlone) {
  Late_Process process(name, alone);
  process.journal().append(Comment{"one"});
  EXPECT_THROW(File(name, Open_Mode::write_existing), File_Locked);
}

TEST_F(Late_File_Test, AProcessThatIsKilledBeforeItsFirstChangeLeavesNothing) {
  for (const Open_Mode mode : {alone, shared}) {
    const auto die = [](Late_Process&) { ::raise(SIGKILL); };
    const auto run = [&](auto... steps) {
      return in_child([&] {
        Late_Process process(name, mode);
        (steps(process), ...);
        return std::string();
      });
    };
    EXPECT_EQ(run(die), "killed by signal 9");
    EXPECT_TRUE(is_empty_folder());
    EXPECT_EQ(run([](Late_Process& process) { process.journal().pull(); }, die),
              "killed by signal 9");
    EXPECT_TRUE(is_empty_folder());
    EXPECT_EQ(run([](Late_Process& process) { process.journal().lock_pull(); }, die),
              "killed by signal 9");
    if (mode == shared) {
      EXPECT_EQ(words(), "");
    }
    EXPECT_EQ(run([](Late_Process& process) { process.write("one"); }, die), "killed by signal 9");
    EXPECT_EQ(words(), "one ");
    std::filesystem::remove(name);
  }
}

TEST_F(Late_File_Test, RefusesAFileOfAnotherKindThatAnotherProgramHasMade) {
  for (const std::string& content : {std::string(3000, '\0'), std::string(20, '\0'),
                                     std::string("text of more bytes than a header has .......")}) {
    Late_Process ann(name, shared);
    directory.write("db.joedb", content);
    EXPECT_THAT(error_of([&] { ann.write("lost?"); }),
                ::testing::HasSubstr("does not begin with the header of a joedb file"));
    EXPECT_EQ(directory.read("db.joedb"), content);
    std::filesystem::remove(name);
  }
}

TEST_F(Late_File_Test, RefusesAFolderThatIsMissing) {
  const std::string lost = directory.file("folder/db.joedb");
  EXPECT_EQ(error_of([&] { Late_File(lost, shared); }),
            "opening " + lost + ": No such file or directory");
}

TEST_F(Late_File_Test, IsMadeWhereALinkPoints) {
  std::filesystem::create_symlink("target", name);
  for (const Open_Mode mode : {alone, shared}) {
    { Late_Process(name, mode).write("one"); }
    EXPECT_EQ(words(), "one ");
    EXPECT_TRUE(std::filesystem::is_symlink(name));
    std::filesystem::remove(directory.file("target"));
  }
}

}  // namespace
}  // namespace joedb
