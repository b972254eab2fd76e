#include "sim/lab/crash_lab.h"

#include <gtest/gtest.h>

#include "joedb/base/log.h"
#include "joedb/format/header.h"
#include "sim/lab/random.h"

// A short version of ./dev sim, which runs for hours. The seeds are the same each time, so that
// these tests are fast and never fail by chance. JOEDB_TEST_SEED=N sets another first seed.

namespace joedb::testing {
namespace {

#ifdef JOEDB_SANITIZED
constexpr std::uint64_t share = 10;
#else
constexpr std::uint64_t share = 1;
#endif

constexpr Attacks kill{.has_kill = true, .has_power = false, .has_error = false};
constexpr Attacks power{.has_kill = false, .has_power = true, .has_error = false};
constexpr Attacks error{.has_kill = false, .has_power = false, .has_error = true};

class Crash_Lab_Test : public ::testing::Test {
 protected:
  Crash_Lab_Test() { Destructor_Logger::remove_logger(); }

  // Runs `seeds` / `share` scenarios, and returns their report.
  static Lab_Report run(Attacks attacks, std::uint64_t seeds, Lab_Effort effort = {}) {
    Lab_Settings settings;
    settings.first_seed = first_seed();
    settings.seeds = seeds / share;
    settings.attacks = attacks;
    settings.effort = effort;
    return expect_none(settings);
  }

  static Lab_Report expect_none(const Lab_Settings& settings) {
    const Lab_Report report = run_crash_lab(settings);
    if (report.failure)
      ADD_FAILURE() << report.failure->text << "replay: joedb crash-lab " << report.failure->replay;
    return report;
  }

  static Lab_Report run_on_a_lying_disk(std::string cut = {}, std::string image = {},
                                        std::uint64_t seed = 1, std::uint64_t seeds = 20) {
    Lab_Settings settings;
    settings.first_seed = seed;
    settings.seeds = seeds;
    settings.has_lying_disk = true;
    settings.attacks = power;
    settings.effort.random_subsets = 100;
    settings.cut = std::move(cut);
    settings.image = std::move(image);
    return run_crash_lab(settings);
  }
};

TEST_F(Crash_Lab_Test, AKilledProcessLosesNothingThatWasCheckpointed) {
  const Lab_Report report = run(kill, 2000);
  EXPECT_GT(report.counts.states, 15'000 / share);
}

TEST_F(Crash_Lab_Test, APowerCutLosesNothingThatWasHard) {
  const Lab_Report report = run(power, 250, {.random_subsets = 300});
  EXPECT_GT(report.counts.states, 200'000 / share) << report.counts.states;
}

TEST_F(Crash_Lab_Test, AFailedCallCostsNothingThatWasPromised) {
  const Lab_Report report = run(error, 100);
  EXPECT_GT(report.counts.faults, 5'000 / share);
}

TEST_F(Crash_Lab_Test, LogsLoseNothingThatWasAcknowledged) {
  Lab_Settings settings;
  settings.first_seed = first_seed();
  settings.seeds = 20 / share;
  settings.laboratory = Laboratory::logs;
  settings.effort.random_subsets = 300;
  const Lab_Report report = expect_none(settings);
  EXPECT_GT(report.counts.states, 20'000 / share);
  EXPECT_GT(report.counts.faults, 1'000 / share);
}

TEST_F(Crash_Lab_Test, ServersAndClientsKeepWhatWasAcknowledgedOverABadNetwork) {
  Lab_Settings settings;
  settings.first_seed = first_seed();
  settings.seeds = 5000 / share;
  settings.laboratory = Laboratory::network;
  const Lab_Report report = expect_none(settings);
  EXPECT_GT(report.counts.acknowledged, 40'000 / share);
  EXPECT_GT(report.counts.cuts, 4'000 / share);
  EXPECT_GT(report.counts.power_cuts, 1'500 / share);
  EXPECT_GT(report.counts.conflicts, 0);
  EXPECT_GT(report.counts.lock_losses, 0);
}

TEST_F(Crash_Lab_Test, ClientsOfAReplicatedLogKeepWhatWasAcknowledged) {
  Lab_Settings settings;
  settings.first_seed = first_seed();
  settings.seeds = 3000 / share;
  settings.laboratory = Laboratory::replicated_log;
  const Lab_Report report = expect_none(settings);
  EXPECT_GT(report.counts.acknowledged, 30'000 / share);
  EXPECT_GT(report.counts.cuts, 10'000 / share);
  EXPECT_GT(report.counts.found_again, 100 / share);
  EXPECT_GT(report.counts.conflicts, 0);
}

TEST_F(Crash_Lab_Test, ADatabaseWithASnapshotIsTheOneWithout) {
  Lab_Settings settings;
  settings.first_seed = first_seed();
  settings.seeds = 2000 / share;
  settings.laboratory = Laboratory::snapshots;
  const Lab_Report report = expect_none(settings);
  EXPECT_GT(report.counts.written, 4'000 / share);
  EXPECT_GT(report.counts.used, 8'000 / share);
  EXPECT_GT(report.counts.refused, 0);
}

TEST_F(Crash_Lab_Test, TheCommandsOfAUserAreAWorkload) {
  Lab_Settings settings;
  settings.script =
      "create_table person\n"
      "add_field person name string\n"
      "insert_into person 0\n"
      "update person 0 name \"Rémi\"\n"
      "soft_checkpoint\n"
      "insert_into person 1\n"
      "hard_checkpoint\n"
      "delete_from person 0\n"
      "rollback\n"
      "insert_into person 5\n"
      "write_blob \"BLOB\"\n"
      "checkpoint\n";
  settings.effort.random_subsets = 100;
  const Lab_Report report = expect_none(settings);
  EXPECT_GT(report.counts.states, 100);
  settings.script = "create_table\n";
  EXPECT_THROW(run_crash_lab(settings), std::exception);
}

// ---- the laboratory detects errors --------------------------------------------------------------

TEST_F(Crash_Lab_Test, FindsOutADiskThatForgetsToSync) {
  const Lab_Report report = run_on_a_lying_disk();
  EXPECT_TRUE(report.failure);
}

TEST_F(Crash_Lab_Test, RepeatsAFailureThatItHasPrinted) {
  const Lab_Report report = run_on_a_lying_disk();
  ASSERT_TRUE(report.failure);
  const std::string& replay = report.failure->replay;
  const std::size_t cut = replay.find("--cut "), image = replay.find(" --image ");
  ASSERT_NE(image, std::string::npos) << replay;
  const Lab_Report again = run_on_a_lying_disk(replay.substr(cut + 6, image - cut - 6),
                                               replay.substr(image + 9), report.failure->seed, 1);
  ASSERT_TRUE(again.failure);
  EXPECT_EQ(again.failure->text, report.failure->text);
  EXPECT_EQ(again.failure->replay, report.failure->replay);
}

TEST_F(Crash_Lab_Test, FindsTheSameWithAnyNumberOfThreads) {
  Lab_Settings settings;
  settings.seeds = 6;
  settings.effort.random_subsets = 50;
  const Lab_Report one = run_crash_lab(settings);
  settings.jobs = 3;
  const Lab_Report three = run_crash_lab(settings);
  EXPECT_EQ(one.counts.states, three.counts.states);
  EXPECT_EQ(one.counts.images, three.counts.images);
  EXPECT_EQ(one.counts.faults, three.counts.faults);
  EXPECT_EQ(one.counts.recoveries, three.counts.recoveries);
}

TEST_F(Crash_Lab_Test, TheSameHappensOverANetworkWithTheSameSeed) {
  const Lab_Settings settings{.laboratory = Laboratory::network};
  for (std::uint64_t seed = first_seed(); seed < first_seed() + 30; ++seed) {
    const std::string trace = trace_of(settings, seed);
    EXPECT_GT(trace.size(), 100);
    EXPECT_EQ(trace_of(settings, seed), trace) << "seed " << seed;
  }
}

TEST_F(Crash_Lab_Test, RefusesACutThatIsNone) {
  Lab_Settings settings;
  settings.cut = "x";
  settings.image = "kill";
  EXPECT_THROW(run_crash_lab(settings), std::exception);
  settings.cut = "1";
  settings.image = "0x2b";
  EXPECT_THROW(run_crash_lab(settings), std::exception);
}

std::string file_of(const Checkpoint_Words& words, std::string_view entries) {
  const auto header = encode_header({.checkpoints = words});
  return std::string(header.data(), header.size()).append(entries);
}

TEST_F(Crash_Lab_Test, SaysWhatIsWrongWithAnImage) {
  const std::string entries =
      "\x0a\x01"
      "a\x0a\x01"
      "b";  // two comment entries
  const std::string promised = file_of({47, 47, 41, 41}, entries);
  const struct {
    const char* when;
    std::string image;
    std::string wrong;  // part of the expected error; empty: no error
  } cases[] = {
      {"as promised", promised, ""},
      {"a tail", promised + "\x0a", ""},
      {"an older soft checkpoint beside", file_of({47, 47, 41, -44}, entries), ""},
      {"the hard checkpoint is older", file_of({41, 41, 44, 44}, entries),
       "something hard is lost"},
      {"one copy", file_of({47, 41, 41, 41}, entries), "something hard is lost"},
      {"only soft", file_of({41, 41, 41, -47}, entries), "something hard is lost"},
      {"another byte",
       file_of({47, 47, 41, 41},
               "\x0a\x01"
               "a\x0a\x01"
               "c"),
       "bytes that are not"},
      {"zeros", file_of({47, 47, 41, 41}, std::string(6, '\0')), "Recovery::hard refuses"},
      {"too short",
       file_of({47, 47, 41, 41},
               "\x0a\x01"
               "a"),
       "something hard is lost"},
      {"a hard checkpoint nobody asked for",
       file_of({47, 47, 50, 50}, entries + "\x0a\x01"
                                           "c"),
       "where no hard checkpoint was asked for"},
      {"a soft checkpoint nobody asked for",
       file_of({47, 47, 41, -50}, entries + "\x0a\x01"
                                            "c"),
       "where no checkpoint was asked for"},
      {"no header", std::string(41, '\0') + entries, "Recovery::hard refuses"},
      {"nothing", "", "Recovery::hard refuses"},
  };
  for (const auto& [when, image, wrong] : cases) {
    const std::string found = judge_image(image, promised);
    EXPECT_EQ(found.empty(), wrong.empty()) << when << ": " << found;
    EXPECT_NE(found.find(wrong), std::string::npos) << when << ": " << found;
  }
}

}  // namespace
}  // namespace joedb::testing
