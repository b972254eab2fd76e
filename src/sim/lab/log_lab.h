#ifndef JOEDB_SRC_SIM_LAB_LOG_LAB_H
#define JOEDB_SRC_SIM_LAB_LOG_LAB_H

#include <cstdint>
#include <optional>
#include <string>

#include "sim/lab/crash_lab.h"

// The laboratory of replicated logs: up to four clients, each with a Log_Connection to one
// simulated log, in one thread, with a simulated clock. The seed determines everything that
// happens.
//
// Faults: answers are lost, before or after the request was executed; messages arrive late, after
// they were sent again; the log does not answer for a while, or gives an outdated answer; messages
// are damaged on one machine; clients are killed, and pause with the lock for longer than its
// lease. The log itself keeps its promise: appended messages stay. The beginning of the log may be
// archived and removed.

namespace joedb::testing {

// Runs one schedule. Adds to the counts.
std::optional<Lab_Failure> explore_replicated_log(std::uint64_t seed, Lab_Counts& counts);

// Returns the events of this seed, in order, one per line.
std::string replicated_log_trace(std::uint64_t seed);

}  // namespace joedb::testing

#endif
