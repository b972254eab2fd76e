#include "joedb/io/zeroed_memory.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <string>
#include <vector>

#include "joedb/io/posix_file.h"
#include "kernel/io/unnamed_file.h"
#include "sim/lab/random.h"
#include "support/temporary_directory.h"

namespace joedb::zeroed_memory_test {
namespace {

TEST(Zeroed_Memory, KeepsItsContentAndGrowsWithZeros) {
  Zeroed_Memory memory;
  EXPECT_EQ(memory.size(), 0);
  std::size_t written = 0;
  const auto byte_at = [](std::size_t i) { return static_cast<char>(i * 7 + i / 251 + 1); };
  // Sizes around those of pages, of the first mapping and of huge pages.
  for (const std::size_t size : {1u, 100u, 4095u, 4097u, 262143u, 262144u, 262145u, 1u << 20u,
                                 (1u << 21u) + 1u, (5u << 20u) + 3u}) {
    memory.grow(size);
    ASSERT_EQ(memory.size(), size);
    for (std::size_t i = 0; i < written; ++i) ASSERT_EQ(memory.data()[i], byte_at(i)) << size;
    ASSERT_EQ(std::count(memory.data() + written, memory.data() + size, 0),
              static_cast<std::ptrdiff_t>(size - written))
        << size;
    for (; written < size; ++written) memory.data()[written] = byte_at(written);
  }
}

TEST(Zeroed_Memory, NeverShrinks) {
  Zeroed_Memory memory;
  memory.grow(100);
  memory.grow(50);
  EXPECT_EQ(memory.size(), 100);
}

TEST(Zeroed_Memory, StaysAsItWasWhenThereIsNoMore) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{100}, std::size_t{1} << 20}) {
    Zeroed_Memory memory;
    memory.grow(size);
    if (size > 0) memory.data()[size - 1] = 'x';
    EXPECT_THROW(memory.grow(std::size_t{1} << 60), std::bad_alloc);
    EXPECT_EQ(memory.size(), size);
    if (size > 0) {
      EXPECT_EQ(memory.data()[size - 1], 'x');
    }
  }
}

// ---- memory that begins with a part of a file ---------------------------------------------------

class Zeroed_Memory_Of_File : public ::testing::Test {
 protected:
  static char byte_at(std::size_t i) { return static_cast<char>(i * 7 + i / 251 + 1); }

  // Makes a file with `size` bytes of content after a page of other bytes, and other bytes after
  // it.
  void make_file(std::size_t size) {
    std::string content(4096, '#');
    for (std::size_t i = 0; i < size; ++i) content.push_back(byte_at(i));
    content.append(10000, '#');
    File(path(), Open_Mode::create_new).pwrite(content.data(), content.size(), 0);
  }
  std::string path() const { return directory_.file("block"); }
  testing::Temporary_Directory directory_;
};

TEST_F(Zeroed_Memory_Of_File, BeginsWithItAndGrowsWithZeros) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{4096}, std::size_t{65536},
                                 std::size_t{70001}, std::size_t{3000000}}) {
    make_file(size);
    Zeroed_Memory memory;
    memory.begin_with(File(path(), Open_Mode::read_existing), 4096, size);
    EXPECT_EQ(memory.is_mapped(), size >= 65536) << size;
    ASSERT_EQ(memory.size(), size);
    for (std::size_t grown = size; grown < 40 * size; grown = 3 * grown + 1) {
      memory.grow(grown);
      ASSERT_EQ(memory.size(), grown);
      for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(memory.data()[i], byte_at(i)) << size;
      ASSERT_EQ(std::count(memory.data() + size, memory.data() + grown, 0),
                static_cast<std::ptrdiff_t>(grown - size));
    }
    std::filesystem::remove(path());
  }
}

TEST_F(Zeroed_Memory_Of_File, DoesNotChangeTheFile) {
  make_file(100000);
  Zeroed_Memory memory;
  const File file(path(), Open_Mode::read_existing);
  memory.begin_with(file, 4096, 100000);
  memory.data()[5000] = 'x';
  char byte;
  file.read_exactly(&byte, 1, 4096 + 5000);
  EXPECT_EQ(byte, byte_at(5000));
}

TEST_F(Zeroed_Memory_Of_File, RefusesWhatTheFileHasNot) {
  make_file(100000);
  Zeroed_Memory memory;
  const File file(path(), Open_Mode::read_existing);
  EXPECT_THROW(memory.begin_with(file, 4096, 110001), Corruption_Error);
  EXPECT_THROW(memory.begin_with(file, 4096 * 100, 1), Corruption_Error);
  EXPECT_EQ(memory.size(), 0);
}

TEST_F(Zeroed_Memory_Of_File, SurvivesThatSomebodyCutsTheFile) {
  make_file(1 << 20);
  Zeroed_Memory memory;
  File file(path(), Open_Mode::write_existing);
  memory.begin_with(file, 4096, 1 << 20);
  const std::uint64_t cuts = Zeroed_Memory::cut_count();
  file.truncate(8192);
  EXPECT_EQ(memory.data()[0], byte_at(0));
  EXPECT_FALSE(memory.was_cut());
  EXPECT_EQ(memory.data()[500000], 0);
  EXPECT_TRUE(memory.was_cut());
  EXPECT_EQ(Zeroed_Memory::cut_count(), cuts + 1);
  memory.data()[600000] = 'x';
}

// A handler of the program that was installed before, and its stack.
void exit_on_alternate_stack(int, siginfo_t*, void*) {
  stack_t stack;
  ::sigaltstack(nullptr, &stack);
  std::_Exit(stack.ss_flags == SS_ONSTACK ? 7 : 8);
}

TEST_F(Zeroed_Memory_Of_File, HandsOtherSignalsToTheHandlerOfTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  make_file(1 << 20);
  const auto run = [&] {
    std::vector<char> bytes(1 << 16);
    const stack_t stack{bytes.data(), 0, bytes.size()};
    ::sigaltstack(&stack, nullptr);
    struct sigaction action {};
    action.sa_sigaction = exit_on_alternate_stack;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigaction(SIGBUS, &action, nullptr);
    Zeroed_Memory memory;
    File file(path(), Open_Mode::write_existing);
    memory.begin_with(file, 4096, 1 << 20);
    file.truncate(4096);
    if (memory.data()[1] == 0 && memory.was_cut()) ::raise(SIGBUS);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(7), "");
}

// ---- memory that is moved to a temporary file ---------------------------------------------------

TEST(Spilled_Memory, HasTheSameContentWhereverItBegan) {
  const testing::Temporary_Directory directory;
  File source(directory.file("source"), Open_Mode::create_new);
  const std::string bytes(300'000, 'm');
  source.pwrite(bytes.data(), bytes.size(), 0);
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    testing::Random random(seed);
    Unnamed_File file("a temporary file");
    Zeroed_Memory memory;
    std::string model;
    if (seed % 3 == 0) {
      memory.begin_with(source, 0, bytes.size());
      model = bytes;
    } else if (seed % 3 == 1) {
      ASSERT_TRUE(memory.reserve(std::size_t{1} << 30));
    }
    for (int i = 0; i < 20; ++i) {
      const std::size_t used = model.size();
      memory.grow(used + random.below(random.below(3) == 0 ? 3'000'000 : 90'000));
      model.resize(memory.size());
      for (int k = 0; k < 200 && !model.empty(); ++k) {
        const std::size_t at = random.below(model.size());
        model[at] = memory.data()[at] = static_cast<char>(random.next());
      }
      if (random.flip()) memory.spill(file, model.size());
      ASSERT_EQ(std::string_view(memory.data(), memory.size()), model) << "seed " << seed;
    }
  }
}

TEST_F(Zeroed_Memory_Of_File, SurvivesThatSomebodyCutsTheFileAlsoWhenItWasSpilled) {
  make_file(300'000);
  Zeroed_Memory memory;
  File file(path(), Open_Mode::write_existing);
  memory.begin_with(file, 4096, 300'000);
  Unnamed_File spill("a temporary file");
  memory.spill(spill, 300'000);
  file.truncate(0);
  EXPECT_EQ(memory.data()[1000], byte_at(1000));
  EXPECT_FALSE(memory.was_cut());
  EXPECT_EQ(memory.data()[299'990], 0);  // in the last page, which is still mapped from the file
  EXPECT_TRUE(memory.was_cut());
  memory.grow(300'000 * 20);  // moves the memory
  memory.spill(spill, memory.size());
  EXPECT_TRUE(memory.was_cut());
}

TEST(Spilled_Memory, IsBehindWhatAWriteThatFailedHasLeft) {
  Unnamed_File file("a temporary file");
  file.pwrite("part", 4, 0);
  Zeroed_Memory memory;
  memory.grow(1 << 20);
  memory.data()[70'000] = 'x';
  memory.spill(file, 1 << 20);
  EXPECT_EQ(memory.data()[70'000], 'x');
  EXPECT_EQ(file.get_size(), 4096 + (1 << 20));
}

TEST(Spilled_Memory, IsWrittenOnce) {
  Unnamed_File file("a temporary file");
  Zeroed_Memory memory;
  memory.grow(1 << 22);
  memory.spill(file, 1 << 20);
  memory.spill(file, 1 << 20);
  EXPECT_EQ(file.get_size(), 1 << 20);
  memory.data()[5] = 'x';
  memory.spill(file, 1 << 21);
  EXPECT_EQ(file.get_size(), 1 << 21);
  EXPECT_EQ(memory.data()[5], 'x');
}

}  // namespace
}  // namespace joedb::zeroed_memory_test
