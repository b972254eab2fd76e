#ifndef LAB_NETWORK_SIMULATION_H
#define LAB_NETWORK_SIMULATION_H

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
#include "joedb/base/system.h"
#include "joedb/format/header.h"
#include "joedb/io/memory_file.h"
#include "joedb/network/channel.h"
#include "joedb/replica/client.h"
#include "lab/crash_lab.h"
#include "lab/fiber.h"
#include "lab/random.h"
#include "lab/sim_file.h"
#include "server/server_core.h"

namespace joedb::testing::network_lab {

using server::Server_Core;
using server::Server_Host;
using server::Session_Id;
using server::Written_Journal;

using Nanoseconds = std::int64_t;
constexpr Nanoseconds microsecond = 1000;
constexpr Nanoseconds millisecond = 1000 * microsecond;
constexpr Nanoseconds second = 1000 * millisecond;

// When the faults have ended, each client must have done what it wants after so much time.
constexpr Nanoseconds patience = 1000 * second;
constexpr std::uint64_t most_events = 300'000;
constexpr std::size_t most_bytes_of_a_push = 200'000;

constexpr auto header_bytes = static_cast<std::size_t>(journal_start);

inline std::size_t body_size(Offset checkpoint) {
  return static_cast<std::size_t>(std::max(checkpoint, journal_start) - journal_start);
}

// ---- what the clients have written --------------------------------------------------------------

// A transaction is a number of comments, the first of which says whose it is: "@2.17;".
struct Transaction {
  std::string bytes;
  bool is_cancelled = true;  // until the client asks for its checkpoint
  bool is_refused = false;   // the server has said so
  bool is_acknowledged = false;
  std::size_t end = 0;  // in the journal of the server; 0: it is not there
};

void append_comment(std::string& bytes, std::string_view text);

struct Owner {
  std::size_t client = 0;
  std::size_t number = 0;
};

// Whose transaction begins here.
std::optional<Owner> owner_of(std::string_view bytes);

// ---- the simulation -----------------------------------------------------------------------------

// A schedule has failed: the rest of it is of no interest.
class Cancelled final : public Exception {
 public:
  Cancelled() : Exception("cancelled by the transaction") {}
};
class Reopen final : public std::exception {};
class Diverged final : public std::exception {};

enum class Copy_Kind { memory, disk, none };  // none: Server_File

struct Client {
  std::size_t index = 0;
  std::unique_ptr<Fiber> fiber;
  Copy_Kind copy = Copy_Kind::memory;
  bool is_robust = false;
  bool has_tables = false;
  bool is_hard = false;
  Content_Check check = Content_Check::fast;

  std::uint64_t ticket = 0;  // of what it waits for
  std::size_t waits_for_link = std::size_t(-1);
  std::size_t link = 0;  // the last one it made
  bool is_killed = false;
  bool is_finished = false;
  std::size_t actions_left = 0;
  Nanoseconds pause = 0;
  std::string action = "starts";

  std::unique_ptr<Memory_File> memory;
  std::unique_ptr<Sim_Disk> disk;
  std::unique_ptr<Sim_File> file;

  std::vector<Transaction> transactions;
  std::size_t epoch = 0;            // in which the action has begun
  std::size_t expected = 0;         // what a pull must find at least
  std::size_t last_in_journal = 0;  // number + 1 of its last transaction there
};

// A connection: two streams of bytes.
struct Stream {
  std::string bytes;        // sent and not yet read
  std::size_t arrived = 0;  // of them
  std::size_t total = 0;    // sent so far
  std::size_t cut_at = std::size_t(-1);
  Nanoseconds time = 0;    // when the last bytes arrive
  bool has_ended = false;  // and the other side knows
};
struct Link {
  std::size_t client = 0;
  Session_Id session = -1;
  Stream to_server;
  Stream to_client;
  std::size_t capacity = 0;
  bool is_in_pieces = false;
  bool is_client_open = true;
  bool is_cut = false;
  bool drops_bytes = false;  // those on their way when it was cut
  bool is_client_lost = false;
  bool wants_bytes = false;  // the server does
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
    crash,
    start,
    disk_fault,
    kill_client,
    cut,
    heal
  };
  Nanoseconds time;
  std::uint64_t number;
  Kind kind;
  std::size_t subject;
  std::uint64_t value;
  friend bool operator>(const Event& a, const Event& b) {
    return a.time != b.time ? a.time > b.time : a.number > b.number;
  }
};

class Simulation final : public Server_Host, public System {
 public:
  Simulation(std::uint64_t seed, bool is_traced) : random_(seed), is_traced_(is_traced) {}
  ~Simulation() override;

  void run();
  const std::string& failure() const { return failure_; }
  const std::string& trace() const { return trace_; }
  const Network_Counts& counts() const { return counts_; }

  // ---- System, for the server and for clients
  Time now() override { return Time(std::chrono::nanoseconds(now_)); }
  void sleep(Duration duration) override {
    sleep_of(*current_, std::chrono::nanoseconds(duration).count());
  }
  std::uint64_t random() override { return random_.next(); }

  // ---- Server_Host
  void send(Session_Id session, std::string bytes) override;
  void receive(Session_Id session) override;
  void close(Session_Id session) override;
  void run(Lane lane, std::function<void()> work, std::function<void()> done) override;

 private:
  class Sim_Channel;
  class Sim_Connector;
  class Line;

  void note(const std::string& text);
  void fail(std::string text);
  bool has_failed() const { return !failure_.empty(); }
  bool chance(std::size_t percent) { return random_.below(100) < percent; }
  Nanoseconds below(Nanoseconds limit) {
    return static_cast<Nanoseconds>(random_.below(static_cast<std::size_t>(limit)));
  }
  Nanoseconds delay();
  void schedule(Event::Kind kind, Nanoseconds time, std::size_t subject = 0,
                std::uint64_t value = 0) {
    events_.push({std::max(time, now_), next_event_++, kind, subject, value});
  }
  void set_up();
  void handle(const Event& event);

  // clients
  void resume(Client& client);
  void wait(Client& client);
  void sleep_of(Client& client, Nanoseconds duration);
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
    Nanoseconds time;
    std::size_t link;
    std::uint64_t generation;
  };
  Moment moment(const Client& client) const { return {now_, client.link, generation_}; }
  bool had_no_fault_since(const Moment& start, const Client& client) const;
  void check_wait(const Client& client, const Moment& start, std::size_t from);
  void discard(Client& client);

  // the network
  std::unique_ptr<Channel> connect(Client& client);
  std::size_t read(std::size_t link, char* data, std::size_t size);
  void write(std::size_t link, const char* data, std::size_t size);
  void close_client(std::size_t link);
  void transmit(std::size_t link, bool is_to_server, std::string_view bytes);
  void cut(std::size_t link);
  void wake(std::size_t link);
  void serve(std::size_t link);
  void schedule_serve(std::size_t link);
  void lose(std::size_t link);
  std::size_t link_of(Session_Id session) const {
    return session_links_[static_cast<std::size_t>(session)];
  }

  // the server
  void start_server();
  bool open_journal(Recovery recovery, std::string& error);
  void crash(bool is_power_cut);
  template <class F>
  void call(F&& f);

  // the model
  std::string_view served_body(std::size_t size) const {
    return std::string_view(disk_->content())
        .substr(std::min(header_bytes, disk_->content().size()), size);
  }
  std::string extend_journal(std::string_view body);
  void observe();
  std::string recovered();
  void check_copy(Client& client, const joedb::Client& store, const Abstract_File& file);
  void acknowledge(Client& client, const joedb::Client& store, const Abstract_File& file);
  void check_conflict(Client& client, const Conflict& conflict, const std::string& local);

  Random random_;
  const bool is_traced_;
  std::string trace_;
  std::string failure_;
  Network_Counts counts_;

  Nanoseconds now_ = 0;
  std::uint64_t next_event_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::deque<Client> clients_;
  Client* current_ = nullptr;
  bool is_stopping_ = false;
  std::deque<Link> links_;

  // What can happen, in this schedule.
  std::size_t cut_percent_ = 0;
  std::size_t late_percent_ = 0;
  std::size_t piece_percent_ = 0;
  std::size_t pause_percent_ = 0;
  bool is_hard_ = false;
  bool has_lossy_power_ = false;
  Server_Core::Limits limits_;
  Nanoseconds heal_time_ = 0;
  bool is_healed_ = false;

  std::unique_ptr<Sim_Disk> disk_;
  std::unique_ptr<Sim_File> file_;
  std::unique_ptr<Written_Journal> journal_;
  std::unique_ptr<Server_Core> core_;
  std::unique_ptr<Logger> server_log_;
  std::uint64_t generation_ = 0;
  bool is_power_next_ = false;
  bool was_power_cut_ = false;
  std::vector<std::size_t> session_links_;
  std::optional<Nanoseconds> tick_time_;
  struct Job {
    std::function<void()> work;
    std::function<void()> done;
  };
  std::array<std::deque<Job>, 2> jobs_;
  std::array<std::deque<std::function<void()>>, 2> dones_;
  std::array<Nanoseconds, 2> done_times_{};

  // The journal of the server, behind its header, and the ends of all pushes.
  std::string served_;
  std::size_t acknowledged_ = 0;  // up to here
  std::set<std::size_t> ends_{0};
  std::vector<std::pair<Nanoseconds, std::size_t>> growth_;  // when it had so much
  std::vector<std::string> lost_;  // what it was before a power cut without hard checkpoints
};
// Passes lines to the trace.
class Simulation::Line final : public Logger {
 public:
  Line(Simulation& simulation, std::string who) : simulation_(simulation), who_(std::move(who)) {}
  void log(std::string_view line) override {
    if (line.find("has lost it") != std::string_view::npos) ++simulation_.counts_.lock_losses;
    if (line == "the push had arrived") ++simulation_.counts_.found_again;
    if (simulation_.is_traced_) simulation_.note(who_ + ": " + std::string(line));
  }

 private:
  Simulation& simulation_;
  const std::string who_;
};

class Simulation::Sim_Connector final : public Connector {
 public:
  Sim_Connector(Simulation& simulation, Client& client)
      : simulation_(simulation), client_(client) {}
  std::unique_ptr<Channel> new_channel() override { return simulation_.connect(client_); }
  std::string name() const override { return "the server"; }

 private:
  Simulation& simulation_;
  Client& client_;
};

// Everything that the core is told goes through this.
template <class F>
void Simulation::call(F&& f) {
  if (!core_) return;
  f();
  if (file_->is_killed()) return crash(is_power_next_);
  observe();
  const auto deadline = core_->next_deadline();
  if (!deadline) return;
  const Nanoseconds time = std::chrono::nanoseconds(deadline->time_since_epoch()).count();
  if (tick_time_ && *tick_time_ <= time) return;
  tick_time_ = time;
  schedule(Event::Kind::tick, time, 0, generation_);
}

}  // namespace joedb::testing::network_lab

#endif
