#include "joedb/replica/connection.h"

#include <gtest/gtest.h>

#include "joedb/io/memory_file.h"

namespace joedb {
namespace {

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
  connection.push(local.file, local.size(), Checkpoint_Level::soft);
  EXPECT_EQ(connection.get_checkpoint(), local.size());
  local.comment("two");
  connection.push(local.file, local.size(), Checkpoint_Level::hard);
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
  connection.push(local.file, local.size(), Checkpoint_Level::hard);
  EXPECT_EQ(hub.file.get_data(), before);
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
  EXPECT_THROW(connection.push(local.file, local.size(), Checkpoint_Level::soft), Exception);
}

TEST(File_Connection, RefusesASharedFile) {
  Memory_File shared(Open_Mode::shared_write);
  EXPECT_THROW(File_Connection connection(shared), Exception);
}

// ---- content ------------------------------------------------------------------------------------

bool is_accepted(const Copy& local, Copy& hub, Content_Check check) {
  try {
    check_content(local.file, local.size(), File_Connection(hub.file), check);
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
