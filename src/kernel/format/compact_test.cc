#include "joedb/format/entry.h"

#include <gtest/gtest.h>

#include <string>

#include "support/entries.h"

namespace joedb {
namespace {

std::string written(std::uint64_t value) {
  char bytes[max_compact_size] = {};
  return testing::hex({bytes, static_cast<std::size_t>(write_compact(bytes, value) - bytes)});
}

std::uint64_t read(const std::string& text) {
  const std::string bytes = testing::from_hex(text);
  EXPECT_EQ(compact_size_from_first_byte(bytes[0]), bytes.size()) << text;
  return read_compact(bytes.data(), bytes.size());
}

TEST(Compact, WritesTheTableOfTheFormat) {
  const struct {
    std::uint64_t value;
    std::string bytes;
  } cases[] = {
      {0, "00"},
      {31, "1f"},
      {32, "20 20"},
      {255, "20 ff"},
      {256, "21 00"},
      {8191, "3f ff"},
      {8192, "40 20 00"},
      {std::uint64_t{1} << 20, "50 00 00"},
      {(std::uint64_t{1} << 21) - 1, "5f ff ff"},
      {std::uint64_t{1} << 21, "60 20 00 00"},
      {(std::uint64_t{1} << 29) - 1, "7f ff ff ff"},
      {std::uint64_t{1} << 29, "80 20 00 00 00"},
      {(std::uint64_t{1} << 37) - 1, "9f ff ff ff ff"},
      {std::uint64_t{1} << 37, "a0 20 00 00 00 00"},
      {(std::uint64_t{1} << 45) - 1, "bf ff ff ff ff ff"},
      {std::uint64_t{1} << 45, "c0 20 00 00 00 00 00"},
      {(std::uint64_t{1} << 53) - 1, "df ff ff ff ff ff ff"},
      {std::uint64_t{1} << 53, "e0 20 00 00 00 00 00 00"},
      {(std::uint64_t{1} << 61) - 1, "ff ff ff ff ff ff ff ff"},
  };
  for (const auto& [value, bytes] : cases) {
    EXPECT_EQ(written(value), bytes) << value;
    EXPECT_EQ(read(bytes), value) << bytes;
  }
}

TEST(Compact, ReadsLongerForms) {
  const struct {
    std::string bytes;
    std::uint64_t value;
  } cases[] = {
      {"20 00", 0},
      {"20 05", 5},
      {"40 00 05", 5},
      {"60 00 01 00", 256},
      {"80 00 00 00 1f", 31},
      {"a0 00 00 00 00 20", 32},
      {"c0 00 00 00 00 00 00", 0},
      {"e0 00 00 00 00 00 00 01", 1},
      {"e0 00 00 00 00 00 00 00", 0},
  };
  for (const auto& [bytes, value] : cases) EXPECT_EQ(read(bytes), value) << bytes;
}

// Tests all numbers below 2^21, and all numbers within 600 of each power of two, up to the largest
// number.
TEST(Compact, EveryNumberComesBackInTheShortestForm) {
  std::size_t failures = 0;
  const auto check = [&](std::uint64_t value) {
    char bytes[max_compact_size] = {};
    const auto size = static_cast<std::size_t>(write_compact(bytes, value) - bytes);
    const bool is_shortest = size == 1 || value >= std::uint64_t{1} << (5 + 8 * (size - 2));
    failures += size != compact_size(value) || size != compact_size_from_first_byte(bytes[0]) ||
                read_compact(bytes, size) != value || !is_shortest;
  };
  for (std::uint64_t value = 0; value < std::uint64_t{1} << 21; ++value) check(value);
  for (int bits = 1; bits <= 61; ++bits) {
    const std::uint64_t limit = std::uint64_t{1} << bits;
    for (std::uint64_t distance = 0; distance <= 600 && distance <= limit; ++distance) {
      check(limit - distance > max_compact ? max_compact : limit - distance);
      if (limit + distance <= max_compact) check(limit + distance);
    }
  }
  EXPECT_EQ(failures, 0);
}

TEST(Compact, WorksAtCompileTime) {
  constexpr auto round_trip = [](std::uint64_t value) {
    char bytes[max_compact_size] = {};
    const char* const end = write_compact(bytes, value);
    return read_compact(bytes, static_cast<std::size_t>(end - bytes));
  };
  static_assert(round_trip(0) == 0 && round_trip(8192) == 8192);
  static_assert(round_trip(max_compact) == max_compact);
}

}  // namespace
}  // namespace joedb
