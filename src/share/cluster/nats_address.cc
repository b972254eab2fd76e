#include "joedb/cluster/nats_connection.h"

#include <algorithm>
#include <optional>

#include "joedb/base/error.h"
#include "kernel/base/parse_number.h"

namespace joedb::inline v1 {

namespace {

constexpr std::string_view plain_scheme = "nats://";
constexpr std::string_view tls_scheme = "tls://";
constexpr std::string_view default_port = ":4222";
constexpr std::string_view alphanumeric =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

// The text of the exception omits the URL, which may contain a password.
[[noreturn]] void fail(const std::string& reason) {
  throw Exception("not an address of NATS: " + reason +
                  "; it looks like nats://HOST:PORT,HOST:PORT/DATABASE");
}

// Truncates `text` at the first `separator`, and returns the part after it; nullopt if there is no
// separator.
std::optional<std::string_view> cut(std::string_view& text, char separator) {
  const std::size_t position = text.find(separator);
  if (position == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(position + 1);
  text = text.substr(0, position);
  return rest;
}

std::string decoded(std::string_view text) {
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    fail("% in a user or password is written %25");
  };
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    if (i + 2 >= text.size()) fail("% in a user or password is written %25");
    result += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
    i += 2;
  }
  return result;
}

std::string checked_name(std::string_view name, std::string_view what) {
  if (name.empty()) fail("the name of the " + std::string(what) + " is missing");
  if (name.find_first_not_of(std::string(alphanumeric) + "_-") != std::string_view::npos)
    fail("the name of the " + std::string(what) + " '" + std::string(name) +
         "' has characters other than letters, digits, _ and -");
  return std::string(name);
}

std::string checked_server(std::string_view server) {
  const bool is_ipv6 = server.starts_with('[');
  const std::size_t host_end =
      is_ipv6 ? server.find(']') + 1 : std::min(server.find(':'), server.size());
  const std::string_view host = server.substr(0, host_end);
  const std::string_view port = server.substr(host_end);
  const std::string allowed = std::string(alphanumeric) + (is_ipv6 ? "[]:.%" : "._-");
  if (host.empty() || host.find_first_not_of(allowed) != std::string_view::npos)
    fail("'" + std::string(server) + "' is no host");
  if (port.empty()) return std::string(host) + std::string(default_port);
  if (port[0] != ':' || !parse_number<std::uint16_t>(port.substr(1)))
    fail("'" + std::string(server) + "' has no port behind the colon");
  return std::string(server);
}

}  // namespace

Nats_Address Nats_Address::parse(std::string_view url) {
  Nats_Address address;
  address.has_tls = url.starts_with(tls_scheme);
  if (!address.has_tls && !url.starts_with(plain_scheme)) fail("it begins with nats:// or tls://");
  std::string_view rest = url.substr((address.has_tls ? tls_scheme : plain_scheme).size());

  std::string_view database = cut(rest, '/').value_or("");
  const auto options = cut(database, '?');
  address.database = checked_name(database, "database");
  address.stream = address.origin();
  address.subject = "joedb." + address.database;
  if (options) {
    constexpr std::string_view option = "stream=";
    if (!options->starts_with(option)) fail("the only option is ?stream=NAME");
    address.stream = checked_name(options->substr(option.size()), "stream");
  }

  std::string_view user = rest;
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
    user = rest.substr(0, at);
    rest = rest.substr(at + 1);
    if (user.find_first_of("@,") != std::string_view::npos)
      fail("the user is given once, in front of the first host");
    const auto password = cut(user, ':');
    address.user = decoded(user);
    if (password) address.password = decoded(*password);
    if (address.user.empty()) fail("the user in front of @ is missing");
  }
  for (std::optional<std::string_view> next = rest; next;) {
    std::string_view server = *next;
    next = cut(server, ',');
    address.servers.push_back(checked_server(server));
  }
  return address;
}

std::string Nats_Address::url() const {
  std::string result(has_tls ? tls_scheme : plain_scheme);
  for (const std::string& server : servers) {
    if (&server != &servers.front()) result += ',';
    result += server.ends_with(default_port) ? server.substr(0, server.size() - default_port.size())
                                             : server;
  }
  result += '/' + database;
  if (stream != origin()) result += "?stream=" + stream;
  return result;
}

}  // namespace joedb::inline v1
