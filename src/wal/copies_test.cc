#include "joedb/wal/copies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "joedb/wal/log.h"
#include "sim/lab/sim_file.h"
#include "support/error_of.h"
#include "wal/format.h"

namespace joedb::wal {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Sim_Disk;
using testing::Sim_Fault;
using testing::Sim_File;

class Wal_Copies : public ::testing::Test {
 protected:
  Wal_Copies() : disks_(3) {}

  // `missing`: the copies whose disks cannot be opened.
  std::unique_ptr<Copies> copies(std::vector<std::size_t> missing = {},
                                 Open_Mode mode = Open_Mode::write_existing_or_create_new) {
    reports_.clear();
    std::vector<std::unique_ptr<Abstract_File>> files;
    for (std::size_t i = 0; i < disks_.size(); ++i)
      files.push_back(std::count(missing.begin(), missing.end(), i) > 0
                          ? nullptr
                          : std::make_unique<Sim_File>(disks_[i], mode));
    return std::make_unique<Copies>(
        std::move(files), mode,
        Copies_Options{.needed = needed_,
                       .on_report = [this](std::string_view text) { reports_.emplace_back(text); },
                       .has_threads = false});
  }
  void open(std::vector<std::size_t> missing = {}) {
    log_.reset();
    log_.emplace(copies(std::move(missing)));
  }
  // Appends entries, and syncs after each.
  void append(std::initializer_list<std::string_view> entries) {
    for (const std::string_view entry : entries) {
      log_->append(entry);
      log_->sync();
    }
  }
  void close() { log_.reset(); }
  // Flips a bit in entry `entry`, from 0, of a copy whose entries have up to 8 bytes.
  void damage(std::size_t copy, int entry) {
    std::string content = disks_[copy].content();
    content[static_cast<std::size_t>(log_start) + static_cast<std::size_t>(entry) * 32 + 25] ^= 1;
    disks_[copy] = Sim_Disk(content);
  }
  // Returns disks with the current content, as if all of it were durable.
  std::deque<Sim_Disk> snapshot() const {
    std::deque<Sim_Disk> result;
    for (const Sim_Disk& disk : disks_) result.emplace_back(disk.content());
    return result;
  }
  void fail_syncs(std::size_t copy) {
    disks_[copy].set_fault({.calls = Sim_Fault::Calls::syncs,
                            .number = disks_[copy].count(Sim_Fault::Calls::syncs),
                            .lasts = true});
  }
  std::vector<std::string> entries(std::vector<std::size_t> missing = {}) {
    const auto file = copies(std::move(missing), Open_Mode::read_existing);
    return entries_of(*file);
  }
  static std::vector<std::string> entries_of(const Abstract_File& file) {
    std::vector<std::string> result;
    Reader reader(file);
    while (const auto entry = reader.next()) result.emplace_back(entry->text());
    return result;
  }
  std::vector<std::string> entries_of(std::size_t copy) {
    return entries_of(Sim_File(disks_[copy], Open_Mode::read_existing));
  }

  std::size_t needed_ = 2;
  std::deque<Sim_Disk> disks_;
  std::optional<Writer> log_;
  std::vector<std::string> reports_;
};

TEST_F(Wal_Copies, HoldTheSameBytes) {
  open();
  append({"one", "two"});
  close();
  EXPECT_EQ(disks_[0].content(), disks_[1].content());
  EXPECT_EQ(disks_[0].content(), disks_[2].content());
  EXPECT_THAT(entries(), ElementsAre("one", "two"));
}

// Each entry is good in only one copy; the copy varies.
TEST_F(Wal_Copies, TakeEachEntryWhereItIsGood) {
  open();
  append({"one", "two", "three", "four"});
  close();
  for (int entry = 0; entry < 4; ++entry)
    for (std::size_t copy = 0; copy < 3; ++copy)
      if (copy != static_cast<std::size_t>(entry) % 3) damage(copy, entry);
  EXPECT_THAT(entries(), ElementsAre("one", "two", "three", "four"));
  EXPECT_THAT(entries_of(0), ElementsAre("one")) << "reading repairs nothing";

  const auto repaired = copies();
  for (std::size_t copy = 0; copy < 3; ++copy) {
    EXPECT_THAT(entries_of(copy), ElementsAre("one", "two", "three", "four"));
    EXPECT_GE(repaired->status()[copy].repaired_entries, 2U);
  }
  EXPECT_THAT(reports_, ElementsAre("sim was repaired: 2 entries", "sim was repaired: 3 entries",
                                    "sim was repaired: 3 entries"));
}

// Tests all subsets of damaged copies, for each entry.
TEST_F(Wal_Copies, LoseAnEntryOnlyIfNoCopyIsGood) {
  open();
  append({"one", "two"});
  close();
  const std::deque<Sim_Disk> good = disks_;
  for (int damaged = 0; damaged < 64; ++damaged) {
    disks_ = good;
    for (int i = 0; i < 6; ++i)
      if ((damaged >> i & 1) != 0) damage(static_cast<std::size_t>(i % 3), i / 3);
    const bool has_one = (damaged & 7) != 7;
    const bool has_two = damaged >> 3 != 7;
    if (!has_one || !has_two) {
      EXPECT_THAT(error_of([&] { entries(); }), HasSubstr(" was durable, and is good in no"))
          << damaged;
      continue;
    }
    std::vector<std::string> expected{"one", "two"};
    EXPECT_EQ(expected, entries()) << damaged;
    open();
    append({"more"});
    close();
    expected.emplace_back("more");
    for (std::size_t copy = 0; copy < 3; ++copy) EXPECT_EQ(expected, entries_of(copy)) << damaged;
  }
}

TEST_F(Wal_Copies, GoOnWithoutTheOneThatFails) {
  open();
  append({"one"});
  fail_syncs(1);
  append({"two", "three"});
  EXPECT_THAT(reports_, ElementsAre("sim is not used any more: syncing sim: Input/output error"));
  close();
  EXPECT_EQ(3U, entries_of(0).size());
  EXPECT_EQ(3U, entries_of(2).size());
  disks_[1].remove_fault();
  open();  // the disk works again
  append({"four"});
  for (std::size_t copy = 0; copy < 3; ++copy)
    EXPECT_THAT(entries_of(copy), ElementsAre("one", "two", "three", "four"));
}

TEST_F(Wal_Copies, StopIfTooFewAreLeft) {
  open();
  append({"one"});
  fail_syncs(0);
  append({"two"});
  fail_syncs(2);
  log_->append("three");
  EXPECT_EQ(
      "sim, sim, sim: only 1 of 3 copies can be written; 2 are needed; syncing sim: "
      "Input/output error; syncing sim: Input/output error",
      error_of([&] { log_->sync(); }));
  EXPECT_EQ(2U, log_->durable_sequence());
}

TEST_F(Wal_Copies, AreRefusedIfSomethingCouldBeMissing) {
  open();
  append({"one"});
  close();
  EXPECT_THAT(entries({1}), ElementsAre("one"));
  const std::string refusal =
      "sim, a missing copy, a missing copy: only 1 of 3 copies hold the log; 2 are needed to be "
      "sure "
      "that no entry is missing";
  EXPECT_EQ(refusal, error_of([&] { entries({1, 2}); }));
  EXPECT_EQ(refusal, error_of([&] { open({1, 2}); }));
  disks_[1] = disks_[2] = Sim_Disk();  // replaced by empty disks
  EXPECT_EQ(
      "sim, sim, sim: only 1 of 3 copies hold the log; 2 are needed to be sure that no entry "
      "is missing",
      error_of([&] { open(); }));
}

// A power cut may leave the bytes of the last entry without its padding.
TEST_F(Wal_Copies, MayEndBeforeThePaddingOfTheLastEntry) {
  open();
  append({"one", "two"});
  close();
  const std::size_t end_of_two = static_cast<std::size_t>(log_start) + 32 + entry_header_size + 3;
  for (std::size_t copy = 0; copy < 3; ++copy)
    disks_[copy] = Sim_Disk(disks_[copy].content().substr(0, copy < 2 ? end_of_two : log_start));
  open();
  append({"three"});
  close();
  for (std::size_t copy = 0; copy < 3; ++copy)
    EXPECT_THAT(entries_of(copy), ElementsAre("one", "two", "three"));
}

TEST_F(Wal_Copies, FillANewDisk) {
  open();
  append({"one", "two"});
  close();
  disks_[1] = Sim_Disk();
  open();
  EXPECT_THAT(reports_, ElementsAre("sim was repaired: 2 entries and the header"));
  append({"three"});
  EXPECT_THAT(entries_of(1), ElementsAre("one", "two", "three"));
}

TEST_F(Wal_Copies, OfAnOldEpochAreRepaired) {
  open();
  append({"one", "two"});
  fail_syncs(2);
  append({"three"});
  log_->rotate();
  append({"four"});
  close();
  EXPECT_THAT(entries_of(2), ElementsAre("one", "two", "three")) << "what it saw last";
  disks_[2].remove_fault();
  EXPECT_THAT(entries({1}), ElementsAre("four"));
  open();
  for (std::size_t copy = 0; copy < 3; ++copy) EXPECT_THAT(entries_of(copy), ElementsAre("four"));
}

TEST_F(Wal_Copies, SurviveADamagedHeader) {
  open();
  append({"one"});
  close();
  std::string content = disks_[0].content();
  content[20] ^= 1;
  content[static_cast<std::size_t>(copy_offset) + 20] ^= 1;
  disks_[0] = Sim_Disk(content);
  open();
  EXPECT_THAT(reports_, ElementsAre("sim: no header of this log is good",
                                    "sim was repaired: 1 entry and the header"));
  EXPECT_THAT(entries_of(0), ElementsAre("one"));
}

// A copy without a good header does not count. Here, all copies must have one at each moment.
TEST_F(Wal_Copies, HaveAGoodHeaderAtEachMomentOfARepair) {
  needed_ = 1;
  open();
  append({"one", "two"});
  const Sim_Disk old = snapshot()[2];
  log_->rotate();
  append({"three"});
  close();
  std::deque<Sim_Disk> rotated = snapshot();
  rotated[2] = old;
  bool is_killed = true;
  for (std::size_t changes = 0; is_killed; ++changes) {
    disks_ = rotated;
    is_killed = false;
    std::vector<std::unique_ptr<Abstract_File>> files;
    for (Sim_Disk& disk : disks_)
      files.push_back(std::make_unique<Sim_File>(disk, Open_Mode::write_existing));
    static_cast<Sim_File&>(*files[2]).kill_after(changes);
    try {
      Copies(std::move(files), Open_Mode::write_existing, {.needed = 1, .has_threads = false});
    } catch (const testing::Sim_Killed&) {
      is_killed = true;
    }
    EXPECT_THAT(entries(), ElementsAre("three")) << changes;
    open();
    append({"four"});
    close();
    for (std::size_t copy = 0; copy < 3; ++copy)
      EXPECT_THAT(entries_of(copy), ElementsAre("three", "four")) << changes;
  }
}

// A simulation decides which copy is slow. A slow copy catches up when it is needed.
TEST_F(Wal_Copies, MayBeSlowWithoutThreads) {
  std::vector<std::unique_ptr<Abstract_File>> files;
  for (Sim_Disk& disk : disks_) files.push_back(std::make_unique<Sim_File>(disk));
  std::size_t slow = 2;
  auto slow_copies = std::make_unique<Copies>(
      std::move(files), Open_Mode::write_existing_or_create_new,
      Copies_Options{.needed = 2, .has_threads = false, .is_slow = [&slow](std::size_t copy) {
                       return copy == slow;
                     }});
  const Copies& status = *slow_copies;
  log_.emplace(std::move(slow_copies));
  append({"one", "two"});
  EXPECT_THAT(entries_of(2), IsEmpty());
  EXPECT_EQ(2U, status.status()[2].lag_syncs);
  slow = 0;
  append({"three"});
  EXPECT_THAT(entries_of(0), ElementsAre("one", "two"));
  EXPECT_THAT(entries_of(2), ElementsAre("one", "two", "three"));
  fail_syncs(1);
  append({"four"});  // the slow copy is needed
  EXPECT_THAT(entries_of(0), ElementsAre("one", "two", "three", "four"));
}

// Two copies were separated, and each was written without the other.
TEST_F(Wal_Copies, WithDifferentHistoriesAreNotMixed) {
  needed_ = 1;
  open();
  append({"one"});
  const std::deque<Sim_Disk> before = snapshot();
  append({"two", "three"});
  close();
  const Sim_Disk first = snapshot()[0];
  disks_ = before;
  log_.emplace(copies());
  append({"TWO"});
  close();
  disks_[0] = first;
  EXPECT_EQ(
      "entry 2 is good in sim and in sim, but not the same. Remove the copy that shall not count",
      error_of([&] { entries(); }));
  EXPECT_EQ(
      "entry 2 is good in sim and in sim, but not the same. Remove the copy that shall not count",
      error_of([&] { open(); }));
}

// A process was killed during a rotation. The next process could not open the copy that has the new
// header.
TEST_F(Wal_Copies, TakeNoRotationThatOthersHaveGoneOnWithout) {
  open();
  append({"one", "two"});
  const std::deque<Sim_Disk> before = snapshot();
  log_->rotate();
  log_->sync();
  close();
  const Sim_Disk rotated = snapshot()[0];
  disks_ = before;
  open({0});
  append({"three"});
  close();
  disks_[0] = rotated;
  EXPECT_THAT(entries(), ElementsAre("one", "two", "three"));
  open();
  append({"four"});
  close();
  for (std::size_t copy = 0; copy < 3; ++copy)
    EXPECT_THAT(entries_of(copy), ElementsAre("one", "two", "three", "four"));
}

// One copy has an entry that was never durable; the other copies have another entry in its place.
TEST_F(Wal_Copies, TakeWhatIsDurableWhereTheyDiffer) {
  open();
  append({"one"});
  const std::deque<Sim_Disk> before = snapshot();
  append({"two", "three"});
  close();
  const Sim_Disk first = snapshot()[0];
  disks_ = before;
  open({0});
  append({"TWO"});
  close();
  disks_[0] = first;
  EXPECT_THAT(entries(), ElementsAre("one", "TWO"));
  open();
  append({"four"});
  for (std::size_t copy = 0; copy < 3; ++copy)
    EXPECT_THAT(entries_of(copy), ElementsAre("one", "TWO", "four"));
}

// As in the previous test, but this entry is damaged, and only its successor is good.
TEST_F(Wal_Copies, DoNotTakeTheRestOfAnotherHistory) {
  open();
  append({"one"});
  const std::deque<Sim_Disk> before = snapshot();
  log_->append("two");
  append({"three"});
  close();
  damage(0, 1);
  const Sim_Disk first = snapshot()[0];
  disks_ = before;
  open({0});
  append({"TWO"});
  close();
  disks_[0] = first;
  EXPECT_THAT(entries(), ElementsAre("one", "TWO"));
}

TEST_F(Wal_Copies, OfDifferentLogsAreRefused) {
  for (Sim_Disk& disk : disks_) {
    Sim_File file(disk);
    Writer(file).append("one");
  }
  EXPECT_THAT(error_of([&] { open(); }), HasSubstr("are copies of different logs"));
}

TEST_F(Wal_Copies, MustAllBeThereForANewLog) {
  EXPECT_EQ(
      "sim, a missing copy, sim: no copy holds a log; to make a new one, all copies must be there",
      error_of([&] { open({1}); }));
  needed_ = 4;
  EXPECT_EQ("of 3 copies, 4 cannot be needed", error_of([&] { open(); }));
}

TEST_F(Wal_Copies, OfNothingHoldNothing) { EXPECT_THAT(entries(), IsEmpty()); }

}  // namespace
}  // namespace joedb::wal
