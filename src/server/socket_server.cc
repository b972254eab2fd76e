#include "server/socket_server.h"

#include <array>
#include <asio.hpp>
#include <filesystem>
#include <map>
#include <utility>

#include "joedb/base/error.h"

namespace joedb::server {

namespace {

using Socket = asio::local::stream_protocol::socket;
using Endpoint = asio::local::stream_protocol::endpoint;

// A killed server leaves its socket behind. Nobody listens there then.
void remove_stale_socket(asio::io_context& io, const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(path, error);
  if (!std::filesystem::exists(status)) return;
  if (!std::filesystem::is_socket(status))
    throw Exception(path + ": is there already, and no socket");
  Socket socket(io);
  socket.connect(Endpoint(path), error);
  if (!error) throw Exception(path + ": another server listens there");
  if (error != asio::error::connection_refused) throw Exception(path + ": " + error.message());
  std::filesystem::remove(path);
}

// A connection. Handlers keep it alive, and do nothing once it is closed.
struct Peer {
  explicit Peer(Socket s) : socket(std::move(s)) {}
  Socket socket;
  std::array<char, 1 << 16> input;
  std::string output;
};

}  // namespace

class Socket_Server::Implementation final : public Server_Host {
 public:
  Implementation(Served_Journal& journal, const std::string& path, Server_Core::Limits limits,
                 Logger& log)
      : path_(path),
        log_(log),
        core_(journal, *this, System::real(), log, limits, path + '.'),
        signals_(io_, SIGINT, SIGTERM),
        timer_(io_),
        acceptor_(io_) {
    remove_stale_socket(io_, path);
    acceptor_.open();
    acceptor_.bind(Endpoint(path));
    // Before listen(), nobody can connect.
    std::filesystem::permissions(
        path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    acceptor_.listen();
  }

  ~Implementation() override {
    journal_lane_.join();
    hash_lane_.join();
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  void run() {
    signals_.async_wait([this](const std::error_code& error, int) {
      if (!error) stop();
    });
    accept();
    io_.run();
    log_.log("the server has stopped");
  }

  void stop() {
    asio::post(io_, [this] { io_.stop(); });
  }

  // ---- of the core

  void send(Session_Id id, std::string bytes) override {
    const auto peer = peers_.at(id);
    peer->output = std::move(bytes);
    asio::async_write(peer->socket, asio::buffer(peer->output),
                      [this, id, peer](const std::error_code& error, std::size_t) {
                        if (is_current(id, peer)) call([&] { error ? lose(id) : core_.sent(id); });
                      });
  }

  void receive(Session_Id id) override {
    const auto peer = peers_.at(id);
    peer->socket.async_read_some(asio::buffer(peer->input),
                                 [this, id, peer](const std::error_code& error, std::size_t size) {
                                   if (!is_current(id, peer)) return;
                                   call([&] {
                                     if (error)
                                       lose(id);
                                     else
                                       core_.received(id, {peer->input.data(), size});
                                   });
                                 });
  }

  void close(Session_Id id) override {
    std::error_code ignored;
    peers_.at(id)->socket.close(ignored);
    peers_.erase(id);
  }

  void run(Lane lane, std::function<void()> work, std::function<void()> done) override {
    asio::thread_pool& threads = lane == Lane::journal ? journal_lane_ : hash_lane_;
    asio::post(threads, [this, guard = asio::make_work_guard(io_), work = std::move(work),
                         done = std::move(done)]() mutable {
      work();
      asio::post(io_, [this, done = std::move(done)] { call(done); });
    });
  }

 private:
  bool is_current(Session_Id id, const std::shared_ptr<Peer>& peer) const {
    const auto found = peers_.find(id);
    return found != peers_.end() && found->second == peer;
  }

  // Everything that the core is told goes through this.
  template <class F>
  void call(F&& f) {
    f();
    set_timer();
  }

  void set_timer() {
    const auto deadline = core_.next_deadline();
    if (deadline == timer_is_set_for_) return;
    timer_is_set_for_ = deadline;
    if (!deadline) {
      timer_.cancel();
      return;
    }
    timer_.expires_at(*deadline);
    timer_.async_wait([this](const std::error_code& error) {
      if (error) return;
      timer_is_set_for_.reset();
      call([this] { core_.tick(); });
    });
  }

  void accept() {
    acceptor_.async_accept([this](const std::error_code& error, Socket socket) {
      if (error) {
        // No more descriptors: those who are connected go on.
        log_.log("accepting a connection: " + error.message());
        retry_.expires_after(std::chrono::milliseconds(100));
        retry_.async_wait([this](const std::error_code&) { accept(); });
        return;
      }
      // The core asks for the first bytes before it has returned the id.
      const auto peer = std::make_shared<Peer>(std::move(socket));
      call([&] {
        peers_[core_.next_session()] = peer;
        if (!core_.connected()) peers_.erase(core_.next_session());
      });
      accept();
    });
  }

  void lose(Session_Id id) {
    close(id);
    core_.closed(id);
  }

  const std::string path_;
  Logger& log_;
  asio::io_context io_{1};
  asio::thread_pool journal_lane_{1};
  asio::thread_pool hash_lane_{1};
  std::map<Session_Id, std::shared_ptr<Peer>> peers_;
  Server_Core core_;
  asio::signal_set signals_;
  asio::steady_timer timer_;
  std::optional<System::Time> timer_is_set_for_;
  asio::steady_timer retry_{io_};
  asio::local::stream_protocol::acceptor acceptor_;
};

Socket_Server::Socket_Server(Served_Journal& journal, const std::string& path,
                             Server_Core::Limits limits, Logger& log)
    : implementation_(std::make_unique<Implementation>(journal, path, limits, log)) {}

Socket_Server::~Socket_Server() = default;
void Socket_Server::run() { implementation_->run(); }
void Socket_Server::stop() { implementation_->stop(); }

}  // namespace joedb::server
