#ifndef LAB_WAL_LAB_H
#define LAB_WAL_LAB_H

#include <cstdint>
#include <optional>

#include "lab/crash_lab.h"
#include "lab/distinct_states.h"

// The crash laboratory for write-ahead logs: single files of either format, with all kinds of
// options, an asynchronous writer, copies on three disks, and segments; these also with several
// writers and readers at once.
//
// After a crash a reader finds the entries that were appended, in their order, without a gap, from
// the last rotation, or one that was asked for, to the last one that was acknowledged, or behind
// it; a writer opens what is left, goes on, and nothing that was lost comes back. Readers that
// follow miss no entry but those of which they are told that they were released, and nobody finds
// damage that is none.

namespace joedb::testing {

// Explores one workload. Adds to the counts and the states. The same seed gives the same, but for
// those with an asynchronous writer.
std::optional<Lab_Failure> explore_log(std::uint64_t seed, const Attacks& attacks,
                                       const Lab_Effort& effort, Lab_Counts& counts,
                                       State_Set& states);

}  // namespace joedb::testing

#endif
