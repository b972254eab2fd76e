#include "joedb/io/zeroed_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <new>

namespace joedb {
namespace {

TEST(Zeroed_Memory, KeepsItsContentAndGrowsWithZeros) {
  Zeroed_Memory memory;
  EXPECT_EQ(memory.size(), 0);
  std::size_t written = 0;
  const auto byte_at = [](std::size_t i) { return static_cast<char>(i * 7 + i / 251 + 1); };
  // Around the sizes of pages, of the first mapping and of huge pages.
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

}  // namespace
}  // namespace joedb
