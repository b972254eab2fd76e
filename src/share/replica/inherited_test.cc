#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "joedb/base/log.h"
#include "joedb/io/mapped_file.h"
#include "joedb/io/memory_file.h"
#include "joedb/io/posix_file.h"
#include "joedb/journal/readonly_journal.h"
#include "joedb/replica/clients.h"
#include "joedb/table/load.h"
#include "joedb/table/writable_database.h"
#include "support/child_process.h"
#include "support/error_of.h"
#include "support/journal_process.h"
#include "support/temporary_directory.h"

// Tests of databases in a child process made by fork(), and of databases whose file is replaced by
// another program.

namespace joedb {
namespace {

using testing::error_of;
using testing::in_child;

constexpr Table_Id city{1};

class Database_File : public ::testing::Test {
 protected:
  static void insert(Writable_Database& db, int count) {
    for (int i = 0; i < count; ++i)
      db.write(Insert{city, Record_Id(db.get_database().find_table(city)->records().next_free())});
  }
  // Returns the number of records that a new reader of the file finds.
  index_t rows() const {
    File file(name, Open_Mode::read_existing);
    Readonly_Journal journal(file);
    Database database;
    load(database, journal);
    return database.find_table(city)->records().used_count();
  }

  testing::Temporary_Directory directory;
  const std::string name = directory.file("a.joedb");
  const std::string inherited =
      name + " was opened before fork(), by the parent of this process: open it again here";
};

// With default options, the file ends with preallocated zeros after some hard checkpoints.
TEST_F(Database_File, StaysWhatItWasWhenAChildEnds) {
  const testing::Destructor_Warnings warnings;
  for (const bool has_integrity : {false, true})
    for (const bool is_mapped : {false, true}) {
      std::filesystem::remove(name);
      const auto file = is_mapped ? std::make_unique<Mapped_File>(name, Open_Mode::create_new)
                                  : std::make_unique<File>(name, Open_Mode::create_new);
      std::optional<Writable_Database> db(std::in_place, *file);
      db->write(Create_Table{"city"});
      for (int i = 0; i < 10; ++i) {
        insert(*db, 1);
        db->hard_checkpoint();
      }
      if (has_integrity) db->enable_integrity();
      insert(*db, 1);  // the child has an entry without a checkpoint
      int ends[2];
      ASSERT_EQ(0, ::pipe(ends));
      const pid_t child = ::fork();
      if (child == 0) {
        char byte;
        ::close(ends[1]);
        static_cast<void>(::read(ends[0], &byte, 1));  // waits until the parent has written more
        db.reset();
        ::_exit(warnings.lines().empty() ? 0 : 1);
      }
      insert(*db, 1000);
      db->hard_checkpoint();
      ::close(ends[1]);
      ::close(ends[0]);
      int status;
      ::waitpid(child, &status, 0);
      EXPECT_EQ(0, status);
      EXPECT_EQ(1011, rows());
      insert(*db, 1);
      db->hard_checkpoint();
      EXPECT_EQ(1012, rows());
    }
}

TEST_F(Database_File, CannotBeChangedByAChild) {
  File file(name, Open_Mode::create_new);
  Writable_Database db(file);
  db.write(Create_Table{"city"});
  db.hard_checkpoint();
  const std::function<void()> uses[] = {
      [&] { insert(db, 1); },
      [&] { db.soft_checkpoint(); },
      [&] { db.hard_checkpoint(); },
      [&] { db.write_snapshot(); },
      [&] { db.write_snapshot_in_background(); },
  };
  for (const auto& use : uses)
    EXPECT_EQ(inherited, in_child([&] { return error_of<Inherited_Object>(use); }));
  insert(db, 1);
  db.hard_checkpoint();
  EXPECT_EQ(1, rows());
}

TEST_F(Database_File, CanBeUsedByAChildWhereItIsInMemory) {
  Memory_File file;
  Writable_Database db(file);
  db.write(Create_Table{"city"});
  insert(db, 1);
  EXPECT_EQ("2", in_child([&] {
              insert(db, 1);
              db.hard_checkpoint();
              return std::to_string(db.get_database().find_table(city)->records().used_count());
            }));
}

TEST_F(Database_File, StaysLockedWhenAChildLeavesATransaction) {
  File file(name, Open_Mode::shared_write);
  struct Party : Client_Store<Writable_Database>, Client {
    explicit Party(Abstract_File& f)
        : Client_Store<Writable_Database>(f, Connection::dummy, {}),
          Client(copy_, Connection::dummy, Content_Check::none) {}
  };
  File other(name, Open_Mode::shared_write);
  Party party(other);
  std::optional<Client_Lock> lock(std::in_place, party);
  EXPECT_EQ("", in_child([&]() -> std::string {
              lock.reset();
              return "";
            }));
  EXPECT_FALSE(file.try_exclusive_lock(tail_lock.start, tail_lock.size));
  lock->unlock();
}

TEST_F(Database_File, IsNotWrittenWhenItWasReplacedOrRemoved) {
  for (const Open_Mode mode : {Open_Mode::create_new, Open_Mode::shared_write}) {
    std::filesystem::remove(name);
    File file(name, mode);
    testing::Destructor_Warnings warnings;
    Writable_Journal journal(file);
    journal.replay(Ignore_Entries());
    journal.lock_pull();
    journal.replay(Ignore_Entries());
    journal.append(Comment{"one"});
    journal.hard_checkpoint();
    journal.unlock();
    std::filesystem::rename(name, directory.file("moved"));
    EXPECT_EQ(name + " was removed: open it again",
              error_of<File_Replaced>([&] { journal.lock_pull(); }));
    std::filesystem::copy_file(directory.file("moved"), name);
    EXPECT_EQ(name + " was replaced by another file: open it again",
              error_of<File_Replaced>([&] { journal.lock_pull(); }));
    std::filesystem::remove(directory.file("moved"));
  }
}

TEST_F(Database_File, IsNotAcknowledgedWhenAnotherOneWasRestoredInItsPlace) {
  File file(name, Open_Mode::create_new);
  testing::Destructor_Warnings warnings;
  std::optional<Writable_Journal> journal(std::in_place, file);
  journal->replay(Ignore_Entries());
  const auto append = [&] {
    journal->append(Comment{"a comment of some bytes"});
    journal->hard_checkpoint();
  };
  append();
  const std::string backup = directory.read("a.joedb");
  for (int i = 0; i < 10; ++i) append();
  directory.write("a.joedb", backup);
  EXPECT_NE("no error", error_of<File_Replaced>(append));
  EXPECT_NE("no error", error_of<Write_Disabled>(append));
}

// The destructor must neither truncate nor extend the backup.
TEST_F(Database_File, LeavesARestoredFileAloneWhenItIsClosed) {
  File file(name, Open_Mode::create_new);
  testing::Destructor_Warnings warnings;
  std::optional<Writable_Journal> journal(std::in_place, file);
  journal->replay(Ignore_Entries());
  for (int i = 0; i < 10; ++i) {
    journal->append(Comment{"a comment of some bytes"});
    journal->hard_checkpoint();
  }
  const std::string backup = directory.read("a.joedb").substr(0, 100);
  directory.write("a.joedb", backup);
  journal.reset();
  EXPECT_EQ(backup, directory.read("a.joedb"));
  ASSERT_EQ(1U, warnings.lines().size());
}

TEST_F(Database_File, TellsItsFollowersThatItWasReplaced) {
  {
    File file(name, Open_Mode::create_new);
    Writable_Journal journal(file);
    journal.hard_checkpoint();
  }
  File file(name, Open_Mode::read_existing);
  Readonly_Journal journal(file);
  EXPECT_EQ(0, journal.pull());
  std::filesystem::copy_file(name, directory.file("b"));
  std::filesystem::rename(directory.file("b"), name);
  EXPECT_EQ(name + " was replaced by another file: open it again",
            error_of<File_Replaced>([&] { journal.pull(); }));
}

}  // namespace
}  // namespace joedb
