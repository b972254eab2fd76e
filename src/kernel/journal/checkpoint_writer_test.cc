#include "joedb/journal/writable_journal.h"

#include <gtest/gtest.h>

#include "kernel/format/seal.h"
#include "sim/lab/sim_file.h"
#include "support/error_of.h"

// Each of the nine invariants of the header (at the top of checkpoint_writer.cc), on a journal
// without entries: bytes, positions and words. checkpoint_writing_test.cc tests the whole journal.

namespace joedb {
namespace {

using testing::error_of;
using testing::Sim_Disk;
using testing::Sim_Fault;
using testing::Sim_File;
using testing::words_text;

// A process that writes bytes and words. The bytes are not entries, and are never decoded.
class Process {
 public:
  explicit Process(Sim_Disk& disk, bool has_seals = true)
      : file_(disk), out_(file_), header_(file_), words_(out_, header_, has_seals) {
    if (disk.content().empty()) {
      words_.create_header();
    } else {
      header_.open(Recovery::none, true);
      words_.open();
    }
    end_ = header_.checkpoint();
  }

  Sim_File& file() { return file_; }
  Checkpoint_Writer& words() { return words_; }
  Offset checkpoint() const { return header_.checkpoint(); }
  Offset hard_checkpoint() const { return header_.hard_checkpoint(); }

  void append(std::string_view bytes) {
    out_.pwrite(bytes.data(), bytes.size(), end_);
    end_ += static_cast<Offset>(bytes.size());
    last_ = bytes;
  }
  void soft() { words_.write_soft(end_); }
  bool begin_hard() { return words_.begin_hard(end_, last_); }
  void hard() {
    const bool is_sealed = begin_hard();
    out_.datasync();
    words_.finish_hard(end_);
    if (is_sealed) words_.replace_own_seal();
  }

 private:
  Sim_File file_;
  Fail_Stop_File out_;
  Checkpoint_Reader header_;
  Checkpoint_Writer words_;
  Offset end_ = journal_start;
  std::string last_;
};

// Returns the checkpoints found by a process that opens this file.
Checkpoints checkpoints_of(const std::string& content) {
  Sim_Disk disk(content);
  Sim_File file(disk);
  Checkpoint_Reader header(file);
  header.open(Recovery::none, false);
  return header.checkpoints();
}

class Checkpoint_Writer_Test : public ::testing::Test {
 protected:
  // Calls f() with the disk after each operation since `first`.
  template <class F>
  void at_each_operation(std::size_t first, F f) {
    for (std::size_t io = first; io <= disk_.io_count(); ++io) f(disk_.at(io));
  }
  // Returns the calls since the last call of this function.
  std::string calls() { return disk_.take_calls(); }

  Sim_Disk disk_;
};

TEST_F(Checkpoint_Writer_Test, Invariant1TheSlotOfTheHardCheckpointIsNotWrittenTo) {
  Process process(disk_);
  process.append("abc");
  process.hard();
  ASSERT_EQ(words_text(disk_.content()), "41 41 44 44");
  const std::size_t first = disk_.io_count();
  process.append("de");
  process.soft();
  process.append("f");
  process.begin_hard();
  at_each_operation(first, [](const Sim_Disk& disk) {
    EXPECT_TRUE(words_text(disk.content()).ends_with(" 44 44")) << words_text(disk.content());
  });
}

TEST_F(Checkpoint_Writer_Test, Invariant1AHardCheckpointOfOthersIsSyncedBeforeTheOtherSlotIsUsed) {
  {
    Process killed(disk_, false);
    killed.append("abc");
    killed.begin_hard();
  }
  Process process(disk_);
  EXPECT_EQ(process.hard_checkpoint(), 44);
  EXPECT_FALSE(process.words().is_durable(44));
  calls();
  process.append("d");
  process.soft();
  const std::string done = calls();
  EXPECT_LT(done.find("datasync"), done.rfind("write 8@8")) << done;
  EXPECT_TRUE(process.words().is_durable(44));
}

TEST_F(Checkpoint_Writer_Test, Invariant2TheLastCheckpointIsInTheHeaderAtEachInstant) {
  Process process(disk_);
  Offset last = journal_start;
  for (const char letter : std::string("shsshhssshsh")) {
    process.append("x");
    const std::size_t first = disk_.io_count();
    letter == 's' ? process.soft() : process.hard();
    at_each_operation(first, [&](const Sim_Disk& disk) {
      EXPECT_GE(checkpoints_of(disk.content()).checkpoint, last);
    });
    EXPECT_EQ(checkpoints_of(disk_.content()).checkpoint, process.checkpoint());
    last = process.checkpoint();
  }
}

TEST_F(Checkpoint_Writer_Test, Invariant3NoWordClaimsAByteThatWasNotWritten) {
  Process process(disk_);
  for (const char letter : std::string("sshshh")) {
    process.append("xy");
    letter == 's' ? process.soft() : process.hard();
  }
  at_each_operation(1, [](const Sim_Disk& disk) {
    const Checkpoints found = checkpoints_of(disk.content());
    EXPECT_LE(found.checkpoint, static_cast<Offset>(disk.content().size()));
  });
}

// Makes a file that ends before some of the words, as after a power cut.
std::string file_with_words(Checkpoint_Words words, const std::string& bytes) {
  Header header;
  header.checkpoints = words;
  const auto encoded = encode_header(header);
  return std::string(encoded.data(), encoded.size()) + bytes;
}

TEST_F(Checkpoint_Writer_Test, Invariant4SoftWordsBeyondTheEndAreInvalidatedAndSynced) {
  disk_ = Sim_Disk(file_with_words({44, 44, -60, -50}, "abc"));
  Process process(disk_);
  EXPECT_EQ(process.checkpoint(), 44);
  calls();
  process.words().invalidate_words_beyond(44);
  // The word that counts, the most negative one, is invalidated last.
  EXPECT_EQ(calls(), "read 32@0\nwrite 8@24\nwrite 8@16\ndatasync\nsync directory\n");
  EXPECT_EQ(words_text(disk_.content()), "44 44 41 41");
}

TEST_F(Checkpoint_Writer_Test, Invariant5MemoryClaimsNothingThatTheFileHasNot) {
  for (const bool is_hard : {false, true}) {
    for (std::size_t call = 0; call < 3; ++call) {
      Sim_Disk disk;
      Process process(disk);
      process.append("abc");
      disk.set_fault({.calls = Sim_Fault::Calls::changes, .number = disk.io_count() + call});
      try {
        is_hard ? process.hard() : process.soft();
      } catch (const Io_Error&) {
      }
      EXPECT_LE(process.checkpoint(), checkpoints_of(disk.content()).checkpoint);
    }
  }
}

TEST_F(Checkpoint_Writer_Test, Invariant6ASealFitsOnlyTheBytesThatItCovers) {
  Process process(disk_);
  process.append("abc");
  EXPECT_TRUE(process.begin_hard());
  std::string content = disk_.content();
  EXPECT_EQ(checkpoints_of(content).hard_checkpoint, 44);
  content[42] ^= 1;
  EXPECT_EQ(checkpoints_of(content).hard_checkpoint, 41);
}

TEST_F(Checkpoint_Writer_Test, Invariant6NothingIsSealedBehindACheckpointThatMayNotBeDurable) {
  Process process(disk_);
  process.append("abc");
  process.words().write_half(44);
  process.append("d");
  EXPECT_FALSE(process.begin_hard());
}

TEST_F(Checkpoint_Writer_Test, Invariant7NothingElseOfTheHeaderChangesBeforeTheSync) {
  Process process(disk_);
  process.append("abc");
  process.hard();
  process.append("d");
  const std::string before = words_text(disk_.content());
  process.begin_hard();
  const std::string sealed = words_text(disk_.content());
  EXPECT_TRUE(sealed.starts_with("45 "));
  EXPECT_EQ(sealed.substr(sealed.size() - 6), before.substr(before.size() - 6));
}

TEST_F(Checkpoint_Writer_Test, Invariant8ASealIsReplacedAfterTheSync) {
  Process process(disk_);
  process.append("abc");
  calls();
  process.hard();
  EXPECT_EQ(calls(), "read 32@0\nwrite 16@16\ndatasync\nsync directory\nwrite 8@24\n");
  EXPECT_EQ(words_text(disk_.content()), "41 41 44 44");
}

TEST_F(Checkpoint_Writer_Test, Invariant8TheNextWriterSyncsTheSealThatItReplaces) {
  {
    Process killed(disk_);
    killed.append("abc");
    killed.begin_hard();
  }
  Process process(disk_);
  calls();
  process.words().replace_seal();
  const std::string done = calls();
  EXPECT_LT(done.find("datasync"), done.rfind("write 8@24")) << done;
  EXPECT_EQ(words_text(disk_.content()), "41 41 44 44");
}

TEST_F(Checkpoint_Writer_Test, Invariant9ASealThatDoesNotFitIsInvalidated) {
  disk_ = Sim_Disk(file_with_words({41, 41, 47, make_seal("abcdef", 47)}, "abcXXX"));
  Process process(disk_);
  EXPECT_EQ(process.hard_checkpoint(), 41);
  process.words().invalidate_words_beyond(41);
  EXPECT_EQ(words_text(disk_.content()), "41 41 41 41");
}

TEST_F(Checkpoint_Writer_Test, AfterAFailedWriteNothingIsWritten) {
  Process process(disk_);
  process.append("abc");
  disk_.set_fault({.calls = Sim_Fault::Calls::syncs, .number = 0});
  EXPECT_THROW(process.hard(), Io_Error);
  const std::size_t before = disk_.io_count();
  EXPECT_THROW(process.soft(), Exception);
  EXPECT_THROW(process.hard(), Exception);
  EXPECT_EQ(disk_.io_count(), before);
}

}  // namespace
}  // namespace joedb
