#ifndef JOEDB_SRC_SIM_LAB_CRASH_LAB_H
#define JOEDB_SRC_SIM_LAB_CRASH_LAB_H

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

// The crash laboratory explores seeds. Each seed determines a workload and its faults. Afterwards,
// the remaining files and the answers are checked against the promises. Each kind of workload is a
// world (world.h).

namespace joedb::testing {

enum class Laboratory { databases, logs, network, replicated_log, snapshots };

// The kinds of attacks on a workload.
struct Attacks {
  bool has_kill = true;   // the process is killed
  bool has_power = true;  // the power fails: all unsynced data may be lost
  bool has_error = true;  // an I/O call fails
};

// Determines how many images are tried at each power cut.
struct Lab_Effort {
  // All subsets are tried for up to this number of unsynced units.
  std::size_t all_subsets_up_to = 12;
  std::size_t random_subsets = 2000;  // number of random subsets of a larger set
  // Nested crashes, each during the recovery from the previous one.
  int depth = 3;
};

// Counts of events. counters_of() returns the counts that a laboratory uses.
struct Lab_Counts {
  std::uint64_t seeds = 0;
  std::uint64_t cuts = 0;        // points of a crash, or cut connections
  std::uint64_t faults = 0;      // calls that failed
  std::uint64_t images = 0;      // files left by crashes
  std::uint64_t states = 0;      // distinct pairs of a file and the promises in force
  std::uint64_t recoveries = 0;  // openings for writing after a crash
  std::uint64_t unprovable = 0;  // soft checkpoints that the default mode accepted with wrong bytes

  std::uint64_t kills = 0;  // killed servers or processes
  std::uint64_t power_cuts = 0;
  std::uint64_t relays = 0;  // schedules with a relay
  std::uint64_t shared = 0;  // schedules where another process writes to the file of the server
  std::uint64_t connections = 0;
  std::uint64_t disk_faults = 0;  // of the server
  std::uint64_t client_kills = 0;
  std::uint64_t pushes = 0;
  std::uint64_t acknowledged = 0;  // transactions
  std::uint64_t conflicts = 0;
  std::uint64_t mismatches = 0;   // copies that have diverged
  std::uint64_t lock_losses = 0;  // locks lost by silent clients
  std::uint64_t found_again = 0;  // pushes that arrived although the reply was lost

  std::uint64_t written = 0;  // snapshots
  std::uint64_t kept = 0;     // snapshots kept beside newer ones
  std::uint64_t refused = 0;  // snapshots not written, because another process was writing one
  std::uint64_t failed = 0;
  std::uint64_t changed = 0;    // snapshots or journals changed from outside
  std::uint64_t twins = 0;      // journals of the same length that have the same samples
  std::uint64_t compared = 0;   // pairs of openings, with and without the files beside the journal
  std::uint64_t used = 0;       // openings that used a snapshot
  std::uint64_t unfit = 0;      // openings that rejected a snapshot
  std::uint64_t continued = 0;  // pairs of databases with the same later changes
};

// A count with its name in reports, such as "clients killed".
struct Lab_Counter {
  const char* name;
  std::uint64_t Lab_Counts::*count;
};
// Returns the counts of a laboratory, in the order of its report.
std::span<const Lab_Counter> counters_of(Laboratory laboratory);

// A failure: `text` describes it in several lines; `replay` is the arguments of joedb crash-lab
// that reproduce it.
struct Lab_Failure {
  std::uint64_t seed;
  std::string text;
  std::string replay;
  std::string operations = {};  // the operations that reached the disks, or the events, in order
};

struct Lab_Settings {
  Laboratory laboratory = Laboratory::databases;
  std::uint64_t first_seed = 1;
  std::uint64_t seeds = 1;
  double seconds = 0;  // time after which no new seed is started; 0 means no limit
  unsigned jobs = 1;
  Attacks attacks = {};
  Lab_Effort effort = {};
  bool has_lying_disk = false;  // self-test: the disk ignores syncs
  std::string script = {};      // joedbi commands, instead of random scenarios
  // If not empty, only this crash is simulated. A failure reports these values as --cut and
  // --image.
  std::string cut = {};
  std::string image = {};
  // Called from time to time, by any thread, one call at a time. Returns false to stop.
  std::function<bool(const Lab_Counts&)> on_progress = {};
};

struct Lab_Report {
  Lab_Counts counts;
  double seconds = 0;
  std::optional<Lab_Failure> failure;  // failure of the lowest seed that failed
};

// Runs the laboratory. The same settings produce the same report, except for the time, and for the
// number of seeds if the time is limited. Destructor warnings of databases must be disabled
// (Destructor_Logger::remove_logger). Throws Exception if --cut and --image cannot be parsed, or a
// script cannot run.
Lab_Report run_crash_lab(const Lab_Settings& settings);

// Returns the events of this seed, in order, one per line.
std::string trace_of(const Lab_Settings& settings, std::uint64_t seed);

// Checks one image; for a self-test. `promised` is the file up to an acknowledged hard checkpoint.
// Returns a description of the error; "" if there is none.
std::string judge_image(std::string_view image, std::string_view promised);

}  // namespace joedb::testing

#endif
