#include "share/server/prefix_hashes.h"

#include <gtest/gtest.h>

#include <cstring>

#include "joedb/format/header.h"

namespace joedb::server {
namespace {

constexpr Offset size = 3 * Prefix_Hashes::step_size + 1000;

class Prefix_Hashes_Test : public ::testing::Test {
 protected:
  network::Read_Bytes read_ = [this](char* data, std::size_t n, Offset offset) {
    bytes_read_ += static_cast<Offset>(n);
    for (std::size_t i = 0; i < n; ++i) {
      const auto at = static_cast<std::uint64_t>(offset) + i;
      data[i] = static_cast<char>(at * at >> 7);
    }
  };
  network::Content_Hash finish(Prefix_Hashes& hashes, Offset checkpoint) {
    for (;;) {
      const Offset before = bytes_read_;
      const auto hash = hashes.step(checkpoint);
      EXPECT_LE(bytes_read_ - before, Prefix_Hashes::step_size);
      if (hash) return *hash;
    }
  }
  Offset bytes_read_ = 0;
};

TEST_F(Prefix_Hashes_Test, AreTheHashesOfTheContent) {
  for (const bool is_full : {false, true}) {
    Prefix_Hashes hashes(is_full, read_);
    const Offset step = Prefix_Hashes::step_size;
    for (const Offset n : {size, Offset{0}, Offset{1}, step - 1, step, step + 1, 2 * step, size})
      EXPECT_EQ(finish(hashes, journal_start + n),
                network::content_hash(read_, journal_start + n, is_full))
          << n;
  }
}

TEST_F(Prefix_Hashes_Test, ReadTheJournalOnce) {
  Prefix_Hashes hashes(true, read_);
  for (int i = 0; i < 10; ++i) finish(hashes, journal_start + size);
  EXPECT_EQ(bytes_read_, size);
}

}  // namespace
}  // namespace joedb::server
