#include "joedb/journal/readonly_journal.h"

#include <gtest/gtest.h>

#include <optional>

#include "joedb/io/memory_file.h"
#include "support/error_of.h"
#include "support/journal_process.h"

namespace joedb {
namespace {

using testing::Any_Entry;
using testing::error_of;
using testing::Journal_Process;
using testing::Sim_Disk;
using testing::Sim_File;
using testing::words_in;

// Size of the blocks in which a journal is read.
constexpr std::size_t block_size = std::size_t{1} << 18;

class Readonly_Journal_Test : public ::testing::Test {
 protected:
  // Makes a file with these entries, all before its checkpoint.
  static std::string file_of(const std::vector<Any_Entry>& entries) {
    Sim_Disk disk;
    Journal_Process process(disk);
    for (const Any_Entry& entry : entries) append_any(process.journal(), entry);
    process.journal().soft_checkpoint();
    return disk.content();
  }
  static std::vector<Any_Entry> entries_in(std::string_view content) {
    Readonly_Memory_File file(content);
    Readonly_Journal journal(file);
    testing::Entry_Keeper keeper(content);
    journal.replay(keeper);
    return keeper.entries();
  }

  // Makes a file with any bytes as its body. The hard checkpoint is `left_out` bytes before the
  // end.
  static std::string file_with_body(std::string_view body, std::size_t left_out = 0) {
    const auto end = static_cast<Offset>(header_size + body.size() - left_out);
    const auto header = encode_header({.checkpoints = {41, 41, end, end}});
    return std::string(header.begin(), header.end()).append(body);
  }

  testing::Destructor_Warnings warnings;
};

TEST_F(Readonly_Journal_Test, GivesAllEntriesUpToTheCheckpoint) {
  const auto entries = testing::one_entry_of_each_kind();
  EXPECT_EQ(entries_in(file_of(entries)), entries);
  EXPECT_EQ(entries_in(file_of({})), std::vector<Any_Entry>());
}

// The end of a block is at each position of each entry.
TEST_F(Readonly_Journal_Test, ReadsEntriesThatStraddleBlocks) {
  const auto entries = testing::one_entry_of_each_kind();
  const std::size_t size = file_of(entries).size() - header_size;
  for (std::size_t before = 0; before <= size; ++before) {
    // A comment of this size has an opcode, and a length of three bytes.
    std::vector<Any_Entry> all{Comment{testing::keep(std::string(block_size - before - 4, 'x'))}};
    all.insert(all.end(), entries.begin(), entries.end());
    const std::string file = file_of(all);
    ASSERT_EQ(file.size(), header_size + block_size - before + size);
    ASSERT_EQ(entries_in(file), all) << before;
  }
}

TEST_F(Readonly_Journal_Test, ReadsEntriesLargerThanABlock) {
  for (const std::size_t size : {block_size - 5, block_size, block_size + 1, 5 * block_size + 3}) {
    const std::string_view text = testing::keep(std::string(size, 'x'));
    testing::Vector_Update<std::int8_t> numbers{Table_Id(1), Record_Id(0), Field_Id(1), {}};
    numbers.values.resize(size, 7);
    const std::vector<Any_Entry> entries{Comment{"a"},  Comment{text},
                                         numbers,       testing::Blob_Bytes{text},
                                         Comment{text}, Comment{"b"}};
    EXPECT_EQ(entries_in(file_of(entries)), entries);
  }
}

// A writer stores the last word while a reader reads the header.
TEST_F(Readonly_Journal_Test, ReadsWordsThatChangeAgain) {
  class Changing_File : public Readonly_Memory_File {
   public:
    using Readonly_Memory_File::Readonly_Memory_File;
    std::size_t pread(char* data, std::size_t size, Offset offset) const override {
      const std::size_t result = Readonly_Memory_File::pread(data, size, offset);
      if (std::exchange(changes, false)) store(data + checkpoint_word_offset(1, 1), journal_start);
      return result;
    }
    mutable bool changes = false;
  };
  const std::string content = file_of({Comment{"a"}});
  Changing_File file(content);
  file.changes = true;
  Readonly_Journal journal(file);
  EXPECT_EQ(journal.get_checkpoint(), journal_start + 3);

  Readonly_Journal follower(file);
  file.changes = true;
  EXPECT_EQ(follower.pull(), 0);
  EXPECT_FALSE(file.changes);
}

TEST_F(Readonly_Journal_Test, ReadsInBlocks) {
  Sim_Disk disk(file_of(std::vector<Any_Entry>(200'000, Comment{"123456"})));
  Sim_File file(disk, Open_Mode::read_existing);
  Readonly_Journal journal(file);
  disk.take_calls();
  journal.replay(Ignore_Entries());
  const std::string calls = disk.take_calls();
  EXPECT_LE(std::count(calls.begin(), calls.end(), '\n'), 200'000 * 8 / 262'144 + 2);
}

TEST_F(Readonly_Journal_Test, DoesNotReadBlobs) {
  const std::string_view bytes = testing::keep(std::string(10 * block_size, 'x'));
  Sim_Disk disk(file_of({testing::Blob_Bytes{bytes}, Comment{"a"}}));
  Sim_File file(disk, Open_Mode::read_existing);
  Readonly_Journal journal(file);
  disk.take_calls();
  journal.replay(Ignore_Entries());
  const std::string calls = disk.take_calls();
  // Reads the size of the blob, the comment, and a possible integrity entry at the end.
  EXPECT_EQ(std::count(calls.begin(), calls.end(), '\n'), 3);
}

// The last read of a replay looks for an integrity entry.
TEST_F(Readonly_Journal_Test, CanBeReplayedAgainIfTheLastReadHasFailed) {
  const std::string_view bytes = testing::keep(std::string(10 * block_size, 'x'));
  const std::string content = file_of({testing::Blob_Bytes{bytes}, Comment{"a"}});
  std::string result;
  for (std::size_t number = 0; number < 20; ++number) {
    Sim_Disk disk(content);
    Sim_File file(disk, Open_Mode::read_existing);
    disk.set_fault({.calls = testing::Sim_Fault::Calls::reads, .number = number});
    std::optional<Readonly_Journal> journal;
    try {
      journal.emplace(file).replay(Ignore_Entries());
    } catch (const Io_Error&) {
      if (journal) result = error_of([&] { journal->replay(Ignore_Entries()); });
    }
  }
  EXPECT_EQ(result, "no error");
}

TEST_F(Readonly_Journal_Test, ReplaysAsFarAsItIsTold) {
  const std::string content = file_of({Comment{"a"}, Comment{"b"}, Comment{"c"}});
  Readonly_Memory_File file(content);
  Readonly_Journal journal(file);
  const auto replayed = [&](Offset until) {
    testing::Entry_Keeper keeper;
    journal.replay(keeper, until);
    return keeper.entries().size();
  };
  EXPECT_EQ(replayed(0), 0);
  EXPECT_EQ(replayed(41), 0);
  EXPECT_EQ(replayed(42), 1);  // replays whole entries
  EXPECT_EQ(journal.get_replay_position(), 44);
  EXPECT_EQ(replayed(44), 0);
  EXPECT_EQ(replayed(47), 1);
  EXPECT_EQ(replayed(1'000'000), 1);
  EXPECT_EQ(replayed(1'000'000), 0);
  journal.rewind();
  EXPECT_EQ(replayed(50), 3);
}

TEST_F(Readonly_Journal_Test, GoesOnWithTheContextWhereItStopped) {
  const auto insert = [](index_t id) { return Insert{Table_Id(1), Record_Id(id)}; };
  Sim_Disk disk;
  Journal_Process process(disk);
  Sim_File file(disk, Open_Mode::read_existing);
  Readonly_Journal journal(file);
  testing::Entry_Keeper keeper;
  for (index_t id = 0; id < 5; ++id) {
    process.journal().append(insert(id));
    process.journal().soft_checkpoint();
    EXPECT_GT(journal.pull(), 0);
    journal.replay(keeper);
  }
  EXPECT_EQ(keeper.entries(),
            (std::vector<Any_Entry>{insert(0), insert(1), insert(2), insert(3), insert(4)}));
}

// ---- errors -------------------------------------------------------------------------------------

TEST_F(Readonly_Journal_Test, NamesEntryAndOffsetOfAnError) {
  const std::string good =
      "\x0a\x01"
      "a";
  const struct {
    const char* when;
    std::string file;
    std::string error;
  } cases[] = {
      {"an unknown opcode", file_with_body(good + "\x7f"),
       "Unexpected operation: get_position() = 45 (entry at offset 44)"},
      {"the checkpoint is inside an entry", file_with_body(good + good, 1),
       "Trying to read past the end of file: 1 bytes needed at offset 46, but the journal ends at "
       "46 (comment entry at offset 44)"},
      {"zeros", file_with_body(good + std::string(20, '\0')),
       "Unexpected operation: get_position() = 45 (entry at offset 44)"},
  };
  for (const auto& [when, file, error] : cases) {
    Readonly_Memory_File memory(file);
    Readonly_Journal journal(memory);
    testing::Entry_Keeper keeper;
    EXPECT_EQ(error_of([&] { journal.replay(keeper); }), "memory: " + error) << when;
    EXPECT_EQ(keeper.entries(), std::vector<Any_Entry>{Comment{"a"}}) << when;
    EXPECT_EQ(error_of([&] { journal.replay(keeper); }), "this journal could not be replayed");
    journal.rewind();
    EXPECT_EQ(error_of([&] { journal.replay(keeper); }), "memory: " + error) << when;
  }
}

TEST_F(Readonly_Journal_Test, NamesTheEntryThatAHandlerRefuses) {
  const std::string content = file_of({Comment{"a"}, Valid_Data{}, Comment{"b"}});
  Readonly_Memory_File file(content);
  Readonly_Journal journal(file);
  struct : Ignore_Entries {
    using Ignore_Entries::operator();
    void operator()(const Valid_Data&) { throw Data_Error("says who?"); }
  } handler;
  try {
    journal.replay(handler);
    FAIL();
  } catch (const Corruption_Error& error) {
    EXPECT_STREQ(error.what(), "memory: says who? (valid_data entry at offset 44)");
    EXPECT_EQ(error.path, "memory");
    EXPECT_EQ(error.reason(), "says who? (valid_data entry at offset 44)");
    EXPECT_EQ(error.offset, 44);
  }
}

// A file of unknown size. Its checkpoint is past its end, and an entry claims an even larger size.
class Endless_File : public Readonly_Memory_File {
 public:
  using Readonly_Memory_File::Readonly_Memory_File;
  Offset get_size() const override { return unknown_size; }
  std::size_t pread(char* data, std::size_t size, Offset offset) const override {
    max_read_ = std::max(max_read_, size);
    return Readonly_Memory_File::pread(data, size, offset);
  }
  std::size_t max_read() const { return max_read_; }

 private:
  mutable std::size_t max_read_ = 0;
};

TEST_F(Readonly_Journal_Test, TakesNoMemoryForLengthsThatTheFileDoesNotHave) {
  const Offset far = Offset{1} << 60;
  const auto header = encode_header({.checkpoints = {41, 41, far, far}});
  const std::string start(header.begin(), header.end());
  for (const char* const entry : {"0a e7 ff ff ff ff ff ff ff",                 // a comment
                                  "13 e7 ff ff ff ff ff ff ff",                 // a blob
                                  "84 01 01 01 e7 ff ff ff ff ff ff ff 01 61",  // texts
                                  "84 01 01 01 01 e7 ff ff ff ff ff ff ff",     // one text
                                  "8c 01 01 01 c0 ff ff ff ff ff ff"}) {        // numbers
    const std::string content = start + testing::from_hex(entry) + std::string(100, 'x');
    Endless_File file(content);
    Readonly_Journal journal(file);
    testing::Entry_Keeper keeper;
    const std::string error = error_of([&] { journal.replay(keeper); });
    EXPECT_TRUE(error.starts_with("memory: Trying to read past the end of file"))
        << entry << ": " << error;
    EXPECT_LE(file.max_read(), std::size_t{1} << 20) << entry;
  }
}

TEST_F(Readonly_Journal_Test, ReportsAFailingRead) {
  Sim_Disk disk(file_of({Comment{"a"}}));
  for (std::size_t number = 0; number < 3; ++number) {
    Sim_Disk new_disk(disk.content());
    new_disk.set_fault({.calls = testing::Sim_Fault::Calls::reads, .number = number});
    Sim_File file(new_disk, Open_Mode::read_existing);
    const auto read = [&] {
      Readonly_Journal journal(file);
      journal.pull();
      journal.replay(Ignore_Entries());
    };
    EXPECT_THROW(read(), Io_Error) << number;
    read();
  }
}

// ---- blobs --------------------------------------------------------------------------------------

TEST_F(Readonly_Journal_Test, BlobsAreReadFromTheFile) {
  const std::string content = file_of({Comment{"a"}, testing::Blob_Bytes{"BLOB"}});
  Readonly_Memory_File file(content);
  Readonly_Journal journal(file);
  struct : Ignore_Entries {
    using Ignore_Entries::operator();
    void operator()(const Blob_Data& e) { blob = e.blob; }
    Blob blob;
  } handler;
  journal.replay(handler);
  EXPECT_EQ(handler.blob, Blob(46, 4));
  EXPECT_EQ(journal.get_file().read_blob(handler.blob), "BLOB");
}

}  // namespace
}  // namespace joedb
