#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "testing/file_uses.h"

namespace joedb {
namespace {

// What fuzzing begins with, and what it has found.
TEST(Corpus, OfJournalsBreaksNothing) {
  std::size_t count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(JOEDB_SOURCE_DIR "/tests/fuzz/corpus/journal")) {
    SCOPED_TRACE(entry.path().string());
    std::ifstream in(entry.path(), std::ios::binary);
    testing::use_file(std::string{std::istreambuf_iterator<char>(in), {}});
    ++count;
  }
  EXPECT_GT(count, 100);
}

}  // namespace
}  // namespace joedb
