#include "joedb/network/rpc.h"

#include <algorithm>
#include <array>
#include <asio.hpp>
#include <cstdint>
#include <filesystem>
#include <map>
#include <thread>

#include "kernel/base/plain_text.h"
#include "kernel/base/standard_descriptors.h"
#include "share/network/listener.h"
#include "share/network/local_acceptor.h"
#include "share/network/protocol.h"
#include "share/network/rpc_protocol.h"

namespace joedb::inline v1::rpc {

namespace code = network::rpc_code;
using Socket = asio::local::stream_protocol::socket;
using Requests = network::Rpc_Requests;

namespace {

std::vector<Offset> prolog_sizes(const std::vector<Signature>& signatures) {
  std::vector<Offset> sizes;
  for (const Signature& signature : signatures)
    sizes.push_back(static_cast<Offset>(signature.prolog.size()));
  return sizes;
}

std::string reply_with(char c, std::int64_t number, std::string_view bytes = {}) {
  std::string reply(1, c);
  network::append_number(reply, number);
  reply.append(bytes);
  return reply;
}

}  // namespace

// Everything except the procedures runs in one thread. A session does one thing at a time: it
// receives, waits for its procedure, or sends. So its memory holds at most one request, the rest of
// the input block in which the request ends, and one reply. hold() counts the bytes of all
// sessions.
class Server::Implementation {
 public:
  Implementation(Logger& log, int log_level, int threads, const std::string& path,
                 std::vector<Signature> signatures, std::vector<Procedure> procedures,
                 Limits limits)
      : path_(path),
        logger_(log),
        log_level_(log_level),
        limits_(limits),
        signatures_(std::move(signatures)),
        procedures_(std::move(procedures)),
        prolog_sizes_(prolog_sizes(signatures_)),
        hash_(network::hash_of(signatures_)),
        workers_(static_cast<std::size_t>(std::max(threads, 1))) {
    if (signatures_.size() != procedures_.size())
      throw Exception("an rpc server needs a signature for each procedure");
    listener_.acceptor = network::listen_at(io_, path);
    listener_.accept();
    log_at(0, "serving " + std::to_string(procedures_.size()) + " procedures");
    thread_ = std::thread([this] { io_.run(); });
  }

  ~Implementation() {
    stop();
    if (thread_.joinable()) thread_.join();
    workers_.stop();
    workers_.join();
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  void join() {
    asio::signal_set signals(io_, SIGINT, SIGTERM);
    signals.async_wait([this](const std::error_code& error, int) {
      if (!error) end_all();
    });
    if (thread_.joinable()) thread_.join();
  }

  void stop() {
    asio::post(io_, [this] { end_all(); });
  }

 private:
  struct Session {
    Session(std::int64_t number, Socket s, asio::io_context& io, Requests r)
        : id(number), socket(std::move(s)), timer(io), requests(std::move(r)) {}
    const std::int64_t id;
    Socket socket;
    asio::steady_timer timer;
    Requests requests;
    std::array<char, 1 << 16> input;
    std::string output;
    bool has_said_hello = false;
    bool ends_after_reply = false;
    bool is_open = true;
    std::size_t held = 0;     // bytes of its message or reply
    std::uint64_t began = 0;  // orders incomplete messages and replies by age; 0: none
  };
  // Handlers share ownership of the session. After it is closed, they do nothing.
  using Session_Pointer = std::shared_ptr<Session>;

  // Logs one line. Escapes control characters, because `text` may come from a procedure. If logging
  // fails, drops the line.
  void log_at(int level, const std::string& text) {
    if (log_level_ < level) return;
    try {
      logger_.log(plain(path_ + ": " + text));
    } catch (const std::exception&) {
    }
  }
  void log_at(int level, const Session& session, const std::string& text) {
    if (log_level_ >= level) log_at(level, std::to_string(session.id) + ": " + text);
  }

  // ---- sessions

  void accept(Socket socket) {
    try {
      if (sessions_.size() < limits_.sessions || end_oldest_stranger())
        start(std::move(socket));
      else
        log_at(1, "too many sessions: a connection was refused");
    } catch (const std::exception& failure) {  // out of memory
      log_at(1, std::string("a connection was refused: ") + failure.what());
    }
  }

  // Ends the oldest session that has not sent its hello. Returns false if there is none.
  bool end_oldest_stranger() {
    for (const auto& [id, session] : sessions_) {
      if (session->has_said_hello) continue;
      end(Session_Pointer(session), "makes room for another");
      return true;
    }
    return false;
  }

  void start(Socket socket) {
    const auto session = std::make_shared<Session>(next_session_++, std::move(socket), io_,
                                                   Requests(prolog_sizes_, limits_.message_size));
    sessions_[session->id] = session;
    log_at(1, *session, "start");
    set_timer(session, limits_.hello_time);
    receive(session);
  }

  void end(const Session_Pointer& session, const std::string& why) {
    log_at(1, *session, "end: " + why);
    session->is_open = false;
    hold(*session, 0);
    session->timer.cancel();
    std::error_code ignored;
    session->socket.close(ignored);
    sessions_.erase(session->id);
  }

  // Calls f(). If f() throws, for example because memory is exhausted, ends only this session.
  template <class F>
  void run_for(const Session_Pointer& session, F&& f) {
    if (!session->is_open) return;
    try {
      f();
    } catch (const std::exception& error) {
      end(session, error.what());
    }
  }

  void end_all() {
    std::error_code ignored;
    listener_.acceptor.close(ignored);
    for (const auto& [id, session] : std::exchange(sessions_, {})) end(session, "the server stops");
    log_at(0, "stop");
    io_.stop();
  }

  void set_timer(const Session_Pointer& session, std::chrono::milliseconds time) {
    if (time == time.zero()) return clear_timer(session);
    session->timer.expires_after(time);
    session->timer.async_wait([this, session](const std::error_code& error) {
      // The timer may have been restarted after this handler was queued.
      if (error || !session->is_open ||
          session->timer.expiry() > asio::steady_timer::clock_type::now())
        return;
      end(session, session->has_said_hello ? "idle for too long" : "no hash has come");
    });
  }

  void clear_timer(const Session_Pointer& session) {
    session->timer.expires_at(asio::steady_timer::time_point::max());
  }

  // ---- bytes

  void receive(const Session_Pointer& session) {
    if (session->has_said_hello) set_timer(session, limits_.idle_time);
    hold(*session, session->requests.size());
    if (session->held == 0) session->began = 0;
    session->socket.async_read_some(
        asio::buffer(session->input),
        [this, session](const std::error_code& error, std::size_t size) {
          run_for(session, [&] {
            if (error) return end(session, error.message());
            session->requests.append({session->input.data(), size});
            if (session->began == 0) session->began = ++last_began_;
            hold(*session, session->requests.size());
            if (make_room(session)) process(session);
          });
        });
  }

  void send(const Session_Pointer& session, std::string reply) {
    session->output = std::move(reply);
    session->began = ++last_began_;
    hold(*session, session->requests.size() + session->output.size());
    if (!make_room(session)) return;
    set_timer(session, limits_.idle_time);
    asio::async_write(session->socket, asio::buffer(session->output),
                      [this, session](const std::error_code& error, std::size_t) {
                        run_for(session, [&] {
                          std::string().swap(session->output);  // frees its memory
                          if (error) return end(session, error.message());
                          if (session->ends_after_reply) return end(session, "another hash");
                          process(session);
                        });
                      });
  }

  // ---- memory

  void hold(Session& session, std::size_t size) {
    held_ += size - session.held;
    session.held = size;
  }

  // Ends sessions until the others fit in memory. Begins with the sessions that have waited
  // longest, for the rest of a message or for the client to read a reply. Returns false if
  // `session` was ended.
  bool make_room(const Session_Pointer& session) {
    while (held_ > static_cast<std::size_t>(limits_.total_size)) {
      Session_Pointer slowest = session;
      for (const auto& [id, other] : sessions_)
        if (other->began != 0 && other->began < slowest->began) slowest = other;
      end(slowest, "messages of " + std::to_string(held_) + " bytes; at most " +
                       std::to_string(limits_.total_size) + " are allowed");
    }
    return session->is_open;
  }

  // ---- requests

  void process(const Session_Pointer& session) {
    Requests::Request request;
    if (!session->requests.take(request)) return receive(session);
    switch (request.kind) {
      case Requests::Request::Kind::hello:
        return answer_hello(session, request.bytes);
      case Requests::Request::Kind::ping:
        return send(session, std::string(1, code::ping));
      case Requests::Request::Kind::call:
        return call(session, request.procedure, std::move(request.bytes));
      case Requests::Request::Kind::quit:
        return end(session, "the client is done");
      case Requests::Request::Kind::invalid:
        return end(session, request.problem);
    }
  }

  void answer_hello(const Session_Pointer& session, std::string_view hash) {
    session->has_said_hello = true;
    session->ends_after_reply = hash != std::string_view(hash_.data(), hash_.size());
    send(session,
         reply_with(session->ends_after_reply ? code::mismatch : code::hello, session->id));
  }

  void call(const Session_Pointer& session, std::size_t procedure, std::string bytes) {
    log_at(2, *session, "call of " + signatures_[procedure].name);
    clear_timer(session);
    session->began = 0;
    hold(*session, session->requests.size());
    held_ += bytes.size();  // counted even if the session ends before the procedure
    asio::post(workers_, [this, session, procedure, bytes = std::move(bytes)]() mutable {
      std::string error;
      std::string reply = run(procedure, bytes, error);
      const std::size_t size = std::exchange(bytes, {}).size();
      asio::post(
          io_, [this, session, size, reply = std::move(reply), error = std::move(error)]() mutable {
            held_ -= size;
            run_for(session, [&] {
              if (!error.empty()) log_at(2, *session, "error: " + error);
              send(session, std::move(reply));
            });
          });
    });
  }

  // Called in a thread of workers_. Returns the reply. If the procedure fails, sets `error`.
  std::string run(std::size_t procedure, std::string_view received, std::string& error) const {
    try {
      const Offset until = prolog_sizes_[procedure] + static_cast<Offset>(received.size());
      const std::string added = procedures_[procedure](received);
      const Offset end = until + static_cast<Offset>(added.size());
      if (end <= limits_.message_size) return reply_with(code::call, end, added);
      error = "the answer has " + std::to_string(end) + " bytes; at most " +
              std::to_string(limits_.message_size) + " are allowed";
    } catch (const std::exception& thrown) {
      error = network::cut_error(thrown.what());
    } catch (...) {
      error = "the procedure has thrown something that is no std::exception";
    }
    return reply_with(code::failure, static_cast<std::int64_t>(error.size()), error);
  }

  const std::string path_;
  Logger& logger_;
  const int log_level_;
  const Limits limits_;
  const std::vector<Signature> signatures_;
  const std::vector<Procedure> procedures_;
  const std::vector<Offset> prolog_sizes_;
  const network::Content_Hash hash_;
  asio::io_context io_{1};
  network::Listener<asio::local::stream_protocol> listener_{
      io_,
      {[this](Socket socket) { accept(std::move(socket)); },
       [this] { return end_oldest_stranger(); },
       [this](const std::string& line) { log_at(0, line); }}};
  std::size_t held_ = 0;  // total of all sessions
  std::uint64_t last_began_ = 0;
  std::map<std::int64_t, Session_Pointer> sessions_;
  std::int64_t next_session_ = 0;
  asio::thread_pool workers_;
  std::thread thread_;
};

static Logger& before_sockets(Logger& log) {
  reserve_standard_descriptors();
  return log;
}

Server::Server(Logger& log, int log_level, int threads, const std::string& path,
               std::vector<Signature> signatures, std::vector<Procedure> procedures, Limits limits)
    : implementation_(
          std::make_unique<Implementation>(before_sockets(log), log_level, threads, path,
                                           std::move(signatures), std::move(procedures), limits),
          path) {}

Server::~Server() = default;
void Server::join() { implementation_->join(); }
void Server::stop() { implementation_->stop(); }

}  // namespace joedb::inline v1::rpc
