#include "kernel/io/secret_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "joedb/base/error.h"
#include "kernel/base/shell_word.h"
#include "support/error_of.h"
#include "support/temporary_directory.h"

namespace joedb::secret_file_test {
namespace {

namespace fs = std::filesystem;
using testing::error_of;

class Secret_File : public ::testing::Test {
 protected:
  const testing::Temporary_Directory directory_;
  const std::string name_ = directory_.file("a key");
};

TEST_F(Secret_File, IsReadableByNobodyElseAndReplacesNothing) {
  const mode_t old_mask = ::umask(0);
  write_secret(name_, "secret");
  ::umask(old_mask);
  EXPECT_EQ(fs::status(name_).permissions(), fs::perms(0600));
  EXPECT_THROW(write_secret(name_, "other"), Io_Error);
  std::string text;
  std::getline(std::ifstream(name_), text);
  EXPECT_EQ(text, "secret");
  require_secret(name_);
}

TEST_F(Secret_File, IsRefusedIfOthersCanReadOrChangeIt) {
  write_secret(name_, "secret");
  for (const unsigned mode : {0644U, 0604U, 0602U, 0620U}) {
    fs::permissions(name_, fs::perms(mode));
    EXPECT_EQ(error_of([&] { require_secret(name_); }),
              name_ + ": other users can read this secret or change it. To mend this: chmod 600 " +
                  shell_word(name_))
        << mode;
  }
  fs::permissions(name_, fs::perms(0400));
  require_secret(name_);
}

TEST_F(Secret_File, OfRootMayBeReadByItsGroup) {
  write_secret(name_, "secret");
  fs::permissions(name_, fs::perms(0640));
  if (::geteuid() == 0)
    require_secret(name_);
  else
    EXPECT_THROW(require_secret(name_), Exception);
}

TEST_F(Secret_File, ThatIsNotThereIsLeftToItsReader) { require_secret(name_); }

}  // namespace
}  // namespace joedb::secret_file_test
