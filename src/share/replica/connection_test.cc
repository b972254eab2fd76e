#include "joedb/replica/client.h"

#include <gtest/gtest.h>

#include "joedb/io/memory_file.h"
#include "support/journal_process.h"

namespace joedb {
namespace {

using After_Push = Connection::After_Push;

using testing::words_in;

// A journal in memory that holds comments.
class Copy {
 public:
  explicit Copy(Open_Mode mode = Open_Mode::create_new) : file(mode) {}

  Copy& comment(std::string_view text) {
    Writable_Journal journal(file);
    journal.replay(Ignore_Entries());
    journal.append(Comment{text});
    journal.soft_checkpoint();
    return *this;
  }

  Offset size() const { return file.get_size(); }
  std::string body() const { return {file.get_data().begin() + 41, file.get_data().end()}; }

  Memory_File file;
};

TEST(File_Connection, AppendsWhatTheOtherCopyDoesNotHave) {
  Copy local;
  Copy hub;
  local.comment("one");
  File_Connection connection(hub.file);
  EXPECT_EQ(connection.get_checkpoint(), 41);
  connection.push(local.file, local.size(), Checkpoint_Level::soft, After_Push::unlock);
  EXPECT_EQ(connection.get_checkpoint(), local.size());
  local.comment("two");
  connection.push(local.file, local.size(), Checkpoint_Level::hard, After_Push::unlock);
  EXPECT_EQ(hub.body(), local.body());
  EXPECT_EQ(Readonly_Journal(hub.file).get_hard_checkpoint(), local.size());
}

TEST(File_Connection, LeavesACopyAloneThatHasMore) {
  Copy local;
  Copy hub;
  local.comment("one");
  hub.comment("one").comment("two");
  File_Connection connection(hub.file);
  const std::vector<char> before = hub.file.get_data();
  connection.push(local.file, local.size(), Checkpoint_Level::hard, After_Push::unlock);
  EXPECT_EQ(hub.file.get_data(), before);
}

// A file that throws bad_alloc once, at a given read call.
class Forgetful_File : public Memory_File {
 public:
  std::size_t pread(char* data, std::size_t size, Offset offset) const override {
    if (reads_left-- == 0) throw std::bad_alloc();
    return Memory_File::pread(data, size, offset);
  }
  mutable int reads_left = -1;
};

TEST(File_Connection, GoesOnAfterLackOfMemory) {
  Copy local;
  local.comment("one").comment("two");
  int failures = 0;
  for (int read = 0; read <= failures; ++read) {
    Forgetful_File hub;
    File_Connection connection(hub);
    hub.reads_left = read;
    try {
      connection.push(local.file, local.size(), Checkpoint_Level::soft, After_Push::unlock);
    } catch (const std::bad_alloc&) {
      ++failures;
    }
    hub.reads_left = -1;
    connection.push(local.file, local.size(), Checkpoint_Level::soft, After_Push::unlock);
    EXPECT_EQ(words_in({hub.get_data().data(), hub.get_data().size()}), "one two ") << read;
  }
  EXPECT_GT(failures, 0);
}

// A push writes the header, then the entries, then the checkpoint. If the process is killed, any
// prefix of these writes may remain.
TEST(File_Connection, RepairsWhatAnInterruptedPushHasLeft) {
  Copy local;
  local.comment("one").comment("two");
  const std::string body = local.body();
  for (std::size_t size = 0; size <= 41 + body.size(); ++size) {
    Copy hub;
    { const Writable_Journal new_header(hub.file); }
    hub.file.get_data().insert(hub.file.get_data().end(), body.begin(), body.end());
    hub.file.get_data().resize(size);
    File_Connection connection(hub.file);
    connection.push(local.file, local.size(), Checkpoint_Level::soft, After_Push::unlock);
    EXPECT_EQ(hub.body(), body) << size;
    EXPECT_EQ(Readonly_Journal(hub.file).get_checkpoint(), local.size()) << size;
  }
}

TEST(File_Connection, RefusesACopyThatHasDiverged) {
  Copy local;
  Copy hub;
  local.comment("one").comment("two");
  hub.comment("eno");
  File_Connection connection(hub.file);
  const std::vector<char> before = hub.file.get_data();
  EXPECT_THROW(
      connection.push(local.file, local.size(), Checkpoint_Level::soft, After_Push::unlock),
      Content_Mismatch);
  EXPECT_EQ(hub.file.get_data(), before);
}

TEST(File_Connection, RefusesHalfAnEntry) {
  Copy local;
  Copy hub;
  local.comment("one").comment("two");
  hub.comment("one");
  File_Connection connection(hub.file);
  const std::vector<char> before = hub.file.get_data();
  EXPECT_THROW(
      connection.push(local.file, local.size() - 1, Checkpoint_Level::soft, After_Push::unlock),
      Corruption_Error);
  EXPECT_EQ(hub.file.get_data(), before);
  connection.push(local.file, local.size(), Checkpoint_Level::soft, After_Push::unlock);
  EXPECT_EQ(hub.body(), local.body());
}

// A file in which reads beyond some offset fail.
class Failing_File : public Memory_File {
 public:
  Failing_File(const Memory_File& file, Offset good) : good_(good) { get_data() = file.get_data(); }
  std::size_t pread(char* data, std::size_t size, Offset offset) const override {
    if (offset + static_cast<Offset>(size) > good_) throw_io_error("reading", "source", offset, 5);
    return Memory_File::pread(data, size, offset);
  }

 private:
  const Offset good_;
};

TEST(File_Connection, IsUnchangedIfTheSourceCannotBeReadToItsEnd) {
  Copy local;
  local.comment(std::string(200'000, 'x'));
  const Failing_File source(local.file, 150'000);
  Copy hub;
  File_Connection connection(hub.file);
  const std::vector<char> before = hub.file.get_data();
  EXPECT_THROW(connection.push(source, local.size(), Checkpoint_Level::soft, After_Push::unlock),
               Io_Error);
  EXPECT_EQ(hub.file.get_data(), before);
  EXPECT_EQ(connection.get_checkpoint(), 41);
  connection.push(local.file, local.size(), Checkpoint_Level::soft, After_Push::unlock);
  EXPECT_EQ(hub.body(), local.body());
}

TEST(File_Connection, CanOnlyReadAFileThatIsOpenedForReading) {
  Copy local;
  local.comment("one").comment("two");
  Copy hub;
  hub.comment("one");
  Readonly_Memory_File readonly(hub.file.get_data());
  File_Connection connection(readonly);
  EXPECT_FALSE(connection.can_push());
  EXPECT_EQ(connection.get_checkpoint(), hub.size());
  EXPECT_THROW(
      connection.push(local.file, local.size(), Checkpoint_Level::soft, After_Push::unlock),
      Exception);
}

TEST(File_Connection, RefusesASharedFile) {
  Memory_File shared(Open_Mode::shared_write);
  EXPECT_THROW(File_Connection connection(shared), Exception);
}

// ---- content ------------------------------------------------------------------------------------

bool is_accepted(const Copy& local, Copy& hub, Content_Check check) {
  try {
    File_Connection connection(hub.file);
    connection.compare(local.file, 41, std::min(local.size(), connection.get_checkpoint()), check);
    return true;
  } catch (const Content_Mismatch&) {
    return false;
  }
}

TEST(Check_Content, ComparesUpToTheShorterCheckpoint) {
  Copy local;
  Copy hub;
  EXPECT_TRUE(is_accepted(local, hub, Content_Check::full));
  local.comment("one");
  EXPECT_TRUE(is_accepted(local, hub, Content_Check::full));
  hub.comment("one").comment("two");
  EXPECT_TRUE(is_accepted(local, hub, Content_Check::full));
  local.comment("TWO");
  EXPECT_FALSE(is_accepted(local, hub, Content_Check::fast));
  EXPECT_FALSE(is_accepted(local, hub, Content_Check::full));
  EXPECT_TRUE(is_accepted(local, hub, Content_Check::none));
}

TEST(Check_Content, LooksOnlyAtTheLastPartIfItIsFast) {
  const std::string much(70'000, 'x');
  Copy local;
  Copy hub;
  local.comment("one").comment(much);
  hub.comment("ONE").comment(much);
  EXPECT_TRUE(is_accepted(local, hub, Content_Check::fast));
  EXPECT_FALSE(is_accepted(local, hub, Content_Check::full));
}

}  // namespace
}  // namespace joedb
