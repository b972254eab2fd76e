#include "kernel/base/backoff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/simulated_system.h"

namespace joedb::backoff_test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Ge;
using ::testing::Le;

TEST(Backoff, DoublesThePausesUpToTheLongest) {
  testing::Simulated_System system;
  Backoff backoff(system, {1ms, 5ms});
  for (const auto pause : {1ms, 2ms, 4ms, 5ms, 5ms}) {
    const auto before = system.passed();
    EXPECT_TRUE(backoff.wait());
    EXPECT_EQ(system.passed() - before, pause);
  }
}

TEST(Backoff, CutsTheLastPauseAtTheTimeout) {
  testing::Simulated_System system;
  Backoff backoff(system, {4ms}, 10ms);
  int tries = 1;
  while (backoff.wait()) ++tries;
  EXPECT_EQ(tries, 4);
  EXPECT_EQ(system.passed(), 10ms);
  EXPECT_FALSE(Backoff(system, {4ms}, 0ms).wait());
  EXPECT_TRUE(Backoff(system, {4ms}, System::Duration::max()).wait());
}

TEST(Backoff, ShortensPausesByUpToHalfAtRandom) {
  testing::Simulated_System system;
  Backoff backoff(system, reconnection_pauses);
  for (System::Duration pause = 100ms; pause < 10s; pause *= 2)
    EXPECT_THAT(backoff.next(), AllOf(Ge(pause / 2), Le(pause)));
  EXPECT_THAT(backoff.next(), AllOf(Ge(System::Duration(5s)), Le(System::Duration(10s))));
}

TEST(Backoff, RoundsUpInTheTextOfAPause) {
  EXPECT_EQ(trying_again(72001us), "trying again in 73 ms");
}

}  // namespace
}  // namespace joedb::backoff_test
