#include "kernel/io/unpacked_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "joedb/io/memory_file.h"
#ifdef JOEDB_HAS_ZSTD
#include "kernel/io/zstd_unpacker.h"
#endif
#ifdef JOEDB_HAS_BROTLI
#include "kernel/io/brotli_unpacker.h"
#endif

namespace joedb::unpacked_file_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::ThrowsMessage;

std::string bytes_of(std::size_t size) {
  std::string bytes;
  for (std::uint32_t i = 0; bytes.size() < size; ++i)
    bytes += std::to_string(i * 2'654'435'761) + '\n';
  bytes.resize(size);
  return bytes;
}

std::string read(const Abstract_File& file, std::size_t size, Offset offset) {
  std::string bytes(size, '\0');
  bytes.resize(file.pread(bytes.data(), size, offset));
  return bytes;
}

// A run-length format: each pair of bytes is a count and the byte to repeat. Count 0 is the end.
class Runs final : public Unpacker {
 public:
  Step step(std::string_view packed, std::span<char> out) override {
    std::size_t given = 0;
    if (left_ == 0 && packed.size() >= 2) {
      left_ = static_cast<unsigned char>(packed[0]);
      value_ = packed[1];
      is_at_end_ = left_ == 0;
      for (; left_ > 0 && given < out.size(); --left_) out[given++] = value_;
      return {2, given};
    }
    if (left_ == 0 && packed.size() == 1) throw Exception("half a pair,");
    for (; left_ > 0 && given < out.size(); --left_) out[given++] = value_;
    return {0, given};
  }
  bool is_at_end() const override { return is_at_end_; }
  void restart() override {
    left_ = 0;
    is_at_end_ = false;
    ++restarts;
  }
  inline static int restarts = 0;

 private:
  unsigned left_ = 0;
  char value_ = 0;
  bool is_at_end_ = false;
};

class Counted_File final : public Readonly_File {
 public:
  explicit Counted_File(std::string bytes) : Readonly_File("archive"), bytes_(std::move(bytes)) {}
  Offset get_size() const override { return static_cast<Offset>(bytes_.size()); }
  std::size_t pread(char* data, std::size_t size, Offset offset) const override {
    if (offset >= get_size()) return 0;
    return bytes_.copy(data, size, static_cast<std::size_t>(offset));
  }

 private:
  const std::string bytes_;
};

std::unique_ptr<Unpacked_File> unpack(std::string packed, std::unique_ptr<Unpacker> unpacker,
                                      Unpacked_File::Settings settings = {}) {
  return std::make_unique<Unpacked_File>(std::make_unique<Counted_File>(std::move(packed)),
                                         std::move(unpacker), std::move(settings));
}

TEST(Unpacked_File, GivesTheBytesInAnyOrder) {
  std::string packed;
  std::string bytes;
  for (int i = 0; i < 40'000; ++i) {
    const int n = 1 + i % 255;
    packed += {static_cast<char>(n), static_cast<char>(i * i)};
    bytes.append(static_cast<std::size_t>(n), static_cast<char>(i * i));
  }
  packed.append(2, '\0');
  for (const bool reads_once : {false, true}) {
    const auto file = unpack(packed, std::make_unique<Runs>(), {.reads_once = reads_once});
    ASSERT_EQ(file->get_size(), static_cast<Offset>(bytes.size()));
    Runs::restarts = 0;
    for (std::size_t i = 0, at = 1; i < 300; ++i) {
      at = at * 7'919 % bytes.size();
      ASSERT_EQ(read(*file, 50'000, static_cast<Offset>(at)), bytes.substr(at, 50'000));
    }
    EXPECT_THAT(Runs::restarts, Le(4));
    EXPECT_EQ(read(*file, 10, file->get_size()), "");
  }
}

TEST(Unpacked_File, IsUnpackedOnceMoreByAJournalThatIsReadFromItsBeginning) {
  std::string packed;
  for (int i = 0; i < 40'000; ++i) packed += "\xff*";
  packed.append(2, '\0');
  const auto file = unpack(packed, std::make_unique<Runs>());
  Runs::restarts = 0;
  read(*file, 41, 0);
  read(*file, 1'000, file->get_size() - 1'000);
  for (Offset at = 41; at < file->get_size(); at += 250'000) read(*file, 250'000, at);
  EXPECT_EQ(Runs::restarts, 1);
}

TEST(Unpacked_File, StopsWhereAFewBytesBecomeTooMany) {
  std::string packed;
  for (int i = 0; i < 1'000; ++i) packed += "\xff*";
  packed.append(2, '\0');
  EXPECT_THAT([&] { unpack(packed, std::make_unique<Runs>(), {.max_size = 254'999}); },
              ThrowsMessage<Exception>(HasSubstr("unpacks to more than 254999 bytes")));
  EXPECT_EQ(unpack(packed, std::make_unique<Runs>(), {.max_size = 255'000})->get_size(), 255'000);
}

TEST(Unpacked_File, CannotBeWritten) {
  const auto file = unpack(std::string(2, '\0'), std::make_unique<Runs>());
  EXPECT_TRUE(file->is_readonly());
  EXPECT_THROW(file->pwrite("x", 1, 0), Exception);
}

#ifdef JOEDB_HAS_ZSTD

std::string zstd_of(const std::string& bytes) {
  Memory_File archive;
  write_zstd(Readonly_Memory_File(bytes), archive, [](Offset) {});
  return {archive.get_data().begin(), archive.get_data().end()};
}

TEST(Zstd, GivesBackWhatWasWritten) {
  for (const unsigned size : {0U, 1U, 131'072U, 5'000'000U}) {
    const std::string bytes = bytes_of(size);
    EXPECT_EQ(read(*unpack(zstd_of(bytes), new_zstd_unpacker()), size + 1, 0), bytes);
  }
}

TEST(Zstd, MayBeSeveralArchivesBehindEachOther) {
  const std::string skippable("\x50\x2a\x4d\x18\x02\0\0\0ab", 10);
  const auto file = unpack(skippable + zstd_of("one") + zstd_of("two"), new_zstd_unpacker());
  EXPECT_EQ(read(*file, 10, 0), "onetwo");
}

TEST(Zstd, IsAnErrorWhereverItIsCut) {
  const std::string packed = zstd_of(bytes_of(3'000));
  for (std::size_t size = 0; size < packed.size(); ++size)
    EXPECT_THAT([&] { unpack(packed.substr(0, size), new_zstd_unpacker()); },
                ThrowsMessage<Corruption_Error>(HasSubstr("at offset " + std::to_string(size))));
}

TEST(Zstd, IsAnErrorOrTheSameWhateverBitIsChanged) {
  const std::string bytes = bytes_of(1'000);
  const std::string packed = zstd_of(bytes);
  for (std::size_t i = 0; i < 8 * packed.size(); ++i) {
    std::string changed = packed;
    changed[i / 8] = static_cast<char>(changed[i / 8] ^ (1 << i % 8));
    try {
      EXPECT_EQ(read(*unpack(changed, new_zstd_unpacker()), 2'000, 0), bytes);
    } catch (const Exception&) {
    }
  }
}

TEST(Zstd, RefusesWhatFollows) {
  EXPECT_THROW(unpack(zstd_of("one") + "garbage", new_zstd_unpacker()), Corruption_Error);
}

TEST(Zstd, StopsAtABombAfterAGigabyte) {
  std::string bomb = zstd_of(std::string(100'000'000, '\0'));
  std::string bombs;
  for (int i = 0; i < 50; ++i) bombs += bomb;
  EXPECT_THAT(bombs.size(), Le(1'000'000));
  EXPECT_THAT([&] { unpack(bombs, new_zstd_unpacker()); },
              ThrowsMessage<Exception>(HasSubstr("--max-size")));
}

#endif

#ifdef JOEDB_HAS_BROTLI

// "A joedb file. " nine times, compressed by the program brotli.
constexpr std::string_view brotli_archive(
    "\xa1\xe8\x03\xc0\x2f\xa0\x1b\x4b\x75\x21\x3d\x74\x53\x15\x2f"
    "\x28\x82\x91\x60\x3c\x80\x0a\xf6\x5d\x49\xcf\x59\x00",
    28);

TEST(Brotli, GivesBackWhatWasWritten) {
  const auto file = unpack(std::string(brotli_archive), new_brotli_unpacker());
  EXPECT_EQ(file->get_size(), 126);
  EXPECT_EQ(read(*file, 20, 112), "A joedb file. ");
}

TEST(Brotli, IsAnErrorWhereverItIsCut) {
  for (std::size_t size = 0; size < brotli_archive.size(); ++size)
    EXPECT_THROW(unpack(std::string(brotli_archive.substr(0, size)), new_brotli_unpacker()),
                 Corruption_Error);
}

TEST(Brotli, RefusesWhatFollows) {
  EXPECT_THAT([] { unpack(std::string(brotli_archive) + "x", new_brotli_unpacker()); },
              ThrowsMessage<Corruption_Error>(HasSubstr("something follows")));
}

TEST(Brotli, IsAnErrorOrSomeBytesWhateverBitIsChanged) {
  for (std::size_t i = 0; i < 8 * brotli_archive.size(); ++i) {
    std::string changed(brotli_archive);
    changed[i / 8] = static_cast<char>(changed[i / 8] ^ (1 << i % 8));
    try {
      EXPECT_THAT(unpack(changed, new_brotli_unpacker())->get_size(), Le(100'000'000));
    } catch (const Exception&) {
    }
  }
}

#endif

}  // namespace
}  // namespace joedb::unpacked_file_test
