#include "kernel/io/run_program.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>

#include "joedb/base/error.h"

namespace joedb::run_program_test {
namespace {

Program_End run_shell(const std::string& script, const std::vector<std::string>& arguments = {}) {
  std::vector<std::string> words{"sh", "-c", script, "sh"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_program(words);
}

int error_of_start(const std::string& name) {
  try {
    run_program({name});
  } catch (const Io_Error& error) {
    EXPECT_EQ(error.path, name);
    return error.code;
  }
  return 0;
}

TEST(Run_Program, SaysHowItHasEnded) {
  EXPECT_EQ(run_shell("exit 0").code, 0);
  EXPECT_EQ(run_shell("exit 77").code, 77);
  EXPECT_EQ(run_shell("kill -9 $$").signal, SIGKILL);
}

TEST(Run_Program, GivesItTheArgumentsAsTheyAre) {
  const std::string hostile = "-x '\"$(exit 1)`\n";
  EXPECT_EQ(
      run_shell("test \"$#\" = 3 && test -z \"$2\" && test \"$1\" = \"$3\"", {hostile, "", hostile})
          .code,
      0);
}

TEST(Run_Program, ThrowsIfItCannotBeStarted) {
  EXPECT_EQ(error_of_start("no-such-program"), ENOENT);
  EXPECT_EQ(error_of_start("/"), EACCES);
}

TEST(Run_Program, LeavesSignalsAsTheyWere) {
  struct sigaction before {};
  ::sigaction(SIGINT, nullptr, &before);
  run_shell("exit 0");
  struct sigaction after {};
  ::sigaction(SIGINT, nullptr, &after);
  EXPECT_EQ(after.sa_handler, before.sa_handler);
  sigset_t mask;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  EXPECT_EQ(::sigismember(&mask, SIGINT), 0);
}

}  // namespace
}  // namespace joedb::run_program_test
