#include "joedb/io/posix_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>

#include "joedb/io/fail_stop_file.h"
#include "joedb/io/mapped_file.h"
#include "support/temporary_directory.h"

namespace joedb::posix_file_test {
namespace {

// Returns the Io_Error that f throws; fails the test if it throws none.
template <class F>
Io_Error io_error_of(F f) {
  try {
    f();
  } catch (const Io_Error& error) {
    return error;
  }
  ADD_FAILURE() << "no Io_Error";
  return Io_Error("nothing", "", -1, 0);
}

class File_Test : public ::testing::Test {
 protected:
  const std::string& name() const { return name_; }

  static std::string read(const Abstract_File& file, std::size_t size, Offset offset) {
    std::string bytes(size, '#');
    bytes.resize(file.pread(bytes.data(), size, offset));
    return bytes;
  }

  testing::Temporary_Directory directory;

 private:
  const std::string name_ = directory.file("a.joedb");
};

// ---- opening ------------------------------------------------------------------------------------

TEST_F(File_Test, OpensAsTheModeSays) {
  const struct {
    Open_Mode mode;
    int if_absent;  // 0, or an errno value
    int if_present;
    bool is_readonly;
  } cases[] = {
      {Open_Mode::read_existing, ENOENT, 0, true},
      {Open_Mode::write_existing, ENOENT, 0, false},
      {Open_Mode::create_new, 0, EEXIST, false},
      {Open_Mode::write_existing_or_create_new, 0, 0, false},
      {Open_Mode::shared_write, 0, 0, false},
      {Open_Mode::write_lock, 0, 0, false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(static_cast<int>(c.mode));
    std::filesystem::remove(name());
    const auto open = [&] {
      const File file(name(), c.mode);
      EXPECT_EQ(file.is_readonly(), c.is_readonly);
      EXPECT_EQ(file.get_name(), name());
      EXPECT_EQ(file.get_mode(), c.mode);
    };
    if (c.if_absent == 0)
      open();
    else
      EXPECT_EQ(io_error_of(open).code, c.if_absent);
    EXPECT_EQ(std::filesystem::exists(name()), c.if_absent == 0);

    directory.write("a.joedb", "content");
    if (c.if_present == 0)
      open();
    else
      EXPECT_EQ(io_error_of(open).code, c.if_present);
    EXPECT_EQ(directory.read("a.joedb"), "content");
  }
}

TEST_F(File_Test, NamesTheFileThatCannotBeOpened) {
  const Io_Error error = io_error_of([&] { File(name(), Open_Mode::read_existing); });
  EXPECT_EQ(error.what(), "opening " + name() + ": No such file or directory");
  EXPECT_EQ(error.path, name());
  EXPECT_EQ(io_error_of([&] { File(directory.path(), Open_Mode::write_existing); }).code, EISDIR);
  EXPECT_EQ(io_error_of([&] { File(name() + "/b", Open_Mode::create_new); }).code, ENOENT);
}

TEST_F(File_Test, MakesFilesThatOthersMayRead) {
  const mode_t old_mask = ::umask(022);
  { const File file(name(), Open_Mode::create_new); }
  ::umask(old_mask);
  struct stat status;
  ASSERT_EQ(::stat(name().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644u);
}

// ---- reading and writing ------------------------------------------------------------------------

TEST_F(File_Test, ReadsWhatIsWrittenAndStopsAtTheEnd) {
  File file(name(), Open_Mode::create_new);
  EXPECT_EQ(file.get_size(), 0);
  EXPECT_EQ(read(file, 10, 0), "");
  file.pwrite("abcdef", 6, 10);
  EXPECT_EQ(file.get_size(), 16);
  EXPECT_EQ(read(file, 100, 8), std::string("\0\0abcdef", 8));
  EXPECT_EQ(read(file, 3, 11), "bcd");
  EXPECT_EQ(read(file, 10, 14), "ef");
  EXPECT_EQ(read(file, 10, 16), "");
  EXPECT_EQ(read(file, 10, 1'000'000), "");
  file.pwrite("", 0, 100);
  EXPECT_EQ(file.get_size(), 16);
  file.sync();
  file.datasync();
}

TEST_F(File_Test, IsCutAndGrows) {
  File file(name(), Open_Mode::create_new);
  file.pwrite("abcdef", 6, 0);
  EXPECT_TRUE(file.truncate(2));
  EXPECT_EQ(directory.read("a.joedb"), "ab");
  EXPECT_TRUE(file.truncate(4));
  EXPECT_EQ(directory.read("a.joedb"), std::string("ab\0\0", 4));
}

TEST_F(File_Test, ThatIsEmptiedHasNoWordsLeft) {
  File file(name(), Open_Mode::write_existing_or_create_new);
  file.pwrite(std::string(64, 'x').data(), 64, 0);
  file.pwrite("12345678", 8, 8);  // writes through the mapping
  file.truncate(0);
  char bytes[8];
  EXPECT_EQ(file.pread(bytes, 8, 8), 0u);
  file.pwrite("12345678", 8, 8);
  EXPECT_EQ(file.pread(bytes, 8, 8), 8u);
}

TEST_F(File_Test, ThatIsReadOnlyCannotBeWritten) {
  directory.write("a.joedb", "content");
  File file(name(), Open_Mode::read_existing);
  const Io_Error error = io_error_of([&] { file.pwrite("x", 1, 3); });
  EXPECT_EQ(error.code, EBADF);
  EXPECT_EQ(error.offset, 3);
  EXPECT_EQ(error.what(), "writing " + name() + " at offset 3: Bad file descriptor");
  EXPECT_THROW(file.truncate(0), Io_Error);
  EXPECT_EQ(directory.read("a.joedb"), "content");
}

TEST_F(File_Test, SaysWhereReadingFailed) {
  File file(name(), Open_Mode::create_new);
  EXPECT_EQ(io_error_of([&] { read(file, 1, -5); }).code, EINVAL);
}

// Sets a limit on the size of files for this process. By default, a write past this limit kills the
// process.
class Size_Limit {
 public:
  explicit Size_Limit(rlim_t size) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    rlimit limit = old_;
    limit.rlim_cur = size;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~Size_Limit() { ::setrlimit(RLIMIT_FSIZE, &old_); }
  Size_Limit(const Size_Limit&) = delete;
  Size_Limit& operator=(const Size_Limit&) = delete;

 private:
  rlimit old_;
};

// After a partial write, the rest is written until an error occurs.
TEST_F(File_Test, ThatBecomesTooLargeSaysWhereAndIsNoSignal) {
  File file(name(), Open_Mode::create_new);
  const Size_Limit limit(1000);
  const std::string bytes(300, 'x');
  file.pwrite(bytes.data(), bytes.size(), 0);
  EXPECT_THROW(file.pwrite(bytes.data(), bytes.size(), 900), Disk_Full);
  const Io_Error error = io_error_of([&] { file.pwrite(bytes.data(), bytes.size(), 900); });
  EXPECT_EQ(error.code, EFBIG);
  EXPECT_EQ(error.offset, 1000);
  EXPECT_EQ(file.get_size(), 1000);
  EXPECT_EQ(io_error_of([&] { file.truncate(1001); }).code, EFBIG);
  file.truncate(1000);
  EXPECT_EQ(file.get_size(), 1000);
}

TEST_F(File_Test, IsPreallocatedUpToTheLimitOnFileSizesOnly) {
  Mapped_File mapped(name(), Open_Mode::create_new);
  File file(directory.file("b.joedb"), Open_Mode::create_new);
  const Size_Limit limit(1000);
  for (File* const each : {static_cast<File*>(&mapped), &file}) {
    Fail_Stop_File guard(*each);
    Preallocator preallocator(*each, guard);
    preallocator.set_step(1 << 20);
    EXPECT_FALSE(preallocator.reserve(0, 10));
    each->truncate(10);
    each->pwrite("x", 1, 10);
    EXPECT_EQ(each->get_size(), 11);
  }
}

TEST_F(File_Test, IsTouched) {
  File file(directory.write("a.joedb", "content"), Open_Mode::write_existing);
  const auto long_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1000);
  std::filesystem::last_write_time(name(), long_ago);
  file.touch();
  EXPECT_GT(std::filesystem::last_write_time(name()), long_ago + std::chrono::hours(999));
}

// ---- pipes, devices, links ----------------------------------------------------------------------

TEST_F(File_Test, PipesAndDevicesAreRefusedAtOnce) {
  ASSERT_EQ(::mkfifo(name().c_str(), 0600), 0);
  const Open_Mode modes[] = {Open_Mode::read_existing, Open_Mode::write_existing,
                             Open_Mode::write_existing_or_create_new, Open_Mode::shared_write,
                             Open_Mode::write_lock};
  for (const Open_Mode mode : modes) {
    EXPECT_EQ(io_error_of([&] { File(name(), mode); }).code, ESPIPE);
    EXPECT_EQ(io_error_of([&] { File("/dev/null", mode); }).code, ENOTSUP);
  }
}

TEST_F(File_Test, IsCreatedWhereALinkPoints) {
  std::filesystem::create_directory(directory.file("data"));
  for (const Open_Mode mode :
       {Open_Mode::write_existing_or_create_new, Open_Mode::shared_write, Open_Mode::write_lock}) {
    std::filesystem::create_symlink("data/a.joedb", name());
    {
      File file(name(), mode);
      file.pwrite("x", 1, 0);
      file.sync();
    }
    EXPECT_EQ(directory.read("data/a.joedb"), "x");
    std::filesystem::remove(directory.file("data/a.joedb"));
    std::filesystem::remove(name());
  }
  std::filesystem::create_symlink("nowhere/a.joedb", name());
  EXPECT_EQ(io_error_of([&] { File(name(), Open_Mode::shared_write); }).code, ENOENT);
  EXPECT_EQ(io_error_of([&] { File(name(), Open_Mode::create_new); }).code, EEXIST);
}

// ---- locks between the files of one process -----------------------------------------------------

TEST_F(File_Test, ForOneWriterIsRefusedToASecond) {
  directory.write("a.joedb", "content");
  for (const Open_Mode mode : {Open_Mode::write_existing, Open_Mode::write_existing_or_create_new,
                               Open_Mode::write_lock}) {
    const File first(name(), mode);
    for (const Open_Mode other :
         {Open_Mode::write_existing, Open_Mode::write_existing_or_create_new}) {
      const Io_Error error = io_error_of([&] { File(name(), other); });
      EXPECT_EQ(error.code, EAGAIN);
      EXPECT_EQ(std::string(error.what()).find(name() + ": this process writes it already"), 0u);
    }
    const File reader(name(), Open_Mode::read_existing);
    const File sharing(name(), Open_Mode::shared_write);  // opens at once; only a transaction waits
  }
  const File after(name(), Open_Mode::write_existing);
}

// Returns true if no lock on the tail is held: an exclusive writer locks the tail when it opens
// the file, and fails if that is not possible at once.
bool tail_is_free(const std::string& name) {
  try {
    const File file(name, Open_Mode::write_existing);
    return true;
  } catch (const Io_Error&) {
    return false;
  }
}

TEST_F(File_Test, LocksBelongToTheObject) {
  directory.write("a.joedb", "content");
  File a(name(), Open_Mode::shared_write), b(name(), Open_Mode::shared_write);
  EXPECT_TRUE(tail_is_free(name()));
  a.exclusive_lock(tail_lock.start, tail_lock.size);
  EXPECT_FALSE(tail_is_free(name()));
  b.unlock(tail_lock.start, tail_lock.size);  // no effect: b does not hold this lock
  EXPECT_FALSE(tail_is_free(name()));
  a.exclusive_lock(head_lock.start, head_lock.size);
  a.unlock(head_lock.start, head_lock.size);  // another range than the tail
  EXPECT_FALSE(tail_is_free(name()));
  a.unlock(tail_lock.start, tail_lock.size);
  EXPECT_TRUE(tail_is_free(name()));

  a.shared_lock(tail_lock.start, tail_lock.size);
  b.shared_lock(tail_lock.start, tail_lock.size);
  EXPECT_FALSE(tail_is_free(name()));
  a.unlock(tail_lock.start, tail_lock.size);
  EXPECT_FALSE(tail_is_free(name()));
  b.unlock(tail_lock.start, tail_lock.size);
  EXPECT_TRUE(tail_is_free(name()));
}

TEST_F(File_Test, ReleasesItsLocksWhenItIsClosed) {
  directory.write("a.joedb", "content");
  {
    File a(name(), Open_Mode::shared_write);
    a.exclusive_lock(tail_lock.start, tail_lock.size);
    // closing it would release POSIX locks of the process
    { const File other(name(), Open_Mode::read_existing); }
    EXPECT_FALSE(tail_is_free(name()));
  }
  EXPECT_TRUE(tail_is_free(name()));
}

TEST_F(File_Test, OfAReaderCannotBeLockedExclusively) {
  directory.write("a.joedb", "content");
  File reader(name(), Open_Mode::read_existing);
  reader.shared_lock(head_lock.start, head_lock.size);
  EXPECT_EQ(io_error_of([&] { reader.exclusive_lock(head_lock.start, head_lock.size); }).code,
            EBADF);
}

// ---- devices ------------------------------------------------------------------------------------

TEST_F(File_Test, DevicesHaveNoSizeAndAreNotCut) {
  directory.write("a.joedb", "content");
  Device_File device(name(), Open_Mode::write_existing);
  EXPECT_EQ(device.get_size(), Abstract_File::unknown_size);
  EXPECT_FALSE(device.truncate(0));
  EXPECT_EQ(read(device, 100, 0), "content");
}

TEST_F(File_Test, DevicesAreNotCreated) {
  EXPECT_THROW(Device_File(name(), Open_Mode::create_new), Exception);
  for (const Open_Mode mode :
       {Open_Mode::read_existing, Open_Mode::write_existing,
        Open_Mode::write_existing_or_create_new, Open_Mode::shared_write, Open_Mode::write_lock})
    EXPECT_EQ(io_error_of([&] { Device_File(name(), mode); }).code, ENOENT);
  EXPECT_FALSE(std::filesystem::exists(name()));
  directory.write("a.joedb", "content");
  EXPECT_THROW(Device_File(name(), Open_Mode::create_new), Exception);
}

// ---- words --------------------------------------------------------------------------------------

TEST_F(File_Test, WordsAreSeenByOtherFilesAndByReads) {
  File writer(name(), Open_Mode::create_new);
  writer.pwrite(std::string(8192, 'x').data(), 8192, 0);
  const File reader(name(), Open_Mode::read_existing);
  for (const Offset offset : {0, 16, 4080, 4096, 8176}) {  // in the first page, and after it
    const std::array<std::int64_t, 2> words{offset + 1, -offset};
    writer.store_words(words, offset);
    for (const File* const file : {static_cast<const File*>(&writer), &reader}) {
      std::array<std::int64_t, 2> found;
      file->load_words(found, offset);
      EXPECT_EQ(found, words) << offset;
      EXPECT_EQ(read(*file, 16, offset), std::string(reinterpret_cast<const char*>(&words), 16));
    }
  }
}

TEST_F(File_Test, WordsCanBeStoredAgainAfterTheFileWasTruncatedBeforeThem) {
  File file(name(), Open_Mode::create_new);
  const std::int64_t word = 42;
  file.store_words(std::span(&word, 1), 16);
  file.truncate(3);
  file.store_words(std::span(&word, 1), 16);
  EXPECT_EQ(file.get_size(), 24);
  std::int64_t found;
  file.load_words(std::span(&found, 1), 16);
  EXPECT_EQ(found, word);
}

}  // namespace
}  // namespace joedb::posix_file_test
