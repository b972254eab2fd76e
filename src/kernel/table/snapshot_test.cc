#include "joedb/table/load.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <thread>

#include "joedb/base/log.h"
#include "joedb/base/types.h"
#include "joedb/format/codec.h"
#include "joedb/io/memory_file.h"
#include "joedb/io/posix_file.h"
#include "joedb/table/writable_database.h"
#include "kernel/base/interrupts.h"
#include "kernel/format/hash.h"
#include "kernel/table/content_difference.h"
#include "kernel/table/snapshot_file.h"
#include "kernel/table/snapshot_source.h"
#include "sim/lab/database_text.h"
#include "sim/lab/random.h"
#include "sim/lab/random_changes.h"
#include "support/error_of.h"
#include "support/temporary_directory.h"

namespace joedb::snapshot_test {
namespace {

using testing::error_of;
using testing::Random;

const Table_Id city{1};
const Field_Id name{1}, size{2};

std::vector<Index_Definition> indexes() {
  return {{"city_by_name", city, {name}, false},
          {"city_by_size_and_name", city, {size, name}, true}};
}

// A database in a file that is opened with and without its snapshot.
class Snapshot_Test : public ::testing::Test {
 protected:
  std::string path() const { return directory_.file("city.joedb"); }
  std::string snapshot() const { return path() + snapshot_suffix(); }

  // Returns all visible content, and checks the indexes.
  static std::string all_of(const Database& database) {
    for (const Index* const index : database.indexes())
      for (auto place = index->begin(); place.record().is_not_null(); place.next())
        EXPECT_EQ(index->at(place.record()), place);
    return testing::full_content_text(database);
  }

  struct Loaded {
    Snapshot_Report report;
    std::string text;
  };
  Loaded read(Deleted_Values mode = Deleted_Values::reset, Offset end = 0,
              std::vector<Index_Definition> wanted = indexes()) const {
    File file(path(), Open_Mode::read_existing);
    Database database(mode);
    for (Index_Definition& index : wanted) database.add_index(std::move(index));
    Readonly_Journal journal(file);
    end > 0 ? load(database, journal, end) : load(database, journal);
    return {database.snapshot_report(), all_of(database)};
  }
  // Returns the content after a replay of only the journal.
  std::string replayed(Deleted_Values mode = Deleted_Values::reset, Offset end = 0,
                       std::vector<Index_Definition> wanted = indexes()) const {
    const std::string hidden = directory_.file("alone.joedb");
    std::filesystem::copy_file(path(), hidden, std::filesystem::copy_options::overwrite_existing);
    File file(hidden, Open_Mode::read_existing);
    Database database(mode);
    for (Index_Definition& index : wanted) database.add_index(std::move(index));
    Readonly_Journal journal(file);
    end > 0 ? load(database, journal, end) : load(database, journal);
    EXPECT_EQ(database.snapshot_report().position, 0);
    return all_of(database);
  }

  void expect_used(Offset position) const {
    const Loaded loaded = read();
    EXPECT_EQ(loaded.report.remark, "");
    EXPECT_EQ(loaded.report.position, position);
    EXPECT_EQ(loaded.text, replayed());
  }
  void expect_not_used(const std::string& reason) const {
    const Loaded loaded = read();
    EXPECT_EQ(loaded.report.position, 0);
    EXPECT_NE(loaded.report.remark.find(reason), std::string::npos) << loaded.report.remark;
    EXPECT_EQ(loaded.text, replayed());
  }

  static void make_schema(Writable_Database& db) {
    db.write(Create_Table{"city"});
    db.write(Add_Field{city, "name", Type{Type_Code::string, {}}});
    db.write(Add_Field{city, "size", Type{Type_Code::int32, {}}});
    db.write(Add_Field{city, "is_capital", Type{Type_Code::boolean, {}}});
    db.write(Add_Field{city, "twin", Type{Type_Code::reference, city}});
  }

  static void fill(Writable_Database& db, std::int32_t first, std::int32_t end) {
    for (std::int32_t i = first; i < end; ++i) {
      db.write(Insert{city, Record_Id(i)});
      const std::string text = "A city with the number " + std::to_string(i * 7919 % 10007);
      db.write(Update<std::string_view>{city, Record_Id(i), name, text});
      db.write(Update<std::int32_t>{city, Record_Id(i), size, i});
    }
  }

  testing::Temporary_Directory directory_;
};

TEST_F(Snapshot_Test, HoldsTheSameAsTheJournalWheneverItIsWritten) {
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    Random random(seed);
    testing::Random_Changes changes(random, testing::Random_Changes::Indexes::declared);
    const auto indexes = testing::Random_Changes::indexes(random);
    const auto mode = random.flip() ? Deleted_Values::reset : Deleted_Values::keep;
    std::filesystem::remove(path());
    std::filesystem::remove(snapshot());
    for (int life = 0; life < 6; ++life) {
      {
        File file(path(), Open_Mode::write_existing_or_create_new);
        Writable_Database db(file, {}, mode, indexes);
        const auto change = [&](std::size_t most) {
          for (std::size_t n = random.below(most); n > 0; --n) changes.change(db);
        };
        for (std::size_t rounds = random.below(4); rounds > 0; --rounds) {
          change(120);
          if (random.below(3) == 0) {
            const std::string before = all_of(db.get_database());
            ASSERT_TRUE(db.write_snapshot());
            ASSERT_EQ(all_of(db.get_database()), before) << "seed " << seed;
          }
          if (random.below(3) == 0) {
            db.hard_checkpoint();
            db.write_snapshot_in_background();
            change(50);
            if (random.flip()) db.soft_checkpoint();
            const std::string before = all_of(db.get_database());
            if (random.below(3) == 0) db.get_database().spill();
            db.wait_for_snapshot();
            ASSERT_EQ(all_of(db.get_database()), before) << "seed " << seed;
          }
          if (random.below(8) == 0) db.rollback();
        }
        db.soft_checkpoint();
      }
      const Loaded loaded = read(mode, 0, indexes);
      ASSERT_EQ(loaded.report.remark, "");
      ASSERT_EQ(loaded.text, replayed(mode, 0, indexes)) << "seed " << seed << ", life " << life;
    }
  }
}

TEST_F(Snapshot_Test, MemoryIsGivenBackWhenItIsAboveALimit) {
  constexpr std::size_t limit = 1 << 20;  // every process uses more
  Memory_File file;
  Writable_Database db(file, {}, Deleted_Values::reset, indexes());
  make_schema(db);
  EXPECT_FALSE(db.limit_memory(limit));  // reloading would free no memory
  fill(db, 0, 10'000);
  EXPECT_FALSE(db.limit_memory(std::size_t{1} << 40));
  const std::string before = all_of(db.get_database());
  EXPECT_TRUE(db.limit_memory(limit));
  EXPECT_EQ(all_of(db.get_database()), before);
  EXPECT_FALSE(db.limit_memory(limit));
  db.rollback();
  make_schema(db);
  fill(db, 0, 9'000);
  EXPECT_TRUE(db.limit_memory(limit));
  fill(db, 9'000, 9'100);
  EXPECT_EQ(db.get_database().table(city).records().size(), 9'100);
}

class Written_Snapshot : public Snapshot_Test {
 protected:
  // Makes a database of some thousand records, its snapshot, and later entries.
  void SetUp() override {
    File file(path(), Open_Mode::create_new);
    Writable_Database db(file, {}, Deleted_Values::reset, indexes());
    make_schema(db);
    fill(db, 0, 6000);
    ASSERT_TRUE(db.write_snapshot());
    position_ = db.get_journal().get_checkpoint();
    fill(db, 6000, 6100);
    db.hard_checkpoint();
  }
  std::string bytes() const { return directory_.read("city.joedb.snapshot"); }
  void replace(const std::string& content) const {
    std::filesystem::remove(snapshot());
    directory_.write("city.joedb.snapshot", content);
  }

  Offset position_ = 0;
};

TEST_F(Written_Snapshot, IsUsedAndWhatFollowsIsReplayed) { expect_used(position_); }

TEST_F(Written_Snapshot, IsOfNoImportance) {
  std::filesystem::remove(snapshot());
  EXPECT_EQ(read().report.position, 0);
  EXPECT_EQ(read().text, replayed());
}

TEST_F(Written_Snapshot, IsNotUsedIfItIsDamagedWhereThatIsSeen) {
  const std::string good = bytes();
  for (std::size_t i = 0; i < 19 * 8; i += 3) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    replace(bad);
    EXPECT_EQ(read().report.position, 0) << i;
  }
  for (std::size_t i = 1; i < 300; i += 7) {
    std::string bad = good;
    bad[bad.size() - i] = static_cast<char>(bad[bad.size() - i] ^ 1);
    replace(bad);
    expect_not_used("its directory is damaged");
  }
  for (const std::size_t kept :
       {std::size_t{1}, std::size_t{100}, good.size() / 2, good.size() - 1}) {
    replace(good.substr(0, kept));
    EXPECT_EQ(read().report.position, 0);
    EXPECT_NE(read().report.remark, "");
    EXPECT_EQ(read().text, replayed());
  }
  replace(good);
  expect_used(position_);
}

TEST_F(Written_Snapshot, IsVerifiedBlockByBlock) {
  const std::string good = bytes();
  const auto verify = [&] {
    const Snapshot_File file(std::make_unique<File>(snapshot(), Open_Mode::read_existing));
    file.verify([](Offset, Offset) {});
  };
  verify();
  for (std::size_t i = 4096; i < good.size() - 5000; i += 40009) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 4);
    replace(bad);
    EXPECT_THROW(verify(), Corruption_Error) << i;
  }
}

TEST_F(Written_Snapshot, OfAnotherJournalIsNotUsed) {
  const std::string other = bytes();
  std::filesystem::remove(path());
  std::filesystem::remove(snapshot());
  {
    File file(path(), Open_Mode::create_new);
    Writable_Database db(file, {}, Deleted_Values::reset, indexes());
    make_schema(db);
    fill(db, 1, 2);
    fill(db, 0, 1);
    fill(db, 2, 6200);
    db.hard_checkpoint();
  }
  replace(other);
  expect_not_used("it belongs to another journal");
}

TEST_F(Written_Snapshot, BeyondAJournalThatWasRestoredIsNotUsed) {
  std::filesystem::resize_file(path(), 0);
  {
    File file(path(), Open_Mode::write_existing);
    Writable_Database db(file, {}, Deleted_Values::reset, indexes());
    make_schema(db);
    db.hard_checkpoint();
  }
  expect_not_used("it belongs to another journal");
}

TEST_F(Written_Snapshot, IsNotUsedBehindTheCheckpointThatAPowerCutHasLeft) {
  const std::string header = directory_.read("city.joedb").substr(0, journal_start);
  {
    File file(path(), Open_Mode::write_existing);
    Writable_Database db(file, {}, Deleted_Values::reset, indexes());
    fill(db, 6100, 6200);
    ASSERT_TRUE(db.write_snapshot());
    position_ = db.get_journal().get_checkpoint();
  }
  File(path(), Open_Mode::write_existing).pwrite(header.data(), header.size(), 0);
  EXPECT_EQ(read().text, replayed());
  EXPECT_NE(error_of([&] { read(Deleted_Values::reset, position_); }), "");
}

TEST_F(Written_Snapshot, WithOtherIndexesIsNotUsed) {
  auto wanted = indexes();
  wanted[0].is_unique = true;
  EXPECT_NE(read(Deleted_Values::reset, 0, wanted).report.remark.find("another definition"),
            std::string::npos);
  wanted[0].name = "other";
  EXPECT_NE(read(Deleted_Values::reset, 0, wanted).report.remark.find("does not have the index"),
            std::string::npos);
  EXPECT_EQ(read(Deleted_Values::reset, 0, {}).report.position, position_);
  EXPECT_TRUE(read(Deleted_Values::reset, 0, {}).report.is_for_others);
}

class Snapshot_With_Reused_Ids : public Written_Snapshot {
 protected:
  // Makes a snapshot as a program does, with Deleted_Values::reset.
  void SetUp() override {
    Written_Snapshot::SetUp();
    File file(path(), Open_Mode::write_existing);
    Writable_Database db(file, {}, Deleted_Values::reset, indexes());
    db.write(Delete{city, Record_Id(5)});
    db.write(Insert{city, Record_Id(5)});
    ASSERT_TRUE(db.write_snapshot());
    position_ = db.get_journal().get_checkpoint();
  }
};

TEST_F(Snapshot_With_Reused_Ids, IsNotUsedByAToolThatIsClassic) {
  expect_used(position_);
  const Loaded loaded = read(Deleted_Values::keep);
  EXPECT_NE(loaded.report.remark.find("do not begin with"), std::string::npos);
  EXPECT_TRUE(loaded.report.is_for_others);
  EXPECT_EQ(loaded.text, replayed(Deleted_Values::keep));
}

TEST_F(Snapshot_With_Reused_Ids, IsNotReplacedByAToolThatIsClassicOnClosing) {
  std::filesystem::copy_file(snapshot(), snapshot() + "-" + std::to_string(position_));
  {
    File file(path(), Open_Mode::write_existing);
    Writable_Database tool(file, {}, Deleted_Values::keep, indexes());
    for (int i = 0; i < 17; ++i) tool.write(Comment{std::string(1 << 20, 'x')});
    tool.hard_checkpoint();
    EXPECT_FALSE(tool.is_snapshot_due());
  }
  expect_used(position_);
}

TEST_F(Snapshot_With_Reused_Ids, ReplacesOneOfAToolThatIsClassic) {
  std::filesystem::remove(snapshot());
  {
    File file(path(), Open_Mode::write_existing);
    Writable_Database tool(file, {}, Deleted_Values::keep, indexes());
    ASSERT_TRUE(tool.write_snapshot());
  }
  const Loaded loaded = read();
  EXPECT_NE(loaded.report.remark.find("a tool with --classic"), std::string::npos);
  EXPECT_FALSE(loaded.report.is_for_others);
  EXPECT_EQ(loaded.text, replayed());
}

TEST_F(Written_Snapshot, InTheBackgroundIsUsedByItsWriterWhenItIsComplete) {
  File file(path(), Open_Mode::write_existing);
  Writable_Database db(file, {}, Deleted_Values::reset, indexes());
  fill(db, 6100, 6200);
  db.hard_checkpoint();
  const Offset end = db.get_journal().get_hard_checkpoint();
  db.write_snapshot_in_background();
  fill(db, 6200, 6300);
  db.soft_checkpoint();
  const std::string before = all_of(db.get_database());
  db.wait_for_snapshot();
  EXPECT_EQ(db.get_database().snapshot_report().position, end);
  EXPECT_EQ(db.get_database().snapshot_report().remark, "");
  EXPECT_EQ(all_of(db.get_database()), before);
  fill(db, 6300, 6400);
  db.soft_checkpoint();
  EXPECT_EQ(all_of(db.get_database()), replayed());
}

TEST_F(Written_Snapshot, ServesPastStatesIfItIsKept) {
  std::filesystem::rename(snapshot(), snapshot() + "-" + std::to_string(position_));
  File file(path(), Open_Mode::read_existing);
  EXPECT_EQ(kept_snapshots(file), std::vector<Offset>{position_});
  EXPECT_EQ(read(Deleted_Values::reset, position_).report.position, position_);
  EXPECT_EQ(read(Deleted_Values::reset, position_).text,
            replayed(Deleted_Values::reset, position_));
  EXPECT_EQ(read(Deleted_Values::reset, journal_start).report.position, 0);
}

TEST_F(Written_Snapshot, HasThePermissionsOfTheJournal) {
  std::filesystem::permissions(
      path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::filesystem::remove(snapshot());
  File file(path(), Open_Mode::write_existing);
  Writable_Database db(file, {}, Deleted_Values::reset, indexes());
  ASSERT_TRUE(db.write_snapshot());
  struct stat status {};
  ASSERT_EQ(::stat(snapshot().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(Written_Snapshot, IsWrittenByOneProcessAtATime) {
  const File other(path() + ".snapshot.tmp", Open_Mode::create_new);
  File file(path(), Open_Mode::write_existing);
  Writable_Database db(file, {}, Deleted_Values::reset, indexes());
  EXPECT_FALSE(db.write_snapshot());
}

TEST_F(Written_Snapshot, OfAKilledProcessDoesNotStay) {
  directory_.write("city.joedb.snapshot.tmp", std::string(1 << 20, 'x'));
  File file(path(), Open_Mode::write_existing);
  Writable_Database db(file, {}, Deleted_Values::reset, indexes());
  EXPECT_TRUE(db.write_snapshot());
  EXPECT_FALSE(std::filesystem::exists(path() + ".snapshot.tmp"));
  expect_used(db.get_journal().get_checkpoint());
}

TEST_F(Written_Snapshot, LeavesNoFileIfItIsInterrupted) {
  struct Stop {};
  const std::function<void()> look = [] { throw Stop(); };
  File file(path(), Open_Mode::write_existing);
  Writable_Database db(file, {}, Deleted_Values::reset, indexes());
  const auto write = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));  // until `look` is called
    return db.write_snapshot();
  };
  EXPECT_THROW(interruptibly(look, write), Stop);
  EXPECT_FALSE(std::filesystem::exists(path() + ".snapshot.tmp"));
  EXPECT_TRUE(db.write_snapshot());
  expect_used(db.get_journal().get_checkpoint());
}

TEST_F(Written_Snapshot, LeavesNoFileIfItCannotBeRenamed) {
  std::filesystem::remove(snapshot());
  std::filesystem::create_directory(snapshot());
  File file(path(), Open_Mode::write_existing);
  Writable_Database db(file, {}, Deleted_Values::reset, indexes());
  EXPECT_THROW(db.write_snapshot(), Io_Error);
  EXPECT_FALSE(std::filesystem::exists(path() + ".snapshot.tmp"));
}

TEST_F(Written_Snapshot, StaysWholeForThoseWhoHaveItOpen) {
  File file(path(), Open_Mode::read_existing);
  Database database(Deleted_Values::reset);
  for (Index_Definition& index : indexes()) database.add_index(std::move(index));
  Readonly_Journal journal(file);
  load(database, journal);
  const std::string before = all_of(database);
  {
    File writer_file(path(), Open_Mode::write_existing);
    Writable_Database db(writer_file, {}, Deleted_Values::reset, indexes());
    fill(db, 6100, 7000);
    ASSERT_TRUE(db.write_snapshot());
  }
  EXPECT_EQ(all_of(database), before);
  journal.pull();
  load(database, journal);
  EXPECT_EQ(all_of(database), replayed());
}

TEST_F(Written_Snapshot, ThatSomebodyCutsEndsCheckpoints) {
  File file(path(), Open_Mode::write_existing);
  Writable_Database db(file, {}, Deleted_Values::reset, indexes());
  std::filesystem::resize_file(snapshot(), 4096);
  EXPECT_EQ(db.get_database().table(city).column<std::string_view>(name).get(5000), "");
  db.write(Comment{"more"});
  EXPECT_NE(error_of([&] { db.soft_checkpoint(); }).find("somebody has cut it"), std::string::npos);
}

TEST_F(Written_Snapshot, IsReplacedOnClosingOnceItIsOld) {
  {
    File file(path(), Open_Mode::write_existing);
    Writable_Database db(file, {}, Deleted_Values::reset, indexes());
    db.write(Comment{std::string(1 << 20, 'x')});
    db.hard_checkpoint();
  }
  expect_used(position_);
  Offset end;
  {
    File file(path(), Open_Mode::write_existing);
    Writable_Database db(file, {}, Deleted_Values::reset, indexes());
    for (int i = 0; i < 16; ++i) db.write(Comment{std::string(1 << 20, 'x')});
    db.soft_checkpoint();
    end = db.get_journal().get_checkpoint();
  }
  expect_used(end);
}

// ---- damage that is not detected at opening -----------------------------------------------------

// Simulates a snapshot that is too large to be verified at opening.
class Damaged_Snapshot : public Written_Snapshot {
 protected:
  void SetUp() override {
    Written_Snapshot::SetUp();
    verified_at_opening = 0;
  }
  void TearDown() override { verified_at_opening = usual_; }

  // Changes a letter of a name.
  void damage() const {
    std::string bad = bytes();
    const std::size_t at = bad.find("A city with the number 7919");
    ASSERT_NE(at, std::string::npos);
    bad[at] = 'B';
    replace(bad);
  }
  // Opens the database without reading the damaged block.
  Snapshot_Report opened() const {
    File file(path(), Open_Mode::read_existing);
    Database database(Deleted_Values::reset);
    for (Index_Definition& index : indexes()) database.add_index(std::move(index));
    Readonly_Journal journal(file);
    load(database, journal);
    return database.snapshot_report();
  }
  void expect_good() const {
    const Snapshot_File file(std::make_unique<File>(snapshot(), Open_Mode::read_existing));
    EXPECT_EQ(error_of<Corruption_Error>([&] { file.verify(); }), "no error");
    EXPECT_EQ(read().text, replayed());
  }

 private:
  const Offset usual_ = verified_at_opening;
};

TEST_F(Damaged_Snapshot, IsVerifiedAtOpeningIfItIsSmall) {
  damage();
  EXPECT_EQ(opened().position, position_);
  verified_at_opening = 1 << 20;
  expect_not_used("a block is damaged");
}

TEST_F(Damaged_Snapshot, IsNotWrittenAgainWithRightHashes) {
  damage();
  Destructor_Logger::remove_logger();
  {
    File file(path(), Open_Mode::write_existing);
    Writable_Database db(file, {}, Deleted_Values::reset, indexes());
    const std::string before = bytes();
    EXPECT_NE(error_of<Corruption_Error>([&] { db.write_snapshot(); }).find("is damaged"),
              std::string::npos);
    EXPECT_EQ(bytes(), before);
    EXPECT_THROW(db.soft_checkpoint(), Corruption_Error);
  }
  expect_good();  // the destructor has written a new snapshot from the journal
}

TEST_F(Damaged_Snapshot, IsReplacedInTheBackgroundByOneOfTheJournal) {
  damage();
  {
    File file(path(), Open_Mode::write_existing);
    Writable_Database db(file, {}, Deleted_Values::reset, indexes());
    db.write_snapshot_in_background();
    db.wait_for_snapshot();
    EXPECT_EQ(all_of(db.get_database()), replayed());
  }
  expect_good();
}

TEST_F(Damaged_Snapshot, IsReplacedOnClosingByOneOfTheJournal) {
  damage();
  Destructor_Logger::remove_logger();
  {
    File file(path(), Open_Mode::write_existing);
    Writable_Database db(file, {}, Deleted_Values::reset, indexes());
    db.set_snapshot_due_bytes(1);
  }
  expect_good();
}

TEST_F(Damaged_Snapshot, IsFoundInTheBackgroundWhereTheJournalHasIntegrityEntries) {
  {
    File file(path(), Open_Mode::write_existing);
    Writable_Database db(file, {}, Deleted_Values::reset, indexes());
    db.enable_integrity();
    ASSERT_TRUE(db.write_snapshot());
  }
  damage();
  File file(path(), Open_Mode::read_existing);
  Database database(Deleted_Values::reset);
  Readonly_Journal journal(file);
  load(database, journal);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (error_of([&] { database.require_intact(); }) == "no error" &&
         std::chrono::steady_clock::now() < end)
    std::this_thread::yield();
  EXPECT_THROW(database.require_intact(), Corruption_Error);
  EXPECT_THROW(load(database, journal), Corruption_Error);
}

TEST_F(Damaged_Snapshot, NeverMakesOpeningFail) {
  const std::string good = bytes();
  for (std::size_t i = 4096; i < good.size() - 5000; i += 3001) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 4);
    replace(bad);
    EXPECT_EQ(error_of([&] { opened(); }), "no error") << i;
  }
}

// ---- snapshots of other journals ----------------------------------------------------------------

class Snapshot_Of_A_Twin : public Written_Snapshot {
 protected:
  // Returns a journal of the same length that differs in one letter, which is in no sample.
  std::string twin() const {
    std::string bytes = directory_.read("city.joedb");
    const std::size_t at = bytes.find("A city with the number", bytes.size() / 14 + 9000);
    bytes[at] = 'B';
    return bytes;
  }
  void expect_other() {
    EXPECT_EQ(sample(), before_);
    expect_not_used("it belongs to another journal");
  }
  std::uint64_t sample() const {
    return sample_journal(File(path(), Open_Mode::read_existing), position_);
  }
  void note_sample() { before_ = sample(); }

 private:
  std::uint64_t before_ = 0;
};

TEST_F(Snapshot_Of_A_Twin, ThatWasMovedIsNotUsed) {
  note_sample();
  directory_.write("other.joedb", twin());
  std::filesystem::rename(directory_.file("other.joedb"), path());
  expect_other();
}

TEST_F(Snapshot_Of_A_Twin, ThatWasCopiedIsNotUsed) {
  {
    File file(path(), Open_Mode::write_existing);
    Writable_Database db(file, {}, Deleted_Values::reset, indexes());
    ASSERT_TRUE(db.write_snapshot());
    position_ = db.get_journal().get_checkpoint();
  }
  note_sample();
  const std::string other = twin();
  std::ofstream(path(), std::ios::binary) << other;  // overwrites the same inode
  expect_other();
}

TEST_F(Snapshot_Of_A_Twin, ThatIsMovedBesideItIsNotUsed) {
  note_sample();
  const std::string own = bytes();
  directory_.write("other.joedb", twin());
  std::filesystem::rename(directory_.file("other.joedb"), path());
  replace(own);
  expect_other();
}

TEST_F(Written_Snapshot, IsUsedBesideACopyOfItsJournal) {
  std::filesystem::copy_file(path(), directory_.file("copy"));
  std::filesystem::rename(directory_.file("copy"), path());
  expect_used(position_);
}

TEST_F(Written_Snapshot, KnowsAllBytesOfItsJournal) {
  const auto hash_of_snapshot = [&] {
    return Snapshot_File(std::make_unique<File>(snapshot(), Open_Mode::read_existing))
        .marks()
        .hash.all;
  };
  File file(path(), Open_Mode::write_existing);
  Writable_Database db(file, {}, Deleted_Values::reset, indexes());
  for (const std::size_t bytes : {std::size_t{10}, std::size_t{3} << 20, std::size_t{100}}) {
    db.write(Comment{std::string(bytes, 'c')});
    ASSERT_TRUE(db.write_snapshot());
    EXPECT_EQ(hash_of_snapshot(), hash_journal(file, db.get_journal().get_checkpoint()).all);
  }
}

// ---- other files under the name of the snapshot -------------------------------------------------

TEST_F(Written_Snapshot, IsNeverWrittenThroughALink) {
  directory_.write("precious", "precious");
  std::filesystem::create_symlink("precious", path() + ".snapshot.tmp");
  File file(path(), Open_Mode::write_existing);
  Writable_Database db(file, {}, Deleted_Values::reset, indexes());
  EXPECT_TRUE(db.write_snapshot());
  EXPECT_EQ(directory_.read("precious"), "precious");
  EXPECT_FALSE(std::filesystem::is_symlink(snapshot()));
  std::filesystem::create_symlink("nowhere", path() + ".snapshot.tmp");
  EXPECT_TRUE(db.write_snapshot());
  EXPECT_FALSE(std::filesystem::exists(directory_.file("nowhere")));
  std::filesystem::create_hard_link(directory_.file("precious"), path() + ".snapshot.tmp");
  EXPECT_TRUE(db.write_snapshot());
  EXPECT_EQ(directory_.read("precious"), "precious");
}

TEST_F(Written_Snapshot, ThatIsAPipeIsNotWaitedFor) {
  std::filesystem::remove(snapshot());
  ASSERT_EQ(::mkfifo(snapshot().c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo((path() + ".snapshot.tmp").c_str(), 0600), 0);
  expect_not_used("it is a pipe");
  File file(path(), Open_Mode::write_existing);
  Writable_Database db(file, {}, Deleted_Values::reset, indexes());
  EXPECT_TRUE(db.write_snapshot());
  expect_used(db.get_journal().get_checkpoint());
}

TEST_F(Written_Snapshot, DiffersFromTablesInWhatItSays) {
  File file(path(), Open_Mode::read_existing);
  const auto load_all = [&](Database& database) {
    for (Index_Definition& index : indexes()) database.add_index(std::move(index));
    Readonly_Journal journal(file);
    load(database, journal);
  };
  Database a(Deleted_Values::reset), b(Deleted_Values::reset);
  load_all(a);
  load_all(b);
  EXPECT_EQ(content_difference(a, b), "");
  b.remove_limits();
  b(Update<std::int32_t>{city, Record_Id(3), size, 3'000'000});
  EXPECT_EQ(content_difference(a, b), "table city, record 3, field size");
  b(Update<std::int32_t>{city, Record_Id(3), size, 3});
  EXPECT_EQ(content_difference(a, b), "");
  b(Delete{city, Record_Id(5)});
  EXPECT_EQ(content_difference(a, b), "table city, number of records");
  b(Timestamp{1});
  EXPECT_EQ(content_difference(a, b), "time stamps");
}

// ---- hand-made snapshots ------------------------------------------------------------------------

constexpr std::uint64_t layout = 0x04'00'00'00'00'00'00'04;
constexpr std::size_t header_hash_word = 19;

// Recomputes the hashes of header and directory.
void hash_again(std::string& bytes) {
  const auto word = [&](std::size_t i) { return load<std::uint64_t>(bytes.data() + 8 * i); };
  if (word(11) > bytes.size() || word(12) > bytes.size() - word(11)) return;
  store(bytes.data() + 8 * 13, hash_of({bytes.data() + word(11), word(12)}, layout));
  store(bytes.data() + 8 * header_hash_word, hash_of({bytes.data(), 8 * header_hash_word}, layout));
}

TEST_F(Written_Snapshot, MayHaveAnyNumberInItsHeader) {
  const std::string good = bytes();
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (std::size_t word = 2; word < header_hash_word; ++word)
    for (const std::int64_t number :
         {std::int64_t{0}, std::int64_t{-1}, least, most, most - 4096}) {
      std::string bad = good;
      store(bad.data() + 8 * word, number);
      store(bad.data() + 8 * header_hash_word, hash_of({bad.data(), 8 * header_hash_word}, layout));
      replace(bad);
      SCOPED_TRACE("word " + std::to_string(word) + ", " + std::to_string(number));
      try {
        const Loaded loaded = read();
        EXPECT_TRUE(loaded.report.position == position_ || !loaded.report.remark.empty());
      } catch (const Corruption_Error&) {  // the replay fails at the first entry after the position
      }
    }
}

// Returns the error for a hand-made snapshot of a journal of 1000 bytes.
std::string error_of_database(std::string_view schema, index_t rows,
                              std::int64_t beyond_limit = 0) {
  auto file = std::make_unique<Memory_File>();
  Snapshot_Writer out(*file);
  out.begin_group("database");
  for (const std::int64_t number : {std::int64_t{0}, std::int64_t{0}, beyond_limit, std::int64_t{0},
                                    std::int64_t{0}, std::int64_t{0}})
    out.number(number);
  out.text(schema);
  out.begin_group("table 1");
  for (const std::int64_t number : {std::int64_t{0}, std::int64_t{rows}, std::int64_t{1}})
    out.number(number);
  out.finish({1000, {}}, {});
  Database database;
  return error_of<Corruption_Error>(
      [&] { database.restore(std::make_shared<const Snapshot_File>(std::move(file))); });
}

TEST(Snapshot_Of_A_Database, HasNoMoreRowsThanItsJournalCanHave) {
  std::string schema;
  Context context;
  append_encoded(schema, context, Create_Table{"a"});  // a table without fields needs no section
  EXPECT_EQ(error_of_database(schema, 900), "no error");
  EXPECT_EQ(error_of_database(schema, 10'900, 10'000), "no error");
  for (const index_t rows : {index_t{1001}, index_t{1} << 47})
    EXPECT_NE(error_of_database(schema, rows).find("more records"), std::string::npos) << rows;
}

TEST(Snapshot_Of_A_Database, HasASchemaOfNothingElse) {
  std::string schema;
  Context context;
  append_encoded(schema, context, Create_Table{"a"});
  append_encoded(schema, context, Insert_Vector{Table_Id(1), Record_Id(0), 3});
  EXPECT_NE(error_of_database(schema, 3, 3).find("other entries"), std::string::npos);
}

// Reads and changes everything, with bounded loops: a damaged list may be circular.
void use(Database& db) {
  const auto change = [](auto f) {
    try {
      f();
    } catch (const Exception&) {
    }
  };
  std::uint64_t sum = 0;
  for (const auto& table : db.tables()) {
    if (!table) continue;
    const Record_Ids& records = table->records();
    const index_t rows = std::min<index_t>(records.size(), 10'000);
    index_t id = records.first();
    for (index_t i = 0; i < rows && id != Record_Ids::no_id; ++i, id = records.next(id)) sum += 1;
    id = records.last();
    for (index_t i = 0; i < rows && id != Record_Ids::no_id; ++i, id = records.previous(id))
      sum += 1;
    for (index_t i = 0; i < rows; ++i)
      for (std::size_t f = 0; f < table->fields().size(); ++f) {
        const Column_Base* const column = table->fields()[f].column.get();
        if (column == nullptr) continue;
        visit_type(column->type().code, [&]<class T>(std::type_identity<T>) {
          const T value = static_cast<const Column<T>&>(*column).get(i);
          if constexpr (std::is_same_v<T, std::string_view>)
            for (const char c : value) sum += static_cast<unsigned char>(c);
          else
            sum += static_cast<std::uint64_t>(key_part(value).number);
        });
      }
    for (const auto& index : table->indexes()) {
      auto place = index->begin();
      for (index_t i = 0; i < rows && place != index->end(); ++i, place.next()) sum += 1;
      for (index_t i = 0; i < rows; ++i) place.previous();
      const std::vector<Key_Part> key = {key_part(std::string_view("A city")), key_part(7)};
      sum += index->find(Key(key).first(1)).is_null() ? 1u : 2u;
      index->lower_bound(Key(key).first(1)).next();
    }
    for (index_t i = 0; i < 40 && rows > 0; ++i) {
      const Record_Id record(i * 37 % rows);
      change([&] { db(Update<std::string_view>{table->id(), record, name, "Another city, far"}); });
      change([&] { db(Update<std::int32_t>{table->id(), record, size, 5 - static_cast<int>(i)}); });
      if (i % 3 == 0) change([&] { db(Delete{table->id(), record}); });
      change([&] { db(Insert{table->id(), Record_Id(records.next_free())}); });
    }
  }
  EXPECT_NE(sum, 1u);
}

TEST_F(Written_Snapshot, MadeByHandReachesNothingOutsideOfIt) {
  const std::string good = bytes();
  const auto directory = static_cast<std::size_t>(load<std::uint64_t>(good.data() + 8 * 11));
  Random random(testing::first_seed());
  int restored_count = 0;
  for (int i = 0; i < 300; ++i) {
    std::string bad = good;
    const int changes = 1 << static_cast<int>(random.below(10));
    for (int k = 0; k < changes; ++k) {
      // In every other file, a third of the changes are in the directory; all other changes are in
      // sections. Half of the changes replace whole words.
      const std::size_t at = random.below(3) == 0 && i % 2 == 0
                                 ? directory + random.below(good.size() - directory)
                                 : 4096 + random.below(directory - 4096);
      const std::uint64_t value = random.below(4) == 0 ? ~std::uint64_t{0} >> random.below(64)
                                                       : random.next() >> random.below(64);
      if (random.flip() && at + 8 <= good.size())
        store(bad.data() + at / 8 * 8, value);
      else
        bad[at] = static_cast<char>(value);
    }
    hash_again(bad);
    auto file = std::make_unique<Memory_File>();
    file->pwrite(bad.data(), bad.size(), 0);
    Database database(Deleted_Values::reset);
    for (Index_Definition& index : indexes()) database.add_index(std::move(index));
    try {
      database.restore(std::make_shared<const Snapshot_File>(std::move(file)));
    } catch (const Exception&) {
      continue;
    }
    ++restored_count;
    database.remove_limits();
    use(database);
    Memory_File copy;
    Snapshot_Writer out(copy);
    database.save(out);
    out.finish({}, {});
  }
  EXPECT_GT(restored_count, 100);
}

}  // namespace
}  // namespace joedb::snapshot_test
