#include "joedb/base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "joedb/base/error.h"
#include "support/temporary_directory.h"

namespace joedb::loggers_test {
namespace {

using ::testing::MatchesRegex;

TEST(Loggers, WriteTimeTagAndText) {
  std::ostringstream out;
  Stream_Logger(out, "tag").log("text");
  Stream_Logger(out).log("more");
  EXPECT_THAT(out.str(), MatchesRegex("....-..-.. ..:..:..Z tag: text\n"
                                      "....-..-.. ..:..:..Z more\n"));
}

TEST(Loggers, WriteToAFileToAStringAndToEachOther) {
  const testing::Temporary_Directory directory;
  {
    File_Logger file(directory.file("log"), "a");
    String_Logger string;
    Multi_Logger both;
    both.add_logger(file);
    both.add_logger(string);
    both.log("one");
    both.log("two");
    EXPECT_EQ(string.get_text(), "one\ntwo\n");
  }
  File_Logger(directory.file("log")).log("three");
  std::ostringstream text;
  text << std::ifstream(directory.file("log")).rdbuf();
  EXPECT_THAT(text.str(), MatchesRegex(".*Z a: one\n.*Z a: two\n.*Z three\n"));
  EXPECT_THROW(File_Logger(directory.file("no/log")), Io_Error);
}

TEST(Loggers, WriteNoControlCharacters) {
  std::ostringstream out;
  Stream_Logger(out).log("a\x1b[2J\nb\xc2\x9b\xff");
  EXPECT_TRUE(out.str().ends_with("Z a\\033[2J\\012b\\302\\233\\377\n")) << out.str();
  String_Logger log;
  const Log_Field fields[]{{"client", "a\xc2\x9b"}};
  log.event("connected", fields);
  EXPECT_EQ(log.get_text(), "connected client=\"a\\302\\233\"\n");
}

TEST(Loggers, AnEventIsALineAndWhatOthersWroteStaysInIt) {
  String_Logger log;
  const Log_Field fields[]{{"session", 3}, {"client", "a\"b\nc"}};
  log.event("connected", fields);
  EXPECT_EQ(log.get_text(), "connected session=3 client=\"a\\\"b\\u000ac\"\n");
}

}  // namespace
}  // namespace joedb::loggers_test
