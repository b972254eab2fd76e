#include "share/server/socket_server.h"

#include <algorithm>
#include <array>
#include <asio.hpp>
#include <asio/ssl.hpp>
#include <charconv>
#include <deque>
#include <filesystem>
#include <list>
#include <map>
#include <sstream>
#include <utility>
#include <vector>

#include "joedb/base/error.h"
#include "kernel/base/parse_number.h"
#include "kernel/base/plain_text.h"
#include "kernel/base/standard_descriptors.h"
#include "share/network/access.h"
#include "share/network/listener.h"
#include "share/network/local_acceptor.h"
#include "share/server/refusal_log.h"
#include "share/server/stream.h"
#include "share/server/tls.h"

namespace joedb::server {

namespace {

using asio::ip::tcp;
using asio::local::stream_protocol;
using Tls_Socket = asio::ssl::stream<tcp::socket>;

using network::Listener;

// Maximum number of connections that have not sent their HTTP request yet.
constexpr std::size_t max_http_strangers = 100;

// A connection. Handlers share ownership of it. After it is closed, they do nothing.
struct Peer {
  explicit Peer(std::unique_ptr<Stream> s) : stream(std::move(s)) {}
  const std::unique_ptr<Stream> stream;
  std::array<char, 1 << 16> input;
  std::string early_input;  // received after the access line; the core has not read it yet
  // The name of the client in the access list; empty without an access list.
  std::string client;
  bool has_certificate = false;  // the client used a certificate, not a token
  std::string output;
};
using Peer_Pointer = std::shared_ptr<Peer>;

template <class Socket>
Peer_Pointer peer_of(Socket socket) {
  return std::make_shared<Peer>(
      std::make_unique<Stream_Of<Socket>>(std::make_unique<Socket>(std::move(socket))));
}

// A journal and its connections.
class Served final : public Server_Host {
 public:
  Served(asio::io_context& io, Served_Journal& journal, const std::string& name, std::string path,
         std::optional<int> descriptor, const Server_Core::Limits& limits, Logger& log,
         std::function<bool()> make_room, std::function<bool()> has_room)
      : io_(io),
        path_(std::move(path)),
        owns_socket_(!descriptor),
        core_(journal, *this, System::real(), log, limits, path_ + '.', name),
        timer_(io),
        listener_(io, {[this, has_room](stream_protocol::socket socket) {
                         if (has_room()) add(peer_of(std::move(socket)), "", Role::admin);
                       },
                       std::move(make_room), [&log](const std::string& line) { log.log(line); }}) {
    if (descriptor)
      listener_.acceptor.assign(stream_protocol(), *descriptor);
    else
      listener_.acceptor = network::listen_at(io, path_);
  }

  ~Served() override {
    remove_socket();
    for (asio::thread_pool& lane : lanes_) lane.stop();  // drops queued work
    for (asio::thread_pool& lane : lanes_) lane.join();
  }

  void begin() { listener_.accept(); }
  // Removes the socket, but only once: later, another server may own a socket at this path.
  void remove_socket() {
    std::error_code ignored;
    if (std::exchange(owns_socket_, false)) std::filesystem::remove(path_, ignored);
  }
  void refresh() {
    call([this] { core_.refresh(); });
  }
  Server_Core::Status status() const { return core_.status(); }
  bool can_connect(const std::string& name) const { return core_.can_connect(name); }
  std::size_t connections() const { return peers_.size(); }
  bool end_oldest_stranger() {
    bool has_ended = false;
    call([&] { has_ended = core_.end_oldest_stranger(); });
    return has_ended;
  }

  // Add the peer first: connected() calls receive(), which uses peers_, before it returns the id.
  void add(const Peer_Pointer& peer, const std::string& name, Role role) {
    call([&] {
      peers_[core_.next_session()] = peer;
      if (!core_.connected(name, role)) {
        peers_.erase(core_.next_session());
        peer->stream->close();
      }
    });
  }

  // Ends the sessions of clients of the access list for which is_allowed(Peer) is false.
  void revoke(const std::function<bool(const Peer&)>& is_allowed) {
    std::vector<Session_Id> revoked;
    for (const auto& [id, peer] : peers_)
      if (!peer->client.empty() && !is_allowed(*peer)) revoked.push_back(id);
    for (const Session_Id id : revoked)
      if (peers_.contains(id)) call([&] { core_.end(id, "has lost its access rights"); });
  }

  // ---- Server_Host

  // Short replies are written at once; sent() is called when the core has returned. Other sessions
  // must not wait for long ones, nor for a client that has sent many requests.
  void send(Session_Id id, std::string bytes) override {
    constexpr std::size_t max_at_once = 8192;
    const Peer_Pointer& peer = peers_.at(id);
    const bool is_now = bytes.size() <= max_at_once && writes_left_-- > 0;
    const std::size_t done = is_now ? peer->stream->write_now(asio::buffer(bytes)) : 0;
    if (done == bytes.size()) {
      sent_.emplace_back(id, peer);
      return;
    }
    peer->output = std::move(bytes);
    peer->stream->write(asio::buffer(peer->output) + done,
                        [this, id, peer = peer](const std::error_code& error, std::size_t) {
                          if (is_current(id, peer))
                            call([&] { error ? lose(id) : core_.sent(id); });
                        });
  }

  void receive(Session_Id id) override {
    const Peer_Pointer peer = peers_.at(id);
    if (!peer->early_input.empty()) {
      // Post the call, because the core must not be called from within its own calls.
      asio::post(io_, [this, id, peer] {
        if (!is_current(id, peer)) return;
        const std::string bytes = std::exchange(peer->early_input, "");
        call([&] { core_.received(id, bytes); });
      });
      return;
    }
    peer->stream->read_some(asio::buffer(peer->input),
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
    peers_.at(id)->stream->close();
    peers_.erase(id);
  }

  void run(Lane lane, std::function<void()> work, std::function<void()> done) override {
    asio::post(lanes_[static_cast<std::size_t>(lane)],
               [this, guard = asio::make_work_guard(io_), work = std::move(work),
                done = std::move(done)]() mutable {
                 work();
                 asio::post(io_, [this, done = std::move(done)] { call(done); });
               });
  }

 private:
  bool is_current(Session_Id id, const Peer_Pointer& peer) const {
    const auto found = peers_.find(id);
    return found != peers_.end() && found->second == peer;
  }

  // Makes a call of the core. All calls go through this function, because each may change the next
  // deadline.
  template <class F>
  void call(F&& f) {
    writes_left_ = 16;
    f();
    while (!sent_.empty()) {
      const auto [id, peer] = std::move(sent_.front());
      sent_.pop_front();
      if (is_current(id, peer)) core_.sent(id);
    }
    set_timer();
  }

  // Most changes move the deadline to a later time. The timer is not changed then, and checks the
  // deadline when it fires. This saves a system call for each message.
  void set_timer() {
    const auto deadline = core_.next_deadline();
    if (!deadline || (timer_is_set_for_ && *timer_is_set_for_ <= *deadline)) return;
    timer_is_set_for_ = deadline;
    timer_.expires_at(*deadline);
    timer_.async_wait([this](const std::error_code& error) {
      if (error) return;
      timer_is_set_for_.reset();
      call([this] { core_.tick(); });
    });
  }

  void lose(Session_Id id) {
    close(id);
    core_.closed(id);
  }

  asio::io_context& io_;
  const std::string path_;
  bool owns_socket_;
  struct One_Thread : asio::thread_pool {
    One_Thread() : asio::thread_pool(1) {}
  };
  std::array<One_Thread, lane_count> lanes_;
  std::map<Session_Id, Peer_Pointer> peers_;
  std::deque<std::pair<Session_Id, Peer_Pointer>> sent_;  // replies that were sent
  int writes_left_ = 0;  // replies that this call may write at once
  Server_Core core_;
  asio::steady_timer timer_;
  std::optional<System::Time> timer_is_set_for_;
  Listener<stream_protocol> listener_;
};

// Returns the address of the peer; empty if the connection is lost.
std::string address_of(const tcp::socket& socket) {
  std::error_code error;
  const tcp::endpoint endpoint = socket.remote_endpoint(error);
  return error ? "" : endpoint.address().to_string();
}

// Returns the value of a Prometheus label, escaped, without quotes.
std::string label_text(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\\' || c == '"' || c == '\n') text += '\\';
    text += c == '\n' ? 'n' : c;
  }
  return text;
}

}  // namespace

Listen_Address Listen_Address::parse(const std::string& text) {
  Listen_Address address;
  address.port = text;
  if (const std::size_t colon = text.rfind(':'); colon != std::string::npos) {
    address.host = text.substr(0, colon);
    address.port = text.substr(colon + 1);
  }
  if (address.host.size() > 2 && address.host.front() == '[' && address.host.back() == ']')
    address.host = address.host.substr(1, address.host.size() - 2);
  if (!parse_number<std::uint16_t>(address.port))
    throw Exception(text + ": [HOST:]PORT is needed, with a port from 0 to 65535");
  return address;
}

class Socket_Server::Implementation {
 public:
  Implementation(Server_Core::Limits limits, Logger& log, std::size_t max_connections)
      : limits_(limits),
        max_connections_(max_connections),
        log_(log),
        refusals_(log, System::real()),
        ends_(io_, SIGINT, SIGTERM),
        sighup_(io_, SIGHUP) {}

  void serve(Served_Journal& journal, const std::string& name, const std::string& path,
             std::optional<int> descriptor) {
    auto served = std::make_unique<Served>(
        io_, journal, name, path, descriptor, limits_, log_,
        [this] { return end_oldest_stranger(); }, [this] { return has_room(); });
    if (!served_.emplace(name, std::move(served)).second)
      throw Exception("two databases are named " + name);
  }

  int listen(const std::string& text, const Tls_Files& tls) {
    const tcp::endpoint endpoint = resolve(text);
    if (!tls.certificate.empty()) {
      tls_files_ = tls;
      tls_ = load_tls(tls);
    } else if (!endpoint.address().is_loopback()) {
      throw Exception(text +
                      ": other machines can connect there, which needs TLS: give a "
                      "certificate and a key (joedb_server --init makes them)");
    }
    tcp_ = make_listener([this](tcp::socket socket) { begin(std::move(socket)); });
    return open(*tcp_, endpoint, text);
  }

  int listen_for_metrics(const std::string& text) {
    metrics_ = make_listener([this](tcp::socket socket) { answer_http(std::move(socket)); });
    return open(*metrics_, resolve(text), text);
  }

  void refresh(const std::string& name) {
    asio::post(io_, [this, name] { served_.at(name)->refresh(); });
  }

  void run() {
    ends_.async_wait([this](const std::error_code& error, int) {
      if (!error) stop();
    });
    wait_for_sighup();
    for (const auto& [name, served] : served_) served->begin();
    if (tcp_) tcp_->accept();
    if (metrics_) metrics_->accept();
    while (!io_.stopped()) run_briefly();
    for (const auto& [name, served] : served_) served->remove_socket();
    ends_.clear();  // from now on, a second signal ends the process
    log_.log("the server has stopped");
  }

  void stop() {
    asio::post(io_, [this] { io_.stop(); });
  }

 private:
  // A TCP connection that has not named a database, or one that asks for metrics.
  struct Pending_Connection {
    explicit Pending_Connection(asio::io_context& io) : timer(io) {}
    std::optional<std::string> name;  // name in the certificate of the client
    std::string address;
    Peer_Pointer peer;
    asio::steady_timer timer;
    std::shared_ptr<Tls_State> tls;
    std::string line;
  };
  using Pending_Pointer = std::shared_ptr<Pending_Connection>;
  using Strangers = std::list<Pending_Pointer>;  // the oldest first

  // ---- the number of connections

  std::unique_ptr<Listener<tcp>> make_listener(std::function<void(tcp::socket)> accepted) {
    return std::make_unique<Listener<tcp>>(
        io_, Listener<tcp>::Events{std::move(accepted), [this] { return end_oldest_stranger(); },
                                   [this](const std::string& line) { log_.log(line); }});
  }

  // Closes an anonymous connection if needed. Returns false if a new connection must be refused.
  bool has_room() {
    std::size_t count = strangers_.size() + http_strangers_.size();
    for (const auto& [name, served] : served_) count += served->connections();
    if (count < max_connections_ || end_oldest_stranger()) return true;
    refusals_.add("", "",
                  "there are " + std::to_string(count) +
                      " connections, for which this process may open files (ulimit -n)");
    return false;
  }

  // Closes the oldest anonymous connection. Returns false if there is none.
  bool end_oldest_stranger() {
    if (end_oldest(http_strangers_) || end_oldest(strangers_)) return true;
    for (const auto& [name, served] : served_)
      if (served->end_oldest_stranger()) return true;
    return false;
  }

  bool end_oldest(Strangers& strangers) {
    if (strangers.empty()) return false;
    const Pending_Pointer oldest = strangers.front();  // a copy: end() removes it from the list
    end(oldest, "it has not shown who it is, and makes room for another");
    return true;
  }

  // Returns null if the limit on connections is reached.
  Pending_Pointer add_stranger(Strangers& strangers, std::size_t most) {
    if (strangers.size() >= most) end_oldest(strangers);
    if (!has_room()) return nullptr;
    strangers.push_back(std::make_shared<Pending_Connection>(io_));
    return strangers.back();
  }

  // Returns false if the connection has already ended, while an operation was in progress.
  bool forget(const Pending_Pointer& pending) {
    pending->timer.cancel();
    return strangers_.remove(pending) + http_strangers_.remove(pending) > 0;
  }

  tcp::endpoint resolve(const std::string& text) {
    const Listen_Address address = Listen_Address::parse(text);
    std::error_code error;
    tcp::resolver resolver(io_);
    const auto found = resolver.resolve(address.host, address.port, tcp::resolver::passive, error);
    if (error || found.empty()) throw Exception(text + ": " + error.message());
    return found.begin()->endpoint();
  }

  static int open(Listener<tcp>& listener, const tcp::endpoint& endpoint, const std::string& text) {
    std::error_code error;
    listener.acceptor.open(endpoint.protocol());
    listener.acceptor.set_option(tcp::acceptor::reuse_address(true));
    listener.acceptor.bind(endpoint, error);
    if (error) throw Exception(text + ": " + error.message());
    listener.acceptor.listen();
    return listener.acceptor.local_endpoint().port();
  }

  // Runs the handlers that are ready. Polls for a short time before the thread sleeps: with many
  // small messages, waking the thread would take longer than handling them.
  void run_briefly() {
    constexpr std::chrono::microseconds spin_time{50};
    if (io_.run_one() == 0) return;
    auto end = std::chrono::steady_clock::now() + spin_time;
    while (!io_.stopped() && std::chrono::steady_clock::now() < end)
      if (io_.poll() > 0) end = std::chrono::steady_clock::now() + spin_time;
  }

  // ---- metrics

  // Answers any HTTP request with the metrics.
  void answer_http(tcp::socket socket) {
    const Pending_Pointer pending =
        add_stranger(http_strangers_, std::min(max_http_strangers, limits_.max_strangers));
    if (!pending) return;
    pending->address = address_of(socket);
    pending->peer = peer_of(std::move(socket));
    limit(pending);
    read_http(pending);
  }

  void read_http(const Pending_Pointer& pending) {
    Peer& peer = *pending->peer;
    peer.stream->read_some(asio::buffer(peer.input), [this, pending, &peer](
                                                         const std::error_code& error,
                                                         std::size_t size) {
      pending->line.append(peer.input.data(), size);
      const bool is_complete = pending->line.find("\r\n\r\n") != std::string::npos;
      if (error || pending->line.size() > 8192) return leave(pending);
      if (!is_complete) return read_http(pending);
      const std::string text = metrics();
      peer.output =
          "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: " +
          std::to_string(text.size()) + "\r\nConnection: close\r\n\r\n" + text;
      peer.stream->write(asio::buffer(peer.output),
                         [this, pending](const std::error_code&, std::size_t) { leave(pending); });
    });
  }

  void leave(const Pending_Pointer& pending) {
    if (forget(pending)) pending->peer->stream->close();
  }

  // The text format of Prometheus, version 0.0.4.
  std::string metrics() const {
    struct Metric {
      const char* name;
      const char* type;
      const char* help;
      double (*value)(const Server_Core::Status&);
    };
    using Status = Server_Core::Status;
    static constexpr Metric list[] = {
        {"checkpoint_bytes", "gauge", "Position of the last checkpoint.",
         [](const Status& s) { return static_cast<double>(s.checkpoint); }},
        {"writable", "gauge", "Whether clients can push.",
         [](const Status& s) { return s.can_push ? 1.0 : 0.0; }},
        {"sessions", "gauge", "Connected clients.",
         [](const Status& s) { return static_cast<double>(s.sessions); }},
        {"lock_waiting", "gauge", "Clients that wait for the lock.",
         [](const Status& s) { return static_cast<double>(s.waiting_for_lock); }},
        {"lock_held_seconds", "gauge", "For how long a client has had the lock; 0: nobody has it.",
         [](const Status& s) { return std::chrono::duration<double>(s.lock_held).count(); }},
        {"pulls_total", "counter", "Pulls.",
         [](const Status& s) { return static_cast<double>(s.pulls); }},
        {"sent_bytes_total", "counter", "Bytes of the journal that were sent.",
         [](const Status& s) { return static_cast<double>(s.bytes_sent); }},
        {"pushes_total", "counter", "Pushes that were accepted.",
         [](const Status& s) { return static_cast<double>(s.pushes); }},
        {"pushed_bytes_total", "counter", "Bytes that were pushed.",
         [](const Status& s) { return static_cast<double>(s.bytes_pushed); }},
        {"pushes_refused_total", "counter", "Pushes that were refused.",
         [](const Status& s) { return static_cast<double>(s.pushes_refused); }},
        {"locks_lost_total", "counter", "Locks that were taken from clients.",
         [](const Status& s) { return static_cast<double>(s.locks_lost); }}};
    std::ostringstream out;
    out.precision(17);
    for (const Metric& metric : list) {
      out << "# HELP joedb_" << metric.name << ' ' << metric.help << "\n# TYPE joedb_"
          << metric.name << ' ' << metric.type << '\n';
      for (const auto& [name, served] : served_)
        out << "joedb_" << metric.name << "{database=\"" << label_text(name) << "\"} "
            << metric.value(served->status()) << '\n';
    }
    return out.str();
  }

  // ---- clients over TCP

  void wait_for_sighup() {
    sighup_.async_wait([this](const std::error_code& error, int) {
      if (error) return;
      if (!tls_) {  // without TLS, there are no files to reload
        log_.log("SIGHUP: this server has no certificate and no access list");
        return wait_for_sighup();
      }
      try {
        const std::shared_ptr<Tls_State> old = std::exchange(tls_, load_tls(tls_files_));
        log_.log("certificate and access list were read again");
        for (const auto& [name, served] : served_)
          served->revoke([&](const Peer& peer) {
            return tls_->access_list.has_same(peer.client, old->access_list) &&
                   (!peer.has_certificate || tls_->authority == old->authority);
          });
      } catch (const std::exception& problem) {
        log_.log(std::string("the old certificate and access list stay: ") + problem.what());
      }
      wait_for_sighup();
    });
  }

  void begin(tcp::socket socket) {
    const Pending_Pointer pending = add_stranger(strangers_, limits_.max_strangers);
    if (!pending) return;  // the socket closes
    std::error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    socket.set_option(asio::socket_base::keep_alive(true), ignored);
    pending->address = address_of(socket);
    pending->tls = tls_;
    if (!tls_) {
      pending->peer = peer_of(std::move(socket));
      limit(pending);
      return read_line(pending);
    }
    auto owned = std::make_unique<Tls_Socket>(std::move(socket), tls_->context);
    Tls_Socket& stream = *owned;
    pending->peer =
        std::make_shared<Peer>(std::make_unique<Stream_Of<Tls_Socket>>(std::move(owned)));
    limit(pending);
    stream.async_handshake(asio::ssl::stream_base::server,
                           [this, pending, &stream](const std::error_code& error) {
                             if (error) return end(pending, "TLS: " + error.message());
                             pending->name = name_in_certificate(stream.native_handle());
                             read_line(pending);
                           });
  }

  void limit(const Pending_Pointer& pending) {
    pending->timer.expires_after(limits_.hello_time);
    pending->timer.async_wait([this, pending](const std::error_code& error) {
      if (!error) end(pending, "it has not shown who it is in time");
    });
  }

  void end(const Pending_Pointer& pending, const std::string& why) {
    if (!forget(pending)) return;
    refusals_.add(pending->address, pending->peer->client, why);
    pending->peer->stream->close();
  }

  void read_line(const Pending_Pointer& pending) {
    Peer& peer = *pending->peer;
    peer.stream->read_some(asio::buffer(peer.input),
                           [this, pending, &peer](const std::error_code& error, std::size_t size) {
                             if (error) return end(pending, error.message());
                             pending->line.append(peer.input.data(), size);
                             const std::size_t line_end = pending->line.find('\n');
                             if (line_end != std::string::npos) return admit(pending, line_end);
                             if (pending->line.size() > network::max_access_line)
                               return end(pending, "its first line is too long");
                             read_line(pending);
                           });
  }

  void admit(const Pending_Pointer& pending, std::size_t line_end) {
    const std::string line = pending->line.substr(0, line_end);
    pending->peer->early_input = pending->line.substr(line_end + 1);
    Served* served = nullptr;
    std::string name;
    Role role = Role::push;
    const std::string refusal = plain(check(*pending, line, served, name, role));
    name = plain(name);
    pending->peer->client = name;
    pending->peer->output = refusal.empty() ? "ok\n" : "no " + refusal + "\n";
    pending->peer->stream->write(
        asio::buffer(pending->peer->output),
        [this, pending, served, refusal, name, role](const std::error_code& error, std::size_t) {
          if (error) return end(pending, error.message());
          if (!refusal.empty()) return end(pending, refusal);
          // The client connects again, and then gets its current rights.
          if (pending->tls != tls_) return end(pending, "access rights were read again");
          if (!tls_ || !tls_->has_access_list) pending->peer->client.clear();
          if (forget(pending)) served->add(pending->peer, name, role);
        });
  }

  // Returns the reason for refusing the client; empty to accept it. Databases that do not exist are
  // reported only to known clients.
  std::string check(const Pending_Connection& pending, const std::string& line, Served*& served,
                    std::string& name, Role& role) const {
    if (!line.starts_with(network::access_word)) return "this is not a client of joedb";
    std::istringstream words(line.substr(network::access_word.size()));
    std::string database;
    std::string token;
    std::string rest;
    words >> database >> name >> token;
    if (words >> rest) return "this is not a client of joedb";
    if (pending.tls && pending.tls->has_access_list) {
      const Access_List& list = pending.tls->access_list;
      std::optional<Role> found;
      if (!token.empty()) {
        found = list.with_token(name, token);
      } else {
        name = pending.name.value_or("");
        pending.peer->has_certificate = true;
        if (pending.name) found = list.with_certificate(name);
      }
      if (!found) return "unknown name, or wrong token or certificate";
      role = *found;
    }
    const auto entry =
        database == "-" && served_.size() == 1 ? served_.begin() : served_.find(database);
    if (entry == served_.end()) return "there is no database " + database;
    if (!entry->second->can_connect(name)) return "the server has too many clients";
    served = entry->second.get();
    return "";
  }

  const Server_Core::Limits limits_;
  const std::size_t max_connections_;
  Logger& log_;
  Refusal_Log refusals_;
  asio::io_context io_{1};
  asio::signal_set ends_;
  asio::signal_set sighup_;
  std::map<std::string, std::unique_ptr<Served>> served_;
  std::unique_ptr<Listener<tcp>> tcp_;
  std::unique_ptr<Listener<tcp>> metrics_;
  Tls_Files tls_files_;
  std::shared_ptr<Tls_State> tls_;  // null: no TLS
  Strangers strangers_;             // connections that have not named a database
  Strangers http_strangers_;        // connections to the port for metrics
};

static Logger& before_sockets(Logger& log) {
  reserve_standard_descriptors();
  return log;
}

Socket_Server::Socket_Server(Server_Core::Limits limits, Logger& log, std::size_t max_connections)
    : implementation_(
          std::make_unique<Implementation>(limits, before_sockets(log), max_connections),
          "the server") {}

Socket_Server::~Socket_Server() = default;

void Socket_Server::serve(Served_Journal& journal, const std::string& name, const std::string& path,
                          std::optional<int> descriptor) {
  implementation_->serve(journal, name, path, descriptor);
}
int Socket_Server::listen(const std::string& address, const Tls_Files& tls) {
  return implementation_->listen(address, tls);
}
int Socket_Server::listen_for_metrics(const std::string& address) {
  return implementation_->listen_for_metrics(address);
}
void Socket_Server::refresh(const std::string& name) { implementation_->refresh(name); }
void Socket_Server::run() { implementation_->run(); }
void Socket_Server::stop() { implementation_->stop(); }

}  // namespace joedb::server
