#include "wal/format.h"

#include <gtest/gtest.h>

#include "joedb/base/types.h"
#include "joedb/io/memory_file.h"
#include "support/error_of.h"
#include "wal/checksum.h"

namespace joedb::wal {
namespace {

// The check values of the CRC catalogue: the checksums of the digits 1 to 9.
TEST(Wal_Checksum, IsThatOfTheStandards) {
  EXPECT_EQ(0xe3069283, crc32c("123456789"));
  EXPECT_EQ(0xcbf43926, crc32("123456789"));
  EXPECT_EQ(0U, crc32c(""));
  EXPECT_EQ(0U, crc32(""));
}

TEST(Wal_Checksum, GoesOnWhereItStopped) {
  EXPECT_EQ(crc32c("123456789"), crc32c("6789", crc32c("12345")));
}

TEST(Wal_Header, ComesBackFromItsBytes) {
  const Header header{17, 3, 400, 200};
  const Header_Bytes bytes = encode_header(header);
  EXPECT_EQ(header, decode_header({bytes.data(), bytes.size()}));
}

TEST(Wal_Header, IsRefusedWithNumbersThatNoLogReaches) {
  constexpr std::uint64_t most = std::uint64_t{1} << 63;
  const auto is_header = [](const Header& header) {
    const Header_Bytes bytes = encode_header(header);
    return decode_header({bytes.data(), bytes.size()}).has_value();
  };
  EXPECT_TRUE(is_header({1, most, most, 1}));
  EXPECT_FALSE(is_header({1, most + 1, 1, 1}));
  EXPECT_FALSE(is_header({1, 1, most + 1, 1}));
  EXPECT_FALSE(is_header({1, 1, 0, 0}));
}

TEST(Wal_Header, IsRefusedWithAnyBitFlipped) {
  Header_Bytes bytes = encode_header({17, 3, 400, 200});
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
    EXPECT_FALSE(decode_header({bytes.data(), bytes.size()})) << "bit " << bit;
    bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
  }
}

class Wal_Header_File : public ::testing::Test {
 protected:
  void write(const Header& header, int slot) { write_header(file_, header, slot); }
  void damage(Offset offset) { file_.get_data()[static_cast<std::size_t>(offset)] ^= 1; }
  void grow() { file_.pwrite("entry", 5, log_start); }
  std::uint64_t epoch() const { return read_header(file_).value().header.epoch; }

  Memory_File file_;
};

TEST_F(Wal_Header_File, IsTheOneWithTheLargerEpoch) {
  write({1, 4, 1, 1}, 0);
  write({1, 5, 1, 1}, 1);
  EXPECT_EQ(5U, epoch());
  write({1, 6, 1, 1}, 0);
  EXPECT_EQ(6U, epoch());
}

TEST_F(Wal_Header_File, SurvivesDamageToOneCopy) {
  write({1, 4, 1, 1}, 0);
  write({1, 5, 1, 1}, 1);
  damage(slot_size + 20);
  EXPECT_EQ(5U, epoch());
  damage(slot_size + copy_offset + 20);
  EXPECT_EQ(4U, epoch()) << "the header before";
}

TEST_F(Wal_Header_File, IsAnErrorIfThereAreEntriesButNoHeaderIsGood) {
  write({1, 4, 1, 1}, 0);
  damage(20);
  damage(copy_offset + 20);
  EXPECT_FALSE(read_header(file_)) << "a power cut while the log was made";
  EXPECT_TRUE(is_blank(file_));
  grow();
  EXPECT_EQ("memory: no header of this log is good",
            testing::error_of([&] { read_header(file_); }));
}

TEST_F(Wal_Header_File, OfALaterVersionIsRefused) {
  Header_Bytes bytes = encode_header({1, 4, 1, 1});
  store(bytes.data() + magic.size(), version + 1);
  store(bytes.data() + 48, crc32c({bytes.data(), 48}));
  file_.pwrite(bytes.data(), bytes.size(), 0);
  EXPECT_EQ("memory is a log of a later version of its format",
            testing::error_of([&] { read_header(file_); }));
}

TEST(Wal_Entry, DependsOnItsEpochAndItsLog) {
  const std::string entry(40, 'x');
  const std::uint32_t crc = entry_crc(entry, epoch_crc({1, 1, 1, 1}));
  EXPECT_NE(crc, entry_crc(entry, epoch_crc({1, 2, 1, 1})));
  EXPECT_NE(crc, entry_crc(entry, epoch_crc({2, 1, 1, 1})));
}

TEST(Wal_Entry, KnowsWhatWasDurable) {
  Entry_Header entry;
  entry.sequence = 10;
  entry.unsynced = 3;
  EXPECT_EQ(6U, durable_before(entry));
  entry.unsynced = nothing_durable;
  EXPECT_EQ(0U, durable_before(entry));
}

}  // namespace
}  // namespace joedb::wal
