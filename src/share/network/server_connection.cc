#include "joedb/network/server_connection.h"

#include <algorithm>

#include "joedb/io/file.h"
#include "share/network/content_hash.h"
#include "share/network/protocol.h"
#include "share/network/request_runner.h"

namespace joedb::inline v1 {

namespace code = network::code;
using network::append_number;

namespace {

constexpr std::size_t block_size = std::size_t{1} << 16;

std::string pull_request(const Connection::Pull& pull, bool has_data) {
  std::string request(
      1, static_cast<char>(code::pull_first + (pull.takes_lock ? 1 : 0) + (has_data ? 2 : 0)));
  append_number(request, std::chrono::ceil<std::chrono::milliseconds>(pull.wait).count());
  append_number(request, pull.from);
  return request;
}

System::Duration sum(System::Duration a, System::Duration b) {
  return a < System::Duration::max() - b ? a + b : System::Duration::max();
}

// Returns the time that a slow server may need to hash or write `size` bytes.
System::Duration time_for(Offset size) {
  constexpr Offset bytes_per_ms = 1024;
  return std::chrono::milliseconds(std::max<Offset>(size, 0) / bytes_per_ms);
}

}  // namespace

// The bytes of a reply as a file. They are read once, in order, while they arrive.
class Server_Connection::Incoming final : public Readonly_File {
 public:
  Incoming(Server_Connection& connection, Offset start, Offset end)
      : Readonly_File("what the server sends"),
        connection_(connection),
        position_(start),
        end_(end) {}

  Offset get_size() const override { return end_; }
  std::size_t pread(char* data, std::size_t size, Offset offset) const override {
    if (offset < position_ || offset > end_) throw Exception("these bytes have been read already");
    skip_to(offset);
    size = std::min(size, static_cast<std::size_t>(end_ - offset));
    connection_.input_.read_exactly(data, size);
    position_ += static_cast<Offset>(size);
    return size;
  }
  void skip_to(Offset offset) const {
    char ignored[4096];
    while (position_ < offset) {
      const auto n = std::min<Offset>(offset - position_, sizeof ignored);
      connection_.input_.read_exactly(ignored, static_cast<std::size_t>(n));
      position_ += n;
    }
  }
  bool is_at_end() const { return position_ == end_; }

 private:
  Server_Connection& connection_;
  mutable Offset position_;
  const Offset end_;
};

Server_Connection::Server_Connection(Channel& channel, Logger& log, const Settings& settings)
    : channel_(channel),
      log_(log),
      settings_(settings),
      input_(channel),
      requests_(std::make_unique<Request_Runner>()) {
  requests_->run([&] { say_hello(settings.has_extensions); });
  requests_->start_pings(
      settings.keep_alive, [this] { send_ping(); },
      [this](const std::exception& error) {
        log_.log(std::string("keep-alive: ") + error.what());
      });
}

Server_Connection::~Server_Connection() {
  requests_->end([this] {
    channel_.set_patience({System::Duration(0)});  // the destructor does not wait
    channel_.write(&code::quit, 1);
  });
}

bool Server_Connection::is_lost() const { return requests_->is_lost(); }

// Limits the wait for a reply to answer_time plus `time`, which the server may need for its work.
void Server_Connection::expect_answer(System::Duration time) {
  channel_.set_patience({sum(settings_.answer_time, time), settings_.look});
}

// Limits the wait for the lock. The server replies when it is this client's turn. A client that
// gives up must end the connection to leave the queue.
void Server_Connection::expect_lock() {
  if (settings_.lock_time == System::Duration::max())
    return channel_.set_patience({System::Duration::max(), settings_.look});
  const System::Time start = System::real().now();
  const auto look = [this, start] {
    if (settings_.look) settings_.look();
    const System::Duration waited = System::real().now() - start;
    if (waited >= settings_.lock_time)
      throw Lock_Timeout("the server", 0, "another client", waited);
  };
  channel_.set_patience({System::Duration::max(), look});
}

// ---- hello --------------------------------------------------------------------------------------

void Server_Connection::say_hello(bool extensions_are_wanted) {
  std::string hello(network::protocol_word);
  append_number(hello,
                extensions_are_wanted ? network::extended_version : network::protocol_version);
  expect_answer();
  channel_.write(hello.data(), hello.size());

  char word[network::protocol_word.size()];
  input_.read_exactly(word, sizeof word);
  if (std::string_view(word, sizeof word) != network::protocol_word)
    throw Protocol_Error("Did not receive \"joedb\" from server");
  const std::int64_t version = input_.read_number();
  session_ = input_.read_number();
  checkpoint_ = input_.read_number();
  const char mode = input_.read_byte();
  if (version == 0) throw Protocol_Error("Client version rejected by server");
  if (version < network::protocol_version) throw Protocol_Error("Unsupported server version");
  has_extensions_ = extensions_are_wanted && version == network::extended_version;
  if (mode != 'W' && mode != 'R') throw Protocol_Error("Unexpected server mode");
  if (checkpoint_ < journal_start) throw Protocol_Error("Unexpected checkpoint of the server");
  can_push_ = mode == 'W';
  log_.log("connected, session " + std::to_string(session_) + ", checkpoint " +
           std::to_string(checkpoint_) + (can_push_ ? "" : ", can only be pulled from"));
}

// ---- reading ------------------------------------------------------------------------------------

void Server_Connection::compare(const Abstract_File& local, Offset, Offset end,
                                Content_Check check) {
  if (check == Content_Check::none) return;
  const bool is_full = check == Content_Check::full;
  const network::Content_Hash hash =
      network::content_hash([&local](char* data, std::size_t size,
                                     Offset offset) { local.read_exactly(data, size, offset); },
                            end, is_full);
  requests_->run([&] {
    std::string out(1, is_full ? code::check_full : code::check_fast);
    append_number(out, end);
    out.append(hash.data(), hash.size());
    expect_answer(is_full ? time_for(end) : System::Duration{});
    channel_.write(out.data(), out.size());
    const char reply = input_.read_byte();
    if (reply == code::mismatch) throw Content_Mismatch(local.get_name(), journal_start, end);
    if (reply != out.front()) throw Protocol_Error("unexpected reply to a check");
  });
}

void Server_Connection::ask_for_checkpoint(const Pull& pull, bool has_data) {
  const std::string out = pull_request(pull, has_data);
  pull.takes_lock ? expect_lock() : expect_answer(pull.wait);
  channel_.write(out.data(), out.size());
  const char reply = input_.read_byte();
  expect_answer();
  const bool is_refused = pull.takes_lock && reply == code::readonly;
  if (reply != out.front() && !is_refused)
    throw Protocol_Error("pull error: unexpected server reply");
  checkpoint_ = input_.read_number();
  if (checkpoint_ < journal_start) throw Protocol_Error("pull error: unexpected checkpoint");
  if (is_refused) {
    // If a pull is refused, the server still sends the bytes that were requested.
    if (has_data) Incoming(*this, pull.from, std::max(pull.from, checkpoint_)).skip_to(checkpoint_);
    throw Pull_Only("pull error: server is pull-only, cannot lock");
  }
  if (pull.takes_lock) is_locked_ = true;
}

void Server_Connection::pull_checkpoint(const Pull& pull) {
  requests_->run([&] { ask_for_checkpoint(pull, false); });
}

void Server_Connection::pull(const Pull& pull, const Receive& receive) {
  std::exception_ptr failure;
  requests_->run([&] {
    ask_for_checkpoint(pull, true);
    if (checkpoint_ <= pull.from) return;
    const Incoming incoming(*this, pull.from, checkpoint_);
    try {
      receive(incoming, checkpoint_);
      incoming.skip_to(checkpoint_);
    } catch (...) {
      if (!incoming.is_at_end()) throw;
      failure = std::current_exception();  // the connection stays usable: the reply is complete
    }
  });
  if (!failure) return;
  // Do this after the request, because unlock() runs another request.
  if (pull.takes_lock) unlock();
  std::rethrow_exception(failure);
}

std::size_t Server_Connection::read(char* data, std::size_t size, Offset offset) {
  std::size_t n = 0;
  requests_->run([&] {
    std::string out(1, code::read);
    append_number(out, offset);
    append_number(out, offset + static_cast<Offset>(size));
    expect_answer();
    channel_.write(out.data(), out.size());
    if (input_.read_byte() != code::read) throw Protocol_Error("unexpected reply to a read");
    const Offset end = input_.read_number();
    if (end < offset || end - offset > static_cast<Offset>(size))
      throw Protocol_Error("bad pread size from server");
    n = static_cast<std::size_t>(end - offset);
    input_.read_exactly(data, n);
  });
  return n;
}

// ---- pushing ------------------------------------------------------------------------------------

// Pushes [checkpoint_, end) of `local` with request code `c`. Returns the code of the reply.
char Server_Connection::send_push(const Abstract_File& local, Offset end, char c) {
  Offset position = checkpoint_;
  std::string out(1, c);
  append_number(out, position);
  append_number(out, end);
  expect_answer();
  do {
    const std::size_t start = out.size();
    const auto size =
        std::min(block_size, static_cast<std::size_t>(std::max<Offset>(end - position, 0)));
    out.resize(start + size);
    local.read_exactly(out.data() + start, size, position);
    channel_.write(out.data(), out.size());
    position += static_cast<Offset>(size);
    out.clear();
  } while (position < end);
  expect_answer(time_for(end - checkpoint_));
  return input_.read_byte();
}

void Server_Connection::push(const Abstract_File& local, Offset end, Checkpoint_Level,
                             After_Push after) {
  bool is_late = false;
  requests_->run([&] {
    const char expected = after == After_Push::keep_lock ? code::push : code::push_unlock;
    char reply;
    while ((reply = send_push(local, end, expected)) == code::busy) {
      // Another client has the lock, so wait for the lock. If that client has pushed, this push
      // conflicts.
      const Offset from = checkpoint_;
      if (after == After_Push::never_locked) throw Conflict(from);
      ask_for_checkpoint({.from = from, .takes_lock = true}, false);
      if (checkpoint_ == from) continue;
      is_locked_ = false;
      send_unlock();
      throw Conflict(from);
    }
    if (after != After_Push::keep_lock) is_locked_ = false;
    if (reply == code::conflict) {
      is_locked_ = after == After_Push::keep_lock;
      throw Conflict(checkpoint_);
    }
    if (reply == code::readonly) throw Pull_Only("push error: server is pull-only");
    if (reply == code::time_out) {
      is_locked_ = false;
      is_late = true;
      return;
    }
    if (reply != expected) throw Protocol_Error("push error: unexpected reply");
    is_locked_ = after == After_Push::keep_lock;
    checkpoint_ = std::max(checkpoint_, end);
  });
  // The server revoked the lock during the push, and appended nothing. The connection stays usable.
  if (is_late) throw Connection_Lost("push error: time out: the lock was lost");
}

void Server_Connection::send_unlock() {
  expect_answer();
  channel_.write(&code::unlock, 1);
  if (input_.read_byte() != code::unlock) throw Protocol_Error("unlock error: unexpected reply");
}

void Server_Connection::unlock() noexcept {
  if (!is_locked_ || requests_->is_inherited()) return;
  is_locked_ = false;
  try {
    requests_->run([this] { send_unlock(); });
  } catch (const std::exception& error) {
    log_.log(std::string("unlocking: ") + error.what());
  }
}

// ---- keep-alive ---------------------------------------------------------------------------------

void Server_Connection::send_ping() {
  const std::string out = pull_request({}, false);
  // Do not call Settings::look here: it belongs to the thread that makes requests.
  channel_.set_patience({settings_.answer_time, [this] { requests_->require_no_waiting(); }});
  channel_.write(out.data(), out.size());
  if (input_.read_byte() != out.front()) throw Protocol_Error("keep-alive: unexpected reply");
  input_.read_number();  // ignored: the next pull asks for the checkpoint
}

}  // namespace joedb::inline v1
