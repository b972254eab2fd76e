#include "joedb/io/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "joedb/journal/writable_journal.h"
#include "support/journal_process.h"
#include "support/temporary_directory.h"

namespace joedb {
namespace {

constexpr Offset step = 1 << 16;

class Mapped_File_Test : public ::testing::Test {
 protected:
  void SetUp() override {
    Mapped_File file(name() + ".try", Open_Mode::create_new, step);
    write(file, "a", 0);
    write(file, "b", 1);
    if (File(name() + ".try", Open_Mode::read_existing).get_size() != step)
      GTEST_SKIP() << "this file system is not mapped";
  }

  const std::string& name() const { return name_; }
  Offset size_on_disk() const { return File(name_, Open_Mode::read_existing).get_size(); }

  std::string bytes_on_disk() const {
    const File file(name_, Open_Mode::read_existing);
    return bytes_of(file);
  }
  static std::string bytes_of(const Abstract_File& file) {
    std::string bytes(1 << 20, '#');
    bytes.resize(file.pread(bytes.data(), bytes.size(), 0));
    return bytes;
  }
  static void write(Abstract_File& file, const std::string& bytes, Offset offset) {
    file.pwrite(bytes.data(), bytes.size(), offset);
  }

 private:
  testing::Temporary_Directory directory_;
  const std::string name_ = directory_.file("a.joedb");
};

TEST_F(Mapped_File_Test, GrowsAheadAndHidesIt) {
  {
    Mapped_File file(name(), Open_Mode::create_new, step);
    write(file, std::string(41, 'h'), 0);
    EXPECT_EQ(size_on_disk(), 41);
    write(file, "abc", 41);
    EXPECT_EQ(size_on_disk(), step);
    EXPECT_EQ(file.get_size(), 44);
    EXPECT_EQ(bytes_of(file), std::string(41, 'h') + "abc");
    EXPECT_EQ(bytes_on_disk(), std::string(41, 'h') + "abc" + std::string(step - 44, '\0'));
    write(file, std::string(step, 'x'), 44);
    EXPECT_EQ(size_on_disk(), 2 * step);
  }
  EXPECT_EQ(bytes_on_disk(), std::string(41, 'h') + "abc" + std::string(step, 'x'));
}

TEST_F(Mapped_File_Test, WritesAnywhere) {
  Mapped_File file(name(), Open_Mode::create_new, step);
  std::string model;
  unsigned random = 1;
  for (int i = 0; i < 2000; ++i) {
    random = random * 1664525 + 1013904223;
    const std::size_t offset = (random >> 8) % (model.size() + 1);
    const std::string bytes(1 + (random >> 4) % 300, static_cast<char>('a' + i % 26));
    if (random >> 28 == 0) {
      file.truncate(static_cast<Offset>(offset));
      model.resize(offset);
    } else if (random >> 28 == 1) {
      write(file, bytes, static_cast<Offset>(offset));
      model.replace(offset, std::min(bytes.size(), model.size() - offset), bytes);
    } else {
      write(file, bytes, static_cast<Offset>(model.size()));
      model += bytes;
    }
    ASSERT_EQ(file.get_size(), static_cast<Offset>(model.size()));
    if (i % 100 == 0) {
      ASSERT_EQ(bytes_of(file), model);
    }
  }
  ASSERT_EQ(bytes_of(file), model);
}

TEST_F(Mapped_File_Test, IsForAWriterThatIsAlone) {
  Mapped_File(name()).pwrite("x", 1, 0);
  for (const Open_Mode mode : {Open_Mode::read_existing, Open_Mode::shared_write})
    EXPECT_THROW(Mapped_File(name(), mode), Exception);
  for (const Offset wrong : {Offset{-1}, Offset{0}, Offset{1} << 40})
    EXPECT_THROW(Mapped_File(name(), Open_Mode::write_existing, wrong), Exception);
  const File other(name(), Open_Mode::write_existing);
  EXPECT_THROW(Mapped_File(name(), Open_Mode::write_existing), Io_Error);
}

TEST_F(Mapped_File_Test, AReaderFollowsSoftCheckpoints) {
  Mapped_File file(name(), Open_Mode::create_new, step);
  Writable_Journal journal(file);
  File reading(name(), Open_Mode::read_existing);
  Readonly_Journal reader(reading);
  for (int i = 0; i < 3000; ++i) {
    const Offset old = journal.get_checkpoint();
    journal.append(Comment{std::string(static_cast<std::size_t>(i % 200), 'x')});
    journal.soft_checkpoint();
    ASSERT_EQ(reader.pull(), journal.get_checkpoint() - old);
    reader.replay(Ignore_Entries());
  }
  EXPECT_GT(journal.get_checkpoint(), 3 * step);
}

// A killed process leaves the bytes that it has stored, followed by zeros.
TEST_F(Mapped_File_Test, AKilledWriterLeavesZerosWhichTheNextOneCutsOff) {
  const std::string copy = name() + ".copy";
  Mapped_File file(name(), Open_Mode::create_new, step);
  Writable_Journal journal(file);
  journal.append(Comment{"kept"});
  journal.soft_checkpoint();
  const std::string bytes = bytes_on_disk();
  EXPECT_EQ(bytes.size(), std::size_t{step});
  File killed(copy, Open_Mode::create_new);
  write(killed, bytes, 0);
  Writable_Journal next(killed);
  next.replay(Ignore_Entries());
  next.recover();
  EXPECT_EQ(killed.get_size(), journal.get_checkpoint());
  EXPECT_EQ(testing::words_in(bytes_of(killed)), "kept ");
}

TEST_F(Mapped_File_Test, ARollbackLeavesZeros) {
  Mapped_File file(name(), Open_Mode::create_new, step);
  Writable_Journal journal(file);
  journal.append(Comment{"kept"});
  journal.soft_checkpoint();
  const std::string bytes = bytes_on_disk();
  journal.append(Comment{"not kept"});
  journal.flush();
  EXPECT_NE(bytes_on_disk(), bytes);
  journal.rollback();
  EXPECT_EQ(bytes_on_disk(), bytes);
  EXPECT_EQ(file.get_size(), journal.get_checkpoint());
}

TEST_F(Mapped_File_Test, OpensAgainAfterTheDiskWasFull) {
  rlimit old;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  for (const bool has_integrity : {false, true}) {
    Offset checkpoint = 0;
    rlimit limit = old;
    limit.rlim_cur = static_cast<rlim_t>((has_integrity ? size_on_disk() : 0) + 2 * step + 1000);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    {
      Mapped_File file(name(), Open_Mode::write_existing_or_create_new, step);
      Writable_Journal journal(file);
      journal.replay(Ignore_Entries());
      if (has_integrity) journal.enable_integrity();
      const auto fill = [&] {
        for (int i = 0; i < 100'000; ++i) {
          journal.append(Comment{"0123456789"});
          if (i % 100 == 0) journal.hard_checkpoint();
          checkpoint = journal.get_checkpoint();
        }
      };
      EXPECT_THROW(fill(), Disk_Full);
      ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
    }
    Mapped_File file(name(), Open_Mode::write_existing, step);
    Writable_Journal journal(file);  // refuses a file with a tail
    EXPECT_EQ(journal.get_checkpoint(), checkpoint);
    journal.replay(Ignore_Entries());
    journal.append(Comment{"more"});
    journal.hard_checkpoint();
  }
}

}  // namespace
}  // namespace joedb
