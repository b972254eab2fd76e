#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "fuzz/fuzzers.h"
#include "support/file_uses.h"

namespace joedb {
namespace {

// Runs a fuzz target on its corpus: seeds, and inputs found by fuzzing.
void replay(const std::string& target, void (*run)(std::string_view), std::size_t least) {
  std::size_t count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(JOEDB_SOURCE_DIR "/tests/fuzz/corpus/" + target)) {
    SCOPED_TRACE(entry.path().string());
    std::ifstream in(entry.path(), std::ios::binary);
    run(std::string{std::istreambuf_iterator<char>(in), {}});
    ++count;
  }
  EXPECT_GE(count, least);
}

TEST(Corpus, OfJournalsBreaksNothing) { replay("journal", testing::use_file, 100); }
TEST(Corpus, OfHeadersBreaksNothing) { replay("header", testing::fuzz_header, 20); }
TEST(Corpus, OfCommandsBreaksNothing) { replay("interpreter", testing::fuzz_interpreter, 20); }
TEST(Corpus, OfSchemasBreaksNothing) { replay("compiler", testing::fuzz_compiler, 5); }
TEST(Corpus, OfLogsBreaksNothing) { replay("wal", testing::fuzz_wal, 15); }
TEST(Corpus, OfSnapshotsBreaksNothing) { replay("snapshot", testing::fuzz_snapshot, 4); }
TEST(Corpus, OfRequestsBreaksNothing) { replay("server", testing::fuzz_server, 50); }
TEST(Corpus, OfImportsBreaksNothing) { replay("import", testing::fuzz_import, 10); }
TEST(Corpus, OfRepliesBreaksNothing) { replay("client", testing::fuzz_client, 50); }
#ifdef SQLITE_CORE
TEST(Corpus, OfStatementsBreaksNothing) { replay("sql", testing::fuzz_sql, 20); }
#endif

}  // namespace
}  // namespace joedb
