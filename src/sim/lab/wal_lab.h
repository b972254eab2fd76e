#ifndef JOEDB_SRC_SIM_LAB_WAL_LAB_H
#define JOEDB_SRC_SIM_LAB_WAL_LAB_H

#include <cstdint>
#include <optional>

#include "sim/lab/crash_lab.h"
#include "sim/lab/distinct_states.h"

// The crash laboratory for write-ahead logs: single files of both formats, with all kinds of
// options; an asynchronous writer; copies on three disks; and segments, also with several writers
// and readers at once.
//
// After a crash, a reader finds the entries that were appended, in order and without a gap. They
// begin at the last rotation, or at one that was requested, and end at or after the last
// acknowledged entry. A writer opens the log and continues, and lost entries do not reappear.
// Readers that follow a log miss only entries that are reported to them as released. No one reports
// damage where there is none.

namespace joedb::testing {

// Explores one workload. Adds to the counts and the states. Returns nullopt if no rule was
// violated. The same seed gives the same result, except with an asynchronous writer.
std::optional<Lab_Failure> explore_log(std::uint64_t seed, const Attacks& attacks,
                                       const Lab_Effort& effort, Lab_Counts& counts,
                                       State_Set& states);

}  // namespace joedb::testing

#endif
