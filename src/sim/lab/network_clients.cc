#include "sim/lab/network_simulation.h"

#include "joedb/network/server_connection.h"
#include "joedb/replica/clients.h"

namespace joedb::testing::network_lab {

// ---- clients ------------------------------------------------------------------------------------

void Network::wait(Actor& actor) {
  if (actor.is_killed) throw Sim_Killed();
  actor.fiber->suspend();
  ++actor.ticket;
  actor.waits_for_link = no_link;
  if (actor.is_killed) throw Sim_Killed();
}

void Network::sleep_of(Program& program, Duration duration) {
  auto& actor = static_cast<Actor&>(program);
  if (actor.is_killed) throw Sim_Killed();
  schedule(Event::Kind::resume, now_ + duration, actor.index, actor.ticket);
  wait(actor);
}

void Network::kill(Client& client) {
  if (client.is_finished || client.is_killed) return;
  note("client " + std::to_string(client.index) + " is killed");
  ++counts_.client_kills;
  client.is_killed = true;
  if (client.file) client.file->kill_after(0);
  schedule(Event::Kind::resume, now_, client.index, client.ticket);
}

void Network::begin(Client& client, std::string action) {
  client.epoch = lost_.size();
  client.expected = client.node > 0 ? relay().served : acknowledged_;
  if (client.node == 0 && can_hub_write()) client.expected = std::max(client.expected, written_);
  client.action = std::move(action);
  if (is_traced_) note("client " + std::to_string(client.index) + ": " + client.action);
}

Network::Moment Network::moment(const Client& client) const {
  return {now_,
          client.link,
          {nodes_[client.node].generation, hub().generation},
          client.node > 0 ? relay_lane_.link : no_link};
}

bool Network::is_quick(std::size_t index) const {
  const Link& link = links_[index];
  return !link.is_cut && !link.is_in_pieces && link.capacity > max_push_size;
}

// True if connections and servers have not changed since `start`, and the network is fast.
bool Network::was_fault_free_since(const Moment& start, const Client& client) const {
  const Moment end = moment(client);
  return late_percent_ == 0 && start.generations == end.generations && start.link == end.link &&
         start.upstream == end.upstream && is_quick(end.link) &&
         (end.upstream == no_link || is_quick(end.upstream));
}

// Checks that a waiting pull returns as soon as there are new bytes.
void Network::check_wait(const Client& client, const Moment& start, std::size_t from) {
  if (!was_fault_free_since(start, client)) return;
  for (const auto& [time, size] : nodes_[client.node].growth) {
    if (size <= from) continue;
    if (now_ - std::max(time, start.time) > second / 2)
      fail("client " + std::to_string(client.index) +
           ": a pull waits although there is something new");
    return;
  }
}

// Discards an unusable copy.
void Network::discard(Client& client) {
  client.memory.reset();
  client.file.reset();
  client.disk.reset();
}

// Simulates a process; when it is killed, simulates the next process.
void Network::live(Client& client) {
  const std::string who = "client " + std::to_string(client.index) + ": ";
  while (!is_stopping_ && !has_failed() && !client.is_finished) {
    try {
      sleep_of(client, client.pause);
      client.pause = below(200 * millisecond);
      open_and_work(client);
    } catch (const Sim_Killed&) {
      client.is_killed = is_stopping_;
      client.memory.reset();  // a memory file is lost with its process
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
    } catch (const Pull_Only& error) {
      note(who + error.what());
    } catch (const Read_Only_Client& error) {  // after a reconnection during a transaction
      note(who + error.what());
    } catch (const Disconnection& error) {
      note(who + error.what());
      const bool reads_lost_data = client.copy == Copy_Kind::none && !lost_.empty();
      if (!reads_lost_data) fail(who + client.action + ": " + error.what());
    } catch (const std::exception& error) {
      // A Server_File does not detect that the server has lost bytes that the Server_File has read.
      if (client.copy == Copy_Kind::none && !lost_.empty())
        note(who + error.what());
      else
        fail(who + client.action + ": " + error.what());
    }
  }
}

void Network::open_and_work(Client& client) {
  begin(client, "connects");
  Sim_Connector connector(*this, client, client.node);
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

void Network::work_on(Client& client, Abstract_File& file, Connection& connection) {
  if (client.has_tables)
    work<Writable_Database_Client>(client, file, connection);
  else
    work<Writable_Journal_Client>(client, file, connection);
}

template <class Store>
void Network::work(Client& client, Abstract_File& file, Connection& connection) {
  begin(client, "opens its copy");
  // The model must know all bytes, so clients must not append marks automatically.
  Journal_Options options = Journal_Options::without_marks();
  if (!file.is_shared()) options.recovery = Recovery::keep;
  Store store(file, connection, client.check, options);
  store.settings().end = Transaction_Settings::End::none;
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
}  // namespace

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

template <class Store>
void Network::write(Client& client, Store& store, bool is_cancelled, bool pauses) {
  std::optional<std::size_t> refused;
  store.transaction([&](auto&... target) {
    // If the function is called a second time, the server has refused the first transaction.
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
void Network::write_twice(Client& client, Store& store, const Abstract_File& file) {
  const Moment start = moment(client);
  typename Lock_Of<Store>::Type lock(store);
  try {
    write_both(client, store, file, lock);
  } catch (const Conflict&) {
    const auto has_lock_of = [&](const Node& node) {
      return node.limits.lock_time == System::Duration(0) ||
             now_ - start.time < node.limits.lock_time;
    };
    const bool has_lock = has_lock_of(hub()) && has_lock_of(nodes_[client.node]);
    if (has_lock && was_fault_free_since(start, client))
      fail("client " + std::to_string(client.index) + ": has the lock, and others push");
    throw;
  }
}

template <class Store, class Lock>
void Network::write_both(Client& client, Store& store, const Abstract_File& file, Lock& lock) {
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

// Checks that there really was a conflict, and that the transaction was rolled back: the copy of
// the client has no bytes that the server does not have, and no part of the refused push reaches
// the server later.
void Network::check_conflict(Client& client, const Conflict& conflict, const std::string& local) {
  const std::string who = "client " + std::to_string(client.index) + ": ";
  ++counts_.conflicts;
  if (lost_.empty() && !client.transactions.empty() && client.transactions.back().end == 0)
    client.transactions.back().is_refused = true;
  const bool is_remembered = client.is_robust || client.copy == Copy_Kind::none;
  for (std::size_t at = 0; at < local.size();) {
    const auto owner = owner_of(std::string_view(local).substr(at));
    if (!owner || owner->client >= clients_.size()) return;  // after a power cut
    Transaction& own = clients_[owner->client].transactions.at(owner->number);
    at += own.bytes.size();
    if (at <= body_size(conflict.position)) continue;
    if (own.end == 0 && owner->client == client.index && lost_.empty())
      fail(who + "a conflict leaves a transaction in its copy that the server has not");
    if (own.end != 0 && is_remembered && lost_.empty())
      fail(who + "a push is called a conflict, but the server has it");
  }
  if (lost_.empty() && body_size(conflict.position) == served_.size())
    fail(who + "a conflict, but nobody else has pushed");
}

template <class Store>
void Network::guarded(Client& client, Store& store, const std::function<void()>& f) {
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
  check_conflict(client, *conflict,
                 client.memory ? std::string(client.memory->get_data().begin() + journal_start,
                                             client.memory->get_data().end())
                 : client.file ? client.disk->content().substr(header_bytes)
                               : std::string());
  // Content_Mismatch is possible if the server has lost bytes of this copy and appended others.
  if (!lost_.empty() && random_.flip()) throw Diverged();
  begin(client, "pulls after a conflict");
  store.pull();
}

template <class Store>
void Network::act(Client& client, Store& store, const Abstract_File& file) {
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
    const Duration time = chance(client.node > 0 ? 25 : 50) ? Duration(0) : below(3 * second);
    begin(client, "pulls, waiting for " + std::to_string(time / millisecond) + " ms");
    const Moment start = moment(client);
    const std::size_t from = body_size(store.get_journal_checkpoint());
    store.pull(time);
    check_wait(client, start, from);
    // A server whose disk has failed need not notice that others write to its file.
    const bool sees_all =
        !is_shared_ || (start.generations == moment(client).generations && can_hub_write());
    if (client.epoch == lost_.size() && sees_all &&
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

// After the faults have ended, everything must succeed, though perhaps not at the first attempt.
template <class Store>
void Network::finish(Client& client, Store& store, const Abstract_File& file) {
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

}  // namespace joedb::testing::network_lab
