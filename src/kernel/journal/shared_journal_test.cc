#include <gtest/gtest.h>

#include <memory>

#include "support/error_of.h"
#include "support/journal_process.h"

// Several processes write one file, one transaction at a time, and readers follow them. All run in
// one thread: Sim_File throws an error if a lock would have to wait.

namespace joedb {
namespace {

using testing::error_of;
using testing::Journal_Process;
using testing::Sim_Disk;
using testing::Sim_Fault;
using testing::Sim_File;
using testing::words_in;
using testing::words_text;

class Shared_Process : public Journal_Process {
 public:
  explicit Shared_Process(Sim_Disk& disk, Recovery recovery = Recovery::none)
      : Journal_Process(disk, recovery, Open_Mode::shared_write) {}

  void write(std::string_view word, Checkpoint_Level level = Checkpoint_Level::soft) {
    write(word, level, [](int) {});
  }
  // Calls meanwhile(i) between the steps.
  template <class F>
  void write(std::string_view word, Checkpoint_Level level, F meanwhile) {
    begin();
    meanwhile(0);
    append(word);
    journal().flush();
    meanwhile(1);
    journal().checkpoint(level);
    meanwhile(2);
    end();
    meanwhile(3);
  }
};

class Shared_Journal_Test : public ::testing::Test {
 protected:
  Sim_Disk disk;
  testing::Destructor_Warnings warnings;
};

TEST_F(Shared_Journal_Test, TwoProcessesWriteInTurn) {
  Shared_Process a(disk), b(disk);
  for (const Checkpoint_Level level :
       {Checkpoint_Level::soft, Checkpoint_Level::half, Checkpoint_Level::hard}) {
    a.write("a", level);
    b.write("b", level);
    a.write("a", Checkpoint_Level::soft);
    a.write("A", level);
    b.write("B", Checkpoint_Level::hard);
  }
  EXPECT_EQ(words_in(disk.content()), "a b a A B a b a A B a b a A B ");
  EXPECT_EQ(words_text(disk.content()).find('-'), std::string::npos);
}

// Readers accept half commits, and a half commit never endangers the previous checkpoint. A process
// that pulls meanwhile, without the lock, writes just as safely afterwards.
TEST_F(Shared_Journal_Test, EveryMixtureOfLevelsKeepsAllThatWasAcknowledged) {
  const Checkpoint_Level levels[] = {Checkpoint_Level::soft, Checkpoint_Level::half,
                                     Checkpoint_Level::hard};
  const std::size_t length = 5;
  for (int mixture = 0; mixture < 243 * 32; mixture += 7) {
    Sim_Disk new_disk;
    Shared_Process a(new_disk), b(new_disk);
    std::string expected;
    Offset hard = journal_start;
    int rest = mixture;
    for (std::size_t i = 0; i < length; ++i) {
      Shared_Process& process = rest % 2 == 0 ? a : b;
      Shared_Process& other = rest % 2 == 0 ? b : a;
      rest /= 2;
      const Checkpoint_Level level = levels[rest % 3];
      rest /= 3;
      const std::string word(1, static_cast<char>('a' + i));
      const std::size_t io = new_disk.io_count();
      process.write(word, level, [&](int step) {
        if ((mixture / 7 + static_cast<int>(i)) % 6 == step) other.pull();
      });

      // A kill leaves the old state or the new one.
      for (std::size_t k = io; k <= new_disk.io_count(); ++k) {
        const std::string found = words_in(new_disk.at(k).content());
        ASSERT_TRUE(found == expected || found == expected + word + " ") << mixture << ' ' << k;
      }
      // A power cut leaves at least the last hard checkpoint.
      for (std::size_t k = io; k <= new_disk.io_count() && hard > journal_start; ++k) {
        const std::string image = new_disk.at(k).power_cut(k);
        ASSERT_GE(testing::hard_checkpoint_in(image), hard) << mixture << ' ' << words_text(image);
        ASSERT_EQ(
            image.substr(header_size, static_cast<std::size_t>(hard - journal_start)),
            new_disk.content().substr(header_size, static_cast<std::size_t>(hard - journal_start)));
      }
      expected += word + " ";
      ASSERT_EQ(words_in(new_disk.content()), expected) << mixture;
      if (level == Checkpoint_Level::hard) hard = static_cast<Offset>(new_disk.content().size());
    }
  }
}

TEST_F(Shared_Journal_Test, TheFirstSoftCheckpointOfANewFileGoesToTheSecondWord) {
  Shared_Process a(disk);
  a.write("a");
  EXPECT_EQ(words_text(disk.content()), "41 -44 41 41");
}

TEST_F(Shared_Journal_Test, ATransactionReadsWhatOthersHaveWritten) {
  Shared_Process a(disk), b(disk);
  a.write("a");
  b.journal().lock_pull();
  testing::Entry_Keeper keeper;
  b.journal().replay(keeper);
  EXPECT_EQ(keeper.entries(), std::vector<testing::Any_Entry>{Comment{"a"}});
}

// If a lock would have to wait, Sim_File throws an error.
TEST_F(Shared_Journal_Test, APullDoesNotWaitForATransaction) {
  Shared_Process a(disk), b(disk), later(disk);
  a.write("a");
  b.begin();
  b.append("b");
  b.journal().flush();
  EXPECT_EQ(a.journal().pull([&] { a.replay(); }), 0);
  b.journal().soft_checkpoint();
  EXPECT_GT(a.journal().pull([&] { a.replay(); }), 0);
  later.pull();
  EXPECT_EQ(later.journal().get_checkpoint(), b.journal().get_checkpoint());
  EXPECT_EQ(error_of([&] { a.append("not in a transaction"); }),
            a.file().get_name() + " is shared: it can be written only in a transaction");
  b.end();
  later.write("c");
  EXPECT_EQ(words_in(disk.content()), "a b c ");
}

TEST_F(Shared_Journal_Test, ATriedLockIsTakenOnlyIfItIsFree) {
  Shared_Process a(disk), b(disk);
  a.begin();
  EXPECT_FALSE(b.journal().try_lock());
  a.end();
  EXPECT_TRUE(b.journal().try_lock());
  EXPECT_FALSE(a.journal().try_lock());
  b.journal().unlock();
  EXPECT_TRUE(a.journal().try_lock());
  a.write("a");
  EXPECT_TRUE(b.journal().try_lock());
  b.write("b");
  EXPECT_EQ(words_in(disk.content()), "a b ");
}

TEST_F(Shared_Journal_Test, ATriedLockIsReleasedWhenItsTransactionCannotBegin) {
  Shared_Process a(disk), b(disk);
  a.begin();
  a.append("abandoned");
  a.journal().unlock();
  EXPECT_TRUE(a.journal().try_lock());
  EXPECT_THROW(a.journal().lock_pull(), Exception);
  EXPECT_TRUE(b.journal().try_lock());
}

TEST_F(Shared_Journal_Test, TheCallsOfATransaction) {
  Shared_Process a(disk);
  disk.take_calls();
  a.write("a");
  EXPECT_EQ(disk.take_calls(),
            "lock tail\n"
            "read 32@0\n"
            "size\n"
            "write 3@41\n"
            "write 8@8\n"
            "unlock tail\n");
}

TEST_F(Shared_Journal_Test, IsWrittenOnlyInATransaction) {
  Shared_Process a(disk);
  const std::string error = "sim is shared: it can be written only in a transaction";
  EXPECT_EQ(error_of([&] { a.append("a"); }), error);
  EXPECT_EQ(error_of([&] { a.journal().append_blob("a"); }), error);
  a.begin();
  a.append("a");
  a.end();
  EXPECT_EQ(error_of([&] { a.append("b"); }), error);
  EXPECT_EQ(error_of([&] { a.journal().flush(); }), error);
  EXPECT_EQ(error_of([&] { a.journal().commit(); }), error);
  for (const Checkpoint_Level level :
       {Checkpoint_Level::soft, Checkpoint_Level::half, Checkpoint_Level::hard})
    EXPECT_EQ(error_of([&] { a.journal().checkpoint(level); }), error);
  EXPECT_EQ(disk.content().size(), header_size);
}

// A process's leftover buffer must not overwrite entries that another process wrote later.
TEST_F(Shared_Journal_Test, ABufferLeftBehindNeverReachesTheFile) {
  Shared_Process a(disk), b(disk);
  a.begin();
  a.append("lost");
  a.end();
  b.write("b");
  EXPECT_NE(error_of([&] { a.journal().soft_checkpoint(); }), "no error");
  EXPECT_NE(error_of([&] { a.journal().hard_checkpoint(); }), "no error");
  EXPECT_NE(error_of([&] { a.journal().flush(); }), "no error");
  EXPECT_EQ(words_in(disk.content()), "b ");
}

TEST_F(Shared_Journal_Test, MustBeReplayedInEachTransaction) {
  Shared_Process a(disk), b(disk);
  a.write("a");
  b.journal().lock_pull();
  EXPECT_EQ(error_of([&] { b.append("b"); }),
            "sim: the journal must be replayed before it is written");
  b.replay();
  b.append("b");
  b.journal().soft_checkpoint();
  b.end();
  EXPECT_EQ(words_in(disk.content()), "a b ");
}

TEST_F(Shared_Journal_Test, IsNotLockedAgainWithDataBehindTheCheckpoint) {
  Shared_Process a(disk);
  a.begin();
  a.append("a");
  a.end();
  EXPECT_EQ(error_of([&] { a.journal().lock_pull(); }),
            "locking journal with uncheckpointed data (try rollback?)");
  a.journal().rollback();
  a.write("b");
  EXPECT_EQ(words_in(disk.content()), "b ");
}

// Words of a checkpoint that may not be on the disk are read and rewritten. Without the lock, that
// could overwrite a newer checkpoint of another process.
TEST_F(Shared_Journal_Test, WordsAreWrittenAgainOnlyUnderTheLock) {
  { Shared_Process(disk).write("a", Checkpoint_Level::hard); }
  const auto without_lock = [&](auto make_durable) {
    Shared_Process a(disk), b(disk);
    b.begin();
    const std::string before = disk.content();
    EXPECT_THROW(make_durable(a.journal()), std::logic_error);  // would wait for the lock
    EXPECT_EQ(disk.content(), before);
    b.end();
    EXPECT_NO_THROW(make_durable(a.journal()));
  };
  without_lock([](Writable_Journal& journal) { journal.hard_checkpoint(); });
  without_lock([](Writable_Journal& journal) { journal.commit(); });
  without_lock([](Writable_Journal& journal) { journal.wait(journal.get_position()); });
}

// ---- tails of dead writers ----------------------------------------------------------------------

TEST_F(Shared_Journal_Test, ATransactionCutsOffWhatADeadWriterLeft) {
  Shared_Process a(disk);
  a.write("a");
  {
    Shared_Process dead(disk);
    dead.begin();
    dead.append("a long text, longer than what comes after");
    dead.journal().flush();
  }
  EXPECT_GT(disk.content().size(), 80);
  a.write("b");
  EXPECT_EQ(words_in(disk.content()), "a b ");
  EXPECT_EQ(disk.content().size(), 47);
}

// The bytes are saved even if the file was new or clean when this process opened it.
TEST_F(Shared_Journal_Test, WhatADeadWriterLeftIsSaved) {
  for (const bool is_new : {false, true}) {
    Sim_Disk new_disk;
    if (!is_new) Shared_Process(new_disk).write("0");
    Shared_Process a(new_disk);
    {
      Shared_Process dead(new_disk);
      dead.begin();
      dead.append("tail");
      dead.journal().flush();
      dead.file().kill_after(0);
    }
    a.write("a");
    EXPECT_EQ(words_in(new_disk.content()), is_new ? "a " : "0 a ");
    EXPECT_EQ(new_disk.beside().size(), 1U);
  }
}

// The destructor would be too late: the bytes after the checkpoint may then be those of another
// writer.
TEST_F(Shared_Journal_Test, AFailedTransactionIsCutBeforeItsLockIsReleased) {
  std::size_t size = 0;
  {
    Shared_Process a(disk), b(disk);
    a.write("a");
    a.begin();
    a.append("failed");
    a.journal().flush();
    a.append("more");
    disk.set_fault(
        {.calls = Sim_Fault::Calls::writes, .number = disk.count(Sim_Fault::Calls::writes)});
    EXPECT_NE(error_of([&] { a.journal().flush(); }), "no error");
    disk.remove_fault();
    a.end();
    EXPECT_EQ(disk.content().size(), 44);
    EXPECT_EQ(a.journal().get_checkpoint(), 44);
    b.begin();
    b.append("tail");
    b.journal().flush();
    b.file().kill_after(0);
    size = disk.content().size();
  }
  EXPECT_EQ(disk.content().size(), size);
}

// The other slot has the same position, but may not be on the disk. So the slot that is on the disk
// must not be overwritten before a sync.
TEST_F(Shared_Journal_Test, ASlotThatAnotherProgramHasChangedIsSyncedBeforeTheOtherIsUsed) {
  Shared_Process a(disk);
  a.write("a", Checkpoint_Level::hard);
  ASSERT_EQ(words_text(disk.content()), "44 44 41 41");
  Sim_File foreign(disk, Open_Mode::shared_write);
  const std::int64_t words[2] = {44, 44};
  {
    const File_Lock lock(foreign, tail_lock, File_Lock::Kind::exclusive);
    foreign.pwrite(reinterpret_cast<const char*>(words), sizeof words, 16);
  }
  a.begin();
  disk.take_calls();
  a.append("b");
  a.journal().soft_checkpoint();
  const std::string calls = disk.take_calls();
  EXPECT_LT(calls.find("datasync\n"), calls.rfind("write 8@")) << calls;
  a.end();
}

TEST_F(Shared_Journal_Test, AnOpeningWriterRefusesATail) {
  Shared_Process a(disk);
  a.begin();
  a.append("tail");
  a.journal().flush();
  a.end();
  EXPECT_NE(error_of([&] { Shared_Process b(disk); }).find("unfinished transaction"),
            std::string::npos);
  Shared_Process b(disk, Recovery::overwrite);
  b.write("b");
  EXPECT_EQ(words_in(disk.content()), "b ");
}

// ---- destructors and rollbacks after writes of another process ----------------------------------

TEST_F(Shared_Journal_Test, ADestructorWritesItsBufferInsideItsTransaction) {
  {
    Shared_Process a(disk);
    a.begin();
    a.append("tail");
  }
  EXPECT_EQ(disk.content().size(), header_size + 6);
  EXPECT_EQ(words_in(disk.content()), "");
  Shared_Process b(disk, Recovery::overwrite);
  b.write("b");
  EXPECT_EQ(words_in(disk.content()), "b ");
}

TEST_F(Shared_Journal_Test, ADestructorDoesNotOverwriteAnothersData) {
  const auto destroy_after = [&](auto meanwhile) {
    Sim_Disk new_disk;
    Shared_Process b(new_disk);
    {
      Shared_Process a(new_disk);
      a.begin();
      a.append("one");
      a.end();
      meanwhile(b);
    }
    return words_in(new_disk.content());
  };
  EXPECT_EQ(destroy_after([](auto& b) { b.write("b"); }), "b ");
  EXPECT_EQ(destroy_after([](auto& b) { b.write("two"); }), "two ");  // as long as the entry of a
  EXPECT_EQ(destroy_after([](auto& b) {
              b.write("b");
              b.write("c");
            }),
            "b c ");
  EXPECT_EQ(destroy_after([](auto& b) { b.write("b", Checkpoint_Level::hard); }), "b ");
  // A transaction of b that is still open is not tested: a would have to wait.
}

TEST_F(Shared_Journal_Test, ARollbackDoesNotCutAnothersData) {
  for (const bool is_flushed : {false, true})
    for (const char* const other : {"b", "one", "a longer text"}) {
      Sim_Disk new_disk;
      Shared_Process a(new_disk), b(new_disk);
      a.begin();
      a.append("one");
      if (is_flushed) a.journal().flush();
      a.end();
      b.write(other);
      a.journal().rollback();
      EXPECT_EQ(words_in(new_disk.content()), std::string(other) + " ");
      a.replay();
      a.write("a");
      EXPECT_EQ(words_in(new_disk.content()), std::string(other) + " a ");
    }
}

// Otherwise the next checkpoint would lack an integrity entry, and no reader would accept it.
TEST_F(Shared_Journal_Test, ARollbackFindsThatOthersHaveEnabledIntegrity) {
  Shared_Process a(disk), b(disk);
  a.begin();
  a.append("one");
  a.journal().flush();
  a.end();
  b.begin();
  b.append("b");
  b.journal().enable_integrity();
  b.end();
  a.journal().rollback();
  a.replay();
  a.write("a");
  EXPECT_EQ(words_in(disk.content()), "b a ");
  b.write("c");
  EXPECT_EQ(words_in(disk.content()), "b a c ");
}

TEST_F(Shared_Journal_Test, ARollbackInATransactionCutsTheFile) {
  Shared_Process a(disk);
  a.write("a");
  a.begin();
  a.append("dropped");
  a.journal().flush();
  a.journal().rollback();
  EXPECT_EQ(disk.content().size(), 44);
  a.replay();
  a.append("b");
  a.journal().soft_checkpoint();
  a.end();
  EXPECT_EQ(words_in(disk.content()), "a b ");
}

// ---- readers that follow ------------------------------------------------------------------------

TEST_F(Shared_Journal_Test, AReaderFollowsAllWriters) {
  Shared_Process a(disk), b(disk);
  Sim_File file(disk, Open_Mode::read_existing);
  Readonly_Journal reader(file);
  EXPECT_EQ(reader.pull(), 0);
  a.write("a");
  EXPECT_EQ(reader.pull(), 3);
  b.begin();
  b.append("b");
  b.journal().flush();
  EXPECT_EQ(reader.pull(), 0);
  b.journal().hard_checkpoint();
  EXPECT_EQ(reader.pull(), 3);
  b.end();
  testing::Entry_Keeper keeper;
  reader.replay(keeper);
  EXPECT_EQ(keeper.entries(), (std::vector<testing::Any_Entry>{Comment{"a"}, Comment{"b"}}));
}

TEST_F(Shared_Journal_Test, APullReadsTheSizeBehindTheLock) {
  Shared_Process a(disk);
  Sim_File file(disk, Open_Mode::read_existing);
  Readonly_Journal reader(file);
  disk.take_calls();
  reader.pull();
  EXPECT_EQ(disk.take_calls(), "share head\nread 32@0\nread 32@0\nsize\nunlock head\n");
}

// A soft word past the end of the file, left by a power cut, is never accepted: neither when it is
// reread, nor after the file has grown past its position.
TEST_F(Shared_Journal_Test, AWordBeyondTheEndNeverComesToLife) {
  for (const int copy : {0, 1})
    for (const int slot : {0, 1}) {
      std::string file;
      {
        Sim_Disk first;
        Shared_Process(first).write("a");
        file = first.content();
      }
      const std::int64_t beyond = -47;
      store(file.data() + checkpoint_word_offset(slot, copy), beyond);
      if (slot == 0 && copy == 1) store(file.data() + 24, std::int64_t{-44});
      Sim_Disk new_disk(file);
      Sim_File reading(new_disk, Open_Mode::read_existing);
      Readonly_Journal reader(reading);
      EXPECT_EQ(reader.get_checkpoint(), 44);
      EXPECT_EQ(reader.pull(), 0);
      Shared_Process a(new_disk);
      a.begin();
      a.append("xyz");
      a.journal().flush();
      EXPECT_EQ(reader.pull(), 0) << words_text(new_disk.content());
      a.journal().rollback();
      a.end();
      EXPECT_EQ(words_in(new_disk.content() + "xxxxxx"), "a ");
    }
}

// Both slots have the hard checkpoint; the slot that this process has synced stays in use.
TEST_F(Shared_Journal_Test, ASlotThatWasFilledAtUnlockingCostsNoSync) {
  Shared_Process a(disk);
  a.begin();
  a.journal().enable_integrity();
  a.end();
  EXPECT_EQ(words_text(disk.content()), "67 67 67 67");
  disk.take_calls();
  a.write("a");
  EXPECT_EQ(disk.take_calls().find("sync"), std::string::npos);
  EXPECT_EQ(words_text(disk.content()), "67 67 -96 -96");
  a.write("b");
  EXPECT_EQ(words_text(disk.content()), "67 67 -125 -125");
  Shared_Process b(disk);
  b.write("c", Checkpoint_Level::hard);
  EXPECT_EQ(words_text(disk.content()), "154 154 154 154");
}

// A hard checkpoint past the end, written by a foreign program, is an error that changes nothing.
TEST_F(Shared_Journal_Test, AHardCheckpointBeyondTheEndIsRefusedByAPull) {
  Shared_Process a(disk);
  a.write("a");
  Sim_File file(disk, Open_Mode::read_existing);
  Readonly_Journal reader(file);
  Sim_File foreign(disk, Open_Mode::shared_write);
  const std::int64_t words[2] = {1000, 1000};
  {
    const File_Lock lock(foreign, tail_lock, File_Lock::Kind::exclusive);
    foreign.pwrite(reinterpret_cast<const char*>(words), 16, 16);
  }
  const std::string error = "sim is damaged: its header has a hard checkpoint at 1000";
  EXPECT_TRUE(error_of([&] { reader.pull(); }).starts_with(error));
  EXPECT_TRUE(error_of([&] { a.begin(); }).starts_with(error));
  EXPECT_EQ(reader.get_checkpoint(), 44);
  EXPECT_EQ(a.journal().get_checkpoint(), 44);
  foreign.exclusive_lock(tail_lock.start, tail_lock.size);  // a has released it
}

}  // namespace
}  // namespace joedb
