#include "share/network/ssh_session.h"

#include <utility>

#include "kernel/base/standard_descriptors.h"
#include "kernel/io/secret_file.h"
#include "share/network/idle_test.h"

namespace joedb::inline v1 {

static constexpr long setup_timeout = 10;  // seconds

Ssh_Session::Ssh_Session(const Ssh_Address& address, std::string name)
    : name_(std::move(name)), session_(ssh_new(), Free_Session{}) {
  reserve_standard_descriptors();
  if (!session_) throw Exception(name_ + ": SSH cannot be used");
  set(SSH_OPTIONS_HOST, address.host.c_str());
  // Set explicit options before parsing ~/.ssh/config: parsing does not change options that are
  // set.
  if (!address.user.empty()) set(SSH_OPTIONS_USER, address.user.c_str());
  if (address.port != 0) set(SSH_OPTIONS_PORT, &address.port);
  if (!address.identity_file.empty()) {
    require_secret(address.identity_file);
    set(SSH_OPTIONS_IDENTITY, address.identity_file.c_str());
  }
  if (!address.known_hosts_file.empty())
    set(SSH_OPTIONS_KNOWNHOSTS, address.known_hosts_file.c_str());
  set(SSH_OPTIONS_TIMEOUT, &setup_timeout);
  constexpr int on = 1;
  set(SSH_OPTIONS_NODELAY, &on);
  if (ssh_options_parse_config(session_.get(), nullptr) < 0)
    throw Disconnection(name_ + ": ~/.ssh/config: " + error());

  if (ssh_connect(session_.get()) != SSH_OK) throw Connection_Lost(name_ + ": " + error());
  test_when_idle();
  require_known_host(address.host);
  log_in();
}

void Ssh_Session::set(ssh_options_e option, const void* value) {
  if (ssh_options_set(session_.get(), option, value) < 0)
    throw Disconnection(name_ + ": " + error());
}

// Errors are ignored: with a ProxyCommand, the session's socket is not a TCP socket.
void Ssh_Session::test_when_idle() {
  asio::io_context io;
  asio::ip::tcp::socket socket(io);
  std::error_code error;
  if (socket.assign(asio::ip::tcp::v4(), ssh_get_fd(session_.get()), error)) return;
  network::test_when_idle(socket);
  socket.release(error);  // leave it open: the session closes it
}

void Ssh_Session::require_known_host(const std::string& host) const {
  switch (ssh_session_is_known_server(session_.get())) {
    case SSH_KNOWN_HOSTS_OK:
      return;
    case SSH_KNOWN_HOSTS_CHANGED:
    case SSH_KNOWN_HOSTS_OTHER:
      throw Disconnection(name_ +
                          ": the key of this host is not the one that is known: somebody "
                          "may stand between. ~/.ssh/known_hosts has the old one");
    default:
      throw Disconnection(name_ + ": the key of this host is not known yet: log in once with ssh " +
                          host);
  }
}

void Ssh_Session::log_in() const {
  if (ssh_userauth_none(session_.get(), nullptr) == SSH_AUTH_SUCCESS) return;
  const int result = ssh_userauth_publickey_auto(session_.get(), nullptr, nullptr);
  if (result == SSH_AUTH_SUCCESS) return;
  if (!ssh_is_connected(session_.get())) throw Connection_Lost(name_ + ": " + error());
  throw Disconnection(name_ + ": no key of this user lets in there");
}

}  // namespace joedb::inline v1
