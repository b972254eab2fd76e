#include "wal/checksum.h"

#include <gtest/gtest.h>

#include <string>

#include "sim/lab/random.h"
#include "wal/portable_checksum.h"

namespace joedb::wal {
namespace {

std::string random_bytes(testing::Random& random, std::size_t size) {
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random.next());
  return bytes;
}

TEST(Wal_Portable_Checksum, IsThatOfTheStandards) {
  EXPECT_EQ(0xe3069283U, portable::crc32c("123456789"));
  EXPECT_EQ(0xe3069283U, portable::crc32c_by_tables("123456789"));
  EXPECT_EQ(0xcbf43926U, portable::crc32("123456789"));
}

TEST(Wal_Portable_Checksum, IsTheOneThatLogsHave) {
  testing::Random random(testing::first_seed());
  for (std::size_t size = 0; size < 300; ++size) {
    const std::string bytes = random_bytes(random, size + random.below(8));
    const std::string_view part = std::string_view(bytes).substr(random.below(8) % (size + 1));
    const auto before = static_cast<std::uint32_t>(random.next());
    EXPECT_EQ(crc32c(part, before), portable::crc32c(part, before)) << size;
    EXPECT_EQ(crc32c(part, before), portable::crc32c_by_tables(part, before)) << size;
    EXPECT_EQ(crc32(part), portable::crc32(part)) << size;
  }
}

TEST(Wal_Portable_Checksum, GoesOnFromPartToPart) {
  testing::Random random(testing::first_seed());
  const std::string bytes = random_bytes(random, 1000);
  const std::string_view all = bytes;
  EXPECT_EQ(crc32c(all), portable::crc32c(all.substr(333), portable::crc32c(all.substr(0, 333))));
}

}  // namespace
}  // namespace joedb::wal
