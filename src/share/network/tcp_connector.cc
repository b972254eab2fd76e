#include "joedb/network/channel.h"

#include <asio.hpp>
#include <asio/ssl.hpp>
#include <chrono>
#include <optional>

#include "joedb/io/posix_file.h"
#include "kernel/base/parse_number.h"
#include "kernel/base/plain_text.h"
#include "kernel/base/standard_descriptors.h"
#include "kernel/io/secret_file.h"
#include "share/network/access.h"
#include "share/network/idle_test.h"
#include "share/network/patient_socket.h"

namespace joedb::inline v1 {

using asio::ip::tcp;

// ---- addresses ----------------------------------------------------------------------------------

namespace {

constexpr std::string_view tls_scheme = "joedb://";
constexpr std::string_view plain_scheme = "joedb+tcp://";

}  // namespace

Tcp_Address Tcp_Address::parse(std::string_view url) {
  const auto fail = [url] {
    throw Exception("not an address of a server: " + std::string(url) +
                    "; it looks like joedb://HOST:PORT/DATABASE");
  };
  Tcp_Address address;
  address.has_tls = url.starts_with(tls_scheme);
  if (!address.has_tls && !url.starts_with(plain_scheme)) fail();
  std::string_view rest = url.substr((address.has_tls ? tls_scheme : plain_scheme).size());
  if (const std::size_t slash = rest.find('/'); slash != std::string_view::npos) {
    if (slash + 1 < rest.size()) address.database = rest.substr(slash + 1);
    rest = rest.substr(0, slash);
  }
  const std::size_t host_end = rest.starts_with('[') ? rest.find(']') : 0;
  if (host_end == std::string_view::npos) fail();
  const std::size_t colon = rest.find(':', host_end);
  if (colon != std::string_view::npos) {
    address.port = rest.substr(colon + 1);
    rest = rest.substr(0, colon);
  }
  if (host_end > 0) rest = rest.substr(1, rest.size() - 2);
  address.host = rest;
  if (address.host.empty() || !parse_number<std::uint16_t>(address.port) ||
      address.database.find_first_of("/ \t\r\n") != std::string::npos)
    fail();
  return address;
}

std::string Tcp_Address::url() const {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return std::string(has_tls ? tls_scheme : plain_scheme) + (is_ipv6 ? "[" + host + "]" : host) +
         ":" + port + "/" + database;
}

// ---- channels -----------------------------------------------------------------------------------

namespace {

template <class Stream>
class Tcp_Channel final : public Channel {
 public:
  template <class... Arguments>
  Tcp_Channel(const Tcp_Address& address, const Patience& patience, Arguments&&... arguments)
      : name_(address.url()), stream_(io_, std::forward<Arguments>(arguments)...) {
    clock_.start_setup(patience);
  }

  Stream& stream() { return stream_; }

  // If `is_local_only`, throws Exception if the address is not on this machine.
  void connect(const Tcp_Address& address, bool is_local_only) {
    std::error_code error;
    tcp::resolver resolver(io_);
    const auto endpoints = resolver.resolve(address.host, address.port, error);
    network::require_success(error, name_);
    for (const auto& found : endpoints)
      if (is_local_only && !found.endpoint().address().is_loopback())
        throw Exception(
            name_ +
            ": without TLS, a token is not sent to another machine, because others could "
            "read it on its way: the address needs " +
            std::string(tls_scheme));
    wait([&](auto done) {
      asio::async_connect(stream_.lowest_layer(), endpoints,
                          [done](const std::error_code& e, const tcp::endpoint&) { done(e); });
    });
    socket().non_blocking(true);
    socket().set_option(tcp::no_delay(true));
    network::test_when_idle(socket());
  }

  // Starts an operation, and waits until it calls done(error). After the time limit, closes the
  // connection, and throws.
  template <class Begin>
  void wait(Begin begin) {
    std::optional<std::error_code> result;
    begin([&result](const std::error_code& error) { result = error; });
    try {
      while (!result) {
        io_.restart();
        io_.run_for(clock_.next_wait(name_));
      }
    } catch (...) {
      std::error_code ignored;
      // Ends the operation, and runs its handler now, because the handler refers to `result`.
      stream_.lowest_layer().close(ignored);
      io_.restart();
      io_.run();
      throw;
    }
    network::require_success(*result, name_);
  }

  // Sends the access line, and reads the reply, which is one line. Reads byte by byte, because the
  // bytes after the line belong to read_some().
  void ask_for_access(const std::string& line) {
    write(line.data(), line.size());
    std::string answer;
    char c = '\0';
    while (c != '\n' && answer.size() < network::max_access_line) {
      move([&](auto done) { stream_.async_read_some(asio::buffer(&c, 1), done); });
      if (c != '\n') answer += c;
    }
    if (answer == "ok") return clock_.start({});
    if (answer.starts_with("no ")) throw Disconnection(name_ + ": " + plain(answer.substr(3)));
    throw Disconnection(name_ + ": this is not a server of joedb");
  }

  std::size_t read_some(char* data, std::size_t size) override {
    if constexpr (is_plain)
      return network::read_some(stream_, clock_, name_, data, size);
    else
      return move([&](auto done) { stream_.async_read_some(asio::buffer(data, size), done); });
  }

  void write(const char* data, std::size_t size) override {
    if constexpr (is_plain) return network::write(stream_, clock_, name_, data, size);
    while (size > 0) {
      const std::size_t n =
          move([&](auto done) { stream_.async_write_some(asio::buffer(data, size), done); });
      data += n;
      size -= n;
    }
  }

  void set_patience(const Patience& patience) override { clock_.start(patience); }

 private:
  static constexpr bool is_plain = std::is_same_v<Stream, tcp::socket>;

  // Starts a read or write, and waits until it calls done(error, size). Returns `size`.
  template <class Begin>
  std::size_t move(Begin begin) {
    std::size_t size = 0;
    wait([&](auto done) {
      begin([&size, done](const std::error_code& error, std::size_t n) {
        size = n;
        done(error);
      });
    });
    clock_.moved(size);
    return size;
  }

  tcp::socket& socket() {
    if constexpr (is_plain)
      return stream_;
    else
      return stream_.next_layer();
  }
  const std::string name_;
  asio::io_context io_{1};
  Stream stream_;
  network::Patience_Clock clock_;
};

std::string access_line(const Tcp_Address& address, const Tls_Identity& identity) {
  std::string line = std::string(network::access_word) + address.database;
  if (!identity.token_file.empty()) {
    require_secret(identity.token_file);
    const File file(identity.token_file, Open_Mode::read_existing);
    std::string text(
        static_cast<std::size_t>(std::min<Offset>(file.get_size(), network::max_access_line)),
        '\0');
    file.read_exactly(text.data(), text.size(), 0);
    text = text.substr(0, text.find_last_not_of(" \r\n") + 1);
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos || text.find_first_of(" \r\n") != std::string::npos)
      throw Exception(identity.token_file + ": this is not NAME:TOKEN");
    line += " " + text.substr(0, colon) + " " + text.substr(colon + 1);
  }
  return line + "\n";
}

class Tls_Context {
 public:
  Tls_Context(const Tcp_Address& address, const Tls_Identity& identity) {
    SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_3_VERSION);
    std::error_code error;
    const auto check = [&error](const std::string& file) {
      if (error) throw Exception(file + ": " + error.message());
    };
    if (identity.authority_file.empty())
      context.set_default_verify_paths(error);
    else
      context.load_verify_file(identity.authority_file, error);
    check(identity.authority_file);
    if (!identity.certificate_file.empty()) {
      context.use_certificate_chain_file(identity.certificate_file, error);
      check(identity.certificate_file);
      require_secret(identity.key_file);
      context.use_private_key_file(identity.key_file, asio::ssl::context::pem, error);
      check(identity.key_file);
    }
    context.set_verify_mode(asio::ssl::verify_peer);
    context.set_verify_callback(asio::ssl::host_name_verification(address.host));
  }
  asio::ssl::context context{asio::ssl::context::tls_client};
};

class Tls_Channel final : private Tls_Context, public Channel {
 public:
  Tls_Channel(const Tcp_Address& address, const Tls_Identity& identity, const Patience& patience)
      : Tls_Context(address, identity), channel_(address, patience, context) {
    channel_.connect(address, false);
    SSL_set_tlsext_host_name(channel_.stream().native_handle(), address.host.c_str());
    try {
      channel_.wait([&](auto done) {
        channel_.stream().async_handshake(asio::ssl::stream_base::client, done);
      });
    } catch (const Connection_Lost&) {
      const long result = SSL_get_verify_result(channel_.stream().native_handle());
      if (result == X509_V_OK) throw;
      throw Disconnection(address.url() + ": its certificate is not accepted: " +
                          X509_verify_cert_error_string(result));
    }
    channel_.ask_for_access(access_line(address, identity));
  }
  std::size_t read_some(char* data, std::size_t size) override {
    return channel_.read_some(data, size);
  }
  void write(const char* data, std::size_t size) override { channel_.write(data, size); }
  void set_patience(const Patience& patience) override { channel_.set_patience(patience); }

 private:
  Tcp_Channel<asio::ssl::stream<tcp::socket>> channel_;
};

}  // namespace

Tcp_Connector::Tcp_Connector(Tcp_Address address, Tls_Identity identity)
    : address_(std::move(address)), identity_(std::move(identity)) {}
Tcp_Connector::~Tcp_Connector() = default;

std::unique_ptr<Channel> Tcp_Connector::new_channel() {
  reserve_standard_descriptors();
  if (address_.has_tls) return std::make_unique<Tls_Channel>(address_, identity_, patience());
  auto channel = std::make_unique<Tcp_Channel<tcp::socket>>(address_, patience());
  channel->connect(address_, !identity_.token_file.empty());
  channel->ask_for_access(access_line(address_, identity_));
  return channel;
}

}  // namespace joedb::inline v1
