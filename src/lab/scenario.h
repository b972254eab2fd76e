#ifndef LAB_SCENARIO_H
#define LAB_SCENARIO_H

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joedb/table/writable_database.h"
#include "lab/promises.h"
#include "lab/random.h"
#include "lab/sim_file.h"

// Workloads for the crash laboratory: processes that open databases on simulated disks, work, and
// end or are killed, one after the other.

namespace joedb::testing {

// A disk with a journal, and what its processes have asked of it.
struct Scenario_Disk {
  explicit Scenario_Disk(std::string disk_name) : name(std::move(disk_name)) {}
  // What was found after a crash.
  Scenario_Disk(std::string disk_name, std::string image, In_Force before)
      : name(std::move(disk_name)), disk(std::move(image)), promises(std::move(before)) {}

  const std::string name;
  Sim_Disk disk;
  Promises promises;
};

// A rule was broken while a workload ran.
class Broken_Rule : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What a scenario does: random things, or the commands of joedbi in `script`.
struct Workload {
  std::uint64_t seed = 1;
  std::string script = {};
  bool has_lying_disk = false;  // its syncs do nothing
};

// A fault of one of the disks of a scenario.
struct Scenario_Fault {
  std::size_t disk;
  Sim_Fault fault;
};

// A workload that has run, once, to its end. The same workload gives the same scenario.
class Scenario {
 public:
  // Throws Broken_Rule. With a fault, every failure is answered as a program would: the database is
  // closed, and opened again.
  explicit Scenario(const Workload& workload, std::optional<Scenario_Fault> fault = std::nullopt);

  const std::deque<Scenario_Disk>& disks() const { return disks_; }
  // What its processes do: "database", "journal", "shared", "push", "pack", "script".
  std::string_view kind() const { return kind_; }
  // The size of the pieces that writes are torn into.
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

// What a process did that has opened a disk to recover it.
struct Recovered {
  bool is_open = false;  // it was not refused
  std::string refusal;
  Offset found = journal_start;
};

// A process opens the disk, does a few random things, and ends. `has_tables`: with a database, not
// only the journal. Throws Broken_Rule.
Recovered recover(Scenario_Disk& disk, Recovery recovery, bool has_tables, Random& random);

// The tables that a reader builds from an image, up to `position`, as text. Throws what it throws.
std::string tables_of(std::string_view image, Offset position);

}  // namespace joedb::testing

#endif
