#include "joedb/journal/writable_journal.h"

#include <gtest/gtest.h>

#include "sim/lab/sim_file.h"

namespace joedb {
namespace {

using testing::Sim_Disk;
using testing::Sim_Fault;
using testing::Sim_File;

class Append_Buffer_Test : public ::testing::Test {
 protected:
  void append(std::string_view bytes) { buffer_.append(bytes.data(), bytes.size()); }
  const std::string& content() const { return disk_.content(); }

  Sim_Disk disk_;
  Sim_File file_{disk_};
  Fail_Stop_File out_{file_};
  Append_Buffer buffer_{file_, out_};
};

TEST_F(Append_Buffer_Test, WritesWhenItIsFlushed) {
  append("ab");
  append("c");
  EXPECT_EQ(content(), "");
  EXPECT_EQ(buffer_.unwritten(), "abc");
  EXPECT_EQ(buffer_.flush(), "abc");
  EXPECT_EQ(content(), "abc");
  EXPECT_EQ(buffer_.flushed(), 3);
  EXPECT_TRUE(buffer_.is_empty());
}

TEST_F(Append_Buffer_Test, WritesWhenItIsFullWhatHasBeenUsed) {
  std::string expected;
  for (int i = 0; i < 3000; ++i) {
    const std::string piece(static_cast<std::size_t>(i % 700), static_cast<char>('a' + i % 26));
    char* const out = buffer_.reserve(1000);
    buffer_.use_to(std::copy(piece.begin(), piece.end(), out));
    expected += piece;
  }
  EXPECT_EQ(buffer_.position(), static_cast<Offset>(expected.size()));
  EXPECT_EQ(content() + std::string(buffer_.unwritten()), expected);
  EXPECT_LT(disk_.io_count(), 30u);
}

TEST_F(Append_Buffer_Test, LargeBytesAreWrittenAtOnceBehindTheOthers) {
  append("ab");
  append(std::string(1 << 20, 'x'));
  EXPECT_EQ(content(), "ab" + std::string(1 << 20, 'x'));
}

TEST_F(Append_Buffer_Test, WhatIsDroppedIsGoneFromMemoryAndFile) {
  append("abc");
  buffer_.drop_from(1);
  EXPECT_EQ(buffer_.unwritten(), "a");
  append("bcd");
  buffer_.flush();
  append("e");
  buffer_.drop_from(2);
  EXPECT_EQ(content(), "ab");
  EXPECT_EQ(buffer_.position(), 2);
}

TEST_F(Append_Buffer_Test, AfterAFailedWriteTheBytesAreStillInMemory) {
  append("abc");
  disk_.set_fault({.calls = Sim_Fault::Calls::writes, .number = 0, .code = ENOSPC});
  EXPECT_THROW(buffer_.flush(), Io_Error);
  EXPECT_EQ(buffer_.unwritten(), "abc");
  disk_.remove_fault();
  EXPECT_THROW(buffer_.flush(), Exception);
  EXPECT_EQ(content(), "");
}

TEST_F(Append_Buffer_Test, KnowsTheLastBytesWhereverTheyAre) {
  const std::string text = "0123456789abcdefghijklmnopqrstuvwxyz";
  const auto last = [&](std::size_t size) {
    return text.substr(size - integrity_entry_size, integrity_entry_size);
  };
  append(text.substr(0, 30));
  buffer_.flush();
  EXPECT_EQ(buffer_.last_bytes(), last(30));
  append(text.substr(30));
  EXPECT_EQ(buffer_.last_bytes(), last(36));
  buffer_.flush();
  buffer_.restart_at(33);
  EXPECT_EQ(buffer_.last_bytes(), last(33));
}

TEST_F(Append_Buffer_Test, PreallocatesZerosAheadOfTheBytes) {
  buffer_.preallocate(100);
  append("abc");
  buffer_.flush();
  EXPECT_EQ(content(), "abc" + std::string(97, '\0'));
  EXPECT_TRUE(buffer_.has_zeros_ahead());
  buffer_.truncate(buffer_.flushed());
  EXPECT_EQ(content(), "abc");
  EXPECT_FALSE(buffer_.has_zeros_ahead());
}

TEST_F(Append_Buffer_Test, WithoutRoomForZerosItGoesOn) {
  buffer_.preallocate(100);
  append("abc");
  disk_.set_fault({.calls = Sim_Fault::Calls::writes, .number = 1, .code = ENOSPC});
  buffer_.flush();
  EXPECT_EQ(content(), "abc");
  append(std::string(200, 'x'));
  buffer_.flush();
  EXPECT_EQ(content().size(), 203u);
}

}  // namespace
}  // namespace joedb
