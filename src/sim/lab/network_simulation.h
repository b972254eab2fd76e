#ifndef JOEDB_SRC_SIM_LAB_NETWORK_SIMULATION_H
#define JOEDB_SRC_SIM_LAB_NETWORK_SIMULATION_H

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "joedb/base/error.h"
#include "joedb/base/log.h"
#include "joedb/base/threads.h"
#include "joedb/format/header.h"
#include "joedb/io/memory_file.h"
#include "joedb/network/channel.h"
#include "joedb/replica/client.h"
#include "share/server/server_core.h"
#include "sim/lab/sim_file.h"
#include "sim/lab/simulation.h"

namespace joedb::testing::network_lab {

using server::Server_Core;
using server::Server_Host;
using server::Session_Id;
using server::Written_Journal;

using Duration = System::Duration;
constexpr Duration microsecond = std::chrono::microseconds(1);
constexpr Duration millisecond = std::chrono::milliseconds(1);
constexpr Duration second = std::chrono::seconds(1);

// The time within which all clients must finish after the faults have ended.
constexpr Duration patience = 1000 * second;
constexpr std::uint64_t max_events = 300'000;
constexpr std::size_t max_push_size = 200'000;

constexpr auto header_bytes = static_cast<std::size_t>(journal_start);

inline std::size_t body_size(Offset checkpoint) {
  return static_cast<std::size_t>(std::max(checkpoint, journal_start) - journal_start);
}

// ---- transactions of the clients ----------------------------------------------------------------

// A transaction is a sequence of comments. The first comment names the owner, for example "@2.17;".
struct Transaction {
  std::string bytes;
  bool is_cancelled = true;  // until the client requests a checkpoint of it
  bool is_refused = false;   // refused by the server
  bool is_acknowledged = false;
  std::size_t end = 0;  // end in the journal of the server; 0 if it is not there
};

void append_comment(std::string& bytes, std::string_view text);

struct Owner {
  std::size_t client = 0;
  std::size_t number = 0;
};

// Returns the owner of the transaction that begins at the start of `bytes`; nullopt if there is
// none.
std::optional<Owner> owner_of(std::string_view bytes);

// ---- the simulation -----------------------------------------------------------------------------

// Thrown to cancel a transaction.
class Cancelled final : public Exception {
 public:
  Cancelled() : Exception("cancelled by the transaction") {}
};
class Reopen final : public std::exception {};
class Diverged final : public std::exception {};

enum class Copy_Kind { memory, disk, none };  // none: Server_File

constexpr std::size_t no_link = std::size_t(-1);

// A simulated thread that can block: the thread of a client, or a thread of a relay.
struct Actor : Program {
  std::size_t index = 0;
  std::string name = {};     // "client 2"
  std::uint64_t ticket = 0;  // number of the current wait; wake-ups of earlier waits are ignored
  std::size_t waits_for_link = no_link;
  std::size_t link = no_link;  // the most recent link of this actor
};

struct Client : Actor {
  std::size_t node = 0;  // the server to which it connects
  Copy_Kind copy = Copy_Kind::memory;
  bool is_robust = false;
  bool has_tables = false;
  bool is_hard = false;
  Content_Check check = Content_Check::fast;

  bool is_finished = false;
  std::size_t actions_left = 0;
  Duration pause{};
  std::string action = "starts";

  std::unique_ptr<Memory_File> memory;
  std::unique_ptr<Sim_Disk> disk;
  std::unique_ptr<Sim_File> file;

  std::vector<Transaction> transactions;
  std::size_t epoch = 0;     // lost_.size() when the action began
  std::size_t expected = 0;  // minimum size that a pull must return
  // Number of the last transaction in the journal of the server, plus 1.
  std::size_t last_in_journal = 0;
};

// Returns the number of the new transaction.
std::size_t new_transaction(Client& client, Random& random, std::vector<std::string>& comments);

// One direction of a connection.
struct Stream {
  std::string bytes;        // sent and not yet read
  std::size_t arrived = 0;  // number of bytes that have arrived
  std::size_t total = 0;    // number of bytes sent so far
  std::size_t cut_at = std::size_t(-1);
  Duration time{};         // when the last bytes arrive
  bool has_ended = false;  // true if the receiver knows that the stream has ended
};
// A connection: two streams of bytes.
struct Link {
  std::size_t actor = 0;  // index of the actor that made this link
  std::size_t node = 0;   // index of the server
  Session_Id session = -1;
  Stream to_server;
  Stream to_client;
  std::size_t capacity = 0;
  bool is_in_pieces = false;
  bool is_client_open = true;
  bool is_cut = false;
  bool drops_bytes = false;  // when the link is cut, bytes in flight are lost
  bool is_client_lost = false;
  bool wants_bytes = false;  // the server has asked for bytes
  bool is_serving = false;
  bool is_sent_late = false;
};

struct Event {
  enum class Kind {
    resume,
    accept,
    to_server,
    to_client,
    serve,
    sent,
    end_at_server,
    end_at_client,
    lost_at_server,
    lost_at_client,
    tick,
    lane_work,
    lane_done,
    refresh,
    crash,
    start,
    disk_fault,
    kill_client,
    cut,
    heal
  };
  Duration time;
  std::uint64_t number;
  Kind kind;
  std::size_t subject;
  std::uint64_t value;
  friend bool operator>(const Event& a, const Event& b) {
    return a.time != b.time ? a.time > b.time : a.number > b.number;
  }
};

class Network final : public Simulation {
 public:
  explicit Network(const Context& context) : Simulation(context) {}
  ~Network() override;

  void run() override {
    set_up();
    run_events();
    throw_failure();
  }
  std::string replay() const override { return "--network " + seed_argument(); }

 private:
  class Sim_Channel;
  class Sim_Connector;
  class Line;
  struct Node;

  Duration delay();
  void schedule(Event::Kind kind, Duration time, std::size_t subject = 0, std::uint64_t value = 0) {
    events_.push({std::max(time, now_), next_event_++, kind, subject, value});
  }
  void set_up();
  void run_events();
  void handle(const Event& event);

  // clients
  void wait(Actor& actor);
  void sleep_of(Program& program, Duration duration) override;
  void kill(Client& client);
  void live(Client& client);
  void open_and_work(Client& client);
  void work_on(Client& client, Abstract_File& file, Connection& connection);
  template <class Store>
  void work(Client& client, Abstract_File& file, Connection& connection);
  template <class Store>
  void act(Client& client, Store& store, const Abstract_File& file);
  template <class Store>
  void finish(Client& client, Store& store, const Abstract_File& file);
  template <class Store>
  void write(Client& client, Store& store, bool is_cancelled, bool pauses);
  template <class Store>
  void write_twice(Client& client, Store& store, const Abstract_File& file);
  template <class Store, class Lock>
  void write_both(Client& client, Store& store, const Abstract_File& file, Lock& lock);
  template <class Store>
  void guarded(Client& client, Store& store, const std::function<void()>& f);
  void begin(Client& client, std::string action);
  struct Moment {
    Duration time;
    std::size_t link;
    std::array<std::uint64_t, 2> generations;
    std::size_t upstream;  // link from the relay to the hub
  };
  Moment moment(const Client& client) const;
  bool is_quick(std::size_t link) const;
  bool was_fault_free_since(const Moment& start, const Client& client) const;
  void check_wait(const Client& client, const Moment& start, std::size_t from);
  void discard(Client& client);

  // the network
  std::unique_ptr<Channel> connect(Actor& actor, std::size_t node);
  std::size_t read(std::size_t link, char* data, std::size_t size, Duration end);
  void write(std::size_t link, const char* data, std::size_t size, Duration end);
  void wait_at(std::size_t link, Duration end);
  void close_client(std::size_t link);
  void transmit(std::size_t link, bool is_to_server, std::string_view bytes);
  void cut(std::size_t link);
  void wake(std::size_t link);
  void serve(std::size_t link);
  void schedule_serve(std::size_t link);
  void lose(std::size_t link);

  // servers
  Node& hub() { return nodes_.front(); }
  const Node& hub() const { return nodes_.front(); }
  bool has_relay() const { return nodes_.size() > 1; }
  Node& relay() { return nodes_.back(); }
  const Node& relay() const { return nodes_.back(); }
  void start_server();
  bool open_journal(Recovery recovery, std::string& error);
  void crash(Node& node, bool is_power_cut);
  void crash_hub(bool is_power_cut);
  void cut_links(const Node& node);
  void forget_work(Node& node);
  void do_lane_work(Node& node, std::size_t lane);
  void set_fault(Node& node, std::uint64_t seed);
  template <class F>
  void call(Node& node, F&& f);

  // the relay
  void set_up_relay();
  void start_relay_threads();
  void run_relay();
  bool open_relay();
  void open_relay_journal();
  void run_relay_jobs();
  void destroy_relay();
  void watch_hub();
  void attack_rollback(std::string_view reply);
  std::string relay_error();
  void observe_relay();
  bool may_relay_lag() const;
  void check_relay_lag();

  // another process that writes to the file of the hub
  void run_writer(Client& client);
  bool is_file_free();
  bool can_hub_write() const;
  void write_directly(Client& client);
  void check_hub_lag();

  // the model
  std::string_view served_body(std::size_t size) const;
  std::string extend_journal(std::string_view body);
  void observe();
  std::string recovered();
  void check_copy(Client& client, const joedb::Client& store, const Abstract_File& file);
  void acknowledge(Client& client, const joedb::Client& store, const Abstract_File& file);
  void check_conflict(Client& client, const Conflict& conflict, const std::string& local);

  std::uint64_t next_event_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::deque<Client> clients_;
  std::vector<Actor*> actors_;
  std::deque<Link> links_;

  // The faults that can happen in this schedule.
  std::size_t cut_percent_ = 0;
  std::size_t late_percent_ = 0;
  std::size_t piece_percent_ = 0;
  std::size_t pause_percent_ = 0;
  Duration heal_time_{};
  bool is_healed_ = false;

  std::deque<Node> nodes_;  // the hub, and perhaps a relay
  Actor relay_lane_;        // the thread of the relay that works on its journal
  Actor relay_watcher_;
  std::size_t checked_ = 0;         // number of checked bytes in the copy of the relay
  bool must_discard_copy_ = false;  // the relay must discard its copy
  Duration relay_lag_start_{};      // time since which the relay lags behind without an excuse

  bool is_shared_ = false;   // true if another process writes to the file of the hub
  std::size_t written_ = 0;  // end of the last transaction of that process
  Duration hub_lag_start_{};

  // The journal of the server without its header, and the ends of all pushes.
  std::string served_;
  std::size_t acknowledged_ = 0;  // end of the acknowledged bytes
  std::set<std::size_t> ends_{0};
  // Earlier values of served_; a power cut has lost a part of each.
  std::vector<std::string> lost_;
};

// Passes lines to the trace, and counts some of them.
class Network::Line final : public Logger {
 public:
  Line(Network& simulation, std::string who) : simulation_(simulation), who_(std::move(who)) {}
  void log(std::string_view line) override {
    if (line.find("has lost it") != std::string_view::npos) ++simulation_.counts_.lock_losses;
    if (line == "the push had arrived") ++simulation_.counts_.found_again;
    if (simulation_.is_traced_) simulation_.note(who_ + ": " + std::string(line));
  }

 private:
  Network& simulation_;
  const std::string who_;
};

class Network::Sim_Connector final : public Connector {
 public:
  Sim_Connector(Network& simulation, Actor& actor, std::size_t node)
      : simulation_(simulation), actor_(actor), node_(node) {
    set_retry_time(System::Duration::max());
    // This is shorter than some pauses of servers: the client gives up a request, and the server
    // executes the request later.
    if (actor.index % 3 == 1) set_answer_time(2 * second);
  }
  std::unique_ptr<Channel> new_channel() override { return simulation_.connect(actor_, node_); }
  std::string name() const override { return "the server"; }

 private:
  Network& simulation_;
  Actor& actor_;
  const std::size_t node_;
};

// A server: the hub, or a relay. The journal of a relay has a connection to the hub.
struct Network::Node final : public Server_Host {
  Node(Network& s, std::size_t i, std::string n)
      : simulation(s), index(i), name(std::move(n)), log(s, name) {}

  void send(Session_Id session, std::string bytes) override;
  void receive(Session_Id session) override;
  void close(Session_Id session) override;
  void run(Lane lane, std::function<void()> work, std::function<void()> done) override;

  bool is_relay() const { return index > 0; }
  bool is_dead() const { return file && file->is_killed(); }
  bool is_working() const {
    return is_lane_busy || !jobs.front().empty() || !dones.front().empty();
  }
  std::size_t link_of(Session_Id session) const {
    return session_links[static_cast<std::size_t>(session)];
  }

  Network& simulation;
  const std::size_t index;
  const std::string name;
  Line log;

  bool is_hard = false;
  bool is_in_memory = false;
  Content_Check check = Content_Check::none;
  Server_Core::Limits limits = {};

  std::unique_ptr<Sim_Disk> disk = std::make_unique<Sim_Disk>();
  std::unique_ptr<Sim_File> file = nullptr;  // null if the journal is in memory
  std::unique_ptr<Locked_Memory_File> memory = nullptr;
  std::unique_ptr<Sim_Connector> connector = nullptr;
  std::unique_ptr<Connection> upstream = nullptr;
  std::unique_ptr<Written_Journal> journal = nullptr;
  std::unique_ptr<Server_Core> core = nullptr;
  std::uint64_t generation = 0;
  bool is_power_next = false;
  bool was_power_cut = false;
  std::vector<std::size_t> session_links = {};
  std::optional<Duration> tick_time = std::nullopt;
  struct Job {
    std::function<void()> work;
    std::function<void()> done;
  };
  std::array<std::deque<Job>, lane_count> jobs = {};  // the queue of each lane
  std::array<std::deque<std::function<void()>>, lane_count> dones = {};
  std::array<Duration, lane_count> done_times{};
  // Returns the subject of the events of a lane. Each node has lane_count subjects.
  std::size_t event_of(std::size_t lane) const { return lane_count * index + lane; }
  bool is_lane_busy = false;  // true if relay_lane_ is executing a job

  // Number of bytes that the relay has served.
  std::size_t served = 0;
  // The sizes that the journal has reached, with the times.
  std::vector<std::pair<Duration, std::size_t>> growth = {};
};

inline std::string_view Network::served_body(std::size_t size) const {
  const std::string_view content = hub().disk->content();
  return content.substr(std::min(header_bytes, content.size()), size);
}

// Calls f(), which calls the core; then handles a crash, checks the new state, and schedules the
// next tick.
template <class F>
void Network::call(Node& node, F&& f) {
  if (!node.core) return;
  f();
  if (node.is_dead()) return crash(node, node.is_power_next);
  node.is_relay() ? observe_relay() : observe();
  const auto deadline = node.core->next_deadline();
  if (!deadline) return;
  const Duration time = deadline->time_since_epoch();
  if (node.tick_time && *node.tick_time <= time) return;
  node.tick_time = time;
  schedule(Event::Kind::tick, time, node.index, node.generation);
}

}  // namespace joedb::testing::network_lab

#endif
