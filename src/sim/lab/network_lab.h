#ifndef JOEDB_SRC_SIM_LAB_NETWORK_LAB_H
#define JOEDB_SRC_SIM_LAB_NETWORK_LAB_H

#include <cstdint>
#include <optional>
#include <string>

#include "sim/lab/crash_lab.h"

// The network laboratory: a server (share/server/server_core.h) on a simulated disk and its
// clients, with a simulated network and a simulated clock, in one thread. The seed determines
// everything that happens.
//
// In a third of the schedules, the server is the hub of a relay, to which other clients connect; in
// some, another process writes to the file of the server.
//
// Faults: connections are cut after any byte, bytes arrive late, the server is killed or loses
// power, its disk fails, clients are killed or pause with the lock. Each transaction has a unique
// number, so the journal of the server shows its fate.

namespace joedb::testing {

// Runs one schedule. Adds to the counts.
std::optional<Lab_Failure> explore_network(std::uint64_t seed, Lab_Counts& counts);

// Returns the events of this seed, in order, one per line.
std::string network_trace(std::uint64_t seed);

}  // namespace joedb::testing

#endif
