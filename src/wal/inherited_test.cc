#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "joedb/io/posix_file.h"
#include "joedb/wal/copies.h"
#include "joedb/wal/log.h"
#include "joedb/wal/segments.h"
#include "support/child_process.h"
#include "support/error_of.h"
#include "support/journal_process.h"
#include "support/temporary_directory.h"

// Logs in a child process made by fork(), logs whose files other programs replace, and logs that
// are opened by a relative name.

namespace joedb::wal {
namespace {

using testing::error_of;
using ::testing::HasSubstr;
using testing::in_child;

class Wal_File : public ::testing::Test {
 protected:
  static std::size_t count(const std::string& file) {
    std::size_t entries = 0;
    Reader reader(file);
    while (reader.next()) ++entries;
    return entries;
  }
  // Checks that use() throws Inherited_Object in a child process, which destroys the log without a
  // warning, and without waiting for threads.
  template <class Log, class Use>
  void expect_refused(std::optional<Log>& log, Use use) {
    EXPECT_THAT(
        in_child([&] {
          const testing::Destructor_Warnings warnings;
          const std::string error = error_of<Inherited_Object>(use);
          log.reset();
          return error + (warnings.lines().empty() ? "" : warnings.lines()[0]);
        }),
        ::testing::EndsWith(
            " was opened before fork(), by the parent of this process: open it again here"));
  }

  testing::Temporary_Directory directory;
  const std::string name = directory.file("a.wal");
};

TEST_F(Wal_File, StaysWhatItWasWhenAChildEnds) {
  for (const Sync_Policy policy :
       {Sync_Policy::never(), Sync_Policy::every(std::chrono::hours(1))}) {
    std::filesystem::remove(name);
    std::optional<Writer> log(std::in_place, name, Options{.sync = policy, .preallocate = 4096});
    log->append("one");
    log->sync();
    log->append("two");  // in the buffers of parent and child
    expect_refused(log, [&] { log->append("three"); });
    expect_refused(log, [&] { log->sync(); });
    expect_refused(log, [&] { log->close(); });
    log->append("three");
    log->close();
    EXPECT_EQ(3U, count(name));
  }
}

TEST_F(Wal_File, AnAsynchronousWriterBelongsToItsProcess) {
  std::optional<Async_Writer> log(std::in_place, Writer(name));
  log->append("one");
  expect_refused(log, [&] { log->append("two"); });
  expect_refused(log, [&] { log->append_async("two"); });
  expect_refused(log, [&] { log->wait(); });
  expect_refused(log, [&] { log->close(); });
  log->append("two");
  log->close();
  EXPECT_EQ(2U, count(name));
}

TEST_F(Wal_File, CopiesBelongToTheirProcess) {
  const std::vector<std::string> names{name, directory.file("b.wal")};
  std::optional<Writer> log(std::in_place,
                            Copies::open(names, Open_Mode::write_existing_or_create_new));
  log->append("one");
  log->sync();
  expect_refused(log, [&] { log->append("two"); });
  log->append("two");
  log->close();
  for (const std::string& copy : names) EXPECT_EQ(2U, count(copy));
}

TEST_F(Wal_File, SegmentsBelongToTheirProcess) {
  const std::string log_name = directory.file("log");
  std::optional<Segmented_Writer> log(std::in_place, log_name);
  log->append("one");
  log->sync();
  expect_refused(log, [&] { log->append("two"); });
  expect_refused(log, [&] { log->release(1); });
  expect_refused(log, [&] { log->rotate(); });
  log->append("two");
  log->close();
}

TEST_F(Wal_File, ASyncSaysThatTheFileWasReplacedOrRemoved) {
  const testing::Destructor_Warnings warnings;
  Writer log(name);
  log.append("one");
  log.sync();
  std::filesystem::rename(name, directory.file("old"));
  log.append("two");
  EXPECT_EQ(name + " was removed: open it again", error_of<File_Replaced>([&] { log.sync(); }));
  EXPECT_THAT(error_of<Write_Disabled>([&] { log.append("three"); }), HasSubstr("was removed"));
}

TEST_F(Wal_File, LeavesARestoredFileAlone) {
  const testing::Destructor_Warnings warnings;
  std::string backup;
  {
    Writer log(name);
    log.append("one");
    log.sync();
    backup = directory.read("a.wal");
    for (int i = 0; i < 10; ++i) log.append("two");
    log.sync();
    log.append("three");
    directory.write("a.wal", backup);
  }
  EXPECT_EQ(backup, directory.read("a.wal"));
  EXPECT_EQ(1U, warnings.lines().size());
}

TEST_F(Wal_File, ReadersThatWaitAreToldThatTheFileWasReplacedOrCut) {
  { Writer(name).append("one"); }
  File file(name, Open_Mode::read_existing);
  Reader reader(file);
  const auto wait = [&] { reader.wait_for_next(std::chrono::milliseconds(1)); };
  while (reader.next()) continue;
  EXPECT_EQ("no error", error_of(wait));
  std::filesystem::resize_file(name, 100);
  EXPECT_THAT(error_of<File_Replaced>(wait),
              HasSubstr(" was truncated by another program, to 100"));
  std::filesystem::remove(name);
  EXPECT_EQ(name + " was removed: open it again", error_of<File_Replaced>(wait));
}

TEST_F(Wal_File, NewSegmentsAreInTheDirectoryThatWasOpened) {
  std::filesystem::create_directory(directory.file("away"));
  EXPECT_EQ("", in_child([&]() -> std::string {
              std::filesystem::current_path(directory.path());
              Segmented_Writer log("log", {}, {.segment_size = 20000});
              std::filesystem::permissions(
                  "log/00000001.wal",
                  std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
              Segmented_Reader reader("log");
              std::filesystem::current_path(directory.file("away"));
              for (int i = 0; i < 60; ++i) log.append(std::string(900, 'a'));
              log.close();
              int entries = 0;
              while (reader.next()) ++entries;
              return entries == 60 ? "" : std::to_string(entries);
            }));
  EXPECT_FALSE(std::filesystem::exists(directory.file("away/log")));
  for (const auto& entry : std::filesystem::directory_iterator(directory.file("log")))
    EXPECT_EQ(std::filesystem::perms::owner_read | std::filesystem::perms::owner_write,
              entry.status().permissions());
}

}  // namespace
}  // namespace joedb::wal
