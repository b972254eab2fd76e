#include "joedb/io/memory_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <sstream>

#include "joedb/io/posix_file.h"
#include "joedb/table/writable_database.h"
#include "support/temporary_directory.h"

namespace joedb::file_kinds_test {
namespace {

void write_table(Abstract_File& file) {
  Writable_Database database(file);
  database.write(Create_Table{"city"});
  database.hard_checkpoint();
}

bool has_table(Abstract_File& file) {
  Readonly_Journal journal(file);
  Database database;
  load(database, journal);
  return database.find_table("city") != nullptr;
}

TEST(Stream_File, HoldsADatabase) {
  std::stringbuf buffer;
  {
    Stream_File file(buffer, Open_Mode::create_new);
    EXPECT_EQ(file.get_size(), 0);
    write_table(file);
    EXPECT_EQ(file.get_size(), 47);
  }
  Stream_File file(buffer, Open_Mode::read_existing);
  EXPECT_TRUE(has_table(file));
  char byte;
  EXPECT_EQ(file.pread(&byte, 1, 47), 0u);
  EXPECT_EQ(file.pread(&byte, 1, 46), 1u);
  EXPECT_EQ(byte, 'y');
}

TEST(Stream_File, SaysWhatFailed) {
  const std::string text = "text";
  std::stringbuf readonly(text, std::ios::in);
  Stream_File file(readonly, Open_Mode::write_existing);
  EXPECT_THROW(file.pwrite("x", 1, 0), Io_Error);
}

TEST(File_Slice, IsADatabaseInAnotherFile) {
  const testing::Temporary_Directory directory;
  Memory_File database;
  write_table(database);
  {
    File package(directory.file("package"), Open_Mode::create_new);
    package.pwrite("before", 6, 0);
    package.pwrite(database.get_data().data(), database.get_data().size(), 6);
    package.pwrite("behind", 6, package.get_size());
  }
  const int descriptor = ::open(directory.file("package").c_str(), O_RDONLY);
  ASSERT_GE(descriptor, 0);
  File_Slice slice(descriptor, 6, database.get_size());
  EXPECT_TRUE(has_table(slice));
  char bytes[10];
  EXPECT_EQ(slice.pread(bytes, 10, 44), 3u) << "nothing of what is behind it";
  EXPECT_EQ(slice.pread(bytes, 10, 100), 0u);
  EXPECT_THROW(slice.pwrite("x", 1, 0), Exception);
  EXPECT_THROW(Writable_Journal journal(slice), Exception);
  ::close(descriptor);
}

}  // namespace
}  // namespace joedb::file_kinds_test
