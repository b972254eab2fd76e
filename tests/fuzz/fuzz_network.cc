#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "fuzz/fuzzers.h"
#include "joedb/format/header.h"
#include "joedb/io/memory_file.h"
#include "joedb/network/server_connection.h"
#include "joedb/replica/clients.h"
#include "share/server/server_core.h"
#include "support/file_uses.h"
#include "support/simulated_system.h"

namespace joedb::testing {

namespace {

using server::Server_Core;
using server::Server_Host;
using server::Session_Id;
using server::Written_Journal;

constexpr std::size_t max_to_send = (std::size_t{1} << 16) + 64;

void write_something(Abstract_File& file) {
  Writable_Database db(file);
  db.write(Comment{"something"});
  db.soft_checkpoint();
}

// Requires that a copy of the file can be opened, and has this checkpoint.
void check(Memory_File& file, Offset checkpoint) {
  Memory_File copy;
  copy.get_data() = file.get_data();
  Writable_Database db(copy, Journal_Options(Recovery::overwrite));
  require(db.get_journal().get_checkpoint() == checkpoint, "another checkpoint");
}

// ---- the server ---------------------------------------------------------------------------------

class Fuzzed_Server final : public Server_Host {
 public:
  explicit Fuzzed_Server(Memory_File& file)
      : journal_(file, Connection::dummy, Content_Check::none, false, Recovery::keep),
        core_(journal_, *this, system_, Logger::none(), {.lock_time = std::chrono::seconds(2)},
              "fuzz-") {}

  void send(Session_Id session, std::string bytes) override {
    require(is_open(session), "something is sent to a closed session");
    require(bytes.size() <= max_to_send, "more than a block is sent");
    require(is_sending_.insert(session).second, "two replies at once");
    sent_.push_back(session);
  }
  void receive(Session_Id session) override {
    require(is_open(session) && is_receiving_.insert(session).second, "a second receive");
  }
  void close(Session_Id session) override {
    require(open_.erase(session) == 1, "closed twice");
    is_receiving_.erase(session);
  }
  void run(Lane, std::function<void()> work, std::function<void()> done) override {
    work();
    done();
  }

  Session_Id connect() {
    open_.insert(core_.next_session());
    return core_.connected().value();
  }
  bool is_open(Session_Id session) const { return open_.contains(session); }
  // Returns true if the server was waiting for bytes of the session.
  bool give(Session_Id session, std::string_view bytes) {
    if (!is_open(session) || is_receiving_.erase(session) == 0) return false;
    core_.received(session, bytes);
    finish_sending();
    return true;
  }
  void pass(System::Duration time) {
    system_.advance(time);
    core_.tick();
    finish_sending();
    const auto deadline = core_.next_deadline();
    require(!deadline || *deadline > system_.now(), "a deadline that has passed");
  }
  void end() {
    while (!open_.empty()) {
      const Session_Id session = *open_.begin();
      open_.erase(session);
      core_.closed(session);
      finish_sending();
    }
    require(core_.status().sessions == 0 && !core_.status().lock_holder, "somebody is left");
  }
  Offset checkpoint() const { return journal_.get_checkpoint(); }

 private:
  void finish_sending() {
    while (!sent_.empty()) {
      const Session_Id session = sent_.front();
      sent_.erase(sent_.begin());
      is_sending_.erase(session);
      if (is_open(session)) core_.sent(session);
    }
  }

  Simulated_System system_;
  Written_Journal journal_;
  std::set<Session_Id> open_, is_receiving_, is_sending_;
  std::vector<Session_Id> sent_;
  Server_Core core_;
};

// ---- a client -----------------------------------------------------------------------------------

// Returns one byte at a time, so that next() is the first byte that has not been read.
class Given_Channel final : public Channel {
 public:
  explicit Given_Channel(std::string_view bytes) : bytes_(bytes) {}
  std::size_t read_some(char* data, std::size_t) override {
    if (bytes_.empty()) throw Connection_Lost("there is no more");
    *data = bytes_.front();
    bytes_.remove_prefix(1);
    return 1;
  }
  void write(const char*, std::size_t) override {}
  char next() const { return bytes_.empty() ? '\0' : bytes_.front(); }

 private:
  std::string_view bytes_;
};

void ask(char reply, Writable_Database_Client& client, Server_Connection& connection,
         const Memory_File& file) {
  const auto write = [](const Database&, Writable_Database& db) { db.write(Comment{"from here"}); };
  const Offset end = client.get_journal_checkpoint();
  switch (reply) {
    case 'D':
    case 'E':
      return connection.pull_checkpoint({.from = end, .takes_lock = reply == 'E'});
    case 'G':
    case 'B':
      return client.transaction(write);
    case 'H':
    case 'I':
    case 'h':
      return connection.compare(file, journal_start, end,
                                reply == 'I' ? Content_Check::full : Content_Check::fast);
    case 'M':
      return connection.unlock();
    case 'N':
    case 'C':
      return connection.push(file, end, Checkpoint_Level::soft, Connection::After_Push::keep_lock);
    case 'O':
    case 't':
      return client.push_if_ahead();
    case 'r': {
      char bytes[100];
      require(connection.read(bytes, sizeof bytes, journal_start) <= sizeof bytes, "read too much");
      return;
    }
    default:
      client.pull();
  }
}

}  // namespace

void fuzz_server(std::string_view input) {
  Memory_File file;
  write_something(file);
  Offset checkpoint = 0;
  {
    Fuzzed_Server server(file);
    std::vector<Session_Id> sessions;
    for (int i = 0; i < 3; ++i) sessions.push_back(server.connect());
    std::size_t current = 0;
    while (!input.empty()) {
      if (input.starts_with(fuzz_next_client)) {
        current = (current + 1) % sessions.size();
        input.remove_prefix(fuzz_next_client.size());
        continue;
      }
      if (input.starts_with(fuzz_next_second)) {
        server.pass(std::chrono::seconds(1));
        input.remove_prefix(fuzz_next_second.size());
        continue;
      }
      const std::size_t next = std::min(input.find('\xf0', 1), input.size());
      // Small and large pieces; the size depends on the number of bytes left.
      const std::size_t piece = std::min(next, 1 + input.size() % 97);
      if (!server.is_open(sessions[current])) sessions[current] = server.connect();
      server.give(sessions[current], input.substr(0, piece));
      input.remove_prefix(piece);
    }
    server.end();
    checkpoint = server.checkpoint();
  }
  check(file, checkpoint);
}

void fuzz_client(std::string_view input) {
  Memory_File file;
  try {
    Given_Channel channel(input);
    Server_Connection connection(channel);
    const char first = channel.next();
    const Content_Check check_kind = first == 'H'                   ? Content_Check::fast
                                     : first == 'I' || first == 'h' ? Content_Check::full
                                                                    : Content_Check::none;
    Writable_Database_Client client(file, connection, check_kind);
    constexpr int max_requests = 100;  // after a refusal, requests read nothing from the channel
    for (int i = 0; i < max_requests && !connection.is_lost(); ++i) {
      try {
        ask(channel.next(), client, connection, file);
      } catch (const Disconnection& error) {
        require(*error.what() != '\0', "an error without a text");
      }
      check(file, client.get_journal_checkpoint());
    }
  } catch (const Exception& error) {
    require(*error.what() != '\0', "an error without a text");
  }
}

}  // namespace joedb::testing
