#include "joedb/wal/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include "joedb/io/file.h"
#include "joedb/io/memory_file.h"
#include "joedb/io/posix_file.h"
#include "kernel/io/file_pieces.h"
#include "support/error_of.h"
#include "support/simulated_system.h"
#include "support/temporary_directory.h"
#include "wal/format.h"
#include "wal/recovery.h"

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
  // Returns the offset of entry i, from 0, of a log whose entries have up to 8 bytes.
  Offset place(int i) const { return log_start + 32 * i; }

  // Returns the entries, and then the reason why the reader stopped and the number of the next
  // entry.
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

// A damaged length must not make the reader allocate memory.
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
  write({"TWO", "three"});  // after a marker, which has the size of an entry
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
  testing::Simulated_System system;
  EXPECT_FALSE(reader.wait_for_next(std::chrono::hours(1), system));
  EXPECT_EQ(std::chrono::hours(1), system.passed());
  system.on_sleep = [&] {
    if (system.passed() < std::chrono::hours(2)) return;
    log.append("one");
    log.flush();
  };
  EXPECT_EQ("one", reader.wait_for_next(std::chrono::hours(5), system)->text());
  EXPECT_GE(system.passed(), std::chrono::hours(2));
  EXPECT_LT(system.passed(), std::chrono::hours(3));
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
  cut(place(2) + 24);
  EXPECT_EQ(Stop::torn, recover(file_).end.stop);
  EXPECT_EQ(place(2) + 24, file_.get_size());
  recover(file_, Tail::zero);
  EXPECT_EQ(place(2) + 24, file_.get_size());
  EXPECT_THAT(read(), ElementsAre("one", "two", "the end of the log 3"));
  recover(file_, Tail::truncate);
  EXPECT_EQ(place(2), file_.get_size());
}

TEST_F(Wal_Reader, AWriterDoesNotCutOffEntriesThatWereDurable) {
  write({"one"});
  write({"two"});
  write({"three"});
  damage(place(1) + 24 + 64);  // after a mark and a marker
  const Report report = examine(file_);
  EXPECT_TRUE(report.is_damaged());
  EXPECT_EQ(
      "1 entry, 1 to 1; at offset 16480: checksum: these bytes are not those that were written; "
      "behind it, from offset 16512, 1 good entry; entry 2 was durable and is damaged",
      report.text());
  EXPECT_EQ("memory: " + report.text() +
                ". Nothing was changed. joedb wal verify memory shows what is there; joedb wal "
                "repair memory cuts the log before the damaged entry, and saves the good ones "
                "behind it in a file",
            error_of([&] { Writer log(file_); }));
}

// Damages bytes of a hundred entries. The entries were synced once, before the log was closed.
TEST_F(Wal_Reader, AClosedLogKnowsThatItsLastEntriesWereDurable) {
  {
    Writer log(file_);
    for (int i = 0; i < 100; ++i) log.append(std::to_string(i));
    log.sync();
  }
  const std::vector<char> good = data();
  for (Offset offset = place(0); offset < place(100); offset += 7) {
    const Offset in_entry = (offset - log_start) % 32;
    if (in_entry >= 25) continue;  // padding
    damage(offset);
    EXPECT_THROW(Writer(file_, {}), Corruption_Error) << offset;
    EXPECT_EQ(100U, examine(file_).known_durable);
    data() = good;
  }
}

TEST_F(Wal_Reader, SaysWhatIsKnownToBeDurable) {
  Writer log(file_);
  for (int i = 0; i < 3; ++i) log.append("12345678");
  log.flush();
  EXPECT_EQ(0U, examine(file_).known_durable);
  EXPECT_EQ(log_start, examine(file_).durable_offset);
  log.sync();
  log.append("four");
  log.flush();
  EXPECT_EQ(3U, examine(file_).known_durable) << "the next entry says so";
  log.sync();
  log.close();
  const Report report = examine(file_);
  EXPECT_EQ(4U, report.known_durable) << "a mark says so";
  EXPECT_EQ(place(4), report.durable_offset);
  EXPECT_EQ(place(5), report.end.position.offset) << "the mark itself may be lost";
}

// ---- good entries after a damaged one -----------------------------------------------------------

class Wal_Later : public ::testing::Test {
 protected:
  // Writes the log of a process that was killed before it recorded how much is durable.
  void write(int entries) {
    Memory_File memory;
    Writer log(memory);
    for (int i = 1; i <= entries; ++i) log.append(std::to_string(i));
    log.sync();
    File file(name_, Open_Mode::write_existing_or_create_new);
    file.truncate(0);
    copy_end(memory, 0, file);
  }
  void damage(int entry) {
    File(name_, Open_Mode::write_existing).pwrite("X", 1, log_start + 32 * (entry - 1) + 24);
  }
  std::string saved(int number = 1) const {
    return name_ + ".tail-16448" + (number == 1 ? "" : "-" + std::to_string(number));
  }
  static std::vector<std::uint64_t> later(const std::string& name) {
    const File file(name, Open_Mode::read_existing);
    std::vector<std::uint64_t> result;
    find_later_entries(file, read_header(file)->header, examine(file).end.position,
                       [&](const Later_Entry& entry) { result.push_back(entry.header.sequence); });
    return result;
  }

  const testing::Temporary_Directory directory_;
  const std::string name_ = directory_.file("a.wal");
};

TEST_F(Wal_Later, AWriterSavesThemBeforeItGoesOn) {
  write(6);
  damage(3);
  EXPECT_FALSE(examine(File(name_, Open_Mode::read_existing)).is_damaged());
  Writer log(name_);
  EXPECT_EQ(saved(), log.found().saved);
  EXPECT_EQ(3U, log.append("new").sequence);
  log.sync();
  EXPECT_THAT(later(saved()), ElementsAre(4, 5, 6));
  EXPECT_THAT(later(name_), ElementsAre());
  EXPECT_EQ(3U, examine(File(saved(), Open_Mode::read_existing)).end.position.sequence);
}

TEST_F(Wal_Later, ArePutBesideWhatWasSavedBefore) {
  for (const int entries : {5, 6, 6}) {
    write(entries);
    damage(3);
    Writer log(name_);
  }
  EXPECT_THAT(later(saved()), ElementsAre(4, 5));
  EXPECT_THAT(later(saved(2)), ElementsAre(4, 5, 6)) << "another log of the same name";
  EXPECT_TRUE(std::filesystem::exists(saved(3)));
}

TEST_F(Wal_Later, AreNotWrittenThroughALink) {
  write(6);
  damage(3);
  const std::string other = directory_.file("other");
  std::ofstream(other, std::ios::binary) << "joedbwal";
  std::filesystem::create_symlink(other, saved());
  EXPECT_EQ(saved(), Writer(name_).found().saved);
  EXPECT_FALSE(std::filesystem::is_symlink(saved()));
  EXPECT_EQ(std::filesystem::file_size(other), 8U);
}

TEST_F(Wal_Later, AreSavedOnceIfTheFirstAttemptWasCutOff) {
  write(6);
  damage(3);
  recover(*std::make_unique<File>(name_, Open_Mode::write_existing), Tail::keep);
  std::ofstream(saved(), std::ios::binary) << "joedbwal";
  EXPECT_EQ(saved(), Writer(name_).found().saved);
  EXPECT_THAT(later(saved()), ElementsAre(4, 5, 6));
}

TEST_F(Wal_Later, AreNotRemovedWhereTheyCannotBeSaved) {
  Memory_File file;
  {
    Writer log(file);
    for (int i = 1; i <= 6; ++i) log.append(std::to_string(i));
    log.flush();
    Memory_File killed;
    copy_end(file, 0, killed);
    killed.get_data()[static_cast<std::size_t>(log_start) + 32 + 24] ^= 1;
    const std::vector<char> before = killed.get_data();
    EXPECT_THROW(Writer(killed, {}), Corruption_Error);
    EXPECT_THROW(recover(killed, Tail::truncate), Corruption_Error);
    EXPECT_EQ(before, killed.get_data());
  }
}

TEST_F(Wal_Later, OfCWalAreALogOfTheirOwn) {
  {
    Writer log(name_, {.format = Format::cwal});
    for (const char* const entry : {"one", "two", "three", "four"}) log.append(entry);
  }
  File file(name_, Open_Mode::write_existing);
  file.pwrite("X", 1, 15 + 8);
  const Report report = recover(file, Tail::truncate);
  EXPECT_EQ(2U, report.later_entries);
  EXPECT_EQ(15, file.get_size());
  Reader reader(report.saved);
  EXPECT_EQ("three", reader.next()->text());
  EXPECT_EQ("four", reader.next()->text());
  EXPECT_FALSE(reader.next());
}

// A writer begins the log just after the reader has looked for the header.
TEST_F(Wal_Reader, ThatStartsTogetherWithItsWriterFindsNoDamage) {
  class Begun_Meanwhile final : public Readonly_File {
   public:
    Begun_Meanwhile(Memory_File& file, int reads, std::function<void()> begin)
        : Readonly_File("a log"), file_(file), reads_(reads), begin_(std::move(begin)) {}
    Offset get_size() const override { return file_.get_size(); }
    std::size_t pread(char* data, std::size_t size, Offset offset) const override {
      const std::size_t read = file_.pread(data, size, offset);
      if (reads_-- == 0) begin_();
      return read;
    }

   private:
    Memory_File& file_;
    mutable int reads_;
    const std::function<void()> begin_;
  };
  for (const bool had_bytes : {false, true})
    for (int reads = 0; reads < 5; ++reads) {
      Memory_File file;
      if (had_bytes) file.pwrite("joedbwal", 8, 0);
      const Begun_Meanwhile begun(file, reads, [&] {
        Writer log(file);
        log.append("first");
        log.append("second");
      });
      Reader reader(begun);
      auto entry = reader.next();
      for (int i = 0; i < 5 && !entry; ++i) {
        EXPECT_EQ(Stop::clean, reader.end().stop);
        entry = reader.next();
      }
      ASSERT_TRUE(entry) << reads;
      EXPECT_EQ("first", entry->text());
    }
}

}  // namespace
}  // namespace joedb::wal
