#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "joedb/base/log.h"
#include "joedb/format/header.h"
#include "joedb/io/memory_file.h"
#include "support/error_of.h"
#include "support/journal_process.h"

// Tests of opening files: the recovery modes, and files that are refused.

namespace joedb {
namespace {

using testing::error_of;
using testing::Journal_Process;
using testing::Sim_Disk;
using testing::words_in;
using testing::words_text;

constexpr Recovery all_modes[] = {Recovery::none, Recovery::ignore_header, Recovery::overwrite};

class Recovery_Test : public ::testing::Test {
 protected:
  // Makes a file with a header, the entry "a" of three bytes, and `tail`. In `clean` and `dirty`,
  // the checkpoint is after "a".
  static std::string file_with(Checkpoint_Words words, std::string_view tail = {}) {
    const auto header = encode_header({.checkpoints = words});
    std::string file(header.begin(), header.end());
    file += "\x0a\x01";
    file += "a";
    return file.append(tail);
  }
  static std::string entry(char word) { return std::string("\x0a\x01") + word; }

  // Returns a file after it was opened for writing and closed, without a change.
  static std::string opened(const std::string& file, Recovery recovery) {
    Sim_Disk disk(file);
    { Journal_Process process(disk, recovery); }
    return disk.content();
  }

  const std::string clean = file_with({41, 41, 41, -44});
  const std::string dirty = file_with({41, 41, 41, -44}, entry('b'));
  testing::Destructor_Warnings warnings;
};

// ---- clean files, and files with a tail ---------------------------------------------------------

TEST_F(Recovery_Test, AReaderStopsAtTheCheckpointUnlessTheHeaderIsIgnored) {
  for (const Recovery recovery : all_modes) {
    const bool ignores = recovery == Recovery::ignore_header;
    EXPECT_EQ(words_in(clean, recovery), "a ");
    EXPECT_EQ(words_in(dirty, recovery), ignores ? "a b " : "a ");
  }
}

TEST_F(Recovery_Test, AWriterRefusesATailAndSaysWhatCanBeDone) {
  Sim_Disk disk(dirty);
  EXPECT_EQ(error_of([&] { Journal_Process process(disk); }),
            "sim ends with an unfinished transaction: its checkpoint is at 44, the file has 47 "
            "bytes. No running process is writing them. 'joedb recover sim' (or Recovery::keep) "
            "saves the last 3 bytes in sim.tail-44, and removes them");
  EXPECT_EQ(disk.content(), dirty);
  EXPECT_EQ(disk.io_count(), 0);
}

TEST_F(Recovery_Test, AWriterAppendsToACleanFileInEveryMode) {
  const struct {
    Recovery recovery;
    std::string words_when_opened;
    std::string words_after_one_soft;
  } cases[] = {
      {Recovery::none, "41 41 41 -44", "41 41 -47 -44"},
      {Recovery::ignore_header, "41 41 41 -44", "41 41 41 -47"},
      {Recovery::overwrite, "41 41 -44 -44", "41 41 -44 -47"},
  };
  for (const auto& [recovery, when_opened, after_one_soft] : cases) {
    Sim_Disk disk(clean);
    {
      Journal_Process process(disk, recovery);
      EXPECT_EQ(words_text(disk.content()), when_opened);
      process.append("c");
      process.journal().soft_checkpoint();
    }
    EXPECT_EQ(words_text(disk.content()), after_one_soft);
    EXPECT_EQ(words_in(disk.content()), "a c ");
  }
}

TEST_F(Recovery_Test, IgnoringTheHeaderKeepsTheTail) {
  EXPECT_EQ(opened(dirty, Recovery::ignore_header), dirty);  // unchanged until the next checkpoint
  Sim_Disk disk(dirty);
  Journal_Process process(disk, Recovery::ignore_header);
  EXPECT_EQ(process.journal().get_checkpoint(), 47);
  process.append("c");
  process.journal().soft_checkpoint();
  EXPECT_EQ(words_in(disk.content()), "a b c ");
}

TEST_F(Recovery_Test, IgnoringTheHeaderAHardCheckpointTakesTheTailIn) {
  Sim_Disk disk(dirty);
  Journal_Process process(disk, Recovery::ignore_header);
  process.journal().hard_checkpoint();
  EXPECT_EQ(words_in(disk.content()), "a b ");
  EXPECT_EQ(words_text(disk.content()), "41 41 47 47");
}

TEST_F(Recovery_Test, OverwritingCutsTheTailOff) {
  EXPECT_EQ(opened(dirty, Recovery::overwrite), clean);
  const std::string long_tail(1000, 'x');
  Sim_Disk disk(file_with({41, 41, 41, -44}, long_tail));
  Journal_Process process(disk, Recovery::overwrite);
  process.append("c");
  process.journal().soft_checkpoint();
  EXPECT_EQ(disk.content().size(), 47);
  EXPECT_EQ(words_in(disk.content()), "a c ");
}

// ---- ignoring the header ------------------------------------------------------------------------

TEST_F(Recovery_Test, IgnoringTheHeaderStillRequiresTheSignature) {
  std::string file = dirty;
  file[36] = 'J';
  for (const Recovery recovery : all_modes)
    EXPECT_EQ(error_of([&] { words_in(file, recovery); }), "memory: missing joedb signature");
}

TEST_F(Recovery_Test, IgnoringTheHeaderTakesAnyWordsAndAnyVersion) {
  for (const Checkpoint_Words& words :
       {Checkpoint_Words{0, 0, 0, 0}, Checkpoint_Words{1000, 1000, -1000, -2000},
        Checkpoint_Words{-44, 44, 44, -44}})
    EXPECT_EQ(words_in(file_with(words, entry('b')), Recovery::ignore_header), "a b ");
  std::string file = dirty;
  file[32] = 6;
  EXPECT_EQ(words_in(file, Recovery::ignore_header), "a b ");
}

// An acknowledged checkpoint is not overwritten before a newer one is in the file.
TEST_F(Recovery_Test, IgnoringTheHeaderSparesTheCheckpointsInIt) {
  const std::string tail = entry('b') + entry('c') + entry('d');
  for (const Checkpoint_Words& words :
       {Checkpoint_Words{41, 41, 44, 44}, Checkpoint_Words{44, 44, 41, 41},
        Checkpoint_Words{41, 41, 41, -47}, Checkpoint_Words{41, 41, -47, 41},
        Checkpoint_Words{-47, 41, 44, 44}, Checkpoint_Words{44, 44, 41, -47},
        Checkpoint_Words{47, 47, 44, 44}, Checkpoint_Words{44, 44, -47, 50}}) {
    Sim_Disk disk(file_with(words, tail));
    Journal_Process process(disk, Recovery::ignore_header);
    process.append("e");
    process.journal().hard_checkpoint();
    Checkpoints before;
    before.read(words, 53);
    for (std::size_t io = 0; io < disk.io_count(); ++io) {
      const std::string killed = disk.at(io).content();
      Readonly_Memory_File file(killed);
      EXPECT_GE(Readonly_Journal(file).get_checkpoint(), before.checkpoint) << words_text(killed);
    }
    EXPECT_EQ(words_in(disk.content()), "a b c d e ");
  }
}

// ---- words past the end of the file -------------------------------------------------------------

TEST_F(Recovery_Test, SoftWordsBeyondTheEndAreNotBelieved) {
  const std::string file = file_with({41, 41, -44, -47});
  EXPECT_EQ(words_in(file), "a ");
  Sim_Disk disk(file);
  Journal_Process process(disk);
  EXPECT_EQ(process.journal().get_checkpoint(), 44);
}

TEST_F(Recovery_Test, AWriterBuriesWordsBeyondTheEndBeforeTheFileGrows) {
  const struct {
    Checkpoint_Words words;
    Recovery recovery;
    std::string when_opened;
  } cases[] = {
      {{41, 41, -44, -47}, Recovery::none, "41 41 -44 41"},
      {{41, 41, -44, -47}, Recovery::overwrite, "41 41 -44 -44"},
      {{41, 41, -44, -47}, Recovery::ignore_header, "41 41 -44 41"},
      {{-99, -98, 44, 44}, Recovery::none, "41 41 44 44"},
      {{-99, 44, 41, -44}, Recovery::none, "41 41 41 -44"},  // has no hard checkpoint
      {{44, 44, 47, 41}, Recovery::none, "44 44 41 41"},
      {{44, 44, -44, 47}, Recovery::none, "44 44 -44 41"},
      {{44, 44, 47, 47}, Recovery::ignore_header, "44 44 41 41"},
      {{44, 44, std::numeric_limits<std::int64_t>::min(), 41}, Recovery::none, "44 44 41 41"},
      {{44, 44, 43, -43}, Recovery::none, "44 44 43 -43"},  // positions below the end: harmless
  };
  for (const auto& [words, recovery, when_opened] : cases) {
    Sim_Disk disk(file_with(words));
    Journal_Process process(disk, recovery);
    EXPECT_EQ(words_text(disk.content()), when_opened);
    // After a power cut, the words must not become valid when the file grows.
    for (std::uint64_t seed = 0; seed < 20; ++seed)
      EXPECT_EQ(words_in(disk.power_cut(seed) + "xxx"), "a ");
    process.append("b");
    process.append("c");
    process.journal().flush();
    EXPECT_EQ(words_in(disk.content()), "a ") << words_text(disk.content());
  }
}

TEST_F(Recovery_Test, WordsBeyondTheCutAreBuriedToo) {
  // An incomplete hard checkpoint covers the tail.
  const std::string cut = opened(file_with({44, 44, 47, 41}, entry('b')), Recovery::overwrite);
  EXPECT_EQ(words_text(cut), "44 44 41 41");
  EXPECT_EQ(cut.size(), 44);
}

// ---- files that are refused ---------------------------------------------------------------------

TEST_F(Recovery_Test, FilesThatAreNoJournalsAreRefused) {
  std::string version_4 = clean, version_6 = clean, no_signature = clean;
  version_4[32] = 4;
  version_6[32] = 6;
  no_signature[40] = 'x';
  const struct {
    const char* when;
    std::string file;
    std::string error;
    Offset offset;
  } cases[] = {
      {"an older version", version_4, "unsupported file format version 4", 32},
      {"a newer version", version_6, "unsupported file format version 6", 32},
      {"another signature", no_signature, "missing joedb signature", 36},
      {"zeros", std::string(200, '\0'), "missing joedb signature", 36},
      {"a text", std::string(200, 'x'), "missing joedb signature", 36},
      {"hard checkpoint beyond the end", file_with({41, 41, 45, 45}),
       "is damaged: its header has a hard checkpoint at 45, and the file ends at 44. The last hard "
       "checkpoint is at 41",
       44},
      {"one beyond the end, the other good", file_with({44, 44, 45, 45}),
       "is damaged: its header has a hard checkpoint at 45, and the file ends at 44. The last hard "
       "checkpoint is at 44",
       44},
  };
  for (const auto& [when, file, error, offset] : cases)
    for (const Recovery recovery : {Recovery::none, Recovery::overwrite}) {
      try {
        words_in(file, recovery);
        ADD_FAILURE() << when;
      } catch (const Corruption_Error& e) {
        EXPECT_THAT(e.what(), ::testing::HasSubstr(error)) << when;
        EXPECT_EQ(e.offset, offset) << when;
      }
      Sim_Disk disk(file);
      EXPECT_THAT(error_of([&] { Journal_Process process(disk, recovery); }),
                  ::testing::HasSubstr(error))
          << when;
      EXPECT_EQ(disk.io_count(), 0) << when;
    }
}

// The first bytes of a new header, left by a killed program, are completed by the next writer.
TEST_F(Recovery_Test, APieceOfANewHeaderIsANewFileForAWriter) {
  const std::string header = file_with({41, 41, 41, 41}).substr(0, 41);
  for (const std::size_t size : {1u, 20u, 32u, 40u}) {
    EXPECT_EQ(opened(header.substr(0, size), Recovery::none), header);
    EXPECT_THROW(words_in(header.substr(0, size)), Corruption_Error);
  }
}

TEST_F(Recovery_Test, ShortFilesAreRefused) {
  for (const std::size_t size : {32u, 33u, 40u}) {
    const std::string file = clean.substr(0, size);
    const std::string error = "Trying to read past the end of file";
    for (const Recovery recovery : all_modes) {
      EXPECT_TRUE(error_of([&] { words_in(file, recovery); }).starts_with(error)) << size;
      Sim_Disk disk(file);
      EXPECT_TRUE(error_of([&] { Journal_Process(disk, recovery); }).starts_with(error)) << size;
      EXPECT_EQ(disk.content(), file);
    }
  }
}

TEST_F(Recovery_Test, AnEmptyFileGetsAHeaderFromAWriterOnly) {
  for (const Recovery recovery : all_modes) {
    EXPECT_EQ(error_of([&] { words_in("", recovery); }), "memory: file is empty");
    Sim_Disk disk;
    { Journal_Process process(disk, recovery); }
    EXPECT_EQ(disk.content(), file_with({41, 41, 41, 41}).substr(0, 41));
  }
}

// ---- keeping the tail ---------------------------------------------------------------------------

TEST_F(Recovery_Test, KeepingSavesTheTailInAFileOfItsOwn) {
  Sim_Disk disk(dirty);
  Journal_Process process(disk, Recovery::keep);
  EXPECT_EQ(disk.content(), clean);
  EXPECT_EQ(disk.beside().at(".tail-44"), entry('b'));
  process.append("c");
  process.journal().soft_checkpoint();
  EXPECT_EQ(words_in(disk.content()), "a c ");
}

TEST_F(Recovery_Test, KeepingTwiceKeepsBothTails) {
  Sim_Disk disk(dirty);
  { Journal_Process process(disk, Recovery::keep); }
  {
    Journal_Process process(disk);
    process.append("d");
    process.journal().flush();
    process.file().kill_after(0);
  }
  { Journal_Process process(disk, Recovery::keep); }
  EXPECT_EQ(disk.beside().at(".tail-44"), entry('b'));
  EXPECT_EQ(disk.beside().at(".tail-44-2"), entry('d'));
}

TEST_F(Recovery_Test, KeepingWritesToNoFileThatIsThere) {
  Sim_Disk disk(dirty, {{".tail-44", "x"}});  // an existing file, possibly a link to another one
  Journal_Process process(disk, Recovery::keep);
  EXPECT_EQ(disk.beside().at(".tail-44"), "x");
  EXPECT_EQ(disk.beside().at(".tail-44-2"), entry('b'));
}

TEST_F(Recovery_Test, KeepingLeavesNoPartOfATailThatAKilledProcessHasLeft) {
  const std::string tail = entry('b') + entry('c');
  for (std::size_t size = 0; size <= tail.size(); ++size) {
    Sim_Disk disk(file_with({41, 41, 41, -44}, tail), {{".tail-44", tail.substr(0, size)}});
    Journal_Process process(disk, Recovery::keep);
    EXPECT_EQ(disk.content(), clean);
    EXPECT_EQ(disk.beside(), (testing::Sim_Directory::Contents{{".tail-44", tail}}));
  }
}

TEST_F(Recovery_Test, ATailThatCannotBeSavedIsNamedWithTheWaysOut) {
  Sim_Disk disk(dirty);
  disk.directory().faults().set({.calls = testing::Sim_Fault::Calls::opens, .code = EACCES});
  EXPECT_EQ(error_of([&] { Journal_Process process(disk, Recovery::keep); }),
            "an unfinished transaction, the last 3 bytes of sim, cannot be saved: opening "
            "sim.tail-44: Permission denied. Until then, nobody can write sim. 'joedb recover sim' "
            "saves them when that is possible; 'joedb recover --recovery overwrite sim' removes "
            "them; 'joedb client --recovery overwrite --keep-tail OTHER sim' saves them in another "
            "file, and removes them");
  EXPECT_EQ(disk.content(), dirty);
  EXPECT_TRUE(disk.beside().empty());
}

TEST_F(Recovery_Test, AWriterSaysWhatItRemoves) {
  String_Logger log;
  Recovery_Logger::set_logger(&log);
  for (const Recovery recovery : {Recovery::keep, Recovery::overwrite}) {
    Sim_Disk disk(dirty);
    Journal_Process process(disk, recovery);
  }
  Sim_Disk zeros(file_with({41, 41, 41, -44}, std::string(100, '\0')));
  { Journal_Process process(zeros, Recovery::keep); }
  Recovery_Logger::remove_logger();
  EXPECT_EQ(log.get_text(),
            "sim: removed 3 bytes behind the checkpoint at 44; they are saved in "
            "sim.tail-44\n"
            "sim: removed 3 bytes behind the checkpoint at 44\n");
}

TEST_F(Recovery_Test, KeepingSavesNoZeros) {
  Sim_Disk disk(file_with({41, 41, 41, -44}, std::string(100, '\0')));
  Journal_Process process(disk, Recovery::keep);
  EXPECT_EQ(disk.content(), clean);
  EXPECT_TRUE(disk.beside().empty());
}

// ---- the whole file is checked before anything is changed ---------------------------------------

TEST_F(Recovery_Test, AFileWhoseEntriesCannotBeReadStaysAsItIs) {
  const std::string bad = file_with({41, 41, 41, -47}, "\xff\xff\xff" + entry('b'));
  for (const Recovery recovery :
       {Recovery::none, Recovery::ignore_header, Recovery::overwrite, Recovery::keep}) {
    Sim_Disk disk(bad);
    EXPECT_THROW(Journal_Process(disk, recovery), Exception);
    EXPECT_EQ(disk.content(), bad);
    EXPECT_EQ(disk.io_count(), 0);
  }
}

TEST_F(Recovery_Test, OpeningAloneChangesNothing) {
  for (const Recovery recovery :
       {Recovery::ignore_header, Recovery::overwrite, Recovery::keep, Recovery::hard}) {
    Sim_Disk disk(dirty);
    {
      testing::Sim_File file(disk, Open_Mode::write_existing);
      Writable_Journal journal(file, recovery);
      journal.replay(Ignore_Entries());
    }
    EXPECT_EQ(disk.content(), dirty);
  }
}

// ---- headers without a checkpoint ---------------------------------------------------------------

TEST_F(Recovery_Test, EntriesBehindAHeaderWithoutACheckpointAreNoEmptyDatabase) {
  const Checkpoint_Words cases[] = {
      {0, 0, 0, 0}, {41, 0, 0, 41}, {1000, 999, -1000, -999}, {40, 40, -40, 0}};
  for (const Checkpoint_Words& words : cases)
    for (const Recovery recovery :
         {Recovery::none, Recovery::overwrite, Recovery::hard, Recovery::keep}) {
      const std::string file = file_with(words, entry('b'));
      EXPECT_THAT(error_of([&] { words_in(file, recovery); }),
                  ::testing::HasSubstr("has no checkpoint"));
      EXPECT_EQ(words_in(file, Recovery::ignore_header), "a b ");
    }
}

// The only checkpoint is past the end: the file has lost all its entries. Opening it as an empty
// database would hide the loss.
TEST_F(Recovery_Test, AFileThatWasTruncatedIsNeverAnEmptyDatabase) {
  const std::string whole = file_with({41, 41, 41, -47}, entry('b'));
  for (std::size_t size = header_size; size < whole.size(); ++size) {
    const std::string file = whole.substr(0, size);
    const std::string text =
        "a soft checkpoint at 47, and the file ends at " + std::to_string(size);
    for (const Recovery recovery : {Recovery::none, Recovery::overwrite, Recovery::keep}) {
      EXPECT_THAT(error_of([&] { words_in(file, recovery); }), ::testing::HasSubstr(text));
      for (const Open_Mode mode : {Open_Mode::write_existing, Open_Mode::shared_write}) {
        Sim_Disk disk(file);
        EXPECT_THAT(error_of([&] { Journal_Process(disk, recovery, mode).begin(); }),
                    ::testing::HasSubstr(text));
        EXPECT_EQ(disk.content(), file);
      }
    }
    EXPECT_EQ(words_in(file, Recovery::hard), "");
  }
}

TEST_F(Recovery_Test, WhatCanBeReadOfATruncatedFileIsNamed) {
  const std::string cut = file_with({41, 41, 41, -1000}, entry('b'));
  EXPECT_EQ(error_of([&] { words_in(cut); }),
            "memory is damaged: its header has a soft checkpoint at 1000, and the file ends at 47. "
            "The last hard checkpoint is at 41, before the first entry; --recovery ignore_header "
            "reads all entries of the file");
  EXPECT_EQ(words_in(cut, Recovery::ignore_header), "a b ");
  EXPECT_THAT(error_of([&] { words_in(cut.substr(0, cut.size() - 1)); }),
              ::testing::HasSubstr("its entries are whole up to offset 44: joedb_push --recovery "
                                   "ignore_header --until 44 FILE file NEW_FILE copies them"));
}

TEST_F(Recovery_Test, TheIntactHardCheckpointIsFoundBesideOneBeyondTheEnd) {
  const std::string file = file_with({50, 50, 44, 44}, entry('b') + "\x0a");
  EXPECT_THAT(error_of([&] { words_in(file); }),
              ::testing::HasSubstr("The last hard checkpoint is at 44"));
  EXPECT_EQ(words_in(file, Recovery::hard), "a ");
  Sim_Disk disk(file);
  Journal_Process process(disk, Recovery::hard);
  EXPECT_EQ(words_text(disk.content()), "41 41 44 44");
}

// ---- going back to the hard checkpoint ----------------------------------------------------------

TEST_F(Recovery_Test, NobodyGoesBackToTheHardCheckpointWhileOthersHaveTheFileOpen) {
  Sim_Disk disk(clean);
  {
    testing::Sim_File reader(disk, Open_Mode::read_existing);
    EXPECT_THAT(error_of([&] { Journal_Process process(disk, Recovery::hard); }),
                ::testing::HasSubstr("other processes have the file open"));
    EXPECT_EQ(disk.content(), clean);
  }
  Journal_Process process(disk, Recovery::hard);
  EXPECT_EQ(process.journal().get_checkpoint(), 41);
}

// When the recovery has ended, others can open the file, even if the recovering process has not
// ended.
TEST_F(Recovery_Test, AfterGoingBackToTheHardCheckpointOthersMayOpenTheFile) {
  for (const std::string& content : {std::string(), clean, file_with({41, 41, 50, 50}, "bad")}) {
    Sim_Disk disk(content);
    testing::Sim_File file(disk);
    try {
      Writable_Journal journal(file, Recovery::hard);
      journal.replay(Ignore_Entries());
      journal.recover();
    } catch (const Exception&) {
    }
    EXPECT_NO_THROW(testing::Sim_File(disk, Open_Mode::read_existing));
  }
}

TEST_F(Recovery_Test, ASharedFileDoesNotGoBackToTheHardCheckpoint) {
  Sim_Disk disk(clean);
  EXPECT_THAT(
      error_of([&] { Journal_Process process(disk, Recovery::hard, Open_Mode::shared_write); }),
      ::testing::HasSubstr("Open the file alone"));
}

TEST_F(Recovery_Test, AFileOpenedForReadingIsNotWritten) {
  Sim_Disk disk(clean);
  testing::Sim_File file(disk, Open_Mode::read_existing);
  EXPECT_EQ(error_of([&] { Writable_Journal journal(file); }),
            "sim is opened for reading only and cannot be written");
  testing::Sim_File writable(disk, Open_Mode::shared_write);
  EXPECT_EQ(error_of([&] { Writable_Journal journal(writable, Recovery::ignore_signature); }),
            "sim: a file whose signature is ignored can only be read (Readonly_Journal)");
}

// ---- locks and the size -------------------------------------------------------------------------

TEST_F(Recovery_Test, TheSizeIsReadBehindTheLock) {
  const auto calls_of = [&](Open_Mode mode, bool writes) {
    Sim_Disk disk(clean);
    testing::Sim_File file(disk, mode);
    if (writes)
      Writable_Journal journal(file);
    else
      Readonly_Journal journal(file);
    return disk.take_calls();
  };
  EXPECT_TRUE(calls_of(Open_Mode::read_existing, false).starts_with("share head\nsize\n"));
  EXPECT_TRUE(calls_of(Open_Mode::write_existing, true).starts_with("lock head\nsize\n"));
  EXPECT_TRUE(calls_of(Open_Mode::shared_write, true).starts_with("lock tail\nlock head\nsize\n"));
}

}  // namespace
}  // namespace joedb
