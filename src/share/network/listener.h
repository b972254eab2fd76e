#ifndef JOEDB_SRC_SHARE_NETWORK_LISTENER_H
#define JOEDB_SRC_SHARE_NETWORK_LISTENER_H

#include <asio.hpp>
#include <cerrno>
#include <chrono>
#include <functional>
#include <string>
#include <system_error>
#include <utility>

namespace joedb::network {

// Accepts connections, one after the other.
//
// If the process or the system has run out of descriptors, the listener closes the pending
// connections, so that their clients notice. It keeps a spare descriptor for this purpose.
template <class Protocol>
class Listener {
 public:
  using Socket = typename Protocol::socket;
  struct Events {
    std::function<void(Socket)> accepted;
    // Closes a less important connection, to free its descriptor. Returns false if there is none.
    std::function<bool()> make_room;
    std::function<void(const std::string& line)> log;
  };

  Listener(asio::io_context& io, Events events)
      : acceptor(io), retry_(io), spare_(io), events_(std::move(events)) {
    open_spare();
  }

  void accept() {
    acceptor.async_accept([this](const std::error_code& error, Socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (!error) {
        events_.accepted(std::move(socket));
        return accept();
      }
      // Compare numbers: the category of Asio's errors does not map them to conditions of
      // std::errc.
      const bool is_full = error.value() == EMFILE || error.value() == ENFILE;
      if (is_full && events_.make_room()) return accept();
      const bool is_refused = is_full && refuse_waiting();
      report(is_refused ? "connections were refused: " + error.message()
                        : "accepting a connection: " + error.message());
      if (is_refused) return accept();
      retry_.expires_after(std::chrono::milliseconds(100));
      retry_.async_wait([this](const std::error_code& stopped) {
        if (!stopped) accept();
      });
    });
  }

  typename Protocol::acceptor acceptor;

 private:
  using Clock = std::chrono::steady_clock;

  void open_spare() {
    std::error_code ignored;
    spare_.open(asio::local::stream_protocol(), ignored);
  }

  // Closes the pending connections. Returns false if there is no descriptor even for this.
  bool refuse_waiting() {
    std::error_code error;
    spare_.close(error);
    acceptor.non_blocking(true, error);
    for (int i = 0; !error && i < 1000; ++i) {
      Socket refused(acceptor.get_executor());
      acceptor.accept(refused, error);
    }
    open_spare();
    return !error || error == asio::error::would_block;
  }

  // Logs at most one line per second, because many connections may be refused for the same reason.
  void report(const std::string& line) {
    const Clock::time_point now = Clock::now();
    if (now < next_report_) return;
    next_report_ = now + std::chrono::seconds(1);
    events_.log(line);
  }

  asio::steady_timer retry_;
  asio::local::stream_protocol::socket spare_;
  const Events events_;
  Clock::time_point next_report_;
};

}  // namespace joedb::network

#endif
