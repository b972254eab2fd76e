#include <cerrno>

#include "sim/lab/network_simulation.h"

namespace joedb::testing {

namespace network_lab {

// ---- basics -------------------------------------------------------------------------------------

// Returns a random delay, which is usually short.
Duration Network::delay() {
  if (chance(late_percent_)) return below(chance(10) ? 3 * second : 20 * millisecond);
  return below(200 * microsecond);
}

Network::~Network() {
  for (Client& client : clients_)
    if (client.file) client.file->kill_after(0);
  for (Node& node : nodes_)
    if (node.file) node.file->kill_after(0);
  for (Actor* const actor : actors_) stop(*actor);
  for (Node& node : nodes_) forget_work(node);
}

// ---- the schedule -------------------------------------------------------------------------------

void Network::set_up() {
  const bool wants_relay = chance(35);
  nodes_.emplace_back(*this, 0, "server");
  if (wants_relay) nodes_.emplace_back(*this, 1, "relay");
  is_shared_ = chance(15);
  const auto percent = [&] {
    const std::size_t percents[] = {0, 0, 10, 30, 60};
    return percents[random_.below(std::size(percents))];
  };
  cut_percent_ = percent();
  late_percent_ = percent() / 2;
  piece_percent_ = percent();
  pause_percent_ = percent() / 2;
  for (Node& node : nodes_) {
    const Duration lock_times[] = {Duration(0), second, 5 * second, 300 * second};
    node.is_hard = random_.flip();
    node.limits.lock_time = lock_times[random_.below(std::size(lock_times))];
  }
  if (has_relay()) set_up_relay();
  heal_time_ = second + static_cast<Duration::rep>(random_.below(chance(50) ? 3 : 30)) * second;

  const std::size_t count = 1 + random_.below(4);
  for (std::size_t i = 0; i < count; ++i) {
    Client& client = clients_.emplace_back();
    client.index = i;
    client.name = "client " + std::to_string(i);
    if (has_relay()) client.node = i == 0 || random_.flip() ? 1 : 0;
    const std::size_t kind = random_.below(10);
    client.copy = kind < 5 ? Copy_Kind::memory : kind < 8 ? Copy_Kind::disk : Copy_Kind::none;
    client.is_robust = chance(65);
    client.has_tables = random_.flip();
    client.is_hard = chance(20);
    client.check = random_.flip() ? Content_Check::fast : Content_Check::full;
    client.actions_left = 1 + random_.below(8);
    client.pause = below(chance(70) ? 10 * millisecond : second);
  }
  for (Client& client : clients_) {
    actors_.push_back(&client);
    client.fiber = std::make_unique<Fiber>([this, &client] { live(client); });
  }
  if (is_shared_) {
    Client& writer = clients_.emplace_back();
    writer.index = actors_.size();
    writer.name = "the other process";
    writer.is_hard = random_.flip();
    writer.actions_left = random_.below(6);
    writer.fiber = std::make_unique<Fiber>([this, &writer] { run_writer(writer); });
    actors_.push_back(&writer);
    ++counts_.shared;
  }
  if (has_relay()) start_relay_threads();
  for (const Actor* const actor : actors_) schedule(Event::Kind::resume, now_, actor->index);

  schedule(Event::Kind::start, now_);
  const auto any_time = [&] { return below(chance(50) ? second / 2 : heal_time_); };
  const auto plan = [&](Event::Kind kind, std::size_t chance_percent, std::size_t most,
                        std::size_t kinds) {
    if (!chance(chance_percent)) return;
    for (std::size_t i = 1 + random_.below(most); i > 0; --i)
      schedule(kind, any_time(), random_.below(kinds), random_.next());
  };
  plan(Event::Kind::crash, 40, 3, nodes_.size());
  plan(Event::Kind::disk_fault, has_relay() ? 40 : 15, nodes_.size(), nodes_.size());
  plan(Event::Kind::kill_client, 25, 3, count);
  plan(Event::Kind::cut, 30, 4, 1);
  schedule(Event::Kind::heal, heal_time_);
}

void Network::handle(const Event& event) {
  using Kind = Event::Kind;
  const std::size_t i = event.subject;
  const auto node_of_link = [&]() -> Node& { return nodes_[links_[i].node]; };
  const auto is_current = [&](const Node& node) {
    return event.value == node.generation && node.core;
  };
  switch (event.kind) {
    case Kind::resume:
      if (actors_[i]->ticket == event.value) resume(*actors_[i]);
      break;
    case Kind::accept:
      if (!is_current(node_of_link()) || links_[i].is_cut) break;
      links_[i].session = node_of_link().core->next_session();
      node_of_link().session_links.push_back(i);
      call(node_of_link(), [&] { node_of_link().core->connected(); });
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
      if (is_current(node_of_link())) serve(i);
      break;
    case Kind::sent:
      if (!is_current(node_of_link()) || links_[i].session < 0) break;
      links_[i].is_sent_late = links_[i].to_client.bytes.size() > links_[i].capacity &&
                               !links_[i].is_cut && links_[i].is_client_open;
      if (links_[i].is_sent_late) break;
      if (links_[i].to_server.has_ended && random_.flip())
        lose(i);
      else
        call(node_of_link(), [&] { node_of_link().core->sent(links_[i].session); });
      break;
    case Kind::end_at_server:
      links_[i].to_server.has_ended = true;
      if (is_current(node_of_link())) {
        if (std::exchange(links_[i].is_sent_late, false))
          schedule(Kind::sent, now_, i, event.value);
        schedule_serve(i);
      }
      break;
    case Kind::end_at_client:
      links_[i].to_client.has_ended = true;
      wake(i);
      break;
    case Kind::lost_at_server:
      if (is_current(node_of_link())) lose(i);
      break;
    case Kind::lost_at_client:
      links_[i].is_client_lost = true;
      wake(i);
      break;
    case Kind::tick:
      if (!is_current(nodes_[i])) break;
      nodes_[i].tick_time.reset();
      call(nodes_[i], [&] { nodes_[i].core->tick(); });
      break;
    case Kind::lane_work:
      if (Node& node = nodes_[i / Node::lane_count]; is_current(node))
        do_lane_work(node, i % Node::lane_count);
      break;
    case Kind::lane_done: {
      Node& node = nodes_[i / Node::lane_count];
      if (!is_current(node)) break;
      const auto done = std::move(node.dones[i % Node::lane_count].front());
      node.dones[i % Node::lane_count].pop_front();
      call(node, done);
      break;
    }
    case Kind::refresh:
      if (is_current(nodes_[i])) call(nodes_[i], [&] { nodes_[i].core->refresh(); });
      break;
    case Kind::crash: {
      Node& node = nodes_[i];
      if (!node.core || is_healed_) break;
      Random random(event.value);
      // Bytes written by another process need not survive a power cut.
      const bool is_power = random.flip() && (!is_shared_ || node.is_relay());
      node.is_power_next = is_power;
      if (random.flip() || !node.file)
        crash(node, is_power);
      else
        node.file->kill_after(random.below(8));
      break;
    }
    case Kind::start:
      start_server();
      break;
    case Kind::disk_fault:
      set_fault(nodes_[i], event.value);
      break;
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
      for (Node& node : nodes_) {
        node.disk->remove_fault();
        if (node.file) node.file->kill_after(std::size_t(-1));
        // A relay keeps running, unless it can no longer write to its file.
        if (!node.core || !node.disk->has_failed()) continue;
        if (!node.is_relay() || !node.journal->can_push()) crash(node, false);
      }
      for (Link& link : links_) link.to_server.cut_at = link.to_client.cut_at = std::size_t(-1);
      break;
  }
}

void Network::run_events() {
  const auto is_unfinished = [](const Client& client) { return !client.is_finished; };
  const auto complain = [&](std::string_view why) {
    std::string text(why);
    for (const Client& client : clients_)
      if (!client.is_finished)
        text += "\n  client " + std::to_string(client.index) + ": " + client.action;
    fail(text);
  };
  std::uint64_t count = 0;
  const auto is_incomplete = [&] {
    return std::any_of(clients_.begin(), clients_.end(), is_unfinished) ||
           served_.size() < written_ ||
           (has_relay() && (!relay().core || relay().served < served_.size()));
  };
  while (!has_failed() && is_incomplete()) {
    if (events_.empty()) return complain("somebody waits for ever:");
    const Event event = events_.top();
    events_.pop();
    now_ = event.time;
    if (now_ > heal_time_ + patience) return complain("somebody does not get an answer:");
    if (++count > max_events) return complain("too many events:");
    handle(event);
    if (has_relay()) check_relay_lag();
    if (is_shared_) check_hub_lag();
  }
  if (has_failed() || !hub().core) return;
  // The last crash happens after all clients have finished.
  crash(hub(), hub().is_hard && !is_shared_ && random_.flip());
  if (chance(25)) start_server();
}

}  // namespace network_lab

std::unique_ptr<World> make_network_world(const World::Context& context) {
  return std::make_unique<network_lab::Network>(context);
}

}  // namespace joedb::testing
