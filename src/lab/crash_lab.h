#ifndef LAB_CRASH_LAB_H
#define LAB_CRASH_LAB_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The crash laboratory: runs a workload on a simulated disk, with a crash after every I/O operation
// and with every operation failing, and checks what is left against what was promised.
//
// After a crash: every hard checkpoint that was acknowledged is there; what is found is exactly one
// of the states that a checkpoint was asked for; the database can be opened and goes on working;
// and a crash while it is recovered changes none of this, nor does one after that.

namespace joedb::testing {

// What is done to a workload.
struct Attacks {
  bool has_kill = true;   // the process dies
  bool has_power = true;  // so does the system, with all that is not synced
  bool has_error = true;  // a call fails
};

// How much is tried at each power cut.
struct Lab_Effort {
  std::size_t all_subsets_up_to = 12;  // units that are not synced
  std::size_t random_subsets = 2000;   // of more than these
  int depth = 3;                       // crashes, each in the recovery from the one before
};

// What there was to see in the network laboratory.
struct Network_Counts {
  std::uint64_t relays = 0;  // schedules with one
  std::uint64_t shared = 0;  // schedules where another process writes to the file of the server
  std::uint64_t direct_writes = 0;  // of it
  std::uint64_t connections = 0;
  std::uint64_t cuts = 0;          // of connections
  std::uint64_t kills = 0;         // of the server
  std::uint64_t power_cuts = 0;    // of the server
  std::uint64_t disk_faults = 0;   // of the server
  std::uint64_t client_kills = 0;  // of clients
  std::uint64_t pushes = 0;
  std::uint64_t acknowledged = 0;  // transactions
  std::uint64_t conflicts = 0;
  std::uint64_t mismatches = 0;   // copies that had diverged
  std::uint64_t lock_losses = 0;  // of silent clients
  std::uint64_t found_again = 0;  // pushes that had arrived, although the reply was lost
  Network_Counts& operator+=(const Network_Counts& other);
};

// What there was to see in the laboratory of snapshots.
struct Snapshot_Counts {
  std::uint64_t written = 0;
  std::uint64_t kept = 0;     // that stay beside newer ones
  std::uint64_t refused = 0;  // another process was writing one
  std::uint64_t failed = 0;
  std::uint64_t changed = 0;  // from outside
  std::uint64_t twins = 0;    // journals of the same length that have the same samples
  std::uint64_t kills = 0;
  std::uint64_t power_cuts = 0;
  std::uint64_t compared = 0;   // openings with what is beside, and without
  std::uint64_t used = 0;       // of them, where a snapshot was used
  std::uint64_t unfit = 0;      // where one was not used, for some reason
  std::uint64_t continued = 0;  // pairs of databases that were changed alike
  Snapshot_Counts& operator+=(const Snapshot_Counts& other);
};

// What there was to see.
struct Lab_Counts {
  std::uint64_t seeds = 0;
  std::uint64_t cuts = 0;        // moments of a crash
  std::uint64_t faults = 0;      // calls that failed
  std::uint64_t images = 0;      // files that crashes left
  std::uint64_t states = 0;      // distinct ones: of file and promises in force
  std::uint64_t recoveries = 0;  // openings for writing, after a crash
  std::uint64_t unprovable =
      0;  // soft checkpoints that the default mode believed, with wrong bytes
  Network_Counts network;
  Snapshot_Counts snapshots;
  Lab_Counts& operator+=(const Lab_Counts& other);
};

// What was wrong, in several lines, and how to see it again: the arguments of joedb crash-lab.
struct Lab_Failure {
  std::uint64_t seed;
  std::string text;
  std::string replay;
  std::string operations = {};  // when it is shown again: what reached the disks, in order
};

struct Lab_Settings {
  std::uint64_t first_seed = 1;
  std::uint64_t seeds = 1;
  double seconds = 0;  // no further seed after that time; 0: all seeds
  unsigned jobs = 1;
  Attacks attacks = {};
  Lab_Effort effort = {};
  bool has_lying_disk = false;      // which forgets to sync: a self-test
  bool has_logs = false;            // write-ahead logs instead of databases
  bool has_network = false;         // a server and its clients
  bool has_replicated_log = false;  // a replicated log and its clients
  bool has_snapshots = false;       // databases with snapshots beside them
  std::string script = {};          // commands of joedbi, instead of random lives
  // Only what --cut and --image of a failure say; empty: everything.
  std::string cut = {};
  std::string image = {};
  // Called now and then, from any thread, one at a time. False: stop.
  std::function<bool(const Lab_Counts&)> on_progress = {};
};

struct Lab_Report {
  Lab_Counts counts;
  double seconds = 0;
  std::optional<Lab_Failure> failure;  // of the lowest seed that failed
};

// The same settings give the same report, but for the time, and where that is limited. Destructors
// of databases must report to nobody (Destructor_Logger::remove_logger).
// Throws Exception if --cut and --image cannot be understood, or a script cannot run.
Lab_Report run_crash_lab(const Lab_Settings& settings);

// Checks one image, as a self-test: `promised` is the file up to an acknowledged hard checkpoint.
// Returns what is wrong, or nothing.
std::string judge_image(std::string_view image, std::string_view promised);

}  // namespace joedb::testing

#endif
