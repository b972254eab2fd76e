#include "share/network/remote_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace joedb {
namespace {

using ::testing::Le;
using ::testing::SizeIs;

std::string some_bytes(std::size_t size) {
  std::string bytes(size, '\0');
  std::uint32_t state = 1;
  for (char& c : bytes) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  return bytes;
}

// A file that returns at most `most` bytes per request.
class Slow_File final : public Remote_File {
 public:
  Slow_File(std::string bytes, std::size_t most)
      : Remote_File("slow"), bytes_(std::move(bytes)), most_(most) {}
  Offset get_size() const override { return static_cast<Offset>(bytes_.size()); }
  const std::vector<Offset>& requests() const { return requests_; }

 private:
  std::size_t fetch(char* data, std::size_t size, Offset offset) const override {
    requests_.push_back(offset);
    if (offset >= get_size()) return 0;
    return bytes_.copy(data, std::min(size, most_), static_cast<std::size_t>(offset));
  }
  const std::string bytes_;
  const std::size_t most_;
  mutable std::vector<Offset> requests_;
};

std::string read(const Abstract_File& file, std::size_t size, Offset offset) {
  std::string bytes(size, '\0');
  bytes.resize(file.pread(bytes.data(), size, offset));
  return bytes;
}

TEST(Remote_File, AsksForLongerPiecesWhenItIsReadOn) {
  const std::string bytes = some_bytes(10'000'000);
  const Slow_File file(bytes, bytes.size());
  std::string all;
  while (all.size() < bytes.size()) all += read(file, 5'000, static_cast<Offset>(all.size()));
  EXPECT_EQ(all, bytes);
  EXPECT_THAT(file.requests(), SizeIs(Le(10)));
}

TEST(Remote_File, KeepsWhatWasReadAtTheBeginningAndTheEnd) {
  const Slow_File file(some_bytes(1'000'000), 1'000'000);
  for (int i = 0; i < 5; ++i) {
    read(file, 41, 0);
    read(file, 100, 999'900);
    read(file, 100, 999'800);
  }
  EXPECT_THAT(file.requests(), SizeIs(Le(3)));
}

TEST(Remote_File, EndsWhereTheServerHasNoMore) {
  const Slow_File file("short", 3);
  EXPECT_EQ(read(file, 100, 0), "short");
  EXPECT_EQ(read(file, 100, 5), "");
  EXPECT_EQ(read(file, 100, 1'000'000'000'000), "");
}

TEST(Remote_File, GivesTheSameBytesInAnyOrderHoweverShortTheAnswersAre) {
  const std::string bytes = some_bytes(300'000);
  for (const std::size_t most : {std::size_t{7'001}, std::size_t{70'000}, bytes.size()}) {
    const Slow_File file(bytes, most);
    std::size_t offset = 1;
    for (int i = 0; i < 500; ++i) {
      offset = offset * 7'919 % 310'000;
      const std::string expected =
          offset < bytes.size() ? bytes.substr(offset, offset % 40'000) : std::string();
      ASSERT_EQ(read(file, offset % 40'000, static_cast<Offset>(offset)), expected);
    }
  }
}

}  // namespace
}  // namespace joedb
