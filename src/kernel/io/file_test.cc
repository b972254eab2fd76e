#include "joedb/io/file.h"

#include <gtest/gtest.h>

#include "joedb/io/memory_file.h"
#include "sim/lab/sim_file.h"
#include "support/error_of.h"

// Tests of the behavior that is common to all kinds of files.

namespace joedb::file_test {
namespace {

using testing::error_of;

class Abstract_File_Test : public ::testing::Test {
 protected:
  Abstract_File_Test() { file.pwrite("0123456789", 10, 0); }

  Memory_File file;
};

TEST_F(Abstract_File_Test, ReadsExactlyOrSaysWhereTheFileEnds) {
  char bytes[4];
  file.read_exactly(bytes, 4, 6);
  EXPECT_EQ(std::string(bytes, 4), "6789");
  EXPECT_EQ(error_of([&] { file.read_exactly(bytes, 4, 7); }),
            "Trying to read past the end of file: memory ends at offset 10, 4 bytes are needed at "
            "offset 7");
}

TEST_F(Abstract_File_Test, ReadsBlobs) {
  EXPECT_EQ(file.read_blob(Blob(2, 5)), "23456");
  EXPECT_EQ(file.read_blob(Blob(2, 5), 2), "23");
  EXPECT_EQ(file.read_blob(Blob(2, 5), 0), "");
  EXPECT_EQ(file.read_blob(Blob(2, 5), 100), "23456");
  EXPECT_EQ(file.read_blob(Blob()), "");
  EXPECT_EQ(file.read_blob(Blob(10, 0)), "");
  const std::string large(1'000'000, 'x');
  file.pwrite(large.data(), large.size(), 10);
  EXPECT_EQ(file.read_blob(Blob(10, 1'000'000)), large);
}

TEST_F(Abstract_File_Test, RefusesBlobsThatAreNotThere) {
  for (const Blob blob : {Blob(8, 3), Blob(11, 1), Blob(-1, 1), Blob(1, -1), Blob(-5, -5)})
    EXPECT_NE(error_of([&] { file.read_blob(blob); }).find("Trying to read past the end of file"),
              std::string::npos)
        << blob.get_position() << ' ' << blob.get_size();
}

TEST_F(Abstract_File_Test, TakesNoMemoryForBlobsThatAreNotThere) {
  EXPECT_THROW(file.read_blob(Blob(0, std::int64_t{1} << 60)), Corruption_Error);
}

TEST_F(Abstract_File_Test, CopiesAndCompares) {
  const std::string large(200'000, 'x');
  file.pwrite(large.data(), large.size(), 10);
  Memory_File copy;
  copy.pwrite("01", 2, 0);
  file.copy_to(copy, 2, 200'008);
  EXPECT_EQ(copy.get_data(), file.get_data());
  EXPECT_TRUE(file.equal_to(copy, 0, 200'010));
  for (const Offset changed : {0, 9, 65536, 200'009}) {
    copy.get_data()[static_cast<std::size_t>(changed)] ^= 1;
    EXPECT_FALSE(file.equal_to(copy, 0, 200'010));
    EXPECT_TRUE(file.equal_to(copy, 0, changed));
    EXPECT_TRUE(file.equal_to(copy, changed + 1, 200'010));
    copy.get_data()[static_cast<std::size_t>(changed)] ^= 1;
  }
  EXPECT_THROW(file.equal_to(copy, 0, 200'011), Corruption_Error);
  EXPECT_THROW(file.copy_to(copy, 0, 200'011), Corruption_Error);
  Memory_File whole;
  file.copy_to(whole);
  EXPECT_EQ(whole.get_data(), file.get_data());
  EXPECT_TRUE(file.equal_to(copy, 5, 5));
}

TEST(File_Lock, LastsAsLongAsItLives) {
  testing::Sim_Disk disk;
  testing::Sim_File file(disk, Open_Mode::shared_write);
  {
    const File_Lock head(file, head_lock, File_Lock::Kind::shared);
    const File_Lock tail(file, tail_lock, File_Lock::Kind::exclusive);
  }
  EXPECT_EQ(disk.take_calls(), "share head\nlock tail\nunlock tail\nunlock head\n");
}

TEST(Io_Error, NamesFileOffsetAndCause) {
  const Io_Error with_offset("writing", "a.joedb", 123, ENOSPC);
  EXPECT_STREQ(with_offset.what(), "writing a.joedb at offset 123: No space left on device");
  EXPECT_EQ(with_offset.path, "a.joedb");
  EXPECT_EQ(with_offset.offset, 123);
  EXPECT_EQ(with_offset.code, ENOSPC);
  EXPECT_STREQ(Io_Error("opening", "a.joedb", -1, ENOENT).what(),
               "opening a.joedb: No such file or directory");
}

}  // namespace
}  // namespace joedb::file_test
