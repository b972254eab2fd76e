#ifndef LAB_NETWORK_LAB_H
#define LAB_NETWORK_LAB_H

#include <cstdint>
#include <optional>
#include <string>

#include "lab/crash_lab.h"

// The network laboratory: a server (server/server_core.h) on a simulated disk and its clients, with
// a simulated network and a simulated clock between them, in one thread. Everything that happens
// follows from the seed.
//
// In a third of the schedules that server is the hub of a relay, which other clients talk to; in
// some another process writes to its file.
//
// Connections are cut after any byte, bytes are late, the server is killed or loses its power, its
// disk fails, clients are killed or pause with the lock. Each transaction has a number of its own,
// so that the journal of the server shows what has become of it.

namespace joedb::testing {

// Runs one schedule. Adds to the counts.
std::optional<Lab_Failure> explore_network(std::uint64_t seed, Lab_Counts& counts);

// What happens with this seed, in order, one event on a line.
std::string network_trace(std::uint64_t seed);

}  // namespace joedb::testing

#endif
