#ifndef LAB_SNAPSHOT_LAB_H
#define LAB_SNAPSHOT_LAB_H

#include <cstdint>
#include <optional>

#include "lab/crash_lab.h"

// The laboratory of snapshots (table/snapshot.h): processes, one after the other and inside each
// other, change a database on a simulated disk, write snapshots of it, and are killed; power is
// cut; the disk fails; and somebody changes the snapshots, or the journal, from outside.
//
// After each: a database that is opened with what is beside the journal is the one that is opened
// with nothing beside it, in every recovery mode, at any position, with or without indexes. It goes
// on to be the same when both are changed, and so do their journals. A snapshot that fits is used.
// What a snapshot has is durable in the journal. Bits of a snapshot flip, and stay so: half of the
// schedules verify it at opening, and must not use it; in the others, as with large ones, snapshots
// are made of the damaged one, and those that verify must be the truth. Journals are longer than
// their samples, and replaced by others that have the same ones.

namespace joedb::testing {

// Runs one schedule. Adds to the counts.
std::optional<Lab_Failure> explore_snapshots(std::uint64_t seed, Lab_Counts& counts);

}  // namespace joedb::testing

#endif
