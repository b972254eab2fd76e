#ifndef JOEDB_SRC_SIM_LAB_SNAPSHOT_LAB_H
#define JOEDB_SRC_SIM_LAB_SNAPSHOT_LAB_H

#include <cstdint>
#include <optional>

#include "sim/lab/crash_lab.h"

// The laboratory of snapshots (table/load.h). Processes, one after the other and nested in each
// other, change a database on a simulated disk, write snapshots of it, and are killed; the power is
// cut; the disk fails; and snapshots and journals are changed from outside.
//
// After each step, a database that is opened with the files beside the journal equals one that is
// opened without them, in every recovery mode, at any position, with or without indexes. The two
// remain equal when both are changed, and so do their journals. A snapshot that fits is used. The
// content of a snapshot is durable in the journal. Bits of a snapshot flip, and remain so: half of
// the schedules verify snapshots at opening, and must not use a damaged one; in the others, as with
// large snapshots, new snapshots are made from the damaged one, and each that passes verification
// must be correct. Journals are longer than their samples, and are replaced by others with the same
// samples.

namespace joedb::testing {

// Runs one schedule, and adds to the counts. Returns nullopt if no rule was violated.
std::optional<Lab_Failure> explore_snapshots(std::uint64_t seed, Lab_Counts& counts);

}  // namespace joedb::testing

#endif
