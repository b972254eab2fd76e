#include "sim/lab/network_simulation.h"

namespace joedb::testing::network_lab {

// ---- the network --------------------------------------------------------------------------------

class Network::Sim_Channel final : public Channel {
 public:
  Sim_Channel(Network& simulation, std::size_t link) : simulation_(simulation), link_(link) {}
  ~Sim_Channel() override { simulation_.close_client(link_); }
  std::size_t read_some(char* data, std::size_t size) override {
    return simulation_.read(link_, data, size, end_);
  }
  void write(const char* data, std::size_t size) override {
    simulation_.write(link_, data, size, end_);
  }
  void set_patience(const Patience& patience) override {
    end_ = System::after(simulation_.now(), patience.time).time_since_epoch();
  }

 private:
  Network& simulation_;
  const std::size_t link_;
  Duration end_ = Duration::max();  // end of the patience
};

std::unique_ptr<Channel> Network::connect(Actor& actor, std::size_t node) {
  sleep_of(actor, delay());
  if (!nodes_[node].core) throw Connection_Lost("connection refused");
  const std::size_t index = links_.size();
  Link& link = links_.emplace_back();
  link.actor = actor.index;
  link.node = node;
  actor.link = index;
  link.capacity = chance(80) ? std::size_t{1} << 20 : 16 + random_.below(1000);
  link.is_in_pieces = chance(piece_percent_);
  if (!is_healed_ && chance(cut_percent_)) {
    Stream& stream = random_.flip() ? link.to_server : link.to_client;
    stream.cut_at = random_.below(chance(70) ? 120 : 2000);
  }
  if (is_traced_) note(actor.name + ": connects: link " + std::to_string(index));
  ++counts_.connections;
  schedule(Event::Kind::accept, now_ + delay(), index, nodes_[node].generation);
  return std::make_unique<Sim_Channel>(*this, index);
}

static std::string text_of_message(std::string_view bytes) {
  const auto first = static_cast<unsigned char>(bytes.empty() ? 0 : bytes.front());
  return std::to_string(bytes.size()) + " bytes" +
         (first > 32 && first < 127 ? std::string(": ") + bytes.front() : std::string());
}

// Waits until an event at this link, but not longer than until `end`.
void Network::wait_at(std::size_t index, Duration end) {
  Actor& actor = *actors_[links_[index].actor];
  if (now_ >= end) throw Connection_Lost("no answer in time");
  if (end < Duration::max()) schedule(Event::Kind::resume, end, actor.index, actor.ticket);
  actor.waits_for_link = index;
  wait(actor);
}

// Sends bytes. Bytes past the point where the connection will be cut are lost.
void Network::transmit(std::size_t index, bool is_to_server, std::string_view bytes) {
  Link& link = links_[index];
  Stream& stream = is_to_server ? link.to_server : link.to_client;
  if (is_traced_)
    note("link " + std::to_string(index) + (is_to_server ? ": to server, " : ": to client, ") +
         text_of_message(bytes) + (link.is_cut ? ", lost" : ""));
  if (link.is_cut) return;
  const std::size_t size = std::min(bytes.size(), stream.cut_at - stream.total);
  stream.bytes.append(bytes.substr(0, size));
  stream.total += size;
  for (std::size_t done = 0; done < size;) {
    std::size_t piece = size - done;
    if (link.is_in_pieces && size < 2000) piece = 1 + random_.below(piece);
    stream.time = std::max(stream.time, now_ + delay());
    schedule(is_to_server ? Event::Kind::to_server : Event::Kind::to_client, stream.time, index,
             piece);
    done += piece;
  }
  if (stream.total == stream.cut_at) cut(index);
  if (!is_to_server && link.actor == relay_lane_.index && has_relay()) attack_rollback(bytes);
}

void Network::cut(std::size_t index) {
  Link& link = links_[index];
  if (link.is_cut) return;
  ++counts_.cuts;
  link.is_cut = true;
  link.drops_bytes = random_.flip();
  note("link " + std::to_string(index) + " is cut" +
       (link.drops_bytes ? ", with the bytes on their way" : ""));
  const auto notice_delay = [&](Duration longest) {
    return now_ + (chance(60) ? below(100 * millisecond) : below(longest));
  };
  schedule(Event::Kind::lost_at_client, notice_delay(20 * second), index);
  schedule(Event::Kind::lost_at_server, notice_delay(100 * second), index,
           nodes_[link.node].generation);
}

void Network::wake(std::size_t index) {
  const Actor& actor = *actors_[links_[index].actor];
  if (actor.waits_for_link == index) schedule(Event::Kind::resume, now_, actor.index, actor.ticket);
}

std::size_t Network::read(std::size_t index, char* data, std::size_t size, Duration end) {
  Actor& actor = *actors_[links_[index].actor];
  Link& link = links_[index];
  for (;;) {
    if (actor.is_killed) throw Sim_Killed();
    Stream& stream = link.to_client;
    if (stream.arrived > 0) {
      std::size_t n = std::min(size, stream.arrived);
      if (link.is_in_pieces) n = 1 + random_.below(n);
      stream.bytes.copy(data, n);
      stream.bytes.erase(0, n);
      stream.arrived -= n;
      if (std::exchange(link.is_sent_late, false))
        schedule(Event::Kind::sent, now_ + delay(), index, nodes_[link.node].generation);
      return n;
    }
    if (stream.has_ended || link.is_client_lost) throw Connection_Lost("the connection is lost");
    wait_at(index, end);
  }
}

void Network::write(std::size_t index, const char* data, std::size_t size, Duration end) {
  Actor& actor = *actors_[links_[index].actor];
  Link& link = links_[index];
  while (size > 0) {
    if (actor.is_killed) throw Sim_Killed();
    // The window grows, so that a large push ends in reasonable time.
    link.capacity = std::max(link.capacity, link.to_server.total / 64);
    const std::size_t waiting = link.to_server.bytes.size();
    const bool is_full = waiting >= link.capacity;
    if (link.is_client_lost || (link.to_client.has_ended && (is_full || random_.flip())))
      throw Connection_Lost("the connection is lost");
    if (is_full && !link.is_cut) {
      wait_at(index, end);
      continue;
    }
    const std::size_t n = link.is_cut ? size : std::min(size, link.capacity - waiting);
    transmit(index, true, {data, n});
    data += n;
    size -= n;
  }
}

void Network::close_client(std::size_t index) {
  Link& link = links_[index];
  link.is_client_open = false;
  note("link " + std::to_string(index) + ": closed by the client");
  if (link.is_cut) return;
  // A machine that loses power does not close its connections.
  if (actors_[link.actor]->is_killed && chance(30)) return cut(index);
  schedule(Event::Kind::end_at_server, std::max(link.to_server.time, now_ + delay()), index,
           nodes_[link.node].generation);
}

void Network::schedule_serve(std::size_t index) {
  Link& link = links_[index];
  if (link.session < 0 || !link.wants_bytes || link.is_serving) return;
  if (link.to_server.arrived == 0 && !link.to_server.has_ended) return;
  link.is_serving = true;
  schedule(Event::Kind::serve, now_ + (random_.flip() ? Duration(0) : delay()), index,
           nodes_[link.node].generation);
}

void Network::serve(std::size_t index) {
  Link& link = links_[index];
  link.is_serving = false;
  if (link.session < 0 || !link.wants_bytes) return;
  Stream& stream = link.to_server;
  if (stream.arrived == 0) {
    if (stream.has_ended) lose(index);
    return;
  }
  std::size_t size = std::min<std::size_t>(stream.arrived, std::size_t{1} << 16);
  if (link.is_in_pieces && size < 2000) size = 1 + random_.below(size);
  const std::string bytes = stream.bytes.substr(0, size);
  stream.bytes.erase(0, size);
  stream.arrived -= size;
  link.wants_bytes = false;
  wake(index);
  Node& node = nodes_[link.node];
  call(node, [&] { node.core->received(link.session, bytes); });
}

void Network::lose(std::size_t index) {
  Link& link = links_[index];
  if (link.session < 0) return;
  const Session_Id session = std::exchange(link.session, -1);
  Node& node = nodes_[link.node];
  call(node, [&] { node.core->closed(session); });
}

// ---- Server_Host --------------------------------------------------------------------------------

void Network::Node::send(Session_Id session, std::string bytes) {
  if (is_dead()) return;
  const std::size_t link = link_of(session);
  simulation.transmit(link, false, bytes);
  simulation.schedule(Event::Kind::sent, simulation.now_ + simulation.delay(), link, generation);
}

void Network::Node::receive(Session_Id session) {
  const std::size_t link = link_of(session);
  simulation.links_[link].wants_bytes = true;
  simulation.schedule_serve(link);
}

void Network::Node::close(Session_Id session) {
  if (is_dead()) return;
  const std::size_t i = link_of(session);
  Link& link = simulation.links_[i];
  link.session = -1;
  simulation.note("link " + std::to_string(i) + ": closed by the server");
  if (link.is_cut) return;
  const Duration time = std::max(link.to_client.time, simulation.now_ + simulation.delay());
  simulation.schedule(Event::Kind::end_at_client, time, i);
}

// Jobs for the journal of a relay wait for the hub, so the thread of the relay executes them. All
// other jobs are executed without waiting when their time has come.
void Network::Node::run(Lane lane, std::function<void()> work, std::function<void()> done) {
  const auto i = static_cast<std::size_t>(lane);
  jobs[i].push_back({std::move(work), std::move(done)});
  const Duration time = simulation.now_ + simulation.delay();
  const Actor& thread = simulation.relay_lane_;
  if (is_relay() && lane == Lane::journal) {
    if (!is_lane_busy) simulation.schedule(Event::Kind::resume, time, thread.index, thread.ticket);
  } else if (jobs[i].size() == 1) {
    simulation.schedule(Event::Kind::lane_work, time, event_of(i), generation);
  }
}

}  // namespace joedb::testing::network_lab
