#include "share/server/refusal_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "support/simulated_system.h"

namespace joedb::server {
namespace {

TEST(Refusal_Log, NamesAddressAndClient) {
  testing::Simulated_System system;
  String_Logger log;
  Refusal_Log refusals(log, system);
  refusals.add("192.0.2.1", "ann", "wrong token");
  refusals.add("192.0.2.2", "", "no hello");
  EXPECT_EQ(log.get_text(),
            "a connection over TCP was refused address=\"192.0.2.1\" client=\"ann\" "
            "error=\"wrong token\"\n"
            "a connection over TCP was refused address=\"192.0.2.2\" error=\"no hello\"\n");
}

TEST(Refusal_Log, LogsALineASecondWhenThereAreManyAndCountsTheOthers) {
  testing::Simulated_System system;
  String_Logger log;
  Refusal_Log refusals(log, system);
  const auto lines = [&] { return std::count(log.get_text().begin(), log.get_text().end(), '\n'); };
  for (int i = 0; i < 1000; ++i) refusals.add("192.0.2.1", "", "x");
  EXPECT_EQ(lines(), 10);
  system.sleep(std::chrono::milliseconds(1500));
  for (int i = 0; i < 1000; ++i) refusals.add("192.0.2.1", "", "x");
  EXPECT_EQ(lines(), 11);
  EXPECT_TRUE(log.get_text().ends_with("error=\"x\" not_logged_before=990\n")) << log.get_text();
  system.sleep(std::chrono::milliseconds(500));
  refusals.add("192.0.2.1", "", "x");
  EXPECT_TRUE(log.get_text().ends_with("not_logged_before=999\n")) << log.get_text();
  system.sleep(std::chrono::hours(1));
  for (int i = 0; i < 1000; ++i) refusals.add("192.0.2.1", "", "x");
  EXPECT_EQ(lines(), 22) << "a quiet hour lets ten through at once, not thousands";
}

}  // namespace
}  // namespace joedb::server
