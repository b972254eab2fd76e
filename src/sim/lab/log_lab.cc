#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "joedb/cluster/log_connection.h"
#include "joedb/format/codec.h"
#include "joedb/io/memory_file.h"
#include "joedb/replica/clients.h"
#include "share/cluster/message.h"
#include "sim/lab/sim_file.h"
#include "sim/lab/simulated_log.h"
#include "sim/lab/simulation.h"

namespace joedb::testing {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Number = Replicated_Log::Number;
using Call = Simulated_Log::Call;

constexpr System::Duration patience = seconds(2000);  // time to finish after the faults have ended

struct Cancelled {};

// A transaction is a comment with the name of the transaction, some other comments, and a comment
// that ends the transaction.
struct Name {
  std::size_t client = 0;
  std::size_t number = 0;
  auto operator<=>(const Name&) const = default;
};

struct Transaction {
  bool is_acknowledged = false;
  bool is_cancelled = false;
};

struct Client : Program {
  std::size_t index = 0;
  System::Duration wake{};  // the time when it resumes
  bool is_finished = false;
  int actions_left = 0;
  bool is_optimistic = true;
  Content_Check check = Content_Check::fast;
  std::unique_ptr<Sim_Disk> disk;
  std::unique_ptr<Sim_File> file;
  std::vector<Transaction> transactions;
  bool has_equal = false;  // true while a transaction of equal bytes is not acknowledged
};

class Log_World final : public Simulation {
 public:
  explicit Log_World(const Context& context) : Simulation(context) { set_up(); }
  ~Log_World() override {
    for (Client& client : clients_) {
      if (client.file) client.file->kill_after(0);
      stop(client);
    }
  }

  void run() override;
  std::string replay() const override { return "--replicated-log " + seed_argument(); }

 private:
  bool is_healed() const { return now_ >= heal_; }
  using Simulation::note;
  void note(const Client& client, const std::string& text) {
    if (is_traced_) note("client " + std::to_string(client.index) + ": " + text);
  }
  void sleep_of(Program& program, Duration duration) override {
    static_cast<Client&>(program).wake = now_ + duration;
    program.suspend();
  }

  void set_up();
  void connect(Simulated_Log& log);
  void lose(const char* what);
  void append_late();
  void damage(Number first);
  void live(Client& client);
  void discard(Client& client, const std::string& why);
  void work(Client& client);
  void act(Client& client, Writable_Journal_Client& store);
  void transact(Client& client, Writable_Journal_Client& store);
  void transact_equal(Client& client, Writable_Journal_Client& store);
  void transact_twice(Client& client, Writable_Journal_Client& store);
  void write_both(Client& client, Writable_Journal_Client_Lock& lock);
  Name write(Client& client, Writable_Journal& journal);
  Log_Settings log_settings();
  void archive();
  void check_copy(const Client& client, const Abstract_File& file, Offset end);
  void check_end();

  Duration heal_{};  // the time when the faults end
  std::size_t lost_percent_ = 0, late_percent_ = 0, damaged_percent_ = 0, slow_percent_ = 0;
  Duration dead_from_{}, dead_until_{};  // period in which the log does not answer
  std::size_t archive_interval_ = 0;
  std::size_t message_size_ = 0, batch_ = 0;
  milliseconds lease_{};

  Simulated_Messages messages_;
  struct Late {
    Duration time;
    std::vector<std::string> messages;
    Number last;
  };
  std::vector<Late> late_;
  Memory_File archive_;
  // Number of acknowledged transactions of equal bytes (transact_equal).
  std::size_t equal_acknowledged_ = 0;
  std::vector<Client> clients_;
};

void Log_World::set_up() {
  const std::array<std::size_t, 5> percents{0, 0, 3, 10, 30};
  const auto percent = [&] { return percents[random_.below(percents.size())]; };
  lost_percent_ = percent();
  late_percent_ = percent();
  damaged_percent_ = percent();
  slow_percent_ = percent();
  const std::array<std::size_t, 4> sizes{message_header_size + 7, message_header_size + 64, 4096,
                                         1 << 16};
  archive_interval_ = random_.flip() ? 3000 : 200;
  message_size_ = sizes[random_.below(sizes.size())];
  batch_ = random_.flip() ? 1 : 1 + random_.below(20);
  const std::array<milliseconds, 3> leases{milliseconds(300), milliseconds(5000),
                                           milliseconds(30000)};
  lease_ = leases[random_.below(leases.size())];
  heal_ = seconds(1) + below(chance(50) ? seconds(5) : seconds(60));
  if (chance(30)) {
    dead_from_ = below(heal_);
    dead_until_ = dead_from_ + below(seconds(10));
  }
  Simulated_Log log(messages_);
  Log_Connection::create(log, *this);
  clients_.resize(1 + random_.below(4));
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    Client& client = clients_[i];
    client.index = i;
    client.actions_left = static_cast<int>(1 + random_.below(12));
    client.is_optimistic = chance(70);
    client.check = random_.flip() ? Content_Check::fast : Content_Check::full;
    client.disk = std::make_unique<Sim_Disk>();
    client.wake = below(milliseconds(20));
    client.fiber = std::make_unique<Fiber>([this, &client] { live(client); });
  }
}

// ---- the log ------------------------------------------------------------------------------------

void Log_World::lose(const char* what) {
  ++counts_.cuts;
  sleep(seconds(2));
  throw Connection_Lost(what);
}

void Log_World::connect(Simulated_Log& log) {
  log.message_size = message_size_;
  log.batch = batch_;
  log.before = [this, &log](Call call) {
    auto& client = static_cast<Client&>(*current_);
    if (!is_healed() && chance(5)) ++log.reconnected;
    if (!is_healed() && chance(1)) {
      note(client, "is killed");
      ++counts_.client_kills;
      client.is_killed = true;
      client.file->kill_after(0);
    }
    sleep(!is_healed() && chance(slow_percent_) ? below(seconds(3)) : below(milliseconds(2)));
    if (now_ >= dead_from_ && now_ < dead_until_) lose("the log does not answer");
    if (!is_healed() && chance(lost_percent_)) lose("the request was lost");
    log.late_range = {};
    if (call == Call::range && !is_healed() && chance(late_percent_))
      log.late_range = [this]() -> Replicated_Log::Range {
        const auto missing = static_cast<Number>(random_.below(3));
        return {messages_.first, std::max(messages_.first, messages_.last() - missing)};
      };
  };
  log.after = [this](Call) {
    sleep(below(milliseconds(2)));
    if (!is_healed() && chance(lost_percent_)) lose("the answer was lost");
  };
  log.postpone = [this](std::span<const std::string> messages, Number last) {
    if (is_healed() || !chance(late_percent_)) return false;
    late_.push_back({now_ + below(chance(80) ? seconds(4) : seconds(40)),
                     {messages.begin(), messages.end()},
                     last});
    return true;
  };
  log.appended = [this](Number last) { damage(last + 1); };
  log.wait_for = [this](Number number, Duration wait) {
    const Time end = after(now(), wait);
    while (messages_.last() < number && now() < end)
      sleep(std::min<Duration>(end - now(), microseconds(100) + below(milliseconds(200))));
  };
}

void Log_World::damage(Number first) {
  if (is_healed()) return;
  for (Number number = first; number <= messages_.last(); ++number) {
    if (!chance(damaged_percent_)) continue;
    std::string bytes = messages_.at(number);
    char& byte = bytes[random_.below(bytes.size())];
    byte = static_cast<char>(byte ^ (1 << random_.below(8)));
    if (chance(20)) bytes.clear();
    messages_.damaged[number] = std::move(bytes);
  }
}

// Delivers delayed messages.
void Log_World::append_late() {
  for (auto late = late_.begin(); late != late_.end();) {
    if (late->time > now_) {
      ++late;
      continue;
    }
    if (messages_.append(late->messages, late->last)) {
      note("a late message arrives");
      ++counts_.found_again;
      damage(late->last + 1);
    }
    late = late_.erase(late);
  }
}

Log_Settings Log_World::log_settings() {
  Log_Settings settings;
  settings.lease = lease_;
  settings.retry_time = System::Duration::max();
  settings.renews_lock = false;
  settings.open_archive = [this](const std::string&) {
    auto copy = std::make_unique<Memory_File>();
    copy->pwrite(archive_.get_data().data(), archive_.get_data().size(), 0);
    return copy;
  };
  return settings;
}

// Archives the beginning of the log: copies the journal, up to the end of a push, to a file.
void Log_World::archive() {
  Simulated_Log log(messages_);
  const Log_Settings settings = log_settings();
  Log_Connection connection(log, Logger::none(), *this, settings);
  Memory_File file;
  Writable_Journal_Client client(file, connection, Content_Check::full);
  client.pull();
  const Offset end = client.get_journal_checkpoint();
  if (end == journal_start || end <= connection.status().archive_end) return;
  const Number kept = connection.append_archive(file, end, "the archive");
  archive_.pwrite(file.get_data().data(), file.get_data().size(), 0);
  messages_.remove_before(kept);
  note("archived up to position " + std::to_string(end) + ", kept from message " +
       std::to_string(kept));
}

// ---- the clients --------------------------------------------------------------------------------

// Simulates a process; when it is killed, simulates the next process.
void Log_World::live(Client& client) {
  Duration pause{};
  while (!is_stopping_ && !has_failed() && !client.is_finished) {
    try {
      sleep(std::exchange(pause, {}));
      work(client);
    } catch (const Sim_Killed&) {
      client.is_killed = is_stopping_;
      client.file.reset();
      pause = below(seconds(3));
    } catch (const Connection_Lost& error) {  // the first connection
      note(client, error.what());
      client.file.reset();
    } catch (const Content_Mismatch& error) {
      discard(client, error.what());
    } catch (const Conflict& error) {
      discard(client, error.what());
    } catch (const std::exception& error) {
      fail("client " + std::to_string(client.index) + ": " + error.what());
    }
  }
}

// Discards a copy that has a transaction that no other copy has: the client was killed before it
// could push the transaction, or has lost its lock.
void Log_World::discard(Client& client, const std::string& why) {
  note(client, why);
  ++counts_.mismatches;
  client.file.reset();
  client.disk = std::make_unique<Sim_Disk>();
  const auto& all = client.transactions;
  const bool has_own = std::any_of(all.begin(), all.end(), [](const Transaction& one) {
    return !one.is_acknowledged && !one.is_cancelled;
  });
  if (!has_own && !client.has_equal)
    fail("client " + std::to_string(client.index) + " has diverged, without a cause");
}

void Log_World::work(Client& client) {
  client.file.reset();
  client.file = std::make_unique<Sim_File>(*client.disk);
  Simulated_Log log(messages_);
  connect(log);
  const Log_Settings settings = log_settings();
  struct Line final : Logger {
    Line(Log_World& all, Client& who) : simulation(all), client(who) {}
    void log(std::string_view line) override { simulation.note(client, std::string(line)); }
    Log_World& simulation;
    Client& client;
  } logger(*this, client);
  Log_Connection connection(log, logger, *this, settings);
  Journal_Options options;
  options.recovery = Recovery::keep;
  Writable_Journal_Client store(*client.file, connection, client.check, options);
  store.set_optimistic(client.is_optimistic);
  store.push_if_ahead();
  while (!has_failed() && client.actions_left > 0) {
    --client.actions_left;
    act(client, store);
    check_copy(client, *client.file, store.get_journal_checkpoint());
    sleep(chance(60) ? below(milliseconds(5)) : below(milliseconds(500)));
  }
  if (!is_healed()) sleep(heal_ - now_);
  store.pull_push();
  client.is_finished = true;
}

void Log_World::act(Client& client, Writable_Journal_Client& store) {
  const std::size_t what = random_.below(10);
  try {
    if (what < 2) {
      store.pull();
    } else if (what < 3) {
      const Duration start = now_;
      const Duration wait = below(seconds(3));
      const Offset size = store.pull(wait, *this);
      if (size == 0 && start >= heal_ && now_ - start > wait + seconds(60))
        fail("a pull has waited for too long");
    } else if (what < 5) {
      transact_twice(client, store);
    } else if (what < 6) {
      transact_equal(client, store);
    } else {
      transact(client, store);
    }
  } catch (const Conflict& error) {
    note(client, error.what());
    ++counts_.conflicts;
    if (store.has_tail()) store.rollback();
    // If the transaction was written under the lock, it already has a checkpoint.
    if (store.get_checkpoint_difference() != 0) store.pull_push();
  }
}

Name Log_World::write(Client& client, Writable_Journal& journal) {
  const Name name{client.index, client.transactions.size()};
  client.transactions.emplace_back();
  const std::string id = std::to_string(name.client) + "." + std::to_string(name.number);
  journal.append(Comment{"@" + id});
  for (std::size_t i = random_.below(3); i > 0; --i)
    journal.append(Comment{std::string(random_.below(30), 'x')});
  if (chance(10)) journal.append(Comment{std::string(random_.below(5000), 'y')});
  if (chance(2)) journal.append(Comment{std::string(random_.below(100'000), 'z')});
  if (chance(10)) sleep(below(chance(20) ? seconds(20) : seconds(1)));
  journal.append(Comment{"!" + id});
  note(client, "writes " + id);
  return name;
}

void Log_World::transact(Client& client, Writable_Journal_Client& store) {
  std::optional<Name> name;
  const bool is_cancelled = chance(10);
  try {
    store.transaction([&](Writable_Journal& journal) {
      // If `name` is set, this function is called again.
      if (name) client.transactions[name->number].is_cancelled = true;
      name = write(client, journal);
      if (is_cancelled) {
        client.transactions[name->number].is_cancelled = true;
        throw Cancelled();
      }
    });
  } catch (const Cancelled&) {
    return;
  }
  client.transactions[name->number].is_acknowledged = true;
  ++counts_.acknowledged;
}

// Several clients write the same bytes, perhaps at the same position. No transaction may be lost.
void Log_World::transact_equal(Client& client, Writable_Journal_Client& store) {
  client.has_equal = true;
  note(client, "writes the same");
  store.transaction([](Writable_Journal& journal) { journal.append(Comment{"="}); });
  client.has_equal = false;
  ++equal_acknowledged_;
}

void Log_World::transact_twice(Client& client, Writable_Journal_Client& store) {
  const Duration start = now_;
  Writable_Journal_Client_Lock lock(store);
  try {
    write_both(client, lock);
  } catch (const Conflict&) {
    if (now_ - start < lease_)
      fail("client " + std::to_string(client.index) + " has the lock, and others push");
    throw;
  }
}

void Log_World::write_both(Client& client, Writable_Journal_Client_Lock& lock) {
  const Name first = write(client, lock.get_journal());
  lock.push_and_checkpoint();
  client.transactions[first.number].is_acknowledged = true;
  const Name second = write(client, lock.get_journal());
  if (random_.flip()) {
    lock.push_and_checkpoint();
    lock.unlock();
  } else {
    lock.checkpoint_and_push_unlock();
  }
  client.transactions[second.number].is_acknowledged = true;
  counts_.acknowledged += 2;
}

// ---- checks -------------------------------------------------------------------------------------

struct Collect_Comments : Ignore_Entries {
  using Ignore_Entries::operator();
  void operator()(const Comment& comment) {
    if (comment.text == "=") ++equal;
    if (!comment.text.empty() && (comment.text[0] == '@' || comment.text[0] == '!'))
      names.emplace_back(comment.text);
  }
  std::size_t equal = 0;
  std::vector<std::string> names;
};

Collect_Comments comments_in(const Abstract_File& file, Offset end) {
  Memory_File copy;
  std::string bytes(static_cast<std::size_t>(end), '\0');
  file.read_exactly(bytes.data(), bytes.size(), 0);
  Header header;
  header.checkpoints.fill(end);
  const auto head = encode_header(header);
  std::copy(head.begin(), head.end(), bytes.begin());
  copy.pwrite(bytes.data(), bytes.size(), 0);
  Readonly_Journal journal(copy);
  Collect_Comments collect;
  journal.replay(collect);
  return collect;
}

// Checks that a copy has only whole transactions, and each transaction only once.
void Log_World::check_copy(const Client& client, const Abstract_File& file, Offset end) {
  const std::vector<std::string> names = comments_in(file, end).names;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < names.size(); i += 2) {
    const bool is_whole = i + 1 < names.size() && names[i][0] == '@' && names[i + 1][0] == '!' &&
                          names[i].substr(1) == names[i + 1].substr(1);
    if (!is_whole) fail("client " + std::to_string(client.index) + " has a part of " + names[i]);
    if (!seen.insert(names[i]).second) fail("there twice: " + names[i]);
  }
}

void Log_World::check_end() {
  Simulated_Log log(messages_);
  const Log_Settings settings = log_settings();
  Log_Connection connection(log, Logger::none(), *this, settings);
  Memory_File file;
  Writable_Journal_Client reader(file, connection, Content_Check::full);
  reader.pull();
  const Offset end = reader.get_journal_checkpoint();
  if (end != connection.get_checkpoint()) fail("a new copy does not have everything");
  check_copy({}, file, end);
  const Collect_Comments comments = comments_in(file, end);
  if (comments.equal < equal_acknowledged_)
    fail("lost: a transaction that others have written, too");
  const std::vector<std::string>& names = comments.names;
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < names.size(); ++i) places[names[i]] = i;
  for (const Client& client : clients_) {
    std::size_t before = 0;
    for (std::size_t n = 0; n < client.transactions.size(); ++n) {
      const Transaction& one = client.transactions[n];
      const std::string name = "@" + std::to_string(client.index) + "." + std::to_string(n);
      const auto place = places.find(name);
      if (place == places.end()) {
        if (one.is_acknowledged) fail("lost: " + name);
        continue;
      }
      if (one.is_cancelled) fail("there, though it was cancelled: " + name);
      if (place->second < before) fail("not in its order: " + name);
      before = place->second;
    }
    const std::string copy = client.disk->content();
    const Offset common = std::min(end, static_cast<Offset>(copy.size()));
    if (common < end) fail("client " + std::to_string(client.index) + " does not have everything");
    std::string bytes(static_cast<std::size_t>(common), '\0');
    file.read_exactly(bytes.data(), bytes.size(), 0);
    if (bytes.compare(journal_start, std::string::npos, copy, journal_start,
                      bytes.size() - journal_start) != 0)
      fail("client " + std::to_string(client.index) + " has other bytes");
  }
}

void Log_World::run() {
  while (!has_failed()) {
    Client* next = nullptr;
    for (Client& client : clients_)
      if (!client.fiber->is_done() && (next == nullptr || client.wake < next->wake)) next = &client;
    if (next == nullptr) break;
    now_ = std::max(now_, next->wake);
    if (now_ > heal_ + patience) fail("a client does not come to an end");
    append_late();
    if (!is_healed() && random_.below(archive_interval_) == 0) archive();
    resume(*next);
  }
  if (!has_failed()) {
    // All transactions have been pushed now, but a client may have ended before it pulled
    // everything.
    messages_.damaged.clear();
    for (Client& client : clients_) {
      client.fiber = std::make_unique<Fiber>([this, &client] {
        client.is_finished = false;
        live(client);
      });
      client.actions_left = 0;
      while (!has_failed() && !client.fiber->is_done()) {
        now_ = std::max(now_, client.wake);
        resume(client);
      }
    }
    if (!has_failed()) check_end();
  }
  throw_failure();
}

}  // namespace

std::unique_ptr<World> make_replicated_log_world(const World::Context& context) {
  return std::make_unique<Log_World>(context);
}

}  // namespace joedb::testing
