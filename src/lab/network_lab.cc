#include "lab/network_lab.h"

#include <cerrno>

#include "lab/network_simulation.h"

namespace joedb::testing {

namespace network_lab {

// ---- basics -------------------------------------------------------------------------------------

void Simulation::note(const std::string& text) {
  if (!is_traced_) return;
  std::string time = std::to_string(now_ / microsecond);
  if (time.size() < 12) time.insert(0, 12 - time.size(), ' ');
  trace_ += time + " " + text + "\n";
}

void Simulation::fail(std::string text) {
  if (has_failed() || is_stopping_) return;
  note("FAILURE: " + text);
  failure_ = std::move(text);
}

// Mostly short.
Nanoseconds Simulation::delay() {
  if (chance(late_percent_)) return below(chance(10) ? 3 * second : 20 * millisecond);
  return below(200 * microsecond);
}

Simulation::~Simulation() {
  is_stopping_ = true;
  for (Client& client : clients_) {
    client.is_killed = true;
    if (client.file) client.file->kill_after(0);
    while (client.fiber && !client.fiber->is_done()) {
      current_ = &client;
      client.fiber->resume();
    }
  }
  if (file_) file_->kill_after(0);
  for (auto& jobs : jobs_) jobs.clear();
  for (auto& dones : dones_) dones.clear();
}

// ---- the schedule -------------------------------------------------------------------------------

void Simulation::set_up() {
  const auto percent = [&] {
    const std::size_t percents[] = {0, 0, 10, 30, 60};
    return percents[random_.below(std::size(percents))];
  };
  cut_percent_ = percent();
  late_percent_ = percent() / 2;
  piece_percent_ = percent();
  pause_percent_ = percent() / 2;
  is_hard_ = random_.flip();
  const Nanoseconds lock_times[] = {0, second, 5 * second, 300 * second};
  limits_.lock_time = std::chrono::nanoseconds(lock_times[random_.below(std::size(lock_times))]);
  heal_time_ = (1 + below(chance(50) ? 3 : 30)) * second;
  server_log_ = std::make_unique<Line>(*this, "server");
  disk_ = std::make_unique<Sim_Disk>();

  const std::size_t count = 1 + random_.below(4);
  for (std::size_t i = 0; i < count; ++i) {
    Client& client = clients_.emplace_back();
    client.index = i;
    const std::size_t kind = random_.below(10);
    client.copy = kind < 5 ? Copy_Kind::memory : kind < 8 ? Copy_Kind::disk : Copy_Kind::none;
    client.is_robust = chance(65);
    client.has_tables = random_.flip();
    client.is_hard = chance(20);
    client.check = random_.flip() ? Content_Check::fast : Content_Check::full;
    client.actions_left = 1 + random_.below(8);
    client.pause = below(chance(70) ? 10 * millisecond : second);
  }
  for (std::size_t i = 0; i < count; ++i) {
    clients_[i].fiber = std::make_unique<Fiber>([this, i] { live(clients_[i]); });
    schedule(Event::Kind::resume, 0, i);
  }

  schedule(Event::Kind::start, 0);
  const auto any_time = [&] { return below(chance(50) ? second / 2 : heal_time_); };
  const auto plan = [&](Event::Kind kind, std::size_t chance_percent, std::size_t most) {
    if (!chance(chance_percent)) return;
    for (std::size_t i = 1 + random_.below(most); i > 0; --i)
      schedule(kind, any_time(), random_.below(count), random_.next());
  };
  plan(Event::Kind::crash, 40, 3);
  plan(Event::Kind::disk_fault, 15, 1);
  plan(Event::Kind::kill_client, 25, 3);
  plan(Event::Kind::cut, 30, 4);
  schedule(Event::Kind::heal, heal_time_);
}

void Simulation::handle(const Event& event) {
  using Kind = Event::Kind;
  const std::size_t i = event.subject;
  const bool is_current = event.value == generation_ && core_;
  switch (event.kind) {
    case Kind::resume:
      if (clients_[i].ticket == event.value) resume(clients_[i]);
      break;
    case Kind::accept:
      if (!is_current || links_[i].is_cut) break;
      links_[i].session = core_->next_session();
      session_links_.push_back(i);
      call([&] { core_->connected(); });
      break;
    case Kind::to_server:
      if (links_[i].is_cut && links_[i].drops_bytes) break;
      links_[i].to_server.arrived += event.value;
      schedule_serve(i);
      break;
    case Kind::to_client:
      if (links_[i].is_cut && links_[i].drops_bytes) break;
      links_[i].to_client.arrived += event.value;
      wake(i);
      break;
    case Kind::serve:
      if (is_current) serve(i);
      break;
    case Kind::sent:
      if (!is_current || links_[i].session < 0) break;
      links_[i].is_sent_late = links_[i].to_client.bytes.size() > links_[i].capacity &&
                               !links_[i].is_cut && links_[i].is_client_open;
      if (links_[i].is_sent_late) break;
      if (links_[i].to_server.has_ended && random_.flip())
        lose(i);
      else
        call([&] { core_->sent(links_[i].session); });
      break;
    case Kind::end_at_server:
      links_[i].to_server.has_ended = true;
      if (is_current) {
        if (std::exchange(links_[i].is_sent_late, false))
          schedule(Kind::sent, now_, i, generation_);
        schedule_serve(i);
      }
      break;
    case Kind::end_at_client:
      links_[i].to_client.has_ended = true;
      wake(i);
      break;
    case Kind::lost_at_server:
      if (is_current) lose(i);
      break;
    case Kind::lost_at_client:
      links_[i].is_client_lost = true;
      wake(i);
      break;
    case Kind::tick:
      if (!is_current) break;
      tick_time_.reset();
      call([&] { core_->tick(); });
      break;
    case Kind::lane_work: {
      if (!is_current) break;
      const Job job = std::move(jobs_[i].front());
      jobs_[i].pop_front();
      if (!jobs_[i].empty()) schedule(Kind::lane_work, now_ + delay(), i, generation_);
      dones_[i].push_back(job.done);
      done_times_[i] = std::max(done_times_[i], now_ + delay());
      schedule(Kind::lane_done, done_times_[i], i, generation_);
      call(job.work);
      break;
    }
    case Kind::lane_done: {
      if (!is_current) break;
      const auto done = std::move(dones_[i].front());
      dones_[i].pop_front();
      call(done);
      break;
    }
    case Kind::crash: {
      if (!core_ || is_healed_) break;
      Random random(event.value);
      const bool is_power = random.flip();
      is_power_next_ = is_power;
      if (random.flip())
        crash(is_power);
      else
        file_->kill_after(random.below(8));
      break;
    }
    case Kind::start:
      start_server();
      break;
    case Kind::disk_fault: {
      Random random(event.value);
      using Calls = Sim_Fault::Calls;
      const Calls kinds[] = {Calls::writes, Calls::changes, Calls::syncs};
      const Calls calls = kinds[random.below(std::size(kinds))];
      note("a call of the server's disk will fail");
      ++counts_.disk_faults;
      disk_->set_fault({.calls = calls,
                        .number = disk_->count(calls) + random.below(6),
                        .code = random.flip() ? ENOSPC : EIO,
                        .lasts = random.flip(),
                        .part_written = static_cast<double>(random.below(3)) / 2});
      break;
    }
    case Kind::kill_client:
      if (!is_healed_) kill(clients_[i]);
      break;
    case Kind::cut: {
      std::vector<std::size_t> open;
      for (std::size_t link = 0; link < links_.size(); ++link)
        if (links_[link].is_client_open && !links_[link].is_cut) open.push_back(link);
      if (!open.empty()) cut(open[event.value % open.size()]);
      break;
    }
    case Kind::heal:
      note("no more faults");
      is_healed_ = true;
      disk_->remove_fault();
      if (file_) file_->kill_after(std::size_t(-1));
      if (core_ && disk_->has_failed()) crash(false);
      for (Link& link : links_) link.to_server.cut_at = link.to_client.cut_at = std::size_t(-1);
      break;
  }
}

void Simulation::run() {
  set_up();
  const auto is_unfinished = [](const Client& client) { return !client.is_finished; };
  const auto complain = [&](std::string_view why) {
    std::string text(why);
    for (const Client& client : clients_)
      if (!client.is_finished)
        text += "\n  client " + std::to_string(client.index) + ": " + client.action;
    fail(text);
  };
  std::uint64_t count = 0;
  while (!has_failed() && std::any_of(clients_.begin(), clients_.end(), is_unfinished)) {
    if (events_.empty()) return complain("somebody waits for ever:");
    const Event event = events_.top();
    events_.pop();
    now_ = event.time;
    if (now_ > heal_time_ + patience) return complain("somebody does not get an answer:");
    if (++count > most_events) return complain("too many events:");
    handle(event);
  }
  if (has_failed() || !core_) return;
  // The last crash: nobody is there to see it.
  crash(is_hard_ && random_.flip());
  if (chance(25)) start_server();
}

}  // namespace network_lab

using network_lab::Simulation;

std::optional<Lab_Failure> explore_network(std::uint64_t seed, Lab_Counts& counts) {
  Simulation simulation(seed, false);
  simulation.run();
  ++counts.seeds;
  counts.network += simulation.counts();
  if (simulation.failure().empty()) return std::nullopt;
  return Lab_Failure{.seed = seed,
                     .text = "seed " + std::to_string(seed) + ": " + simulation.failure() + "\n",
                     .replay = "--network --seed " + std::to_string(seed) + " --seeds 1",
                     .operations = network_trace(seed)};
}

std::string network_trace(std::uint64_t seed) {
  Simulation simulation(seed, true);
  simulation.run();
  return simulation.trace();
}

}  // namespace joedb::testing
