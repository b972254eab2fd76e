#include "joedb/network/ssh_connector.h"

#include <libssh/libssh.h>

#include <algorithm>
#include <utility>

#include "network/idle_test.h"

namespace joedb::inline v1 {

namespace {

constexpr long longest_setup = 10;  // seconds

struct Free_Session {
  void operator()(ssh_session session) const {
    ssh_disconnect(session);
    ssh_free(session);
  }
};
using Session = std::unique_ptr<ssh_session_struct, Free_Session>;
struct Free_Channel {
  void operator()(ssh_channel channel) const { ssh_channel_free(channel); }
};
using Ssh_Stream = std::unique_ptr<ssh_channel_struct, Free_Channel>;

class Ssh_Channel final : public Channel {
 public:
  Ssh_Channel(const Ssh_Address& address, std::string name)
      : name_(std::move(name)), session_(ssh_new()) {
    if (!session_) throw Exception(name_ + ": SSH cannot be used");
    set(SSH_OPTIONS_HOST, address.host.c_str());
    // The options of the command line go before those of the file: it sets what is not set yet.
    if (!address.user.empty()) set(SSH_OPTIONS_USER, address.user.c_str());
    if (address.port != 0) set(SSH_OPTIONS_PORT, &address.port);
    if (!address.identity_file.empty()) set(SSH_OPTIONS_IDENTITY, address.identity_file.c_str());
    if (!address.known_hosts_file.empty())
      set(SSH_OPTIONS_KNOWNHOSTS, address.known_hosts_file.c_str());
    set(SSH_OPTIONS_TIMEOUT, &longest_setup);
    constexpr int on = 1;
    set(SSH_OPTIONS_NODELAY, &on);
    if (ssh_options_parse_config(session_.get(), nullptr) < 0)
      throw Disconnection(name_ + ": ~/.ssh/config: " + error());

    if (ssh_connect(session_.get()) != SSH_OK) throw Connection_Lost(name_ + ": " + error());
    test_when_idle();
    require_known_host(address.host);
    log_in();
    stream_.reset(ssh_channel_new(session_.get()));
    if (!stream_ || ssh_channel_open_forward_unix(stream_.get(), address.path.c_str(), "localhost",
                                                  0) != SSH_OK)
      throw Connection_Lost(
          name_ + ": there is no server at the socket, or it may not be reached: " + error());
  }

  std::size_t read_some(char* data, std::size_t size) override {
    constexpr int no_limit = -1;
    const int n = ssh_channel_read_timeout(stream_.get(), data, clamped(size), 0, no_limit);
    if (n > 0) return static_cast<std::size_t>(n);
    throw Connection_Lost(name_ + (n == 0 ? ": closed by the server" : ": " + error()));
  }

  void write(const char* data, std::size_t size) override {
    while (size > 0) {
      const int n = ssh_channel_write(stream_.get(), data, clamped(size));
      if (n <= 0) throw Connection_Lost(name_ + ": " + error());
      data += n;
      size -= static_cast<std::size_t>(n);
    }
  }

 private:
  static std::uint32_t clamped(std::size_t size) {
    return static_cast<std::uint32_t>(std::min(size, std::size_t{1} << 30));
  }
  std::string error() const { return ssh_get_error(session_.get()); }
  void set(ssh_options_e option, const void* value) {
    if (ssh_options_set(session_.get(), option, value) < 0)
      throw Disconnection(name_ + ": " + error());
  }

  // With a ProxyCommand, the session has another kind of socket.
  void test_when_idle() {
    asio::io_context io;
    asio::ip::tcp::socket socket(io);
    std::error_code error;
    if (socket.assign(asio::ip::tcp::v4(), ssh_get_fd(session_.get()), error)) return;
    network::test_when_idle(socket);
    socket.release(error);  // the session closes it
  }

  void require_known_host(const std::string& host) {
    switch (ssh_session_is_known_server(session_.get())) {
      case SSH_KNOWN_HOSTS_OK:
        return;
      case SSH_KNOWN_HOSTS_CHANGED:
      case SSH_KNOWN_HOSTS_OTHER:
        throw Disconnection(name_ +
                            ": the key of this host is not the one that is known: somebody "
                            "may stand between. ~/.ssh/known_hosts has the old one");
      default:
        throw Disconnection(
            name_ + ": the key of this host is not known yet: log in once with ssh " + host);
    }
  }

  void log_in() {
    if (ssh_userauth_none(session_.get(), nullptr) == SSH_AUTH_SUCCESS) return;
    const int result = ssh_userauth_publickey_auto(session_.get(), nullptr, nullptr);
    if (result == SSH_AUTH_SUCCESS) return;
    if (!ssh_is_connected(session_.get())) throw Connection_Lost(name_ + ": " + error());
    throw Disconnection(name_ + ": no key of this user lets in there");
  }

  const std::string name_;
  const Session session_;
  Ssh_Stream stream_;  // ends before the session
};

}  // namespace

std::unique_ptr<Channel> Ssh_Connector::new_channel() {
  return std::make_unique<Ssh_Channel>(address_, name());
}

std::string Ssh_Connector::name() const {
  return "ssh " + (address_.user.empty() ? "" : address_.user + "@") + address_.host + ":" +
         address_.path;
}

}  // namespace joedb::inline v1
