#include "joedb/network/server_connection.h"
#include "share/network/protocol.h"
#include "share/server/watch_server.h"
#include "sim/lab/network_simulation.h"

namespace joedb::testing::network_lab {

// ---- the relay ----------------------------------------------------------------------------------

// The hub loses no byte that it has served, so it always has everything that the relay has pulled.
void Network::set_up_relay() {
  hub().is_hard = true;
  pause_percent_ = std::max<std::size_t>(pause_percent_, 10);
  relay().is_in_memory = chance(30);
  relay().check = random_.flip() ? Content_Check::fast : Content_Check::full;
  ++counts_.relays;
}

void Network::start_relay_threads() {
  const auto add = [&](Actor& actor, std::string name, void (Network::*body)()) {
    actor.index = actors_.size();
    actor.name = std::move(name);
    actor.fiber = std::make_unique<Fiber>([this, body] { (this->*body)(); });
    actors_.push_back(&actor);
  };
  add(relay_lane_, "the relay", &Network::run_relay);
  add(relay_watcher_, "the watcher of the relay", &Network::watch_hub);
  relay().connector = std::make_unique<Sim_Connector>(*this, relay_lane_, 0);
}

// Simulates a process; when it is killed, simulates the next process.
void Network::run_relay() {
  while (!is_stopping_) {
    try {
      sleep_of(relay_lane_, below(random_.flip() ? 50 * millisecond : 3 * second));
      if (open_relay()) run_relay_jobs();
    } catch (const Sim_Killed&) {
    }
    destroy_relay();
  }
}

void Network::open_relay_journal() {
  Node& node = relay();
  Journal_Options options(random_.flip() ? Recovery::keep : Recovery::overwrite);
  if (chance(20)) options.preallocation = 4096;
  if (node.is_in_memory) {
    node.memory = std::make_unique<Locked_Memory_File>();
  } else {
    node.file = std::make_unique<Sim_File>(*node.disk);
    node.file->set_cold(chance(20));
  }
  node.upstream = std::make_unique<Robust_Connection>(*node.connector, node.log, *this);
  Abstract_File& file = node.file ? static_cast<Abstract_File&>(*node.file) : *node.memory;
  node.journal =
      std::make_unique<Written_Journal>(file, *node.upstream, node.check, node.is_hard, options);
}

// Returns false if the relay could not be started.
bool Network::open_relay() {
  Node& node = relay();
  note("the relay starts");
  std::string wrong;
  try {
    open_relay_journal();
    wrong = relay_error();
  } catch (const Sim_Killed&) {
    throw;
  } catch (const Content_Mismatch& error) {
    wrong = error.what();
  } catch (const Connection_Lost& error) {
    note(std::string("the relay cannot start: ") + error.what());
    return false;
  } catch (const Disconnection& error) {
    note(std::string("the relay cannot start: ") + error.what());
    return false;
  } catch (const std::exception& error) {
    wrong = error.what();
  }
  if (!wrong.empty()) {
    if (!node.disk->has_failed() && !node.was_power_cut) fail("the relay cannot start: " + wrong);
    note("the relay cannot start: " + wrong);
    node.disk->remove_fault();
    // If a soft checkpoint survives a power cut, its bytes may not have survived, and pulled bytes
    // have no other checkpoint. So the copy is discarded, and pulled again.
    must_discard_copy_ = node.was_power_cut;
    return false;
  }
  node.was_power_cut = false;
  node.core =
      std::make_unique<Server_Core>(*node.journal, node, *this, node.log, node.limits, "scratch-");
  note("the relay has " + std::to_string(body_size(node.journal->get_checkpoint())) + " bytes");
  observe_relay();
  schedule(Event::Kind::resume, now_, relay_watcher_.index, relay_watcher_.ticket);
  return true;
}

// Executes the jobs of the relay's journal lane.
void Network::run_relay_jobs() {
  Node& node = relay();
  auto& jobs = node.jobs.front();
  for (;;) {
    node.is_lane_busy = !jobs.empty();
    if (jobs.empty()) {
      wait(relay_lane_);
      continue;
    }
    if (!is_healed_ && chance(pause_percent_ / 4)) sleep_of(relay_lane_, below(5 * second));
    const Node::Job job = std::move(jobs.front());
    jobs.pop_front();
    job.work();
    if (relay_lane_.is_killed || node.is_dead()) throw Sim_Killed();
    if (const std::string wrong = relay_error(); !wrong.empty()) fail("the relay " + wrong);
    node.dones.front().push_back(job.done);
    Duration& time = node.done_times.front();
    time = std::max(time, now_ + delay());
    schedule(Event::Kind::lane_done, time, node.event_of(0), node.generation);
  }
}

// Cleans up after a killed relay process.
void Network::destroy_relay() {
  Node& node = relay();
  relay_lane_.is_killed = true;
  relay_watcher_.is_killed = true;
  if (node.file) node.file->kill_after(0);
  node.core.reset();
  node.journal.reset();
  node.upstream.reset();
  node.file.reset();
  node.memory.reset();
  if (std::exchange(must_discard_copy_, false)) node.disk = std::make_unique<Sim_Disk>();
  if (node.is_power_next && !node.is_in_memory) {
    node.disk = std::make_unique<Sim_Disk>(node.disk->power_cut(random_.next()));
    node.was_power_cut = true;
  }
  checked_ = 0;
  cut_links(node);
  forget_work(node);
  node.is_lane_busy = false;
  relay_lane_.is_killed = is_stopping_;
  schedule(Event::Kind::resume, now_, relay_watcher_.index, relay_watcher_.ticket);
}

void Network::watch_hub() {
  Sim_Connector connector(*this, relay_watcher_, 0);
  const auto notify = [this] {
    const Duration time = chance(80) ? delay() : below(second);
    schedule(Event::Kind::refresh, now_ + time, relay().index, relay().generation);
  };
  while (!is_stopping_) {
    try {
      if (relay().core)
        server::watch_server(connector, relay().log, *this, notify, [] { return true; });
      else
        wait(relay_watcher_);
    } catch (const Sim_Killed&) {
      relay_watcher_.is_killed = is_stopping_;
    }
  }
}

// Makes the disk of the relay fail while the relay rolls back a push that its hub has refused.
void Network::attack_rollback(std::string_view reply) {
  const bool is_refusal = reply.size() == 1 && (reply[0] == network::code::conflict ||
                                                reply[0] == network::code::readonly);
  if (!is_refusal || is_healed_ || !chance(30)) return;
  note("a call of the relay's disk will fail, when it rolls back");
  ++counts_.disk_faults;
  const Sim_Fault::Calls calls = Sim_Fault::Calls::reads;
  relay().disk->set_fault({.calls = calls, .number = relay().disk->count(calls)});
}

// ---- invariants of a relay ----------------------------------------------------------------------

// Checks that the copy of the relay is a prefix of the hub's journal, and ends at the end of a
// push. Returns a description of the error; "" if there is none.
std::string Network::relay_error() {
  const std::size_t size = body_size(relay().journal->get_checkpoint());
  if (size > served_.size())
    return "has " + std::to_string(size) + " bytes, and its hub " + std::to_string(served_.size());
  if (!ends_.contains(size)) return "has a part of a push";
  const auto& memory = relay().memory;
  const std::string_view content =
      memory ? std::string_view(memory->get_data().data(), memory->get_data().size())
             : std::string_view(relay().disk->content());
  const std::size_t start = header_bytes + checked_;
  if (content.size() < header_bytes + size) return "has a checkpoint behind the end of its file";
  if (size > checked_ &&
      served_.compare(checked_, size - checked_, content.substr(start, size - checked_)) != 0)
    return "has bytes that its hub never had";
  checked_ = size;
  return {};
}

// Checks that the journal served by the relay only grows.
void Network::observe_relay() {
  Node& node = relay();
  const std::size_t size = body_size(node.core->status().checkpoint);
  if (size == node.served) return;
  if (size < node.served) return fail("the relay serves less than before");
  node.served = size;
  node.growth.emplace_back(now_, size);
}

// True if there is a good reason why the relay does not have all bytes of the hub.
bool Network::may_relay_lag() const {
  const Node& node = relay();
  if (!hub().core || !node.core || node.served == served_.size() || node.is_working() ||
      !node.core->status().can_push || relay_watcher_.link == no_link)
    return true;
  const Link& link = links_[relay_watcher_.link];
  return link.is_cut || !link.is_client_open || link.session < 0 ||
         node.core->status().lock_holder.has_value();
}

// Checks that the relay, which is notified of new bytes, pulls them soon.
void Network::check_relay_lag() {
  const Duration limit = late_percent_ == 0 ? 2 * second : 60 * second;
  if (may_relay_lag()) relay_lag_start_ = now_;
  if (now_ - relay_lag_start_ > limit) fail("the relay does not take what the hub has");
}

}  // namespace joedb::testing::network_lab
