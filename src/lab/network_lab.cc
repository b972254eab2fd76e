#include "lab/network_lab.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <deque>
#include <memory>
#include <queue>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "joedb/base/error.h"
#include "joedb/base/log.h"
#include "joedb/base/system.h"
#include "joedb/format/compact.h"
#include "joedb/format/header.h"
#include "joedb/io/memory_file.h"
#include "joedb/network/robust_connection.h"
#include "joedb/network/server_connection.h"
#include "joedb/network/server_file.h"
#include "joedb/replica/clients.h"
#include "lab/fiber.h"
#include "lab/random.h"
#include "lab/sim_file.h"
#include "server/server_core.h"

namespace joedb::testing {

namespace {

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

std::size_t body_size(Offset checkpoint) {
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

void append_comment(std::string& bytes, std::string_view text) {
  char size[max_compact_size];
  bytes += '\x0a';
  bytes.append(size, write_compact(size, text.size()));
  bytes += text;
}

struct Owner {
  std::size_t client = 0;
  std::size_t number = 0;
};

// Whose transaction begins here.
std::optional<Owner> owner_of(std::string_view bytes) {
  if (bytes.size() < 3 || bytes[0] != '\x0a' || bytes[2] != '@') return std::nullopt;
  Owner owner;
  const char* const end = bytes.data() + std::min<std::size_t>(bytes.size(), 33);
  const auto client = std::from_chars(bytes.data() + 3, end, owner.client);
  if (client.ec != std::errc() || client.ptr == end || *client.ptr != '.') return std::nullopt;
  const auto number = std::from_chars(client.ptr + 1, end, owner.number);
  if (number.ec != std::errc() || number.ptr == end || *number.ptr != ';') return std::nullopt;
  return owner;
}

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
  template <class Store>
  std::string body_of(const Store& store, const Abstract_File& file);
  template <class Store>
  void check_copy(Client& client, const Store& store, const Abstract_File& file);
  template <class Store>
  void acknowledge(Client& client, const Store& store, const Abstract_File& file);
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

// ---- basics -------------------------------------------------------------------------------------

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

// ---- the network --------------------------------------------------------------------------------

class Simulation::Sim_Channel final : public Channel {
 public:
  Sim_Channel(Simulation& simulation, std::size_t link) : simulation_(simulation), link_(link) {}
  ~Sim_Channel() override { simulation_.close_client(link_); }
  std::size_t read_some(char* data, std::size_t size) override {
    return simulation_.read(link_, data, size);
  }
  void write(const char* data, std::size_t size) override { simulation_.write(link_, data, size); }

 private:
  Simulation& simulation_;
  const std::size_t link_;
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

std::unique_ptr<Channel> Simulation::connect(Client& client) {
  sleep_of(client, delay());
  if (!core_) throw Connection_Lost("connection refused");
  const std::size_t index = links_.size();
  Link& link = links_.emplace_back();
  link.client = client.index;
  client.link = index;
  link.capacity = chance(80) ? std::size_t{1} << 20 : 16 + random_.below(1000);
  link.is_in_pieces = chance(piece_percent_);
  if (!is_healed_ && chance(cut_percent_)) {
    Stream& stream = random_.flip() ? link.to_server : link.to_client;
    stream.cut_at = random_.below(chance(70) ? 120 : 2000);
  }
  if (is_traced_)
    note("client " + std::to_string(client.index) + ": connects: link " + std::to_string(index));
  ++counts_.connections;
  schedule(Event::Kind::accept, now_ + delay(), index, generation_);
  return std::make_unique<Sim_Channel>(*this, index);
}

static std::string text_of_message(std::string_view bytes) {
  const auto first = static_cast<unsigned char>(bytes.empty() ? 0 : bytes.front());
  return std::to_string(bytes.size()) + " bytes" +
         (first > 32 && first < 127 ? std::string(": ") + bytes.front() : std::string());
}

// Bytes beyond the place where the connection is cut are lost.
void Simulation::transmit(std::size_t index, bool is_to_server, std::string_view bytes) {
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
}

void Simulation::cut(std::size_t index) {
  Link& link = links_[index];
  if (link.is_cut) return;
  ++counts_.cuts;
  link.is_cut = true;
  link.drops_bytes = random_.flip();
  note("link " + std::to_string(index) + " is cut" +
       (link.drops_bytes ? ", with the bytes on their way" : ""));
  const auto until_noticed = [&](Nanoseconds longest) {
    return now_ + (chance(60) ? below(100 * millisecond) : below(longest));
  };
  schedule(Event::Kind::lost_at_client, until_noticed(20 * second), index);
  schedule(Event::Kind::lost_at_server, until_noticed(100 * second), index, generation_);
}

void Simulation::wake(std::size_t index) {
  const Client& client = clients_[links_[index].client];
  if (client.waits_for_link == index)
    schedule(Event::Kind::resume, now_, client.index, client.ticket);
}

std::size_t Simulation::read(std::size_t index, char* data, std::size_t size) {
  Client& client = clients_[links_[index].client];
  Link& link = links_[index];
  for (;;) {
    if (client.is_killed) throw Sim_Killed();
    Stream& stream = link.to_client;
    if (stream.arrived > 0) {
      std::size_t n = std::min(size, stream.arrived);
      if (link.is_in_pieces) n = 1 + random_.below(n);
      stream.bytes.copy(data, n);
      stream.bytes.erase(0, n);
      stream.arrived -= n;
      if (std::exchange(link.is_sent_late, false))
        schedule(Event::Kind::sent, now_ + delay(), index, generation_);
      return n;
    }
    if (stream.has_ended || link.is_client_lost) throw Connection_Lost("the connection is lost");
    client.waits_for_link = index;
    wait(client);
  }
}

void Simulation::write(std::size_t index, const char* data, std::size_t size) {
  Client& client = clients_[links_[index].client];
  Link& link = links_[index];
  while (size > 0) {
    if (client.is_killed) throw Sim_Killed();
    // Windows grow, so that a large push ends in reasonable time.
    link.capacity = std::max(link.capacity, link.to_server.total / 64);
    const std::size_t waiting = link.to_server.bytes.size();
    const bool is_full = waiting >= link.capacity;
    if (link.is_client_lost || (link.to_client.has_ended && (is_full || random_.flip())))
      throw Connection_Lost("the connection is lost");
    if (is_full && !link.is_cut) {
      client.waits_for_link = index;
      wait(client);
      continue;
    }
    const std::size_t n = link.is_cut ? size : std::min(size, link.capacity - waiting);
    transmit(index, true, {data, n});
    data += n;
    size -= n;
  }
}

void Simulation::close_client(std::size_t index) {
  Link& link = links_[index];
  link.is_client_open = false;
  note("link " + std::to_string(index) + ": closed by the client");
  if (link.is_cut) return;
  // A machine that is switched off says nothing.
  if (clients_[link.client].is_killed && chance(30)) return cut(index);
  schedule(Event::Kind::end_at_server, std::max(link.to_server.time, now_ + delay()), index,
           generation_);
}

void Simulation::schedule_serve(std::size_t index) {
  Link& link = links_[index];
  if (link.session < 0 || !link.wants_bytes || link.is_serving) return;
  if (link.to_server.arrived == 0 && !link.to_server.has_ended) return;
  link.is_serving = true;
  schedule(Event::Kind::serve, now_ + (random_.flip() ? 0 : delay()), index, generation_);
}

void Simulation::serve(std::size_t index) {
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
  call([&] { core_->received(link.session, bytes); });
}

void Simulation::lose(std::size_t index) {
  Link& link = links_[index];
  if (link.session < 0) return;
  const Session_Id session = std::exchange(link.session, -1);
  call([&] { core_->closed(session); });
}

// ---- Server_Host --------------------------------------------------------------------------------

void Simulation::send(Session_Id session, std::string bytes) {
  if (file_->is_killed()) return;  // this process is dead
  const std::size_t index = link_of(session);
  transmit(index, false, bytes);
  schedule(Event::Kind::sent, now_ + delay(), index, generation_);
}

void Simulation::receive(Session_Id session) {
  const std::size_t index = link_of(session);
  links_[index].wants_bytes = true;
  schedule_serve(index);
}

void Simulation::close(Session_Id session) {
  if (file_->is_killed()) return;
  const std::size_t index = link_of(session);
  Link& link = links_[index];
  link.session = -1;
  note("link " + std::to_string(index) + ": closed by the server");
  if (!link.is_cut)
    schedule(Event::Kind::end_at_client, std::max(link.to_client.time, now_ + delay()), index);
}

void Simulation::run(Lane lane, std::function<void()> work, std::function<void()> done) {
  const auto i = static_cast<std::size_t>(lane);
  jobs_[i].push_back({std::move(work), std::move(done)});
  if (jobs_[i].size() == 1) schedule(Event::Kind::lane_work, now_ + delay(), i, generation_);
}

// ---- the server ---------------------------------------------------------------------------------

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

void Simulation::crash(bool is_power_cut) {
  if (!core_) return;
  note(is_power_cut ? "the power of the server is cut" : "the server is killed");
  ++(is_power_cut ? counts_.power_cuts : counts_.kills);
  file_->kill_after(0);
  for (auto& jobs : jobs_) jobs.clear();
  for (auto& dones : dones_) dones.clear();
  core_.reset();
  journal_.reset();
  file_.reset();
  if (is_power_cut) {
    disk_ = std::make_unique<Sim_Disk>(disk_->power_cut(random_.next()));
    was_power_cut_ = true;
  }
  for (std::size_t i = 0; i < links_.size(); ++i) {
    Link& link = links_[i];
    link.session = -1;
    if (!link.is_client_open || link.is_cut) continue;
    link.is_cut = true;
    link.drops_bytes = random_.flip();
    schedule(Event::Kind::lost_at_client, now_ + below(chance(50) ? 50 * millisecond : 5 * second),
             i);
  }
  ++generation_;
  is_power_next_ = false;
  schedule(Event::Kind::start, now_ + below(random_.flip() ? 100 * millisecond : 5 * second));
}

bool Simulation::open_journal(Recovery recovery, std::string& error) {
  Journal_Options options(recovery);
  if (chance(20)) options.preallocation = 4096;
  try {
    file_ = std::make_unique<Sim_File>(*disk_);
    journal_ = std::make_unique<Written_Journal>(*file_, Connection::dummy, Content_Check::none,
                                                 is_hard_, options);
    return true;
  } catch (const std::exception& e) {
    error = e.what();
    journal_.reset();
    file_.reset();
    return false;
  }
}

void Simulation::start_server() {
  if (core_) return;
  note("the server starts");
  const std::string image = disk_->content();
  const bool has_failed_before = disk_->has_failed();
  const Recovery mode = random_.flip() ? Recovery::keep : Recovery::overwrite;
  std::string error;
  std::string wrong;
  if (open_journal(mode, error)) wrong = recovered();
  const bool may_be_unproven = was_power_cut_ && (has_failed_before || !disk_->has_failed());
  if (may_be_unproven && (!journal_ || !wrong.empty())) {
    // A soft checkpoint that survives a power cut proves nothing: docs/crash-safety.md.
    note("recovery by the hard checkpoint: " + error + wrong);
    wrong.clear();
    error.clear();
    journal_.reset();
    file_.reset();
    disk_ = std::make_unique<Sim_Disk>(image);
    if (open_journal(Recovery::hard, error)) wrong = recovered();
    if (!journal_ && (!is_hard_ || served_.empty())) {  // the header was never durable
      disk_ = std::make_unique<Sim_Disk>();
      if (open_journal(mode, error)) wrong = recovered();
    }
  }
  if (!journal_) {
    if (!disk_->has_failed()) return fail("the server cannot open its journal: " + error);
    note("the server cannot start: " + error);
    disk_->remove_fault();
    // Half of a new header.
    if (served_.empty() || (was_power_cut_ && !is_hard_)) disk_ = std::make_unique<Sim_Disk>();
    return schedule(Event::Kind::start, now_ + below(second));
  }
  if (!wrong.empty()) return fail("after a restart of the server: " + wrong);
  was_power_cut_ = false;
  session_links_.clear();
  tick_time_.reset();
  done_times_ = {};
  core_ = std::make_unique<Server_Core>(*journal_, *this, *this, *server_log_, limits_, "scratch-");
  note("the server has " + std::to_string(served_.size()) + " bytes");
}

// ---- the model ----------------------------------------------------------------------------------

// Takes what the journal of the server has got. Returns what is wrong, or nothing.
std::string Simulation::extend_journal(std::string_view body) {
  std::size_t at = served_.size();
  while (at < body.size()) {
    const std::string_view rest = body.substr(at);
    const auto owner = owner_of(rest);
    if (!owner || owner->client >= clients_.size() ||
        owner->number >= clients_[owner->client].transactions.size())
      return "bytes that nobody has written, at " + std::to_string(at);
    Client& client = clients_[owner->client];
    Transaction& transaction = client.transactions[owner->number];
    const std::string name =
        "transaction " + std::to_string(owner->client) + "." + std::to_string(owner->number);
    if (!rest.starts_with(transaction.bytes)) return "a part of " + name;
    if (transaction.is_cancelled) return name + ", which was cancelled";
    if (transaction.is_refused) return name + ", which was refused";
    if (transaction.end != 0) return name + " twice";
    if (owner->number < client.last_in_journal) return name + " behind a later one";
    client.last_in_journal = owner->number + 1;
    at += transaction.bytes.size();
    transaction.end = at;
  }
  served_ = body;
  ends_.insert(at);
  growth_.emplace_back(now_, at);
  return {};
}

void Simulation::observe() {
  const std::size_t size = body_size(journal_->get_checkpoint());
  if (size == served_.size()) return;
  if (size < served_.size()) return fail("the journal of the server has become shorter");
  const std::string_view body = served_body(size);
  if (body.size() < size || !body.starts_with(served_))
    return fail("the journal of the server has changed");
  ++counts_.pushes;
  if (const std::string wrong = extend_journal(body); !wrong.empty())
    fail("in the journal of the server: " + wrong);
}

// Compares what a restarted server has with what it had.
std::string Simulation::recovered() {
  const std::size_t size = body_size(journal_->get_checkpoint());
  const std::string body(served_body(size));
  if (body.size() < size) return "the checkpoint is behind the end of the file";
  if (body.starts_with(served_)) return extend_journal(body);
  if (is_hard_ || !was_power_cut_)
    return "something that was served is lost: " + std::to_string(body.size()) + " bytes of " +
           std::to_string(served_.size());
  if (!std::string_view(served_).starts_with(body) || !ends_.contains(body.size()))
    return "bytes that nobody has written";
  lost_.push_back(std::exchange(served_, body));
  growth_.clear();
  acknowledged_ = std::min(acknowledged_, body.size());
  for (Client& client : clients_) {
    client.last_in_journal = 0;
    for (std::size_t i = 0; i < client.transactions.size(); ++i) {
      Transaction& transaction = client.transactions[i];
      if (transaction.end > body.size()) transaction.end = 0;
      transaction.is_refused = false;  // it may be in a copy, which can be pushed now
      if (transaction.end != 0) client.last_in_journal = i + 1;
    }
  }
  return {};
}

template <class Store>
std::string Simulation::body_of(const Store& store, const Abstract_File& file) {
  std::string body(body_size(store.get_journal_checkpoint()), '\0');
  file.read_exactly(body.data(), body.size(), journal_start);
  return body;
}

// What a client has is what the server had after some push, and then its own transactions.
template <class Store>
void Simulation::check_copy(Client& client, const Store& store, const Abstract_File& file) {
  if (client.copy == Copy_Kind::none && (!lost_.empty() || random_.flip())) return;
  const std::string body = body_of(store, file);
  const std::size_t known = body_size(store.get_connection_checkpoint());
  const auto common = std::string_view(body).substr(0, known);
  const auto is_prefix_of = [&](const std::string& journal) {
    return std::string_view(journal).starts_with(common);
  };
  const std::string who = "client " + std::to_string(client.index) + " has ";
  if (!is_prefix_of(served_) && std::none_of(lost_.begin(), lost_.end(), is_prefix_of))
    return fail(who + "bytes that the server never had");
  if (!ends_.contains(known)) return fail(who + "a part of a push");
  for (std::size_t at = common.size(); at < body.size();) {
    const auto rest = std::string_view(body).substr(at);
    const auto owner = owner_of(rest);
    const bool is_known = owner && owner->client < clients_.size() &&
                          owner->number < clients_[owner->client].transactions.size();
    if (!is_known || (owner->client != client.index && lost_.empty()))
      return fail(who + "bytes that neither the server nor this client has written");
    const Transaction& own = clients_[owner->client].transactions[owner->number];
    if (!rest.starts_with(own.bytes)) return fail(who + "a part of its own transaction");
    if (own.is_cancelled) return fail(who + "a transaction that was cancelled");
    at += own.bytes.size();
  }
}

// The client was told that everything it has is on the server.
template <class Store>
void Simulation::acknowledge(Client& client, const Store& store, const Abstract_File& file) {
  const std::size_t size = body_size(store.get_journal_checkpoint());
  const std::string who = "client " + std::to_string(client.index);
  if (client.epoch != lost_.size()) return;
  if (size > served_.size())
    return fail(who + ": a push was acknowledged that is not in the journal of the server");
  if (client.copy != Copy_Kind::none &&
      !std::string_view(served_).starts_with(body_of(store, file)))
    return fail(who + ": a push was acknowledged, and its copy is not that of the server");
  acknowledged_ = std::max(acknowledged_, size);
  for (Transaction& transaction : client.transactions) {
    if (transaction.is_acknowledged || transaction.is_cancelled || transaction.end == 0 ||
        transaction.end > size)
      continue;
    transaction.is_acknowledged = true;
    ++counts_.acknowledged;
  }
}

// ---- clients ------------------------------------------------------------------------------------

void Simulation::resume(Client& client) {
  if (client.fiber->is_done()) return;
  current_ = &client;
  client.fiber->resume();
  current_ = nullptr;
}

void Simulation::wait(Client& client) {
  if (client.is_killed) throw Sim_Killed();
  client.fiber->suspend();
  ++client.ticket;
  client.waits_for_link = std::size_t(-1);
  if (client.is_killed) throw Sim_Killed();
}

void Simulation::sleep_of(Client& client, Nanoseconds duration) {
  if (client.is_killed) throw Sim_Killed();
  schedule(Event::Kind::resume, now_ + duration, client.index, client.ticket);
  wait(client);
}

void Simulation::kill(Client& client) {
  if (client.is_finished || client.is_killed) return;
  note("client " + std::to_string(client.index) + " is killed");
  ++counts_.client_kills;
  client.is_killed = true;
  if (client.file) client.file->kill_after(0);
  schedule(Event::Kind::resume, now_, client.index, client.ticket);
}

void Simulation::begin(Client& client, std::string action) {
  client.epoch = lost_.size();
  client.expected = acknowledged_;
  client.action = std::move(action);
  if (is_traced_) note("client " + std::to_string(client.index) + ": " + client.action);
}

// Whether the connection and the server are those that they were, and the network is fast.
bool Simulation::had_no_fault_since(const Moment& start, const Client& client) const {
  const Link& link = links_[client.link];
  return late_percent_ == 0 && start.generation == generation_ && start.link == client.link &&
         !link.is_cut && !link.is_in_pieces && link.capacity > most_bytes_of_a_push;
}

// Who waits for something new gets it at once.
void Simulation::check_wait(const Client& client, const Moment& start, std::size_t from) {
  if (!had_no_fault_since(start, client)) return;
  for (const auto& [time, size] : growth_) {
    if (size <= from) continue;
    if (now_ - std::max(time, start.time) > second / 2)
      fail("client " + std::to_string(client.index) +
           ": a pull waits although there is something new");
    return;
  }
}

// Its copy is of no use any more.
void Simulation::discard(Client& client) {
  client.memory.reset();
  client.file.reset();
  client.disk.reset();
}

// A process, and the next one after its death.
void Simulation::live(Client& client) {
  const std::string who = "client " + std::to_string(client.index) + ": ";
  while (!is_stopping_ && !has_failed() && !client.is_finished) {
    try {
      sleep_of(client, client.pause);
      client.pause = below(200 * millisecond);
      open_and_work(client);
    } catch (const Sim_Killed&) {
      client.is_killed = is_stopping_;
      client.memory.reset();  // a memory file dies with its process
      client.file.reset();
      client.pause = below(3 * second);
    } catch (const Reopen&) {
    } catch (const Diverged&) {
      discard(client);
    } catch (const Connection_Lost& error) {
      note(who + error.what());
    } catch (const Content_Mismatch& error) {
      note(who + error.what());
      ++counts_.mismatches;
      const bool has_own =
          std::any_of(client.transactions.begin(), client.transactions.end(),
                      [](const Transaction& own) { return !own.is_cancelled && own.end == 0; });
      if (!has_own && lost_.empty()) fail(who + "its copy has diverged, without a cause");
      discard(client);
    } catch (const Disconnection& error) {
      note(who + error.what());
      const bool is_refused =
          std::string_view(error.what()).find("pull-only") != std::string_view::npos;
      const bool reads_what_is_lost = client.copy == Copy_Kind::none && !lost_.empty();
      if (!is_refused && !reads_what_is_lost) fail(who + client.action + ": " + error.what());
    } catch (const std::exception& error) {
      // A Server_File does not compare what it has read with what the server has lost. A server may
      // be read-only after a reconnection in a transaction.
      const bool is_refused = std::string_view(error.what()) == "this client cannot write";
      if (is_refused || (client.copy == Copy_Kind::none && !lost_.empty()))
        note(who + error.what());
      else
        fail(who + client.action + ": " + error.what());
    }
  }
}

void Simulation::open_and_work(Client& client) {
  begin(client, "connects");
  Sim_Connector connector(*this, client);
  Line log(*this, "client " + std::to_string(client.index));
  if (client.copy == Copy_Kind::none) {
    Server_File file(connector, log, *this);
    return work_on(client, file, file);
  }
  if (client.copy == Copy_Kind::memory && !client.memory)
    client.memory = std::make_unique<Memory_File>();
  if (client.copy == Copy_Kind::disk && !client.file) {
    if (!client.disk) client.disk = std::make_unique<Sim_Disk>();
    client.file = std::make_unique<Sim_File>(*client.disk);
  }
  Abstract_File& file = client.file ? static_cast<Abstract_File&>(*client.file) : *client.memory;
  if (client.is_robust) {
    Robust_Connection connection(connector, log, *this);
    client.action = "opens";
    try {
      work_on(client, file, connection);
    } catch (const Connection_Lost& error) {
      fail("a Robust_Connection has thrown in \"" + client.action + "\": " + error.what());
    }
  } else {
    const auto channel = connector.new_channel();
    Server_Connection connection(*channel, log);
    work_on(client, file, connection);
  }
}

void Simulation::work_on(Client& client, Abstract_File& file, Connection& connection) {
  if (client.has_tables)
    work<Writable_Database_Client>(client, file, connection);
  else
    work<Writable_Journal_Client>(client, file, connection);
}

template <class Store>
void Simulation::work(Client& client, Abstract_File& file, Connection& connection) {
  begin(client, "opens its copy");
  Journal_Options options;
  if (!file.is_shared()) options.recovery = Recovery::keep;
  Store store(file, connection, client.check, options);
  store.set_hard_checkpoint(client.is_hard);
  check_copy(client, store, file);
  while (!has_failed() && !client.is_finished) {
    if (client.actions_left == 0) {
      finish(client, store, file);
    } else {
      --client.actions_left;
      act(client, store, file);
      sleep_of(client, chance(60) ? delay() : below(500 * millisecond));
    }
  }
}

static void write_comment(const Database&, Writable_Database& database, std::string_view text) {
  database.write(Comment{text});
}
static void write_comment(Writable_Journal& journal, std::string_view text) {
  journal.append(Comment{text});
}

namespace {
template <class Store>
struct Lock_Of;
template <>
struct Lock_Of<Writable_Database_Client> {
  using Type = Writable_Database_Client_Lock;
};
template <>
struct Lock_Of<Writable_Journal_Client> {
  using Type = Writable_Journal_Client_Lock;
};
void write_comment(Writable_Database_Client_Lock& lock, std::string_view text) {
  lock.get_database().write(Comment{text});
}
void write_comment(Writable_Journal_Client_Lock& lock, std::string_view text) {
  lock.get_journal().append(Comment{text});
}

std::size_t new_transaction(Client& client, Random& random, std::vector<std::string>& comments) {
  const std::size_t number = client.transactions.size();
  comments.push_back("@" + std::to_string(client.index) + "." + std::to_string(number) + ";");
  for (std::size_t i = random.below(4); i > 0; --i)
    comments.push_back(std::string(random.below(10), 'x'));
  if (random.below(30) == 0) comments.push_back(std::string(random.below(3000), 'y'));
  if (random.below(500) == 0) comments.push_back(std::string(random.below(100'000), 'z'));
  Transaction transaction;
  for (const std::string& comment : comments) append_comment(transaction.bytes, comment);
  client.transactions.push_back(std::move(transaction));
  return number;
}
}  // namespace

template <class Store>
void Simulation::write(Client& client, Store& store, bool is_cancelled, bool pauses) {
  std::optional<std::size_t> refused;
  store.transaction([&](auto&... target) {
    // The second call: the server has refused what the first one wrote.
    if (refused && lost_.empty()) {
      if (client.transactions[*refused].end != 0)
        fail("client " + std::to_string(client.index) +
             ": a transaction is repeated, but the server has it");
      client.transactions[*refused].is_cancelled = true;
    }
    std::vector<std::string> comments;
    const std::size_t number = new_transaction(client, random_, comments);
    if (is_traced_)
      note("client " + std::to_string(client.index) + ": writes transaction " +
           std::to_string(number));
    for (const std::string& comment : comments) {
      write_comment(target..., comment);
      if (pauses && chance(30)) sleep_of(client, below(chance(30) ? 20 * second : second));
    }
    refused = number;
    if (is_cancelled) throw Cancelled();
    client.transactions[number].is_cancelled = false;
  });
}

template <class Store>
void Simulation::write_twice(Client& client, Store& store, const Abstract_File& file) {
  const Moment start = moment(client);
  typename Lock_Of<Store>::Type lock(store);
  try {
    write_both(client, store, file, lock);
  } catch (const Conflict&) {
    const bool has_lock = limits_.lock_time == System::Duration(0) ||
                          std::chrono::nanoseconds(now_ - start.time) < limits_.lock_time;
    if (has_lock && had_no_fault_since(start, client))
      fail("client " + std::to_string(client.index) + ": has the lock, and others push");
    throw;
  }
}

template <class Store, class Lock>
void Simulation::write_both(Client& client, Store& store, const Abstract_File& file, Lock& lock) {
  for (const bool is_last : {false, true}) {
    std::vector<std::string> comments;
    const std::size_t number = new_transaction(client, random_, comments);
    for (const std::string& comment : comments) write_comment(lock, comment);
    client.transactions[number].is_cancelled = false;
    if (is_last) return lock.checkpoint_and_push_unlock();
    lock.checkpoint_and_push();
    acknowledge(client, store, file);
    if (chance(pause_percent_)) sleep_of(client, below(10 * second));
  }
}

// A conflict is one, and the client finds that its copy has diverged.
void Simulation::check_conflict(Client& client, const Conflict& conflict,
                                const std::string& local) {
  const std::string who = "client " + std::to_string(client.index) + ": ";
  ++counts_.conflicts;
  const bool is_remembered = client.is_robust || client.copy == Copy_Kind::none;
  for (std::size_t at = 0; at < local.size();) {
    const auto owner = owner_of(std::string_view(local).substr(at));
    if (!owner || owner->client >= clients_.size()) return;  // after a power cut
    Transaction& own = clients_[owner->client].transactions.at(owner->number);
    at += own.bytes.size();
    if (at <= body_size(conflict.position)) continue;
    if (own.end == 0 && owner->client == client.index && lost_.empty()) own.is_refused = true;
    if (own.end != 0 && is_remembered && lost_.empty())
      fail(who + "a push is called a conflict, but the server has it");
  }
  if (lost_.empty() && body_size(conflict.position) == served_.size())
    fail(who + "a conflict, but nobody else has pushed");
}

template <class Store>
void Simulation::guarded(Client& client, Store& store, const std::function<void()>& f) {
  const std::string who = "client " + std::to_string(client.index) + ": ";
  std::optional<Conflict> conflict;
  try {
    f();
    return;
  } catch (const Cancelled&) {
    return;
  } catch (const Conflict& error) {
    conflict.emplace(error);
  }
  note(who + conflict->what());
  // What its copy has is not what is asked for if it is a Server_File: that is gone.
  check_conflict(client, *conflict,
                 client.memory ? std::string(client.memory->get_data().begin() + journal_start,
                                             client.memory->get_data().end())
                 : client.file ? client.disk->content().substr(header_bytes)
                               : std::string());
  if (client.copy != Copy_Kind::none && random_.flip()) {
    begin(client, "pulls after a conflict");
    const bool was_whole = lost_.empty();
    store.pull();  // throws Content_Mismatch
    const bool is_pushed =
        std::none_of(client.transactions.begin(), client.transactions.end(),
                     [](const Transaction& own) { return !own.is_cancelled && own.is_refused; });
    if (was_whole && lost_.empty() && !is_pushed && store.get_checkpoint_difference() >= 0)
      fail(who + "a pull does not find that its copy has diverged");
  }
  throw Diverged();
}

template <class Store>
void Simulation::act(Client& client, Store& store, const Abstract_File& file) {
  const std::size_t kind = random_.below(100);
  if (kind < 55) {
    const bool is_cancelled = chance(8), pauses = chance(pause_percent_);
    if (!store.can_write()) {
      begin(client, "pulls, for it cannot write");
      store.pull();
      if (!store.can_write() && random_.flip()) throw Reopen();
      return;
    }
    begin(client, is_cancelled ? "a transaction that is cancelled" : "a transaction");
    guarded(client, store, [&] {
      write(client, store, is_cancelled, pauses);
      acknowledge(client, store, file);
    });
    check_copy(client, store, file);
  } else if (kind < 65) {
    if (!store.can_write()) return;
    begin(client, "a transaction of two pushes");
    guarded(client, store, [&] {
      write_twice(client, store, file);
      acknowledge(client, store, file);
    });
    check_copy(client, store, file);
  } else if (kind < 88) {
    const Nanoseconds time = random_.flip() ? 0 : below(3 * second);
    begin(client, "pulls, waiting for " + std::to_string(time / millisecond) + " ms");
    const Moment start = moment(client);
    const std::size_t from = body_size(store.get_journal_checkpoint());
    store.pull(std::chrono::nanoseconds(time));
    check_wait(client, start, from);
    if (client.epoch == lost_.size() &&
        body_size(store.get_connection_checkpoint()) < client.expected)
      fail("client " + std::to_string(client.index) +
           ": a pull does not give what was acknowledged before");
    check_copy(client, store, file);
  } else if (kind < 96) {
    if (!store.can_write()) return;
    begin(client, "pushes what it has");
    guarded(client, store, [&] {
      store.push_if_ahead();
      if (lost_.empty()) acknowledge(client, store, file);
    });
  } else {
    begin(client, "closes the connection");
    throw Reopen();
  }
}

// After the faults everything succeeds, perhaps not at once.
template <class Store>
void Simulation::finish(Client& client, Store& store, const Abstract_File& file) {
  if (!is_healed_) sleep_of(client, heal_time_ - now_ + below(second));
  if (!is_healed_) return;
  begin(client, "pulls at the end");
  store.pull();
  check_copy(client, store, file);
  if (!store.can_write()) throw Reopen();
  begin(client, "pushes at the end");
  guarded(client, store, [&] {
    store.push_if_ahead();
    if (lost_.empty()) acknowledge(client, store, file);
  });
  begin(client, "the last transaction");
  guarded(client, store, [&] {
    write(client, store, false, false);
    acknowledge(client, store, file);
  });
  check_copy(client, store, file);
  client.is_finished = true;
  client.action = "is finished";
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

}  // namespace

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
