#ifndef LAB_LOG_LAB_H
#define LAB_LOG_LAB_H

#include <cstdint>
#include <optional>
#include <string>

#include "lab/crash_lab.h"

// The laboratory of replicated logs: up to four clients with a Log_Connection each to one simulated
// log, in one thread, with a simulated clock. Everything that happens follows from the seed.
//
// Answers are lost, before or after what was asked for was done; messages arrive late, after they
// were sent again; the log answers nothing for a while, or what was true a moment ago; messages are
// damaged on one machine; clients are killed, and pause with the lock for longer than its lease.
// The machines keep their promise: what was appended stays. A removed and archived beginning is
// part of it.

namespace joedb::testing {

// Runs one schedule. Adds to the counts.
std::optional<Lab_Failure> explore_replicated_log(std::uint64_t seed, Lab_Counts& counts);

// What happens with this seed, in order, one event on a line.
std::string replicated_log_trace(std::uint64_t seed);

}  // namespace joedb::testing

#endif
