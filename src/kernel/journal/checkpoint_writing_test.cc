#include <gtest/gtest.h>

#include "kernel/format/seal.h"
#include "support/journal_process.h"

// The words that checkpoints write to the header, and the order of the writes to the file.

namespace joedb {
namespace {

using testing::hard_checkpoint_in;
using testing::Journal_Process;
using testing::Sim_Disk;
using testing::words_in;
using testing::words_text;

class Checkpoint_Test : public ::testing::Test {
 protected:
  // For each letter, makes a checkpoint: S (soft), H (hard), F (half), or N (none, only a flush).
  // For an upper-case letter, first appends an entry of three bytes.
  static void write(Writable_Journal& journal, const std::string& letters) {
    for (const char letter : letters) {
      if (letter >= 'A' && letter <= 'Z') journal.append(Comment{"x"});
      switch (letter) {
        case 'S':
        case 's':
          journal.soft_checkpoint();
          break;
        case 'H':
        case 'h':
          journal.hard_checkpoint();
          break;
        case 'F':
        case 'f':
          journal.checkpoint_half_commit();
          break;
        default:
          journal.flush();
      }
    }
  }

  Sim_Disk disk;
  testing::Destructor_Warnings warnings;
};

TEST_F(Checkpoint_Test, HeaderOfANewFileAfterEachSequence) {
  const struct {
    std::string letters;
    std::string words;
  } cases[] = {
      {"", "41 41 41 41"},
      // Examples of the format specification.
      {"S", "41 41 41 -44"},
      {"SS", "41 41 -47 -44"},
      {"SSS", "41 41 -47 -50"},
      {"H", "41 41 44 44"},
      {"HH", "47 47 44 44"},
      {"SH", "41 41 47 47"},
      {"HS", "41 -47 44 44"},
      {"HSS", "-50 -47 44 44"},
      {"HSH", "50 50 44 44"},
      {"SSHS", "41 -53 50 50"},
      // A hard checkpoint at the position of a soft checkpoint. (A soft checkpoint at the position
      // of a hard checkpoint does nothing.)
      {"Sh", "41 41 44 44"},
      {"SSh", "41 41 47 47"},
      {"Hs", "41 41 44 44"},
      {"Hh", "41 41 44 44"},
      {"Ss", "41 41 41 -44"},
      {"HShS", "47 47 -50 44"},
      // Half commits leave the same words as hard checkpoints.
      {"F", "41 41 44 44"},
      {"FF", "47 47 44 44"},
      {"Fh", "41 41 44 44"},
      {"Sf", "41 41 44 44"},
      {"FS", "41 -47 44 44"},
      {"FSF", "50 50 44 44"},
      {"FhS", "41 -47 44 44"},
      {"FH", "47 47 44 44"},
  };
  for (const auto& [letters, words] : cases) {
    Sim_Disk new_disk;
    Journal_Process process(new_disk);
    write(process.journal(), letters);
    EXPECT_EQ(words_text(new_disk.content()), words) << letters;
    EXPECT_EQ(process.journal().get_checkpoint(), process.journal().get_position()) << letters;
  }
}

// A reopened file continues from the words of its header.
TEST_F(Checkpoint_Test, HeaderOfAReopenedFile) {
  const struct {
    std::string letters;  // a space closes and reopens the file
    std::string words;
  } cases[] = {
      {" S", "41 -44 41 41"},  // a file with only a header
      {" H", "44 44 41 41"},     {"S S", "41 41 -47 -44"},  {"SS S", "41 41 -47 -50"},
      {"S H", "41 41 47 47"},    {"H S", "41 -47 44 44"},   {"H H", "47 47 44 44"},
      {"HS S", "-50 -47 44 44"}, {"HS S H", "53 53 44 44"}, {"HSS S", "-50 -53 44 44"},
      {"F F", "47 47 44 44"},    {"F S", "41 -47 44 44"},
  };
  for (const auto& [letters, words] : cases) {
    Sim_Disk new_disk;
    std::size_t start = 0;
    while (start <= letters.size()) {
      const std::size_t end = std::min(letters.find(' ', start), letters.size());
      Journal_Process process(new_disk);
      write(process.journal(), letters.substr(start, end - start));
      start = end + 1;
    }
    EXPECT_EQ(words_text(new_disk.content()), words) << letters;
  }
}

TEST_F(Checkpoint_Test, DoesNothingWhereItStandsAlready) {
  Journal_Process process(disk);
  write(process.journal(), "SH");
  disk.take_calls();
  write(process.journal(), "shf");
  EXPECT_EQ(disk.take_calls(), "");
}

// ---- the order of system calls ------------------------------------------------------------------

TEST_F(Checkpoint_Test, ANewFileGetsItsHeaderInOneWrite) {
  Journal_Process process(disk);
  EXPECT_EQ(disk.take_calls(),
            "lock head\n"
            "size\n"
            "write 41@0\n"
            "unlock head\n");
}

TEST_F(Checkpoint_Test, ASoftOneWritesEntriesThenOneWord) {
  Journal_Process process(disk);
  disk.take_calls();
  write(process.journal(), "S");
  EXPECT_EQ(disk.take_calls(),
            "write 3@41\n"
            "write 8@24\n");
}

TEST_F(Checkpoint_Test, WithoutASealAHardOneSyncsEntriesBeforeItClaimsThem) {
  Journal_Options options;
  options.has_seals = false;
  Journal_Process process(disk, options);
  disk.take_calls();
  write(process.journal(), "H");
  EXPECT_EQ(disk.take_calls(),
            "write 3@41\n"
            "sync\n"
            "sync directory\n"
            "read 32@0\n"
            "write 16@16\n"
            "datasync\n");
}

TEST_F(Checkpoint_Test, ASealedOneNeedsOneSync) {
  Journal_Process process(disk);
  disk.take_calls();
  write(process.journal(), "H");
  EXPECT_EQ(disk.take_calls(),
            "write 3@41\n"
            "read 32@0\n"
            "write 16@16\n"
            "datasync\n"
            "sync directory\n"
            "write 8@24\n");
}

TEST_F(Checkpoint_Test, ALargeOneIsNotSealed) {
  for (const Offset size : {seal_limit - 1, seal_limit}) {
    Sim_Disk new_disk;
    Journal_Process process(new_disk);
    // An entry is an opcode, a length of four bytes, and the text.
    process.append(std::string(static_cast<std::size_t>(size - 5), 'x'));
    new_disk.take_calls();
    process.journal().hard_checkpoint();
    EXPECT_EQ(process.journal().get_checkpoint(), journal_start + size);
    EXPECT_EQ(new_disk.take_calls().find("\nsync\n") != std::string::npos, size == seal_limit);
  }
}

// The words of a hard checkpoint read from the file may be in the page cache and not on the disk.
// They are written again, and synced, before the other slot is used. The entries need no sync: they
// were synced before these words were written.
TEST_F(Checkpoint_Test, TheHardOneThatWasFoundIsMadeDurableFirst) {
  {
    Journal_Process process(disk);
    write(process.journal(), "H");
  }
  disk.take_calls();
  Journal_Process process(disk);
  const std::string calls = disk.take_calls();
  EXPECT_EQ(calls.find("@32\n"), std::string::npos) << calls;
  EXPECT_LT(calls.find("write 8@16\n"), calls.find("datasync\n")) << calls;
  write(process.journal(), "H");
  EXPECT_EQ(disk.take_calls().find("\nsync\n"), std::string::npos);
}

TEST_F(Checkpoint_Test, AHardOneReplacesTheSoftOneLast) {
  Journal_Process process(disk);
  write(process.journal(), "SS");  // the last one is the first copy of slot 1
  disk.take_calls();
  write(process.journal(), "h");
  EXPECT_EQ(disk.take_calls(),
            "read 6@41\n"
            "read 32@0\n"
            "write 8@24\n"
            "write 8@16\n"
            "datasync\n"
            "sync directory\n"
            "write 8@24\n");
}

TEST_F(Checkpoint_Test, AHalfOneLeavesOutTheLastSync) {
  Journal_Process process(disk);
  disk.take_calls();
  write(process.journal(), "FF");
  EXPECT_EQ(disk.take_calls(),
            "write 3@41\nsync\nsync directory\nread 32@0\nwrite 16@16\n"
            "write 3@44\nsync\nread 32@0\nwrite 16@0\n");
  write(process.journal(), "h");
  EXPECT_EQ(disk.take_calls(), "datasync\n");
}

TEST_F(Checkpoint_Test, CommitIsOnlyASync) {
  Journal_Process process(disk);
  process.append("x");
  disk.take_calls();
  process.journal().commit();
  EXPECT_EQ(disk.take_calls(), "write 3@41\nsync\nsync directory\n");
  EXPECT_EQ(words_text(disk.content()), "41 41 41 41");
  EXPECT_EQ(process.journal().get_checkpoint(), 41);
}

TEST_F(Checkpoint_Test, OlderNamesMeanTheSame) {
  const struct {
    void (*write)(Writable_Journal&);
    const char* letter;
    Checkpoint_Level default_level = Checkpoint_Level::soft;
  } cases[] = {
      {[](Writable_Journal& j) { j.checkpoint_full_commit(); }, "H"},
      {[](Writable_Journal& j) { j.checkpoint_no_commit(); }, "S"},
      {[](Writable_Journal& j) { j.checkpoint(); }, "S"},
      {[](Writable_Journal& j) { j.checkpoint(Checkpoint_Level::soft); }, "S"},
      {[](Writable_Journal& j) { j.checkpoint(Checkpoint_Level::half); }, "F"},
      {[](Writable_Journal& j) { j.checkpoint(Checkpoint_Level::hard); }, "H"},
      {[](Writable_Journal& j) { j.checkpoint(); }, "H", Checkpoint_Level::hard},
      {[](Writable_Journal& j) { j.checkpoint(); }, "F", Checkpoint_Level::half},
  };
  for (const auto& [old, letter, default_level] : cases) {
    Sim_Disk a_disk, b_disk;
    Journal_Options options;
    options.default_level = default_level;
    Journal_Process a(a_disk, options), b(b_disk);
    a.append("x");
    old(a.journal());
    write(b.journal(), letter);
    EXPECT_EQ(a_disk.take_calls(), b_disk.take_calls()) << letter;
    EXPECT_EQ(a_disk.content(), b_disk.content()) << letter;
  }
}

// ---- half commits and power cuts ----------------------------------------------------------------

// If a process was killed before the last sync of a hard checkpoint, this checkpoint may be
// readable in the header, and a power cut may still lose it.
TEST_F(Checkpoint_Test, NobodyReliesOnAHardOneThatMayNotBeOnTheDisk) {
  for (const std::string first : {"H", "HH", "HSH"})
    for (const std::string unsynced : {"H", "F"})
      for (const std::string next : {"S", "H", "F", "SS"}) {
        Sim_Disk old;
        {
          Journal_Process process(old);
          write(process.journal(), first + unsynced);
        }
        const std::size_t before_last_sync = old.io_count() - (unsynced == "H" ? 1 : 0);
        Sim_Disk killed = old.at(before_last_sync);
        Journal_Process process(killed);
        write(process.journal(), next);
        const Offset promised = journal_start + 3 * static_cast<Offset>(first.size());
        for (std::size_t io = before_last_sync; io <= killed.io_count(); ++io)
          for (std::uint64_t seed = 0; seed < 20; ++seed) {
            const std::string image = killed.at(io).power_cut(seed);
            ASSERT_GE(hard_checkpoint_in(image), promised)
                << first << unsynced << next << " io " << io << ": " << words_text(image);
          }
      }
}

TEST_F(Checkpoint_Test, IsHardAfterReopeningOnlyIfItIsSynced) {
  {
    Journal_Process process(disk);
    write(process.journal(), "F");
  }
  Journal_Process process(disk);
  process.journal().hard_checkpoint();
  EXPECT_TRUE(disk.is_synced());
  disk.take_calls();
  process.journal().hard_checkpoint();
  EXPECT_EQ(disk.take_calls(), "");
}

TEST_F(Checkpoint_Test, AHalfOneSyncsWhatIsSoftOnly) {
  Journal_Process process(disk);
  write(process.journal(), "S");
  EXPECT_EQ(disk.durable(), "");
  write(process.journal(), "f");
  EXPECT_EQ(disk.durable().size(), 44);
}

TEST_F(Checkpoint_Test, AHalfOneSurvivesReadingTheHeaderAgain) {
  Journal_Process process(disk, Recovery::none, Open_Mode::shared_write);
  for (const char* const letters : {"F", "S", "F", "H"}) {
    process.begin();
    write(process.journal(), letters);
    process.end();
  }
  EXPECT_EQ(words_text(disk.content()), "53 53 50 50");
}

}  // namespace
}  // namespace joedb
