#include "joedb/wal/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "joedb/io/memory_file.h"
#include "joedb/io/posix_file.h"
#include "joedb/wal/recover.h"
#include "joedb/wal/writer.h"
#include "testing/error_of.h"
#include "testing/temporary_directory.h"
#include "wal/format.h"

namespace joedb::wal {
namespace {

using ::testing::ElementsAre;
using testing::error_of;

class Wal_Reader : public ::testing::Test {
 protected:
  // Writes a log; each entry of up to 8 bytes takes 32.
  void write(std::initializer_list<std::string_view> entries, Options options = {}) {
    Writer log(file_, std::move(options));
    for (const std::string_view entry : entries) log.append(entry);
    log.sync();
  }
  std::vector<char>& data() { return file_.get_data(); }
  void damage(Offset offset) { data()[static_cast<std::size_t>(offset)] ^= 1; }
  void cut(Offset size) { file_.truncate(size); }
  // Entry i, from 0, of a log whose entries have up to 8 bytes.
  Offset place(int i) const { return log_start + 32 * i; }

  // The entries, then why there are no more, and where.
  std::vector<std::string> read() {
    std::vector<std::string> result;
    Reader reader(file_);
    while (const auto entry = reader.next()) result.emplace_back(entry->text());
    const std::string text = reader.end().text();
    result.push_back(text.substr(0, text.find(':')) + " " +
                     std::to_string(reader.end().position.sequence));
    return result;
  }

  Memory_File file_;
};

TEST_F(Wal_Reader, OfANewFileFindsNothing) {
  EXPECT_THAT(read(), ElementsAre("the end of the log 1"));
}

TEST_F(Wal_Reader, OfALogWithoutEntriesFindsNothing) {
  write({});
  EXPECT_EQ(log_start, file_.get_size());
  EXPECT_THAT(read(), ElementsAre("the end of the log 1"));
  cut(log_start - 1);
  EXPECT_THAT(read(), ElementsAre("torn 1"));
}

TEST_F(Wal_Reader, StopsAtTheEnd) {
  write({"one", "two"});
  EXPECT_THAT(read(), ElementsAre("one", "two", "the end of the log 3"));
}

TEST_F(Wal_Reader, StopsAtATornEntry) {
  write({"one", "two"});
  cut(place(1) + 26);
  EXPECT_THAT(read(), ElementsAre("one", "torn 2"));
  cut(place(1) + 20);
  EXPECT_THAT(read(), ElementsAre("one", "torn 2"));
}

TEST_F(Wal_Reader, StopsAtDamage) {
  write({"one", "two", "three"});
  damage(place(1) + 25);
  EXPECT_THAT(read(), ElementsAre("one", "checksum 2"));
}

// A damaged length is not believed, so that it takes no memory.
TEST_F(Wal_Reader, ChecksALengthBeforeItIsUsed) {
  write({"one", "two"});
  std::memset(&data()[static_cast<std::size_t>(place(1)) + 8], 0x7f, 4);
  EXPECT_THAT(read(), ElementsAre("one", "checksum 2"));
}

TEST_F(Wal_Reader, NoticesAnyFlippedBitOfAnEntry) {
  write({"12345678", "12345678", "12345678"});
  for (Offset offset = place(1); offset < place(2); ++offset)
    for (int bit = 0; bit < 8; ++bit) {
      char& byte = data()[static_cast<std::size_t>(offset)];
      byte ^= static_cast<char>(1 << bit);
      EXPECT_EQ(2U, read().size()) << "offset " << offset << ", bit " << bit;
      byte ^= static_cast<char>(1 << bit);
    }
}

TEST_F(Wal_Reader, NoticesEntriesThatChangedPlaces) {
  write({"one", "two", "three"});
  std::swap_ranges(&data()[static_cast<std::size_t>(place(1))],
                   &data()[static_cast<std::size_t>(place(2))],
                   &data()[static_cast<std::size_t>(place(2))]);
  EXPECT_THAT(read(), ElementsAre("one", "wrong order 2"));
}

TEST_F(Wal_Reader, NoticesAnEntryOfAnotherHistory) {
  write({"one", "two", "three", "four"});
  const std::vector<char> first = data();
  cut(place(1));
  write({"TWO", "three"});  // behind a marker of the size of an entry
  std::copy(first.begin() + place(3), first.end(), data().begin() + place(3));
  EXPECT_THAT(read(), ElementsAre("one", "TWO", "wrong order 3"));
}

TEST_F(Wal_Reader, NoticesEntriesFromBeforeARotation) {
  write({"one", "two", "three"});
  const std::vector<char> before = data();
  {
    Writer log(file_);
    log.rotate();
    log.append("four");
    log.sync();
  }
  EXPECT_THAT(read(), ElementsAre("four", "the end of the log 5"));
  std::copy(before.begin() + place(1), before.end(), data().begin() + place(1));
  EXPECT_THAT(read(), ElementsAre("four", "wrong epoch 5"));
}

TEST_F(Wal_Reader, GoesToAnEntry) {
  write({"one", "two", "three"});
  Reader reader(file_);
  reader.seek({3, place(2)});
  EXPECT_EQ("three", reader.next()->text());
  EXPECT_FALSE(reader.next());
  reader.seek({2, place(1)});
  EXPECT_EQ("two", reader.next()->text());
  EXPECT_EQ("three", reader.next()->text());
  reader.seek_first();
  EXPECT_EQ("one", reader.next()->text());
}

TEST_F(Wal_Reader, StaysWhereItIsIfThereIsNoSuchEntry) {
  write({"one", "two", "three"});
  Reader reader(file_);
  reader.next();
  for (const Position position : {Position{2, place(2)}, Position{3, place(2) + 8}, Position{1, 0},
                                  Position{9, 1 << 20}, Position{2, -8}, Position{3, place(2) + 1}})
    EXPECT_EQ("memory: there is no good entry " + std::to_string(position.sequence) +
                  " at offset " + std::to_string(position.offset),
              error_of([&] { reader.seek(position); }));
  EXPECT_EQ("two", reader.next()->text());
}

TEST_F(Wal_Reader, FollowsARotation) {
  Writer log(file_);
  Reader reader(file_);
  log.append("one");
  log.flush();
  EXPECT_EQ("one", reader.next()->text());
  log.rotate();
  EXPECT_FALSE(reader.next());
  log.append("two");
  log.flush();
  EXPECT_EQ("two", reader.next()->text());
  EXPECT_FALSE(reader.next());
}

TEST_F(Wal_Reader, SaysIfARotationHasTakenEntriesAway) {
  Writer log(file_);
  Reader reader(file_);
  log.append("one");
  log.append("two");
  log.rotate();
  log.append("three");
  log.sync();
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(Stop::overwritten, reader.end().stop);
  EXPECT_FALSE(reader.wait_for_next(std::chrono::hours(1))) << "it does not wait for ever";
  reader.seek_first();
  EXPECT_EQ("three", reader.next()->text());
}

TEST_F(Wal_Reader, WaitsForAnEntry) {
  Writer log(file_);
  Reader reader(file_);
  EXPECT_FALSE(reader.wait_for_next(std::chrono::milliseconds(2)));
  log.append("one");
  log.flush();
  EXPECT_EQ("one", reader.wait_for_next(std::chrono::hours(1))->text());
}

// ---- the format of CWal -------------------------------------------------------------------------

TEST_F(Wal_Reader, ReadsAFileOfCWal) {
  write({"one", "two"}, {.format = Format::cwal});
  EXPECT_THAT(read(), ElementsAre("one", "two", "the end of the log 3"));
  damage(9);
  EXPECT_THAT(read(), ElementsAre("checksum 1"));
  damage(9);
  cut(20);
  EXPECT_THAT(read(), ElementsAre("one", "torn 2"));
}

TEST_F(Wal_Reader, TakesZerosAtTheEndOfAFileOfCWalForNoEntries) {
  write({"one"}, {.format = Format::cwal});
  data().resize(data().size() + 12);
  const std::vector<char> end = data();
  EXPECT_THAT(read(), ElementsAre("one", "the end of the log 2"));
  data().insert(data().end(), end.begin(), end.begin() + 15);
  EXPECT_THAT(read(), ElementsAre("one", "", "one", "the end of the log 4")) << "CWal wrote that";
}

TEST_F(Wal_Reader, ChecksALengthOfCWalBeforeItIsUsed) {
  write({"one", "two"}, {.format = Format::cwal});
  std::memset(&data()[15], 0xff, 8);
  EXPECT_THAT(read(), ElementsAre("one", "torn 2"));
}

// ---- maps ---------------------------------------------------------------------------------------

class Wal_Map : public ::testing::Test {
 protected:
  Wal_Map() {
    Writer log(name_);
    for (int i = 0; i < 1000; ++i) log.append(std::string(1000, static_cast<char>('a' + i % 26)));
  }
  void cut(Offset size) { File(name_, Open_Mode::write_existing).truncate(size); }

  const testing::Temporary_Directory directory_;
  const std::string name_ = directory_.file("a.wal");
};

TEST_F(Wal_Map, ShowsBytesThatStayWhereTheyAre) {
  Reader reader = Reader::map(name_);
  std::vector<Entry> entries;
  while (const auto entry = reader.next()) entries.push_back(*entry);
  ASSERT_EQ(1000U, entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i)
    EXPECT_EQ(std::string(1000, static_cast<char>('a' + i % 26)), entries[i].text());
}

TEST_F(Wal_Map, SurvivesThatSomebodyCutsTheFile) {
  Reader reader = Reader::map(name_);
  const Entry first = *reader.next();
  cut(0);
  EXPECT_EQ(std::string(1000, '\0'), first.text()) << "no signal";
  EXPECT_EQ(
      "reading through a map (it was cut, or cannot be read) " + name_ + ": Input/output error",
      error_of([&] { reader.next(); }));
}

TEST_F(Wal_Map, DoesNotMindACutBehindWhatItReads) {
  Reader reader = Reader::map(name_);
  const Entry first = *reader.next();
  cut(log_start + 4096);
  EXPECT_EQ(std::string(1000, 'a'), first.text());
}

// ---- recover ------------------------------------------------------------------------------------

TEST_F(Wal_Reader, RecoverRemovesWhatIsBehindTheEnd) {
  write({"one", "two", "three"});
  damage(place(2) + 24);
  EXPECT_EQ(Stop::checksum, recover(file_).end.stop);
  EXPECT_EQ(place(3), file_.get_size());
  recover(file_, Tail::zero);
  EXPECT_EQ(place(3), file_.get_size());
  EXPECT_THAT(read(), ElementsAre("one", "two", "the end of the log 3"));
  recover(file_, Tail::truncate);
  EXPECT_EQ(place(2), file_.get_size());
}

TEST_F(Wal_Reader, AWriterDoesNotCutOffEntriesThatWereDurable) {
  write({"one"});
  write({"two"});
  write({"three"});
  damage(place(1) + 24);
  const Report report = examine(file_);
  EXPECT_TRUE(report.is_damaged());
  EXPECT_EQ(
      "1 entry, 1 to 1; at offset 16416: checksum: these bytes are not those that were "
      "written; behind it, from offset 16448, 2 good entries: entries that were durable are "
      "damaged",
      report.text());
  EXPECT_EQ("memory: " + report.text() + ". Nothing is written to it; joedb wal repair can cut it",
            error_of([&] { Writer log(file_); }));
}

TEST_F(Wal_Reader, AWriterRemovesEntriesThatAPowerCutLeftBehindALostOne) {
  write({"one", "two", "three"});  // in one sync
  damage(place(1) + 24);
  EXPECT_FALSE(examine(file_).is_damaged());
  EXPECT_EQ(1U, examine(file_).later_entries);
  write({"TWO"});
  EXPECT_THAT(read(), ElementsAre("one", "TWO", "the end of the log 3"));
}

}  // namespace
}  // namespace joedb::wal
