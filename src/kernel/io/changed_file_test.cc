#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <optional>

#include "joedb/base/log.h"
#include "joedb/io/file.h"
#include "joedb/io/mapped_file.h"
#include "joedb/io/posix_file.h"
#include "kernel/io/new_file.h"
#include "kernel/io/read_map.h"
#include "kernel/io/unnamed_file.h"
#include "support/child_process.h"
#include "support/error_of.h"
#include "support/temporary_directory.h"

// Tests of changes around an open file: closed descriptors, forks, other programs that replace the
// file, and another current directory.

namespace joedb::changed_file_test {
namespace {

using testing::error_of;
using testing::in_child;

class Changed_File : public ::testing::Test {
 protected:
  static void write(Abstract_File& file, std::string_view text, Offset offset) {
    file.pwrite(text.data(), text.size(), offset);
  }
  static unsigned permissions(const std::string& path) {
    struct stat status;
    return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
  }
  std::string text(std::size_t size = 200) const { return std::string(size, 'x'); }

  testing::Temporary_Directory directory;
  const std::string name = directory.file("a.joedb");
  const std::string inherited =
      name + " was opened before fork(), by the parent of this process: open it again here";
};

// ---- descriptors --------------------------------------------------------------------------------

// Describes descriptors 0 to 2. "null" is /dev/null, opened so that no other file gets the number.
std::string standard_descriptors() {
  std::string result;
  for (int number = 0; number <= 2; ++number) {
    struct stat status;
    const bool is_open = ::fstat(number, &status) == 0;
    const bool is_null = is_open && S_ISCHR(status.st_mode) && minor(status.st_rdev) == 3;
    char byte = 'x';
    const bool works = number == 0 ? ::read(0, &byte, 1) >= 0 : ::write(number, &byte, 1) >= 0;
    result += is_null && !works ? "null " : "other ";
  }
  return result;
}

template <class F>
std::string after_closing(F f) {
  return in_child([&] {
    for (const int number : {0, 1, 2}) ::close(number);
    f();
    return standard_descriptors();
  });
}

TEST_F(Changed_File, FilesNeverGetStandardDescriptors) {
  directory.write("b.joedb", "content");
  const std::string all = "null null null ";
  EXPECT_EQ(all, after_closing([&] { File(name, Open_Mode::create_new); }));
  EXPECT_EQ(all, after_closing([&] { Directory(directory.path()).list(); }));
  EXPECT_EQ(all, after_closing([&] { Read_Map map(directory.file("b.joedb")); }));
  EXPECT_EQ(all, after_closing([&] { Unnamed_File file("temporary"); }));
  EXPECT_EQ(all, after_closing([&] { Temporary_Text text(".txt", "text"); }));
  EXPECT_EQ(all, after_closing([&] { File_Logger logger(directory.file("log")); }));
}

// ---- processes ----------------------------------------------------------------------------------

TEST_F(Changed_File, AChildCannotChangeTheFileOfItsParent) {
  File file(name, Open_Mode::create_new);
  write(file, text(), 0);
  const std::int64_t word = 1;
  const std::function<void()> changes[] = {
      [&] { write(file, "y", 0); },
      [&] { file.store_words(std::span(&word, 1), 0); },
      [&] { file.sync(); },
      [&] { file.datasync(); },
      [&] { file.truncate(0); },
      [&] { file.exclusive_lock(0, 1); },
      [&] { file.shared_lock(0, 1); },
      [&] { file.try_exclusive_lock(0, 1); },
      [&] { file.touch(); },
      [&] { file.beside()->rename("", "-other"); },
      [&] { file.beside()->remove_durably(""); },
  };
  for (const auto& change : changes)
    EXPECT_EQ(inherited, in_child([&] { return error_of<Inherited_Object>(change); }));
  // reading is allowed
  EXPECT_EQ("200", in_child([&] { return std::to_string(file.get_size()); }));
  EXPECT_EQ(text(), directory.read("a.joedb"));
}

TEST_F(Changed_File, AChildCutsNoMappedFile) {
  std::optional<Mapped_File> file(std::in_place, name, Open_Mode::create_new, 4096);
  write(*file, text(), 0);
  write(*file, text(), 200);
  EXPECT_EQ("", in_child([&]() -> std::string {
              file.reset();
              return "";
            }));
  write(*file, text(), 400);
  EXPECT_EQ(inherited, in_child([&] { return error_of([&] { write(*file, "y", 600); }); }));
  file.reset();
  EXPECT_EQ(text(600), directory.read("a.joedb"));
}

TEST_F(Changed_File, AChildThatLivesOnDoesNotKeepTheLocks) {
  std::optional<File> file(std::in_place, name, Open_Mode::create_new);
  int ends[2];
  ASSERT_EQ(0, ::pipe(ends));
  const pid_t child = ::fork();
  if (child == 0) {
    char byte;
    ::close(ends[1]);
    static_cast<void>(::read(ends[0], &byte, 1));  // waits until the parent closes its end
    ::_exit(0);
  }
  file.reset();
  EXPECT_EQ("no error", error_of([&] { File(name, Open_Mode::write_existing); }));
  ::close(ends[1]);
  ::close(ends[0]);
  int status;
  ::waitpid(child, &status, 0);
}

TEST_F(Changed_File, AChildDoesNotReleaseTheLocks) {
  File file(name, Open_Mode::create_new);
  in_child([&]() -> std::string {
    file.unlock(tail_lock.start, tail_lock.size);
    file.~File();
    return "";
  });
  EXPECT_THROW(File(name, Open_Mode::write_existing), File_Locked);
}

// ---- other programs -----------------------------------------------------------------------------

TEST_F(Changed_File, ASyncSaysThatTheFileWasReplacedOrRemoved) {
  for (const Open_Mode mode : {Open_Mode::create_new, Open_Mode::shared_write}) {
    std::filesystem::remove(name);
    File file(name, mode);
    write(file, text(), 0);
    file.datasync();
    directory.write("other", "other");
    std::filesystem::rename(directory.file("other"), name);
    for (const auto& sync : {&File::sync, &File::datasync})
      EXPECT_EQ(name + " was replaced by another file: open it again",
                error_of<File_Replaced>([&] { (file.*sync)(); }));
    std::filesystem::remove(name);
    EXPECT_EQ(name + " was removed: open it again",
              error_of<File_Replaced>([&] { file.datasync(); }));
    EXPECT_EQ(name + " was removed: open it again",
              error_of<File_Replaced>([&] { file.require_not_replaced(); }));
  }
}

TEST_F(Changed_File, ASyncSaysThatTheFileWasCut) {
  File file(name, Open_Mode::create_new);
  write(file, text(), 0);
  file.datasync();
  std::filesystem::resize_file(name, 100);
  EXPECT_EQ(name + " was truncated by another program, from 200 to 100 bytes: open it again",
            error_of<File_Replaced>([&] { file.datasync(); }));
}

// Another program restores a backup, as cp does: it keeps the inode and replaces the bytes. The
// next write of this process then leaves a hole after the restored bytes.
TEST_F(Changed_File, ASyncSaysThatOtherBytesWereRestored) {
  for (const std::string& restored :
       {std::string(), std::string(100, 'x'), std::string(300, 'y')}) {
    std::filesystem::remove(name);
    File file(name, Open_Mode::create_new);
    write(file, text(), 0);
    write(file, text(), 200);
    file.datasync();
    directory.write("a.joedb", restored);
    write(file, text(), 400);
    EXPECT_EQ(name + " was overwritten by another program: open it again",
              error_of<File_Replaced>([&] { file.datasync(); }));
  }
}

TEST_F(Changed_File, OwnChangesAreNoChangesByOthers) {
  File file(name, Open_Mode::create_new);
  const auto sync = [&] { EXPECT_EQ("no error", error_of([&] { file.datasync(); })); };
  write(file, text(), 0);
  write(file, text(), 200);
  sync();
  file.truncate(300);
  write(file, "yyyyyyyyyyyyyyyy", 300);
  sync();
  write(file, std::string(100, 'z'), 250);
  sync();
  write(file, "0123456789", 312);
  sync();
  file.truncate(0);
  sync();
  file.truncate(1000);
  sync();
}

TEST_F(Changed_File, FilesWithoutANameAreNotLookedFor) {
  Unnamed_File file(name);
  write(file, text(), 0);
  EXPECT_EQ("no error", error_of([&] { file.sync(); }));
  New_File made(name, New_File::Existing::refuse);
  write(made, text(), 0);
  EXPECT_EQ("no error", error_of([&] { made.sync(); }));
  made.publish();
  EXPECT_EQ("no error", error_of([&] { made.sync(); }));
  std::filesystem::remove(name);
  EXPECT_EQ(name + " was removed: open it again", error_of([&] { made.sync(); }));
}

// ---- directories --------------------------------------------------------------------------------

TEST_F(Changed_File, FilesBesideAreInTheDirectoryOfTheFile) {
  std::filesystem::create_directory(directory.file("away"));
  EXPECT_EQ("", in_child([&]() -> std::string {
              std::filesystem::current_path(directory.path());
              File file("a.joedb", Open_Mode::create_new);
              Directory names(".");
              std::filesystem::current_path(directory.file("away"));
              file.beside()->open(".b", Open_Mode::create_new)->sync();
              file.beside()->rename(".b", ".c");
              file.beside()->open(".d", Open_Mode::create_new);
              file.beside()->remove_durably(".d");
              names.open("e", Open_Mode::create_new)->sync();
              names.open("f", Open_Mode::create_new);
              names.remove("f");
              file.require_not_replaced();
              names.require_not_replaced();
              EXPECT_THAT(file.beside()->list(), ::testing::UnorderedElementsAre("", ".c"));
              return file.is_replaced() ? "replaced" : "";
            }));
  EXPECT_THAT(Directory(directory.path()).list(),
              ::testing::UnorderedElementsAre("a.joedb", "a.joedb.c", "away", "e"));
  EXPECT_THAT(Directory(directory.file("away")).list(), ::testing::IsEmpty());
}

TEST_F(Changed_File, ADirectoryKnowsThatItWasReplaced) {
  const std::string log = directory.file("log");
  const Directory made = Directory::make(log);
  made.require_not_replaced();
  std::filesystem::rename(log, directory.file("old"));
  EXPECT_EQ(log + " was removed: open it again", error_of([&] { made.require_not_replaced(); }));
  std::filesystem::create_directory(log);
  EXPECT_EQ(log + " was replaced by another directory: open it again",
            error_of([&] { made.require_not_replaced(); }));
}

// ---- permissions --------------------------------------------------------------------------------

TEST_F(Changed_File, NewFilesKeepThePermissionsOfWhatTheyReplaceOrBelongTo) {
  const mode_t old_mask = ::umask(022);
  for (const unsigned mode : {0600U, 0640U, 0664U, 0444U}) {
    const std::string path = directory.write("b", "old");
    ASSERT_EQ(0, ::chmod(path.c_str(), mode));
    {
      New_File file(path, New_File::Existing::replace);
      EXPECT_EQ(0U, permissions(file.path()) & ~mode);
      file.publish();
    }
    EXPECT_EQ(mode, permissions(path));
    File(path, Open_Mode::read_existing).beside()->open("-tail", Open_Mode::create_new);
    EXPECT_EQ(mode, permissions(path + "-tail"));
    Directory(directory.path()).open_like("b", "c", Open_Mode::create_new);
    EXPECT_EQ(mode, permissions(directory.file("c")));
    {
      New_File file(directory.file("d"), New_File::Existing::refuse);
      file.take_permissions(File(path, Open_Mode::read_existing));
      file.publish();
    }
    EXPECT_EQ(mode, permissions(directory.file("d")));
    for (const char* const used : {"b", "b-tail", "c", "d"})
      std::filesystem::remove(directory.file(used));
  }
  { File file(name, Open_Mode::create_new); }
  EXPECT_EQ(0644U, permissions(name));
  ::umask(old_mask);
}

}  // namespace
}  // namespace joedb::changed_file_test
