#include "sim/lab/sim_file.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "support/error_of.h"

namespace joedb::testing {
namespace {

TEST(Sim_Disk, TellsWhatIsSeenFromWhatIsDurable) {
  Sim_Disk disk("abc");
  Sim_File file(disk);
  file.pwrite("XY", 2, 2);
  EXPECT_EQ(disk.content(), "abXY");
  EXPECT_EQ(disk.durable(), "abc");
  file.sync();
  EXPECT_EQ(disk.durable(), "abXY");
  file.truncate(1);
  EXPECT_EQ(disk.content(), "a");
  EXPECT_EQ(disk.durable(), "abXY");
  file.datasync();
  EXPECT_EQ(disk.durable(), "a");
}

TEST(Sim_Disk, ShowsItselfAfterEachOperation) {
  Sim_Disk disk;
  Sim_File file(disk);
  file.pwrite("abc", 3, 0);
  file.sync();
  file.pwrite("X", 1, 0);
  EXPECT_EQ(disk.io_count(), 4);
  EXPECT_EQ(disk.at(0).content(), "");
  EXPECT_EQ(disk.at(1).content(), "abc");
  EXPECT_EQ(disk.at(1).durable(), "");
  EXPECT_EQ(disk.at(2).durable(), "abc");
  EXPECT_EQ(disk.at(4).content(), "Xbc");
  EXPECT_EQ(disk.at(4).durable(), "abc");
}

TEST(Sim_Disk, APowerCutSparesWhatIsSyncedAndHasEveryOtherOutcome) {
  Sim_Disk disk;
  Sim_File file(disk);
  file.pwrite("old", 3, 0);
  file.sync();
  const std::string bytes(1024, 'x');
  file.pwrite(bytes.data(), bytes.size(), 512);
  std::set<std::string> outcomes;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const std::string image = disk.power_cut(seed);
    EXPECT_EQ(image, disk.power_cut(seed));
    EXPECT_EQ(image.substr(0, 3), "old");
    std::string outcome = std::to_string(image.size()) + ":";
    for (std::size_t sector = 512; sector < image.size(); sector += 512)
      outcome += image[sector] == 'x' ? " x" : " 0";
    outcomes.insert(outcome);
  }
  EXPECT_EQ(outcomes,
            (std::set<std::string>{"3:", "1536: 0 0", "1536: 0 x", "1536: x 0", "1536: x x"}));
}

TEST(Sim_Disk, APowerCutTearsAHeaderBetweenItsWords) {
  Sim_Disk disk(std::string(41, 'o'));
  Sim_File file(disk);
  file.pwrite(std::string(41, 'n').data(), 41, 0);
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const std::string image = disk.power_cut(seed);
    ASSERT_EQ(image.size(), 41);
    for (std::size_t word = 0; word < 40; word += 8)
      EXPECT_TRUE(image.substr(word, 8) == "oooooooo" || image.substr(word, 8) == "nnnnnnnn");
  }
}

TEST(Sim_Disk, CutsChangesIntoPiecesThatReachTheDiskOneByOne) {
  Sim_Disk disk(std::string(41, 'o'));
  Sim_File file(disk);
  file.pwrite("12345678", 8, 16);
  file.pwrite(std::string(600, 'n').data(), 600, 41);
  file.truncate(50);
  const std::vector<Sim_Unit> units = disk.state().units(disk.history(), 512);
  std::string text;
  for (const Sim_Unit& unit : units)
    text +=
        (unit.kind == Sim_Unit::Kind::size ? "size " : std::to_string(unit.bytes.size()) + "@") +
        std::to_string(unit.offset) + " ";
  EXPECT_EQ(text, "8@16 size 641 471@41 129@512 size 50 ");

  std::string image;
  const auto cut = [&](std::uint64_t mask, Sim_Fill fill) {
    disk.state().power_cut(units, Sim_Mask(mask), fill, image);
    return image.substr(41);
  };
  EXPECT_EQ(cut(0b00000, Sim_Fill::zeros), "");
  EXPECT_EQ(cut(0b00110, Sim_Fill::zeros), std::string(471, 'n') + std::string(129, '\0'));
  EXPECT_EQ(cut(0b01010, Sim_Fill::zeros), std::string(471, '\0') + std::string(129, 'n'));
  EXPECT_EQ(cut(0b00100, Sim_Fill::zeros), "");
  EXPECT_EQ(cut(0b10100, Sim_Fill::zeros), std::string(9, 'n'));
  EXPECT_EQ(cut(0b10000, Sim_Fill::zeros), std::string(9, '\0'));
  EXPECT_EQ(cut(0b10000, Sim_Fill::old_bytes).size(), 9);
  EXPECT_NE(cut(0b10000, Sim_Fill::noise), cut(0b10000, Sim_Fill::zeros));
}

TEST(Sim_Disk, AFileThatHasGrownShowsWhatStoodThereBeforeItWasCut) {
  Sim_Disk disk("0123456789012345678901234567890123456789+secret");
  Sim_File file(disk);
  file.truncate(41);
  file.sync();
  file.pwrite("public", 6, 41);
  const std::vector<Sim_Unit> units = disk.state().units(disk.history(), 512);
  std::string image;
  disk.state().power_cut(units, Sim_Mask(1), Sim_Fill::old_bytes, image);
  EXPECT_EQ(image.substr(41), "secret");
  disk.state().power_cut(units, Sim_Mask(3), Sim_Fill::old_bytes, image);
  EXPECT_EQ(image.substr(41), "public");
}

TEST(Sim_Disk, ANewFileHasNoDurableNameBeforeItsDirectoryIsSynced) {
  Sim_Disk disk;
  Sim_File file(disk);
  file.pwrite("x", 1, 0);
  disk.set_fault({Sim_Fault::Calls::syncs, 1, EIO});
  EXPECT_EQ(error_of([&] { file.datasync(); }), "syncing the directory of sim: Input/output error");
  EXPECT_TRUE(disk.is_synced());
  file.sync();
  EXPECT_TRUE(disk.state().has_durable_name());
  EXPECT_EQ(disk.take_calls(), "write 1@0\ndatasync\nsync directory\nsync\nsync directory\n");
  file.sync();
  EXPECT_EQ(disk.take_calls(), "sync\n");
  EXPECT_FALSE(disk.at(2).state().has_durable_name());
}

TEST(Sim_Mask, IsItsText) {
  Sim_Mask mask;
  for (const std::size_t unit : {0u, 63u, 64u, 255u}) mask.add(unit);
  EXPECT_EQ(Sim_Mask::parse(mask.text()), mask);
  EXPECT_EQ(Sim_Mask(0x2b).text(), "2b");
  EXPECT_EQ(Sim_Mask::parse("2b"), Sim_Mask(0x2b));
  EXPECT_EQ(Sim_Mask().text(), "0");
  EXPECT_EQ(Sim_Mask::parse("x"), std::nullopt);
}

TEST(Sim_File, ADeadProcessChangesNothing) {
  Sim_Disk disk;
  {
    Sim_File file(disk);
    file.kill_after(1);
    file.pwrite("a", 1, 0);
    EXPECT_THROW(file.pwrite("b", 1, 1), Sim_Killed);
    EXPECT_THROW(file.get_size(), Sim_Killed);
    const Sim_File next(disk);  // the lock was released
  }
  EXPECT_EQ(disk.content(), "a");
}

TEST(Sim_Disk, FailsTheCallItIsToldTo) {
  Sim_Disk disk;
  Sim_File file(disk);
  disk.set_fault({.number = 1, .code = ENOSPC, .part_written = 0.5});
  file.pwrite("abcd", 4, 100);
  EXPECT_THROW(file.pwrite("efgh", 4, 104), Io_Error);
  EXPECT_EQ(disk.content().substr(100), "abcdef");
  file.pwrite("EFGH", 4, 104);
  EXPECT_EQ(disk.content().substr(100), "abcdEFGH");

  disk.set_fault({.number = 5, .lasts = true});
  file.sync();
  for (int i = 0; i < 3; ++i) EXPECT_THROW(file.sync(), Io_Error);

  disk.set_fault({.calls = Sim_Fault::Calls::reads, .number = 0});
  char byte;
  EXPECT_THROW(file.pread(&byte, 1, 0), Io_Error);
  EXPECT_EQ(file.pread(&byte, 1, 0), 1);
}

TEST(Sim_Disk, AFailedSyncCannotBeRepaired) {
  std::size_t lost = 0;
  for (int earlier_calls = 0; earlier_calls < 20; ++earlier_calls) {
    Sim_Disk disk;
    Sim_File file(disk);
    for (int i = 0; i < earlier_calls; ++i) file.pwrite("x", 1, 0);
    file.pwrite("y", 1, 1);
    disk.set_fault({.number = static_cast<std::size_t>(earlier_calls) + 1});
    EXPECT_THROW(file.sync(), Io_Error);
    disk.remove_fault();
    file.sync();
    EXPECT_EQ(disk.content()[1], 'y');
    lost += disk.durable().size() < 2;
  }
  EXPECT_GT(lost, 0);
  EXPECT_LT(lost, 20);
}

TEST(Sim_File, LocksAsFilesDo) {
  Sim_Disk disk;
  Sim_File a(disk, Open_Mode::shared_write), b(disk, Open_Mode::shared_write);
  a.shared_lock(0, 1);
  b.shared_lock(0, 1);
  EXPECT_THROW(a.exclusive_lock(0, 1), std::logic_error);
  b.unlock(0, 1);
  a.exclusive_lock(0, 1);
  EXPECT_THROW(b.shared_lock(0, 1), std::logic_error);
  a.shared_lock(0, 1);
  b.shared_lock(0, 1);
  { const Sim_File alone(disk, Open_Mode::write_existing); }
  const Sim_File alone(disk, Open_Mode::write_existing);
  EXPECT_THROW(Sim_File(disk, Open_Mode::write_existing), Io_Error);
  const Sim_File reader(disk, Open_Mode::read_existing);
}

}  // namespace
}  // namespace joedb::testing
