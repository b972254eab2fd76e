#include "kernel/journal/integrity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "joedb/format/header.h"
#include "joedb/io/memory_file.h"
#include "support/error_of.h"
#include "support/journal_process.h"

// Tests of integrity entries.

namespace joedb {
namespace {

using testing::error_of;
using testing::Journal_Process;
using testing::Sim_Disk;
using testing::Sim_File;
using testing::words_in;

class Integrity_Test : public ::testing::Test {
 protected:
  static void write(Writable_Journal& journal, std::string_view word) {
    journal.append(Comment{word});
    journal.soft_checkpoint();
  }
  // Returns the words that a reader finds, or "error".
  static std::string found_in(const std::string& file) {
    try {
      return words_in(file);
    } catch (const Exception&) {
      return "error";
    }
  }

  static std::string flipped(std::string file, std::size_t bit) {
    file[bit / 8] = static_cast<char>(file[bit / 8] ^ (1 << bit % 8));
    return file;
  }
  // Flips each bit of the file. A reader must detect the flipped bit, or find the words of the
  // file.
  static void expect_flips_found_or_harmless(const std::string& good) {
    const std::string words = words_in(good);
    for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
      const std::string found = found_in(flipped(good, bit));
      EXPECT_TRUE(found == words || found == "error")
          << "byte " << bit / 8 << " bit " << bit % 8 << ": " << found;
    }
  }

  Sim_Disk disk;
  testing::Destructor_Warnings warnings;
};

TEST_F(Integrity_Test, AnEntryHasItsForm) {
  const auto bytes = encode_integrity({41, 0x1122334455667788, Integrity::each_checkpoint});
  EXPECT_EQ(testing::hex({bytes.data(), bytes.size()}),
            "13 18 00 6a 6f 65 64 62 c5 00 29 00 00 00 00 00 00 00 88 77 66 55 44 33 22 11");
  EXPECT_EQ(decode_integrity({bytes.data(), bytes.size()}),
            (Integrity_Entry{41, 0x1122334455667788, Integrity::each_checkpoint}));
}

TEST_F(Integrity_Test, AnEntryStandsBeforeEachCheckpoint) {
  Journal_Process process(disk);
  Writable_Journal& journal = process.journal();
  process.append("a");
  journal.enable_integrity();
  EXPECT_EQ(journal.get_hard_checkpoint(), 44 + 26);
  EXPECT_TRUE(journal.is_covered());
  for (const Checkpoint_Level level :
       {Checkpoint_Level::soft, Checkpoint_Level::half, Checkpoint_Level::hard}) {
    const Offset before = journal.get_checkpoint();
    process.append("b");
    journal.checkpoint(level);
    journal.checkpoint(level);
    EXPECT_EQ(journal.get_checkpoint(), before + 3 + 26);
    EXPECT_EQ(Integrity_Reader(process.file()).entry_before(journal.get_checkpoint())->start,
              before);
  }
  EXPECT_EQ(words_in(disk.content()), "a b b b ");
}

TEST_F(Integrity_Test, IsGoneOnWithByEveryWriter) {
  {
    Journal_Process process(disk);
    process.journal().enable_integrity();
    write(process.journal(), "a");
  }
  for (const Open_Mode mode : {Open_Mode::write_existing, Open_Mode::shared_write}) {
    Journal_Process process(disk, Recovery::none, mode);
    process.begin();
    EXPECT_TRUE(process.journal().has_integrity());
    write(process.journal(), "b");
  }
  Readonly_Memory_File file(disk.content());
  EXPECT_TRUE(Readonly_Journal(file).is_covered());
  EXPECT_EQ(disk.content().size(), 41 + 26 + 3 * (3 + 26));
}

TEST_F(Integrity_Test, CoversWhatOthersHaveWrittenWithoutIt) {
  Journal_Process ann(disk, Recovery::none, Open_Mode::shared_write);
  ann.begin();
  ann.journal().enable_integrity();
  ann.end();
  {
    testing::Sim_File file(disk, Open_Mode::shared_write);  // as opened by joedb 10
    const File_Lock lock(file, tail_lock, File_Lock::Kind::exclusive);
    file.pwrite("\x0a\x01x", 3, 67);
    const std::int64_t position = 70;
    for (const Offset copy : {0, 8})
      file.pwrite(reinterpret_cast<const char*>(&position), sizeof position, copy);
  }
  ann.begin();
  EXPECT_FALSE(ann.journal().is_covered());
  write(ann.journal(), "b");
  EXPECT_EQ(Integrity_Reader(ann.file()).entry_before(ann.journal().get_checkpoint())->start, 67);
  EXPECT_EQ(words_in(disk.content()), "x b ");
}

// A client of a server continues in this way in a new copy.
TEST_F(Integrity_Test, IsGoneOnWithBehindWhatWasCopied) {
  Journal_Process server(disk);
  server.append("a");
  server.journal().enable_integrity();
  const Offset end = server.journal().get_checkpoint();
  for (const Open_Mode mode : {Open_Mode::write_existing_or_create_new, Open_Mode::shared_write}) {
    Sim_Disk copy_disk;
    Journal_Process copy(copy_disk, Recovery::none, mode);
    copy.journal().lock_pull();
    copy.journal().copy_from(server.file(), end);
    copy.journal().replay_copied(Ignore_Entries());
    copy.journal().soft_checkpoint();
    copy.replay();
    write(copy.journal(), "b");
    EXPECT_TRUE(copy.journal().is_covered());
    EXPECT_EQ(copy.journal().get_checkpoint(), end + 3 + 26);
    copy.end();
    EXPECT_EQ(words_in(copy_disk.content()), "a b ");
  }
  std::string damaged = disk.content();
  damaged[43] = 'x';
  Readonly_Memory_File source(damaged);
  Sim_Disk copy_disk;
  Journal_Process copy(copy_disk);
  EXPECT_THROW(copy.journal().copy_from(source, end), Corruption_Error);
  EXPECT_EQ(copy_disk.content().size(), header_size);
}

// Flipping any bit of a closed file never makes a reader return wrong data.
TEST_F(Integrity_Test, EveryFlippedBitIsFoundOrChangesNothing) {
  for (const bool is_hard : {false, true}) {
    Sim_Disk new_disk;
    {
      Journal_Process process(new_disk);
      process.append("first");
      process.journal().enable_integrity();
      write(process.journal(), "second");
      process.append("third");
      if (is_hard)
        process.journal().hard_checkpoint();
      else
        process.journal().soft_checkpoint();
    }
    expect_flips_found_or_harmless(new_disk.content());
  }
}

// A file, and the words (comments) before its last checkpoint.
struct Written {
  std::string file;
  std::string words;
};

Written written(bool is_shared, Checkpoint_Level level, bool has_seals) {
  Sim_Disk disk;
  Journal_Options options;
  options.has_seals = has_seals;
  const Open_Mode mode =
      is_shared ? Open_Mode::shared_write : Open_Mode::write_existing_or_create_new;
  {
    Journal_Process process(disk, options, mode);
    process.begin();
    process.journal().enable_integrity();
    process.end();
    for (const char* const word : {"one", "two", "three"}) {
      process.begin();
      process.append(word);
      process.journal().checkpoint(level);
      process.end();
    }
  }
  return {disk.content(), words_in(disk.content())};
}

// Readers still find all entries before the checkpoint, and the next writer removes none of them.
TEST_F(Integrity_Test, NoFlippedBitOfTheHeaderHidesACheckpoint) {
  for (const bool is_shared : {false, true})
    for (const bool has_seals : {false, true})
      for (const Checkpoint_Level level : {Checkpoint_Level::soft, Checkpoint_Level::hard}) {
        const auto [good, words] = written(is_shared, level, has_seals);
        for (std::size_t bit = 0; bit < 8 * checkpoint_words_size; ++bit) {
          const std::string damaged = flipped(good, bit);
          EXPECT_EQ(found_in(damaged), words) << "bit " << bit;
          for (const bool is_next_shared : {false, true}) {
            Sim_Disk next_disk(damaged);
            Journal_Process process(
                next_disk, Journal_Options(),
                is_next_shared ? Open_Mode::shared_write : Open_Mode::write_existing);
            process.begin();
            write(process.journal(), "four");
            process.end();
            EXPECT_EQ(words_in(next_disk.content()), words + "four ") << "bit " << bit;
          }
        }
      }
}

// A killed process leaves its last checkpoint in only one word of the header.
TEST_F(Integrity_Test, BehindACheckpointGoodBytesWithAFlippedWordAreDamage) {
  for (const bool is_shared : {false, true})
    for (const Checkpoint_Level level : {Checkpoint_Level::soft, Checkpoint_Level::hard}) {
      Sim_Disk new_disk;
      const Open_Mode mode =
          is_shared ? Open_Mode::shared_write : Open_Mode::write_existing_or_create_new;
      Journal_Process process(new_disk, Recovery::none, mode);
      process.begin();
      process.journal().enable_integrity();
      for (const char* const word : {"one", "two", "three"}) {
        process.append(word);
        process.journal().checkpoint(level);
      }
      const std::string good = new_disk.content();
      int errors = 0;
      for (std::size_t bit = 0; bit < 8 * checkpoint_words_size; ++bit) {
        const std::string damaged = flipped(good, bit);
        const std::string found = found_in(damaged);
        if (found != words_in(good)) {
          ++errors;
          EXPECT_EQ(found, "error") << "bit " << bit;
          EXPECT_EQ(words_in(damaged, Recovery::ignore_header), words_in(good));
          for (const Recovery recovery : {Recovery::none, Recovery::keep, Recovery::overwrite})
            for (const Open_Mode next : {Open_Mode::shared_write, Open_Mode::write_existing}) {
              Sim_Disk next_disk(damaged);
              EXPECT_THROW(Journal_Process(next_disk, recovery, next), Corruption_Error);
              EXPECT_EQ(next_disk.content(), damaged);
            }
        }
      }
      EXPECT_GT(errors, 0);
    }
}

// A writer that is killed before it writes the word leaves an unfinished transaction, not damage.
TEST_F(Integrity_Test, GoodBytesThatWaitForTheirCheckpointAreATail) {
  for (const bool is_shared : {false, true}) {
    Sim_Disk new_disk;
    Journal_Process process(
        new_disk, Recovery::none,
        is_shared ? Open_Mode::shared_write : Open_Mode::write_existing_or_create_new);
    process.begin();
    process.journal().enable_integrity();
    for (int i = 0; i < 300; ++i) {
      process.append(std::string(static_cast<std::size_t>(1 + i % 7), 'x'));
      process.journal().prepare_checkpoint(Checkpoint_Level::soft);
      process.journal().flush();
      EXPECT_NE(found_in(new_disk.content()), "error") << i;
      process.journal().checkpoint(i % 3 == 0 ? Checkpoint_Level::hard : Checkpoint_Level::soft);
    }
  }
}

// A power cut may restore the tail of a dead writer, which ends with the first integrity entry of
// the file, and keep the word of the next writer, which differs in one bit from the end of that
// tail.
TEST_F(Integrity_Test, WhatWasCutOffDoesNotComeBackAsAHiddenCheckpoint) {
  Header header;
  header.checkpoints = {44, 44, 41, 41};
  const auto words = encode_header(header);
  std::string content(words.begin(), words.end());
  content +=
      "\x0a\x01"
      "a\x0a\x01"
      "b";
  const auto hash = integrity_hash(std::string_view(content).substr(header_size), 41);
  const auto entry = encode_integrity({41, hash, Integrity::each_checkpoint});
  content.append(entry.data(), entry.size());
  ASSERT_EQ(content.size(), 73U);
  Sim_Disk next_disk(content);
  Journal_Process process(next_disk, Recovery::overwrite);
  process.append(std::string(42, 'c'));
  process.journal().soft_checkpoint();
  EXPECT_EQ(process.journal().get_checkpoint(), 89);
  for (std::uint64_t seed = 0; seed < 300; ++seed)
    EXPECT_EQ(error_of([&] { words_in(next_disk.power_cut(seed)); }).find("hides the checkpoint"),
              std::string::npos)
        << seed;
}

TEST_F(Integrity_Test, SaysWhichBytesAreDamaged) {
  {
    Journal_Process process(disk);
    process.journal().enable_integrity();
    write(process.journal(), "a");
    write(process.journal(), "b");
  }
  std::string damaged = disk.content();
  damaged[69] = 'x';  // in the comment after the first integrity entry
  EXPECT_EQ(
      error_of([&] { words_in(damaged); }),
      "memory is damaged between offsets 67 and 96: the bytes are not those that were written. "
      "The last hard checkpoint is at 67: --recovery hard opens the file there");
  EXPECT_EQ(words_in(damaged, Recovery::ignore_header), "x b ");
}

// Without integrity entries, a reader would accept these bytes.
TEST_F(Integrity_Test, ASoftCheckpointWhoseBytesAreNotThereIsRefused) {
  {
    Journal_Process process(disk);
    process.journal().enable_integrity();
    write(process.journal(), "a word that is long");
  }
  std::string damaged = disk.content();
  damaged.replace(70, 5, 5, 'x');
  EXPECT_EQ(found_in(damaged), "error");
  EXPECT_EQ(words_in(damaged, Recovery::hard), "");
  // Also refused if the integrity entry itself is missing.
  damaged = disk.content();
  damaged.replace(damaged.size() - 26, 26, "\x0a\x18" + std::string(24, 'x'));
  EXPECT_EQ(
      error_of([&] { words_in(damaged); }),
      "memory: no integrity entry stands before the soft checkpoint at 114: damaged by a power "
      "cut, or written by a program without integrity entries. The last hard checkpoint is "
      "at 67: --recovery hard opens the file there");
}

TEST_F(Integrity_Test, AReaderThatFollowsComparesWhatIsNew) {
  Journal_Process process(disk);
  process.journal().enable_integrity();
  testing::Sim_File file(disk, Open_Mode::read_existing);
  Readonly_Journal reader(file);
  for (int i = 0; i < 3; ++i) {
    write(process.journal(), "a");
    EXPECT_EQ(reader.pull(), 3 + 26);
    EXPECT_TRUE(reader.is_covered());
  }
  write(process.journal(), "b");
  process.file().pwrite("x", 1, process.journal().get_checkpoint() - 27);
  EXPECT_THROW(reader.pull(), Corruption_Error);
  EXPECT_EQ(reader.get_checkpoint(), process.journal().get_checkpoint() - 29);
}

TEST_F(Integrity_Test, OfLargeJournalsIsTheSame) {
  const std::string large(1'000'000, 'x');
  {
    Journal_Process process(disk);
    process.append(large);
    process.journal().enable_integrity();
    process.append(large);
    process.append("a");
    process.journal().hard_checkpoint();
  }
  EXPECT_EQ(words_in(disk.content()), large + " " + large + " a ");
  std::string damaged = disk.content();
  damaged[1'500'000] = 'y';
  EXPECT_EQ(found_in(damaged), "error");
}

// A user who can write texts must not be able to make the file unreadable.
TEST_F(Integrity_Test, ATextThatEndsLikeAnEntryIsNotTakenForOne) {
  const auto entry = encode_integrity({41, 0x1122334455667788, Integrity::each_checkpoint});
  const std::string form(entry.begin(), entry.end());
  std::string near = form;
  near[5] ^= 1;
  for (const std::string& text : {form, "x" + form, near})
    for (const bool is_flushed : {false, true}) {
      Sim_Disk new_disk;
      Journal_Process process(new_disk);
      process.append(text);
      if (is_flushed) process.journal().flush();
      process.journal().soft_checkpoint();
      // an empty comment is appended after it
      EXPECT_EQ(words_in(new_disk.content()), text + "  ");
      process.append(text.substr(0, text.size() - 3));
      process.journal().flush();
      process.journal().hard_checkpoint();
      EXPECT_NE(found_in(new_disk.content()), "error");
    }
  Journal_Process process(disk);
  EXPECT_THROW(process.journal().append_blob(form.substr(2)), Data_Error);
  EXPECT_THROW(
      process.journal().append_blob(
          24, [&](char* out, std::size_t size) { std::memcpy(out, form.data() + 2, size); }),
      Data_Error);
  process.append("a");
  process.journal().soft_checkpoint();
  EXPECT_EQ(words_in(disk.content()), "a ");
}

TEST_F(Integrity_Test, ATextThatWasRolledBackIsNotTakenForTheEnd) {
  const auto entry = encode_integrity({41, 0, Integrity::sparse});
  Journal_Process process(disk);
  process.append(std::string(entry.begin(), entry.end()));
  process.journal().flush();
  process.journal().rollback();
  process.replay();
  for (const char* const half : {"12 letters 1", "12 letters 2"}) {
    process.append(half);
    process.journal().flush();
  }
  process.journal().soft_checkpoint();
  EXPECT_EQ(words_in(disk.content()), "12 letters 1 12 letters 2 ");
}

TEST_F(Integrity_Test, IsForgottenByARollback) {
  Journal_Process process(disk);
  process.journal().enable_integrity();
  process.append("a");
  process.journal().flush();
  process.journal().rollback();
  process.replay();
  write(process.journal(), "b");
  EXPECT_EQ(words_in(disk.content()), "b ");
}

// ---- sparse integrity entries, which new journals have by default -------------------------------

// Lists the range [start, end) that each integrity entry covers, with a ! for
// Integrity::each_checkpoint.
class Entry_Texts : public Ignore_Entries {
 public:
  using Sees_Integrity_Entries = void;
  using Ignore_Entries::operator();

  explicit Entry_Texts(const Readonly_Journal& journal) : journal_(journal) {}
  void operator()(const Integrity_Entry& entry) {
    text_ += std::to_string(entry.start) + '-' +
             std::to_string(journal_.get_replay_position() - integrity_entry_size) +
             (entry.kind == Integrity::sparse ? " " : "! ");
  }
  const std::string& text() const { return text_; }

 private:
  const Readonly_Journal& journal_;
  std::string text_;
};

class Sparse_Integrity : public Integrity_Test {
 protected:
  static Journal_Options options() {
    Journal_Options result;
    result.has_integrity = true;
    return result;
  }
  static std::string entries_of(const std::string& file) {
    Readonly_Memory_File memory(file);
    Readonly_Journal journal(memory);
    Entry_Texts texts(journal);
    journal.replay(texts);
    return texts.text();
  }
};

TEST_F(Sparse_Integrity, StandsBeforeHardCheckpointsOfANewJournal) {
  Journal_Process process(disk, options());
  write(process.journal(), "a");
  EXPECT_EQ(disk.content().size(), 44U);
  process.journal().hard_checkpoint();
  EXPECT_EQ(process.journal().get_hard_checkpoint(), 44 + 26);
  write(process.journal(), "b");
  process.journal().hard_checkpoint();
  process.journal().hard_checkpoint();
  EXPECT_EQ(entries_of(disk.content()), "41-44 70-73 ");
  EXPECT_EQ(words_in(disk.content()), "a b ");
}

TEST_F(Sparse_Integrity, IsNotMadeWithoutTheOption) {
  {
    Journal_Process process(disk);
    process.append("a");
    process.journal().hard_checkpoint();
  }
  EXPECT_EQ(disk.content().size(), 44U);
}

TEST_F(Sparse_Integrity, IsMadeForWhatIsThereWhenAFileIsClosed) {
  {
    Journal_Process process(disk, options());
    write(process.journal(), "a");
  }
  EXPECT_EQ(entries_of(disk.content()), "41-44 ");
  const std::string before = disk.content();
  { Journal_Process process(disk, options()); }
  EXPECT_EQ(disk.content(), before);
}

TEST_F(Sparse_Integrity, IsMadeByASoftCheckpointBehindManyBytes) {
  Journal_Process process(disk, options());
  const std::string large(40'000, 'x');
  write(process.journal(), large);
  EXPECT_EQ(entries_of(disk.content()), "");
  write(process.journal(), large);
  EXPECT_EQ(entries_of(disk.content()), "41-80049 ");
  write(process.journal(), "a");
  EXPECT_EQ(entries_of(disk.content()), "41-80049 ");
}

// To append the first integrity entry, the whole journal would have to be read.
TEST_F(Sparse_Integrity, IsNotMadeForALargeJournalThatHasNone) {
  for (const std::size_t size : {std::size_t{1000}, std::size_t{70'000}}) {
    Sim_Disk old;
    {
      Journal_Process process(old);
      write(process.journal(), std::string(size, 'x'));
    }
    {
      Journal_Process process(old, options());
      write(process.journal(), "a");
      process.journal().hard_checkpoint();
      EXPECT_EQ(process.journal().has_integrity(), size == 1000);
    }
    EXPECT_EQ(entries_of(old.content()).empty(), size != 1000);
  }
}

TEST_F(Sparse_Integrity, IsGoneOnWithByEveryWriter) {
  {
    Journal_Process process(disk, options());
    write(process.journal(), "a");
  }
  for (const Open_Mode mode : {Open_Mode::write_existing, Open_Mode::shared_write}) {
    Journal_Process process(disk, Recovery::none, mode);
    process.begin();
    write(process.journal(), "b");
    process.journal().hard_checkpoint();
    process.end();
  }
  EXPECT_EQ(entries_of(disk.content()), "41-44 70-73 99-102 ");
}

// If a process that makes only soft checkpoints is killed, other processes still append integrity
// entries.
TEST_F(Sparse_Integrity, CoversWhatOtherProcessesHaveWritten) {
  Journal_Process ann(disk, options(), Open_Mode::shared_write);
  Journal_Process bob(disk, options(), Open_Mode::shared_write);
  for (Journal_Process* process : {&ann, &bob, &ann, &bob}) {
    process->begin();
    write(process->journal(), "a");
    process->end();
  }
  EXPECT_EQ(disk.content().size(), 41U + 4 * 3);
  ann.begin();
  write(ann.journal(), "b");
  ann.journal().hard_checkpoint();
  ann.end();
  bob.begin();
  write(bob.journal(), "c");
  bob.journal().hard_checkpoint();
  bob.end();
  EXPECT_EQ(entries_of(disk.content()), "41-56 82-85 ");
  EXPECT_EQ(words_in(disk.content()), "a a a a b c ");
}

TEST_F(Sparse_Integrity, OfACopyIsOnlyMadeBeforeAPush) {
  Journal_Process copy(disk, options());
  copy.journal().set_copy();
  write(copy.journal(), "a");
  copy.journal().hard_checkpoint();
  EXPECT_EQ(copy.journal().get_checkpoint(), 44);
  copy.append("b");
  copy.journal().prepare_checkpoint(Checkpoint_Level::hard);
  EXPECT_EQ(copy.journal().get_position(), 47 + 26);
  copy.journal().hard_checkpoint();
  EXPECT_EQ(copy.journal().get_checkpoint(), 47 + 26);
}

TEST_F(Sparse_Integrity, IsTakenBackByARollbackToASavepoint) {
  Journal_Process process(disk, options());
  write(process.journal(), "a");
  process.journal().hard_checkpoint();
  process.append("b");
  const Replay_Place savepoint = process.journal().savepoint();
  process.append("c");
  process.journal().prepare_checkpoint(Checkpoint_Level::hard);
  process.journal().flush();
  process.journal().rollback_to(savepoint);
  process.append("d");
  process.journal().hard_checkpoint();
  EXPECT_EQ(entries_of(disk.content()), "41-44 70-76 ");
  EXPECT_EQ(words_in(disk.content()), "a b d ");
}

TEST_F(Sparse_Integrity, EveryFlippedBitIsFoundOrChangesNothing) {
  for (const bool is_shared : {false, true}) {
    Sim_Disk new_disk;
    {
      Journal_Process process(
          new_disk, options(),
          is_shared ? Open_Mode::shared_write : Open_Mode::write_existing_or_create_new);
      for (const char* const word : {"first", "second", "third"}) {
        process.begin();
        write(process.journal(), word);
        if (is_shared) process.journal().hard_checkpoint();
        process.end();
      }
    }
    expect_flips_found_or_harmless(new_disk.content());
  }
}

// One flipped bit makes the first text 32 bytes longer: it swallows the second one and the
// integrity entry.
TEST_F(Sparse_Integrity, AFlippedLengthDoesNotHideTheLastEntry) {
  {
    Journal_Process process(disk, options());
    write(process.journal(), "zero");
    process.journal().hard_checkpoint();
    process.append(std::string(64, 'a'));
    process.append("wxyz");
    process.journal().hard_checkpoint();
  }
  const std::size_t text = disk.content().size() - 26 - 6 - 64;
  std::vector<std::string> errors;
  for (std::size_t bit = 8 * (text - 2); bit < 8 * text; ++bit) {
    errors.push_back(error_of([&] { words_in(flipped(disk.content(), bit)); }));
  }
  EXPECT_EQ(std::count(errors.begin(), errors.end(),
                       "memory is damaged between offsets 73 and 172: the bytes are not those that "
                       "were written; joedb_verify says what is good"),
            1);
  EXPECT_EQ(std::count(errors.begin(), errors.end(), "no error"), 0);
}

TEST_F(Sparse_Integrity, AnErrorInTheLastEntryNamesTheHardCheckpointBeforeIt) {
  {
    Journal_Process process(disk);
    write(process.journal(), "kept");
    process.journal().hard_checkpoint();
  }
  Offset hard = 0;
  {
    Journal_Process process(disk, options());
    hard = process.journal().get_hard_checkpoint();
    process.append(std::string(64, 'a'));
    process.append("wxyz");
    process.journal().soft_checkpoint();
  }
  const std::size_t text = disk.content().size() - 26 - 6 - 64;
  bool has_hidden_entry = false;
  for (std::size_t bit = 8 * (text - 2); bit < 8 * text; ++bit) {
    const std::string error = error_of([&] { words_in(flipped(disk.content(), bit)); });
    has_hidden_entry = has_hidden_entry || error.find("between offsets 41") != std::string::npos;
    EXPECT_NE(error.find("The last hard checkpoint is at " + std::to_string(hard)),
              std::string::npos)
        << error;
  }
  EXPECT_TRUE(has_hidden_entry);
}

TEST_F(Sparse_Integrity, SaysWhichBytesAreDamaged) {
  {
    Journal_Process process(disk, options());
    for (const char* const word : {"a", "b"}) {
      write(process.journal(), word);
      process.journal().hard_checkpoint();
    }
  }
  std::string damaged = disk.content();
  damaged[43] = 'x';
  EXPECT_EQ(error_of([&] { words_in(damaged); }),
            "memory is damaged between offsets 41 and 70: the bytes are not those that were "
            "written; joedb_verify says what is good");
  damaged = disk.content();
  // in the magic number of the first integrity entry
  damaged[46] = static_cast<char>(damaged[46] ^ 1);
  EXPECT_EQ(
      error_of([&] { words_in(damaged); }),
      "memory is damaged at offset 44, in an integrity entry; joedb_verify says what is good");
  EXPECT_EQ(words_in(damaged, Recovery::ignore_header), "a b ");
}

// Readers read a journal in blocks; an integrity entry may straddle two of them.
TEST_F(Sparse_Integrity, MayStandAtTheEndOfABlock) {
  constexpr Offset block = Offset{1} << 18;
  for (Offset before = 0; before <= integrity_entry_size + 4; ++before) {
    Sim_Disk new_disk;
    {
      Journal_Process process(new_disk, options());
      const auto size_of = [&] { return process.journal().get_position() - journal_start; };
      while (size_of() + 1003 < block - 1100) process.append(std::string(1000, 'a'));
      process.append(std::string(static_cast<std::size_t>(block - before - size_of() - 3), 'b'));
      ASSERT_EQ(size_of(), block - before);
      process.journal().hard_checkpoint();
      process.append("c");
      process.journal().hard_checkpoint();
    }
    EXPECT_NE(found_in(new_disk.content()), "error") << before;
    std::string damaged = new_disk.content();
    damaged[1'000] = 'x';
    EXPECT_EQ(found_in(damaged), "error") << before;
  }
}

// A replay does not read large blobs; the bytes around them are verified.
TEST_F(Sparse_Integrity, StandsAroundLargeBlobs) {
  const std::string large(300'000, 'x');
  {
    Journal_Process process(disk, options());
    process.append("a");
    process.journal().append_blob(large);
    process.append("b");
    process.journal().append_blob(static_cast<std::int64_t>(large.size()),
                                  [](char* out, std::size_t size) { std::memset(out, 'y', size); });
    process.append(std::string(300'000, 'c'));
    process.journal().append_blob(std::string(1000, 'z'));
    process.journal().hard_checkpoint();
  }
  const std::string good = disk.content();
  const auto with_flip_in = [&](std::size_t offset) {
    std::string damaged = good;
    damaged[offset] = static_cast<char>(damaged[offset] ^ 1);
    return found_in(damaged);
  };
  EXPECT_EQ(with_flip_in(43), "error");
  EXPECT_EQ(with_flip_in(good.find("xxxx") + 1000), words_in(good));
  EXPECT_EQ(with_flip_in(good.find('b')), "error");
  EXPECT_EQ(with_flip_in(good.find("cccc") + 1000), "error");
  EXPECT_EQ(with_flip_in(good.find("zzzz") + 1000), "error");
}

// Such entries could make reading take quadratic time.
TEST_F(Sparse_Integrity, ManyEntriesThatBeginAtTheStartAreReadInBoundedTime) {
  std::string content = disk.content();
  {
    Journal_Process process(disk);
    content = disk.content();
  }
  for (int i = 0; i < 3000; ++i) {
    const auto bytes = std::string_view(content).substr(std::size_t{journal_start});
    const auto entry = encode_integrity({41, integrity_hash(bytes, 41), Integrity::sparse});
    content.append(entry.data(), entry.size());
  }
  const auto position = static_cast<std::int64_t>(content.size());
  for (const std::size_t copy : {0U, 8U}) std::memcpy(&content[copy], &position, sizeof position);
  EXPECT_EQ(words_in(content), "");
}

}  // namespace
}  // namespace joedb
