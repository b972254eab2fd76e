#include <cerrno>

#include "sim/lab/network_simulation.h"

namespace joedb::testing::network_lab {

// ---- the server ---------------------------------------------------------------------------------

void Network::crash(Node& node, bool is_power_cut) {
  note("the " + node.name + (is_power_cut ? " loses its power" : " is killed"));
  ++(is_power_cut ? counts_.power_cuts : counts_.kills);
  if (node.file) node.file->kill_after(0);
  if (!node.is_relay()) return crash_hub(is_power_cut);
  // The thread of the relay finishes its current step, and then finds that it was killed.
  node.is_power_next = is_power_cut;
  relay_lane_.is_killed = true;
  resume(relay_lane_);
}

void Network::cut_links(const Node& node) {
  for (std::size_t i = 0; i < links_.size(); ++i) {
    Link& link = links_[i];
    if (link.node != node.index) continue;
    link.session = -1;
    if (!link.is_client_open || link.is_cut) continue;
    link.is_cut = true;
    link.drops_bytes = random_.flip();
    schedule(Event::Kind::lost_at_client, now_ + below(chance(50) ? 50 * millisecond : 5 * second),
             i);
  }
}

void Network::forget_work(Node& node) {
  for (auto& jobs : node.jobs) jobs.clear();
  for (auto& dones : node.dones) dones.clear();
  node.session_links.clear();
  node.tick_time.reset();
  node.done_times = {};
  node.is_power_next = false;
  ++node.generation;
}

void Network::crash_hub(bool is_power_cut) {
  hub().core.reset();
  hub().journal.reset();
  hub().file.reset();
  if (is_power_cut) {
    hub().disk = std::make_unique<Sim_Disk>(hub().disk->power_cut(random_.next()));
    hub().was_power_cut = true;
  }
  cut_links(hub());
  forget_work(hub());
  schedule(Event::Kind::start, now_ + below(random_.flip() ? 100 * millisecond : 5 * second));
}

void Network::do_lane_work(Node& node, std::size_t lane) {
  const Node::Job job = std::move(node.jobs[lane].front());
  node.jobs[lane].pop_front();
  if (!node.jobs[lane].empty())
    schedule(Event::Kind::lane_work, now_ + delay(), node.event_of(lane), node.generation);
  node.dones[lane].push_back(job.done);
  node.done_times[lane] = std::max(node.done_times[lane], now_ + delay());
  schedule(Event::Kind::lane_done, node.done_times[lane], node.event_of(lane), node.generation);
  call(node, job.work);
}

void Network::set_fault(Node& node, std::uint64_t seed) {
  Random random(seed);
  using Calls = Sim_Fault::Calls;
  const Calls kinds[] = {Calls::writes, Calls::changes, Calls::syncs, Calls::reads,
                         Calls::truncations};
  // The hub has no read faults, because it serves checked bytes from memory.
  const Calls calls = kinds[random.below(node.is_relay() ? std::size(kinds) : 3)];
  note("a call of the " + node.name + "'s disk will fail");
  ++counts_.disk_faults;
  node.disk->set_fault({.calls = calls,
                        .number = node.disk->count(calls) + random.below(6),
                        .code = random.flip() ? ENOSPC : EIO,
                        // Reads fail only once, because nothing could run without reads.
                        .lasts = random.flip() && calls != Calls::reads,
                        .part_written = static_cast<double>(random.below(3)) / 2});
}

bool Network::open_journal(Recovery recovery, std::string& error) {
  Journal_Options options(is_shared_ ? Recovery::keep : recovery);
  if (!is_shared_ && chance(20)) options.preallocation = 4096;
  try {
    hub().file = std::make_unique<Sim_File>(
        *hub().disk,
        is_shared_ ? Open_Mode::shared_write : Open_Mode::write_existing_or_create_new);
    hub().file->set_cold(chance(20));
    hub().journal = std::make_unique<Written_Journal>(*hub().file, Connection::dummy,
                                                      Content_Check::none, hub().is_hard, options);
    return true;
  } catch (const std::exception& e) {
    error = e.what();
    hub().journal.reset();
    hub().file.reset();
    return false;
  }
}

void Network::start_server() {
  if (hub().core) return;
  note("the server starts");
  const std::string image = hub().disk->content();
  const bool has_failed_before = hub().disk->has_failed();
  const Recovery mode = random_.flip() ? Recovery::keep : Recovery::overwrite;
  std::string error;
  std::string wrong;
  if (open_journal(mode, error)) wrong = recovered();
  const bool may_be_unproven =
      hub().was_power_cut && (has_failed_before || !hub().disk->has_failed());
  if (may_be_unproven && (!hub().journal || !wrong.empty())) {
    // After a power cut, a soft checkpoint guarantees nothing about the bytes before it
    // (docs/crash-safety.md).
    note("recovery by the hard checkpoint: " + error + wrong);
    wrong.clear();
    error.clear();
    hub().journal.reset();
    hub().file.reset();
    hub().disk = std::make_unique<Sim_Disk>(image);
    if (open_journal(Recovery::hard, error)) wrong = recovered();
    if (!hub().journal && (!hub().is_hard || served_.empty())) {  // the header was never durable
      hub().disk = std::make_unique<Sim_Disk>();
      if (open_journal(mode, error)) wrong = recovered();
    }
  }
  if (!hub().journal) {
    if (!hub().disk->has_failed()) return fail("the server cannot open its journal: " + error);
    note("the server cannot start: " + error);
    hub().disk->remove_fault();
    // The file may have a part of a new header.
    if (served_.empty() || (hub().was_power_cut && !hub().is_hard))
      hub().disk = std::make_unique<Sim_Disk>();
    return schedule(Event::Kind::start, now_ + below(second));
  }
  if (!wrong.empty()) return fail("after a restart of the server: " + wrong);
  hub().was_power_cut = false;
  hub().core = std::make_unique<Server_Core>(*hub().journal, hub(), *this, hub().log, hub().limits,
                                             "scratch-");
  note("the server has " + std::to_string(served_.size()) + " bytes");
}

}  // namespace joedb::testing::network_lab
