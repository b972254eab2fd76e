#include "joedb/journal/writable_journal.h"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <stdexcept>

#include "joedb/io/memory_file.h"
#include "support/error_of.h"
#include "support/journal_process.h"

namespace joedb {
namespace {

using testing::Any_Entry;
using testing::error_of;
using testing::Journal_Process;
using testing::Sim_Disk;
using testing::Sim_Fault;
using testing::Sim_File;
using testing::words_in;
using testing::words_text;

const Table_Id table(1);
const Field_Id field(1);

// A size that is larger than the buffer can become.
constexpr std::size_t large = std::size_t{1} << 20;

class Writable_Journal_Test : public ::testing::Test {
 protected:
  // Returns the entries of a file up to its checkpoint.
  static std::vector<Any_Entry> entries_in(const std::string& content) {
    Readonly_Memory_File file(content);
    Readonly_Journal journal(file);
    testing::Entry_Keeper keeper(content);
    journal.replay(keeper);
    return keeper.entries();
  }
  std::string body() const { return disk.content().substr(header_size); }

  Sim_Disk disk;
  testing::Destructor_Warnings warnings;
};

// ---- appending ----------------------------------------------------------------------------------

TEST_F(Writable_Journal_Test, AppendsToItsBufferUntilItIsFlushed) {
  Journal_Process process(disk);
  process.append("a");
  EXPECT_EQ(process.journal().get_position(), 44);
  EXPECT_EQ(process.journal().ahead_of_checkpoint(), 3);
  EXPECT_EQ(process.journal().get_checkpoint(), 41);
  EXPECT_EQ(body(), "");
  process.journal().flush();
  EXPECT_EQ(process.journal().get_position(), 44);
  EXPECT_EQ(body(),
            "\x0a\x01"
            "a");
  EXPECT_EQ(words_in(disk.content()), "");
  process.journal().soft_checkpoint();
  EXPECT_EQ(words_in(disk.content()), "a ");
  EXPECT_EQ(process.journal().ahead_of_checkpoint(), 0);
}

TEST_F(Writable_Journal_Test, WritesWholeEntriesOnly) {
  Journal_Process process(disk);
  disk.take_calls();
  for (int i = 0; i < 200'000; ++i) process.append("123456");
  const std::string calls = disk.take_calls();
  EXPECT_GT(std::count(calls.begin(), calls.end(), '\n'), 4);
  EXPECT_LT(std::count(calls.begin(), calls.end(), '\n'), 20);
  EXPECT_GT(body().size(), 1'000'000);
  EXPECT_EQ(body().size() % 8, 0);
}

TEST_F(Writable_Journal_Test, TakesTextsOfAnySize) {
  Journal_Process process(disk);
  std::vector<Any_Entry> expected;
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{4000}, std::size_t{4096}, std::size_t{262'100},
        std::size_t{262'144}, large, std::size_t{1}}) {
    const std::string_view text = testing::keep(std::string(size, 'x'));
    process.append(text);
    expected.push_back(Comment{text});
  }
  process.journal().soft_checkpoint();
  EXPECT_EQ(entries_in(disk.content()), expected);
}

TEST_F(Writable_Journal_Test, WritesEveryKindOfEntryAsTheEncoderDoes) {
  std::string expected;
  Context context;
  Journal_Process process(disk);
  for (const Any_Entry& entry : testing::one_entry_of_each_kind()) {
    testing::append_any(expected, context, entry);
    testing::append_any(process.journal(), entry);
  }
  process.journal().soft_checkpoint();
  EXPECT_EQ(testing::hex(body()), testing::hex(expected));
}

TEST_F(Writable_Journal_Test, KeepsTheContextFromSessionToSession) {
  const auto insert = [](index_t id) { return Insert{table, Record_Id(id)}; };
  const auto update = [](index_t id) {
    return Update<std::int8_t>{table, Record_Id(id), field, 7};
  };
  {
    Journal_Process process(disk);
    process.journal().append(insert(0));
    process.journal().soft_checkpoint();
    process.journal().append(insert(1));  // a checkpoint does not reset the context
    process.journal().soft_checkpoint();
  }
  {
    Journal_Process process(disk);
    process.journal().append(insert(2));
    process.journal().append(update(2));
    process.journal().hard_checkpoint();
  }
  {
    Journal_Process process(disk);
    process.journal().append(update(3));
    process.journal().soft_checkpoint();
  }
  EXPECT_EQ(testing::hex(body()), "05 01 01 08 08 9e 01 07 9f 07");
}

TEST_F(Writable_Journal_Test, MustBeReplayedBeforeItIsWritten) {
  {
    Journal_Process process(disk);
    process.append("a");
    process.append("b");
    process.journal().soft_checkpoint();
  }
  Sim_File file(disk);
  Writable_Journal journal(file);
  const std::string error = "sim: the journal must be replayed before it is written";
  EXPECT_EQ(error_of([&] { journal.append(Valid_Data{}); }), error);
  EXPECT_EQ(error_of([&] { journal.append_blob("x"); }), error);
  EXPECT_EQ(error_of([&] { journal.append_vector<std::int8_t>(table, Record_Id(0), field, {}); }),
            error);
  journal.replay(Ignore_Entries(), 44);
  EXPECT_EQ(error_of([&] { journal.append(Valid_Data{}); }), error);
  journal.replay(Ignore_Entries());
  journal.append(Valid_Data{});
  journal.soft_checkpoint();
  journal.rewind();
  EXPECT_EQ(error_of([&] { journal.append(Valid_Data{}); }), error);
  journal.replay(Ignore_Entries());
  journal.append(Valid_Data{});
}

TEST_F(Writable_Journal_Test, IsNotWrittenAfterAReplayThatFailed) {
  {
    Journal_Process process(disk);
    process.append("a");
    process.journal().soft_checkpoint();
  }
  Sim_File file(disk);
  Writable_Journal journal(file);
  struct : Ignore_Entries {
    using Ignore_Entries::operator();
    void operator()(const Comment&) { throw Data_Error("no comment"); }
  } handler;
  EXPECT_EQ(error_of([&] { journal.replay(handler); }),
            "sim: no comment (comment entry at offset 41)");
  EXPECT_NE(error_of([&] { journal.append(Valid_Data{}); }), "no error");
}

TEST_F(Writable_Journal_Test, IsNotRewoundWithDataBehindTheCheckpoint) {
  Journal_Process process(disk);
  process.append("a");
  EXPECT_NE(error_of([&] { process.journal().rewind(); }), "no error");
  process.append("b");
  process.journal().soft_checkpoint();
  EXPECT_EQ(words_in(disk.content()), "a b ");
}

TEST_F(Writable_Journal_Test, DoesNotReplayWhatItHasAppended) {
  Journal_Process process(disk);
  process.append("a");
  process.journal().soft_checkpoint();
  testing::Entry_Keeper keeper;
  process.journal().replay(keeper);
  EXPECT_TRUE(keeper.entries().empty());
  process.journal().rewind();
  process.journal().replay(keeper);
  EXPECT_EQ(keeper.entries(), std::vector<Any_Entry>{Comment{"a"}});
}

// ---- vectors and blobs --------------------------------------------------------------------------

TEST_F(Writable_Journal_Test, TakesVectorsOfAnySize) {
  Journal_Process process(disk);
  std::vector<Any_Entry> expected;
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{1000}, std::size_t{65'536}, large}) {
    testing::Vector_Update<std::int32_t> numbers{table, Record_Id(0), field, {}};
    numbers.values.resize(size);
    std::iota(numbers.values.begin(), numbers.values.end(), 0);
    process.append("before");
    process.journal().append_vector<std::int32_t>(table, Record_Id(0), field, numbers.values);
    const auto text_of = [](std::int64_t i) {
      return testing::keep(std::string(static_cast<std::size_t>(i) % 50, 'x'));
    };
    testing::Vector_Update<std::string_view> texts{table, Record_Id(0), field, {}};
    for (std::size_t i = 0; i < size; ++i)
      texts.values.push_back(text_of(static_cast<std::int64_t>(i)));
    process.journal().append_vector<std::string_view>(table, Record_Id(0), field,
                                                      static_cast<std::int64_t>(size), text_of);
    expected.insert(expected.end(), {Comment{"before"}, numbers, texts});
  }
  process.journal().soft_checkpoint();
  EXPECT_EQ(entries_in(disk.content()), expected);
}

TEST_F(Writable_Journal_Test, SaysWhereABlobStands) {
  Journal_Process process(disk);
  EXPECT_EQ(process.journal().append_blob("BLOB"), Blob(43, 4));
  EXPECT_EQ(process.journal().append_blob(""), Blob(49, 0));
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{5000}, std::size_t{262'143}, std::size_t{262'144}, large}) {
    const std::string bytes(size, static_cast<char>('a' + size % 26));
    const Blob blob = process.journal().append_blob(bytes);
    EXPECT_EQ(process.journal().read_blob(blob), bytes);
    EXPECT_EQ(process.journal().read_blob(blob, 3), bytes.substr(0, 3));
    process.journal().flush();
    EXPECT_EQ(disk.content().substr(static_cast<std::size_t>(blob.get_position()), size), bytes);
  }
  EXPECT_EQ(process.journal().read_blob(Blob(43, 4)), "BLOB");
  process.append("behind");
  process.journal().soft_checkpoint();
  EXPECT_EQ(words_in(disk.content()), "behind ");
}

TEST_F(Writable_Journal_Test, ForgetsAVectorWhoseGetterThrows) {
  for (const std::int64_t good :
       {std::int64_t{0}, std::int64_t{10}, std::int64_t{30'000}, static_cast<std::int64_t>(large)})
    for (const bool is_flushed : {false, true}) {
      Sim_Disk new_disk;
      Journal_Process process(new_disk);
      process.journal().append(Insert{table, Record_Id(0)});
      if (is_flushed) process.journal().flush();
      const Offset position = process.journal().get_position();
      const auto get = [&](std::int64_t i) {
        if (i == good) throw std::runtime_error("the getter's own");
        return std::string_view("some text");
      };
      EXPECT_EQ(error_of<std::exception>([&] {
                  process.journal().append_vector<std::string_view>(Table_Id(7), Record_Id(7),
                                                                    Field_Id(7), good + 1, get);
                }),
                "the getter's own");
      EXPECT_EQ(process.journal().get_position(), position);
      // in the short form: the context is unchanged
      process.journal().append(Insert{table, Record_Id(1)});
      process.append("behind");
      process.journal().soft_checkpoint();
      EXPECT_EQ(testing::hex(new_disk.content().substr(header_size)),
                "05 01 01 08 0a 06 62 65 68 69 6e 64");
    }
}

TEST_F(Writable_Journal_Test, AppendsTheBytesOfAnotherJournal) {
  Sim_Disk other_disk;
  {
    Journal_Process other(other_disk);
    for (const char* word : {"a", "b", "c"}) other.append(word);
    other.journal().soft_checkpoint();
  }
  Journal_Process process(disk);
  process.append("a");
  Readonly_Memory_File source(other_disk.content());
  process.journal().copy_from(source, 47);
  EXPECT_EQ(process.journal().get_position(), 47);
  process.journal().soft_checkpoint();
  EXPECT_EQ(words_in(disk.content()), "a b ");
  // the context after copied bytes is unknown
  EXPECT_NE(error_of([&] { process.append("x"); }), "no error");
  process.journal().rewind();
  process.replay();
  process.append("x");
  process.journal().soft_checkpoint();
  EXPECT_EQ(words_in(disk.content()), "a b x ");
}

TEST_F(Writable_Journal_Test, ForgetsACopyThatFails) {
  Journal_Process process(disk);
  process.append("a");
  process.journal().soft_checkpoint();
  Readonly_Memory_File source(disk.content());
  EXPECT_THROW(process.journal().copy_from(source, 45), Corruption_Error);
  EXPECT_EQ(disk.content().size(), 44);
  EXPECT_EQ(process.journal().ahead_of_checkpoint(), 0);
  process.append("b");
  process.journal().soft_checkpoint();
  EXPECT_EQ(words_in(disk.content()), "a b ");
}

// ---- rollback -----------------------------------------------------------------------------------

TEST_F(Writable_Journal_Test, RollsBackToTheCheckpoint) {
  const struct {
    const char* when;
    std::function<void(Journal_Process&)> append;
  } cases[] = {
      {"nothing appended", [](auto&) {}},
      {"in the buffer", [](auto& p) { p.append("dropped"); }},
      {"flushed",
       [](auto& p) {
         p.append("dropped");
         p.journal().flush();
       }},
      {"flushed and in the buffer",
       [](auto& p) {
         p.append("dropped");
         p.journal().flush();
         p.append("dropped");
       }},
      {"synced",
       [](auto& p) {
         p.append("dropped");
         p.journal().commit();
       }},
      {"a text larger than the buffer", [](auto& p) { p.append(std::string(large, 'x')); }},
      {"a blob", [](auto& p) { p.journal().append_blob(std::string(large, 'x')); }},
      {"a vector",
       [](auto& p) {
         p.journal().template append_vector<std::int64_t>(table, Record_Id(0), field,
                                                          std::vector<std::int64_t>(large));
       }},
      {"a vector of texts",
       [](auto& p) {
         p.journal().template append_vector<std::string_view>(table, Record_Id(0), field, large,
                                                              [](std::int64_t) { return "text"; });
       }},
  };
  for (const auto& [when, append] : cases)
    for (const char* const checkpoint : {"soft", "hard"}) {
      SCOPED_TRACE(std::string(when) + ", " + checkpoint);
      Sim_Disk new_disk;
      Journal_Process process(new_disk);
      process.journal().append(Insert{table, Record_Id(0)});
      process.append("kept");
      process.journal().checkpoint(checkpoint == std::string("soft") ? Checkpoint_Level::soft
                                                                     : Checkpoint_Level::hard);
      const std::string before = new_disk.content();
      append(process);
      process.journal().rollback();
      EXPECT_EQ(new_disk.content(), before);
      EXPECT_EQ(process.journal().ahead_of_checkpoint(), 0);
      process.replay();
      process.journal().append(Insert{table, Record_Id(1)});
      process.append("new");
      process.journal().soft_checkpoint();
      EXPECT_EQ(words_in(new_disk.content()), "kept new ");
      // the context before the rollback
      EXPECT_EQ(new_disk.content().substr(before.size(), 1), "\x08");
    }
}

// ---- destructors --------------------------------------------------------------------------------

TEST_F(Writable_Journal_Test, LeavesItsBufferBehindTheCheckpointWhenItIsDestroyed) {
  {
    Journal_Process process(disk);
    process.append("a");
    process.journal().soft_checkpoint();
    process.append("b");
  }
  EXPECT_EQ(words_in(disk.content()), "a ");
  EXPECT_EQ(words_in(disk.content(), Recovery::ignore_header), "a b ");
  EXPECT_EQ(warnings.lines(),
            (std::vector<std::string>{
                "sim: closed with an unfinished transaction after its last checkpoint, which "
                "soft_checkpoint(), hard_checkpoint() or rollback() prevents"}));
}

TEST_F(Writable_Journal_Test, IsDestroyedInSilenceBehindACheckpoint) {
  {
    Journal_Process process(disk);
    process.append("a");
    process.journal().soft_checkpoint();
  }
  EXPECT_TRUE(warnings.lines().empty());
}

TEST_F(Writable_Journal_Test, ReportsWhatFailsWhileItIsDestroyed) {
  {
    Journal_Process process(disk);
    process.append("a");
    disk.set_fault({.number = 1, .code = ENOSPC});
  }
  ASSERT_EQ(warnings.lines().size(), 2);
  EXPECT_EQ(warnings.lines()[1], "writing sim at offset 41: No space left on device");
}

// ---- failing writes and syncs -------------------------------------------------------------------

// Positions acknowledged by live(), a short scenario in which any call may throw. A kill must lose
// nothing before `soft`; a power cut must lose nothing before `hard`.
struct Promises {
  Offset soft = journal_start;
  Offset hard = journal_start;
};

// Preallocation is off, because a failed preallocation is not an error, and would hide the injected
// fault.
Journal_Options without_preallocation() {
  Journal_Options options;
  options.preallocation = 0;
  return options;
}

void live(Journal_Process& process, Promises& promises) {
  Writable_Journal& journal = process.journal();
  const auto soft = [&] {
    journal.soft_checkpoint();
    promises.soft = journal.get_checkpoint();
  };
  const auto hard = [&] {
    journal.hard_checkpoint();
    promises.soft = promises.hard = journal.get_checkpoint();
  };
  process.append("a");
  soft();
  process.append("b");
  hard();
  process.append("c");
  journal.flush();
  journal.append_blob(std::string(300'000, 'd'));
  soft();
  process.append("e");
  soft();
  hard();
  process.append("f");
  hard();
  process.append(std::string(300'000, 'g'));
  journal.rollback();
  process.replay();
  process.append("h");
  journal.checkpoint_half_commit();
  promises.soft = journal.get_checkpoint();
  process.append("i");
  hard();
}

std::size_t io_count_of_life() {
  Sim_Disk disk;
  Journal_Process process(disk, without_preallocation());
  Promises promises;
  live(process, promises);
  return disk.io_count();
}

TEST_F(Writable_Journal_Test, StopsAtTheFirstFailureAndNeverClaimsMoreThanTheFileHas) {
  const std::size_t io_count = io_count_of_life();
  EXPECT_GT(io_count, 25);
  for (std::size_t number = 1; number < io_count; ++number)
    for (const bool lasts : {false, true})
      for (const double part : {0.0, 0.6, 1.0}) {
        SCOPED_TRACE(std::to_string(number) + (lasts ? " for ever, " : " once, ") +
                     std::to_string(part));
        Sim_Disk new_disk;
        Promises promises;
        std::string claimed;
        {
          Journal_Process process(new_disk, without_preallocation());
          new_disk.set_fault({.number = number, .lasts = lasts, .part_written = part});
          EXPECT_THROW(live(process, promises), Exception);
          Writable_Journal& journal = process.journal();
          EXPECT_EQ(journal.get_checkpoint(), promises.soft);

          // Nothing more is written, and the checkpoint does not advance.
          const std::string content = new_disk.content();
          const std::size_t io = new_disk.io_count();
          try {
            process.append("more");
          } catch (const Exception&) {  // after a failed rollback, or if the buffer is full
          }
          EXPECT_ANY_THROW(journal.commit());
          if (journal.ahead_of_checkpoint() > 0) {
            EXPECT_ANY_THROW(journal.soft_checkpoint());
            EXPECT_ANY_THROW(journal.checkpoint_half_commit());
            EXPECT_ANY_THROW(journal.hard_checkpoint());
          }
          EXPECT_EQ(journal.get_checkpoint(), promises.soft);
          EXPECT_EQ(new_disk.content(), content);
          EXPECT_EQ(new_disk.io_count(), io);

          // Reading still works.
          EXPECT_EQ(process.file().get_size(), static_cast<Offset>(content.size()));
          if (promises.soft > 44) {
            EXPECT_EQ(process.file().read_blob(Blob(43, 1)), "a");
          }
        }
        // A new process finds the acknowledged state, or the state that was being written.
        new_disk.remove_fault();
        Sim_File file(new_disk, Open_Mode::read_existing);
        Readonly_Journal journal(file);
        EXPECT_GE(journal.get_checkpoint(), promises.soft);
        EXPECT_LE(journal.get_checkpoint(), file.get_size());
        journal.replay(Ignore_Entries());

        // After a power cut, it finds at least the acknowledged hard checkpoint.
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
          const std::string image = new_disk.power_cut(seed);
          if (promises.hard == journal_start) continue;
          EXPECT_GE(testing::hard_checkpoint_in(image), promises.hard) << words_text(image);
        }
      }
}

TEST_F(Writable_Journal_Test, NamesWhatFailed) {
  Journal_Process process(disk);
  process.append("a");
  disk.set_fault({.number = 1, .code = ENOSPC});
  EXPECT_EQ(error_of([&] { process.journal().soft_checkpoint(); }),
            "writing sim at offset 41: No space left on device");
  EXPECT_EQ(error_of([&] { process.journal().soft_checkpoint(); }),
            "sim is not written to any more, after an earlier failure: writing sim at offset 41: "
            "No space left on device. Close it and open it again.");
}

// If a vector does not fit on the disk, the exception is the error of the disk.
TEST_F(Writable_Journal_Test, NamesWhatFailedInAVector) {
  Journal_Process process(disk);
  disk.set_fault({.number = 2, .code = ENOSPC, .lasts = true, .part_written = 0.5});
  const auto get = [](std::int64_t) { return std::string_view("text"); };
  EXPECT_NE(error_of([&] {
              process.journal().append_vector<std::string_view>(table, Record_Id(0), field, large,
                                                                get);
            }).find("No space left on device"),
            std::string::npos);
  const std::vector<std::int64_t> numbers(large);
  Sim_Disk other_disk;
  Journal_Process other(other_disk);
  other_disk.set_fault({.number = 1, .code = ENOSPC, .lasts = true, .part_written = 0.5});
  EXPECT_THROW(other.journal().append_vector<std::int64_t>(table, Record_Id(0), field, numbers),
               Io_Error);
}

TEST_F(Writable_Journal_Test, FailsToOpenWhenItCannotWriteItsHeader) {
  disk.set_fault({.number = 0, .code = ENOSPC, .part_written = 0.5});
  EXPECT_THROW(Journal_Process process(disk), Io_Error);
}

// A read error does not stop later calls.
TEST_F(Writable_Journal_Test, GoesOnAfterAFailedRead) {
  Journal_Process process(disk);
  const Blob blob = process.journal().append_blob("BLOB");
  process.journal().flush();
  disk.set_fault({.calls = Sim_Fault::Calls::reads, .number = 0});
  EXPECT_THROW(process.journal().read_blob(blob), Io_Error);
  EXPECT_EQ(process.journal().read_blob(blob), "BLOB");
  process.journal().hard_checkpoint();
}

// ---- ends of transactions -----------------------------------------------------------------------

TEST(Writable_Journal_End_Test, KnowsWhetherTheLastEntriesHaveAnEnd) {
  Memory_File file;
  {
    Writable_Journal journal(file);
    EXPECT_FALSE(journal.is_unfinished()) << "there is nothing";
    journal.append(Comment{"a"});
    EXPECT_TRUE(journal.is_unfinished());
    journal.append(Valid_Data{});
    EXPECT_FALSE(journal.is_unfinished());
    const Replay_Place place = journal.savepoint();
    journal.append(Comment{"b"});
    EXPECT_TRUE(journal.is_unfinished());
    journal.append(Timestamp{1});
    journal.rollback_to(place);
    EXPECT_FALSE(journal.is_unfinished());
    journal.append(Comment{""});
    EXPECT_FALSE(journal.is_unfinished()) << "says nothing";
    journal.enable_integrity();
    EXPECT_FALSE(journal.is_unfinished()) << "nor does an integrity entry";
    journal.append(Comment{"b"});
    journal.soft_checkpoint();
    EXPECT_TRUE(journal.is_unfinished());
    journal.append(Timestamp{1});
    journal.hard_checkpoint();
    EXPECT_FALSE(journal.is_unfinished());
  }
  Writable_Journal again(file);
  again.replay(Ignore_Entries());
  EXPECT_FALSE(again.is_unfinished()) << "integrity entries are behind the end";
}

TEST(Writable_Journal_End_Test, EndsWhatOthersHaveLeftWhereItIsTold) {
  Memory_File file;
  {
    Writable_Journal journal(file);
    journal.append(Comment{"a"});
    journal.soft_checkpoint();
  }
  Journal_Options options;
  options.ends_transactions = true;
  Writable_Journal journal(file, options);
  journal.replay(Ignore_Entries());
  EXPECT_EQ(journal.ahead_of_checkpoint(), 0);
  const Replay_Place start = journal.savepoint();
  for (int i = 0; i < 2; ++i) {
    journal.append(Comment{"b"});
    EXPECT_EQ(journal.ahead_of_checkpoint(), 4) << "a byte for the end";
    journal.append(Comment{"c"});
    EXPECT_EQ(journal.ahead_of_checkpoint(), 7) << "once";
    journal.rollback_to(start);  // the second round starts from the same state
  }
  journal.append(Timestamp{1});
  EXPECT_EQ(journal.ahead_of_checkpoint(), 9) << "an end needs no other one";
  journal.append(Comment{"b"});
  EXPECT_EQ(journal.ahead_of_checkpoint(), 12);
  journal.rollback();
}

TEST(Writable_Journal_Read_Test, ReadsFromTheFileTheBufferAndBoth) {
  Memory_File file;
  Writable_Journal journal(file);
  journal.append(Comment{"in the file"});
  journal.flush();
  journal.append(Comment{"not yet"});
  const auto read = [&](Offset from, std::size_t size) {
    std::string bytes(size, '\0');
    journal.read(bytes.data(), size, from);
    return bytes;
  };
  EXPECT_EQ(read(43, 6), "in the");
  EXPECT_EQ(read(56, 7), "not yet");
  EXPECT_EQ(read(50, 13), "file\x0a\x07not yet");
}

}  // namespace
}  // namespace joedb
