#include "joedb/wal/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <set>

#include "joedb/io/memory_file.h"
#include "joedb/io/posix_file.h"
#include "kernel/io/file_pieces.h"
#include "sim/lab/random.h"
#include "sim/lab/sim_file.h"
#include "support/error_of.h"
#include "support/temporary_directory.h"
#include "wal/format.h"

namespace joedb::wal {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::IsEmpty;

std::vector<std::string> entries_of(const Abstract_File& file) {
  std::vector<std::string> entries;
  Reader reader(file);
  while (const auto entry = reader.next()) entries.emplace_back(entry->text());
  return entries;
}

class Wal_Writer : public ::testing::Test {
 protected:
  void open(Options options = {}) {
    log_.reset();
    log_.emplace(file_, std::move(options));
  }
  void append(std::initializer_list<std::string_view> entries) {
    for (const std::string_view entry : entries) log_->append(entry);
  }
  void close() { log_.reset(); }
  std::vector<std::string> entries() const { return entries_of(file_); }
  Stop stop() const {
    Reader reader(file_);
    while (reader.next()) {
    }
    return reader.end().stop;
  }

  Memory_File file_;
  std::optional<Writer> log_;
};

TEST_F(Wal_Writer, AppendsWhatAReaderFinds) {
  open();
  append({"one", "", std::string_view("\0\xff", 2)});
  close();
  EXPECT_THAT(entries(), ElementsAre("one", "", std::string("\0\xff", 2)));
  EXPECT_EQ(Stop::clean, stop());
}

TEST_F(Wal_Writer, GoesOnWhereTheLogEnds) {
  open();
  append({"one", "two"});
  open();
  EXPECT_EQ(2U, log_->found().entries);
  EXPECT_EQ(3U, log_->position().sequence);
  append({"three"});
  close();
  EXPECT_THAT(entries(), ElementsAre("one", "two", "three"));
}

TEST_F(Wal_Writer, SaysWhereAnEntryIs) {
  open();
  const Position one = log_->append("one");
  const Position two = log_->append("two");
  EXPECT_EQ((Position{1, log_start}), one);
  EXPECT_EQ((Position{2, log_start + 32}), two);
  log_->flush();
  Reader reader(file_);
  reader.seek(two);
  EXPECT_EQ("two", reader.next()->text());
}

TEST_F(Wal_Writer, WritesEntriesThatAreLargerThanItsBuffer) {
  open({.buffer_size = 100});
  const std::string large(1000, 'x');
  append({"one", large, "two", std::string(60, 'y'), std::string(70, 'z')});
  close();
  EXPECT_THAT(entries(),
              ElementsAre("one", large, "two", std::string(60, 'y'), std::string(70, 'z')));
}

TEST_F(Wal_Writer, KeepsEntriesInMemoryUntilTheyAreFlushed) {
  open();
  append({"one"});
  EXPECT_THAT(entries(), IsEmpty());
  log_->flush();
  EXPECT_THAT(entries(), ElementsAre("one"));
}

TEST_F(Wal_Writer, BeginsAgainWhenItIsRotated) {
  open();
  append({"one", "two", "three"});
  log_->rotate();
  append({"four"});
  EXPECT_EQ(5U, log_->position().sequence) << "sequences go on";
  log_->sync();
  EXPECT_THAT(entries(), ElementsAre("four"));
  EXPECT_EQ(Stop::clean, stop()) << "there are zeros before the old entries";
  open();
  append({"five"});
  close();
  EXPECT_THAT(entries(), ElementsAre("four", "five"));
}

TEST_F(Wal_Writer, ShowsNoOldEntriesOfTheSameSizes) {
  open();
  append({"aa", "bb", "cc", "dd"});
  log_->rotate();
  append({"ee", "ff"});
  log_->sync();
  EXPECT_THAT(entries(), ElementsAre("ee", "ff"));
  log_->rotate();
  log_->sync();
  EXPECT_THAT(entries(), IsEmpty());
}

TEST_F(Wal_Writer, RotatesSeveralTimesWithoutEntries) {
  open();
  append({"one"});
  for (int i = 0; i < 5; ++i) log_->rotate();
  append({"two"});
  close();
  EXPECT_THAT(entries(), ElementsAre("two"));
}

TEST_F(Wal_Writer, BeginsAgainWhenABatchIsFull) {
  std::vector<std::size_t> batches;
  open({.batch_size = 100, .on_batch = [&] { batches.push_back(entries().size()); }});
  for (int i = 0; i < 10; ++i) log_->append("0123456789");  // 40 bytes each in the log
  EXPECT_THAT(batches, ElementsAre(2, 2, 2, 2)) << "all of the batch is in the file";
  log_->flush();
  EXPECT_EQ(2U, entries().size());
}

TEST_F(Wal_Writer, AppendsNothingIfABatchCannotBeSaved) {
  open({.batch_size = 100, .on_batch = [] { throw Exception("the other disk is full"); }});
  append({"0123456789", "0123456789"});
  EXPECT_EQ("the other disk is full", error_of([&] { log_->append("0123456789"); }));
  EXPECT_EQ(3U, log_->position().sequence);
  EXPECT_EQ(2U, entries().size());
}

TEST_F(Wal_Writer, GrowsAheadWithZeros) {
  open({.preallocate = 1 << 16});
  append({"one"});
  log_->sync();
  EXPECT_EQ(1 << 16, file_.get_size());
  append({"two"});
  log_->sync();
  EXPECT_EQ(1 << 16, file_.get_size());
  append({std::string(1 << 16, 'x')});
  log_->sync();
  EXPECT_EQ(2 << 16, file_.get_size());
  EXPECT_EQ(3U, entries().size());
  EXPECT_EQ(Stop::clean, stop());
}

// The header of the second epoch is written past the first preallocation.
TEST_F(Wal_Writer, GrowsAheadBehindItsHeaders) {
  for (const bool opens_again : {false, true}) {
    file_.truncate(0);
    open({.preallocate = 256});
    if (opens_again) open({.preallocate = 256});
    log_->rotate();
    append({"one"});
    close();
    EXPECT_THAT(entries(), ElementsAre("one"));
  }
}

TEST_F(Wal_Writer, RefusesWhatMakesNoSense) {
  EXPECT_EQ("the buffer of a log has 1 to 2^30 bytes", error_of([&] { open({.buffer_size = 0}); }));
  EXPECT_EQ("memory: a file is preallocated in steps of 0 to 1073741824 bytes, not -1",
            error_of([&] { open({.preallocate = -1}); }));
  EXPECT_EQ("a log in the format of CWal cannot be preallocated: zeros are entries there",
            error_of([&] { open({.preallocate = 1, .format = Format::cwal}); }));
  open({.format = Format::cwal});
  append({"one"});
  EXPECT_EQ("a log in the format of CWal cannot be preallocated: zeros are entries there",
            error_of([&] { open({.preallocate = 1}); }));
  EXPECT_THAT(entries(), ElementsAre("one"));
  file_.truncate(0);
  const std::string garbage(10000, 'x');
  file_.pwrite(garbage.data(), garbage.size(), 0);
  EXPECT_EQ(
      "memory is no log: it begins neither with a header of this library nor with a good entry "
      "of CWal",
      error_of([&] { open(); }));
}

TEST_F(Wal_Writer, CannotBeUsedWhenItIsClosed) {
  open();
  log_->close();
  log_->close();
  EXPECT_EQ("this log is closed", error_of([&] { log_->append("one"); }));
}

TEST_F(Wal_Writer, CanBeMoved) {
  open();
  append({"one"});
  Writer other = std::move(*log_);
  other.append("two");
  *log_ = std::move(other);
  log_->append("three");
  close();
  EXPECT_THAT(entries(), ElementsAre("one", "two", "three"));
}

TEST_F(Wal_Writer, LosesNothingIfAPageOfAHeaderIsLost) {
  open();
  append({"one"});
  log_->rotate();
  append({"two"});
  close();
  for (int page = 0; page < 4; ++page) {
    const std::vector<char> good = file_.get_data();
    std::fill_n(file_.get_data().begin() + page * slot_size, slot_size, '\xff');
    EXPECT_THAT(entries(), ElementsAre("two")) << page;
    file_.get_data() = good;
  }
}

// Otherwise a partial write of the next header could complete a torn header that was never valid.
TEST_F(Wal_Writer, ClearsAHeaderThatAPowerCutHasTorn) {
  open();
  append({"one"});
  const std::uint64_t id = log_->log_id();
  close();
  Header_Bytes torn = encode_header({id, 2, 7, 7});
  torn[24] = 0;  // part of the epoch
  file_.pwrite(torn.data(), torn.size(), slot_size);
  open();
  EXPECT_TRUE(is_zero(file_, slot_size, 2 * slot_size));
  append({"two"});
  close();
  EXPECT_THAT(entries(), ElementsAre("one", "two"));
}

TEST_F(Wal_Writer, TakesNoLogWithoutAHeaderForANewOne) {
  open();
  append({"one"});
  close();
  std::fill_n(file_.get_data().begin(), log_start, '\0');
  const std::string refusal = "memory: no header of this log is good";
  EXPECT_EQ(refusal, error_of([&] { open(); }));
  EXPECT_EQ(refusal, error_of([&] { entries(); }));
}

TEST_F(Wal_Writer, OpensALogThatHeldWhatLooksLikeEntries) {
  std::vector<std::uint64_t> numbers(std::size_t{1} << 17, 100'000);
  open();
  for (int i = 0; i < 8; ++i) log_->append(std::as_bytes(std::span(numbers)));
  log_->rotate();
  append({"one"});
  open();
  append({"two"});
  close();
  EXPECT_THAT(entries(), ElementsAre("one", "two"));
}

// ---- the format of CWal -------------------------------------------------------------------------

TEST_F(Wal_Writer, WritesTheBytesOfCWal) {
  open({.format = Format::cwal});
  append({"123456789"});
  close();
  const auto& data = file_.get_data();
  EXPECT_EQ(std::string("\x09\0\0\0\0\0\0\0"
                        "123456789"
                        "\x26\x39\xf4\xcb",
                        21),
            std::string(data.begin(), data.end()));
}

TEST_F(Wal_Writer, GoesOnInTheFormatOfTheFile) {
  open({.format = Format::cwal});
  append({"one"});
  open();
  EXPECT_EQ(Format::cwal, log_->format());
  append({"two"});
  close();
  EXPECT_THAT(entries(), ElementsAre("one", "two"));
}

TEST_F(Wal_Writer, CutsAFileOfCWalWhenItIsRotated) {
  open({.format = Format::cwal});
  append({"one", "two"});
  log_->rotate();
  append({"three"});
  close();
  EXPECT_THAT(entries(), ElementsAre("three"));
  EXPECT_EQ("the format of CWal has no empty entries: they look like zeros",
            error_of([&] { open(), append({""}); }));
}

// ---- syncs --------------------------------------------------------------------------------------

class Wal_Syncs : public ::testing::Test {
 protected:
  void open(Options options) {
    file_.emplace(disk_);
    log_.emplace(*file_, std::move(options));
    disk_.take_calls();
  }
  // Appends entries of 8 bytes (32 in the file). Returns the numbers of the entries after which a
  // sync followed.
  std::vector<int> syncs_of(int entries) {
    std::vector<int> result;
    for (int i = 1; i <= entries; ++i) {
      log_->append("12345678");
      if (disk_.take_calls().find("datasync") != std::string::npos) result.push_back(i);
    }
    return result;
  }

  testing::Sim_Disk disk_;
  std::optional<testing::Sim_File> file_;
  std::optional<Writer> log_;
};

TEST_F(Wal_Syncs, NeverComeByDefault) {
  open({});
  EXPECT_THAT(syncs_of(20), IsEmpty());
}

TEST_F(Wal_Syncs, ComeAfterEveryEntry) {
  open({.sync = Sync_Policy::every_entry()});
  EXPECT_THAT(syncs_of(3), ElementsAre(1, 2, 3));
}

TEST_F(Wal_Syncs, ComeAfterSomeEntries) {
  open({.sync = Sync_Policy::every_entries(3)});
  EXPECT_THAT(syncs_of(10), ElementsAre(3, 6, 9));
}

TEST_F(Wal_Syncs, ComeAfterSomeBytes) {
  open({.sync = Sync_Policy::every_bytes(100)});
  EXPECT_THAT(syncs_of(10), ElementsAre(4, 8));
}

TEST_F(Wal_Syncs, AreOneCallEach) {
  open({.preallocate = 4096});
  log_->append("one");
  log_->sync();
  log_->append("two");
  disk_.take_calls();
  log_->sync();
  EXPECT_EQ("write 32@16416\ndatasync\n", disk_.take_calls());
}

TEST_F(Wal_Syncs, SayWhatIsDurable) {
  open({});
  EXPECT_EQ(0U, log_->durable_sequence());
  log_->append("one");
  log_->flush();
  EXPECT_EQ(0U, log_->durable_sequence());
  log_->sync();
  EXPECT_EQ(1U, log_->durable_sequence());
}

TEST_F(Wal_Syncs, EndAllWritingWhenTheyFail) {
  open({});
  log_->append("one");
  log_->sync();
  log_->append("two");
  disk_.set_fault(
      {testing::Sim_Fault::Calls::syncs, disk_.count(testing::Sim_Fault::Calls::syncs)});
  EXPECT_EQ("syncing sim: Input/output error", error_of([&] { log_->sync(); }));
  EXPECT_EQ(1U, log_->durable_sequence());
  const std::size_t changes = disk_.io_count();
  const std::string refusal =
      "sim is not written to any more, after an earlier failure: syncing sim: Input/output error. "
      "Close it and open it again.";
  EXPECT_EQ(refusal, error_of([&] { log_->append("three"); }));
  EXPECT_EQ(refusal, error_of([&] { log_->sync(); }));
  EXPECT_EQ(refusal, error_of([&] { log_->rotate(); }));
  EXPECT_EQ(refusal, error_of([&] { log_->close(); }));
  EXPECT_EQ(changes, disk_.io_count());
}

TEST_F(Wal_Syncs, AreNotNeededForTheMarkOfAClosedLog) {
  open({});
  log_->append("one");
  log_->sync();
  disk_.take_calls();
  log_->close();
  EXPECT_EQ("write 32@16416\n", disk_.take_calls());
  log_.reset();
  open({});
  log_->close();
  EXPECT_EQ("", disk_.take_calls()) << "it is there";
}

// After a failed sync, the page cache may have data that is not on the disk, and never writes it.
TEST_F(Wal_Syncs, CoverWhatAnEarlierFailedSyncDidNotWrite) {
  using testing::Sim_Fault;
  for (std::uint64_t size = 1; size < 3000; size += 100) {
    disk_ = testing::Sim_Disk();
    open({});
    for (int i = 0; i < 10; ++i) log_->append(std::string(size, 'a'));
    log_->sync();
    for (int i = 0; i < 200; ++i) log_->append(std::string(size, 'b'));
    disk_.set_fault({Sim_Fault::Calls::syncs, disk_.count(Sim_Fault::Calls::syncs)});
    EXPECT_THROW(log_->sync(), Io_Error);
    log_.reset();
    file_.reset();
    open({});
    EXPECT_EQ(210U, log_->durable_sequence());
    EXPECT_EQ(210U, entries_of(Readonly_Memory_File(disk_.durable())).size()) << size;
    log_.reset();
    file_.reset();
  }
}

// The same as the previous test, for the header of a rotation.
TEST_F(Wal_Syncs, CoverARotationThatAnEarlierFailedSyncDidNotWrite) {
  using testing::Sim_Fault;
  for (int entries = 1; entries < 20; ++entries) {  // varies which part is lost
    disk_ = testing::Sim_Disk();
    open({});
    for (int i = 0; i < entries; ++i) log_->append("old");
    log_->sync();
    disk_.set_fault({Sim_Fault::Calls::syncs, disk_.count(Sim_Fault::Calls::syncs)});
    log_->rotate();
    EXPECT_THROW(log_->sync(), Io_Error);
    log_.reset();
    file_.reset();
    open({});
    log_->append("new");
    log_->sync();
    EXPECT_THAT(entries_of(Readonly_Memory_File(disk_.durable())), ElementsAre("new"));
    log_.reset();
    file_.reset();
  }
}

// Until a new header is durable, the entries of the previous epoch are still valid.
TEST_F(Wal_Syncs, ComeBeforeTheEntriesOfTheEpochBeforeAreCleared) {
  open({});
  for (int i = 0; i < 2; ++i) {
    log_->append("old");
    log_->sync();
  }
  log_->rotate();
  log_.reset();
  file_.reset();
  open({});
  testing::Sim_State state = disk_.start();
  for (std::size_t i = 0; i < disk_.io_count(); ++i) {
    state.advance(disk_.history());
    const auto units = state.units(disk_.history(), 512);
    for (std::uint64_t mask = 0; units.size() < 8 && mask >> units.size() == 0; ++mask) {
      std::string image;
      state.power_cut(units, testing::Sim_Mask(mask), testing::Sim_Fill::zeros, image);
      EXPECT_FALSE(examine(Readonly_Memory_File(image)).is_damaged()) << i << ' ' << mask;
    }
  }
}

// ---- full disks ---------------------------------------------------------------------------------

// A file on a disk with a limited number of free blocks. Parts never written take no blocks.
class Full_Disk_File : public Memory_File {
 public:
  void pwrite(const char* data, std::size_t size, Offset offset) override {
    for (const char* const end = data + size; data < end;) {
      const Offset block = offset / block_size;
      const Offset part = std::min<Offset>((block + 1) * block_size - offset, end - data);
      if (blocks_.count(block) == 0) {
        if (free_blocks == 0) throw_io_error("writing", get_name(), offset, ENOSPC);
        --free_blocks;
        blocks_.insert(block);
      }
      Memory_File::pwrite(data, static_cast<std::size_t>(part), offset);
      data += part;
      offset += part;
    }
  }
  std::size_t free_blocks = 1000;

 private:
  static constexpr Offset block_size = 4096;
  std::set<Offset> blocks_;
};

class Wal_On_A_Full_Disk : public ::testing::Test {
 protected:
  void open(Options options = {}) {
    log_.reset();
    log_.emplace(file_, std::move(options));
  }
  // Appends until the disk is full. Returns the number of durable entries.
  std::uint64_t fill() {
    EXPECT_THROW(
        for (;;) {
          log_->append(std::string(1000, 'x'));
          log_->sync();
        },
        Io_Error);
    return log_->durable_sequence();
  }

  Full_Disk_File file_;
  std::optional<Writer> log_;
};

TEST_F(Wal_On_A_Full_Disk, TheFirstRotationNeedsNoBlock) {
  open();
  file_.free_blocks = 4;
  const std::uint64_t entries = fill();
  EXPECT_GE(entries, 14U);
  for (int i = 0; i < 5; ++i) {
    open();
    log_->rotate();
    for (int n = 0; n < 10; ++n) log_->append(std::string(1000, 'y'));
    log_->sync();
    EXPECT_EQ(10U, entries_of(file_).size());
  }
}

TEST_F(Wal_On_A_Full_Disk, PreallocationEndsBeforeWritingDoes) {
  for (const Offset step : {5000, 1 << 20}) {
    Full_Disk_File file;
    log_.emplace(file, Options{.preallocate = step});
    file.free_blocks = 4;
    EXPECT_GE(fill(), 14U) << step;
    EXPECT_GE(entries_of(file).size(), 14U);
    log_.reset();
  }
}

// ---- lack of memory -----------------------------------------------------------------------------

class Forgetful_File : public Memory_File {
 public:
  void write_zeros(Offset start, Offset end) override {
    if (lacks_memory) throw std::bad_alloc();
    Memory_File::write_zeros(start, end);
  }
  bool lacks_memory = false;
};

TEST(Wal_Without_Memory, LosesNoEntryButTheOneThatFailed) {
  Forgetful_File file;
  Writer log(file, {.buffer_size = 100, .preallocate = 5000});
  log.append("one");
  log.flush();
  file.lacks_memory = true;
  EXPECT_THROW(log.append(std::string(10000, 'x')), std::bad_alloc);
  file.lacks_memory = false;
  log.append("two");
  log.append(std::string(10000, 'y'));
  log.append("three");
  log.sync();
  EXPECT_EQ(log.durable_sequence(), 4U);
  EXPECT_THAT(entries_of(file), ElementsAre("one", "two", std::string(10000, 'y'), "three"));
}

// ---- crashes during the creation of a log -------------------------------------------------------

class Wal_Making : public ::testing::Test {
 protected:
  // Calls f() with images that a power cut may leave after each of the first writes and syncs of a
  // new log.
  void for_each_power_cut(testing::Sim_Disk disk, const std::function<void(std::string)>& f) {
    {
      testing::Sim_File file(disk);
      const Writer log(file);
    }
    testing::Sim_State state = disk.start();
    for (; state.io_count() < disk.io_count(); state.advance(disk.history()))
      for (const auto fill : {Fill::zeros, Fill::old_bytes, Fill::noise}) {
        const auto units = state.units(disk.history(), 512);
        testing::Random random(state.io_count());
        for (int i = 0; i < 16; ++i) {
          testing::Sim_Mask mask;
          for (std::size_t unit = 0; unit < units.size(); ++unit)
            if (random.flip()) mask.add(unit);
          std::string image;
          // Unwritten parts of a file that has grown before its first sync are zeros.
          state.power_cut(units, mask, state.durable().empty() ? Fill::zeros : fill, image);
          f(std::move(image));
        }
      }
  }
  using Fill = testing::Sim_Fill;
};

TEST_F(Wal_Making, ShowsNoEntriesAfterAPowerCut) {
  for (const std::size_t zeros : {0u, 8u, 16u, 10000u, 20000u})
    for_each_power_cut(testing::Sim_Disk(std::string(zeros, '\0')), [&](const std::string& image) {
      EXPECT_THAT(entries_of(Readonly_Memory_File(image)), IsEmpty()) << zeros << " zeros";
    });
}

TEST_F(Wal_Making, CanBeRepeatedAfterAPowerCut) {
  std::set<std::string> images;
  for_each_power_cut(testing::Sim_Disk(), [&](std::string image) {
    if (!images.insert(image).second) return;
    for_each_power_cut(testing::Sim_Disk(std::move(image)), [&](const std::string& again) {
      EXPECT_THAT(entries_of(Readonly_Memory_File(again)), IsEmpty());
    });
  });
}

// ---- files --------------------------------------------------------------------------------------

TEST(Wal_Files, HaveOneWriter) {
  const testing::Temporary_Directory directory;
  Writer log(directory.file("a.wal"));
  EXPECT_THROW(Writer(directory.file("a.wal")), Io_Error);
  File shared(directory.file("b.wal"), Open_Mode::shared_write);
  EXPECT_EQ(directory.file("b.wal") + ": the writer of a log must be alone",
            error_of([&] { Writer log2(shared); }));
}

TEST(Wal_Files, AreReadWhileTheyAreWritten) {
  const testing::Temporary_Directory directory;
  Writer log(directory.file("a.wal"));
  Reader reader(directory.file("a.wal"));
  Reader map = Reader::map(directory.file("a.wal"));
  EXPECT_FALSE(reader.next());
  for (int i = 0; i < 10; ++i) {
    const std::string text = "entry " + std::to_string(i);
    log.append(text);
    log.flush();
    EXPECT_EQ(text, reader.next()->text());
    EXPECT_EQ(text, map.next()->text());
    EXPECT_FALSE(reader.next());
  }
}

}  // namespace
}  // namespace joedb::wal
