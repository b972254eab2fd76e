#ifndef JOEDB_SRC_SIM_LAB_SCENARIO_H
#define JOEDB_SRC_SIM_LAB_SCENARIO_H

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/table/writable_database.h"
#include "sim/lab/promises.h"
#include "sim/lab/random.h"
#include "sim/lab/sim_file.h"
#include "sim/lab/world.h"

// Workloads for the crash laboratory. Processes open databases on simulated disks, work, and end or
// are killed, one after the other.

namespace joedb::testing {

// A disk with a journal, and the promises made to its processes.
struct Scenario_Disk {
  explicit Scenario_Disk(std::string disk_name) : name(std::move(disk_name)) {}
  // A disk as it was found after a crash.
  Scenario_Disk(std::string disk_name, std::string image, In_Force before)
      : name(std::move(disk_name)), disk(std::move(image)), promises(std::move(before)) {}

  const std::string name;
  Sim_Disk disk;
  Promises promises;
};

// The operations of a scenario: random operations, or the joedbi commands in `script`.
struct Workload {
  std::uint64_t seed = 1;
  std::string script = {};
  bool has_lying_disk = false;  // its disks ignore syncs
};

// A fault of one of the disks of a scenario.
struct Scenario_Fault {
  std::size_t disk;
  Sim_Fault fault;
};

// The result of running a workload once, to its end. The same workload gives the same scenario.
class Scenario {
 public:
  // Throws Broken_Rule. With a fault, each failure is handled as in a program: the database is
  // closed and opened again.
  explicit Scenario(const Workload& workload, std::optional<Scenario_Fault> fault = std::nullopt);

  const std::deque<Scenario_Disk>& disks() const { return disks_; }
  // The kind of the processes: "database", "journal", "shared", "push", "pack" or "script".
  std::string_view kind() const { return kind_; }
  // Size of the pieces into which writes are torn.
  std::size_t sector_size() const { return sector_size_; }

 private:
  void run(const Workload& workload);
  Scenario_Disk& add_disk(std::string name);
  template <class Store>
  void run_processes(Scenario_Disk& disk);
  void run_shared();
  void run_push();
  void run_pack();
  void run_script(const std::string& script);

  Random random_;
  const std::optional<Scenario_Fault> fault_;
  bool has_lying_disk_;
  std::string_view kind_;
  std::size_t sector_size_;
  std::deque<Scenario_Disk> disks_;
};

// Result of a process that opens a disk to recover it.
struct Recovered {
  bool is_open = false;  // false if the process was refused
  std::string refusal;
  Offset found = journal_start;
};

// Runs a process that opens the disk, performs a few random operations, and ends. If `has_tables`,
// the process opens a database; otherwise, only the journal. Throws Broken_Rule.
Recovered recover(Scenario_Disk& disk, Recovery recovery, bool has_tables, Random& random);

// Returns the tables that a reader builds from an image, up to `position`, as text. Throws the
// exceptions of the decoder and the database.
std::string tables_of(std::string_view image, Offset position);

}  // namespace joedb::testing

#endif
