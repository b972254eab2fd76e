#include "joedb/wal/segments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "joedb/wal/async_writer.h"
#include "testing/error_of.h"
#include "testing/temporary_directory.h"
#include "wal/format.h"

namespace joedb::wal {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Three entries of 1,000 bytes fit in a segment.
constexpr Segment_Options three_entries{.segment_size = log_start + 3 * 1024, .spare_segments = 1};

class Wal_Segments : public ::testing::Test {
 protected:
  void open(Segment_Options segments = three_entries) {
    log_.reset();
    log_.emplace(name_, Options{}, segments);
  }
  // Appends entries up to this one; each begins with its number.
  void append_up_to(std::uint64_t sequence) {
    while (log_->position().sequence <= sequence) {
      std::string text = std::to_string(log_->position().sequence) + " ";
      text.resize(1000, 'x');
      log_->append(text);
    }
    log_->flush();
  }
  std::vector<int> entries() const {
    std::vector<int> result;
    Segmented_Reader reader(name_);
    while (const auto entry = reader.next())
      result.push_back(std::stoi(std::string(entry->text())));
    return result;
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names = Directory(name_).list();
    std::sort(names.begin(), names.end());
    return names;
  }

  const testing::Temporary_Directory directory_;
  const std::string name_ = directory_.file("log");
  std::optional<Segmented_Writer> log_;
};

TEST_F(Wal_Segments, AreReadOneAfterTheOther) {
  open();
  append_up_to(8);
  EXPECT_THAT(entries(), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(files(), ElementsAre("00000001.wal", "00000002.wal", "00000003.wal"));
  open();
  append_up_to(10);
  EXPECT_THAT(entries(), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
}

TEST_F(Wal_Segments, LeaveWhenTheyAreNotNeeded) {
  open();
  append_up_to(8);
  log_->release(4);
  EXPECT_THAT(entries(), ElementsAre(4, 5, 6, 7, 8)) << "4 is in a segment with 5";
  EXPECT_EQ(4U, log_->oldest_sequence());
  EXPECT_THAT(files(), SizeIs(3)) << "one is kept";
  log_->release(6);
  EXPECT_THAT(entries(), ElementsAre(7, 8));
  EXPECT_THAT(files(), SizeIs(2));
}

TEST_F(Wal_Segments, AreWrittenAgain) {
  open();
  for (std::uint64_t i = 3; i < 60; i += 3) {
    append_up_to(i);
    log_->release(i - 1);
    EXPECT_LE(files().size(), 3U);
  }
  EXPECT_THAT(entries(), ElementsAre(55, 56, 57));
  open();
  append_up_to(59);
  EXPECT_THAT(entries(), ElementsAre(55, 56, 57, 58, 59));
}

TEST_F(Wal_Segments, TakeAnEntryThatIsLargerThanOne) {
  open();
  append_up_to(1);
  log_->append("2 " + std::string(100'000, 'x'));
  append_up_to(3);
  EXPECT_THAT(entries(), ElementsAre(1, 2, 3));
  EXPECT_EQ(3U, log_->segments());
}

TEST_F(Wal_Segments, BeginAgainWhenAllIsReleased) {
  open();
  append_up_to(5);
  log_->rotate();
  EXPECT_THAT(entries(), IsEmpty());
  append_up_to(7);
  EXPECT_THAT(entries(), ElementsAre(6, 7));
}

TEST_F(Wal_Segments, AreSought) {
  open();
  append_up_to(8);
  Segmented_Reader reader(name_);
  for (const std::uint64_t sequence : {5U, 1U, 8U, 3U, 4U}) {
    reader.seek(sequence);
    EXPECT_EQ(sequence, reader.next()->position.sequence);
  }
  EXPECT_EQ(name_ + ": there is no good entry 9", error_of([&] { reader.seek(9); }));
  EXPECT_EQ(1U, reader.next()->position.sequence);
}

TEST_F(Wal_Segments, AreReadWhileTheyAreWritten) {
  open();
  Segmented_Reader reader(name_);
  for (std::uint64_t i = 1; i <= 20; ++i) {
    EXPECT_FALSE(reader.next());
    append_up_to(i);
    EXPECT_EQ(i, reader.next()->position.sequence);
    log_->release(i);
  }
}

TEST_F(Wal_Segments, SayWhichEntriesWereReleasedBeforeTheyWereRead) {
  open();
  append_up_to(2);
  Segmented_Reader reader(name_);
  reader.next();
  for (std::uint64_t i = 3; i <= 20; ++i) {
    append_up_to(i);
    log_->release(i);
  }
  while (reader.next()) {
  }
  EXPECT_EQ(Stop::overwritten, reader.end().stop);
  reader.seek_first();
  EXPECT_EQ(19U, reader.next()->position.sequence);
}

TEST_F(Wal_Segments, NoticeThatOneIsMissing) {
  open();
  append_up_to(8);
  log_.reset();
  std::filesystem::remove(name_ + "/00000002.wal");
  Segmented_Reader reader(name_);
  for (int i = 1; i <= 3; ++i) EXPECT_TRUE(reader.next());
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(Stop::wrong_order, reader.end().stop);
  EXPECT_EQ(4U, reader.end().position.sequence);
}

TEST_F(Wal_Segments, OfDifferentLogsAreNotMixed) {
  open();
  append_up_to(2);
  log_.reset();
  Writer(name_ + "/00000009.wal").append("other");
  EXPECT_THAT(error_of([&] { open(); }), ::testing::EndsWith("belong to different logs"));
}

TEST_F(Wal_Segments, HaveOneWriter) {
  open();
  EXPECT_THROW(Segmented_Writer{name_}, Io_Error);
}

TEST_F(Wal_Segments, LeaveOtherFilesAlone) {
  open();
  directory_.write("log/notes.txt", "mine");
  directory_.write("log/1.wal", "mine");
  append_up_to(4);
  log_->rotate();
  open();
  EXPECT_EQ("mine", directory_.read("log/notes.txt"));
  EXPECT_EQ("mine", directory_.read("log/1.wal"));
}

TEST_F(Wal_Segments, CanBeWrittenByManyThreads) {
  open();
  Async_Writer log(std::move(*log_));
  for (int i = 1; i <= 10; ++i) log.append(std::to_string(i) + std::string(998, ' '));
  log.release(6);
  EXPECT_THAT(entries(), ElementsAre(7, 8, 9, 10));
  log.rotate();
  EXPECT_THAT(entries(), IsEmpty());
}

TEST_F(Wal_Segments, RefuseWhatMakesNoSense) {
  EXPECT_EQ("a segment has more than 16384 bytes",
            error_of([&] { open({.segment_size = 16384}); }));
  EXPECT_EQ("a log of segments has the format `checked`, and no batches",
            error_of([&] { Segmented_Writer(name_, {.batch_size = 100000}); }));
  EXPECT_THROW(Segmented_Reader(directory_.file("none")), Io_Error);
}

}  // namespace
}  // namespace joedb::wal
