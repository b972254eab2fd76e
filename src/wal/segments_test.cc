#include "joedb/wal/segments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <utility>

#include "joedb/wal/log.h"
#include "support/error_of.h"
#include "support/temporary_directory.h"
#include "wal/format.h"

namespace joedb::wal {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A segment has room for three entries of 1,000 bytes.
constexpr Segment_Options three_entries{.segment_size = log_start + 3 * 1024, .spare_segments = 1};

class Wal_Segments : public ::testing::Test {
 protected:
  void open(Segment_Options segments = three_entries) {
    log_.reset();
    log_.emplace(name_, Options{}, segments);
  }
  // Appends entries up to entry `sequence`; each begins with its number.
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

  // Flips a bit in entry `entry`, from 0, of a segment.
  void damage(const std::string& segment, std::size_t entry) {
    std::string content = directory_.read("log/" + segment);
    content[static_cast<std::size_t>(log_start) + entry * 1024 + 500] ^= 1;
    directory_.write("log/" + segment, content);
  }
  void remove(const std::string& segment) { std::filesystem::remove(name_ + "/" + segment); }
  // Writes eight entries in three segments, which begin with entries 1, 4 and 7.
  void write_three_segments() {
    open();
    append_up_to(8);
    log_.reset();
  }
  std::string writer_refusal() {
    std::string refusal = error_of([&] { open(); });
    log_.reset();
    const auto advice = refusal.find(". Nothing is written to this log.");
    EXPECT_NE(advice, refusal.npos) << refusal;
    return refusal.substr(0, advice);
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

// A directory that runs `meanwhile` once, before it opens a file for writing.
class Slow_Directory : public Abstract_Directory {
 public:
  Slow_Directory(const std::string& name, std::function<void()> meanwhile)
      : real_(Directory::make(name)), meanwhile_(std::move(meanwhile)) {}
  const std::string& get_name() const override { return real_.get_name(); }
  std::vector<std::string> list() const override { return real_.list(); }
  std::unique_ptr<Abstract_File> open(const std::string& name, Open_Mode mode) override {
    if (mode != Open_Mode::read_existing && meanwhile_) std::exchange(meanwhile_, {})();
    return real_.open(name, mode);
  }
  void remove(const std::string& name) override { real_.remove(name); }

 private:
  Directory real_;
  std::function<void()> meanwhile_;
};

TEST_F(Wal_Segments, AreBegunByOneOfThoseWhoBeginThemAtOnce) {
  for (const int left : {0, 1, 2}) {  // no file, an empty first segment, or an empty later one
    std::filesystem::remove_all(name_);
    std::filesystem::create_directory(name_);
    if (left > 0) directory_.write(left == 1 ? "log/00000001.wal" : "log/00000007.wal", "");
    Slow_Directory directory(name_, [this] {
      open();
      append_up_to(7);
      log_->release(6);
      log_->sync();
      log_.reset();
    });
    Segmented_Writer log(directory, {}, three_entries);
    EXPECT_EQ(8U, log.append("8 of this program").sequence);
    log.sync();
    EXPECT_THAT(entries(), ElementsAre(7, 8)) << left;
  }
}

TEST_F(Wal_Segments, AreRefusedToWhoFindsThemBegunByAnother) {
  directory_.write("log/00000001.wal", "");
  Slow_Directory directory(name_, [this] {
    open();
    append_up_to(2);
  });
  EXPECT_THROW(Segmented_Writer(directory, {}, three_entries), Io_Error);
  append_up_to(3);
  EXPECT_THAT(entries(), ElementsAre(1, 2, 3));
}

// Another writer, which is looking for the last segment, locks each candidate for a moment.
TEST_F(Wal_Segments, GoOnWhereAnotherProgramHasTheSpareOne) {
  open();
  append_up_to(4);
  log_->release(3);
  const auto other = Directory(name_).open("00000001.wal", Open_Mode::write_existing);
  append_up_to(10);
  EXPECT_THAT(entries(), ElementsAre(4, 5, 6, 7, 8, 9, 10));
}

TEST_F(Wal_Segments, AreOpenedThoughTheLastOneIsReleasedMeanwhile) {
  open();
  append_up_to(2);
  log_.reset();
  Slow_Directory directory(name_, [this] {
    open({.segment_size = log_start + 3 * 1024, .spare_segments = 0});
    append_up_to(4);
    log_->release(2);
    log_.reset();
  });
  EXPECT_EQ(5U, Segmented_Writer(directory, {}, three_entries).append("5").sequence);
  EXPECT_THAT(entries(), ElementsAre(3, 4, 5));
}

TEST_F(Wal_Segments, AreFollowedWhereTheOneThatWasReadIsRecycled) {
  open();
  append_up_to(3);
  Segmented_Reader reader(name_);
  while (reader.next()) {
  }
  append_up_to(6);
  log_->release(3);
  append_up_to(7);
  for (std::uint64_t i = 4; i <= 7; ++i) {
    const auto entry = reader.next();
    ASSERT_TRUE(entry) << reader.end().text();
    EXPECT_EQ(i, entry->position.sequence);
  }
}

// A reader is at the end of the log. Its segment is released, and later ones, too.
TEST_F(Wal_Segments, ThatWereReleasedAreNotTakenForTheEndOfTheLog) {
  for (std::size_t spare = 0; spare <= 3; ++spare)
    for (const std::uint64_t start : {2U, 6U, 10U})
      for (const std::uint64_t more : {1U, 3U, 5U, 8U, 11U, 14U}) {
        std::filesystem::remove_all(name_);
        open({.segment_size = log_start + 3 * 1024, .spare_segments = spare});
        append_up_to(start);
        if (start > 4) log_->release(start - 4);
        Segmented_Reader reader(name_);
        while (reader.next()) {
        }
        ASSERT_EQ(start + 1, reader.position().sequence);
        append_up_to(start + more);
        log_->release(start + more - 1);
        std::uint64_t last = start;
        while (const auto entry = reader.next()) {
          ASSERT_EQ(last + 1, entry->position.sequence);
          last = entry->position.sequence;
        }
        ASSERT_TRUE(last == start + more || reader.end().stop == Stop::overwritten)
            << spare << " spare, from " << start << ", " << more << " more: " << last << ", "
            << reader.end().text();
        reader.seek_first();
        while (const auto entry = reader.next()) last = entry->position.sequence;
        ASSERT_EQ(start + more, last);
      }
}

// A writer appends and releases after the reader has listed the names, and before it reads headers.
TEST_F(Wal_Segments, HaveNoGapForAReaderThatBeginsWhileTheyAreRecycled) {
  class Moved : public Abstract_Directory {
   public:
    Moved(Directory real, std::function<void()> meanwhile)
        : real_(std::move(real)), meanwhile_(std::move(meanwhile)) {}
    const std::string& get_name() const override { return real_.get_name(); }
    std::vector<std::string> list() const override {
      auto names = real_.list();
      if (meanwhile_) std::exchange(meanwhile_, {})();
      return names;
    }
    std::unique_ptr<Abstract_File> open(const std::string& name, Open_Mode mode) override {
      return real_.open(name, mode);
    }
    void remove(const std::string& name) override { real_.remove(name); }

   private:
    Directory real_;
    mutable std::function<void()> meanwhile_;
  };
  for (std::size_t spare = 0; spare <= 2; ++spare)
    for (std::uint64_t more = 1; more <= 20; ++more) {
      std::filesystem::remove_all(name_);
      open({.segment_size = log_start + 3 * 1024, .spare_segments = spare});
      append_up_to(6);
      Moved directory(Directory(name_), [&] {
        for (std::uint64_t i = 7; i <= 6 + more; ++i) {
          append_up_to(i);
          log_->release(i - 4);
        }
      });
      Segmented_Reader reader(directory);
      std::uint64_t last = 0;
      while (last < 6 + more) {
        if (const auto entry = reader.next()) {
          last = entry->position.sequence;
          continue;
        }
        ASSERT_EQ(Stop::overwritten, reader.end().stop) << spare << " spare, " << more << " more";
        reader.seek_first();
      }
    }
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

// ---- missing and damaged segments ---------------------------------------------------------------

TEST_F(Wal_Segments, RefuseAWriterWhereOneIsMissing) {
  write_three_segments();
  remove("00000002.wal");
  EXPECT_EQ(name_ + ": entries 4 to 6 are missing, between 00000001.wal and 00000003.wal",
            writer_refusal());
}

TEST_F(Wal_Segments, RefuseAWriterWhereTheFirstIsMissing) {
  write_three_segments();
  remove("00000001.wal");
  EXPECT_EQ(name_ +
                ": entries 1 to 3 are missing: the first segment is 00000002.wal, and begins with "
                "entry 4",
            writer_refusal());
}

TEST_F(Wal_Segments, RefuseAWriterWhereOneIsDamaged) {
  write_three_segments();
  damage("00000002.wal", 1);
  EXPECT_EQ(
      name_ +
          ": entries 5 to 6 cannot be read: 00000002.wal is damaged at offset 17408 (checksum: "
          "these bytes are not those that were written), and 00000003.wal begins with entry 7",
      writer_refusal());
}

TEST_F(Wal_Segments, RefuseAWriterWhereOneWasCut) {
  write_three_segments();
  std::filesystem::resize_file(name_ + "/00000002.wal", log_start + 2 * 1024);
  EXPECT_EQ(name_ +
                ": entry 6 cannot be read: 00000002.wal is damaged at offset 18432 (the end of the "
                "log), and 00000003.wal begins with entry 7",
            writer_refusal());
}

TEST_F(Wal_Segments, RefuseAWriterWhereOneIsAnOlderCopy) {
  open();
  append_up_to(4);
  const std::string old = directory_.read("log/00000002.wal");
  append_up_to(8);
  log_.reset();
  directory_.write("log/00000002.wal", old);
  EXPECT_EQ(
      name_ +
          ": entries 5 to 6 cannot be read: 00000002.wal is damaged at offset 17408 (the end of "
          "the log), and 00000003.wal begins with entry 7",
      writer_refusal());
}

TEST_F(Wal_Segments, RefuseAWriterWhereOneIsThereTwice) {
  write_three_segments();
  std::filesystem::copy(name_ + "/00000002.wal", name_ + "/00000009.wal");
  EXPECT_EQ(name_ +
                ": 00000009.wal begins with entry 4, but 00000002.wal before it ends with "
                "entry 6",
            writer_refusal());
}

TEST_F(Wal_Segments, RefuseAWriterWhereAHeaderIsDamaged) {
  write_three_segments();
  std::string content = directory_.read("log/00000002.wal");
  content[20] ^= 1;
  content[static_cast<std::size_t>(copy_offset) + 20] ^= 1;
  directory_.write("log/00000002.wal", content);
  EXPECT_EQ(name_ + "/00000002.wal: no header of this log is good", writer_refusal());
  EXPECT_THROW(Segmented_Reader{name_}, Corruption_Error);
}

// Damages each entry, and removes each segment but the last.
TEST_F(Wal_Segments, AreNeverReadOverAGap) {
  write_three_segments();
  const std::string backup = directory_.file("backup");
  std::filesystem::copy(name_, backup);
  for (std::size_t entry = 0; entry < 6; ++entry)
    for (const bool is_removed : {false, true}) {
      const std::string segment = entry < 3 ? "00000001.wal" : "00000002.wal";
      if (is_removed)
        remove(segment);
      else
        damage(segment, entry % 3);
      const std::size_t good = is_removed ? entry / 3 * 3 : entry;
      EXPECT_THAT(entries(), SizeIs(good));
      EXPECT_THROW(open(), Corruption_Error);
      std::filesystem::copy(backup, name_,
                            std::filesystem::copy_options::recursive |
                                std::filesystem::copy_options::overwrite_existing);
      EXPECT_THAT(entries(), SizeIs(8));
    }
}

TEST_F(Wal_Segments, SayWhyTheyAreNotReadOn) {
  write_three_segments();
  damage("00000002.wal", 1);
  Segmented_Reader reader(name_);
  for (int i = 1; i <= 4; ++i) EXPECT_TRUE(reader.next());
  for (int i = 0; i < 2; ++i) {  // the reader stays at the same position
    EXPECT_FALSE(reader.next());
    EXPECT_EQ(Stop::checksum, reader.end().stop);
    EXPECT_EQ((Position{5, 17408}), reader.end().position);
    EXPECT_EQ("00000002.wal", reader.segment());
  }
  remove("00000002.wal");
  reader.seek_first();
  for (int i = 1; i <= 3; ++i) EXPECT_TRUE(reader.next());
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(Stop::missing, reader.end().stop);
  EXPECT_EQ(4U, reader.end().position.sequence);

  reader.seek(7);  // seek() may skip entries; next() does not
  EXPECT_EQ(7U, reader.next()->position.sequence);
  EXPECT_EQ("00000003.wal", reader.segment());

  remove("00000001.wal");
  reader.seek_first();
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(Stop::missing, reader.end().stop);
  EXPECT_EQ(1U, reader.position().sequence);
}

TEST_F(Wal_Segments, MayBeOpenedWithoutReadingAll) {
  constexpr Segment_Options headers_only{
      .segment_size = three_entries.segment_size, .spare_segments = 1, .check_entries = false};
  write_three_segments();
  damage("00000001.wal", 1);
  open(headers_only);
  append_up_to(9);
  log_.reset();
  remove("00000002.wal");
  EXPECT_THROW(open(headers_only), Corruption_Error);
}

TEST_F(Wal_Segments, ThatAreNotNeededMayBeMissingOrDamaged) {
  open({.segment_size = three_entries.segment_size, .spare_segments = 3});
  append_up_to(14);
  log_->release(9);
  log_.reset();
  damage("00000003.wal", 1);
  remove("00000002.wal");
  EXPECT_THAT(entries(), ElementsAre(10, 11, 12, 13, 14));
  open();
  append_up_to(22);  // recycles two segments
  EXPECT_THAT(entries(), SizeIs(13));
}

// ---- numbers of file system calls ---------------------------------------------------------------

// Counts the calls to a directory.
class Counting_Directory : public Abstract_Directory {
 public:
  explicit Counting_Directory(const std::string& name) : directory_(name) {}
  const std::string& get_name() const override { return directory_.get_name(); }
  std::vector<std::string> list() const override {
    ++lists;
    return directory_.list();
  }
  std::unique_ptr<Abstract_File> open(const std::string& name, Open_Mode mode) override {
    ++opens;
    return directory_.open(name, mode);
  }
  void remove(const std::string& name) override { directory_.remove(name); }

  mutable int lists = 0;
  int opens = 0;

 private:
  Directory directory_;
};

TEST_F(Wal_Segments, AreOpenedTwiceToBeRead) {
  open();
  append_up_to(60);
  Counting_Directory directory(name_);
  Segmented_Reader reader(directory);
  for (int i = 1; i <= 60; ++i) EXPECT_TRUE(reader.next());
  EXPECT_EQ(2, directory.lists);
  EXPECT_EQ(40, directory.opens) << "20 segments: once for the header, once for the entries";
}

TEST_F(Wal_Segments, AreNotListedByAReaderThatWaits) {
  open();
  append_up_to(60);
  log_->release(30);  // one segment is kept as a spare
  Counting_Directory directory(name_);
  Segmented_Reader reader(directory);
  while (reader.next()) {
  }
  directory.lists = directory.opens = 0;
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(reader.next());
  EXPECT_EQ(0, directory.lists);
  EXPECT_LE(directory.opens, 10 * 3) << "the next one, the one that is kept, and this one";
  append_up_to(66);  // in the spare segment, then in a new file
  for (std::uint64_t i = 61; i <= 66; ++i) EXPECT_EQ(i, reader.next()->position.sequence);
  EXPECT_EQ(0, directory.lists);
}

}  // namespace
}  // namespace joedb::wal
