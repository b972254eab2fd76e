#include "joedb/io/memory_file.h"

#include <gtest/gtest.h>

#include <string>

namespace joedb::memory_file_test {
namespace {

std::string text(const Memory_File& file) {
  return {file.get_data().begin(), file.get_data().end()};
}

std::string read(const Abstract_File& file, std::size_t size, Offset offset) {
  std::string bytes(size, '#');
  bytes.resize(file.pread(bytes.data(), size, offset));
  return bytes;
}

TEST(Memory_File, GrowsWithZerosUpToWhatIsWritten) {
  Memory_File file;
  EXPECT_EQ(file.get_size(), 0);
  file.pwrite("abc", 3, 2);
  EXPECT_EQ(text(file), std::string("\0\0abc", 5));
  file.pwrite("XY", 2, 1);
  EXPECT_EQ(text(file), std::string("\0XYbc", 5));
  file.pwrite("none", 0, 100);
  EXPECT_EQ(file.get_size(), 5);
}

TEST(Memory_File, ReadsUpToItsEnd) {
  Memory_File file;
  file.pwrite("abcdef", 6, 0);
  EXPECT_EQ(read(file, 3, 1), "bcd");
  EXPECT_EQ(read(file, 100, 4), "ef");
  EXPECT_EQ(read(file, 1, 6), "");
  EXPECT_EQ(read(file, 1, 1000), "");
  EXPECT_EQ(read(file, 0, 0), "");
}

TEST(Memory_File, IsCut) {
  Memory_File file;
  file.pwrite("abcdef", 6, 0);
  EXPECT_TRUE(file.truncate(2));
  EXPECT_EQ(text(file), "ab");
}

TEST(Memory_File, HoldsWhatIsPutInItsData) {
  Memory_File file;
  file.get_data() = {'x', 'y'};
  EXPECT_EQ(read(file, 10, 0), "xy");
}

TEST(Readonly_Memory_File, ReadsWhereTheBytesAre) {
  const std::string bytes = "abcdef";
  const std::vector<char> vector(bytes.begin(), bytes.end());
  for (const auto& file : {Readonly_Memory_File(bytes), Readonly_Memory_File(vector),
                           Readonly_Memory_File(bytes.data(), bytes.size())}) {
    EXPECT_TRUE(file.is_readonly());
    EXPECT_EQ(file.get_size(), 6);
    EXPECT_EQ(read(file, 100, 4), "ef");
    EXPECT_EQ(read(file, 100, 6), "");
  }
}

TEST(Readonly_Memory_File, CannotBeWritten) {
  Readonly_Memory_File file("abc");
  EXPECT_THROW(file.pwrite("x", 1, 0), Exception);
  EXPECT_FALSE(file.truncate(0));
}

}  // namespace
}  // namespace joedb::memory_file_test
