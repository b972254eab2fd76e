#include "tools/frame/file_transaction.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "joedb/base/error.h"
#include "joedb/io/memory_file.h"
#include "joedb/io/posix_file.h"
#include "joedb/table/load.h"
#include "joedb/table/writable_database.h"
#include "support/error_of.h"
#include "support/temporary_directory.h"
#include "tools/frame/stop_signal.h"

namespace joedb {
namespace {

// After fail(), a rollback throws, because it reads the file.
class Unreadable_File : public Memory_File {
 public:
  void fail() { fails_ = true; }
  std::size_t pread(char* data, std::size_t size, Offset offset) const override {
    if (fails_) throw Interrupted(SIGINT, "reading was interrupted");
    return Memory_File::pread(data, size, offset);
  }

  bool pread_cached(char* data, std::size_t size, Offset offset) const override {
    return pread(data, size, offset) == size;
  }

 private:
  bool fails_ = false;
};

TEST(Run_In_Transaction, TakesBackWhateverThrows) {
  Memory_File file;
  Writable_Database database(file);
  const Offset before = database.get_journal().get_checkpoint();
  const auto expect_nothing = [&](auto error) {
    EXPECT_THROW(run_in_transaction(database,
                                    [&] {
                                      database.write(Create_Table{"t"});
                                      throw error;
                                    }),
                 decltype(error));
    EXPECT_EQ(database.get_database().find_table("t"), nullptr);
    EXPECT_EQ(std::as_const(database).get_journal().get_position(), before);
  };
  expect_nothing(Exception("joedb"));
  expect_nothing(std::runtime_error("standard"));
  expect_nothing(Interrupted(SIGINT, "interrupted"));
  expect_nothing(1);
}

TEST(Run_In_Transaction, ReportsTheFirstErrorIfTheRollbackFails) {
  Unreadable_File file;
  Writable_Database database(file);
  database.write(Create_Table{"before"});
  database.hard_checkpoint();
  EXPECT_THROW(run_in_transaction(database,
                                  [&] {
                                    database.write(Create_Table{"t"});
                                    file.fail();
                                    throw Data_Error("the first error");
                                  }),
               Data_Error);
}

File_Argument new_file(const std::string& name, Open_Mode mode) {
  File_Argument argument;
  argument.name = name;
  argument.mode = mode;
  argument.has_mode = true;
  return argument;
}

TEST(Change_File, SaysThatAnotherProgramHasMadeTheFile) {
  const testing::Temporary_Directory folder;
  const std::string name = folder.path() + "/new.joedb";
  const auto make_another = [&](Writable_Database& database) {
    database.write(Create_Table{"t"});
    std::ofstream(name) << "another";
  };
  EXPECT_EQ(testing::error_of([&] {
              change_file(new_file(name, Open_Mode::write_existing_or_create_new), {},
                          make_another);
            }),
            name +
                ": another program has made it meanwhile, and nothing was written; with --shared, "
                "programs take turns");
}

TEST(Change_File, ASharedFileIsMadeBeforeItIsChanged) {
  const testing::Temporary_Directory folder;
  const std::string name = folder.path() + "/new.joedb";
  const auto make_table = [&](Writable_Database& database) {
    EXPECT_NE(File(name, Open_Mode::read_existing).get_size(), 0);  // others can wait for its lock
    database.write(Create_Table{"t"});
  };
  change_file(new_file(name, Open_Mode::shared_write), {}, make_table);
  File file(name, Open_Mode::read_existing);
  Readonly_Journal journal(file);
  Database database;
  load(database, journal);
  EXPECT_NE(database.find_table("t"), nullptr);
}

}  // namespace
}  // namespace joedb
