#include "kernel/base/shell_word.h"

#include <gtest/gtest.h>

namespace joedb::shell_word_test {
namespace {

TEST(Shell_Word, EscapesWhatAShellWouldNotTakeAsItIs) {
  EXPECT_EQ(shell_word("data/people-2.joedb"), "data/people-2.joedb");
  EXPECT_EQ(shell_word("x y/my 'db'.joedb"), "x\\ y/my\\ \\'db\\'.joedb");
  EXPECT_EQ(shell_word("-dash.joedb"), "-- -dash.joedb");
  EXPECT_EQ(shell_word("$(rm)~&"), "\\$\\(rm\\)\\~\\&");
  EXPECT_EQ(shell_word("a\n\x1b[31m"), "a$'\\x0a'$'\\x1b'\\[31m");
  EXPECT_EQ(shell_word("Büro"), "Büro");
}

}  // namespace
}  // namespace joedb::shell_word_test
