#include "tools/frame/file_transaction.h"

#include <gtest/gtest.h>

#include <csignal>
#include <stdexcept>
#include <utility>

#include "joedb/base/error.h"
#include "joedb/io/memory_file.h"
#include "joedb/table/writable_database.h"
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

}  // namespace
}  // namespace joedb
