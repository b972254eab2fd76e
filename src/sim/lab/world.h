#ifndef JOEDB_SRC_SIM_LAB_WORLD_H
#define JOEDB_SRC_SIM_LAB_WORLD_H

#include <cstdint>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

#include "sim/lab/crash_lab.h"
#include "sim/lab/distinct_states.h"
#include "sim/lab/random.h"

// A world is the simulated environment of a laboratory. The explorer (crash_lab.cc) makes a World
// object for each seed, and runs it.

namespace joedb::testing {

// Thrown if a rule is violated.
class Broken_Rule : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class World {
 public:
  struct Context {
    const Lab_Settings& settings;
    std::uint64_t seed;
    bool is_traced = false;
  };

  explicit World(const Context& context)
      : settings_(context.settings), seed_(context.seed), random_(context.seed) {}
  virtual ~World() = default;
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Explores the seed. Throws std::exception if a rule is violated. The same seed gives the same
  // result, unless the workload uses an asynchronous writer of a write-ahead log.
  virtual void run() = 0;

  const Lab_Counts& counts() const { return counts_; }  // without `seeds` and `states`
  const State_Set& states() const { return states_; }   // distinct states that were checked

  // For the report of a failure, after run() has thrown.
  virtual std::string kind() const { return {}; }  // "log: file"; empty if there is only one kind
  virtual std::string details() const { return {}; }  // lines
  virtual std::string replay() const = 0;             // arguments of joedb crash-lab
  // True if the error is a mistake of the user, such as a script that cannot run, or a replay that
  // cannot be parsed.
  virtual bool is_of_user(const std::exception&) const { return false; }
  // The events so far, in order, one per line; may be empty unless `is_traced`.
  const std::string& trace() const { return trace_; }
  // The events of a whole run, one per line.
  virtual std::string operations() const { return trace_; }

 protected:
  bool chance(std::size_t percent) { return random_.below(100) < percent; }
  std::string seed_argument() const { return "--seed " + std::to_string(seed_) + " --seeds 1"; }

  const Lab_Settings& settings_;
  const std::uint64_t seed_;
  Lab_Counts counts_;
  State_Set states_;
  Random random_;
  std::string trace_;
};

// Databases and journals on a simulated disk, with a crash after every I/O operation, and with a
// failure of every operation. After a crash, every acknowledged hard checkpoint must be in the
// file; the state of the database must be one of the states for which a checkpoint was requested;
// and it must be possible to open the database and write to it. The same must be true after a crash
// during the recovery, and after another crash during the next recovery.
std::unique_ptr<World> make_database_world(const World::Context& context);

// Write-ahead logs: single files of both formats, with all kinds of options; an asynchronous
// writer; copies on three disks; and segments, also with several writers and readers at the same
// time.
//
// After a crash, a reader finds the entries that were appended, in order and without a gap. These
// entries begin at the last rotation, or at a later rotation that was requested, and end at or
// after the last acknowledged entry. A writer can open the log and append more entries, and lost
// entries do not reappear. A reader that follows a log misses an entry only if it is reported to
// the reader as released. Neither readers nor writers report damage in an undamaged log.
std::unique_ptr<World> make_wal_world(const World::Context& context);

// A server (share/server/server_core.h) on a simulated disk and its clients, with a simulated
// network. In a third of the schedules, the server is the hub of a relay, to which other clients
// connect; in some, another process writes to the file of the server.
//
// Faults: connections are cut after any byte, bytes arrive late, the server is killed or loses
// power, its disk fails, clients are killed, or pause while they hold the lock. Each transaction
// has a unique number, so the journal of the server shows whether it was committed.
std::unique_ptr<World> make_network_world(const World::Context& context);

// Up to four clients, each with a Log_Connection to one simulated replicated log.
//
// Faults: answers are lost, before or after the request was executed; messages arrive late, after
// the client has sent them again; the log does not answer for a while, or gives an outdated answer;
// messages are damaged on one machine; clients are killed, or pause for longer than the lease while
// they hold the lock. The log itself never loses an appended message, but its beginning may be
// archived and removed.
std::unique_ptr<World> make_replicated_log_world(const World::Context& context);

// Snapshots (table/load.h). Processes change a database on a simulated disk and write snapshots of
// the database, one after the other or at the same time. Processes are killed; the power is cut;
// the disk fails; and other programs change snapshots and journals.
//
// After each step, a database that is opened with the snapshots beside the journal equals a
// database that is opened without them, in every recovery mode, at any position, with or without
// indexes. The two databases remain equal when both are changed, and so do their journals. A
// snapshot that matches the journal is used. The content of a snapshot is durable in the journal.
// Bits of a snapshot flip permanently. Half of the schedules verify snapshots when they are opened,
// and must not use a damaged snapshot. The other schedules open snapshots without verification, as
// large snapshots are opened; new snapshots are then made from a damaged snapshot, and each new
// snapshot that passes verification must be correct. Journals are longer than their samples, and
// are replaced by other journals with the same samples.
std::unique_ptr<World> make_snapshot_world(const World::Context& context);

}  // namespace joedb::testing

#endif
